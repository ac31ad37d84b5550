"""A proposal in words, for whoever decides it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from loopx_kernel.domain.records_of_work import Proposal

_KINDS = {
    "cancel": "a todo is cancelled",
    "supersede": "another todo takes the place of one",
    "route": "another route is looked for",
    "objective": "the objective gets a new text",
}


def told(proposal: Proposal) -> Iterator[tuple[str, str]]:
    """What approving it does: name and value, line by line, raw."""
    yield "change", _KINDS[proposal.kind]
    for ref in proposal.todo_ids:
        yield "todo", ref
    if proposal.successor is not None:
        yield "successor", proposal.successor
    for line in proposal.text.splitlines():
        yield "new text", line
    yield "reason", proposal.reason
    for fact in proposal.facts:
        yield "fact", fact
