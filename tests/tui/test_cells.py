"""Cells, columns, ages and glyphs: what a pane's text comes out as."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from loopx_tui.presentation.ages import age, countdown, progress_bar, sparkline
from loopx_tui.presentation.cells import Cell, Row, fit, one_line, wrap
from loopx_tui.presentation.columns import GAP, Column, measure, plan, widest
from loopx_tui.presentation.glyphs import GLYPHS, glyph, sparks

ANSWERS = ("run", "ask", "wait", "repair", "quiet", "closed", "paused")
TEXTS = st.text(st.sampled_from("ab é漢字👩‍👧⚠️e\u0301\u200d\n\ud800🇵🇱")) | st.text()


class TestFit:
    @pytest.mark.parametrize(
        ("text", "cells", "shown"),
        [
            ("T3", 4, "T3  "),
            ("publish", 7, "publish"),
            ("publish", 5, "publ…"),
            ("漢字漢字", 8, "漢字漢字"),
            ("漢字漢字", 6, "漢字… "),
            ("漢字", 3, "漢…"),
            ("漢", 1, "…"),
            ("e\u0301e\u0301e\u0301", 2, "e\u0301…"),
            ("👩‍👩‍👧x", 2, "… "),
            ("any", 0, ""),
        ],
    )
    def test_text_is_cut_between_whole_characters(self, text: str, cells: int, shown: str) -> None:
        assert fit(text, cells) == shown

    def test_right_aligned_text_keeps_its_end_at_the_right(self) -> None:
        assert fit("9d", 4, "right") == "  9d"
        assert fit("漢字漢", 4, "right") == " 漢…"

    def test_an_ascii_ellipsis_can_be_asked_for(self) -> None:
        assert fit("publish", 5, ellipsis="~") == "publ~"

    @given(TEXTS, st.integers(0, 30), st.sampled_from(["left", "right"]))
    def test_any_text_fills_its_cells_exactly(self, text: str, cells: int, align: str) -> None:
        assert cell_len(fit(text, cells, "right" if align == "right" else "left")) == cells

    def test_nothing_that_breaks_a_line_reaches_it(self) -> None:
        assert one_line("a\nb\x1b[2J\u2028c\ud800d") == "a�b�[2J�c�d"
        assert one_line("a\u00a0漢") == "a\u00a0漢"


class TestWrap:
    def test_lines_break_between_words(self) -> None:
        assert wrap("No gates wait. Agents ask", 12) == ["No gates", "wait. Agents", "ask"]

    def test_a_word_too_long_is_broken(self) -> None:
        assert wrap("x 漢字漢字", 5) == ["x", "漢字", "漢字"]

    @given(st.text(st.sampled_from("ab 漢")), st.integers(2, 12))
    def test_no_line_is_wider_and_no_word_is_lost(self, text: str, cells: int) -> None:
        lines = wrap(text, cells)
        assert all(cell_len(line) <= cells for line in lines)
        assert "".join(lines).replace(" ", "") == text.replace(" ", "")

    def test_no_room_is_no_line(self) -> None:
        assert wrap("some", 0) == []


PANE = (
    Column("id", min=2, priority=9),
    Column("what", min=8, priority=5, flex=True),
    Column("scope", min=4, priority=1, flex=True),
    Column("age", min=4, align="right", priority=8),
)


class TestColumns:
    def test_the_longest_flexible_text_gives_way_first(self) -> None:
        assert plan(PANE, (3, 40, 12, 4), 45) == (3, 20, 12, 4)
        assert plan(PANE, (3, 40, 12, 4), 33) == (3, 10, 10, 4)

    def test_ids_and_ages_are_never_cut_while_a_column_can_vanish(self) -> None:
        for width in range(9, 60):
            first, _, _, last = plan(PANE, (3, 40, 12, 4), width)
            assert (first, last) == (3, 4), width

    def test_the_least_important_column_vanishes_first(self) -> None:
        shown = [
            [PANE[at].name for at, one in enumerate(plan(PANE, (3, 40, 12, 4), width)) if one]
            for width in (25, 24, 19, 18, 8)
        ]
        assert shown == [
            ["id", "what", "scope", "age"],
            ["id", "what", "age"],
            ["id", "what", "age"],
            ["id", "age"],
            ["id"],
        ]

    def test_room_left_over_goes_to_the_first_flexible_column(self) -> None:
        assert plan(PANE, (2, 10, 4, 3), 60) == (2, 44, 4, 4)

    def test_a_most_width_holds(self) -> None:
        assert plan((Column("a", max=5, flex=True), Column("b")), (30, 3), 60) == (5, 3)

    def test_a_column_with_no_text_and_no_least_width_is_not_shown(self) -> None:
        assert plan((Column("a"), Column("b"), Column("c")), (3, 0, 3), 20) == (3, 0, 3)

    def test_needs_are_cells_not_characters(self) -> None:
        rows = [Row("1", (Cell("漢字"), Cell("a"))), Row("2", (Cell("abc"),))]
        columns = (Column("a"), Column("b"))
        assert widest(columns, [measure(columns, row) for row in rows]) == (4, 1)

    @given(
        st.lists(
            st.builds(
                Column,
                name=st.just("c"),
                min=st.integers(0, 6),
                max=st.none() | st.integers(6, 20),
                priority=st.integers(0, 3),
                flex=st.booleans(),
            ),
            min_size=1,
            max_size=6,
        ),
        st.integers(0, 80),
        st.data(),
    )
    def test_a_plan_never_needs_more_than_the_width(
        self, columns: list[Column], width: int, data: st.DataObject
    ) -> None:
        needs = data.draw(
            st.lists(st.integers(0, 50), min_size=len(columns), max_size=len(columns))
        )
        widths = [one for one in plan(columns, needs, width) if one]
        assert sum(widths) + GAP * max(len(widths) - 1, 0) <= width


class TestAges:
    @pytest.mark.parametrize(
        ("delta", "text"),
        [
            (timedelta(seconds=-5), "0s"),
            (timedelta(seconds=3.9), "3s"),
            (timedelta(seconds=60), "1m"),
            (timedelta(minutes=59, seconds=59), "59m"),
            (timedelta(hours=2, minutes=59), "2h"),
            (timedelta(days=9, hours=23), "9d"),
            (timedelta(days=999), "999d"),
            (timedelta(days=1100), "3y"),
        ],
    )
    def test_an_age_is_its_largest_unit(self, delta: timedelta, text: str) -> None:
        assert age(delta) == text

    @pytest.mark.parametrize(
        ("delta", "text"),
        [
            (timedelta(seconds=-1), "0s"),
            (timedelta(seconds=119.5), "119s"),
            (timedelta(seconds=121), "2m"),
            (timedelta(minutes=14, seconds=59), "14m"),
            (timedelta(hours=3), "3h"),
            (timedelta(days=5), "5d"),
        ],
    )
    def test_a_countdown_shows_seconds_only_at_the_end(self, delta: timedelta, text: str) -> None:
        assert countdown(delta) == text

    @given(st.integers(121, 10**6))
    def test_a_countdown_above_two_minutes_stands_still_within_a_minute(self, left: int) -> None:
        start = left - left % 60
        if start > 120:
            assert countdown(timedelta(seconds=left)) == countdown(timedelta(seconds=start + 59))


class TestBars:
    def test_a_bar_is_full_only_when_all_is_done(self) -> None:
        assert progress_bar(0.999, 8) == "▓▓▓▓▓▓▓░"
        assert progress_bar(1.2, 4) == "▓▓▓▓"
        assert progress_bar(-1, 4) == progress_bar(float("nan"), 4) == "░░░░"
        assert progress_bar(0.5, 4, ascii_only=True) == "##--"

    def test_a_sparkline_rises_with_its_values(self) -> None:
        assert sparkline([0, 1, 2, 7]) == "▁▂▃█"
        assert sparkline([0, 0]) == "▁▁"
        assert sparkline([]) == ""
        assert sparkline([-3, 7], ascii_only=True) == "_#"


class TestGlyphs:
    @pytest.mark.parametrize("ascii_only", [False, True])
    def test_answers_differ_by_glyph_alone(self, ascii_only: bool) -> None:
        assert len({glyph(name, ascii_only=ascii_only) for name in ANSWERS}) == len(ANSWERS)

    def test_every_glyph_is_one_cell_and_its_twin_is_ascii(self) -> None:
        for name, (shown, twin) in GLYPHS.items():
            assert cell_len(shown) == len(shown) == 1, name
            assert twin.isascii() and twin.isprintable() and len(twin) == 1, name
        for ascii_only in (False, True):
            steps = sparks(ascii_only=ascii_only)
            assert len(set(steps)) == cell_len(steps) == 8
