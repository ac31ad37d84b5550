"""Opening a goal: one signed line in the workspace journal, copied to begin the goal's own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from loopx_kernel.errors import Damaged
from loopx_kernel.store.files import Files
from loopx_kernel.store.layout import Layout
from loopx_kernel.store.line import Position, decode, encode, fields_of
from loopx_kernel.store.registry_file import RegistryFile
from loopx_kernel.store.seek import line_with_seq
from loopx_kernel.store.writer import Writer
from loopx_kernel.workspace.ledgers import GoalLedger


def copy_opening(layout: Layout, ledger: GoalLedger, *, files: Files) -> None:
    """Appends the first line of a goal's journal: the workspace's line in the goal's chain.

    Durable on return. The caller holds the goal's lock.
    """
    fields, start = _opening_of(ledger)
    layout.make_goal(ledger.name, files)
    with Writer(ledger.journal, ledger.quarantine) as writer:
        ledger.take(writer.append(fields, start))


def read_opening(ledger: GoalLedger) -> None:
    """Folds the first line a goal's journal will have, where nobody wrote it yet."""
    ledger.foresee(decode(first_line(ledger)[:-1], 0))


def first_line(ledger: GoalLedger) -> bytes:
    """The first line of a goal's journal as it must be, with its newline."""
    fields, start = _opening_of(ledger)
    raw, _ = encode(fields, seq=1, prev=start.head)
    return raw


def trace_of(layout: Layout, goal_id: str, *, files: Files) -> Path | None:
    """A file that tells of a goal: then its journal had begun."""
    folders = (layout.leases(goal_id), layout.statements(goal_id))
    found = [
        layout.spend(goal_id),
        *(path for one in folders for path in sorted(one.glob("*.json"))),
    ]
    entries = RegistryFile(layout.registry, files).read() or ()
    if any(entry["id"] == goal_id for entry in entries):
        found.append(layout.registry)
    return next((path for path in found if path.exists()), None)


def _opening_of(ledger: GoalLedger) -> tuple[dict[str, Any], Position]:
    journal = ledger.house.journal
    line = line_with_seq(journal, ledger.opened.seq)
    if line is None:
        raise Damaged(
            "journal_damaged",
            f"The opening of {ledger.name} is not where it was in the workspace journal",
            next="loopx repair journal --goal _workspace",
            path=str(journal.path),
        )
    return fields_of(line), Position(0, 0, line.sha256)
