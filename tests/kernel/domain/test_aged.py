"""Spends that left the hot state still count in a window that new rules make wider."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from loopx_kernel.domain import hot
from loopx_kernel.domain.aged import PER_SIZE, Aged, since, with_aged
from loopx_kernel.domain.patched_rules import PatchRules
from loopx_kernel.domain.quota import burn, frees_at, is_exhausted, usage
from loopx_kernel.domain.records import Spend
from loopx_kernel.domain.rules import QuotaRule

from tests.kernel.domain.build import NOW, OWNER, Book, opened, rules, spend

HOUR = timedelta(hours=1)
NARROW = QuotaRule(compute="0.1", window_hours=1, slot_minutes=1)


def book_of(hours: list[int]) -> Book:
    """Spends of a slot each, so many hours before now, of which few are kept."""
    book = opened(NOW - 1000 * HOUR, quota=NARROW)
    for number, back in enumerate(hours, 1):
        spend(book, f"turn-{number:04}", at=NOW - back * HOUR)
    return book


def widen(book: Book, hours: int, compute: str = "0.1") -> None:
    wide = QuotaRule(compute=compute, window_hours=hours, slot_minutes=1)
    book.do(PatchRules(rules=rules(quota=wide)), OWNER, NOW)


@pytest.fixture(autouse=True)
def little_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hot, "BATCH", 2)


def test_a_wider_window_counts_what_left_it_before() -> None:
    book = book_of([5, 4, 4, 3, 3, 3, 2, 2, 2, 2, 2, 2])
    assert book.state.aged.slots > 0
    assert usage(book.state, NOW).used == 0
    total = book.state.aged.slots + len(book.state.spends)
    widen(book, 10)
    found = usage(book.state, NOW)
    assert (found.used, found.spent, found.aged_out) == (total, total, 0)
    assert sum(burn(book.state, NOW, 24)) == total


def test_the_wider_allowance_is_exhausted_by_them_and_frees_as_they_age() -> None:
    book = book_of([3] * 4 + [2] * 10)
    assert all(one.at == NOW - 2 * HOUR for one in book.state.spends.values())
    widen(book, 4, "0.05")
    assert usage(book.state, NOW).allowed == 12
    assert is_exhausted(book.state, NOW)
    assert frees_at(book.state, NOW) == NOW + HOUR
    assert is_exhausted(book.state, NOW + HOUR - timedelta(seconds=1))
    assert not is_exhausted(book.state, NOW + HOUR)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 40), st.integers(1, 5), st.booleans()), max_size=80),
    st.integers(1, 60),
)
def test_never_fewer_slots_count_than_were_used(
    spends: list[tuple[int, int, bool]], hours: int
) -> None:
    aged, at = Aged(), NOW - 1000 * HOUR
    every: list[Spend] = []
    for number, (later, slots, voided) in enumerate(spends, 1):
        at += later * HOUR
        void = {"voided_at": at, "void_seq": number} if voided else {}
        one = Spend(effect_ref="x", slots=slots, at=at, by="codex", seq=number, **void)
        every.append(one)
        aged = with_aged(aged, [one])
    start = NOW - hours * HOUR
    counted = sum(stretch.slots for stretch in since(aged, start))
    used = sum(one.net_slots for one in every if one.at > start)
    assert used <= counted <= aged.slots == sum(one.net_slots for one in every)
    # At most the one stretch that begins before the window counts too much.
    assert counted - used <= max((one.slots for one in aged.stretches), default=0)


def test_they_stay_few_and_the_newer_are_told_apart() -> None:
    aged = Aged()
    for number in range(1, 5000):
        at = NOW + number * HOUR
        aged = with_aged(aged, [Spend(effect_ref="x", slots=1, at=at, by="codex", seq=number)])
    assert len(aged.stretches) < 70
    assert sum(one.slots for one in aged.stretches) == aged.slots == 4999
    assert [one.slots for one in aged.stretches[-PER_SIZE:]] == [1] * PER_SIZE
    sizes = [one.slots for one in aged.stretches]
    assert sizes == sorted(sizes, reverse=True)
    for older, newer in zip(aged.stretches, aged.stretches[1:], strict=False):
        assert older.until < newer.until
    for back in range(1, 5000, 37):
        start = NOW + (4999 - back) * HOUR
        counted = sum(one.slots for one in since(aged, start))
        assert back <= counted <= 2 * back + PER_SIZE
