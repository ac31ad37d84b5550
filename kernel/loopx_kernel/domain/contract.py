"""should-run: the answer to one wake-up. Pure; the first rule that matches wins."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from loopx_kernel.clock import Reading, to_the_second
from loopx_kernel.domain import schedule
from loopx_kernel.domain.brief import Brief, brief_for
from loopx_kernel.domain.event import LiveLease
from loopx_kernel.domain.holding import holder_of_scope, live_leases
from loopx_kernel.domain.needs_you import NeedsYou, Reads, needs_you
from loopx_kernel.domain.quota import Usage, frees_at, is_exhausted, usage
from loopx_kernel.domain.records import Todo
from loopx_kernel.domain.schedule import Basis, SchedulerHint
from loopx_kernel.domain.state import GoalState, is_live
from loopx_kernel.domain.work import Hindrance, hindrance

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

CONTRACT_SCHEMA = "loopx_interaction_contract_v1"
Answer = Literal["run", "ask", "wait", "repair", "quiet"]
EXIT_STATUS: dict[Answer, int] = {"run": 0, "ask": 10, "wait": 11, "repair": 12, "quiet": 13}
_WAITING = ("quota_frozen", "not_due", "gate_pending", "lease_held")
_FOR_A_PERSON = {"gate": "gate_pending", "human_todo": "human_todo", "damage": "damaged"}


@dataclass(frozen=True, slots=True)
class Reason:
    """Why the answer is what it is; ``code`` is stable, ``message`` for people."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Repair:
    """What must be repaired, with which command, and by whom."""

    kind: str
    command: str
    by: Literal["person", "agent"]


@dataclass(frozen=True, slots=True)
class Contract:
    """The answer to one wake-up and all that goes with it. Times are UTC."""

    goal_id: str
    agent_id: str | None
    decided_at: datetime
    seq: int
    head: str
    answer: Answer
    reasons: tuple[Reason, ...]
    needs_you: tuple[NeedsYou, ...]
    quota: Usage
    scheduler_hint: SchedulerHint
    todo: Todo | None = None
    brief: Brief | None = None
    question: str | None = None
    ask: str | None = None
    repair: Repair | None = None


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
    desk = _Desk(state, reads, reading, agent_id, tuple(agents), tuple(owners))
    for rule in (
        desk.damaged,
        desk.stopped,
        desk.contradictory,
        desk.own_work,
        desk.new_work,
        desk.stuck_on_a_person,
        desk.waiting,
    ):
        contract = rule()
        if contract is not None:
            return contract
    return desk.nothing()


@dataclass(frozen=True, slots=True)
class _Desk:
    """The papers of one wake-up; a method per rule, in the order of the contract."""

    state: GoalState
    reads: Reads
    reading: Reading
    agent_id: str | None
    agents: tuple[str, ...]
    owners: tuple[str, ...]

    @property
    def now(self) -> datetime:
        return self.reading.now

    @property
    def _shortest(self) -> int:
        return self.state.the_rules.cadence.shortest_seconds

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
        if self.state.status == "active":
            return None
        reason = Reason(self.state.status, f"{self.state.goal_id} is {self.state.status}")
        return self._contract("quiet", [reason], hint=schedule.NEVER)

    def contradictory(self) -> Contract | None:
        if not self.reads.drift:
            return None
        command = f"loopx state check --goal {self.state.goal_id}"
        reasons = [Reason("drift", item.sentence) for item in self.reads.drift]
        return self._contract("repair", reasons, repair=Repair("drift", command, "person"))

    def own_work(self) -> Contract | None:
        askers = self.agents if self.agent_id is None else (self.agent_id,)
        for todo in self._todos():
            lease = todo.lease
            if lease is None or lease.owner not in askers or not is_live(lease, self.reading):
                continue
            if self._hindrance(todo, lease.owner) is None:
                message = f"{lease.owner} holds {todo.id} until {to_the_second(lease.expires_at)}"
                return self._run(todo, Reason("continue_own", message))
        return None

    def new_work(self) -> Contract | None:
        ready = sorted(filter(self._may_start, self._todos()), key=_turn)
        leases = self._leases()
        todo = next((todo for todo in ready if self._scope_held(todo, leases) is None), None)
        if todo is None:
            return None
        if self.agent_id is None and not self.agents:
            message = f"{todo.id} is ready, but no agent is registered: loopx agent add ID"
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
        return self._run(todo, Reason("work_ready", f"{todo.id} is ready: {todo.title}"))

    def stuck_on_a_person(self) -> Contract | None:
        needs = [item for item in self._needs() if item.kind in _FOR_A_PERSON]
        late = self._late_waits()
        if not needs and not late:
            return None
        reasons = [
            Reason(_FOR_A_PERSON[item.kind], f"{item.id}: {item.question}") for item in needs
        ]
        reasons += [Reason("quota_frozen", text) for text in late]
        question = needs[0].question if needs else late[0]
        return self._contract("ask", reasons, question=question, ask=self._people())

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
        hint = schedule.soonest(self._wake(todo, stop) for todo, stop in held)
        return self._contract("wait", reasons, hint=hint)

    def nothing(self) -> Contract:
        open_work = [todo.id for todo in self._todos() if not todo.finished]
        message = "nothing can be done now"
        if open_work:
            message += f"; not finished: {', '.join(open_work[:10])}"
        return self._contract("quiet", [Reason("nothing_to_do", message)])

    def _todos(self) -> Iterable[Todo]:
        return self.state.todos.values()

    def _hindrance(self, todo: Todo, agent_id: str | None) -> Hindrance | None:
        damaged = any(item.todo_id == todo.id for item in self.reads.damage)
        if damaged:
            return Hindrance("damaged", f"the lease of {todo.id} is damaged")
        return hindrance(self.state, todo, self.reading, agent_id)

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
            f"{lease.goal_id}/{lease.todo_id} until {to_the_second(lease.expires_at)}",
            until=lease.expires_at,
        )

    def _late_waits(self) -> list[str]:
        late = []
        for todo in self._todos():
            wait = todo.waiting_on
            if todo.status != "waiting" or wait is None:
                continue
            quiet = (self.now - self._last_look(todo)).total_seconds()
            if quiet >= 12 * wait.every_seconds:
                what = " ".join(filter(None, (wait.kind, wait.ref)))
                late.append(f"{todo.id} has waited for {what} through 12 of its rhythms")
        return late

    def _last_look(self, todo: Todo) -> datetime:
        wait = todo.waiting_on
        if wait is not None and wait.kind == "source" and wait.ref in self.state.sources:
            source = self.state.sources[wait.ref]
            if source.last_success_at is not None:
                return max(todo.changed_at, source.last_success_at)
        return todo.changed_at

    def _wake(self, todo: Todo, stop: Hindrance) -> SchedulerHint:
        if stop.code == "quota_frozen" and todo.waiting_on is not None:
            return schedule.rhythm(self.now, self._last_look(todo), todo.waiting_on.every_seconds)
        if stop.until is None:
            return schedule.NEVER
        basis: Basis = "lease_end" if stop.code == "lease_held" else "date"
        if stop.until <= self.now:
            # The holder's own clock says the lease lives on: look again, but not at once.
            return schedule.after(self.now, self._shortest, basis)
        return schedule.at(self.now, stop.until, basis)

    def _needs(self) -> tuple[NeedsYou, ...]:
        return needs_you(self.state, self.reads, self.now)

    def _people(self) -> str:
        return ", ".join(self.owners) or "an owner"

    def _run(self, todo: Todo, reason: Reason) -> Contract:
        hint = schedule.after(self.now, self._shortest, "work_ready")
        brief = brief_for(self.state, todo, self.agent_id)
        return self._contract("run", [reason], todo=todo, brief=brief, hint=hint)

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
            scheduler_hint=hint or schedule.ladder(self.now, changed, state.the_rules.cadence),
            todo=todo,
            brief=brief,
            question=question,
            ask=ask,
            repair=repair,
        )


def _ends_by_itself(stop: Hindrance) -> bool:
    # A gate waits for a person, unless a person put it off to a date.
    return stop.code in _WAITING and (stop.code != "gate_pending" or stop.until is not None)


def _turn(todo: Todo) -> tuple[str, datetime, int]:
    """Which todo comes first: by priority, then by age."""
    return todo.priority, todo.added_at, int(todo.id[1:])
