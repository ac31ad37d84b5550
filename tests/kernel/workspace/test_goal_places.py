"""No goal is slipped in, dropped or moved: each attempt, and the word it gets.

Whoever looks has no cache: what was seen before tells them nothing.
"""

from __future__ import annotations

import copy
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from loopx_kernel.domain.lease import ClaimTodo
from loopx_kernel.errors import LoopxError
from loopx_kernel.store.line import GENESIS, encode
from loopx_kernel.workspace import Workspace

from tests.kernel.workspace.build import (
    CLAUDE,
    GOAL,
    SECOND,
    Place,
    dark_mode,
    ledger_tree,
    open_goal,
)
from tests.kernel.workspace.forge import CHAIN, append_raw, records, rewrite

SHOP = "shop"
Change = Callable[[Place], object]


def folder(place: Place, goal_id: str) -> Path:
    return place.runtime.parent / goal_id


def opening(place: Place, goal_id: str = GOAL) -> dict[str, Any]:
    """The workspace's line that opened a goal."""
    found = records(place.house_journal)
    return copy.deepcopy(
        next(r for r in found if r["event_type"] == "goal.opened" and r["goal_id"] == goal_id)
    )


def slipped(**changes: Any) -> Change:
    """A further opening, put into the workspace's journal by hand."""
    return lambda place: append_raw(place.house_journal, opening(place) | changes)


def unsigned(**changes: Any) -> Change:
    def change(place: Place) -> None:
        line = {key: value for key, value in opening(place).items() if key != "signed"}
        append_raw(place.house_journal, line | changes)

    return change


def retold(edit: Callable[[list[dict[str, Any]]], object], journal: str = "house") -> Change:
    """A whole journal written anew with right hashes, and one thing in it changed."""

    def change(place: Place) -> None:
        path = place.house_journal if journal == "house" else place.journal
        lines = records(path)
        edit(lines)
        rewrite(path, lines)

    return change


def place_of(lines: list[dict[str, Any]], goal_id: str) -> int:
    return next(
        n
        for n, line in enumerate(lines)
        if line["event_type"] == "goal.opened" and line["goal_id"] == goal_id
    )


def shortened(place: Place) -> None:
    lines = place.house_journal.read_bytes().splitlines(keepends=True)
    place.house_journal.write_bytes(b"".join(lines[:-1]))


def another(place: Place) -> Place:
    """Another workspace with a goal of the same name and the same work."""
    return dark_mode(place.root.parent / "other")


def with_runtime_of_another(place: Place) -> None:
    shutil.rmtree(place.runtime)
    shutil.copytree(another(place).runtime, place.runtime)


def renamed(place: Place) -> None:
    shutil.rmtree(folder(place, SHOP))
    place.runtime.rename(folder(place, SHOP))


def copied_over(place: Place) -> None:
    shutil.rmtree(folder(place, SHOP))
    shutil.copytree(place.runtime, folder(place, SHOP))


def swapped(place: Place) -> None:
    place.runtime.rename(folder(place, "aside"))
    folder(place, SHOP).rename(place.runtime)
    folder(place, "aside").rename(folder(place, SHOP))


def from_nowhere(place: Place) -> None:
    """The same lines, but the first grows from nothing as the workspace's own first does."""
    content, prev = b"", GENESIS
    for number, line in enumerate(records(place.journal), start=1):
        fields = {key: value for key, value in line.items() if key not in CHAIN}
        raw, prev = encode(fields, seq=number, prev=prev)
        content += raw
    place.journal.write_bytes(content)


@dataclass(frozen=True)
class Case:
    """``goals`` are known afterwards; ``idle`` are the codes of the workspace's lines without
    effect; ``damaged`` says of a goal with which word it is refused, and where (0: no line);
    ``said`` stands in the overview."""

    change: Change
    goals: tuple[str, ...] = (GOAL, SHOP)
    idle: tuple[str, ...] = ()
    damaged: tuple[tuple[str, str, str, int], ...] = ()
    said: str = ""


CHAINED = (GOAL, "journal_damaged", "broken_chain", 1)
CHAINED_SHOP = (SHOP, "journal_damaged", "broken_chain", 1)
NEW = {"goal_id": "extra", "event_id": "e-extra"}
TOLD = "tells of a goal {} that was never opened"

CASES: dict[str, Case] = {
    # slipped in
    "unsigned": Case(unsigned(**NEW), idle=("unsigned",)),
    "an agent's": Case(
        unsigned(**NEW, actor_kind="agent", actor_agent_id=CLAUDE), idle=("unsigned",)
    ),
    "the kernel's": Case(
        unsigned(**NEW, actor_kind="code", actor_agent_id="loopx"), idle=("unsigned",)
    ),
    "signed for another goal": Case(slipped(**NEW), idle=("bad_signature",)),
    "signed under another id": Case(slipped(event_id="e-extra"), idle=("bad_signature",)),
    "the same once more": Case(slipped(), idle=("exists",)),
    "by another owner": Case(slipped(**NEW, actor_agent_id=SECOND), idle=("bad_signature",)),
    "a folder of its own": Case(lambda p: shutil.copytree(p.runtime, folder(p, "extra"))),
    # dropped
    "shortened": Case(shortened, goals=(GOAL,), said=TOLD.format(SHOP)),
    "left out": Case(
        retold(lambda lines: lines.pop(place_of(lines, GOAL))),
        goals=(),
        idle=("bad_signature",),
        said=TOLD.format(GOAL),
    ),
    "folder gone": Case(
        lambda p: shutil.rmtree(p.runtime), damaged=((GOAL, "rolled_back", "missing", 0),)
    ),
    "journal gone": Case(
        lambda p: p.journal.unlink(), damaged=((GOAL, "rolled_back", "missing", 0),)
    ),
    # moved or altered in the workspace's journal
    "opening altered": Case(
        retold(lambda lines: lines[place_of(lines, SHOP)]["payload"].update(objective="Other")),
        goals=(GOAL,),
        idle=("bad_signature",),
        said=TOLD.format(SHOP),
    ),
    "opening renamed": Case(
        retold(lambda lines: lines[place_of(lines, SHOP)].update(goal_id="extra")),
        goals=(GOAL,),
        idle=("bad_signature",),
        said=TOLD.format(SHOP),
    ),
    "openings swapped": Case(
        retold(lambda lines: lines.insert(place_of(lines, GOAL), lines.pop(place_of(lines, SHOP)))),
        goals=(GOAL,),
        idle=("bad_signature",),
        damaged=(CHAINED,),
        said=TOLD.format(SHOP),
    ),
    "journal of another workspace": Case(
        lambda p: shutil.copy(another(p).house_journal, p.house_journal),
        goals=(GOAL,),
        damaged=(CHAINED,),
        said=TOLD.format(SHOP),
    ),
    # the goal's own journal moved or altered
    "folder of another workspace": Case(with_runtime_of_another, damaged=(CHAINED,)),
    "folder renamed": Case(renamed, damaged=((GOAL, "rolled_back", "missing", 0), CHAINED_SHOP)),
    "folder copied": Case(copied_over, damaged=(CHAINED_SHOP,)),
    "folders swapped": Case(swapped, damaged=(CHAINED, CHAINED_SHOP)),
    "grown from nothing": Case(from_nowhere, damaged=(CHAINED,)),
    "first line's rules": Case(
        retold(lambda lines: lines[0]["payload"].update(objective="Other"), "goal"),
        damaged=(CHAINED,),
    ),
    "first line's id": Case(
        retold(lambda lines: lines[0].update(event_id="e-x"), "goal"), damaged=(CHAINED,)
    ),
    "first line's goal": Case(
        retold(lambda lines: lines[0].update(goal_id=SHOP), "goal"), damaged=(CHAINED,)
    ),
    "first line's owner": Case(
        retold(lambda lines: lines[0].update(actor_agent_id=SECOND), "goal"), damaged=(CHAINED,)
    ),
    "first line's time": Case(
        retold(lambda lines: lines[0].update(recorded_at="2020-01-01T00:00:00Z"), "goal"),
        damaged=(CHAINED,),
    ),
    "first line unsigned": Case(
        retold(lambda lines: lines[0].pop("signed"), "goal"), damaged=(CHAINED,)
    ),
    "first line gone": Case(retold(lambda lines: lines.pop(0), "goal"), damaged=(CHAINED,)),
}


@pytest.fixture
def stranger(
    place: Place, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Callable[[], Workspace]:
    """Somebody who never saw this workspace, with two goals in it."""
    open_goal(place, SHOP)
    place.again().workspace_view()

    def open_() -> Workspace:
        monkeypatch.setenv("LOOPX_CACHE_DIR", str(tmp_path / "no cache"))
        return place.again()

    return open_


@pytest.mark.parametrize("name", CASES)
def test_no_goal_is_slipped_in_dropped_or_moved(
    place: Place, stranger: Callable[[], Workspace], name: str
) -> None:
    case = CASES[name]
    case.change(place)
    ws = stranger()
    house = ws._core.house
    house.refresh()
    assert ws.goal_ids == case.goals
    assert tuple(alert.code for alert in house.state.alerts) == case.idle
    assert house.damage is None
    before = ledger_tree(place)
    assert tuple(found for goal_id in case.goals if (found := refusal(ws, goal_id))) == case.damaged
    for goal_id in {GOAL, SHOP, "extra"} - set(case.goals):
        assert refusal(ws, goal_id) == (goal_id, "unknown_goal", "", 0)
    view = ws.workspace_view()
    assert {item.goal_id for item in view.unread} == {goal_id for goal_id, *_ in case.damaged}
    assert any(case.said in alert for alert in view.alerts) or not case.said
    noticed = bool(case.idle or case.damaged or case.said)
    assert (view.envelope.alert, view.envelope.complete) == (noticed, not noticed)
    assert ledger_tree(place) == before
    if case.said:
        assert any(case.said in row.damage.reason for row in ws.repairs.list())


def refusal(ws: Workspace, goal_id: str) -> tuple[str, str, str, int] | None:
    """The word with which a goal cannot be looked at, nor written."""
    try:
        ws.view(goal_id)
    except LoopxError as error:
        with pytest.raises(LoopxError) as caught:
            ws.todos.claim(goal_id, CLAUDE, ClaimTodo(todo_id="T3"))
        assert caught.value.code == error.code
        kind, line = error.facts.get("kind", ""), error.facts.get("line", 0)
        return goal_id, error.code, str(kind), int(line)
    return None
