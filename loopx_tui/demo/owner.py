"""The scripted owner, who decides where nobody watches the demo. A process of its own.

``python -m loopx_tui.demo.owner TOP SPEED``
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from loopx_tui.demo import jobs
from loopx_tui.demo.command import Loopx
from loopx_tui.demo.pace import Over, Pace
from loopx_tui.demo.place import DemoError, Place

LOOK_SECONDS = 6
REJECTED = 3
"""Of so many questions in a goal, the last is answered with a no."""


def answer(need: Mapping[str, Any]) -> tuple[str, ...] | None:
    """The command that answers what a goal needs a person for; None for what is left to others."""
    number = int(need["id"][1:]) if need["id"][1:].isdecimal() else 0
    if need["kind"] == "gate" and number % REJECTED == 0:
        return ("gate", "reject", need["id"], "--reason", "Not now")
    if need["kind"] == "gate":
        return ("gate", "approve", need["id"], "--reason", "Looked at it")
    if need["kind"] == "escalation":
        why = "Three times is enough; go around what is missing"
        return ("escalation", "answer", need["id"], "--replan", "--reason", why)
    return None


def look(place: Place, goal: str) -> None:
    """Answers everything that waits for the owner of a goal."""
    owner = Loopx(place, goal=goal)
    for need in owner.must("status")["needs_you"]:
        words = answer(need)
        if words is not None:
            # Somebody at the screen may have been quicker.
            owner.ask(*words)


def main(arguments: list[str]) -> None:
    """Decides until standard input ends."""
    place, pace = Place(Path(arguments[0])), Pace(float(arguments[1]))
    with suppress(Over, KeyboardInterrupt):
        while True:
            pace.pause(LOOK_SECONDS)
            for goal in jobs.GOALS:
                try:
                    look(place, goal)
                except DemoError as problem:
                    print(problem, file=sys.stderr, flush=True)  # noqa: T201


if __name__ == "__main__":
    main(sys.argv[1:])
