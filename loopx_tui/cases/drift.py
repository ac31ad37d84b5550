"""An edit of the todo list by hand: taken over, or put back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from loopx_kernel.text import safe

from loopx_tui.cases.case import Asked, Case, Matter, Section, Values, Way
from loopx_tui.presentation.lines import Line, alert, field, head
from loopx_tui.presentation.side_by_side import columns

if TYPE_CHECKING:
    from loopx_kernel.workspace import Edited, Unsigned

    from loopx_tui.decisions import Ledger

_ADOPT = Way("review.approve", "adopt", "adopt", "adopted")
_RESTORE = Way("review.reject", "restore", "put back", "put back")
_ON_ADOPTING: Final = {
    "added": "becomes a todo",
    "retitled": "is the title from then on",
    "ticked": "completes nothing: that needs evidence",
    "unticked": "is put back",
    "removed": "comes back",
}
NAMES: Final = ("as recorded", "as edited")


def look(ledger: Ledger, goal_id: str, object_id: str) -> Matter:
    """The edit as it stands in the file now."""
    edited = ledger.drift.look(goal_id)
    return Matter(
        goal_id=goal_id,
        object_id=goal_id,
        open=bool(edited.drift),
        status="edited by hand" if edited.drift else "level with the journal",
        meaning={"file": edited.path, "digest": edited.digest if edited.drift else "level"},
        record=edited,
        view=ledger.view(goal_id),
        texts=tuple(item.text for item in edited.drift),
    )


def show(matter: Matter, values: Values, width: int) -> Iterator[Section]:
    """What was changed, what adopting makes of it, and both texts."""
    edited: Edited = matter.record
    yield list(_changes(edited))
    if edited.diff:
        yield [head("Both texts"), *columns(edited.diff, NAMES, width)]
    yield [
        head("What a decision does"),
        field("adopt", "new rows become todos and new titles count; a tick completes nothing"),
        field("put back", "the list is rendered again; the edited file is kept in quarantine"),
    ]


def _changes(edited: Edited) -> Iterator[Line]:
    for item in edited.drift:
        yield Line(f"line {item.line}: {safe(item.sentence)}", "ask")
        yield field("adopting", f"it {_ON_ADOPTING[item.kind]}", "text-dim")
    yield field("file", edited.path)
    yield field("sha256", edited.digest, "text-dim")
    for problem in edited.problems:
        yield alert(f"line {problem.line} {problem.reason}; what it says is kept", "stale")


def prepare(ledger: Ledger, asked: Asked) -> Unsigned:
    """The statement about the edit that was shown."""
    act = ledger.drift.adopt if asked.way is _ADOPT else ledger.drift.restore
    return act(asked.goal_id, asked.owner, asked.matter.record)


def loopx(matter: Matter, values: Values, way: Way) -> Sequence[str]:
    """The options of the same command."""
    return ["state", way.name]


CASE: Final = Case(
    "drift", "edit", (_ADOPT, _RESTORE), look, show, prepare, loopx, packet=lambda _: "drift"
)
