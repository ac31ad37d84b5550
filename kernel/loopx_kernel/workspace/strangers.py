"""Goals that the registry tells of and no journal opened."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from loopx_kernel.errors import Damaged
from loopx_kernel.store.registry_file import RegistryFile

if TYPE_CHECKING:
    from loopx_kernel.workspace.core import Core


def never_opened(core: Core) -> list[str]:
    """What the registry tells of goals that the workspace's journal never opened: either the
    journal was rolled back, or somebody wrote them there. Looked at twice before it is said."""
    core.house.refresh()
    if not _strangers(core):
        return []
    core.house.refresh()
    path = core.shown(core.layout.registry)
    return [f"{path} tells of a goal {name} that was never opened" for name in _strangers(core)]


def _strangers(core: Core) -> list[str]:
    with contextlib.suppress(Damaged):
        entries = RegistryFile(core.layout.registry, core.files).read() or ()
        return [str(one["id"]) for one in entries if one["id"] not in core.house.state.goals]
    return []
