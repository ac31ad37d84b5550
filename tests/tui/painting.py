"""When a screen may be taken as a picture."""

from __future__ import annotations

import asyncio

from textual.pilot import Pilot

from tests.patience import PATIENCE


async def painted(pilot: Pilot[None]) -> None:
    """Waits until the screen, laid out anew, looks as it did before: scroll bars and what a
    first reading sets in motion come some steps after the rest."""
    before = ""
    async with asyncio.timeout(PATIENCE):
        while True:
            await pilot.pause()
            pilot.app.screen.refresh(layout=True)
            await pilot.pause()
            now = pilot.app.export_screenshot()
            if now == before:
                return
            before = now
