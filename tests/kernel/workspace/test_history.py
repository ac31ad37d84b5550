"""A moment in the past is what the lines up to it fold to, however it was come by."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from loopx_kernel.domain import fold
from loopx_kernel.domain.event import Event
from loopx_kernel.domain.state import GoalState
from loopx_kernel.errors import LoopxError
from loopx_kernel.store import checkpoint
from loopx_kernel.store.checkpoint import cache_folder
from loopx_kernel.store.files import Files
from loopx_kernel.store.line import Line
from loopx_kernel.workspace import resume, snapshots
from loopx_kernel.workspace.ledgers import GoalLedger

from tests.kernel.workspace.build import GOAL, Place, enrol, new_key, tree

STEP = 4


def folded(place: Place, seq: int) -> GoalState:
    """The fold of the first ``seq`` lines, by hand."""
    ledger = place.again()._core.goal(GOAL)
    state = GoalState(goal_id=GOAL)
    for line in ledger.journal.read(ledger.start, limit=seq).lines:
        event = ledger.event_of(line)
        state = fold.evolve(state, event, ledger.verdict(event))
    return state


def folder(place: Place) -> Path:
    return cache_folder(place.ws.workspace_id, GOAL) / snapshots.FOLDER


def test_every_line_has_its_moment(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshots, "EVERY", STEP)
    last = place.ws.state(GOAL).seq
    ledger = tree(place.root)
    for seq in (*range(last, 0, -1), *range(1, last + 1)):
        past = place.again().history.at(GOAL, seq)
        assert past.state == folded(place, seq)
        assert (past.view.seq, past.view.head, past.at) == (
            seq,
            past.state.head,
            past.state.last_at,
        )
        assert past.last_seq == last
    assert len(list(folder(place).iterdir())) == last // STEP
    assert tree(place.root) == ledger


def test_a_neighbour_is_folded_from_what_was_folded_just_now(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshots, "NOTED", 2)
    ws, last = place.again(), place.ws.state(GOAL).seq
    read: list[int] = []
    whole = GoalLedger.event_of

    def event_of(ledger: GoalLedger, line: Line) -> Event:
        read.append(line.seq)
        return whole(ledger, line)

    assert ws.history.at(GOAL, last).state == folded(place, last)
    expected = {seq: folded(place, seq) for seq in range(1, last)}
    monkeypatch.setattr(GoalLedger, "event_of", event_of)
    for seq in (last - 1, last - 2, last - 1, 3, 2, 1, 2, 3):
        assert ws.history.at(GOAL, seq).state == expected[seq]
    assert len(read) <= 8


def test_what_was_folded_counts_for_nothing_where_the_line_or_the_owners_are_others(
    place: Place,
) -> None:
    ws = place.again()
    last = ws.history.at(GOAL, place.ws.state(GOAL).seq).state.seq
    enrol(place, "maria", new_key(place.root, "maria"), by="huang")
    assert ws.history.at(GOAL, last - 1).state == folded(place, last - 1)
    lines = place.lines()
    place.journal.write_bytes(b"\n".join(lines[: last - 2]) + b"\n")
    with pytest.raises(LoopxError):
        ws.history.at(GOAL, last - 1)


def test_the_past_is_marked_and_told_by_its_own_clock(place: Place) -> None:
    claimed = place.ws.events.show(GOAL, "e-0142").event
    place.clock.advance(days=3)
    view = place.ws.history.at(GOAL, claimed.seq).view
    assert [lease.status for lease in view.leases if lease.todo_id == "T3"] == ["active"]
    assert view.envelope.projection == "replay"
    assert not view.envelope.fresh
    assert view.envelope.observed_at == claimed.recorded_at
    assert view.envelope.served_at == place.clock.now
    before = place.ws.history.at(GOAL, claimed.seq - 1).view
    assert [row.display_status for row in before.todos if row.todo.id == "T3"] == ["open"]


@pytest.mark.parametrize("seq", [0, -1, 10_000])
def test_a_line_that_is_not_there_has_no_moment(place: Place, seq: int) -> None:
    with pytest.raises(LoopxError) as caught:
        place.ws.history.at(GOAL, seq)
    assert caught.value.code == "unknown_event"


def test_behind_damage_there_is_no_moment_and_before_it_there_is(place: Place) -> None:
    lines = place.lines()
    place.journal.write_bytes(b"\n".join([*lines[:5], b"{}", *lines[6:]]) + b"\n")
    ws = place.again()
    assert ws.history.at(GOAL, 5).state.seq == 5
    with pytest.raises(LoopxError) as caught:
        ws.history.at(GOAL, 7)
    assert caught.value.code == "journal_damaged"


def edited(path: Path) -> None:
    value = json.loads(path.read_text())
    value["state"] = value["state"].replace("Research", "Ignore")
    path.write_text(json.dumps(value))


def of_another_line(path: Path) -> None:
    """Whole and well made, but of a journal that went on otherwise."""
    found = checkpoint.load(path, resume.fingerprint(), files=Files())
    assert found is not None
    state = json.loads(found.state) | {"head": "0" * 64, "status": "retired"}
    other = replace(found, head="0" * 64, state=json.dumps(state))
    assert checkpoint.save(path, other, files=Files())


HARMS: dict[str, Callable[[Path], object]] = {
    "deleted": Path.unlink,
    "cut": lambda path: path.write_bytes(path.read_bytes()[:-9]),
    "edited": edited,
    "of another line": of_another_line,
    "under another number": lambda path: path.write_bytes(
        path.with_name(f"{STEP}.json").read_bytes()
    ),
}


@pytest.mark.parametrize("name", HARMS)
def test_a_harmed_snapshot_gives_the_same_past(
    place: Place, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(snapshots, "EVERY", STEP)
    last = place.ws.state(GOAL).seq
    place.ws.history.at(GOAL, last)
    kept = last // STEP * STEP
    HARMS[name](folder(place) / f"{kept}.json")
    for seq in (kept, last):
        assert place.again().history.at(GOAL, seq).state == folded(place, seq)


def test_a_moment_is_replayed_from_the_state_kept_before_it(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshots, "EVERY", STEP)
    last = place.ws.state(GOAL).seq
    place.ws.history.at(GOAL, last)
    ws = place.again()
    ws.state(GOAL)
    folds: list[int] = []
    evolve = fold.evolve
    monkeypatch.setattr(
        fold,
        "evolve",
        lambda state, event, verdict: folds.append(1) or evolve(state, event, verdict),
    )
    ws.history.at(GOAL, last)
    assert len(folds) == last % STEP
