"""A report reads its period and no more, whatever is in the reader's cache; it changes nothing."""

from __future__ import annotations

import shutil
from dataclasses import replace
from datetime import timedelta

import pytest
from loopx_kernel.domain.todo import AddTodo
from loopx_kernel.errors import LoopxError
from loopx_kernel.store.checkpoint import cache_folder
from loopx_kernel.store.journal import Journal
from loopx_kernel.views.report import Period, Report
from loopx_kernel.workspace import snapshots

from tests.kernel.workspace.build import CLAIMED, CODEX, GOAL, OPENED, Place, ledger_tree
from tests.kernel.workspace.forge import append_raw, records

MINUTE = timedelta(minutes=1)


def whole(place: Place) -> Period:
    return Period(OPENED - MINUTE, place.clock.now)


def after(place: Place) -> None:
    """Time moves, so that what was just recorded is before the end of a period."""
    place.clock.advance(minutes=1)


def told(report: Report) -> Report:
    """The report without the moment it was made at."""
    return replace(report, envelope=None)  # type: ignore[arg-type]


def test_it_says_what_the_journal_says_and_changes_not_a_byte(place: Place) -> None:
    after(place)
    before = ledger_tree(place)
    found = place.again().report(GOAL, whole(place))

    assert ledger_tree(place) == before
    assert found.lines == len(place.lines())
    assert (found.first_seq, found.last_seq) == (1, len(place.lines()))
    assert [row.todo_id for row in found.ended.rows] == ["T1", "T2"]
    assert [row.of for row in found.evidence.rows] == ["T1", "T2"]
    assert (found.spending.booked, found.spending.voided, found.spending.net) == (2, 1, 1)
    assert {row.level for row in found.decisions.rows} == {"software"}
    assert all(row.signature_ok and row.effective for row in found.decisions.rows)
    assert found.envelope.projection == "report"


def test_every_period_is_told_alike_with_any_cache_and_with_none(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    after(place)
    edges = [OPENED + n * 20 * MINUTE for n in range(10)]
    periods = [Period(a, b) for a in edges for b in edges if a < b]
    fresh = {p: told(place.again().report(GOAL, p)) for p in periods}
    monkeypatch.setattr(snapshots, "EVERY", 4)
    shutil.rmtree(cache_folder(place.ws.workspace_id, GOAL))
    place.again().history.at(GOAL, 1)
    kept = place.again()
    assert {p: told(kept.report(GOAL, p)) for p in periods} == fresh


def test_only_the_period_is_folded(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshots, "EVERY", 4)
    shutil.rmtree(cache_folder(place.ws.workspace_id, GOAL), ignore_errors=True)
    after(place)
    ws = place.again()
    ws.report(GOAL, whole(place))
    read: list[int] = []
    batches = Journal.batches

    def noted(self: Journal, start: object, limit: int | None = None) -> object:
        read.append(limit or 0)
        return batches(self, start, limit)  # type: ignore[arg-type]

    monkeypatch.setattr(Journal, "batches", noted)
    last = len(place.lines())
    found = ws.report(GOAL, Period(CLAIMED, CLAIMED + MINUTE))

    assert found.lines == 1
    assert found.last_seq is not None and found.last_seq < last
    # The state before it and the line itself are each at most one kept state away.
    assert sum(read) <= 2 * 4 + found.lines


def test_a_period_without_lines_tells_what_stood_then(place: Place) -> None:
    later = place.clock.now + timedelta(days=3)
    place.clock.now = later + timedelta(days=3)
    found = place.again().report(GOAL, Period(later, later + MINUTE))

    assert (found.lines, found.first_seq, found.last_seq) == (0, None, None)
    assert found.counts_before == found.counts_after
    assert found.counts_after["total"] == 3
    assert [row.todo.id for row in found.still_open.todos] == ["T3"]


def test_what_was_open_then_is_told_and_not_what_is_open_now(place: Place) -> None:
    after(place)
    early = place.again().report(GOAL, Period(OPENED, OPENED + MINUTE))
    late = place.again().report(GOAL, whole(place))

    assert [row.todo.id for row in early.still_open.todos] == ["T1", "T2", "T3"]
    assert [row.todo.id for row in late.still_open.todos] == ["T3"]
    assert any("they have no past" in text for text in early.not_covered)
    assert not any("they have no past" in text for text in late.not_covered)


def test_a_period_before_the_goal_or_that_ends_before_it_begins_is_refused(place: Place) -> None:
    for period in (
        Period(OPENED - 2 * MINUTE, OPENED - MINUTE),
        Period(OPENED, OPENED),
        Period(OPENED + MINUTE, OPENED),
    ):
        with pytest.raises(LoopxError) as caught:
            place.again().report(GOAL, period)
        assert caught.value.code == "invalid_value"
        assert caught.value.next


def test_order_is_position_and_a_time_that_goes_back_is_named(place: Place) -> None:
    place.clock.now = CLAIMED - timedelta(hours=1)
    place.ws.todos.add(GOAL, CODEX, AddTodo(title="Late"))
    place.clock.now = CLAIMED + timedelta(hours=1)
    place.ws.todos.add(GOAL, CODEX, AddTodo(title="On time"))
    after(place)
    found = place.again().report(GOAL, Period(CLAIMED, place.clock.now))

    assert [row.title for row in found.added.rows] == ["Late", "On time"]
    clocks = [row.what for row in found.incidents.rows if row.kind == "clock"]
    assert len(clocks) == 2
    assert any("before that of the line before it" in what for what in clocks)
    assert any("bears a time outside" in what for what in clocks)


def test_lines_that_cannot_be_read_are_said_to_be_missing(place: Place) -> None:
    after(place)
    data = place.journal.read_bytes().split(b"\n")
    data[-2] = data[-2].replace(b'"turn failed validation"', b'"turn failed validatioN"')
    place.journal.write_bytes(b"\n".join(data))
    found = place.again().report(GOAL, whole(place))

    assert any("cannot be read" in text for text in found.not_covered)
    assert any("damaged" in text for text in found.alerts)
    assert not found.envelope.complete
    assert found.lines == len(place.lines()) - 1


def test_a_line_by_hand_is_counted_as_what_it_is(place: Place) -> None:
    copy = records(place.journal)[-1] | {"event_id": "e-by-hand"}
    append_raw(place.journal, copy)
    after(place)
    found = place.again().report(GOAL, whole(place))

    assert found.incidents.rows[-1].kind == "no_effect"
    assert any("integrity" in text for text in found.alerts)
