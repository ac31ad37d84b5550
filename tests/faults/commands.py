"""Every kind of writing command, each ready to be tried where calls fail or processes die."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from loopx_kernel.domain.gate import DecideGate, RequestGate
from loopx_kernel.domain.goal import OpenGoal
from loopx_kernel.domain.lease import ClaimTodo
from loopx_kernel.domain.quota import SpendSlot
from loopx_kernel.domain.todo import AddTodo
from loopx_kernel.workspace import Unsigned, Workspace

from tests.kernel.workspace.build import (
    CLAUDE,
    CODEX,
    GOAL,
    OWNER,
    PUSH,
    Place,
    copied,
    rebuilt,
    rules,
)

EVENT_ID = "e-0900"
TORN = b'{"torn":'


@dataclass(frozen=True)
class Command:
    """One command, sent with ``EVENT_ID``. ``ready`` puts there what it needs, ``act`` sends it,
    ``precious`` gives bytes that must not get lost whatever happens to it."""

    name: str
    act: Callable[[Workspace, Place], object]
    ready: Callable[[Place], object] = lambda place: None
    precious: Callable[[Place], bytes] = lambda place: b""


def _signed(prepare: Callable[[Workspace, Place], Unsigned]) -> Callable[[Workspace, Place], Any]:
    return lambda ws, place: ws.append(prepare(ws, place), place.keys[OWNER])


def _todo(place: Place) -> None:
    place.ws.todos.add(GOAL, CODEX, AddTodo(title="Write the docs"))


def _edit_list(place: Place) -> None:
    text = place.state_file.read_text("utf-8")
    row = "## Todos\n\n- [ ] Ask the designers\n"
    place.state_file.write_text(text.replace("## Todos\n", row, 1), "utf-8")


def _harm(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b'"T3"', b'"T9"').replace(b"active", b"closed"))


def _harm_journal(place: Place) -> None:
    lines = place.journal.read_bytes().splitlines(keepends=True)
    lines[-1] = lines[-1].replace(b"huang", b"hua\0g", 1)
    place.journal.write_bytes(b"".join(lines))


def _tear(place: Place) -> None:
    with place.journal.open("ab") as file:
        file.write(TORN)


def _open_shop(ws: Workspace, place: Place) -> Unsigned:
    shop = rules(state_file=".codex/goals/shop/ACTIVE_GOAL_STATE.md")
    command = OpenGoal(goal_id="shop", objective="Open the shop", rules=shop)
    return ws.goals.open(OWNER, command, event_id=EVENT_ID)


def _ask(ws: Workspace, place: Place) -> object:
    return ws.gates.request(GOAL, CLAUDE, RequestGate(action=PUSH), event_id=EVENT_ID)


def _approve(ws: Workspace, place: Place) -> Unsigned:
    command = DecideGate(gate_id="G1", outcome="approved")
    return ws.gates.decide(GOAL, OWNER, command, event_id=EVENT_ID)


PLAIN = [
    Command(
        "claim",
        lambda ws, place: ws.todos.claim(
            GOAL, CODEX, ClaimTodo(todo_id="T4", expect_version=0), event_id=EVENT_ID
        ),
        _todo,
    ),
    Command(
        "hand-in",
        lambda ws, place: ws.todos.update(
            GOAL, CLAUDE, "T3", complete=True, evidence=["dark-mode-notes.md"], event_id=EVENT_ID
        ),
    ),
    Command(
        "spend",
        lambda ws, place: ws.quota.spend(
            GOAL, CLAUDE, SpendSlot(turn="turn-0003"), event_id=EVENT_ID
        ),
    ),
    Command(
        "hand-over",
        lambda ws, place: ws.handoff.write(GOAL, CLAUDE, "Next: buttons", event_id=EVENT_ID),
    ),
    Command("gate request", _ask),
    Command("signed decision", _signed(_approve), lambda place: place.ask()),
    Command("adding an agent", lambda ws, place: ws.agents.add("third", event_id=EVENT_ID)),
    Command("opening a goal", _signed(_open_shop)),
]
"""Commands on a ledger that is as it should be."""

AFTER_HARM = [
    Command("gate request after a torn tail", _ask, _tear, lambda place: TORN),
    Command(
        "adopting an edit",
        _signed(lambda ws, place: ws.drift.adopt(GOAL, OWNER, event_id=EVENT_ID)),
        _edit_list,
        lambda place: place.state_file.read_bytes(),
    ),
    Command(
        "restoring the list",
        _signed(lambda ws, place: ws.drift.restore(GOAL, OWNER, event_id=EVENT_ID)),
        _edit_list,
        lambda place: place.state_file.read_bytes(),
    ),
    Command(
        "repair of a lease",
        _signed(
            lambda ws, place: ws.repairs.file(place.lease("T3"), OWNER, event_id=EVENT_ID),
        ),
        lambda place: _harm(place.lease("T3")),
        lambda place: place.lease("T3").read_bytes(),
    ),
    Command(
        "repair of the registry",
        _signed(lambda ws, place: ws.repairs.file(place.registry, OWNER, event_id=EVENT_ID)),
        lambda place: _harm(place.registry),
        lambda place: place.registry.read_bytes(),
    ),
    Command(
        "repair of the journal",
        _signed(lambda ws, place: ws.repairs.journal(GOAL, OWNER, event_id=EVENT_ID)),
        _harm_journal,
        lambda place: place.journal.read_bytes().splitlines()[-1],
    ),
]
"""Commands that set something aside or put something right."""

COMMANDS = [*PLAIN, *AFTER_HARM]


def future(place: Place, folder: Path, patch: pytest.MonkeyPatch) -> Place:
    """A copy in ``folder``, seen by nobody yet: copies are one workspace with many futures."""
    patch.setenv("LOOPX_CACHE_DIR", str(folder / "cache"))
    patch.setenv("XDG_CONFIG_HOME", str(folder / "config"))
    return copied(place, folder)


def committed(place: Place) -> dict[str, list[bytes]]:
    """The whole lines of every journal, by goal."""
    runtime = place.root / ".loopx" / "runtime"
    return {
        path.parent.name: path.read_bytes().split(b"\n")[:-1]
        for path in sorted(runtime.glob("*/events.jsonl"))
    }


def recorded(place: Place) -> int:
    """In how many journals the command stands; a goal's opening stands in two."""
    start = b'{"event_id":"%s",' % EVENT_ID.encode()
    counts = [sum(line.startswith(start) for line in lines) for lines in committed(place).values()]
    assert max(counts) < 2, "it counts twice"
    return sum(counts)


def kept(place: Place, wanted: bytes) -> bool:
    """Whether some file of the ledger or its repo holds these bytes."""
    files = (path for path in place.root.rglob("*") if path.is_file())
    return any(wanted in path.read_bytes() for path in files)


def assert_level(place: Place) -> None:
    """Once the next writer was there, nothing is damaged, behind, lost or edited."""
    fresh = place.again()
    for goal_id in fresh.goal_ids:
        fresh.handoff.write(goal_id, CLAUDE, "Next: sliders")
    assert fresh.repairs.list() == ()
    for goal_id in fresh.goal_ids:
        reads = fresh.view(goal_id).reads
        assert not (reads.damage or reads.missing_files or reads.behind_files or reads.drift)
        assert not reads.incomplete_tail
        assert fresh.events.verify(goal_id).ok
    assert rebuilt(place) == []
