"""All workspaces of the person's list at once: each opened for reading, none left out unsaid."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

from loopx_kernel.clock import Clock
from loopx_kernel.errors import Damaged, LoopxError, UsageError
from loopx_kernel.value import Value
from loopx_kernel.views.everywhere import OUTSIDE, GlobalView, UnreadWorkspace, global_view
from loopx_kernel.views.workspace import WorkspaceView
from loopx_kernel.workspace.listed import list_file, listed
from loopx_kernel.workspace.workspace import Workspace


class Everywhere(Value):
    """What was seen, and the workspaces that were opened for it, by root."""

    view: GlobalView
    opened: dict[str, Workspace]


def everywhere(clock: Clock, *, only: Path | None = None, projection: str = "status") -> Everywhere:
    """Looks at every workspace of the list. With ``only`` at that one, and the others count as
    outside of it. Raises ``not_initialised`` where there is nothing on the list: no workspaces
    must not look like nothing to do. Raises ``Storage`` for a list that cannot be read."""
    named = () if only is None else (Path(os.path.realpath(only)),)
    places = tuple(dict.fromkeys([*listed(), *named]))
    if not places:
        raise UsageError(
            "not_initialised",
            f"Your list of workspaces is empty: {list_file()}",
            next="loopx workspace add .",
            path=str(list_file()),
        )
    views: list[WorkspaceView] = []
    unread: list[UnreadWorkspace] = []
    opened: dict[str, Workspace] = {}
    for path in places:
        if named and path not in named:
            unread.append(_outside(path, named[0]))
            continue
        try:
            workspace = Workspace.open(path, clock=clock, read_only=True)
            views.append(workspace.workspace_view(projection))
            opened[views[-1].root] = workspace
        except LoopxError as error:
            unread.append(_unread(path, error))
        except OSError as error:
            message = f"{path}: {error.strerror}"
            unread.append(
                UnreadWorkspace(
                    str(path), "not_permitted", message, f"ls -ld {shlex.quote(str(path))}"
                )
            )
    now = clock.read().now
    return Everywhere(global_view(views, unread, now, projection), opened)


def _outside(path: Path, only: Path) -> UnreadWorkspace:
    message = f"only {only} was asked for"
    return UnreadWorkspace(str(path), OUTSIDE, message, "leave out --root")


def _unread(path: Path, error: LoopxError) -> UnreadWorkspace:
    """What is missing, may not be read, or is damaged and kept out, each by its own word."""
    reason = "unreachable"
    if error.code == "permission":
        reason = "not_permitted"
    elif isinstance(error, Damaged):
        reason = "quarantined"
    step = error.next
    if error.code == "not_initialised":
        step = f"loopx workspace remove {shlex.quote(str(path))}"
    return UnreadWorkspace(str(path), reason, error.message, step)
