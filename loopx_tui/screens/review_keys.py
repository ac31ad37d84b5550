"""Which keys of the review work, and the sentence that says why one does not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from loopx_tui import strings

if TYPE_CHECKING:
    from loopx_tui.cases.case import Case, Values
    from loopx_tui.decisions import Course
    from loopx_tui.desk import Look

DECIDE: Final = frozenset(("review.approve", "review.reject", "review.defer", "review.replan"))
"""The commands whose keys decide, where the case at hand has such a way."""
GUARDED: Final = frozenset((*DECIDE, "review.edit", "review.key"))
"""What changes a decision: closed while one is under way, and once it is made."""


class Room(NamedTuple):
    """What of the text could be read in this window."""

    end_seen: bool
    too_small: bool


def why_closed(
    command_id: str, case: Case, course: Course, look: Look | None, *, values: Values, room: Room
) -> str:
    """Why a command cannot be used until something other than time changes; empty if it can."""
    if command_id not in GUARDED:
        return ""
    way = case.way(command_id)
    if course.over:
        return strings.DECIDED.format(what=look.matter.object_id if look else case.noun)
    if way is None:
        return ""
    if look is None:
        return strings.NOT_READ_YET
    reasons = (
        look.no_signing,
        strings.TOO_SMALL if room.too_small else "",
        case.why_not(look.matter, values, way),
        strings.READ_ON if way.grants and not room.end_seen else "",
    )
    return next(filter(None, reasons), "")
