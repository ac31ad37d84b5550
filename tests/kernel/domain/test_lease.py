"""Leases: three layers against three kinds of trouble, and clocks that lie."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loopx_kernel.clock import Reading
from loopx_kernel.domain.aside import SetAside
from loopx_kernel.domain.event import Actor, LiveLease
from loopx_kernel.domain.goal import ChangeGoalStatus
from loopx_kernel.domain.handin import UpdateTodo
from loopx_kernel.domain.lease import ReleaseLease, RenewLease
from loopx_kernel.domain.rules import LeaseRule, QuotaRule
from loopx_kernel.domain.state import is_live
from loopx_kernel.errors import Conflict, Denied, Fenced, LoopxError, UsageError

from tests.kernel.domain.build import (
    CLAIMED,
    CLAUDE,
    CODEX,
    NOW,
    OWNER,
    add,
    claim,
    complete,
    dark_mode,
    evidence,
    opened,
    reading,
    refused,
    spend,
)

MINUTE = timedelta(minutes=1)
EXPIRES = CLAIMED + 15 * MINUTE
AFTER = EXPIRES + 2 * MINUTE


def test_the_fixture_holds_what_the_scenarios_say() -> None:
    lease = dark_mode().todo("T3").lease
    assert lease is not None
    assert (lease.owner, lease.version, lease.lease_epoch) == (CLAUDE.id, 5, 2)
    assert (lease.acquired_at, lease.expires_at) == (CLAIMED, EXPIRES)
    assert lease.write_scopes == ("src/theme/**",)


def test_a_renewal_counts_up_the_version_only() -> None:
    book = dark_mode()
    book.do(RenewLease(todo_id="T3", version=5, epoch=2), at=NOW)
    lease = book.todo("T3").lease
    assert lease is not None
    assert (lease.version, lease.lease_epoch, lease.acquired_at) == (6, 2, CLAIMED)
    assert lease.expires_at == NOW + 15 * MINUTE > EXPIRES
    assert book.todo("T3").version == 6


def test_of_two_claims_that_read_version_4_one_wins() -> None:
    book = dark_mode()
    book.do(ReleaseLease(todo_id="T3", version=5, epoch=2))
    book.do(claim("T3", expect_version=6), CODEX)
    assert book.todo("T3").version == 7
    refused(book, claim("T3", expect_version=6), Conflict, "version_mismatch")
    refused(book, claim("T3"), Conflict, "lease_held")


def test_a_stale_holder_is_fenced_off_even_with_the_right_version() -> None:
    book = dark_mode()
    book.do(claim("T3"), CODEX, AFTER)
    assert book.todo("T3").lease_epoch == 3
    version = book.todo("T3").version
    for command in (
        RenewLease(todo_id="T3", version=version, epoch=2),
        ReleaseLease(todo_id="T3", version=version, epoch=2),
        UpdateTodo(todo_id="T3", version=version, epoch=2),
        complete("T3", version=version, epoch=2),
    ):
        refused(book, command, Fenced, "stale_epoch", at=AFTER)
    refused(book, UpdateTodo(todo_id="T3", note="late"), Fenced, "not_holder", at=AFTER)
    refused(
        book, RenewLease(todo_id="T3", version=version, epoch=3), Fenced, "not_holder", at=AFTER
    )


def test_a_late_holder_goes_on_while_nobody_took_over() -> None:
    late = EXPIRES + timedelta(hours=2)
    for command in (
        RenewLease(todo_id="T3", version=5, epoch=2),
        UpdateTodo(todo_id="T3", note="late"),
        complete("T3", evidence("out.txt")),
    ):
        book = dark_mode()
        book.do(command, at=late)
        assert (book.todo("T3").version, book.todo("T3").lease_epoch) == (6, 2)


def test_a_late_holder_whose_files_are_taken_is_refused() -> None:
    book = dark_mode()
    book.do(add("Tidy the theme", "src/theme/tidy/**"), at=AFTER)
    book.do(claim("T4"), CODEX, AFTER)
    for command in (
        RenewLease(todo_id="T3", version=5, epoch=2),
        UpdateTodo(todo_id="T3", note="late"),
        complete("T3"),
    ):
        refused(book, command, Conflict, "scope_overlap", at=AFTER)


def test_a_late_holder_meets_leases_of_other_goals_too() -> None:
    other = LiveLease("docs", "T9", CODEX.id, "/srv/mall-frontend", ("src/**",), NOW, NOW)
    late = UpdateTodo(todo_id="T3", note="late")
    for command in (RenewLease(todo_id="T3", version=5, epoch=2), late):
        refused(dark_mode(), command, Conflict, "scope_overlap", at=AFTER, neighbours=(other,))
    in_time = dark_mode()
    in_time.do(late, at=NOW, neighbours=(other,))
    assert in_time.todo("T3").version == 6


def test_a_claim_meets_live_leases_of_this_and_other_goals() -> None:
    book = dark_mode()
    book.do(add("Tidy the theme", "src/theme/tidy/**"))
    refused(book, claim("T4"), Conflict, "scope_overlap", actor=CODEX)
    book.do(add("Write docs", "docs/guide.md"))
    elsewhere = LiveLease("docs", "T1", "gemini", "/srv/mall-frontend/docs", ("**",), NOW, NOW)
    refused(book, claim("T5"), Conflict, "scope_overlap", actor=CODEX, neighbours=(elsewhere,))
    apart = LiveLease("docs", "T1", "gemini", "/srv/other", ("**",), NOW, NOW)
    book.do(claim("T5"), CODEX, neighbours=(apart,))
    assert book.todo("T5").status == "claimed"


def test_a_released_or_finished_todo_has_no_holder() -> None:
    book = dark_mode()
    book.do(ReleaseLease(todo_id="T3", version=5, epoch=2))
    assert book.todo("T3").status == "open"
    assert book.todo("T3").lease.status == "released"  # type: ignore[union-attr]
    refused(book, RenewLease(todo_id="T3", version=6, epoch=2), Conflict, "lease_required")
    refused(book, complete("T3"), Conflict, "lease_required")
    assert book.todo("T1").lease.status == "ended"  # type: ignore[union-attr]


@pytest.mark.parametrize("seconds", [0, -1, 86401])
def test_lengths_out_of_bounds(seconds: int) -> None:
    book = opened()
    book.do(add("A"))
    refused(book, claim("T1", ttl_seconds=seconds), UsageError, "invalid_value")
    book.do(claim("T1"))
    renew = RenewLease(todo_id="T1", version=1, epoch=1, ttl_seconds=seconds)
    refused(book, renew, UsageError, "invalid_value")


def test_the_rules_say_how_long_a_lease_lasts() -> None:
    book = opened(lease=LeaseRule(ttl_seconds=60))
    book.do(add("A"))
    book.do(claim("T1"))
    assert book.todo("T1").lease.expires_at == NOW + MINUTE  # type: ignore[union-attr]


def test_what_cannot_be_claimed() -> None:
    book = opened()
    book.do(add("Open"))
    book.do(add("After it", depends_on=("T1",)))
    book.do(add("For a person", role="human"))
    book.do(add("Later", resume_at=NOW + MINUTE))
    refused(book, claim("T9"), UsageError, "unknown_todo")
    for todo_id in ("T2", "T3", "T4"):
        refused(book, claim(todo_id), UsageError, "illegal_transition")
    book.do(SetAside(todo_id="T1", status="blocked", reason="no design"))
    refused(book, claim("T1"), UsageError, "illegal_transition")
    book.do(claim("T4"), at=NOW + MINUTE)
    book.do(complete("T4"), at=NOW + MINUTE)
    refused(book, claim("T4"), UsageError, "illegal_transition")


def test_nothing_is_claimed_while_the_goal_is_paused() -> None:
    book = opened()
    book.do(add("A"))
    book.do(ChangeGoalStatus(to="paused", reason="holiday"), OWNER)
    refused(book, claim("T1"), Denied, "goal_paused")
    book.do(ChangeGoalStatus(to="resumed", reason="back"), OWNER)
    book.do(claim("T1"))
    book.do(ChangeGoalStatus(to="paused", reason="again"), OWNER)
    book.do(RenewLease(todo_id="T1", version=1, epoch=1))
    book.do(complete("T1"))
    assert book.todo("T1").status == "done"


def test_nothing_is_claimed_without_a_slot() -> None:
    book = opened(quota=QuotaRule(compute="0.1", window_hours=1, slot_minutes=6))
    book.do(add("A"))
    spend(book, "turn-0001")
    refused(book, claim("T1"), Denied, "quota_exhausted")
    book.do(claim("T1"), at=NOW + timedelta(hours=1))


class TestExpiry:
    """Whether the holder of T3 still holds, by whose clock."""

    lease = dark_mode().todo("T3").lease

    def test_the_boot_clock_decides_on_the_same_boot(self) -> None:
        assert self.lease is not None
        deadline = reading(EXPIRES).boot_seconds
        assert deadline is not None
        year = timedelta(days=365)
        for wall in (CLAIMED - year, CLAIMED, CLAIMED + year):
            assert is_live(self.lease, Reading(wall, "host-1", "boot-1", deadline - 0.001))
            assert not is_live(self.lease, Reading(wall, "host-1", "boot-1", deadline))

    def test_after_a_reboot_the_holder_is_gone(self) -> None:
        assert not is_live(self.lease, Reading(NOW, "host-1", "boot-2", 5.0))

    @pytest.mark.parametrize("host", ["host-2", ""])
    def test_elsewhere_the_wall_clock_decides_with_a_minute_of_grace(self, host: str) -> None:
        grace = EXPIRES + timedelta(seconds=60)
        assert is_live(self.lease, Reading(grace - timedelta(milliseconds=1), host, "boot-9", 1.0))
        assert not is_live(self.lease, Reading(grace, host, "boot-9", 1.0))

    def test_without_a_boot_clock_the_wall_clock_decides(self) -> None:
        assert is_live(self.lease, Reading(EXPIRES - MINUTE, "host-1", "boot-1"))
        assert not is_live(self.lease, Reading(EXPIRES, "host-1", "boot-1"))

    def test_nobody_holds_what_nobody_claimed(self) -> None:
        assert not is_live(None, reading(NOW))


def test_a_claim_believes_the_boot_clock_of_its_host() -> None:
    after_reboot = Reading(NOW, "host-1", "boot-2", 5.0)
    elsewhere = Reading(EXPIRES + timedelta(seconds=59), "host-2", "boot-7", 5.0)
    refused(dark_mode(), claim("T3"), Conflict, "lease_held", actor=CODEX, clock=elsewhere)
    book = dark_mode()
    book.do(claim("T3"), CODEX, clock=after_reboot)
    assert book.todo("T3").lease_epoch == 3


@given(st.lists(st.sampled_from(["claim", "renew", "update", "release"]), max_size=12))
def test_versions_count_writes_and_epochs_count_owners(steps: list[str]) -> None:
    book = opened()
    book.do(add("A"))
    actors = (CLAUDE, CODEX)
    claims = 0
    for number, step in enumerate(steps):
        before = book.todo("T1")
        owner = before.lease.owner if before.lease else CLAUDE.id
        holder = Actor(kind="agent", id=owner)
        command = {
            "claim": claim("T1"),
            "renew": RenewLease(todo_id="T1", version=before.version, epoch=before.lease_epoch),
            "update": UpdateTodo(todo_id="T1"),
            "release": ReleaseLease(todo_id="T1", version=before.version, epoch=before.lease_epoch),
        }[step]
        actor = actors[number % 2] if step == "claim" else holder
        try:
            book.do(command, actor)
        except LoopxError:
            assert book.todo("T1") == before
            continue
        claims += step == "claim"
        assert book.todo("T1").version == before.version + 1
        assert book.todo("T1").lease_epoch == claims
    assert book.replay() == book.state
