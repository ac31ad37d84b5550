"""The review packet as lines of text: the words of `loopx review-packet`, fitted to the screen."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from loopx_kernel.text import safe

from loopx_tui.presentation.lines import Line, head

if TYPE_CHECKING:
    from loopx_kernel.views.envelope import Envelope
    from loopx_kernel.views.packet import Packet

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
    """How old what is shown is, and how complete."""
    from loopx_kernel.views.envelope import head_lines

    return Line(safe(head_lines(envelope)[0]), "text-dim")
