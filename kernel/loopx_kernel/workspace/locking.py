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


@contextlib.contextmanager
def held(core: Core, path: Path, order: Order) -> Iterator[None]:
    """Holds one lock for the length of an order; ``lock_timeout`` names who has it."""
    with locks.hold(
        path,
        purpose=order.name,
        actor=order.actor.id,
        timeout_seconds=locks.CHECK_SECONDS if order.checks else locks.CHANGE_SECONDS,
        files=core.files,
        clock=core.clock,
    ) as lock:
        core.held.append(lock)
        try:
            yield
        finally:
            core.held.remove(lock)


@contextlib.contextmanager
def house_held(core: Core, order: Order) -> Iterator[None]:
    """Holds the workspace's lock; its journal is level and its torn tail dealt with.

    Raises ``writer_fenced``.
    """
    with held(core, core.layout.workspace_lock, order):
        core.require_unfenced()
        settle(core, core.house)
        yield


def settle(core: Core, ledger: Ledger, *, unread: bool = False) -> None:
    """Deals with a torn tail, then reads on. The caller holds the journal's lock.

    A damaged journal is left as it is; ``unread`` says that it is about to be repaired.
    """
    ledger.refresh()
    torn = ledger.has_tail and ledger.damage is None
    if torn or (unread and ledger.exists):
        with Writer(ledger.journal, ledger.quarantine) as writer:
            writer.settle_tail(core.clock.read().now)
        ledger.refresh()
