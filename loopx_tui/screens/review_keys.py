"""Which keys of the review work, and the sentence that says why one does not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from loopx_tui import strings

if TYPE_CHECKING:
    from loopx_kernel.domain.gate import Outcome

    from loopx_tui.decisions import Course
    from loopx_tui.desk import Look

OUTCOMES: Final[dict[str, Outcome]] = {
    "review.approve": "approved",
    "review.reject": "rejected",
    "review.defer": "deferred",
}
GUARDED: Final = frozenset((*OUTCOMES, "review.reason", "review.key"))
"""What changes a decision: closed while one is under way, and once it is made."""


class Room(NamedTuple):
    """What of the text could be read in this window."""

    end_seen: bool
    too_small: bool


def why_closed(command_id: str, gate_id: str, course: Course, look: Look | None, room: Room) -> str:
    """Why a command cannot be used until something other than time changes; empty if it can."""
    reasons = [(course.over, strings.DECIDED.format(gate=gate_id))]
    if command_id in OUTCOMES:
        read_on = command_id == "review.approve" and not room.end_seen
        reasons += [
            (look is None, strings.NOT_READ_YET),
            (look is not None and bool(look.no_signing), look.no_signing if look else ""),
            (room.too_small, strings.TOO_SMALL),
            (read_on, strings.READ_ON),
        ]
    elif command_id not in GUARDED:
        return ""
    return next((sentence for holds, sentence in reasons if holds), "")
