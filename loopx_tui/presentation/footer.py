"""The footer: the keys that work now, from the live bindings."""

from __future__ import annotations

from collections.abc import Iterable

from rich.cells import cell_len

from loopx_tui.presentation.cells import Cell

GAP = 3


def footer(keys: Iterable[tuple[str, str, bool]], width: int) -> tuple[Cell, ...]:
    """``(key, title, enabled)`` as one line of at most ``width`` cells; whole entries only."""
    runs: list[Cell] = [Cell(" ")]
    used = 1
    for key, title, enabled in keys:
        need = cell_len(key) + 1 + cell_len(title) + (GAP if used > 1 else 0)
        if used + need > width:
            break
        if used > 1:
            runs.append(Cell(" " * GAP))
        runs += [Cell(key, "accent" if enabled else "text-dim"), Cell(f" {title}", "text-dim")]
        used += need
    return tuple(runs)
