"""Escalations: work that was taken out of the loop, and how it goes on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from loopx_kernel.errors import UsageError
from loopx_kernel.text import counted, safe

from loopx_tui.cases.case import REASON, Asked, Case, Matter, Section, Values, Way, own_packet
from loopx_tui.presentation.lines import Line, field, head, moment

if TYPE_CHECKING:
    from loopx_kernel.domain.records import Todo
    from loopx_kernel.domain.records_of_work import Escalation, Turn
    from loopx_kernel.domain.state import GoalState
    from loopx_kernel.workspace import Unsigned

    from loopx_tui.decisions import Ledger

TURNS: Final = 5
_DIGEST = 12
_GO_ON = Way("review.approve", "go_on", "go on", "work goes on", (REASON,))
_REPLAN = Way("review.replan", "replan", "replan", "to be replanned", (REASON,), grants=False)
_CANCEL = Way("review.reject", "cancel", "cancel it", "cancelled", (REASON,))


def look(ledger: Ledger, goal_id: str, escalation_id: str) -> Matter:
    """The escalation as it is now; ``unknown_escalation`` where there is none."""
    state, view = ledger.state(goal_id), ledger.view(goal_id)
    found = state.escalations.get(escalation_id)
    if found is None:
        raise UsageError("unknown_escalation", f"There is no {escalation_id} in {goal_id} any more")
    return Matter(
        goal_id=goal_id,
        object_id=found.id,
        open=found.status == "open",
        status=found.status,
        meaning={
            "status": found.status,
            "cause": found.cause,
            "detail": found.detail,
            "todo": found.todo_id or "the whole goal",
        },
        record=(found, state),
        view=view,
        version=found.seq,
        texts=(found.detail,),
        settled=tuple(_settled(found)),
    )


def _settled(found: Escalation) -> Iterator[Line]:
    if found.answer is not None and found.answered_at is not None:
        by = f"by {found.by}, {moment(found.answered_at)}: {found.reason}"
        yield field(found.answer.replace("_", " "), by)


def show(matter: Matter, values: Values, width: int) -> Iterator[Section]:
    """The cause, what is out of run, what was tried, and what each answer does."""
    found, state = matter.record
    todo = state.todos.get(found.todo_id or "")
    yield list(_cause(found, todo))
    yield list(_tried(state, todo))
    yield list(_turns(state, found))
    yield list(_answers(state, found))


def _cause(found: Escalation, todo: Todo | None) -> Iterator[Line]:
    yield Line(safe(f"{found.cause.replace('_', ' ')}: {found.detail}"), "ask")
    out = f"{todo.id} {todo.title}" if todo else found.todo_id or "the whole goal"
    yield field("rests", f"{out}; other work goes on" if found.todo_id else out)
    yield field("raised", f"{moment(found.at)} by the end of {found.turn_id or 'a turn'}")
    yield field("status", found.status, "text-dim")


def _tried(state: GoalState, todo: Todo | None) -> Iterator[Line]:
    yield head("Tried since the last allowance")
    if todo is None:
        yield field("attempts", f"{counted(len(state.failures), 'failed turn')} in this window")
        return
    spent = todo.effort
    streak = f"{spent.streak} in a row without progress"
    yield field("attempts", f"{counted(spent.turns, 'turn')}, {spent.failed} failed, {streak}")
    yield field("score", spent.score or "none: no acceptance item of it was scored")
    if spent.recoveries:
        yield field("no receipt", ", ".join(map(moment, spent.recoveries)))
    shown = ", ".join(f"{one[:_DIGEST]}…" for one in spent.digests[-TURNS:])
    yield field("results", shown or "none")


def _turns(state: GoalState, found: Escalation) -> Iterator[Line]:
    about = [
        turn for turn in state.turns.values() if found.todo_id in (None, turn.todo_id)
    ]  # fmt: skip
    yield head(f"The last turns{' on it' if found.todo_id else ''}: {len(about) or 'none'}")
    for turn in about[-TURNS:][::-1]:
        yield Line(f"  {_turn(turn)}")
    slots = sum(turn.slots_booked for turn in about)
    yield field("booked", f"{counted(slots, 'slot')} in these {len(about)} turns")


def _turn(turn: Turn) -> str:
    ended = "open" if turn.status == "open" else turn.outcome or turn.status
    what = f"; {safe(turn.reason)}" if turn.reason else ""
    digest = f"  result {turn.result_digest[:_DIGEST]}…" if turn.result_digest else ""
    return f"{turn.id}  {safe(turn.agent_id)}  {turn.todo_id}  {ended}{digest}{what}"


def _answers(state: GoalState, found: Escalation) -> Iterator[Line]:
    what = found.todo_id or "the goal"
    yield head("What an answer does")
    yield field("go on", f"{what} may be worked on again, with a new allowance:")
    yield field("", _allowance(state))
    yield field("replan", f"opens a duty to find another route for {what}; it rests until then")
    if found.todo_id:
        yield field("cancel", f"takes {what} away for good; it stays readable")


def _allowance(state: GoalState) -> str:
    limits = state.the_rules.limits
    parts = [f"{counted(limits.turns_without_progress, 'turn')} without progress"]
    if limits.turns_per_todo:
        parts.append(f"{counted(limits.turns_per_todo, 'turn')} on a todo")
    parts.append(f"{counted(limits.recoveries_per_day, 'turn')} without a receipt a day")
    parts.append(f"{limits.failed_turns_per_window} failed turns of the goal a window")
    return ", ".join(parts)


def why_not(matter: Matter, values: Values, way: Way) -> str:
    """The goal is not cancelled but retired."""
    found, _ = matter.record
    if way is _CANCEL and found.todo_id is None:
        return "The whole goal is out of run: it is not cancelled, but retired (in the palette)"
    return ""


def prepare(ledger: Ledger, asked: Asked) -> Unsigned:
    """The statement of an answer."""
    from loopx_kernel.domain.escalation import Answer, AnswerEscalation

    answer: Answer = asked.way.name  # type: ignore[assignment]
    command = AnswerEscalation(
        escalation_id=asked.matter.object_id, answer=answer, reason=asked.values["reason"]
    )
    return ledger.escalations.answer(asked.goal_id, asked.owner, command)


def loopx(matter: Matter, values: Values, way: Way) -> Sequence[str]:
    """The options of the same command."""
    how = f"--{way.name.replace('_', '-')}"
    reason = values.get("reason") or "why"
    return ["escalation", "answer", matter.object_id, how, "--reason", reason]


CASE: Final = Case(
    "escalation",
    "escalation",
    (_GO_ON, _REPLAN, _CANCEL),
    look,
    show,
    prepare,
    loopx,
    fields=(REASON,),
    why_not=why_not,
    packet=own_packet,
)
