"""The reader's cache: whatever happens to it costs time and changes nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from loopx_kernel.domain.todo import AddTodo
from loopx_kernel.store.checkpoint import cache_folder, load, save
from loopx_kernel.workspace import resume

from tests.kernel.workspace.build import CODEX, GOAL, Place, tree


def checkpoint(place: Place) -> Path:
    """The goal's checkpoint, made by looking at a decision; a line follows it."""
    place.decide(place.ask())
    place.again().view(GOAL)
    place.ws.handoff.write(GOAL, CODEX, "Next: buttons")
    path = cache_folder(place.ws.workspace_id, GOAL) / resume.FILE
    assert path.exists()
    return path


def edit(path: Path, change: Callable[[dict[str, Any]], None]) -> None:
    value = json.loads(path.read_text())
    change(value)
    path.write_text(json.dumps(value))


def other_state(value: dict[str, Any]) -> None:
    value["state"] = value["state"].replace('"status":"done"', '"status":"open"')


def other_head(value: dict[str, Any]) -> None:
    value["head"] = "0" * 64


HARMS: dict[str, Callable[[Path], object]] = {
    "deleted": lambda path: path.unlink(),
    "empty": lambda path: path.write_bytes(b""),
    "nul": lambda path: path.write_bytes(bytes(5000)),
    "cut": lambda path: path.write_bytes(path.read_bytes()[:-200]),
    "not a record": lambda path: path.write_text("[" * 100_000),
    "edited state": lambda path: edit(path, other_state),
    "edited head": lambda path: edit(path, other_head),
    "other code": lambda path: edit(path, lambda value: value.update(fingerprint="older")),
    "a folder": lambda path: path.rename(path.with_name("old")).parent.joinpath(path.name).mkdir(),
}


@pytest.mark.parametrize("name", HARMS)
def test_a_harmed_checkpoint_gives_the_same_state(place: Place, name: str) -> None:
    path = checkpoint(place)
    expected = place.ws.state(GOAL)
    HARMS[name](path)
    fresh = place.again()
    assert fresh.state(GOAL) == expected
    assert not fresh.view(GOAL).reads.damage


def test_a_checkpoint_with_a_made_up_head_is_found_out(place: Place) -> None:
    path = checkpoint(place)
    expected = place.ws.state(GOAL)
    found = load(path, resume.fingerprint(), files=place.ws._core.files)
    assert found is not None
    state = json.loads(found.state) | {"head": "0" * 64, "status": "retired"}
    forged = replace(found, head="0" * 64, state=json.dumps(state))
    assert save(path, forged, files=place.ws._core.files)
    fresh = place.again()
    assert fresh.state(GOAL) == expected
    # The journal is right, but it is not the one this head was seen in.
    assert fresh.view(GOAL).reads.damage


def test_going_on_from_a_checkpoint_and_from_line_one_is_the_same(
    place: Place, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    checkpoint(place)
    warm = place.again()
    warm_state = warm.state(GOAL)
    monkeypatch.setenv("LOOPX_CACHE_DIR", str(tmp_path / "other cache"))
    cold = place.again()
    assert cold.state(GOAL) == warm_state
    assert warm.events.verify(GOAL) == cold.events.verify(GOAL)


def test_a_reader_s_cache_is_its_own_and_not_in_the_ledger(place: Place) -> None:
    path = checkpoint(place)
    before = tree(place.root)
    place.again().view(GOAL)
    assert tree(place.root) == before
    assert place.root not in path.parents
    assert path.parent.stat().st_mode & 0o777 == 0o700


def test_a_cache_that_cannot_be_written_costs_only_time(
    place: Place, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("LOOPX_CACHE_DIR", str(tmp_path / "file" / "cache"))
    fresh = place.again()
    for number in range(resume.EVERY):
        fresh.todos.add(GOAL, CODEX, AddTodo(title=f"Part {number}"))
    assert len(place.again().state(GOAL).todos) == resume.EVERY + 3
