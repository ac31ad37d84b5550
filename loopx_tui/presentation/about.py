"""The line below the header of a goal's own screen: its answer, its name, what is wanted."""

from __future__ import annotations

from loopx_kernel.text import safe

from loopx_tui import strings, strings_goal
from loopx_tui.presentation.cells import Cell
from loopx_tui.presentation.goals import NOT_LOADED, answer_cell
from loopx_tui.presentation.pen import Pen
from loopx_tui.presentation.scene import Scene


def about(scene: Scene, pen: Pen, part: float | None) -> list[Cell]:
    """The line as cells without gaps; ``part`` is how much of a long reading is done."""
    goal = scene.goal
    if goal is None:
        why = scene.unread.message if scene.unread else strings.LOADING
        lost = scene.unread is not None and scene.unread.reason != NOT_LOADED
        return [Cell(safe(f" {scene.goal_id}  {why}"), "alert" if lost else "text-dim")]
    cells = [Cell(" "), answer_cell(goal.display_answer, pen), Cell(f"  {safe(goal.goal_id)}  ")]
    if part is not None:
        cells.append(Cell(strings_goal.READING.format(part=part) + "  ", "wait"))
    if goal.display_name != goal.goal_id:
        cells.append(Cell(f"{safe(goal.display_name)}  ", "text-dim"))
    objective = safe(goal.objective.replace("\n", " "))
    return [*cells, Cell(f"v{goal.objective_version} ", "text-dim"), Cell(objective)]
