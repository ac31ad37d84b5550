"""Quota: recomputed from the ledger, in a window that slides."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loopx_kernel.domain.quota import SpendSlot, VoidSlot, burn, frees_at, is_exhausted, usage
from loopx_kernel.domain.rules import QuotaRule
from loopx_kernel.errors import Conflict, Denied, UsageError

from tests.kernel.domain.build import CODEX, NOW, OWNER, begin, dark_mode, opened, refused, spend

HOUR = timedelta(hours=1)
DAY = timedelta(hours=24)
TICK = timedelta(milliseconds=1)


def test_the_fixture_may_use_576_slots() -> None:
    found = usage(dark_mode().state, NOW)
    assert (found.allowed, found.used, found.remaining) == (576, 1, 575)
    assert (found.slot_minutes, found.window_hours) == (1, 24)


def test_a_spend_leaves_the_window_when_it_is_a_window_old() -> None:
    book = opened()
    spend(book, "turn-0001", 5)
    last = NOW + DAY - TICK
    assert (usage(book.state, last).used, usage(book.state, last).aged_out) == (5, 0)
    assert (usage(book.state, NOW + DAY).used, usage(book.state, NOW + DAY).aged_out) == (0, 5)
    assert frees_at(book.state, last) == NOW + DAY
    assert frees_at(book.state, NOW + DAY) is None


def test_the_window_has_no_upper_end() -> None:
    book = opened()
    spend(book, "turn-0001", at=NOW + HOUR)
    assert usage(book.state, NOW).used == 1


@pytest.mark.parametrize(
    "night", [datetime(2026, 3, 29, tzinfo=UTC), datetime(2026, 10, 25, tzinfo=UTC)]
)
def test_a_day_has_24_hours_on_the_nights_clocks_change(night: datetime) -> None:
    book = opened(night)
    spend(book, "turn-0001", at=night)
    assert usage(book.state, night + DAY - TICK).used == 1
    assert usage(book.state, night + DAY).used == 0


def test_a_void_counts_at_its_spends_time() -> None:
    book = dark_mode()
    spend(book, "turn-0083", at=NOW)
    void = VoidSlot(turn="turn-0083", reason="turn failed validation")
    book.do(void, OWNER, NOW + 20 * HOUR)
    found = usage(book.state, NOW + 21 * HOUR)
    assert (found.spent, found.voided, found.used) == (2, 1, 1)
    assert (found.spends, found.voids) == (2, 1)
    # A day later its spend has aged out, and the void with it.
    found = usage(book.state, NOW + DAY)
    assert (found.spent, found.voided, found.used, found.aged_out) == (0, 0, 0, 1)


def test_one_spend_and_one_void_for_one_turn() -> None:
    book = dark_mode()
    refused(book, SpendSlot(turn="turn-0001"), Conflict, "already_spent", actor=CODEX)
    void = VoidSlot(turn="turn-0001", reason="wrong turn")
    book.do(void, OWNER)
    refused(book, void, Conflict, "already_voided", actor=OWNER)
    refused(book, SpendSlot(turn="turn-0001"), Conflict, "already_spent", actor=CODEX)


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (SpendSlot(turn="81"), "unknown_turn"),
        (SpendSlot(turn="turn-81"), "unknown_turn"),
        (SpendSlot(turn="turn-0090"), "unknown_turn"),
        (SpendSlot(turn="turn-0002", slots=0), "invalid_value"),
        (SpendSlot(turn="turn-0002", slots=1441), "invalid_value"),
    ],
)
def test_spends_that_are_refused(command: SpendSlot, code: str) -> None:
    book = dark_mode()
    book.do(begin("T3"))
    refused(book, command, UsageError, code)


def test_voids_that_are_refused() -> None:
    book = dark_mode()
    unknown = VoidSlot(turn="turn-0099", reason="x")
    refused(book, unknown, UsageError, "unknown_turn", actor=OWNER)
    refused(book, VoidSlot(turn="turn-0001", reason=""), UsageError, "invalid_value", actor=OWNER)
    refused(book, VoidSlot(turn="turn-0001", reason="x"), Denied, "unsigned")


def test_work_done_is_booked_beyond_the_limit() -> None:
    book = opened(quota=QuotaRule(compute="0.1", window_hours=1, slot_minutes=6))
    assert not is_exhausted(book.state, NOW)
    spend(book, "turn-0001")
    assert is_exhausted(book.state, NOW)
    spend(book, "turn-0002", 3)
    found = usage(book.state, NOW)
    assert (found.allowed, found.used, found.remaining) == (1, 4, 0)


def test_a_share_of_nothing_is_used_up_from_the_start() -> None:
    state = opened(quota=QuotaRule(compute="0")).state
    assert is_exhausted(state, NOW)
    assert frees_at(state, NOW) is None


@given(
    st.lists(st.tuples(st.integers(0, 48 * 60), st.integers(1, 9), st.booleans()), max_size=12),
    st.integers(0, 72 * 60),
)
def test_used_is_the_sum_of_what_stands_in_the_window(
    spends: list[tuple[int, int, bool]], look: int
) -> None:
    start = NOW - DAY
    book = opened(start)
    for number, (minute, slots, _) in enumerate(spends):
        spend(book, f"turn-{number + 1:04}", slots, at=start + timedelta(minutes=minute))
    for number, (minute, _, voided) in enumerate(spends):
        if voided:
            void = VoidSlot(turn=f"turn-{number + 1:04}", reason="wrong")
            book.do(void, OWNER, start + timedelta(minutes=minute) + HOUR)
    now = start + timedelta(minutes=look)
    # A time before that of a line before counts as that.
    counted = accumulate((minute for minute, _, _ in spends), max)
    standing = [(m, s) for m, (_, s, voided) in zip(counted, spends, strict=True) if not voided]
    inside = sum(s for m, s in standing if m > look - 24 * 60)
    found = usage(book.state, now)
    assert found.used == found.spent - found.voided == inside == sum(burn(book.state, now, 48))
    assert found.used + found.aged_out == sum(s for _, s in standing)
    assert is_exhausted(book.state, now) is (inside >= 576)
