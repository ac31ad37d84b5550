"""A summary over all workspaces says how many of them it is a summary of."""

from __future__ import annotations

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st
from loopx_kernel.views.envelope import Omission, head_lines
from loopx_kernel.views.everywhere import OUTSIDE, UnreadWorkspace, global_view
from loopx_kernel.views.workspace import Unread, WorkspaceView, workspace_view

from tests.kernel.domain.build import NOW, dark_mode
from tests.kernel.views.told import view_of


def one(root: str, *unread: Unread, alerts: tuple[str, ...] = ()) -> WorkspaceView:
    return workspace_view(
        root=root,
        workspace_id="0" * 32,
        goals=[view_of(dark_mode().state)],
        unread=unread,
        owners=["huang"],
        agents=["claude-code"],
        alerts=alerts,
        now=NOW,
    )


def missing(path: str, reason: str = OUTSIDE) -> UnreadWorkspace:
    return UnreadWorkspace(path, reason, "not looked at", None)


def test_one_of_forty_eight_never_looks_like_everything() -> None:
    others = [missing(f"/srv/{number}") for number in range(47)]
    envelope = global_view([one("/srv/shop")], others, NOW).envelope

    assert (envelope.fresh, envelope.complete, envelope.alert) == (True, False, True)
    coverage = envelope.coverage
    assert (coverage.scope, coverage.included_count, coverage.expected_count) == ("global", 1, 48)
    assert coverage.omitted == (Omission("outside_current_registry", 47),)
    assert head_lines(envelope) == (
        "projection: observed_at=2026-09-16T22:50:00Z coverage=1/48 scope=global",
        "alerts: incomplete_coverage omitted=outside_current_registry=47",
    )


@given(st.lists(st.sampled_from(["unreachable", "not_permitted", "quarantined"]), max_size=8))
def test_every_workspace_is_included_or_omitted_with_a_reason(reasons: list[str]) -> None:
    unread = [missing(f"/srv/{number}", reason) for number, reason in enumerate(reasons)]
    coverage = global_view([one("/a/shop"), one("/b/shop")], unread, NOW).envelope.coverage

    assert coverage.expected_count == 2 + len(reasons)
    assert coverage.included_count + sum(o.count for o in coverage.omitted) == 2 + len(reasons)
    assert coverage.complete is (not reasons)


def test_a_workspace_with_a_goal_that_could_not_be_read_is_shown_and_not_counted() -> None:
    part = one("/srv/shop", Unread("docs", "unreachable", "torn", None))
    view = global_view([part], (), NOW)

    assert view.workspaces == (part,)
    coverage = view.envelope.coverage
    assert (coverage.included_count, coverage.expected_count) == (0, 1)
    assert coverage.omitted == (Omission("unreachable", 1),)


def test_rows_and_alerts_say_whose_they_are() -> None:
    view = global_view([one("/a/shop", alerts=("#7 torn",)), one("/b/docs")], (), NOW)

    assert {row.id for row in view.envelope.sources} == {
        *("shop/ledger", "shop/dark-mode/ledger", "docs/ledger", "docs/dark-mode/ledger"),
    }
    (reason,) = view.envelope.alert_reasons
    assert (reason.code, reason.ids) == ("integrity", ("shop: #7 torn",))


def test_two_folders_of_one_name_are_told_apart_by_their_paths() -> None:
    view = global_view([one("/a/shop"), one("/b/shop")], (), NOW)

    assert [row.id for row in view.envelope.sources] == [
        *("/a/shop/ledger", "/a/shop/dark-mode/ledger"),
        *("/b/shop/ledger", "/b/shop/dark-mode/ledger"),
    ]


def test_it_is_never_fresher_than_its_oldest_part() -> None:
    old = one("/a/shop")
    late = global_view([old], (), NOW + timedelta(days=2))

    assert late.envelope.observed_at == NOW
    assert late.envelope.served_at == NOW + timedelta(days=2)
