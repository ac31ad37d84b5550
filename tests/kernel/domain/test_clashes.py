"""Live leases of different goals over the same files: found, named, and the later one stopped."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loopx_kernel.domain.clashes import clashes
from loopx_kernel.domain.contract import should_run
from loopx_kernel.domain.event import Abroad, LiveLease
from loopx_kernel.domain.needs_you import Reads
from loopx_kernel.domain.scope import overlap
from loopx_kernel.views.goal import goal_view

from tests.kernel.domain.build import CLAIMED, CLAUDE, CODEX, NOW, add, dark_mode, reading

MINUTE = timedelta(minutes=1)
REPO = "/srv/mall-frontend"


def lease(goal: str, todo: str, *scopes: str, after: int = 0, repo: str = REPO) -> LiveLease:
    at = CLAIMED + after * MINUTE
    return LiveLease(goal, todo, f"holder-of-{todo}", repo, scopes, at, at + 15 * MINUTE)


OWN = lease("dark-mode", "T3", "src/theme/**")


@pytest.mark.parametrize(
    ("other", "found"),
    [
        (lease("shop", "T1", "src/**", after=1), "dark-mode/T3+shop/T1"),
        (lease("shop", "T1", "src/**", after=-1), "shop/T1+dark-mode/T3"),
        (lease("shop", "T1", "src/theme/a.css", after=1), "dark-mode/T3+shop/T1"),
        (lease("shop", "T1", "SRC/Theme/", after=1), "dark-mode/T3+shop/T1"),
        (lease("shop", "T1", "theme/**", after=1, repo=f"{REPO}/src"), "dark-mode/T3+shop/T1"),
        (lease("shop", "T1", "src/theme/**", repo=REPO), "dark-mode/T3+shop/T1"),
        (lease("arena", "T1", "src/theme/**", repo=REPO), "arena/T1+dark-mode/T3"),
        (lease("dark-mode", "T9", "src/theme/**", after=2), "dark-mode/T3+dark-mode/T9"),
        (lease("shop", "T1", "docs/**"), None),
        (lease("shop", "T1", "src/themes/**"), None),
        (lease("shop", "T1", "src/theme/**", repo="/srv/other"), None),
        (lease("shop", "T1"), None),
    ],
)
def test_both_leases_are_named_the_earlier_one_first(other: LiveLease, found: str | None) -> None:
    seen = clashes([OWN], [other])
    assert [clash.id for clash in seen] == ([found] if found else [])
    # Whoever looks, from whichever goal, sees the same.
    assert seen == clashes([other], [OWN])
    assert seen == clashes([OWN, other], [])
    for clash in seen:
        for word in (OWN.place, OWN.owner, other.place, other.owner):
            assert word in clash.sentence


@pytest.mark.parametrize(
    ("earlier", "later", "after", "found"),
    [
        (("host-2", "b"), ("host-2", "b"), 14, True),
        (("host-2", "b"), ("host-2", "b"), 15, False),
        (("host-2", "b"), ("host-2", "c"), 1, False),
        (("host-2", "b"), ("host-3", "b"), 15, True),
        (None, None, 15, True),
        (None, ("host-2", "b"), 15, True),
    ],
)
def test_another_machine_is_believed_about_its_own_leases_alone(
    earlier: tuple[str, str] | None, later: tuple[str, str] | None, after: int, found: bool
) -> None:
    """What was taken on this machine is judged by its clocks before, so a time or a boot that a
    line claims hides nothing here."""
    taken = lease("shop", "T1", "src/**", after=1)
    at = CLAIMED + after * MINUTE
    one = replace(OWN, abroad=Abroad(*earlier, CLAIMED) if earlier else None)
    two = replace(taken, abroad=Abroad(*later, at) if later else None)
    assert bool(clashes([one], [two])) is found
    assert bool(clashes([two], [one])) is found


scopes = st.lists(st.sampled_from(["a/**", "a/b", "b/", "b/c.css", "**"]), max_size=2)
leases = st.builds(
    lambda goal, todo, paths, after: lease(goal, todo, *paths, after=after),
    st.sampled_from(["one", "two"]),
    st.sampled_from(["T1", "T2", "T3"]),
    scopes,
    st.integers(-2, 2),
)


@given(st.lists(leases, max_size=5, unique_by=lambda one: one.place))
def test_every_overlap_is_found_once_and_all_agree_which_is_later(found: list[LiveLease]) -> None:
    seen = clashes(found, [])
    wanted = {
        frozenset((one.place, two.place))
        for one, two in permutations(found, 2)
        if overlap(one.repo, one.write_scopes, two.repo, two.write_scopes)
    }
    assert {frozenset((c.earlier.place, c.later.place)) for c in seen} == wanted
    assert len(seen) == len(wanted)
    assert {c.id for c in clashes(found[::-1], [])} == {c.id for c in seen}


@pytest.mark.parametrize(("after", "answer", "code"), [(-1, "wait", "lease_held"), (1, "run", "")])
def test_only_the_earlier_holder_is_told_to_go_on(after: int, answer: str, code: str) -> None:
    book = dark_mode()
    found = clashes([OWN], [lease("shop", "T1", "src/**", after=after)])
    told = should_run(
        book.state, Reads(clashes=found), reading(NOW), CLAUDE.id, agents=[CLAUDE.id, CODEX.id]
    )
    assert told.answer == answer
    assert [reason.code for reason in told.reasons] == [code or "continue_own"]
    if code:
        assert "shop/T1" in told.reasons[0].message
        assert told.scheduler_hint.next_wake_at == found[0].earlier.expires_at


def test_other_work_goes_on_beside_it() -> None:
    book = dark_mode()
    book.do(add("Docs", "docs/**"))
    found = clashes([OWN], [lease("shop", "T1", "src/**", after=-1)])
    told = should_run(book.state, Reads(clashes=found), reading(NOW), CODEX.id, agents=[CODEX.id])
    assert (told.answer, told.todo and told.todo.id) == ("run", "T4")


def test_the_projection_of_either_goal_raises_the_alert() -> None:
    found = clashes([OWN], [lease("shop", "T1", "src/**", after=1)])
    view = goal_view(dark_mode().state, Reads(clashes=found), reading(NOW))
    assert [warned.id for warned in view.warnings] == ["dark-mode/T3+shop/T1"]
    assert "shop" in view.warnings[0].next
    assert ("integrity", ("dark-mode/T3+shop/T1",)) in [
        (reason.code, reason.ids) for reason in view.envelope.alert_reasons
    ]
    assert not view.envelope.complete
    quiet = goal_view(dark_mode().state, Reads(), reading(NOW))
    assert not quiet.warnings
    assert "integrity" not in [reason.code for reason in quiet.envelope.alert_reasons]
