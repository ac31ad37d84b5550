"""What a goal remembers of work under way: turns, facts from outside, duties, escalations."""

from typing import Literal

from loopx_kernel.domain.event import Level
from loopx_kernel.domain.record import Count, Flag, Hex, Int, Line, Name, Record, Time

Basis = Literal["ran", "read", "told"]
"""How a fact is known: the kernel ran a command of the signed rules, it parsed a file somebody
handed in, or it was only told."""
Outcome = Literal["done", "progress", "blocked", "failed"]
Cause = Literal["high_risk", "low_confidence", "no_progress", "capped"]
ObservationKind = Literal["ci", "review", "source"]


class Effort(Record):
    """What was put into a todo since it was last given an allowance.

    ``streak`` counts settled turns in a row without progress, ``digests`` are the last sixteen
    result digests, ``score`` is the best acceptance score, a decimal as text; ``recoveries`` are
    the times (UTC) of the last turns that ended without a receipt.
    """

    turns: Count = 0
    failed: Count = 0
    streak: Count = 0
    digests: tuple[Hex, ...] = ()
    score: str | None = None
    recoveries: tuple[Time, ...] = ()


class Turn(Record):
    """One bounded transaction from brief to receipt. Its deadline is its lease's end.

    It is progress only when it is ``verified``, its state is written back, and its slots are
    booked. ``unproven`` says that nothing a machine could read supports it. One that is
    ``withdrawn`` ended with a decision about its work, by whom ``withdrawn_by`` says.
    """

    id: Name
    todo_id: Name
    agent_id: Name
    contract_id: Name
    lease_epoch: Count
    status: Literal["open", "settled", "recovered", "withdrawn"] = "open"
    outcome: Outcome | None = None
    handed_in: Flag = False
    verified: Flag = False
    unproven: Flag = False
    state_written: Flag = False
    slots_booked: Count = 0
    result_digest: Hex | None = None
    opened_at: Time
    opened_seq: Count
    closed_at: Time | None = None
    withdrawn_by: Name | None = None
    reason: Line = ""
    seq: Count

    @property
    def progress(self) -> bool:
        """All three parts hold together, and it did not fail."""
        good = self.outcome in ("done", "progress")
        return good and self.verified and self.state_written and self.slots_booked > 0


class Observation(Record):
    """The last look at a fact from outside, and on what basis it is known.

    ``todo_id`` is the todo that waited for it, the last one that did; ``fix`` the todo that was
    added because it was bad, and ``passed_since`` says that it was good after that. ``path``,
    ``sha256``, ``size`` in bytes and ``kept`` are those of the report it was read in.
    """

    kind: ObservationKind
    ref: Line
    status: Literal["pass", "fail", "pending"]
    basis: Basis
    by: Name
    at: Time
    event_id: Name
    todo_id: Name | None = None
    fix: Name | None = None
    passed_since: Flag = False
    path: Line = ""
    sha256: Hex | None = None
    size: Count | None = None
    kept: Flag = False
    seq: Count

    @property
    def key(self) -> str:
        """What it is a look at."""
        return f"{self.kind}:{self.ref}"

    @property
    def proven(self) -> bool:
        """Whether the kernel itself saw it pass; a person's signature aside, only that counts."""
        return self.status == "pass" and self.basis == "ran"


class ItemResult(Record):
    """What the kernel saw when it last ran an acceptance item, bound to the files as they were.

    ``repo_state`` is a digest over the goal's files before the run, ``left`` after it where that
    is another; ``written`` one over the files that items are about, after it. ``restless`` says
    that the run before it had changed the files too, and nobody since. ``digest`` is that of the
    whole result; ``score`` is 0 to 10 for a rubric.
    """

    item_id: Name
    result: Literal["passed", "failed", "inconclusive"]
    detail: Line = ""
    repo_state: Hex
    left: Hex | None = None
    written: Hex | None = None
    restless: Flag = False
    digest: Hex
    score: Int | None = None
    at: Time
    seq: Count


class AcceptedByHand(Record):
    """A person's word that the work is accepted, for the repo state they saw."""

    by: Name
    at: Time
    reason: Line
    repo_state: Hex
    level: Level
    seq: Count


class Obligation(Record):
    """An open duty to replan; it closes when each todo it names has a successor. The replanning
    itself is a todo, ``replan_todo``."""

    id: Name
    status: Literal["open", "fulfilled", "withdrawn"] = "open"
    reason: Line
    facts: tuple[Line, ...] = ()
    todo_ids: tuple[Name, ...] = ()
    replan_todo: Name
    by: Name
    at: Time
    closed_by: Name | None = None
    closed_at: Time | None = None
    seq: Count


class Proposal(Record):
    """A change an agent asks for: to cancel or supersede a todo, to replan todos (or the goal), or
    to word the objective anew."""

    kind: Literal["cancel", "supersede", "route", "objective"]
    todo_ids: tuple[Name, ...] = ()
    successor: Name | None = None
    text: str = ""
    reason: Line
    facts: tuple[Line, ...] = ()


class Escalation(Record):
    """Work taken out of the loop until a person answers; without a todo the whole goal. It is
    mooted where its todo was finished before."""

    id: Name
    status: Literal["open", "answered", "mooted"] = "open"
    cause: Cause
    todo_id: Name | None = None
    turn_id: Name | None = None
    detail: Line
    at: Time
    answer: Literal["go_on", "replan", "cancel"] | None = None
    by: Name | None = None
    reason: Line = ""
    answered_at: Time | None = None
    seq: Count
