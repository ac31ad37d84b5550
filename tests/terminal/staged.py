"""The screen on values, as a process: each byte in a pipe makes its feed tell the next reading.

    python -m tests.terminal.staged SCENE PIPE

Scenes: ``equal``, ``unseen``, ``row``, ``event``, ``countdown``, and a number for
a goal with that many todos. At its end the process writes to ``PIPE.cpu`` how
many CPU seconds went by until the first reading was painted.
"""

from __future__ import annotations

import gc
import itertools
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

from loopx_tui.app import LoopxApp, Options
from loopx_tui.presentation.header import Place
from loopx_tui.told import Told
from tests.tui import fixtures
from tests.tui.fixtures import NOW, StillFeed

READINGS = 20


class StagedApp(LoopxApp):
    """Notes when the board was first painted."""

    painted: float | None = None

    def post_display_hook(self) -> None:
        if self.painted is None and self.screen.id == "main":
            self.painted = time.thread_time()


def equal() -> Iterator[Told]:
    """The same reading again and again, made anew each time."""
    while True:
        yield fixtures.told()


def row() -> Iterator[Told]:
    """One todo's title is another one each time; it has the same length."""
    return (_retitled("dark-mode", "T4", f"Add tests {number:04}") for number in itertools.count())


def unseen() -> Iterator[Told]:
    """A todo of a goal that is not selected changes."""
    return (_retitled("fix-checkout", "T3", f"Fix {number:04}") for number in itertools.count())


def event() -> Iterator[Told]:
    """The journal of the selected goal has one line more each time."""
    told = fixtures.told()
    yield told
    for number in itertools.count(413):
        line = fixtures.event(number, "lease.renewed", NOW, {"todo_id": f"T{number % 8}"})
        first, *others = fixtures.goals()
        read = fixtures.told([replace(first, seq=number), *others])
        told = replace(read, events=(*told.events, line))
        yield told


def countdown() -> Iterator[Told]:
    """A lease that ends in less than two minutes: its seconds are counted down."""
    lease = fixtures.lease(
        "claude-code", epoch=2, version=5, left=timedelta(seconds=110), scopes=("src/**",)
    )
    return _goal_with(fixtures.held(3, "Convert the shop's components", lease))


def many(count: int) -> Iterator[Told]:
    """A goal with so many todos."""
    titles = (f"Convert component number {number}" for number in range(1, count + 1))
    return _goal_with(*(fixtures.todo(n, title) for n, title in enumerate(titles, 1)))


def _goal_with(*todos: fixtures.Todo) -> Iterator[Told]:
    view = fixtures.view(fixtures.goal("dark-mode", todos=fixtures.by_id(todos)))
    return itertools.repeat(fixtures.told([view]))


def _retitled(goal_id: str, todo_id: str, title: str) -> Told:
    goals = fixtures.goals()
    at = [goal.goal_id for goal in goals].index(goal_id)
    rows = [
        replace(row, todo=row.todo.model_copy(update={"title": title}))
        if row.todo.id == todo_id
        else row
        for row in goals[at].todos
    ]
    goals[at] = replace(goals[at], todos=tuple(rows))
    return fixtures.told(goals)


SCENES: dict[str, Callable[[], Iterator[Told]]] = {
    "equal": equal,
    "unseen": unseen,
    "row": row,
    "event": event,
    "countdown": countdown,
}


def _obey(pipe: Path, feed: StillFeed, readings: Iterator[Told]) -> None:
    with pipe.open("rb", buffering=0) as bytes_in:
        while bytes_in.read(1):
            feed.tell(next(readings))


def _running_clock() -> Callable[[], datetime]:
    started = time.monotonic()
    return lambda: NOW + timedelta(seconds=time.monotonic() - started)


def main(scene: str, pipe: Path) -> None:
    """Shows the scene until it is quit."""
    made = SCENES[scene]() if scene in SCENES else many(int(scene))
    # Made before, so that what is measured is what the screen does with them.
    readings = itertools.cycle(list(itertools.islice(made, READINGS)))
    feed = StillFeed(next(readings))
    threading.Thread(target=_obey, args=(pipe, feed, readings), daemon=True).start()
    app = StagedApp(
        Options(Path(fixtures.ROOT)),
        feed=feed,
        clock=_running_clock(),
        place=Place("~/mall-frontend", "huang@host"),
    )
    gc.collect()
    gc.freeze()
    before = time.thread_time()
    app.run()
    assert app.painted is not None
    Path(f"{pipe}.cpu").write_text(str(app.painted - before), "ascii")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
