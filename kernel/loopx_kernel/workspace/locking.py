"""The locks between processes, and a journal's tail dealt with under its lock."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from loopx_kernel.store import locks
from loopx_kernel.store.writer import Writer

if TYPE_CHECKING:
    from loopx_kernel.workspace.core import Core
    from loopx_kernel.workspace.ledger import Ledger
    from loopx_kernel.workspace.orders import Order


def held(core: Core, path: Path, order: Order) -> contextlib.AbstractContextManager[None]:
    """Holds one lock for the length of an order; ``lock_timeout`` names who has it."""
    return locks.hold(
        path,
        purpose=order.name,
        actor=order.actor.id,
        timeout_seconds=locks.CHANGE_SECONDS,
        files=core.files,
        clock=core.clock,
    )


@contextlib.contextmanager
def house_held(core: Core, order: Order) -> Iterator[None]:
    """Holds the workspace's lock; its journal is level and its torn tail dealt with."""
    with held(core, core.layout.workspace_lock, order):
        settle(core, core.house)
        yield


def settle(core: Core, ledger: Ledger, *, unread: bool = False) -> None:
    """Deals with a torn tail, then reads on. The caller holds the journal's lock.

    ``unread`` says that the journal may not be readable up to its tail.
    """
    ledger.refresh()
    if ledger.has_tail or (unread and ledger.exists):
        with Writer(ledger.journal, ledger.quarantine) as writer:
            writer.settle_tail(core.clock.read().now)
        ledger.refresh()
