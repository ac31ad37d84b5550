"""What stands beside a list: everything about the row under its cursor, in so many cells."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

from loopx_kernel.text import safe

from loopx_tui.presentation import todos
from loopx_tui.presentation.cells import Cell, Row, wrap
from loopx_tui.presentation.columns import GAP, Column
from loopx_tui.presentation.completion import name_of
from loopx_tui.presentation.details import Detail, detail
from loopx_tui.presentation.facts import Fact, Facts, plain
from loopx_tui.presentation.pen import Pen
from loopx_tui.presentation.scene import Scene
from loopx_tui.presentation.subjects import subject_of

if TYPE_CHECKING:
    from loopx_kernel.domain.completion import Check
    from loopx_kernel.views.goal import GoalView

LABEL: Final = 10
COLUMNS: Final = (
    Column("label", min=LABEL, max=LABEL, priority=1),
    Column("text", min=10, flex=True, priority=2),
)
_MOST_IDS = 200
_EDGE = 1


def beside(pane: str, key: str | None, scene: Scene, pen: Pen) -> Detail:
    """The title and facts of row ``key`` of a pane; without facts where there is nothing."""
    goal = scene.goal
    if pane == "completion" and goal is not None:
        check = next((one for one in goal.completion.checks if _key(one) == key), None)
        return Detail(name_of(check), tuple(_check(check, goal, pen))) if check else Detail("", ())
    subject = subject_of(pane, key, scene)
    if subject is None:
        return Detail("", ())
    found = detail(subject, scene, pen)
    if subject.kind == "source" and goal is not None:
        return found._replace(facts=(*found.facts, *_layers(goal, subject.id, pen)))
    return found


def rows(facts: Iterable[Fact], width: int) -> list[Row]:
    """The facts in ``width`` cells: labels in a column of their own, long texts wrapped."""
    room = max(width - _EDGE - LABEL - GAP, 1)
    found: list[Row] = []
    for fact in facts:
        label = fact.label
        for text in fact.value.text.split("\n"):
            for part in _wrapped(text, room):
                cells = (Cell(label[:LABEL], "text-dim"), Cell(part, fact.value.style))
                found.append(Row(str(len(found)), cells))
                label = ""
    return found


def _wrapped(text: str, room: int) -> list[str]:
    inner = text.lstrip(" ")
    lead = " " * min(len(text) - len(inner), room // 2)
    return [lead + part for part in wrap(inner, room - len(lead))] or [""]


def _key(check: Check) -> str:
    return f"{check.gate}.{check.check}"


def _check(check: Check, goal: GoalView, pen: Pen) -> Facts:
    mark = pen.glyph("held" if check.ok else "missing")
    facts = [
        Fact("check", Cell(f"{mark} {name_of(check)}", "closed" if check.ok else "repair")),
        plain("gate", str(check.gate)),
        plain("count", str(check.count)),
    ]
    facts += [_in_the_way(one, goal, pen) for one in check.ids[:_MOST_IDS]]
    if len(check.ids) > _MOST_IDS:
        facts.append(plain("", f"and {len(check.ids) - _MOST_IDS:,} more", "text-dim"))
    return facts


def _in_the_way(object_id: str, goal: GoalView, pen: Pen) -> Fact:
    row = next((row for row in goal.todos if row.todo.id == object_id), None)
    if row is not None:
        state = todos.state_cell(row, pen)
        return Fact(object_id, Cell(f"{safe(row.todo.title)}\n{state.text}", state.style))
    gate = next((one.gate for one in goal.gates if one.gate.id == object_id), None)
    if gate is not None:
        return Fact(object_id, Cell(safe(gate.question), "ask"))
    return Fact("", Cell(safe(object_id)))


def _layers(goal: GoalView, source_id: str, pen: Pen) -> Iterator[Fact]:
    """The layers of a source's health, said apart."""
    from loopx_kernel.views.layers import layers_of

    source = next((one for one in goal.sources if one.id == source_id), None)
    for layer in layers_of(source, goal.goal_id) if source else ():
        mark = pen.glyph("held" if layer.ok else "missing")
        style = "text-dim" if layer.ok else "repair"
        yield Fact(layer.name, Cell(safe(f"{mark} {layer.detail}"), style))
        if layer.fix and not layer.ok:
            yield Fact("", Cell(safe(layer.fix), "accent"))
