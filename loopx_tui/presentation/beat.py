"""Next beat: the contract's answer, why, what next, and when it rings again."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from loopx_kernel.text import safe

from loopx_tui import strings
from loopx_tui.presentation.ages import age
from loopx_tui.presentation.cells import Cell, Row, wrap
from loopx_tui.presentation.columns import Column
from loopx_tui.presentation.goals import answer_cell
from loopx_tui.presentation.heading import Heading
from loopx_tui.presentation.pen import Pen

if TYPE_CHECKING:
    from loopx_kernel.views.goal import GoalView

LABEL = 4
COLUMNS = (
    Column("label", min=LABEL, priority=1),
    Column("value", min=10, flex=True, priority=2),
)
_MOST_LINES = 4
_BASIS = {
    "work_ready": "work is ready",
    "fact_rhythm": "the fact's own rhythm",
    "date": "a date",
    "lease_end": "a lease ends",
    "slot_frees": "a slot frees",
}


def heading(view: GoalView, pen: Pen) -> Heading:
    """The answer, in the border."""
    return Heading(strings.BEAT, figure=(answer_cell(view.display_answer, pen),))


def rows(view: GoalView, pen: Pen, width: int) -> list[Row]:
    """What is next, every reason, who is asked, the repair, and the next wake; long
    texts on several lines of ``width`` cells."""
    contract = view.contract
    lines: list[tuple[str, Cell]] = []
    if contract.todo is not None:
        lines.append(("next", Cell(f"{contract.todo.id} {safe(contract.todo.title)}", "run")))
    lines += [("why", _reason(code.code, code.message)) for code in contract.reasons]
    if contract.ask:
        lines.append(("ask", Cell(safe(contract.ask), "ask")))
    if contract.repair is not None:
        repair = contract.repair
        lines.append(("fix", Cell(f"{repair.command} (by {_by(repair.by)})", "repair")))
    lines.append(("wake", wake(view, pen)))
    return [
        Row(f"{number}.{part} {label}", (Cell("" if part else label, "text-dim"), cell))
        for number, (label, whole) in enumerate(lines)
        for part, cell in enumerate(_wrapped(whole, width))
    ]


def wake(view: GoalView, pen: Pen) -> Cell:
    """When an idle agent should look again, and on what basis."""
    hint = view.contract.scheduler_hint
    if hint.next_wake_at is None or hint.interval_seconds is None:
        return Cell("nothing rings", "quiet")
    if hint.basis == "work_ready":
        every = age(timedelta(seconds=hint.interval_seconds))
        return Cell(f"every {every}{pen.dot}{_BASIS['work_ready']}", "text-dim")
    basis = f"step {hint.step} of the ladder" if hint.basis == "ladder" else _BASIS[hint.basis]
    return Cell(f"in {pen.left(hint.next_wake_at)}{pen.dot}{basis}", "wait")


def _reason(code: str, message: str) -> Cell:
    return Cell(safe(message), "alert" if code == "damaged" else "text")


def _wrapped(cell: Cell, width: int) -> list[Cell]:
    lines = wrap(cell.text, width) or [cell.text]
    if len(lines) > _MOST_LINES:
        lines = [*lines[: _MOST_LINES - 1], " ".join(lines[_MOST_LINES - 1 :])]
    return [Cell(line, cell.style) for line in lines]


def _by(who: str) -> str:
    return "you" if who == "person" else "an agent"
