"""The façade of the kernel: what the command line and the terminal UI use, and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from loopx_kernel.workspace.workspace import Workspace

if TYPE_CHECKING:
    from loopx_kernel.workspace.audit import Audit
    from loopx_kernel.workspace.events import EventPage, EventRow, Verification
    from loopx_kernel.workspace.history import Past
    from loopx_kernel.workspace.keys import KeyChoice
    from loopx_kernel.workspace.orders import Done, Receipt
    from loopx_kernel.workspace.pages import Edited
    from loopx_kernel.workspace.repairs import DamageRow
    from loopx_kernel.workspace.signing import Unsigned

_HOMES = {
    "Audit": "audit",
    "DamageRow": "repairs",
    "Done": "orders",
    "Edited": "pages",
    "Receipt": "orders",
    "EventPage": "events",
    "EventRow": "events",
    "Verification": "events",
    "KeyChoice": "keys",
    "Past": "history",
    "Unsigned": "signing",
}

__all__ = [
    "Audit",
    "DamageRow",
    "Done",
    "Edited",
    "EventPage",
    "EventRow",
    "KeyChoice",
    "Past",
    "Receipt",
    "Unsigned",
    "Verification",
    "Workspace",
]


def __getattr__(name: str) -> Any:
    """Loads the value types where they are used: ``should-run`` needs none of them."""
    if name in _HOMES:
        from importlib import import_module

        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
