"""Times that go back, times from the far future, and clocks that are behind."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loopx_kernel.domain.gate import DecideGate, RequestGate, UseGate
from loopx_kernel.domain.needs_you import Reads
from loopx_kernel.domain.permission import Action, permission
from loopx_kernel.domain.times import Times, behind, latest_since, with_time
from loopx_kernel.errors import Conflict, Denied
from loopx_kernel.views.goal import goal_view

from tests.kernel.domain.build import CLAUDE, CODEX, NOW, OWNER, Book, add, opened, reading, refused

MINUTE = timedelta(minutes=1)
FAR = datetime(8999, 1, 1, tzinfo=UTC)
PUSH = Action(action="publish", command="npm publish")


@given(st.lists(st.integers(0, 30), max_size=60))
def test_the_latest_time_since_any_line_is_known_and_never_too_early(minutes: list[int]) -> None:
    times: Times = ()
    for seq, minute in enumerate(minutes, start=1):
        times = with_time(times, seq, NOW + minute * MINUTE)
    assert len(times) <= 16
    for seq in range(len(minutes) + 1):
        latest = latest_since(times, seq)
        after = [NOW + minute * MINUTE for minute in minutes[seq:]]
        assert (latest is None) is (not after)
        if latest is not None:
            assert latest.at >= max(after)
            if len(times) < 16:
                assert latest.at == max(after)


def test_a_flood_of_far_times_spoils_nothing_that_comes_later() -> None:
    times: Times = ()
    for seq in range(1, 41):
        times = with_time(times, seq, FAR - seq * MINUTE)
    times = with_time(times, 41, NOW)
    assert len(times) == 16
    latest = latest_since(times, 40)
    assert latest is not None
    assert (latest.seq, latest.at) == (41, NOW)


def approved(book: Book, at: datetime, gate_id: str) -> None:
    book.do(RequestGate(action=PUSH), at=at)
    expires = at + 30 * MINUTE
    book.do(DecideGate(gate_id=gate_id, outcome="approved", expires_at=expires), OWNER, at)


def test_what_ran_out_stays_so_whatever_time_a_later_line_claims() -> None:
    book = opened()
    approved(book, NOW, "G1")
    book.do(add("Later"), at=NOW + 40 * MINUTE)
    use = {"gate_id": "G1", "digest": PUSH.digest}
    book.write("gate.used", use, CODEX, NOW + MINUTE)
    assert book.state.alerts[-1].code == "gate_required"
    assert f"#{book.state.seq - 1}" in book.state.alerts[-1].message
    assert book.state.gates["G1"].status == "approved"
    assert not permission(book.state, PUSH, NOW + MINUTE).allowed


def test_a_time_from_the_far_future_costs_one_approval_and_says_so() -> None:
    book = opened()
    approved(book, NOW, "G1")
    book.write("todo.added", {"todo_id": "T1", "title": "Forged"}, CODEX, FAR)
    assert not book.state.alert_count
    far = book.state.seq
    answer = permission(book.state, PUSH, NOW + MINUTE)
    assert not answer.allowed
    assert f"#{far}" in answer.reason and "8999-01-01" in answer.reason
    view = goal_view(book.state, Reads(), reading(NOW + MINUTE))
    assert [row.status for row in view.gates] == ["expired"]
    refused(book, UseGate(action=PUSH), Denied, "gate_required", at=NOW + MINUTE)
    # It can be asked again, decided again, and used then.
    approved(book, NOW + 2 * MINUTE, "G2")
    refused(book, RequestGate(action=PUSH), Conflict, "exists", at=NOW + 3 * MINUTE)
    assert permission(book.state, PUSH, NOW + 3 * MINUTE).allowed
    book.do(UseGate(action=PUSH), at=NOW + 3 * MINUTE)
    assert book.state.gates["G2"].status == "used"
    assert book.replay() == book.state


def test_an_approval_after_a_far_time_still_runs_out() -> None:
    book = opened()
    book.write("todo.added", {"todo_id": "T1", "title": "Forged"}, CODEX, FAR)
    approved(book, NOW, "G1")
    book.do(add("Later"), at=NOW + 40 * MINUTE)
    use = {"gate_id": "G1", "digest": PUSH.digest}
    book.write("gate.used", use, CODEX, NOW + MINUTE)
    assert book.state.alerts[-1].code == "gate_required"


@pytest.mark.parametrize(
    ("ahead", "late"),
    [
        (timedelta(0), None),
        (-90 * MINUTE, None),
        (5 * MINUTE, None),
        (5 * MINUTE + timedelta(seconds=1), 5 * MINUTE + timedelta(seconds=1)),
        (timedelta(days=30), timedelta(days=30)),
    ],
)
def test_a_clock_more_than_five_minutes_behind_the_last_line(
    ahead: timedelta, late: timedelta | None
) -> None:
    assert behind(NOW, NOW + ahead) == late
    assert behind(NOW, None) is None
    book = opened()
    book.do(add("Work"), at=NOW + ahead)
    view = goal_view(book.state, Reads(), reading(NOW))
    assert [warned.id for warned in view.warnings] == (["clock"] if late else [])
    alerts = {reason.code: reason.ids for reason in view.envelope.alert_reasons}
    assert alerts.get("integrity", ()) == (("clock",) if late else ())
    if late:
        assert f"line #{book.state.seq} of dark-mode" in view.warnings[0].sentence


def test_a_lease_that_ran_out_is_not_made_live_by_a_time_that_goes_back() -> None:
    book = opened()
    book.do(add("Theme", "src/**"))
    book.do(add("Also theme", "src/theme/**"))
    lease = {"todo_id": "T1", "lease_epoch": 1, "version": 1, "write_scopes": ["src/**"]}
    book.write("todo.claimed", lease | {"expires_at": NOW + 15 * MINUTE}, CLAUDE, NOW)
    other = {"todo_id": "T2", "lease_epoch": 1, "version": 1, "write_scopes": ["src/theme/**"]}
    later = NOW + 20 * MINUTE
    book.write("todo.claimed", other | {"expires_at": later + 15 * MINUTE}, CODEX, later)
    assert not book.state.alerts
    note = {"todo_id": "T1", "lease_epoch": 1, "version": 2, "note": "back from the dead"}
    book.write("todo.updated", note, CLAUDE, NOW + MINUTE)
    assert [alert.code for alert in book.state.alerts] == ["scope_overlap"]
