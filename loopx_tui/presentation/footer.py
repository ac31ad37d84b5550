"""The footer: the keys that work now, from the live bindings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.cells import cell_len

from loopx_tui.presentation.cells import Cell

GAP = 3


def footer(keys: Iterable[tuple[str, str, bool]], width: int) -> tuple[Cell, ...]:
    """``(key, title, enabled)`` as one line of at most ``width`` cells.

    Whole entries only; the last one, which leads out, is the last to give way.
    """
    entries = list(keys)
    while len(entries) > 1 and _needed(entries) > width:
        del entries[-2]
    if _needed(entries) > width:
        entries = []
    runs: list[Cell] = [Cell(" ")]
    for number, (key, title, enabled) in enumerate(entries):
        runs += [Cell(" " * GAP)] if number else []
        runs += [Cell(key, "accent" if enabled else "text-dim"), Cell(f" {title}", "text-dim")]
    return tuple(runs)


def _needed(entries: Sequence[tuple[str, str, bool]]) -> int:
    texts = sum(cell_len(key) + 1 + cell_len(title) for key, title, _ in entries)
    return 1 + texts + GAP * (len(entries) - 1)
