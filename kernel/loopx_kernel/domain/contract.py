"""should-run: the answer to one wake-up. Pure; the first rule that matches wins."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import cached_property

from loopx_kernel.clock import Reading, to_the_second
from loopx_kernel.domain import schedule
from loopx_kernel.domain.answer import (
    CONTRACT_SCHEMA,
    EXIT_STATUS,
    Answer,
    Contract,
    Reason,
    Repair,
)
from loopx_kernel.domain.brief import Brief, brief_for
from loopx_kernel.domain.completion import Completion, derive
from loopx_kernel.domain.event import LiveLease
from loopx_kernel.domain.fence import WAY_OUT
from loopx_kernel.domain.freshness import judge
from loopx_kernel.domain.holding import holder_of_scope, live_leases
from loopx_kernel.domain.needs_you import NeedsYou, Reads, needs_you
from loopx_kernel.domain.quota import frees_at, is_exhausted, usage
from loopx_kernel.domain.records import Todo
from loopx_kernel.domain.schedule import SchedulerHint
from loopx_kernel.domain.standing import BY_HAND, all_finished, gaps, to_run
from loopx_kernel.domain.state import GoalState, is_live, open_escalations, open_obligations
from loopx_kernel.domain.turn_state import unclosed_turns
from loopx_kernel.domain.waits import late_waits, wake
from loopx_kernel.domain.work import Hindrance, hindrance
from loopx_kernel.value import Value

__all__ = [
    "CONTRACT_SCHEMA",
    "EXIT_STATUS",
    "Answer",
    "Brief",
    "Contract",
    "Reason",
    "Repair",
    "should_run",
]

_WAITING = ("quota_frozen", "not_due", "gate_pending", "lease_held")
_FOR_A_PERSON = {
    "gate": "gate_pending",
    "human_todo": "human_todo",
    "damage": "damaged",
    "escalation": "escalated",
    "acceptance": "contradiction",
}


def should_run(
    state: GoalState,
    reads: Reads,
    reading: Reading,
    agent_id: str | None,
    *,
    agents: Iterable[str] = (),
    owners: Sequence[str] = (),
) -> Contract:
    """May work be done now, by whom, on what? Without an agent it answers for anyone."""
    sources = tuple(judge(source, reading.now) for source in state.sources.values())
    completion = derive(state, reads, sources, reading.now)
    desk = _Desk(state, reads, reading, agent_id, tuple(agents), tuple(owners), completion)
    for rule in (
        desk.fenced,
        desk.damaged,
        desk.stopped,
        desk.escalated,
        desk.drifted,
        desk.unclosed,
        desk.unaccepted,
        desk.own_work,
        desk.new_work,
        desk.stuck_on_a_person,
        desk.waiting,
    ):
        contract = rule()
        if contract is not None:
            return contract
    return desk.nothing()


class _Desk(Value):
    """The papers of one wake-up; a method per rule, in the order of the contract."""

    state: GoalState
    reads: Reads
    reading: Reading
    agent_id: str | None
    agents: tuple[str, ...]
    owners: tuple[str, ...]
    completion: Completion

    @property
    def now(self) -> datetime:
        return self.reading.now

    @property
    def _shortest(self) -> int:
        return self.state.the_rules.cadence.shortest_seconds

    @property
    def _soon(self) -> SchedulerHint:
        """For what an agent does itself: the next beat comes when it can be done."""
        return schedule.after(self.now, self._shortest, "work_ready")

    def fenced(self) -> Contract | None:
        """Work whose result this program could not record must not begin."""
        if self.reads.fenced is None:
            return None
        question = f"{self.reads.fenced}: {WAY_OUT}"
        reason = Reason("writer_fenced", self.reads.fenced)
        return self._contract("ask", [reason], question=question, ask=self._people())

    def damaged(self) -> Contract | None:
        damage = self.reads.goal_damage
        if not damage:
            return None
        first = damage[0]
        digests = ""
        if first.expected_digest:
            digests = f": expected {first.expected_digest}, found {first.found_digest}"
        reason = Reason("damaged", f"{first.path} is damaged ({first.reason}){digests}")
        return self._contract(
            "ask", [reason], question=f"{reason.message}. Then: {first.command}", ask=self._people()
        )

    def stopped(self) -> Contract | None:
        status: str = self.state.status
        if status == "active" and self.completion.complete:
            status = "closed"
        if status == "active":
            return None
        reason = Reason(status, f"{self.state.goal_id} is {status}")
        return self._contract("quiet", [reason], hint=schedule.NEVER)

    def escalated(self) -> Contract | None:
        """The whole goal was taken out of the loop, or a single todo (which others work beside)."""
        whole = [one for one in open_escalations(self.state) if one.todo_id is None]
        if not whole:
            return None
        reason = Reason("escalated", f"{whole[0].id}: {whole[0].detail}")
        return self._contract("ask", [reason], question=reason.message, ask=self._people())

    def drifted(self) -> Contract | None:
        if not self.reads.drift:
            return None
        command = f"loopx state check --goal {self.state.goal_id}"
        reasons = [Reason("drift", item.sentence) for item in self.reads.drift]
        return self._contract("repair", reasons, repair=Repair("drift", command, "person"))

    def unclosed(self) -> Contract | None:
        """A turn ended without a receipt: it is recorded as failed before anything else."""
        turns = unclosed_turns(self.state, self.reading)
        if not turns:
            return None
        reasons = [
            Reason(
                "unclosed_turn", f"{turn.id} of {turn.agent_id} on {turn.todo_id} has no receipt"
            )
            for turn in turns
        ]
        command = f"loopx turn recover --goal {self.state.goal_id}"
        repair = Repair("unclosed_turn", command, "agent")
        return self._contract("repair", reasons, repair=repair, hint=self._soon)

    def unaccepted(self) -> Contract | None:
        """The list says all is done, acceptance does not: it is run before anything else."""
        unchecked = to_run(self.state, self.reads.seen)
        if not all_finished(self.state) or not unchecked:
            return None
        command = f"loopx accept run --goal {self.state.goal_id}"
        what = f"every todo is finished, but acceptance is open: {', '.join(unchecked)}"
        reason = Reason("contradiction", what)
        repair = Repair("acceptance", command, "agent")
        return self._contract("repair", [reason], repair=repair, hint=self._soon)

    def own_work(self) -> Contract | None:
        askers = self.agents if self.agent_id is None else (self.agent_id,)
        turns = self.state.turns.values()
        in_turn = {turn.todo_id for turn in turns if turn.status == "open"}
        for todo in sorted(self._todos(), key=lambda todo: todo.id not in in_turn):
            lease = todo.lease
            if lease is None or lease.owner not in askers or not is_live(lease, self.reading):
                continue
            if self._hindrance(todo, lease.owner) is None:
                message = f"{lease.owner} holds {todo.id} until {to_the_second(lease.expires_at)}"
                return self._run(todo, Reason("continue_own", message))
        return None

    def new_work(self) -> Contract | None:
        # In the order in which it is wanted: of much work little has to be looked at.
        wanted = sorted((t for t in self._todos() if not t.finished), key=self._place)
        leases = self._leases()
        ready = (todo for todo in wanted if self._may_start(todo))
        todo = next((todo for todo in ready if self._scope_held(todo, leases) is None), None)
        if todo is None:
            return None
        if self.agent_id is None and not self.agents:
            message = f"{todo.id} is ready, but no agent is registered: loopx agent add claude-code"
            return self._contract("quiet", [Reason("nothing_to_do", message)])
        if is_exhausted(self.state, self.now):
            rule = self.state.the_rules.quota
            reason = Reason(
                "quota_exhausted",
                f"All {rule.allowed} slots of the {rule.window_hours} h window are used",
            )
            frees = frees_at(self.state, self.now)
            hint = schedule.at(self.now, frees, "slot_frees") if frees else None
            return self._contract("wait", [reason], hint=hint)
        code = "replan_due" if todo.id in self._replans else "work_ready"
        return self._run(todo, Reason(code, f"{todo.id} is ready: {todo.title}"))

    @cached_property
    def _replans(self) -> frozenset[str]:
        return frozenset(duty.replan_todo for duty in open_obligations(self.state))

    def _place(self, todo: Todo) -> tuple[bool, str, bool, int, datetime, int]:
        """Which todo comes first: a replan, then by priority, then what mends something, then
        the one that took fewest turns without progress, then by age."""
        ordinary, mends = todo.id not in self._replans, todo.kind == "fix"
        effort, number = todo.effort.streak, int(todo.id[1:])
        return ordinary, todo.priority, not mends, effort, todo.added_at, number

    def stuck_on_a_person(self) -> Contract | None:
        needs = [item for item in self._needs() if item.kind in _FOR_A_PERSON]
        # That only a person can close the goal contradicts nothing, and nobody is kept waiting.
        needs = [item for item in needs if item not in self._to_accept]
        late = late_waits(self.state, self.now)
        if not needs and not late:
            return None
        reasons = [
            Reason(_FOR_A_PERSON[item.kind], f"{item.id}: {item.question}") for item in needs
        ]
        reasons += [Reason("quota_frozen", text) for text in late]
        question = needs[0].question if needs else late[0]
        return self._contract("ask", reasons, question=question, ask=self._people())

    @property
    def _to_accept(self) -> list[NeedsYou]:
        if gaps(self.state, self.reads.seen) != (BY_HAND,):
            return []
        return [item for item in self._needs() if item.kind == "acceptance"]

    def waiting(self) -> Contract | None:
        leases = self._leases()
        stops = [
            (todo, self._hindrance(todo, self.agent_id) or self._scope_held(todo, leases))
            for todo in self._todos()
        ]
        held = [(t, h) for t, h in stops if h is not None and _ends_by_itself(h)]
        if not held:
            return None
        held.sort(key=lambda pair: _WAITING.index(pair[1].code))
        reasons = [Reason(stop.code, stop.message) for _, stop in held]
        hint = schedule.soonest(
            wake(self.state, todo, stop, self.now, self._shortest) for todo, stop in held
        )
        return self._contract("wait", reasons, hint=hint)

    def nothing(self) -> Contract:
        open_work = [todo.id for todo in self._todos() if not todo.finished]
        message = "nothing can be done now"
        if open_work and not self.reads.repo_present:
            message += f": the repo {self.state.the_rules.repo} is not there (loopx doctor)"
        if open_work:
            message += f"; not finished: {', '.join(open_work[:10])}"
        elif self.state.todos and not self._to_accept:
            books = (one.check + _named(one.ids) for one in self.completion.failing)
            message += f"; not complete: {', '.join(books)}; see loopx completion"
        for item in self._to_accept:
            message += f"; {item.question}: {item.next}"
        return self._contract("quiet", [Reason("nothing_to_do", message)])

    def _todos(self) -> Iterable[Todo]:
        return self.state.todos.values()

    def _hindrance(self, todo: Todo, agent_id: str | None) -> Hindrance | None:
        damaged = any(item.todo_id == todo.id for item in self.reads.damage)
        if damaged:
            return Hindrance("damaged", f"a file of {todo.id} is damaged")
        return self._clash(todo) or hindrance(self.state, todo, self.reading, agent_id)

    def _clash(self, todo: Todo) -> Hindrance | None:
        """A lease that somebody slipped in beside an earlier one over the same files."""
        place = f"{self.state.goal_id}/{todo.id}"
        for clash in self.reads.clashes:
            if clash.later.place == place:
                message = f"{todo.id} must stop: {clash.sentence}"
                return Hindrance("lease_held", message, until=clash.earlier.expires_at)
        return None

    def _may_start(self, todo: Todo) -> bool:
        if not self.reads.repo_present or self._hindrance(todo, None) is not None:
            return False
        return not is_live(todo.lease, self.reading)

    def _leases(self) -> tuple[LiveLease, ...]:
        own = live_leases(self.state, self.reading, self.reads.repo)
        return (*self.reads.neighbours, *own)

    def _scope_held(self, todo: Todo, leases: Sequence[LiveLease]) -> Hindrance | None:
        found = holder_of_scope(self.state.goal_id, todo, self.reads.repo, leases)
        if found is None:
            return None
        lease, (scope, _) = found
        return Hindrance(
            "lease_held",
            f"{todo.id} waits for {scope}, which {lease.owner} holds for "
            f"{lease.place} until {to_the_second(lease.expires_at)}",
            until=lease.expires_at,
        )

    def _needs(self) -> tuple[NeedsYou, ...]:
        return needs_you(self.state, self.reads, self.now)

    def _people(self) -> str:
        return ", ".join(self.owners) or "an owner"

    def _run(self, todo: Todo, reason: Reason) -> Contract:
        brief = brief_for(self.state, todo, self.agent_id)
        return self._contract("run", [reason], todo=todo, brief=brief, hint=self._soon)

    def _contract(
        self,
        answer: Answer,
        reasons: Sequence[Reason],
        *,
        hint: SchedulerHint | None = None,
        todo: Todo | None = None,
        brief: Brief | None = None,
        question: str | None = None,
        ask: str | None = None,
        repair: Repair | None = None,
    ) -> Contract:
        state = self.state
        changed = state.changed_at or self.now
        return Contract(
            goal_id=state.goal_id,
            agent_id=self.agent_id,
            decided_at=self.now,
            seq=state.seq,
            head=state.head,
            answer=answer,
            reasons=tuple(reasons),
            needs_you=self._needs(),
            quota=usage(state, self.now),
            completion=self.completion,
            scheduler_hint=hint or schedule.ladder(self.now, changed, state.the_rules.cadence),
            todo=todo,
            brief=brief,
            question=question,
            ask=ask,
            repair=repair,
        )


def _named(ids: Sequence[str]) -> str:
    return f" ({', '.join(ids[:3])})" if ids else ""


def _ends_by_itself(stop: Hindrance) -> bool:
    # A gate waits for a person, unless a person put it off to a date.
    return stop.code in _WAITING and (stop.code != "gate_pending" or stop.until is not None)
