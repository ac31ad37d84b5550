"""A workspace on disk with the dark-mode goal, made by the façade's own commands."""

from __future__ import annotations

import hashlib
import shutil
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from loopx_kernel.clock import Clock, ManualClock
from loopx_kernel.domain import roster
from loopx_kernel.domain.event import WORKSPACE_JOURNAL, Actor
from loopx_kernel.domain.gate import DecideGate, RequestGate
from loopx_kernel.domain.goal import OpenGoal
from loopx_kernel.domain.lease import ClaimTodo, ReleaseLease
from loopx_kernel.domain.owner import EnrollOwner
from loopx_kernel.domain.permission import Action
from loopx_kernel.domain.quota import VoidSlot
from loopx_kernel.domain.rules import Coordination, GoalRules, QuotaRule, SpawnPolicy
from loopx_kernel.domain.todo import AddTodo
from loopx_kernel.errors import LoopxError
from loopx_kernel.store.files import Files
from loopx_kernel.trust import keys
from loopx_kernel.trust.keys import PrivateKey
from loopx_kernel.trust.new_key import generate
from loopx_kernel.workspace import Done, Unsigned, Workspace
from loopx_kernel.workspace.core import Core
from loopx_kernel.workspace.orders import Order
from loopx_kernel.workspace.signing import prepare

GOAL = "dark-mode"
OWNER, SECOND = "huang", "lin"
CLAUDE, CODEX = "claude-code", "codex"
STATE_FILE = Path("mall-frontend/.codex/goals/dark-mode/ACTIVE_GOAL_STATE.md")
OPENED = datetime(2026, 9, 16, 20, 0, tzinfo=UTC)
CLAIMED = datetime(2026, 9, 16, 22, 40, tzinfo=UTC)
_LOCKS = {"lock", "lock.holder.json"}
PUSH = Action(action="publish", command="git push origin main")


@dataclass
class Place:
    """An open workspace, its clock, and the keys of its people."""

    ws: Workspace
    clock: ManualClock
    keys: dict[str, PrivateKey]

    @property
    def root(self) -> Path:
        return self.ws.root

    @property
    def runtime(self) -> Path:
        return self.root / ".loopx" / "runtime" / GOAL

    @property
    def journal(self) -> Path:
        return self.runtime / "events.jsonl"

    @property
    def house_journal(self) -> Path:
        return self.root / ".loopx" / "runtime" / "_workspace" / "events.jsonl"

    @property
    def registry(self) -> Path:
        return self.root / ".loopx" / "registry.json"

    @property
    def owners(self) -> Path:
        return self.root / ".loopx" / "owners"

    @property
    def spend(self) -> Path:
        return self.runtime / "spend.jsonl"

    @property
    def state_file(self) -> Path:
        return self.root / STATE_FILE

    def lease(self, todo_id: str) -> Path:
        return self.runtime / "task-leases" / f"{todo_id}.json"

    def again(self) -> Workspace:
        """The same workspace, opened as another process would."""
        return Workspace.open(self.root, clock=self.clock)

    def sign(self, unsigned: Unsigned) -> Done[Any]:
        """Signs with the key of whoever it was prepared for, and appends."""
        return self.ws.append(unsigned, self.keys[unsigned.owner])

    def decide(self, gate_id: str, outcome: Any = "approved", **values: Any) -> Done[Any]:
        """The owner's decision on a gate."""
        command = DecideGate(gate_id=gate_id, outcome=outcome, **values)
        return self.sign(self.ws.gates.decide(GOAL, OWNER, command))

    def ask(self, action: Action = PUSH, *blocks: str) -> str:
        """A new gate, asked by claude-code."""
        command = RequestGate(action=action, blocks=blocks)
        return self.ws.gates.request(GOAL, CLAUDE, command).object_id

    def lines(self) -> list[bytes]:
        """The goal's journal, line by line."""
        return self.journal.read_bytes().splitlines()


def with_files(root: Path, files: Files, clock: Clock) -> Workspace:
    """A workspace whose file operations go through ``files``."""
    plain = Workspace.open(root, clock=clock)
    core = plain._core
    broken = Core(core.layout, clock, files=files)
    broken.house.refresh()
    return Workspace(broken)


def rules(**values: Any) -> GoalRules:
    """The first rules of the dark-mode goal."""
    return GoalRules(
        **{
            "display_name": "为商城前端添加深色模式",
            "domain": "frontend",
            "repo": "mall-frontend",
            "state_file": ".codex/goals/dark-mode/ACTIVE_GOAL_STATE.md",
            "spawn_policy": SpawnPolicy(mode="manual", max_children=2),
            "coordination": Coordination(
                write_scope=("src/theme/**", "tests/theme/**"),
                requires_parent_approval=("write", "publish", "production-action"),
            ),
            "quota": QuotaRule(compute="0.4", window_hours=24, slot_minutes=1),
            **values,
        }
    )


def new_key(folder: Path, name: str) -> PrivateKey:
    """A throw-away ed25519 key."""
    path = folder / f"key-{name}"
    generate(path, f"{name}@test", None)
    return keys.load_private(path, None)


def enrol(place: Place, name: str, key: PrivateKey, *, by: str) -> Done[Any]:
    """A later owner, vouched for by an owner who is there already."""
    core = place.ws._core
    core.house.refresh()
    heads = tuple(
        (goal_id, core.fresh_goal(goal_id).position.seq, core.fresh_goal(goal_id).position.head)
        for goal_id in core.house.state.goals
    )
    command = EnrollOwner(
        name=name,
        key=key.public.line,
        fingerprint=key.public.fingerprint,
        allow_unattended=True,
        heads=heads,
    )
    actor = Actor(kind="owner", id=by)
    order = Order(WORKSPACE_JOURNAL, command, roster.decide, actor, house=True)
    place.keys[name] = key
    return place.sign(prepare(core, order, f"enrol {name}"))


def connected(folder: Path, clock: Clock | None = None) -> Place:
    """A workspace with two owners and two agents, and no goal yet."""
    root = folder / "work"
    repo = root / "mall-frontend"
    (repo / "docs").mkdir(parents=True)
    (repo / "dark-mode-notes.md").write_text("notes\n", encoding="utf-8")
    (repo / "docs" / "theme-vars.md").write_text("vars\n", encoding="utf-8")
    manual = ManualClock(OPENED)
    ws = Workspace.connect(root, clock=clock or manual)
    place = Place(ws, manual, {OWNER: new_key(folder, OWNER)})
    line = place.keys[OWNER].public.line
    place.sign(ws.owners.enroll_first(OWNER, line, allow_unattended=True))
    enrol(place, SECOND, new_key(folder, SECOND), by=OWNER)
    for agent in (CLAUDE, CODEX):
        ws.agents.add(agent)
    return place


def open_goal(place: Place, goal_id: str = GOAL, **values: Any) -> Done[Any]:
    """A goal with the rules of the dark-mode fixture."""
    values.setdefault("state_file", f".codex/goals/{goal_id}/ACTIVE_GOAL_STATE.md")
    command = OpenGoal(
        goal_id=goal_id, objective="Add a dark mode to the shop", rules=rules(**values)
    )
    return place.sign(place.ws.goals.open(OWNER, command))


def dark_mode(folder: Path) -> Place:
    """T1 and T2 done with evidence, T3 held by claude-code at version 5, epoch 2, 22:40 to
    22:55, in turn-0003; turn-0001 booked, turn-0002 booked and voided; the clock stands at
    22:41."""
    place = connected(folder)
    open_goal(place)
    ws, clock = place.ws, place.clock
    ws.todos.add(GOAL, CODEX, AddTodo(title="Research styles"))
    ws.todos.add(GOAL, CODEX, AddTodo(title="CSS-variable plan", write_scope=("docs/**",)))
    ws.todos.add(GOAL, CODEX, AddTodo(title="Convert components", write_scope=("src/theme/**",)))
    for number, path in ((1, "dark-mode-notes.md"), (2, "docs/theme-vars.md")):
        ws.turns.begin(GOAL, CODEX)
        clock.advance(minutes=5)
        ws.turns.settle(GOAL, CODEX, f"turn-{number:04}", outcome="done", evidence=[path])
    ws.todos.claim(GOAL, CODEX, ClaimTodo(todo_id="T3"))
    for note in ("first look", "second look"):
        ws.todos.update(GOAL, CODEX, "T3", note=note)
    ws.todos.release(GOAL, CODEX, ReleaseLease(todo_id="T3", version=3, epoch=1))
    clock.advance(seconds=(CLAIMED - clock.now) / timedelta(seconds=1))
    ws.todos.claim(GOAL, CLAUDE, ClaimTodo(todo_id="T3", expect_version=4), event_id="e-0142")
    clock.advance(minutes=1)
    ws.turns.begin(GOAL, CLAUDE)
    void = VoidSlot(turn="turn-0002", reason="turn failed validation")
    place.sign(ws.quota.void(GOAL, OWNER, void))
    return place


def tree(folder: Path) -> dict[str, str]:
    """Every file below ``folder`` with the digest of its bytes."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.is_symlink()
    }


def ledger_tree(place: Place) -> dict[str, str]:
    """The same for what the ledger consists of; locks and their notes are not part of it."""
    found = tree(place.root)
    return {name: value for name, value in found.items() if Path(name).name not in _LOCKS}


class refused:
    """Asserts that the block raises this error, and that not a byte of the ledger changed."""

    def __init__(self, place: Place, code: str) -> None:
        self.place = place
        self.code = code
        self.facts: dict[str, Any] = {}
        self.message = ""

    def __enter__(self) -> refused:
        self._before = ledger_tree(self.place)
        return self

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> bool:
        assert isinstance(error, LoopxError), f"expected {self.code}, got {error!r}"
        assert error.code == self.code, error
        self.facts, self.message = error.facts, error.message
        assert ledger_tree(self.place) == self._before
        return True


def rebuilt(place: Place) -> list[str]:
    """The paths of all ``file.rebuilt`` events, in order."""
    rows = place.again().events.list(GOAL, event_type="file.rebuilt")
    return [row.event.payload["path"] for row in rows]


def copied(template: Place, folder: Path) -> Place:
    """The same ledger in another place, with a clock of its own."""
    root = folder / "work"
    shutil.copytree(template.root, root)
    clock = replace(template.clock)
    return Place(Workspace.open(root, clock=clock), clock, dict(template.keys))
