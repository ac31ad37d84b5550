"""Governance in any order: everybody does what they may and what they may not, and everything that
must hold is read from the bytes after each step."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from random import Random

import pytest
from loopx_kernel.domain import fold
from loopx_kernel.domain.goal import ChangeGoalStatus
from loopx_kernel.errors import LoopxError

from tests.faults.crowd import RULES, Crowd, add, end_everything, forge
from tests.faults.crowd_more import ACTS, WEIGHTED, decide_more, lose_a_file
from tests.faults.governed import assert_governed, effective, happened
from tests.kernel.workspace.build import CLAUDE, CODEX, GOAL, OWNER, connected, open_goal

STEPS = 240


def time_goes_on(crowd: Crowd) -> None:
    crowd.place.clock.advance(minutes=crowd.dice.choice([1, 10, 20, 700]))


def files_change(crowd: Crowd) -> None:
    """What acceptance and the probe look at comes and goes."""
    file = crowd.place.root / "mall-frontend" / crowd.dice.choice(["passed", "passed", "green"])
    if file.exists():
        file.unlink()
    else:
        file.touch()


def act(crowd: Crowd) -> None:
    """An agent does something, or tries to."""
    agent = crowd.dice.choice([CLAUDE, CODEX])
    ACTS[crowd.dice.choice(WEIGHTED)](crowd, crowd.programs[agent], agent)


def decide(crowd: Crowd) -> None:
    """A person decides, sometimes after somebody else was quicker."""
    ws = crowd.programs[OWNER]
    unsigned = decide_more(crowd, ws)
    if crowd.dice.random() < 0.2:
        add(crowd, crowd.programs[CODEX], CODEX)
    ws.append(unsigned, crowd.place.keys[OWNER])


def keep_busy(crowd: Crowd) -> None:
    """A goal that is paused goes on again, and there is some work left."""
    if crowd.state.status == "paused" and crowd.dice.random() < 0.5:
        back = ChangeGoalStatus(to="resumed", reason="x")
        owner = crowd.programs[OWNER]
        owner.append(owner.goals.change_status(GOAL, OWNER, back), crowd.place.keys[OWNER])
    if sum(not todo.finished for todo in crowd.state.todos.values()) < 3:
        add(crowd, crowd.programs[CODEX], CODEX)


HAPPENS = {
    **{act: 62, decide: 24, time_goes_on: 8, files_change: 6},
    **{forge: 4, end_everything: 2, lose_a_file: 2},
}


def assert_all_agree(crowd: Crowd) -> None:
    """Every program reads the same, and all that must hold does."""
    states = [ws.state(GOAL) for ws in crowd.programs.values()]
    assert states[0] == states[1] == states[2]
    view = crowd.programs[OWNER].view(GOAL)
    assert_governed(crowd.place.journal, view, states[0])


def assert_replays(crowd: Crowd, folder: Path, patch: pytest.MonkeyPatch) -> None:
    """A reader without any cache, from line 1, comes to the same."""
    with patch.context() as inner:
        inner.setenv("LOOPX_CACHE_DIR", str(folder))
        fresh = crowd.place.again()
        assert fresh.state(GOAL) == crowd.state
        assert fresh.events.verify(GOAL).ok is (crowd.state.alert_count == 0)


def gathered(folder: Path, seed: int) -> Crowd:
    place = connected(folder)
    open_goal(place, **RULES)
    names = (CLAUDE, CODEX, OWNER)
    return Crowd(place, Random(seed), {name: place.again() for name in names})


def step(crowd: Crowd, *, forging: bool) -> None:
    """Something happens, or is refused with a code of its own and nothing changed."""
    keep_busy(crowd)
    before = crowd.state
    weights = [weight if kind is not forge or forging else 0 for kind, weight in HAPPENS.items()]
    (happens,) = crowd.dice.choices(list(HAPPENS), weights)
    try:
        happens(crowd)
    except LoopxError as error:
        assert error.code not in ("invalid_event", "file_damaged", "journal_damaged"), error
        assert crowd.state.alert_count == before.alert_count


@pytest.mark.parametrize("seed", range(4))
def test_what_must_hold_holds_whatever_is_tried(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    crowd = gathered(tmp_path, seed)
    for number in range(STEPS):
        step(crowd, forging=seed == 3)
        assert_all_agree(crowd)
        if number % 40 == 39:
            assert_replays(crowd, tmp_path / f"cache-{number}", monkeypatch)
    assert crowd.state.next_turn > 5


ELSEWHERE = {
    *("goal.opened", "goal.retired", "damage.repaired", "drift.adopted", "drift.restored"),
    "todo.retitled",
}
"""What has machines of its own, or happens once in the life of a goal."""


def test_every_kind_of_line_and_part_happens_in_it(tmp_path: Path) -> None:
    names = dict.fromkeys(name for names in fold._MODULES.values() for name in names)
    rows = [row for name in names for row in import_module(f"loopx_kernel.domain.{name}").EVENTS]
    expected = {row.name for row in rows} - ELSEWHERE
    crowd = gathered(tmp_path, 9)
    missing = expected
    for number in range(10 * STEPS):
        step(crowd, forging=False)
        if number % 60 == 59:
            assert_all_agree(crowd)
            parts = happened(effective(crowd.place.journal, crowd.state))
            missing = expected - {one["type"] for _, one in parts}
            if not missing:
                return
    assert missing == set()
