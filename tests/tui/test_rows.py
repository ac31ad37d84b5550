"""The row view: what stays under the cursor, and what is written to the terminal."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.color import ColorSystem
from rich.console import RenderableType
from textual._compositor import CompositorUpdate
from textual.app import App, ComposeResult
from textual.message import Message
from textual.pilot import Pilot
from textual.screen import Screen
from textual.strip import Strip

from loopx_tui.panes.pane import PaneRows
from loopx_tui.presentation.cells import Cell, Row
from loopx_tui.presentation.columns import Column
from loopx_tui.themes import DEFAULT, to_textual
from loopx_tui.widgets.row_list import LIMIT, RowList
from loopx_tui.widgets.rows import Rows, Words

COLUMNS = (
    Column("id", "Id", min=4),
    Column("what", "What", min=8, flex=True),
    Column("age", "Age", min=4, align="right"),
)
WORDS = Words(empty="No gates wait. Agents ask with `loopx gate request`")
SIZE = (60, 12)


def row(key: str, what: str = "", age: str = "12m", mark: str = "") -> Row:
    cells = (Cell(key, "text-dim"), Cell(what or f"work on {key}"), Cell(age, "run"))
    return Row(key, cells, Cell(mark, "alert"))


def keys(*names: str) -> list[Row]:
    return [row(name) for name in names]


def numbered(count: int, odd: int | None = None) -> list[Row]:
    return [row(f"T{at}", f"todo {at}" + "!" * (at == odd)) for at in range(count)]


class Pane(App[None]):
    """One row view that fills the screen, and what it said."""

    ENABLE_COMMAND_PALETTE = False

    def __init__(self, rows: Rows) -> None:
        super().__init__()
        theme = to_textual(DEFAULT)
        self.register_theme(theme)
        self.theme = theme.name
        self.rows = rows
        self.said: list[tuple[str, str]] = []
        self.sent = 0

    def compose(self) -> ComposeResult:
        yield self.rows

    def say(self, message: Message) -> None:
        if isinstance(message, Rows.About):
            self.said.append((type(message).__name__, message.key))

    on_rows_highlighted = on_rows_opened = on_rows_vanished = on_rows_page_wanted = say

    def _display(self, screen: Screen[object], renderable: RenderableType | None) -> None:
        super()._display(screen, renderable)
        if isinstance(renderable, CompositorUpdate):
            self.sent += len(renderable.render_segments(self.console).encode())

    def taken(self) -> list[tuple[str, str]]:
        """What was said since the last time."""
        said, self.said = self.said, []
        return said


@asynccontextmanager
async def shown(
    rows: Sequence[Row], *, size: tuple[int, int] = SIZE, view: Rows | None = None
) -> AsyncIterator[tuple[Rows, Pane, Pilot[None]]]:
    view = view or Rows(COLUMNS, words=WORDS)
    app = Pane(view)
    async with app.run_test(size=size) as pilot:
        view.set_rows(rows)
        await pilot.pause()
        app.taken()
        yield view, app, pilot


def screen(view: Rows) -> list[str]:
    """The view's lines as they are drawn now."""
    return [line_text(view.render_line(y)) for y in range(view.size.height)]


def line_text(strip: Strip) -> str:
    return strip.text.rstrip()


def painted(view: Rows) -> list[str]:
    """The view's lines as the screen holds them: stale where a change was not marked dirty."""
    width, height = view.scrollable_content_region.size
    strips = view.screen._compositor.render_strips()[:height]
    return [line_text(strip.crop(0, width)) for strip in strips]


class TestCursor:
    async def test_it_stays_on_its_key_through_inserts_and_sorts(self) -> None:
        async with shown(keys("gate1", "gate2", "gate3")) as (view, app, pilot):
            view.select("gate2")
            await pilot.pause()
            view.set_rows(keys("gate1", "gate1a", "gate2", "gate3"))
            assert view.cursor_key == "gate2"
            view.set_rows(keys("gate3", "gate2", "gate1a", "gate1"))
            assert view.cursor_key == "gate2"
            await pilot.pause()
            assert app.taken() == [("Highlighted", "gate2")]
            assert painted(view)[1].startswith("▌gate2")

    async def test_a_selected_row_that_vanishes_says_so_and_gives_to_its_neighbour(self) -> None:
        async with shown(keys("a", "b", "c")) as (view, app, pilot):
            view.select("b")
            await pilot.pause()
            app.taken()
            view.set_rows(keys("new", "a", "c"))
            await pilot.pause()
            assert sorted(app.taken()) == [("Highlighted", "c"), ("Vanished", "b")]
            view.set_rows(keys("new", "a"))
            await pilot.pause()
            assert view.cursor_key == "a"
            view.set_rows([])
            await pilot.pause()
            assert view.cursor_key is None
            assert app.taken()[-1] == ("Vanished", "a")

    async def test_keys_move_it_and_enter_opens(self) -> None:
        async with shown(numbered(50)) as (view, app, pilot):
            places = {}
            for key in ("down", "j", "k", "up", "G", "g", "end", "home", "pagedown", "ctrl+u"):
                await pilot.press(key)
                places[key] = view.cursor_key
            assert list(places.values()) == [
                *("T1", "T2", "T1", "T0", "T49", "T0", "T49", "T0", "T12", "T0")
            ]
            await pilot.press("j", "enter")
            assert app.taken()[-1] == ("Opened", "T1")

    async def test_it_is_always_in_sight_after_a_key(self) -> None:
        async with shown(numbered(50)) as (view, _, pilot):
            for key in ("G", "pageup", "up", "g", "pagedown", "down"):
                await pilot.press(key)
                marked = [line for line in painted(view) if line.startswith("▌")]
                assert [line.split()[0] for line in marked] == [f"▌{view.cursor_key}"], key

    async def test_a_click_selects_and_a_double_click_opens(self) -> None:
        view = Rows(COLUMNS, show_header=True)
        async with shown(numbered(5), view=view) as (view, app, pilot):
            await pilot.click(Rows, offset=(3, 0))
            assert view.cursor_key == "T0"
            await pilot.click(Rows, offset=(3, 3))
            assert view.cursor_key == "T2"
            await pilot.click(Rows, offset=(3, 9))
            assert view.cursor_key == "T2"
            app.taken()
            await pilot.double_click(Rows, offset=(3, 2))
            assert app.taken() == [("Highlighted", "T1"), ("Opened", "T1")]

    async def test_select_says_whether_the_key_is_there(self) -> None:
        async with shown(numbered(50)) as (view, _, pilot):
            assert view.select("T40")
            assert not view.select("T99")
            await pilot.pause()
            assert any(line.startswith("▌T40") for line in painted(view))


class TestScroll:
    async def test_rows_inserted_above_move_nothing_on_the_screen(self) -> None:
        async with shown(numbered(50)) as (view, _, pilot):
            view.select("T30")
            await pilot.pause()
            before = painted(view)
            view.set_rows([*keys("new1", "new2"), *numbered(50)])
            await pilot.pause()
            assert painted(view) == before == screen(view)

    async def test_an_unfocused_view_at_its_top_shows_new_rows(self) -> None:
        async with shown(numbered(50)) as (view, _, pilot):
            view.screen.set_focus(None)
            await pilot.pause()
            view.set_rows([*keys(*(f"new{at}" for at in range(20))), *numbered(50)])
            await pilot.pause()
            assert painted(view)[0].split()[0] == "new0"

    async def test_a_focused_cursor_is_not_pushed_out_of_sight(self) -> None:
        async with shown(numbered(50)) as (view, _, pilot):
            view.set_rows([*keys(*(f"new{at}" for at in range(20))), *numbered(50)])
            await pilot.pause()
            assert any(line.startswith("▌T0") for line in painted(view))

    async def test_what_is_left_is_in_sight_when_most_rows_go(self) -> None:
        async with shown(numbered(50)) as (view, _, pilot):
            await pilot.press("G")
            view.set_rows(numbered(2))
            await pilot.pause()
            assert [line.split()[0].strip("▌") for line in painted(view)[:2]] == ["T0", "T1"]


class TestPaneRows:
    """A pane whose cursor is seen only where keys go."""

    async def test_a_resize_keeps_the_newest_row_and_a_focus_acts_on_a_row_in_sight(self) -> None:
        view = PaneRows(COLUMNS, keeps_cursor=False, ascii_only=False)
        async with shown(numbered(50), view=view) as (_, _, pilot):
            view.screen.set_focus(None)
            await pilot.pause()
            view.set_rows([*keys(*(f"new{at}" for at in range(20))), *numbered(50)])
            await pilot.resize_terminal(60, 8)
            await pilot.pause()
            view.set_rows([*keys("newest", *(f"new{at}" for at in range(20))), *numbered(50)])
            await pilot.pause()
            assert painted(view)[0].split()[0] == "newest"
            view.focus()
            await pilot.pause()
            assert painted(view)[0].startswith("▌newest")

    async def test_a_focus_keeps_a_cursor_that_is_in_sight(self) -> None:
        view = PaneRows(COLUMNS, keeps_cursor=False, ascii_only=False)
        async with shown(numbered(50), view=view) as (_, _, pilot):
            view.select("T3")
            view.screen.set_focus(None)
            await pilot.pause()
            view.focus()
            await pilot.pause()
            assert view.cursor_key == "T3"


class TestFilter:
    async def test_it_shows_what_contains_the_text_whatever_its_case(self) -> None:
        rows = [row("a", "Übung"), row("b", "other"), row("c", "die ÜBUNG")]
        async with shown(rows) as (view, _, pilot):
            view.set_filter("übung")
            await pilot.pause()
            assert [one.key for one in view.shown] == ["a", "c"]
            assert view.needle == "übung"
            view.set_rows([*rows, row("d", "Übungen"), row("e")])
            assert [one.key for one in view.shown] == ["a", "c", "d"]
            view.set_filter("")
            assert len(view.shown) == 5

    async def test_without_a_match_it_says_how_many_rows_are_hidden(self) -> None:
        async with shown(numbered(7)) as (view, _, pilot):
            view.set_filter("{zzz}")
            await pilot.pause()
            assert painted(view)[0] == " Nothing matches {zzz}; 7 rows are hidden"

    async def test_n_goes_round_the_matches_after_the_filter_is_cleared(self) -> None:
        async with shown(keys("ax", "b", "cx", "d")) as (view, _, pilot):
            await pilot.press("n")
            assert view.cursor_key == "ax"
            view.set_filter("X")
            view.set_filter("")
            places = []
            for key in ("n", "n", "N", "j", "n"):
                await pilot.press(key)
                places.append(view.cursor_key)
            assert places == ["cx", "ax", "cx", "d", "ax"]

    async def test_the_cursor_follows_a_filter_without_an_alarm(self) -> None:
        async with shown(keys("ax", "b", "cx")) as (view, app, pilot):
            view.select("b")
            view.set_filter("x")
            await pilot.pause()
            assert view.cursor_key == "cx"
            assert app.taken() == [("Highlighted", "cx")]


class TestText:
    async def test_columns_are_aligned_and_wide_characters_keep_them(self) -> None:
        rows = [row("T1", "漢字" * 40, "3s"), row("T2", "plain", "12m")]
        view = Rows(COLUMNS, show_header=True)
        async with shown(rows, view=view, size=(40, 6)) as (view, _, _):
            lines = painted(view)
            assert lines[0] == " Id    What                         Age"
            assert lines[1] == "▌T1    " + "漢字" * 6 + "…     3s"
            assert {view.render_line(y).cell_length for y in range(3)} == {39}
            assert lines[2].endswith("12m")

    async def test_markup_is_shown_as_it_is(self) -> None:
        nasty = ["[/x]", "[@click=app.quit]x[/]", "[red]OK[/]", "\\[", "$x", "[" * 50]
        async with shown([row(str(at), text) for at, text in enumerate(nasty)]) as (view, _, _):
            for text, line in zip(nasty, painted(view), strict=False):
                assert text[:40] in line

    async def test_an_empty_pane_says_what_would_be_here(self) -> None:
        async with shown([], size=(20, 6)) as (view, _, _):
            assert painted(view)[:3] == [" No gates wait.", " Agents ask with", " `loopx gate"]

    async def test_rows_beyond_the_limit_are_counted(self) -> None:
        async with shown(numbered(LIMIT + 1200)) as (view, _, pilot):
            view.set_rows(numbered(LIMIT + 1200), more=34)
            assert len(view.shown) == LIMIT
            view.scroll_end(animate=False)
            await pilot.pause()
            assert painted(view)[-1] == " … 1,234 more"

    async def test_the_cursor_turns_the_pages(self) -> None:
        async with shown(numbered(LIMIT * 2 + 5)) as (view, _, pilot):
            names = [one.key for one in numbered(LIMIT * 2 + 5)]
            await pilot.press("G", "j")
            assert view.cursor_key == names[LIMIT]
            assert painted(view)[0].startswith(f"▌{names[LIMIT]}")
            assert view._notes == ["… 5 more   … 2,000 before"]
            await pilot.press("G", "pagedown")
            assert [one.key for one in view.shown] == names[LIMIT * 2 :]
            await pilot.press("G", "j")
            assert view.cursor_key == names[-1]
            await pilot.press("g", "k")
            assert view.cursor_key == names[LIMIT * 2 - 1]
            assert names[LIMIT * 2 - 1] in "\n".join(painted(view))
            await pilot.press("g", "pageup", "g", "k")
            assert view.cursor_key == names[0]
            assert painted(view) == screen(view)

    async def test_who_left_rows_out_is_asked_for_them(self) -> None:
        async with shown([]) as (view, app, pilot):
            view.set_rows(keys("c", "d"), before=2, more=1)
            await pilot.press("k", "j", "j")
            await pilot.pause()
            assert [name for name, _ in app.taken()].count("PageWanted") == 2
            view.turn_to(keys("e"), before=4, more=0, step=1)
            await pilot.press("j")
            await pilot.pause()
            assert app.taken() == [("Highlighted", "e")]
            view.turn_to(keys("c", "d"), before=2, more=1, step=-1)
            assert view.cursor_key == "d"

    async def test_marks_stand_where_the_cursor_is_not(self) -> None:
        async with shown([row("a", mark="*"), row("b", mark="*")]) as (view, _, _):
            assert [line[0] for line in painted(view)[:2]] == ["▌", "*"]

    async def test_ascii_can_be_asked_for(self) -> None:
        view = Rows(COLUMNS, ascii_only=True)
        async with shown([row("a", "long " * 40)], view=view) as (view, _, _):
            assert painted(view)[0].isascii() and painted(view)[0].startswith("|a")
            assert "~" in painted(view)[0]

    async def test_a_narrow_view_keeps_ids(self) -> None:
        for width in (1, 2, 5, 9, 20):
            async with shown(numbered(3), size=(width, 3)) as (view, _, _):
                assert all(view.render_line(y).cell_length <= width for y in range(3))
                if width >= 6:
                    assert painted(view)[0].startswith("▌T0")

    async def test_a_change_of_theme_recolours_all_rows(self) -> None:
        async with shown(numbered(3)) as (_, app, pilot):
            before = [list(strip) for strip in app.screen._compositor.render_strips()]
            app.theme = "textual-light"
            await pilot.pause()
            after = [list(strip) for strip in app.screen._compositor.render_strips()]
            assert all(one != other for one, other in zip(before[:3], after[:3], strict=True))


class TestBytes:
    """What goes to the terminal: little for a change, nothing for none."""

    @staticmethod
    @asynccontextmanager
    async def counted() -> AsyncIterator[tuple[Rows, Pane, Pilot[None]]]:
        async with shown(numbered(1000), size=(120, 40)) as (view, app, pilot):
            app.console._color_system = ColorSystem.TRUECOLOR
            yield view, app, pilot

    @staticmethod
    async def sent(app: Pane, pilot: Pilot[None]) -> int:
        await pilot.pause()
        size, app.sent = app.sent, 0
        return size

    async def test_only_the_changed_row_is_written(self) -> None:
        async with self.counted() as (view, app, pilot):
            await self.sent(app, pilot)
            view.set_rows(numbered(1000, odd=5))
            assert 0 < await self.sent(app, pilot) <= 300
            assert "todo 5!" in painted(view)[5]

    async def test_a_ticking_age_is_one_line(self) -> None:
        async with self.counted() as (view, app, pilot):
            await self.sent(app, pilot)
            view.set_cell("T3", "age", Cell("13m", "run"))
            assert 0 < await self.sent(app, pilot) <= 300
            assert painted(view)[3].endswith("13m")
            view.set_cell("T3", "age", Cell("13m", "run"))
            view.set_cell("T900", "age", Cell("14m", "run"))
            view.set_cell("gone", "age", Cell("14m"))
            assert await self.sent(app, pilot) == 0

    async def test_equal_and_unseen_changes_write_nothing(self) -> None:
        async with self.counted() as (view, app, pilot):
            await self.sent(app, pilot)
            view.set_rows(numbered(1000))
            view.set_rows(numbered(1000, odd=900))
            assert await self.sent(app, pilot) == 0

    async def test_a_hidden_view_writes_nothing_and_is_right_when_shown(self) -> None:
        async with self.counted() as (view, app, pilot):
            view.display = False
            await self.sent(app, pilot)
            view.set_rows(numbered(1000, odd=5))
            assert await self.sent(app, pilot) == 0
            view.display = True
            await pilot.pause()
            assert "todo 5!" in painted(view)[5]


CHANGES = st.lists(
    st.tuples(
        st.lists(st.sampled_from("abcdefgh"), unique=True),
        st.sampled_from(["", "", "a", "x"]),
        st.sampled_from(["up", "down", "none", "home", "end"]),
    ),
    min_size=1,
    max_size=12,
)


class TestRowList:
    @given(CHANGES)
    def test_the_cursor_is_on_a_shown_row_and_leaves_it_only_when_it_goes(
        self, changes: list[tuple[list[str], str, str]]
    ) -> None:
        rows = RowList()
        for names, needle, move in changes:
            held = rows.cursor
            lost = rows.replace([row(name, name * 2) for name in names], more=0)
            assert lost == (held if held is not None and rows.place(held) is None else None)
            if lost is None and held is not None:
                assert rows.cursor == held
            rows.filter(needle)
            step = {"up": -1, "down": 1, "home": -100, "end": 100, "none": 0}[move]
            rows.go((rows.place(rows.cursor) or 0) + step)
            shown = [one.key for one in rows.shown]
            assert shown == [name for name in names if needle in name]
            assert rows.cursor in shown if shown else rows.cursor is None

    @pytest.mark.parametrize(
        ("left", "neighbour"), [("abde", "d"), ("ab", "b"), ("xya", "a"), ("xy", "x")]
    )
    def test_the_nearest_row_that_is_left_takes_the_cursor(self, left: str, neighbour: str) -> None:
        rows = RowList()
        rows.replace(keys(*"abcde"), more=0)
        rows.select("c")
        assert rows.replace(keys(*left), more=0) == "c"
        assert rows.cursor == neighbour

    def test_the_page_is_the_one_with_the_cursor(self) -> None:
        rows, all_of_them = RowList(), numbered(LIMIT + 10)
        rows.replace(all_of_them)
        assert rows.turn(1) and not rows.turn(1)
        last = rows.cursor
        rows.replace([row("new"), *all_of_them])
        assert rows.cursor == last and (rows.before, rows.more) == (LIMIT, 0)
        rows.filter("no such")
        assert (rows.cursor, rows.before, rows.more) == (None, 0, 0)
        rows.filter("")
        assert rows.cursor == "new" and (rows.before, rows.more) == (0, 11)
        assert not rows.turn(-1)


class TestScreenAgrees:
    """After any change the screen shows what a fresh painting would."""

    async def test_no_line_is_left_stale(self) -> None:
        names = [f"k{at}" for at in range(40)]
        async with shown(keys(*names), size=(50, 9)) as (view, _, pilot):
            for turn in range(30):
                kept = [name for at, name in enumerate(names) if (at * 7 + turn) % (3 + turn % 5)]
                rotated = kept[turn % 9 :] + kept[: turn % 9]
                view.set_rows([row(name, age=f"{turn % 4}m") for name in rotated])
                await pilot.press(("j", "k", "pagedown", "G", "n", "g")[turn % 6])
                view.set_filter(("", "k1", "", "2")[turn % 4])
                await pilot.pause()
                assert painted(view) == screen(view), turn
