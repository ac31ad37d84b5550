"""The good part of a damaged journal, from which a signed repair goes on."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from loopx_kernel.domain.event import WORKSPACE_JOURNAL
from loopx_kernel.domain.records import Head
from loopx_kernel.domain.repair import JournalCut, LostDecision
from loopx_kernel.errors import Damaged
from loopx_kernel.store.disk import MIB, opened
from loopx_kernel.store.journal import Journal
from loopx_kernel.store.line import Line, decode
from loopx_kernel.store.seek import whole_tail
from loopx_kernel.store.writer import Writer
from loopx_kernel.workspace.ledger import Ledger, Progress
from loopx_kernel.workspace.ledgers import GoalLedger, RosterLedger
from loopx_kernel.workspace.opening import first_line

if TYPE_CHECKING:
    from loopx_kernel.workspace.core import Core


class MendedRoster(RosterLedger):
    """The good part of the workspace's journal; what is written replaces the rest of it."""

    def refresh(self, progress: Progress | None = None) -> None:
        """Reads from line 1, trusting no cache."""
        self.narrow()
        self.position = self.start
        self.reset()
        self._read_on(progress=progress)
        _take_tail(self)

    def require_whole(self) -> None:
        """Nothing: what is damaged is about to be cut off."""

    def write(self, fields: Mapping[str, Any]) -> Line:
        """Cuts and appends in one step; durable on return."""
        with Writer(self.journal, self.quarantine) as writer:
            return writer.mend(fields, self.position)


class MendedGoal(GoalLedger):
    """The good part of a goal's journal. Where not even its first line is good, that line
    is made again from the workspace's."""

    opening = b""

    def refresh(self, progress: Progress | None = None) -> None:
        """Reads from line 1, trusting no cache."""
        self.position = self.start
        self.reset()
        self._read_on(progress=progress)
        _take_tail(self)
        self.opening = b""
        if self.position == self.start:
            self.opening = first_line(self)
            self.take(decode(self.opening[:-1], 0))

    def require_whole(self) -> None:
        """The workspace's journal alone must be whole."""
        self.house.require_whole()

    def write(self, fields: Mapping[str, Any]) -> Line:
        """Cuts and appends in one step; durable on return."""
        with Writer(self.journal, self.quarantine) as writer:
            return writer.mend(fields, self.position, opening=self.opening)


def _take_tail(ledger: Ledger) -> None:
    """A record that lacks only its newline counts: whoever writes next gives it one."""
    line = whole_tail(ledger.journal) if ledger.has_tail and ledger.damage is None else None
    if line is not None:
        with contextlib.suppress(Damaged):
            ledger.take(line)


def mended(core: Core, goal_id: str) -> Ledger:
    """The good part of a journal. Raises the damage of one that a newer LoopX wrote."""
    ledger: MendedRoster | MendedGoal
    if goal_id == WORKSPACE_JOURNAL:
        ledger = MendedRoster(core.layout, core.files)
    else:
        ledger = MendedGoal(core.layout, goal_id, core.house, core.files, cache=None)
    ledger.refresh()
    if ledger.damage is not None and ledger.damage.code == "format_too_new":
        raise ledger.damage
    return ledger


def cut_of(core: Core, ledger: Ledger) -> JournalCut:
    """What a repair of this journal would cut off, as it stands now; changes nothing."""
    house = ledger.name == WORKSPACE_JOURNAL
    seen = core.house if house else core.goal(ledger.name)
    seen.refresh()
    kept = 0 if isinstance(ledger, MendedGoal) and ledger.opening else ledger.position.offset
    digest, lines = hashlib.sha256(), 0
    decisions: list[LostDecision] = []
    for raw in _lines_after(ledger.journal, kept):
        digest.update(raw)
        lines += 1
        decisions += _decision_in(raw)
    return JournalCut(
        after=Head(seq=ledger.position.seq, head=ledger.position.head),
        lines=lines,
        sha256=digest.hexdigest() if lines else None,
        decisions=tuple(decisions),
        missed=seen.missed,
        roster_seq=0 if house else core.house.position.seq,
        roster_cuts=() if house else tuple(cut.event_id for cut in core.house.state.cuts),
    )


def _lines_after(journal: Journal, offset: int) -> Iterator[bytes]:
    """The bytes of all lines from ``offset`` on with their newlines, whatever they are; of the
    last also where its newline is to come."""
    with opened(journal.files, journal.path) as fd:
        if fd is None:
            return
        end = journal.committed_end(fd)
        rest = b""
        while offset + len(rest) < end:
            size = min(MIB, end - offset - len(rest))
            *whole, rest = (rest + journal.files.read_at(fd, size, offset + len(rest))).split(b"\n")
            for raw in whole:
                yield raw + b"\n"
                offset += len(raw) + 1
    tail = whole_tail(journal)
    if tail is not None and tail.offset >= offset:
        yield tail.raw + b"\n"


def _decision_in(raw: bytes) -> list[LostDecision]:
    """A person's decision, if this is a line of one, even with its line end changed."""
    try:
        line = decode(raw.removeprefix(b"\xef\xbb\xbf").rstrip(b"\r\n"), 0)
        if line.record["actor_kind"] != "owner":
            return []
        return [
            LostDecision(
                seq=line.seq,
                event_id=line.event_id,
                event_type=line.record["event_type"],
                by=line.record["actor_agent_id"],
            )
        ]
    except (Damaged, ValidationError):
        return []
