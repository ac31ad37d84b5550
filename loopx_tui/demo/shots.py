"""``python -m loopx_tui.demo.shots DIR``: the pictures in ``screenshots/``, from a live demo."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from loopx_tui.demo.command import Loopx
from loopx_tui.demo.jobs import GOALS
from loopx_tui.demo.live import live_demo
from loopx_tui.demo.place import DemoError, Place

if TYPE_CHECKING:
    from loopx_tui.feed import Feeding
    from loopx_tui.told import OwnFiles, Snapshot

SPEED = 3.0
LIMIT_SECONDS = 300.0
LEFT_OPEN = "docs-refresh"
"""The goal whose gates nobody decides, so that the pictures show some."""

DECIDED_UNTIL = 4
"""Done todos of a goal from which on its gates are left open too."""
LEASE_LEFT_SECONDS = 10


class Shot(NamedTuple):
    """One picture: its name, what it shows, in which size and colours; ``elsewhere`` it is of a
    folder without a workspace."""

    name: str
    view: str
    size: tuple[int, int]
    theme: str
    elsewhere: bool = False


SHOTS = (
    Shot("welcome", "overview", (100, 26), "dark", elsewhere=True),
    Shot("overview-dark", "overview", (120, 36), "dark"),
    Shot("overview-light", "overview", (120, 36), "light"),
    Shot("review", "review", (120, 36), "dark"),
    Shot("goal", "goal", (120, 36), "dark"),
    Shot("help", "help", (120, 36), "dark"),
    Shot("medium-80x24", "overview", (80, 24), "dark"),
    Shot("narrow-46x19", "overview", (46, 19), "dark"),
)
SPOILT = (
    Shot("doctor", "doctor", (120, 30), "dark"),
    Shot("quarantine", "quarantine", (120, 30), "dark"),
)
"""Pictures of a workspace in which something was spoilt."""


def main(arguments: list[str]) -> int:
    """Writes every picture into the folder named; returns the exit status."""
    if len(arguments) != 1:
        _say("name one folder: python -m loopx_tui.demo.shots DIR")
        return 2
    folder = Path(arguments[0])
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with live_demo(SPEED, _say) as place:
            _say("letting the workers work")
            _await(place, _is_rich)
            os.environ.update(place.screen_variables() | {"HOME": str(place.home)})
            for shot in (*SHOTS, *SPOILT):
                _say(f"drawing {shot.name}")
                _await(place, _is_lively)
                if shot in SPOILT:
                    _spoil(place)
                (folder / f"{shot.name}.svg").write_text(_draw(place, shot), encoding="utf-8")
    except (DemoError, TimeoutError) as error:
        _say(str(error) or "a picture took too long to draw")
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


States = Mapping[str, Mapping[str, Any]]


def _await(place: Place, holds: Callable[[States], bool]) -> None:
    """Lets the workers work until ``holds``, and decides the gates of their owner meanwhile."""
    end = time.monotonic() + LIMIT_SECONDS
    while True:
        states = {goal: Loopx(place, goal=goal).must("status") for goal in GOALS}
        if holds(states):
            return
        if time.monotonic() > end:
            raise TimeoutError("The demo did not come to show enough in time")
        for goal, state in states.items():
            if goal != LEFT_OPEN and state["todos"]["done"] < DECIDED_UNTIL:
                _decide(Loopx(place, goal=goal), state)
        time.sleep(0.5)


def _decide(owner: Loopx, state: Mapping[str, Any]) -> None:
    outcome = "approve" if owner.goal == GOALS[0] else "reject"
    for need in (need for need in state["needs_you"] if need["kind"] == "gate"):
        # A worker may change things in between; then there is nothing to decide.
        with suppress(DemoError):
            owner.must("gate", outcome, need["id"], "--reason", "Looked at in the demo")


def _is_rich(states: States) -> bool:
    """Work was done everywhere, and several gates wait."""
    gates = sum(len(state["needs_you"]) for state in states.values())
    return gates >= 2 and all(state["todos"]["done"] >= 3 for state in states.values())


def _is_lively(states: States) -> bool:
    """The selected goal has a lease that will still run when the picture is made."""
    soon = datetime.now(UTC) + timedelta(seconds=LEASE_LEFT_SECONDS)
    leases = states[GOALS[0]]["leases"]
    return any(
        lease["status"] == "active" and datetime.fromisoformat(lease["expires_at"]) > soon
        for lease in leases
    )


def _spoil(place: Place) -> None:
    """A writer that is stopped in the middle of a line, and a lease file edited by hand."""
    runtime = place.repo / ".loopx" / "runtime"
    with (runtime / GOALS[0] / "events.jsonl").open("ab") as journal:
        journal.write(b'{"event_id":"01K5Q0","goal_id":"dark-mo')
    lease = max((runtime / LEFT_OPEN / "task-leases").glob("*.json"))
    lease.write_text('{"owner": "me"}\n', encoding="utf-8")


class _Still:
    """A feed that says nothing after its first complete reading: a picture shows one moment."""

    def __init__(self, feed: Feeding) -> None:
        self._feed = feed
        self._taken = False
        self.select = feed.select
        self.watch = feed.watch
        self.stop = feed.stop

    def start(self, post: Callable[[Snapshot | OwnFiles], object]) -> None:
        """Posts what the feed says, up to the first snapshot that lacks nothing."""

        def post_until_complete(told: Snapshot | OwnFiles) -> None:
            if not self._taken:
                self._taken = _is_complete(told)
                post(told)

        self._feed.start(post_until_complete)


def _is_complete(told: Snapshot | OwnFiles) -> bool:
    from loopx_tui.presentation.goals import NOT_LOADED
    from loopx_tui.told import Snapshot

    if not isinstance(told, Snapshot):
        return False
    view = told.told.view
    loading = view is not None and any(goal.reason == NOT_LOADED for goal in view.unread)
    return told.mode != "start" and not loading


def _draw(place: Place, shot: Shot) -> str:
    from loopx_tui.app import LoopxApp, Options
    from loopx_tui.feed import Feed
    from loopx_tui.presentation.header import Place as Heading
    from loopx_tui.shot import picture

    folder = place.top / "new-project" if shot.elsewhere else place.repo
    folder.mkdir(exist_ok=True)
    app = LoopxApp(
        Options(folder, goal_id=GOALS[0], theme=shot.theme, demo=not shot.elsewhere),
        feed=_Still(Feed(folder, goal_id=GOALS[0], read_only=False)),
        # A picture travels: it names the folder, not whose machine it was made on.
        place=Heading(folder.name, demo=not shot.elsewhere),
    )
    return asyncio.run(picture(app, shot.view, shot.size))


def _say(text: str) -> None:
    print(f"shots: {text}", file=sys.stderr, flush=True)  # noqa: T201


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
