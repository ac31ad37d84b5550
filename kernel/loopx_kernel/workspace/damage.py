"""Telling a file that was lost from one that was never written, and saying what is damaged."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from pathlib import Path

from loopx_kernel.domain.needs_you import Damage
from loopx_kernel.errors import Damaged, LoopxError
from loopx_kernel.store.records import Level, Verdict, damaged_file
from loopx_kernel.store.seek import newlines_after
from loopx_kernel.value import Value
from loopx_kernel.workspace.ledger import Ledger

AHEAD = "it is ahead of the journal"


class Written(Value):
    """What was surely written before: the state file, which is written last, shows all up
    to ``rendered``, and the writer of the line ``last`` caught up with all before it."""

    rendered: int
    last: int

    def surely(self, seq: int) -> bool:
        """Whether the files of the line ``seq`` were written."""
        return seq <= self.rendered or seq < self.last

    def lost(self, path: Path, before: Level, seq: int) -> bool:
        """Whether a file first written for the line ``seq`` had gone missing.

        Raises ``file_damaged`` for one that shows more than there is.
        """
        if before is Level.AHEAD:
            raise damaged_file(path, Verdict(Level.DAMAGED, what=AHEAD))
        return before is Level.MISSING and self.surely(seq)


def journal_damage(ledger: Ledger) -> tuple[Damage, ...]:
    """What stops the reading of a journal, for a person."""
    if ledger.damage is None:
        return ()
    return (of_journal(ledger.journal.path, ledger.damage, ledger.repair_command),)


def unread_lines(ledger: Ledger) -> int:
    """How many lines stand after what stops the reading of a journal, which nobody reads."""
    if ledger.damage is None:
        return 0
    return newlines_after(ledger.journal, ledger.position.offset)


def of_journal(path: Path, damage: Damaged, command: str) -> Damage:
    """What stops a journal, with the way out that loses least."""
    kind = damage.facts.get("kind")
    if damage.code == "format_too_new":
        command = damage.next or command
    elif kind == "line_ends_changed":
        command = f"dos2unix {shlex.quote(str(path))} (or, losing what follows, {command})"
    return Damage(path=str(path), reason=damage.message, command=command)


def unreadable(name: str, error: LoopxError) -> Damage:
    """A state file that cannot be read at all: whatever stands in its place."""
    return Damage(name, error.message, command=error.next or "loopx doctor")


def refresh_command(goal_id: str, agents: Iterable[str]) -> str:
    """What brings a goal's files level with its journal, by one of the registered ``agents``."""
    return f"loopx refresh-state --goal {goal_id} --agent {next(iter(agents), 'claude-code')}"


def file_damage(name: str, verdict: Verdict, todo_id: str | None) -> Damage:
    """A damaged file with both digests, for a person."""
    return Damage(
        path=name,
        reason=verdict.what or AHEAD,
        expected_digest=verdict.expected_digest or "",
        found_digest=verdict.found_digest or "",
        command=verdict.step or f"loopx repair file {shlex.quote(name)}",
        blocks_goal=todo_id is None,
        todo_id=todo_id,
    )
