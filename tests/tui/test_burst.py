"""Many goals with many todos, and a burst of events: every key counts, and then it is quiet."""

from __future__ import annotations

import asyncio
import random
from dataclasses import replace

from textual import events
from textual.pilot import Pilot

from loopx_tui.app import LoopxApp
from loopx_tui.panes.pane import Pane
from tests.tui import fixtures
from tests.tui.fixtures import StillFeed
from tests.tui.gates import until

GOALS, TODOS, EVENTS, A_KEY_EVERY = 50, 1_000, 400, 4


def crowd() -> list[fixtures.GoalView]:
    """So many goals with the same todos."""
    todos = fixtures.by_id([fixtures.todo(n, f"Convert {n:04}") for n in range(1, TODOS + 1)])
    first = fixtures.view(fixtures.goal("goal-00", todos=todos))
    others = (
        replace(first, goal_id=f"goal-{number:02}", display_name=f"goal-{number:02}")
        for number in range(1, GOALS)
    )
    return [first, *others]


def changed(view: fixtures.GoalView, number: int) -> fixtures.GoalView:
    """The goal after another event, which gave one of its todos another title."""
    place = number % len(view.todos)
    row = view.todos[place]
    todo = row.todo.model_copy(update={"title": f"Changed by event {number:04}"})
    rows = (*view.todos[:place], replace(row, todo=todo), *view.todos[place + 1 :])
    return replace(view, todos=rows, seq=view.seq + 1)


async def let_it_draw(app: LoopxApp, pilot: Pilot[None]) -> None:
    """Waits until everything that was sent is handled and drawn."""
    await until(pilot, lambda: not app.message_queue_size)
    await pilot.pause()
    await pilot.pause()


async def test_in_a_burst_of_events_no_key_is_dropped_and_it_is_quiet_afterwards() -> None:
    chance, views = random.Random(7), crowd()
    app = fixtures.app(fixtures.told(views), theme="dark")
    async with app.run_test(size=(120, 36)) as pilot:
        await let_it_draw(app, pilot)
        feed = app.feed
        assert isinstance(feed, StillFeed)
        pane = app.main.board.query_one("#todos", Pane)
        await pilot.press("3")
        begin = pane.rows.cursor_key
        keys = 0
        for number in range(EVENTS):
            at = chance.choice((0, chance.randrange(GOALS)))
            views[at] = changed(views[at], number)
            feed.tell(fixtures.told(views))
            if number % A_KEY_EVERY == 0:
                app.post_message(events.Key("down", None))
                keys += 1
                await asyncio.sleep(0)
        await let_it_draw(app, pilot)
        shown = [row.key for row in pane.rows.shown]
        assert (
            shown.index(pane.rows.cursor_key) - shown.index(begin) == keys == EVENTS // A_KEY_EVERY
        )
        assert app.main.scene.view is not None and app.main.scene.view.goals == tuple(views)

        drawn: list[object] = []
        for one in app.main.board:
            one.rows.refresh = lambda *regions, **how: drawn.append(regions)  # type: ignore[method-assign]
        for _ in range(5):
            feed.tell(fixtures.told(views))
        await let_it_draw(app, pilot)
        assert drawn == []
