"""Owners who are not those this person knew: shown, and trusted by typing."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from loopx_kernel.errors import LoopxError
from textual.app import App

from loopx_tui import strings
from loopx_tui.desk import explain
from loopx_tui.presentation.lines import Line, alert
from loopx_tui.presentation.owners import everybody
from loopx_tui.screens.confirm_id import ConfirmId

if TYPE_CHECKING:
    from loopx_kernel.workspace import Workspace

SHOWN = 8
"""How much of a workspace's id is typed, as for `loopx owner trust`."""


async def trust(app: App[Any], open_workspace: Callable[[], Workspace]) -> str:
    """Asks, and pins the owners who were shown, in the person's own known_workspaces; the
    sentence that says what came of it. Nothing of the workspace is changed."""
    agent = os.environ.get("LOOPX_AGENT")
    if agent:
        return strings.AN_AGENT.format(agent=agent)
    try:
        workspace = await asyncio.to_thread(open_workspace)
        lines = await asyncio.to_thread(_lines, workspace)
        if not lines:
            return strings.NOTHING_TO_TRUST
        typed = await app.push_screen_wait(ConfirmId(workspace.workspace_id[:SHOWN], lines))
        if typed is None:
            return strings.NOT_TRUSTED
        # What was read above is what is pinned, whatever stands there by now.
        known = await asyncio.to_thread(workspace.owners.pins.trust)
    except LoopxError as error:
        return explain(error)
    return strings.TRUSTED.format(owners=", ".join(sorted(known.owners.values())))


def _lines(workspace: Workspace) -> list[Line]:
    """What is there now against what was known; nothing where that is the same."""
    owners = workspace.owners.list()
    change = workspace.owners.pins.look().change
    if change is None:
        return []
    return [
        alert(f"owners_changed: {change}"),
        Line(),
        *everybody(owners),
        Line(),
        Line(strings.COMPARE_BEFORE_TRUST, "ask"),
    ]
