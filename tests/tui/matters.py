"""One of everything people decide: how it comes about, its key, and what then holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from loopx_kernel.domain.goal import ChangeGoalStatus
from loopx_kernel.domain.rules import AcceptanceItem, Limits
from loopx_kernel.domain.todo import AddTodo
from loopx_kernel.trust.keys import PublicKey
from loopx_kernel.trust.wire import pack
from loopx_kernel.workspace import Workspace

from loopx_tui.cases.case import Asked
from loopx_tui.cases.table import CASES
from tests.tui.gates import AGENT, GOAL, OWNER, House

LIN, LIN_NEW = (
    PublicKey("ssh-ed25519", pack(b"ssh-ed25519", bytes([n]) * 32)).line for n in (3, 4)
)
"""Public keys whose private halves nobody has."""
KEY_FIELDS = {"name": "lin", "use": "asked", "valid_after": "", "valid_before": ""}
RULES: dict[str, Any] = {
    "limits": Limits(turns_without_progress=1),
    "acceptance": (AcceptanceItem(id="tests", kind="cmd", value="true"),),
}
"""Work is escalated after one turn, and there is something to accept."""
WHY = "because it is so"


def state_file(house: House) -> Path:
    return house.root / f".loopx/goals/{GOAL}/ACTIVE_GOAL_STATE.md"


def add(house: House, title: str = "Convert the shop", **more: object) -> str:
    """Adds work; its id."""
    return house.open().todos.add(GOAL, AGENT, AddTodo(title=title, **more)).object_id


def escalated(house: House) -> str:
    """A todo that one turn led nowhere; the escalation's id."""
    add(house)
    ws = house.open()
    turn = ws.turns.begin(GOAL, AGENT).turn
    assert turn is not None
    ws.turns.settle(GOAL, AGENT, turn.id, outcome="failed", note="the tests are red")
    return "E1"


def edited(house: House) -> str:
    """The list as a person left it: a title changed, a row added, a tick."""
    add(house)
    add(house, "Write the tests")
    file = state_file(house)
    lines = (
        file.read_text("utf-8").replace("Convert the shop", "Convert the whole shop").splitlines()
    )
    row = next(number for number, line in enumerate(lines) if "Write the tests" in line)
    lines[row : row + 1] = [lines[row].replace("[ ]", "[x]"), "- [ ] Ask Maria"]
    file.write_text("\n".join(lines) + "\n", "utf-8")
    return f"drift:{GOAL}"


def damaged(house: House) -> str:
    """A registry that is not what the journal says."""
    add(house)
    file = house.root / ".loopx/registry.json"
    file.write_text(file.read_text("utf-8").replace("Add a dark mode", "Add a light mode"), "utf-8")
    return f"damage:{GOAL}"


def for_a_person(house: House) -> str:
    (house.root / "colours.md").write_text("midnight blue\n", "utf-8")
    return add(house, "Choose the colours", role="human")


def done(house: House) -> str:
    """A todo with an acceptance item that is finished."""
    todo_id, ws = add(house, acceptance=("tests",)), house.open()
    from loopx_kernel.domain.lease import ClaimTodo

    ws.todos.claim(GOAL, AGENT, ClaimTodo(todo_id=todo_id))
    (house.root / "notes.md").write_text("done\n", "utf-8")
    ws.todos.update(GOAL, AGENT, todo_id, complete=True, evidence=("notes.md",))
    return todo_id


def paused(house: House) -> str:
    ws = house.open()
    asked = ChangeGoalStatus(to="paused", reason="for now")
    ws.append(
        ws.goals.change_status(GOAL, OWNER, asked), ws.keys.unlock(house.key, house.passphrase)
    )
    return GOAL


def two_todos(house: House) -> str:
    add(house)
    add(house, "Write the tests")
    return GOAL


def two_owners(house: House) -> str:
    """A second person, whose key stands beside the owner's."""
    ws = house.open()
    ws.append(ws.owners.enroll(OWNER, "lin", LIN), ws.keys.unlock(house.key, house.passphrase))
    return "owners"


def owner_key(ws: Workspace) -> str:
    """The present key of the second person; empty where there is none."""
    found = [one for one in ws.owners.list() if one.name == "lin" and one.revoked_seq is None]
    return found[0].key if found else ""


def of_goal(house: House) -> str:
    return GOAL


def all_done(house: House) -> str:
    done(house)
    return GOAL


@dataclass(frozen=True)
class Row:
    """``begin`` gives the id of the object; ``holds`` says whether the decision took effect.

    ``forms`` are what is written where a form opens, by field; ``settles`` whether the same
    decision made elsewhere leaves nothing to decide here.
    """

    case: str
    begin: Callable[[House], str]
    key: str
    way: str
    holds: Callable[[Workspace], bool]
    values: Mapping[str, str] = field(default_factory=lambda: {"reason": WHY})
    settles: bool = True


def _escalation(answer: str) -> Callable[[Workspace], bool]:
    def holds(ws: Workspace) -> bool:
        found = ws.state(GOAL).escalations["E1"]
        return (found.answer, found.reason, found.by) == (answer, WHY, OWNER)

    return holds


def _todo(ws: Workspace, todo_id: str, status: str) -> bool:
    return ws.history.todo(GOAL, todo_id).status == status


def _accepted(ws: Workspace) -> bool:
    return any(
        check.check == "acceptance" and check.ok for check in ws.view(GOAL).completion.checks
    )


OBJECTIVE = "Add a dark mode\nto the shop only"
ROWS: dict[str, Row] = {
    "go on": Row("escalation", escalated, "A", "go_on", _escalation("go_on")),
    "replan it": Row("escalation", escalated, "R", "replan", _escalation("replan")),
    "cancel it": Row("escalation", escalated, "X", "cancel", _escalation("cancel")),
    "adopt": Row(
        "drift",
        edited,
        "A",
        "adopt",
        lambda ws: (
            [todo.title for todo in ws.state(GOAL).todos.values()]
            == ["Convert the whole shop", "Write the tests", "Ask Maria"]
        ),
        {},
    ),
    "put back": Row(
        "drift",
        edited,
        "X",
        "restore",
        lambda ws: not ws.drift.look(GOAL).drift and len(ws.state(GOAL).todos) == 2,
        {},
    ),
    "repair": Row("damage", damaged, "A", "repair", lambda ws: not ws.repairs.list(), {}),
    "finish": Row(
        "todo.finish",
        for_a_person,
        "A",
        "finish",
        lambda ws: (
            _todo(ws, "T1", "done")
            and [item.path for item in ws.history.todo(GOAL, "T1").evidence] == ["colours.md"]
        ),
        {"reason": WHY, "evidence": "colours.md"},
    ),
    "cancel": Row(
        "todo.cancel",
        add,
        "A",
        "cancel",
        lambda ws: _todo(ws, "T1", "cancelled"),
    ),
    "pause": Row(
        "goal.pause", of_goal, "A", "paused", lambda ws: ws.state(GOAL).status == "paused"
    ),
    "resume": Row(
        "goal.resume", paused, "A", "resumed", lambda ws: ws.state(GOAL).status == "active"
    ),
    "retire": Row(
        "goal.retire", of_goal, "A", "retired", lambda ws: ws.state(GOAL).status == "retired"
    ),
    "scope": Row(
        "goal.scope",
        of_goal,
        "A",
        "lay",
        lambda ws: ws.state(GOAL).the_rules.coordination.write_scope == ("src/**", "docs/"),
        {"write_scope": "src/**\ndocs/", "reason": WHY},
        settles=False,
    ),
    "quota": Row(
        "goal.quota",
        of_goal,
        "A",
        "lay",
        lambda ws: ws.state(GOAL).the_rules.quota.allowed == 144,
        {"compute": "0.2", "window_hours": "12", "slot_minutes": "1", "reason": WHY},
        settles=False,
    ),
    "rules": Row(
        "goal.rules",
        of_goal,
        "A",
        "lay",
        lambda ws: [rule.text for rule in ws.state(GOAL).the_rules.gates] == ["publish:git push*"],
        {"rules": "gates: ['publish:git push*']\n", "reason": WHY},
        settles=False,
    ),
    "accept": Row(
        "goal.accept",
        all_done,
        "A",
        "accept",
        lambda ws: ws.view(GOAL).completion.complete,
        settles=False,
    ),
    "accept one": Row("todo.accept", done, "A", "accept", _accepted, settles=False),
    "replan": Row(
        "replan",
        two_todos,
        "A",
        "replan",
        lambda ws: (
            [(one.reason, one.facts, one.todo_ids) for one in ws.state(GOAL).obligations.values()]
            == [(WHY, ("run 12 failed",), ("T2",))]
        ),
        {"todos": "T2", "reason": WHY, "facts": "run 12 failed"},
        settles=False,
    ),
    "objective": Row(
        "objective",
        of_goal,
        "A",
        "patch",
        lambda ws: ws.state(GOAL).objective.text == OBJECTIVE,  # type: ignore[union-attr]
        {"text": OBJECTIVE, "reason": WHY, "facts": ""},
        settles=False,
    ),
}


ROWS |= {
    "enrol": Row(
        "owner.enroll",
        lambda house: "owners",
        "A",
        "enroll",
        lambda ws: owner_key(ws) == LIN,
        {**KEY_FIELDS, "public_key": LIN},
        settles=False,
    ),
    "give a new key": Row(
        "owner.rotate",
        two_owners,
        "A",
        "rotate",
        lambda ws: owner_key(ws) == LIN_NEW,
        {**KEY_FIELDS, "public_key": LIN_NEW},
        settles=False,
    ),
    "revoke": Row(
        "owner.revoke",
        two_owners,
        "A",
        "revoke",
        lambda ws: len(ws.owners.list()) == 2 and not owner_key(ws),
        {"name": "lin", "reason": WHY},
        settles=False,
    ),
}


def decide_elsewhere(house: House, row: Row, object_id: str) -> None:
    """Another window of the owner decides the same."""
    ws, case = house.open(), CASES[row.case]
    way = next(way for way in case.ways if way.name == row.way)
    values = case.take(row.values) if case.take else row.values
    asked = Asked(case.look(ws, GOAL, object_id), OWNER, way, values)
    unsigned = case.prepare(ws, asked)
    ws.append(unsigned, ws.keys.unlock(house.key, house.passphrase, unsigned))
