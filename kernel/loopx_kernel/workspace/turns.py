"""Turn commands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from loopx_kernel.domain import turn, turn_settle
from loopx_kernel.domain.answer import Contract
from loopx_kernel.domain.brief import brief_for
from loopx_kernel.domain.contract import should_run
from loopx_kernel.domain.event import Context, Draft
from loopx_kernel.domain.records_of_work import Outcome, Turn
from loopx_kernel.domain.state import GoalState, open_turn
from loopx_kernel.domain.turn import BeginTurn, RecoverTurn
from loopx_kernel.domain.turn_receipt import SettleTurn
from loopx_kernel.domain.turn_state import (
    holds,
    is_within_deadline,
    open_turn_of,
    unclosed_turns,
)
from loopx_kernel.domain.verification import Tests
from loopx_kernel.errors import Conflict
from loopx_kernel.store.seek import line_with_seq
from loopx_kernel.value import Value
from loopx_kernel.workspace.beside import live_leases
from loopx_kernel.workspace.commit import commit, receipt_of, recorded, require_registered
from loopx_kernel.workspace.contexts import context_of
from loopx_kernel.workspace.contracts import new_contract_id
from loopx_kernel.workspace.core import Core
from loopx_kernel.workspace.handing import look_at, run_for
from loopx_kernel.workspace.history import History
from loopx_kernel.workspace.ledgers import GoalLedger
from loopx_kernel.workspace.materials import Materials
from loopx_kernel.workspace.orders import CODE, Done, Order, Receipt, named
from loopx_kernel.workspace.risks import risks_in

TRIES = 5
"""How often a beginning is decided anew because somebody else was quicker."""


class Begun(Value):
    """The answer to a beginning: the contract under its id, and the turn where there is one,
    with the receipt of the line that opened it."""

    contract: Contract
    contract_id: str
    turn: Turn | None = None
    receipt: Receipt | None = None


class Turns:
    """Bounded work: from a brief to its receipt."""

    def __init__(self, core: Core) -> None:
        self._core = core

    def begin(self, goal_id: str, agent: str, *, event_id: str | None = None) -> Begun:
        """Opens a turn if the agent may run now, and takes the todo's lease; else says why not.
        An open turn is the answer again. Durable on return.

        Raises ``unknown_agent``, and what a claim raises where somebody else was quicker.
        """
        for attempt in range(TRIES):
            try:
                return self._begin(goal_id, agent, event_id)
            except Conflict as error:
                if error.code == "event_conflict" or attempt == TRIES - 1:
                    raise
        raise AssertionError("every attempt ends")

    def _begin(self, goal_id: str, agent: str, event_id: str | None) -> Begun:
        core = self._core
        chosen = BeginTurn(todo_id="", contract_id=new_contract_id())
        order = Order(
            goal_id,
            chosen,
            self._decide_anew,
            named("agent", agent),
            event_id,
            arguments={},
            both=True,
            starts_work=True,
        )
        with core.lock:
            core.house.refresh()
            ledger = core.fresh_goal(goal_id)
            require_registered(context_of(core, order, core.clock.read()), order)
            contract = self._contract(ledger, agent)
            first = recorded(ledger, order)
        if first is not None:
            return self._again(contract, ledger, self.show(goal_id, first.object_id))
        under_way = open_turn(ledger.state, agent)
        reading = core.clock.read()
        if under_way is not None and is_within_deadline(ledger.state, under_way, reading):
            return self._again(contract, ledger, under_way)
        if contract.answer != "run" or contract.todo is None:
            return Begun(contract, chosen.contract_id)
        chosen = replace(chosen, todo_id=contract.todo.id)
        done = commit(core, replace(order, command=chosen))
        opened = done.state.turns[done.object_id]
        # The brief names the turn, so it is written once there is one.
        now = replace(self._contract(ledger, agent), reasons=contract.reasons)
        return Begun(_on(now, opened, done.state), opened.contract_id, opened, done.receipt)

    def _decide_anew(self, state: GoalState, command: BeginTurn, context: Context) -> Draft:
        """Under the lock: what was true while nobody held it may not be true any more."""
        contract = self._contract(self._core.goal(state.goal_id), context.actor.id)
        if contract.todo is None or contract.todo.id != command.todo_id:
            raise Conflict(
                "stale_decision",
                f"{state.goal_id} changed while the turn began",
                next="loopx turn begin",
                goal_id=state.goal_id,
            )
        return turn.decide(state, command, context)

    def _contract(self, ledger: GoalLedger, agent: str) -> Contract:
        core = self._core
        reading = core.clock.read()
        neighbours = live_leases(core, reading, beside=ledger.name)
        reads = Materials(core).look(ledger, neighbours)
        house = core.house.state
        who = {"agents": list(house.agents), "owners": core.house.deciders}
        return should_run(ledger.state, reads, reading, agent, **who)

    def _again(self, contract: Contract, ledger: GoalLedger, known: Turn) -> Begun:
        line = line_with_seq(ledger.journal, known.opened_seq)
        receipt = receipt_of(line, replayed=True) if line else None
        return Begun(_on(contract, known, ledger.state), known.contract_id, known, receipt)

    def settle(
        self,
        goal_id: str,
        agent: str,
        turn_id: str,
        *,
        outcome: Outcome,
        evidence: Sequence[str] = (),
        tests: Tests | None = None,
        note: str = "",
        handoff: str | None = None,
        slots: int = 1,
        event_id: str | None = None,
    ) -> Done[GoalState]:
        """Hands in a turn: its result is verified, the state written back, the slots booked, and
        the turn closed, in one line. ``evidence`` are paths in the repo, read here and once, and
        the todo's acceptance items are run. What is not verified settles as failed.

        Raises ``unknown_turn``, ``turn_closed``, ``not_holder``, ``stale_epoch``,
        ``missing_evidence``, ``scope_overlap``.
        """
        asked = {
            "turn_id": turn_id,
            "outcome": outcome,
            "evidence": list(evidence),
            "tests": tests,
            "note": note,
            "handoff": handoff,
            "slots": slots,
        }
        command = SettleTurn(
            turn_id=turn_id,
            outcome=outcome,
            tests=tests,
            note=note,
            handoff=handoff,
            slots=slots,
        )
        actor = named("agent", agent)
        order = Order(
            goal_id, command, turn_settle.decide, actor, event_id, arguments=asked, both=True
        )
        core = self._core
        with core.lock:
            core.house.refresh()
            ledger = core.fresh_goal(goal_id)
            if (first := recorded(ledger, order)) is not None:
                return first
            state = ledger.state
            known = open_turn_of(state, turn_id, agent, state.seq + 1)
        seen = look_at(core, state, evidence, tests, judged=True)
        work = state.todos.get(known.todo_id)
        tried = outcome in ("done", "progress") and holds(work, known)
        ran = run_for(core, state, work if tried else None, seen)
        command = replace(
            command,
            evidence=seen.evidence,
            proven=seen.proven,
            results=ran.results,
            result_digest=ran.digest,
            high_risk=risks_in(core, state, agent, known.opened_at, seen),
        )
        return commit(core, replace(order, command=command, keeps=seen.keeps, about=known.todo_id))

    def recover(self, goal_id: str, *, event_id: str | None = None) -> tuple[Done[GoalState], ...]:
        """Records each turn that ended without a receipt as a failure, once; its todo is open
        again. Nothing where there is none. ``event_id`` is that of the first."""
        core = self._core
        order = Order(goal_id, RecoverTurn(turn_id=""), turn.decide, CODE, event_id, arguments={})
        with core.lock:
            core.house.refresh()
            ledger = core.fresh_goal(goal_id)
            first = recorded(ledger, order)
            unclosed = unclosed_turns(ledger.state, core.clock.read())
        done = [] if first is None else [first]
        for one in unclosed:
            found = self._recover(order if not done else replace(order, event_id=None), one)
            done += [found] if found else []
        return tuple(done)

    def _recover(self, order: Order, one: Turn) -> Done[GoalState] | None:
        """``None`` where it was closed, or renewed, by somebody who was quicker."""
        try:
            command = RecoverTurn(turn_id=one.id)
            return commit(self._core, replace(order, command=command, about=one.todo_id))
        except Conflict as error:
            if error.code not in ("turn_closed", "turn_open"):
                raise
            return None

    def show(self, goal_id: str, turn_id: str) -> Turn:
        """A turn whenever it was. Raises ``unknown_turn``."""
        return History(self._core).turn(goal_id, turn_id)

    def list(self, goal_id: str, *, everything: bool = False) -> tuple[Turn, ...]:
        """The open turns and the last that were closed, oldest first; or all there ever were."""
        core = self._core
        with core.lock:
            core.house.refresh()
            state: GoalState = core.fresh_goal(goal_id).state
            earlier = History(core).turns(goal_id) if everything else ()
            return (*earlier, *state.turns.values())


def _on(contract: Contract, known: Turn, state: GoalState) -> Contract:
    """The same answer, about the todo of an open turn, whatever else there is to do."""
    todo = state.todos.get(known.todo_id)
    if contract.answer != "run" or todo is None:
        return contract
    return replace(contract, todo=todo, brief=brief_for(state, todo, known.agent_id))
