"""The header: where the ledger is, whether it holds, what waits, and how live this is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from loopx_kernel.text import safe
from rich.cells import cell_len

from loopx_tui import strings
from loopx_tui.presentation.cells import BADGE, Cell
from loopx_tui.presentation.pen import Pen

if TYPE_CHECKING:
    from loopx_kernel.views.goal import GoalView
    from loopx_kernel.views.workspace import WorkspaceView

GAP = 2
_MODE_STYLES = {
    "start": "text-dim",
    "live": "fresh",
    "polling": "stale",
    "down": "alert",
    "none": "text-dim",
}


@dataclass(frozen=True, slots=True)
class Place:
    """Where the app looks, and as whom; what the person calls it, in a colour of the theme."""

    path: str
    user_host: str = ""
    read_only: bool = False
    demo: bool = False
    label: str = ""
    colour: str = ""


class Bar(NamedTuple):
    """One line in two parts; each part is a row of facts, the facts made of cells."""

    left: tuple[Cell, ...]
    right: tuple[Cell, ...]


class _Fact(NamedTuple):
    cell: Cell
    priority: int
    right: bool = False
    short: Cell | None = None


def header(
    place: Place,
    view: WorkspaceView | None,
    goal: GoalView | None,
    *,
    mode: str,
    observed: datetime | None,
    pen: Pen,
    width: int,
    open_until: datetime | None = None,
    past: Cell | None = None,
) -> Bar:
    """The header in ``width`` cells; what matters least vanishes first. ``open_until`` is when
    the key that is kept open is locked again; ``past`` marks a screen that shows how things
    stood once."""
    facts = _place_facts(place)
    if past is not None:
        facts.insert(0, _Fact(past, 12))
    if open_until is not None:
        facts.append(_Fact(Cell(strings.KEY_OPEN.format(left=pen.left(open_until)), "ask"), 11))
    if view is not None:
        facts += _ledger_facts(view, goal, pen)
    if observed is not None:
        time = strings.AS_OF.format(time=pen.clock(observed, seconds=True))
        facts.append(_Fact(Cell(time, "text-dim"), 4, right=True))
    if view is None and mode != "start":
        mode = "none"
    live = Cell(f"{pen.glyph('live')} {strings.MODES[mode]}", _MODE_STYLES[mode])
    facts.append(_Fact(live, 8, right=True))
    return _fitted(facts, width)


def _place_facts(place: Place) -> list[_Fact]:
    path = safe(place.path)
    name = path.rstrip("/").rpartition("/")[2]
    short = Cell(f"…/{name}") if "/" in path.strip("/") else None
    facts = [_Fact(Cell(strings.APP, "accent"), 1), _Fact(Cell(path), 3, short=short)]
    if place.label:
        badge = Cell(f" {place.label} ", f"{BADGE}{place.colour or 'accent'}")
        facts.insert(1, _Fact(badge, 10))
    if place.user_host:
        facts.append(_Fact(Cell(safe(place.user_host), "text-dim"), 0))
    if place.demo:
        facts.append(_Fact(Cell(strings.DEMO, "past"), 9))
    if place.read_only:
        facts.append(_Fact(Cell(strings.READ_ONLY, "paused"), 7))
    return facts


def _ledger_facts(view: WorkspaceView, goal: GoalView | None, pen: Pen) -> list[_Fact]:
    # The header is there before anything was read, and needs neither then.
    from loopx_tui.presentation import alerts as alert_rows
    from loopx_tui.presentation import needs
    from loopx_tui.presentation.goals import is_loading

    waiting, alerts = needs.count(view), alert_rows.count(view)
    facts = []
    if waiting:
        text = strings.NEED_YOU[waiting == 1].format(count=waiting)
        facts.append(_Fact(Cell(f"{pen.glyph('need')} {text}", "ask"), 10))
    elif not is_loading(view):
        facts.append(_Fact(Cell(strings.NOTHING_NEEDED, "text-dim"), 6))
    if alerts:
        text = strings.ALERT_COUNT[alerts == 1].format(count=alerts)
        facts.append(_Fact(Cell(f"{pen.glyph('alert')} {text}", "alert"), 9))
    cover = view.envelope.coverage
    text = strings.GOAL_COUNT[cover.expected_count == 1].format(
        read=cover.included_count, all=cover.expected_count
    )
    facts.append(_Fact(Cell(text, "text-dim" if cover.complete else "alert"), 5))
    if goal is not None:
        facts.append(_Fact(integrity(goal, pen), 6))
    return facts


def integrity(goal: GoalView, pen: Pen) -> Cell:
    """The goal's head, and how far back its chain was replayed on this machine."""
    if goal.alerts or goal.reads.damage:
        return Cell(f"#{goal.seq} {pen.glyph('forged')} not intact", "alert")
    if goal.verified:
        return Cell(f"#{goal.seq} {pen.glyph('verified')} {strings.VERIFIED}", "verified")
    since = strings.TAIL_ONLY.format(seq=goal.verified_from)
    return Cell(f"#{goal.seq} {pen.glyph('verified')} {since}", "verified")


def _fitted(facts: Sequence[_Fact], width: int) -> Bar:
    kept = list(facts)
    while _width(kept) > width and len(kept) > 1:
        least = min(kept, key=lambda fact: fact.priority)
        shorter = [_Fact(least.short, least.priority, least.right)] if least.short else []
        place = kept.index(least)
        kept[place : place + 1] = shorter
    return Bar(
        tuple(fact.cell for fact in kept if not fact.right),
        tuple(fact.cell for fact in kept if fact.right),
    )


def _width(facts: Sequence[_Fact]) -> int:
    return sum(cell_len(fact.cell.text) for fact in facts) + GAP * max(len(facts) - 1, 0) + 2
