"""The review packet as lines of text: the words of `loopx review-packet`, fitted to the screen."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from loopx_kernel.text import safe

from loopx_tui import strings
from loopx_tui.presentation.ages import age
from loopx_tui.presentation.lines import Line, head, moment

if TYPE_CHECKING:
    from loopx_kernel.views.envelope import Envelope
    from loopx_kernel.views.packet import Packet

_SECOND: Final = timedelta(seconds=1)
_STYLES: Final = {"plain": "text", "dim": "text-dim", "ask": "ask", "alert": "alert"}


def grounds(packet: Packet, width: int) -> Iterator[list[Line]]:
    """What the decision rests on, a section each: evidence with a look inside, the change, the
    work behind it, cost, and what was decided before."""
    from loopx_kernel.views.packet_document import grounds as sections
    from loopx_kernel.views.render_plain import section_lines

    for section in sections(packet):
        body = section_lines(section, width)
        yield [head(safe(section.title)), *(Line(text, _STYLES[style]) for text, style in body)]


def as_of(envelope: Envelope) -> Line:
    """How old what is shown is, how fresh its sources are, and how much of it is covered."""
    cover, old = envelope.coverage, envelope.served_at - envelope.observed_at
    text = strings.READ_AT.format(
        time=moment(envelope.observed_at),
        age=strings.JUST_NOW if old < _SECOND else strings.AGO.format(age=age(old)),
        fresh=strings.FRESHNESS[envelope.fresh],
        covered=strings.COVERED[cover.scope].format(
            read=cover.included_count, all=cover.expected_count
        ),
        complete=strings.COMPLETENESS[envelope.complete],
    )
    return Line(text, "text-dim" if envelope.fresh and envelope.complete else "stale")
