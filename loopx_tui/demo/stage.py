"""The process that owns the demo's folder: builds it, keeps the workers going, removes it.

``python -m loopx_tui.demo.stage SPEED [owner]``, with a scripted owner or without, writes one
JSON object a line to standard output:
``{"top": PATH}`` first, ``{"step": TEXT}`` while it builds, then ``{"ready": PATH}`` or
``{"failed": SENTENCE}``. It ends when its standard input does, however its starter ended:
so nothing is left even where a terminal is closed or the starter is killed.
"""

from __future__ import annotations

import json
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

from loopx_tui.demo import world
from loopx_tui.demo.crew import Crew, OwnerSeat
from loopx_tui.demo.pace import Over, Pace
from loopx_tui.demo.place import PREFIX, DemoError, Place

TEND_SECONDS = 0.5
_REMOVAL_TRIES = 20


def main(arguments: list[str]) -> int:
    """Returns 0 when the demo ended as it should, 1 when it could not be built."""
    speed = float(arguments[0])
    pace = Pace(speed)
    signal.signal(signal.SIGTERM, _over)
    place = Place(Path(tempfile.mkdtemp(prefix=PREFIX)).resolve())
    crew = Crew(place, pace)
    if arguments[1:] == ["owner"]:
        crew.seats.append(OwnerSeat("owner", "all"))
    try:
        _say("top", str(place.top))
        world.build(place, speed, lambda step: _report(pace, step))
        crew.tend()
        _say("ready", str(place.repo))
        while True:
            pace.wait(TEND_SECONDS)
            crew.tend()
    except (Over, KeyboardInterrupt, BrokenPipeError):
        return 0
    except (DemoError, OSError) as error:
        _say("failed", str(error))
        return 1
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        crew.stop()
        remove(place.top)


def remove(top: Path) -> None:
    """Removes the folder; a file that is being written while it is removed comes next time."""
    for _ in range(_REMOVAL_TRIES):
        shutil.rmtree(top, ignore_errors=True)
        if not top.exists():
            return
        time.sleep(0.05)


def _report(pace: Pace, step: str) -> None:
    pace.wait(0)
    _say("step", step)


def _say(key: str, text: str) -> None:
    print(json.dumps({key: text}), flush=True)  # noqa: T201


def _over(number: int, frame: object) -> None:
    raise Over


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
