"""A goal opened, step by step; what is vague is refused by the kernel's own rules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from loopx_kernel.errors import LoopxError
from loopx_kernel.text import counted, safe

from loopx_tui import first_words as words
from loopx_tui.cases.case import Asked, Case, Field, Matter, Section, Values, Way, lines_of
from loopx_tui.presentation.lines import Line, alert, head

if TYPE_CHECKING:
    from loopx_kernel.domain.goal import OpenGoal
    from loopx_kernel.workspace import Done, Unsigned

    from loopx_tui.decisions import Ledger

NEW_GOAL: Final = words.NEW_GOAL
_LISTS: Final = ("write_scope", "gates", "acceptance")
_OPTIONS: Final = {"write_scope": "--write-scope", "gates": "--gate", "acceptance": "--acceptance"}


def _path(text: str) -> str:
    from loopx_kernel.workspace.goal_words import check_path

    return words.PATH_READS.format(path=check_path(text))


def _gate(text: str) -> str:
    from loopx_kernel.workspace.goal_words import check_gate

    rule = check_gate(text)
    what = words.GATE_COMMAND.format(command=rule.command) if rule.command else ""
    where = words.GATE_PATH.format(path=rule.path) if rule.path else ""
    outside = words.GATE_OUTSIDE if rule.text == "write" else ""
    return words.GATE_READS.format(kind=rule.kind) + what + where + outside


def _acceptance(text: str) -> str:
    from loopx_kernel.workspace.goal_words import check_acceptance

    item = check_acceptance(text)
    told = words.ACCEPTANCE_READS[item.kind]
    return told.format(value=item.value, path=item.path, threshold=item.threshold)


def _share(text: str) -> str:
    from loopx_kernel.workspace.goal_words import check_share

    quota = check_share(text)
    return words.SHARE_READS.format(slots=counted(quota.allowed, "slot"), hours=quota.window_hours)


def _name(text: str) -> str:
    from loopx_kernel.domain.rules import check_id

    return check_id(text, "a goal")


STEPS: Final = (
    Field("objective", "objective", "text", hint=words.OBJECTIVE_HINT),
    Field("write_scope", "where", "lines", False, hint=words.WHERE_HINT, check=_path),
    Field("gates", "ask me before", "lines", False, hint=words.GATES_HINT, check=_gate),
    Field("acceptance", "done when", "lines", False, hint=words.DONE_HINT, check=_acceptance),
    Field("compute", "share", hint=words.HOW_MUCH_HINT, check=_share),
    Field("id", "name", required=False, hint=words.NAME_HINT, check=_name),
)
"""One question each, in the order in which they are asked."""


def _goal(values: Values, known: Iterable[str]) -> OpenGoal:
    """The command that opens the goal; raises ``LoopxError``."""
    from loopx_kernel.workspace.goal_words import open_goal

    told: dict[str, Any] = {name: list(lines_of(values, name)) for name in _LISTS}
    for name in ("objective", "compute", "id"):
        if text := values.get(name, "").strip():
            told[name] = text
    return open_goal(told, known)


def _look(ledger: Ledger, goal_id: str, object_id: str) -> Matter:
    return Matter(
        goal_id=goal_id,
        object_id=object_id,
        open=True,
        status="open",
        meaning={},
        record=ledger.goal_ids,
    )


def _problem(matter: Matter, values: Values) -> str:
    from loopx_tui.desk import explain

    try:
        _goal(values, matter.record)
    except LoopxError as error:
        return explain(error)
    return ""


def _show(matter: Matter, values: Values, width: int) -> Iterator[Section]:
    if _problem(matter, values):
        yield [alert(words.OBJECTIVE_FIRST, "ask")]
        return
    goal = _goal(values, matter.record)
    yield [
        Line(words.OPENS.format(goal=goal.goal_id), "ask"),
        *(Line(f"  {safe(line)}") for line in goal.objective.splitlines()),
    ]
    yield from (list(_said(step, values)) for step in STEPS[1:4])
    yield [head(words.HOW_MUCH), Line(f"  {_share(goal.rules.quota.compute)}")]


def _said(step: Field, values: Values) -> Iterator[Line]:
    """What was written in a step, with what it means; what leaving it empty means."""
    yield head(words.HEADS[step.name])
    lines = lines_of(values, step.name)
    for line in lines:
        reading = str(step.check(line))
        yield Line(f"  {safe(line)}")
        if reading != line:
            yield Line(f"    {safe(reading)}", "text-dim")
    if not lines:
        yield Line(f"  {words.NONE_MEANS[step.name]}", "stale")


def _prepare(ledger: Ledger, asked: Asked) -> Unsigned:
    return ledger.goals.open(asked.owner, _goal(asked.values, ledger.goal_ids))


def _loopx(matter: Matter, values: Values, way: Way) -> Sequence[str]:
    told = ["start-goal", "--objective", values.get("objective", "").strip() or "what is wanted"]
    for name, option in _OPTIONS.items():
        told += [word for line in lines_of(values, name) for word in (option, line)]
    for name in ("compute", "id"):
        if text := values.get(name, "").strip():
            told += [f"--{name}", text]
    return told


def _after(done: Done[Any]) -> Iterator[Line]:
    goal = done.object_id
    yield head(words.NEXT)
    for what, command in words.AFTER_OPENING:
        yield Line(f"  {what}", "text-dim")
        yield Line(f"    {command.format(goal=goal)}")


CASE: Final = Case(
    "goal.open",
    "goal",
    (Way("review.approve", "open", "open it", words.OPENED),),
    _look,
    _show,
    _prepare,
    _loopx,
    fields=STEPS,
    first=True,
    begin=lambda matter: {"compute": "0.4"},
    why_not=lambda matter, values, way: _problem(matter, values),
    problem=_problem,
    after=_after,
    step_by_step=True,
)
