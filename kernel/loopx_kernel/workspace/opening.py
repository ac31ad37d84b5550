"""Opening a goal: one signed line in the workspace journal, copied to begin the goal's own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from loopx_kernel.errors import Damaged
from loopx_kernel.store.line import Position, decode, encode
from loopx_kernel.store.seek import line_with_seq

if TYPE_CHECKING:
    from loopx_kernel.workspace.core import Core
    from loopx_kernel.workspace.ledgers import GoalLedger

_CHAIN = ("seq", "schema_version", "prev", "sha256")


def copy_opening(core: Core, ledger: GoalLedger) -> None:
    """Appends the first line of a goal's journal: the workspace's line in the goal's chain.

    Durable on return. The caller holds the goal's lock.
    """
    fields, start = _first_line(core, ledger)
    core.layout.make_goal(ledger.name, core.files)
    with ledger.journal.open_writer(ledger.quarantine) as writer:
        ledger.take(writer.append(fields, start))


def read_opening(core: Core, ledger: GoalLedger) -> None:
    """Folds the first line a goal's journal will have, where nobody wrote it yet."""
    fields, start = _first_line(core, ledger)
    raw, _ = encode(fields, seq=1, prev=start.head)
    ledger.foresee(decode(raw[:-1], 0))


def _first_line(core: Core, ledger: GoalLedger) -> tuple[dict[str, Any], Position]:
    line = line_with_seq(core.house.journal, ledger.opened.seq)
    if line is None:
        raise Damaged(
            "journal_damaged",
            f"The opening of {ledger.name} is not where it was in the workspace journal",
            next="loopx event verify",
            path=str(core.layout.workspace_journal),
        )
    fields = {key: value for key, value in line.record.items() if key not in _CHAIN}
    return fields, Position(0, 0, line.sha256)
