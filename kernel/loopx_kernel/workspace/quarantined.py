"""Everything that could not be read: what stands in the journals' way, damaged files, and what
recoveries and repairs set aside."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from loopx_kernel.domain.event import WORKSPACE_JOURNAL
from loopx_kernel.domain.needs_you import OWNERS_CHANGED
from loopx_kernel.errors import LoopxError
from loopx_kernel.store.disk import beginning_of
from loopx_kernel.store.seek import newlines_after
from loopx_kernel.text import counted
from loopx_kernel.value import Value
from loopx_kernel.workspace.materials import Materials

if TYPE_CHECKING:
    from loopx_kernel.domain.needs_you import Damage
    from loopx_kernel.workspace.core import Core
    from loopx_kernel.workspace.ledger import Ledger

EXCERPT = 2_048
"""How many bytes of anything are shown."""
MOST_FILES = 500
"""How many files of one quarantine are named, the latest."""
_NAME = re.compile(r"(\d{8}T\d{6}Z)-([a-z]+)(?:-\d+)?")
_REASONS = {
    "torn": "an unfinished last line: its writer was stopped in the middle",
    "nul": "zeros at the journal's end, as a crash of the machine leaves them",
    "repair": "a signed repair cut it off, or rendered a file again",
    "drift": "the todo list as somebody edited it by hand",
}
_HIDES = {
    "torn": "nothing: it was never committed",
    "nul": "nothing: it was never committed",
    "repair": "what stands there counts for nothing until somebody does it again",
    "drift": "nothing: the list was put back, and this is kept",
}


class Unreadable(Value):
    """One thing: in which goal (``_workspace`` for all), where, why, and what it hides.

    ``line`` is the journal's line it begins at, ``excerpt`` its first bytes as text, raw;
    ``size`` is in bytes. ``at`` (UTC) is when it was set aside; without one it still stands in
    the way, and ``command`` is the way out.
    """

    goal_id: str
    path: str
    reason: str
    hides: str
    excerpt: str = ""
    line: int | None = None
    size: int | None = None
    at: datetime | None = None
    command: str = ""

    @property
    def set_aside(self) -> bool:
        """Whether it stands in nobody's way any more."""
        return self.at is not None


def unreadable(core: Core) -> tuple[Unreadable, ...]:
    """What stands in the way first, then what was set aside, the latest first; changes nothing."""
    with core.lock:
        core.house.refresh()
        found = [*_of_ledger(core, core.house), *_aside(core, WORKSPACE_JOURNAL)]
        for goal_id in core.house.state.goals:
            found += _of_goal(core, goal_id)
    waiting = {one.path: one for one in reversed(found) if not one.set_aside}
    kept = sorted((one for one in found if one.at), key=lambda one: str(one.at), reverse=True)
    return (*reversed(waiting.values()), *kept)


def _of_goal(core: Core, goal_id: str) -> Iterator[Unreadable]:
    try:
        ledger = core.fresh_goal(goal_id)
        yield from _of_ledger(core, ledger)
        journal = str(ledger.journal.path)
        for damage in Materials(core).look(ledger).damage:
            if damage.path not in (journal, OWNERS_CHANGED):
                yield _of_file(core, goal_id, damage)
    except LoopxError as error:
        path = core.shown(core.layout.goal_journal(goal_id))
        yield Unreadable(
            goal_id, path, error.message, "the whole goal", command=error.next or "loopx doctor"
        )
    yield from _aside(core, goal_id)


def _of_ledger(core: Core, ledger: Ledger) -> Iterator[Unreadable]:
    """What stops the reading of a journal."""
    damage, path = ledger.damage, ledger.journal.path
    if damage is None:
        return
    offset = damage.facts.get("offset")
    start = offset if isinstance(offset, int) else ledger.position.offset
    after = newlines_after(ledger.journal, ledger.position.offset)
    line = damage.facts.get("line")
    yield Unreadable(
        ledger.name,
        core.shown(path),
        damage.message,
        f"{counted(after, 'line')} from #{ledger.position.seq + 1} on",
        _excerpt(core, path, start),
        line=line if isinstance(line, int) else ledger.position.seq + 1,
        command=ledger.repair_command,
    )


def _of_file(core: Core, goal_id: str, damage: Damage) -> Unreadable:
    hides = f"the lease of {damage.todo_id}" if damage.todo_id else "the whole goal"
    excerpt = _excerpt(core, core.layout.root / damage.path, 0)
    return Unreadable(goal_id, damage.path, damage.reason, hides, excerpt, command=damage.command)


def _aside(core: Core, goal_id: str) -> Iterator[Unreadable]:
    """What lies in a quarantine."""
    house = goal_id == WORKSPACE_JOURNAL
    folder = core.layout.workspace_quarantine if house else core.layout.quarantine(goal_id)
    try:
        names = sorted(path for path in folder.iterdir() if _NAME.fullmatch(path.name))
    except OSError:
        return
    for path in names[-MOST_FILES:]:
        named = _NAME.fullmatch(path.name)
        assert named is not None
        at = datetime.strptime(named[1], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
        reason = named[2]
        yield Unreadable(
            goal_id,
            core.shown(path),
            _REASONS.get(reason, reason),
            _HIDES.get(reason, ""),
            _excerpt(core, path, 0),
            size=_size(path),
            at=at,
        )


def _excerpt(core: Core, path: Path, offset: int) -> str:
    """The first bytes there as text; what is no UTF-8 as escapes. Empty where nothing is."""
    try:
        data = beginning_of(path, EXCERPT, offset, files=core.files)
    except LoopxError as error:
        return error.message
    return data.decode("utf-8", "backslashreplace")


def _size(path: Path) -> int | None:
    try:
        return path.stat().st_size
    except OSError:
        return None
