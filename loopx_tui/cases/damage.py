"""Bytes that are not what the journal says: rendered again, or cut off."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from loopx_kernel.domain.event import WORKSPACE_JOURNAL
from loopx_kernel.domain.needs_you import OWNERS_CHANGED
from loopx_kernel.errors import LoopxError
from loopx_kernel.text import safe

from loopx_tui import strings
from loopx_tui.cases.case import Asked, Case, Matter, Section, Values, Way
from loopx_tui.presentation.lines import Line, field, head

if TYPE_CHECKING:
    from loopx_kernel.views.goal import GoalView
    from loopx_kernel.workspace import DamageRow, Unsigned

    from loopx_tui.decisions import Ledger

_REPAIR = Way("review.approve", "repair", "repair", "repaired")
_NONE = "not found"


def look(ledger: Ledger, goal_id: str, object_id: str) -> Matter:
    """What is damaged first: whose the workspace is, then the goal, else the workspace, which
    stops every goal."""
    own = _swapped(ledger)
    rows = ledger.repairs.list()
    own += [row for row in rows if row.goal_id == goal_id] or list(rows)
    first = own[0] if own else None
    path = first.damage.path if first else goal_id
    return Matter(
        goal_id=goal_id,
        object_id=path,
        open=first is not None,
        status="damaged" if first else "whole",
        meaning=_meaning(first),
        record=(first, own[1:]),
        view=_view(ledger, goal_id),
        texts=(first.damage.reason,) if first else (),
    )


def _swapped(ledger: Ledger) -> list[DamageRow]:
    """That the owners are not those this person knew, which no repair mends."""
    from loopx_kernel.workspace import DamageRow

    found = ledger.owners.pins.damage()
    return [DamageRow(WORKSPACE_JOURNAL, damage, "every signature") for damage in found]


def _meaning(row: DamageRow | None) -> Values:
    if row is None:
        return {"status": "whole"}
    damage = row.damage
    return {
        "status": "damaged",
        "file": damage.path,
        "reason": damage.reason,
        "found": damage.found_digest,
        "way out": damage.command,
    }


def _view(ledger: Ledger, goal_id: str) -> GoalView | None:
    """The rest of the goal, where so much of it can be read."""
    try:
        return ledger.view(goal_id)
    except LoopxError:
        return None


def show(matter: Matter, values: Values, width: int) -> Iterator[Section]:
    """What is wrong with the file, what it stops, and what the repair does."""
    first, more = matter.record
    if first is None:
        return
    yield list(_file(first))
    yield list(_repair(first))
    if more:
        yield [
            head(f"Damaged beside it: {len(more)}; each is repaired on its own"),
            *(Line(f"  {safe(row.damage.path)}: {safe(row.damage.reason)}") for row in more),
        ]


def _file(row: DamageRow) -> Iterator[Line]:
    damage = row.damage
    yield Line(safe(f"{damage.path}: {damage.reason}"), "alert")
    yield field("stops", row.stops)
    if damage.expected_digest or damage.found_digest:
        yield field("expected", damage.expected_digest or "no such record")
        yield field("found", damage.found_digest or "no digest can be made")


def _repair(row: DamageRow) -> Iterator[Line]:
    yield head("What the repair does")
    if _is_journal(row):
        yield field("cuts", "the journal after its last good line; the rest goes to quarantine")
        yield field("costs", "nothing that is cut counts until somebody does it again")
    elif _is_file(row):
        yield field("renders", "the file again; what stands there goes to quarantine")
    yield field("command", row.damage.command)


def _is_journal(row: DamageRow) -> bool:
    return row.damage.command.startswith("loopx repair journal")


def _is_file(row: DamageRow) -> bool:
    return row.damage.command.startswith("loopx repair file ")


def why_not(matter: Matter, values: Values, way: Way) -> str:
    """Some damage has another way out, which no key signs."""
    first, _ = matter.record
    if first is None or _is_journal(first) or _is_file(first):
        return ""
    if first.damage.path == OWNERS_CHANGED:
        return strings.TRUST_FIRST
    return f"This is mended on the command line: {first.damage.command}"


def prepare(ledger: Ledger, asked: Asked) -> Unsigned:
    """The statement of the repair."""
    first, _ = asked.matter.record
    if _is_journal(first):
        return ledger.repairs.journal(first.goal_id, asked.owner)
    return ledger.repairs.file(Path(shlex.split(first.damage.command)[3]), asked.owner)


def loopx(matter: Matter, values: Values, way: Way) -> Sequence[str]:
    """The options of the same command."""
    first, _ = matter.record
    if first is None or not (_is_journal(first) or _is_file(first)):
        return ["repair", "list"]
    return shlex.split(first.damage.command)[1:]


def _packet(matter: Matter) -> str | None:
    return None if matter.view is None else "damage"


CASE: Final = Case(
    "damage", "damage", (_REPAIR,), look, show, prepare, loopx, why_not=why_not, packet=_packet
)
