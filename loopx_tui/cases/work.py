"""Work: a person's todo finished, a todo taken away, another route asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from loopx_kernel.errors import UsageError
from loopx_kernel.text import safe

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
    own_packet,
)
from loopx_tui.presentation.lines import Line, field, head, moment

if TYPE_CHECKING:
    from loopx_kernel.views.goal import GoalView, TodoRow
    from loopx_kernel.workspace import Unsigned

    from loopx_tui.decisions import Ledger

# One todo


def _look_at_todo(ledger: Ledger, goal_id: str, todo_id: str, *, role: str | None = None) -> Matter:
    view = ledger.view(goal_id)
    row = next((row for row in view.todos if row.todo.id == todo_id), None)
    if row is None:
        raise UsageError("unknown_todo", f"There is no todo {todo_id} in {goal_id} any more")
    todo = row.todo
    return Matter(
        goal_id=goal_id,
        object_id=todo.id,
        open=not todo.finished and role in (None, todo.role),
        status=row.display_status if role in (None, todo.role) else "an agent's todo",
        meaning={
            "status": todo.status,
            "title": todo.title,
            "held by": row.holder or "",
            "needs": ", ".join(todo.depends_on),
        },
        record=row,
        view=view,
        version=todo.seq,
        texts=(todo.title, todo.reason),
    )


def _todo(row: TodoRow, view: GoalView) -> Iterator[Line]:
    todo = row.todo
    yield Line(f"{todo.id}  {safe(todo.title)}", "ask")
    yield field("state", f"{row.display_status}{f', held by {row.holder}' if row.holder else ''}")
    yield field("kind", f"{todo.kind}, {todo.priority}, for {todo.role}s")
    origin = todo.origin
    yield field("added by", f"{origin.actor_agent_id}, {moment(todo.added_at)}", "text-dim")
    if todo.lineage_todo_ids:
        yield field("comes from", ", ".join(todo.lineage_todo_ids), "text-dim")


def _dependants(row: TodoRow, view: GoalView) -> list[Line]:
    needing = [one.todo for one in view.todos if row.todo.id in one.todo.depends_on]
    return [
        head("Needed by" if needing else "Nothing needs it"),
        *(Line(f"  {safe(todo.id)}  {safe(todo.title)}") for todo in needing),
    ]


def _show_todo(matter: Matter, values: Values, width: int) -> Iterator[Section]:
    row: TodoRow = matter.record
    assert matter.view is not None
    yield list(_todo(row, matter.view))
    yield _dependants(row, matter.view)
    paths = lines_of(values, "evidence")
    if paths:
        yield [
            head("Evidence, read when you press the key"),
            *(Line(f"  {safe(one)}") for one in paths),
        ]


_EVIDENCE = Field(
    "evidence",
    "evidence",
    "lines",
    required=False,
    hint="Files in the repo, one a line, if any.",
)


def _look_at_own(ledger: Ledger, goal_id: str, todo_id: str) -> Matter:
    return _look_at_todo(ledger, goal_id, todo_id, role="human")


def _finish(ledger: Ledger, asked: Asked) -> Unsigned:
    from loopx_kernel.domain.handin import FinishHumanTodo

    command = FinishHumanTodo(todo_id=asked.matter.object_id, reason=asked.values["reason"])
    files = lines_of(asked.values, "evidence")
    return ledger.todos.finish_human(asked.goal_id, asked.owner, command, evidence=files)


def _finish_line(matter: Matter, values: Values, way: Way) -> Sequence[str]:
    files = [word for one in lines_of(values, "evidence") for word in ("--evidence", one)]
    reason = values.get("reason") or "how it was done"
    return ["todo", "complete", matter.object_id, "--reason", reason, *files]


def _cancel(ledger: Ledger, asked: Asked) -> Unsigned:
    from loopx_kernel.domain.cancel import CancelTodo

    command = CancelTodo(todo_id=asked.matter.object_id, reason=asked.values["reason"])
    return ledger.replans.cancel(asked.goal_id, asked.owner, command)


def _cancel_line(matter: Matter, values: Values, way: Way) -> Sequence[str]:
    return ["todo", "cancel", matter.object_id, "--reason", values.get("reason") or "why"]


# Another route


_TODOS = Field(
    "todos", "todos", "choice", required=False, hint="Space chooses; none means the whole goal."
)
_REPLAN = Way("review.approve", "replan", "ask for it", "to be replanned", (REASON,))


def _look_at_route(ledger: Ledger, goal_id: str, object_id: str) -> Matter:
    view = ledger.view(goal_id)
    return Matter(
        goal_id=goal_id,
        object_id=goal_id,
        open=view.status != "retired",
        status=view.status,
        meaning={"status": view.status},
        record=(view, object_id),
        view=view,
    )


def _under_the_cursor(matter: Matter) -> Values:
    view, object_id = matter.record
    return {"todos": object_id} if any(row.todo.id == object_id for row in view.todos) else {}


def _unfinished(matter: Matter) -> Mapping[str, Sequence[tuple[str, str]]]:
    view, _ = matter.record
    rows = [row for row in view.todos if not row.todo.finished]
    return {"todos": [(row.todo.id, f"{row.todo.id}  {safe(row.todo.title)}") for row in rows]}


def _show_route(matter: Matter, values: Values, width: int) -> Iterator[Section]:
    view, _ = matter.record
    titles = {row.todo.id: row.todo for row in view.todos}
    chosen = lines_of(values, "todos")
    yield [
        Line("Another route for " + (", ".join(chosen) or "the whole goal"), "ask"),
        *(
            Line(f"  {safe(ref)}  {titles[ref].status}  {safe(titles[ref].title)}")
            for ref in chosen
            if ref in titles
        ),
    ]
    facts = lines_of(values, "facts")
    yield [head("Facts" if facts else "On no facts"), *(Line(f"  {safe(one)}") for one in facts)]
    yield [
        head("What it does"),
        Line("  opens a duty, and a todo P0 in which an agent finds the route; the named todos"),
        Line("  are not begun meanwhile, and each is superseded once its successor is bound"),
    ]


def _request(ledger: Ledger, asked: Asked) -> Unsigned:
    from loopx_kernel.domain.replan import RequestReplan

    values = asked.values
    command = RequestReplan(
        reason=values["reason"], facts=lines_of(values, "facts"), todo_ids=lines_of(values, "todos")
    )
    return ledger.replans.request(asked.goal_id, asked.owner, command)


def _request_line(matter: Matter, values: Values, way: Way) -> Sequence[str]:
    named = [word for ref in lines_of(values, "todos") for word in ("--todo", ref)]
    facts = [word for one in lines_of(values, "facts") for word in ("--fact", one)]
    return ["replan", "request", *named, *facts, "--reason", values.get("reason") or "why"]


CASES: Final = (
    Case(
        "todo.finish",
        "todo",
        (Way("review.approve", "finish", "finish", "finished", (REASON,)),),
        _look_at_own,
        _show_todo,
        _finish,
        _finish_line,
        fields=(REASON, _EVIDENCE),
        packet=own_packet,
    ),
    Case(
        "todo.cancel",
        "todo",
        (Way("review.approve", "cancel", "cancel it", "cancelled", (REASON,)),),
        _look_at_todo,
        _show_todo,
        _cancel,
        _cancel_line,
        fields=(REASON,),
    ),
    Case(
        "replan",
        "route",
        (_REPLAN,),
        _look_at_route,
        _show_route,
        _request,
        _request_line,
        fields=(_TODOS, REASON, FACTS),
        first=True,
        begin=_under_the_cursor,
        choices=_unfinished,
    ),
)
