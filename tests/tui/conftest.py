"""What every test of the screen gets: one time zone, and pauses that end."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from textual.pilot import Pilot, WaitForScreenTimeout

LONGEST_PAUSE = 5.0
"""Seconds."""


@pytest.fixture(autouse=True)
def utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Clock times read the same on every machine."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.fixture(autouse=True)
def pauses_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pause asks every widget for an answer, and one that is taken away meanwhile gives none.
    What a test waits for it says itself, so that such a pause is an end like any other."""
    wait = Pilot._wait_for_screen

    async def waited(pilot: Pilot[object], timeout: float = 30.0) -> bool:
        try:
            return await wait(pilot, min(timeout, LONGEST_PAUSE))
        except WaitForScreenTimeout:
            return False

    monkeypatch.setattr(Pilot, "_wait_for_screen", waited)
