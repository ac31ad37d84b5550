"""A goal as a whole: paused, resumed, retired, accepted by hand, or wanted otherwise."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final, Literal

from loopx_kernel.text import counted, safe

from loopx_tui.cases.case import (
    FACTS,
    REASON,
    Asked,
    Case,
    Field,
    Matter,
    Section,
    Values,
    Way,
    lines_of,
)
from loopx_tui.presentation.lines import Line, field, head
from loopx_tui.presentation.side_by_side import two_texts

if TYPE_CHECKING:
    from loopx_kernel.views.goal import GoalView
    from loopx_kernel.workspace import Unsigned

    from loopx_tui.decisions import Ledger

To = Literal["paused", "resumed", "retired"]
_FROM: Final = {"paused": ("active",), "resumed": ("paused",), "retired": ("active", "paused")}
_WORDS: Final[dict[To, tuple[str, str]]] = {
    "paused": ("pause", "No new turn begins until it is resumed; work under way is handed in"),
    "resumed": ("resume", "Turns may begin again"),
    "retired": ("retire", "It ends for good; its journal stays readable"),
}
NAMES: Final = ("as it is", "as it would be")
_MOST = 8


def _goal(view: GoalView) -> Iterator[Line]:
    yield Line(f"{safe(view.goal_id)} ({safe(view.display_name)}) is {view.display_answer}", "ask")
    yield field("objective", f"{view.objective} (version {view.objective_version})")
    counts = ", ".join(f"{n} {name}" for name, n in view.counts.items() if n and name != "total")
    yield field("todos", counts or "none")
    held = [f"{row.todo_id} by {row.owner}" for row in view.leases if row.status == "active"]
    yield field("held", ", ".join(held) or "nothing")


# Pausing, resuming, retiring


def _status_case(to: To) -> Case:
    verb, effect = _WORDS[to]
    way = Way("review.approve", to, verb, to, (REASON,))

    def look(ledger: Ledger, goal_id: str, object_id: str) -> Matter:
        view = ledger.view(goal_id)
        return Matter(
            goal_id=goal_id,
            object_id=goal_id,
            open=view.status in _FROM[to],
            status=view.status,
            meaning={"status": view.status},
            record=view,
            view=view,
        )

    def show(matter: Matter, values: Values, width: int) -> Iterator[Section]:
        yield list(_goal(matter.record))
        yield [head(f"To {verb} it"), Line(f"  {effect}")]

    def prepare(ledger: Ledger, asked: Asked) -> Unsigned:
        from loopx_kernel.domain.goal import ChangeGoalStatus

        command = ChangeGoalStatus(to=to, reason=asked.values["reason"])
        return ledger.goals.change_status(asked.goal_id, asked.owner, command)

    def loopx(matter: Matter, values: Values, way: Way) -> Sequence[str]:
        return ["goal", verb, "--reason", values.get("reason") or "why"]

    return Case(f"goal.{verb}", "goal", (way,), look, show, prepare, loopx, fields=(REASON,))


# The objective


_TEXT = Field("text", "objective", "text", hint="The whole new wording.")
_PATCH = Way("review.approve", "patch", "sign it", "worded anew", (_TEXT, REASON))


def _look_at_objective(ledger: Ledger, goal_id: str, object_id: str) -> Matter:
    view = ledger.view(goal_id)
    return Matter(
        goal_id=goal_id,
        object_id=goal_id,
        open=True,
        status=view.status,
        meaning={"objective": view.objective, "version": str(view.objective_version)},
        record=view,
        view=view,
    )


def _show_objective(matter: Matter, values: Values, width: int) -> Iterator[Section]:
    view: GoalView = matter.record
    text = values.get("text", "")
    yield [
        Line(f"The objective of {safe(view.goal_id)}, version {view.objective_version}", "ask"),
        *(
            two_texts(view.objective, text, NAMES, width)
            if text not in ("", view.objective)
            else [Line(f"  {safe(line)}") for line in view.objective.splitlines()]
        ),
    ]
    facts = lines_of(values, "facts")
    yield [
        head("Facts" if facts else "On no facts"),
        *(Line(f"  {safe(one)}") for one in facts),
    ]


def _same_words(matter: Matter, values: Values, way: Way) -> str:
    text = values.get("text", "")
    if not text.strip() or text == matter.record.objective:
        return "Write the new objective first"
    return ""


def _patch(ledger: Ledger, asked: Asked) -> Unsigned:
    from loopx_kernel.domain.objective import PatchObjective

    values = asked.values
    command = PatchObjective(
        text=values["text"], reason=values["reason"], facts=lines_of(values, "facts")
    )
    return ledger.objectives.patch(asked.goal_id, asked.owner, command)


def _patch_line(matter: Matter, values: Values, way: Way) -> Sequence[str]:
    facts = [word for one in lines_of(values, "facts") for word in ("--fact", one)]
    text, reason = values.get("text") or "what is wanted now", values.get("reason") or "why"
    return ["objective", "patch", "--text", text, "--reason", reason, *facts]


# Accepting by hand


def _accept_case(of_todo: bool) -> Case:
    way = Way("review.approve", "accept", "accept", "accepted by hand", (REASON,))

    def look(ledger: Ledger, goal_id: str, object_id: str) -> Matter:
        view = ledger.view(goal_id)
        rows = [row for row in view.todos if row.todo.id == object_id or not of_todo]
        undone = [row for row in rows if not row.todo.finished]
        return Matter(
            goal_id=goal_id,
            object_id=object_id if of_todo else goal_id,
            open=True,
            status=view.status,
            meaning={row.todo.id: f"{row.todo.status} #{row.todo.seq}" for row in rows},
            record=(view, rows, undone),
            view=view,
        )

    def show(matter: Matter, values: Values, width: int) -> Iterator[Section]:
        view, rows, undone = matter.record
        yield list(_goal(view))
        yield [
            head("Accepted as it is in the repo when you press the key"),
            *(
                Line(f"  {safe(row.todo.id)}  {row.todo.status}  {safe(row.todo.title)}")
                for row in (undone or rows)[-_MOST:]
            ),
        ]
        checks = [check for check in view.completion.failing if check.check == "acceptance"]
        items = ", ".join(ref for check in checks for ref in check.ids)
        yield [
            field("still open", items or "nothing"),
            field("holds", "until work changes; the preview names the state of the repo"),
        ]

    def prepare(ledger: Ledger, asked: Asked) -> Unsigned:
        todo_id = asked.matter.object_id if of_todo else None
        return ledger.accepting.by_hand(asked.goal_id, asked.owner, asked.values["reason"], todo_id)

    def loopx(matter: Matter, values: Values, way: Way) -> Sequence[str]:
        about = ["--todo", matter.object_id] if of_todo else []
        return ["accept", "by-hand", *about, "--reason", values.get("reason") or "why"]

    def why_not(matter: Matter, values: Values, way: Way) -> str:
        _, rows, undone = matter.record
        if undone:
            ids = ", ".join(row.todo.id for row in undone[:_MOST])
            return f"{counted(len(undone), 'todo')} not finished: {ids}"
        if of_todo and not any(row.todo.acceptance for row in rows):
            return "It has no acceptance item: accept the whole goal instead"
        return ""

    name, noun = ("todo.accept", "todo") if of_todo else ("goal.accept", "goal")
    return Case(
        *(name, noun, (way,), look, show, prepare, loopx),
        fields=(REASON,),
        why_not=why_not,
        packet=lambda matter: None if of_todo else "accept",
    )


CASES: Final = (
    *(_status_case(to) for to in _WORDS),
    Case(
        "objective",
        "objective",
        (_PATCH,),
        _look_at_objective,
        _show_objective,
        _patch,
        _patch_line,
        fields=(_TEXT, REASON, FACTS),
        first=True,
        begin=lambda matter: {"text": matter.record.objective},
        why_not=_same_words,
    ),
    _accept_case(of_todo=False),
    _accept_case(of_todo=True),
)
