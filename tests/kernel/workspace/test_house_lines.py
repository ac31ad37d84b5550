"""The workspace's journal written by hand: a line of every type, copied or made, does nothing."""

from __future__ import annotations

from typing import Any

import pytest
from loopx_kernel.domain import roster
from loopx_kernel.domain.fence import WRITER_GENERATION
from loopx_kernel.domain.roster_state import WorkspaceState
from loopx_kernel.workspace import Workspace

from tests.kernel.workspace.build import CLAUDE, OWNER, Place
from tests.kernel.workspace.forge import append_raw, records
from tests.kernel.workspace.test_owners import come, go

BY_CODE = {
    "owner": {"actor_kind": "owner", "actor_agent_id": OWNER},
    "agent": {"actor_kind": "agent", "actor_agent_id": CLAUDE},
    "code": {"actor_kind": "code", "actor_agent_id": "loopx"},
}
MADE = {
    "damage.repaired": {"kind": "file", "files": [{"path": "x", "sha256": "0" * 64}]},
    "writer.fenced": {"generation": WRITER_GENERATION},
}
"""Payloads of types that this workspace has no line of."""


def lived(place: Place) -> Place:
    """People and agents came and went."""
    come(place, "wu")
    go(place, "wu")
    place.ws.agents.add("gemini-cli")
    return place


def types() -> set[str]:
    return {*roster._EVENTS, *roster._SELDOM}


def seen(ws: Workspace) -> dict[str, Any]:
    """All that the workspace's journal says, but for how far it goes."""
    ws._core.house.refresh()
    state: WorkspaceState = ws._core.house.state
    moved = {"seq", "head", "last_at", "alerts", "alert_count", "idle"}
    return state.model_dump(exclude=moved)


def lines_of(place: Place) -> dict[str, dict[str, Any]]:
    """The last line of each type that is there."""
    return {line["event_type"]: line for line in records(place.house_journal)}


def by_hand(place: Place, line: dict[str, Any]) -> None:
    """Appends the line, which must do nothing and raise the alert."""
    before, count = seen(place.again()), len(records(place.house_journal))
    append_raw(place.house_journal, line)
    fresh = place.again()
    assert seen(fresh) == before
    assert fresh.workspace_view().alerts
    assert not fresh.events.verify("_workspace").ok
    assert len(records(place.house_journal)) == count + 1


def test_every_type_is_tried_here(place: Place) -> None:
    assert types() == lines_of(lived(place)).keys() | MADE.keys()


@pytest.mark.parametrize("event_type", sorted(types() - MADE.keys()))
@pytest.mark.parametrize("event_id", [None, "e-again"])
def test_a_copy_does_nothing(place: Place, event_type: str, event_id: str | None) -> None:
    line = lines_of(lived(place))[event_type]
    by_hand(place, line | ({"event_id": event_id} if event_id else {}))


@pytest.mark.parametrize("event_type", sorted(types()))
@pytest.mark.parametrize("who", BY_CODE)
def test_nobody_writes_what_is_for_others(place: Place, event_type: str, who: str) -> None:
    there = lines_of(lived(place))
    if event_type == "agent.added" and who == "agent":
        return
    if event_type == "writer.fenced" and who == "code":
        return
    line = {**there.get(event_type, there["agent.added"]), "event_type": event_type}
    line |= {"event_id": "e-by-hand", **BY_CODE[who], "payload": _other(line, event_type)}
    line.pop("signed", None)
    by_hand(place, line)


def _other(line: dict[str, Any], event_type: str) -> dict[str, Any]:
    """A payload that would be news."""
    news = {
        "agent.added": {"agent_id": "mallory"},
        "owner.revoked": {"name": OWNER},
        "owner.enrolled": {"name": "eve"},
        **MADE,
    }
    base = {} if event_type in MADE else line["payload"]
    return {**base, **news.get(event_type, {})}
