"""A goal with more todos than a pane holds."""

from __future__ import annotations

import pytest

from loopx_tui.panes.pane import Pane
from loopx_tui.presentation import todos
from loopx_tui.presentation.pen import Pen
from tests.tui import fixtures
from tests.tui.test_app import feed


def goal_with(count: int) -> fixtures.GoalView:
    many = [fixtures.todo(n, f"Convert component {n:05}") for n in range(1, count + 1)]
    return fixtures.view(fixtures.goal("dark-mode", todos=fixtures.by_id(many)))


@pytest.mark.parametrize(("count", "said"), [(0, "0 todos"), (1, "1 todo"), (2, "2 todos")])
def test_the_border_counts_them(count: int, said: str) -> None:
    assert todos.heading(goal_with(count), Pen(fixtures.NOW)).figure[0].text == said


async def test_the_rest_is_counted_and_a_filter_finds_it() -> None:
    app = fixtures.app(fixtures.told([goal_with(2_100)]), theme="dark")
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause()
        await pilot.pause()
        pane = app.main.board.query_one("#todos", Pane)
        held = {row.key for row in pane.rows.shown}
        assert len(held) == 2_000
        assert pane.rows._notes == ["… 100 more"]
        hidden = next(n for n in range(1, 2_101) if f"T{n}" not in held)
        pane.filter(f"{hidden:05}")
        assert [row.key for row in pane.rows.shown] == [f"T{hidden}"]
        pane.filter("")
        assert len(pane.rows.shown) == 2_000


async def test_the_cursor_goes_on_to_the_rest_and_back() -> None:
    app = fixtures.app(fixtures.told([goal_with(2_100)]), theme="dark")
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause()
        pane = app.main.board.query_one("#todos", Pane)
        first = [row.key for row in pane.rows.shown]
        await pilot.press("3", "G", "j")
        await pilot.pause()
        rest = [row.key for row in pane.rows.shown]
        assert len(rest) == 100 and not set(rest) & set(first)
        assert pane.rows.cursor_key == rest[0]
        assert pane.rows._notes == ["… 2,000 before"]
        feed(app).tell(fixtures.told([goal_with(2_101)]))
        await pilot.pause()
        assert pane.rows.cursor_key == rest[0]
        await pilot.press("G", "j", "g", "k")
        await pilot.pause()
        assert pane.rows.cursor_key == first[-1]
        assert not [notice.message for notice in app._notifications]
