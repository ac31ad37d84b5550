"""Layer 8: every state a crash may legally leave on the disk is before or after, never between."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.commands import (
    COMMANDS,
    PLAIN,
    Command,
    assert_level,
    committed,
    kept,
    recorded,
)
from tests.faults.crash_states import Recorder, Tree
from tests.kernel.workspace.build import Place, with_files

BY_COMMAND = pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)


def states_of(place: Place, command: Command) -> tuple[dict[str, Tree], set[str]]:
    """What crashes may leave, by content; and which of these were possible after the return."""
    recorder = Recorder(place.root)
    command.act(with_files(place.root, recorder, place.clock), place)
    found = {key(tree): tree for moment in recorder.moments for tree in moment.trees}
    return found, {key(tree) for tree in recorder.moments[-1].trees}


def key(tree: Tree) -> str:
    """The same for the same content under the same names."""
    return repr(sorted((str(path), hash(data)) for path, data in tree.items()))


def laid_out(tree: Tree, place: Place) -> None:
    """Makes the ledger's files be these, and no others; folders stay."""
    for path in place.root.rglob("*"):
        if path.is_file():
            path.unlink()
    for path, data in tree.items():
        path.write_bytes(data)


@BY_COMMAND
def test_every_state_a_crash_may_leave_is_before_or_after(
    place: Place, tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    command.ready(place)
    precious, before = command.precious(place), committed(place)
    states, returned = states_of(place, command)
    assert len(states) > 4
    for number, (name, tree) in enumerate(states.items()):
        # A reader who saw none of it: what stands on the disk must do.
        monkeypatch.setenv("LOOPX_CACHE_DIR", str(tmp_path / f"cache{number}"))
        laid_out(tree, place)
        assert kept(place, precious)
        happened = recorded(place)
        assert happened or name not in returned
        if not happened:
            now = {goal: lines for goal, lines in committed(place).items() if lines}
            assert now == before
        if command in PLAIN:
            for goal_id in place.again().goal_ids:
                reads = place.again().view(goal_id).reads
                assert not (reads.damage or reads.drift)
        command.act(place.again(), place)
        assert recorded(place)
        assert kept(place, precious)
        assert_level(place)
