"""A live demo world, for as long as a ``with`` block lasts."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from loopx_tui.demo.place import DemoError, Place
from loopx_tui.demo.stage import remove

PATIENCE_SECONDS = 5.0


@contextmanager
def live_demo(
    speed: float, report: Callable[[str], None], *, owner: bool = False
) -> Iterator[Place]:
    """Builds the world, starts its workers, with ``owner`` a scripted owner too, and yields
    where it is; everything is gone on leaving. Each step of building is reported. Raises
    ``DemoError`` if it fails."""
    stage = subprocess.Popen(
        (sys.executable, "-P", "-m", "loopx_tui.demo.stage", str(speed), *["owner"] * owner),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        # The terminal belongs to the screen. Failures arrive as messages.
        stderr=None if os.environ.get("LOOPX_DEBUG") == "1" else subprocess.DEVNULL,
        text=True,
        # Closing the terminal or ctrl+c must not end the one that tidies up.
        start_new_session=True,
    )
    top: Path | None = None
    try:
        for key, text in _messages(stage):
            if key == "top":
                top = Path(text)
            elif key == "step":
                report(text)
            elif key == "failed":
                raise DemoError(f"The demo could not be set up: {text}")
            else:
                break
        if top is None or stage.poll() is not None:
            raise DemoError("The demo could not be set up: its process ended")
        yield Place(top)
    finally:
        _end(stage, top)


def _messages(stage: subprocess.Popen[str]) -> Iterator[tuple[str, str]]:
    assert stage.stdout is not None
    for line in stage.stdout:
        with suppress(ValueError):
            yield next(iter(json.loads(line).items()))


def _end(stage: subprocess.Popen[str], top: Path | None) -> None:
    assert stage.stdin is not None
    stage.stdin.close()
    try:
        stage.wait(PATIENCE_SECONDS)
    except subprocess.TimeoutExpired:
        stage.kill()
        stage.wait()
    if top is not None:
        remove(top)
