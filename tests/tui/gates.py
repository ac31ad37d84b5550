"""A real workspace with gates to decide, a person's key, and an app that shows the review."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from loopx_kernel.domain.gate import DecideGate, RequestGate
from loopx_kernel.domain.goal import OpenGoal
from loopx_kernel.domain.permission import Action
from loopx_kernel.domain.rules import Coordination, GoalRules
from loopx_kernel.trust.keys import load_private
from loopx_kernel.trust.new_key import generate
from loopx_kernel.trust.sshsig import Signer
from loopx_kernel.workspace import KeyChoice, Workspace
from textual.app import App
from textual.pilot import Pilot

from loopx_tui.cases.table import CASES
from loopx_tui.kept import Kept
from loopx_tui.screens.review import ReviewScreen
from loopx_tui.themes import DEFAULT, to_textual
from tests.patience import PATIENCE

GOAL = "dark-mode"
AGENT = "codex"
OWNER = "huang"
PASSPHRASE = "correct horse"
COMMAND = "npm publish @mall/theme"


@dataclass
class House:
    """The workspace and the key that may sign in it."""

    root: Path
    key: KeyChoice
    passphrase: bytes | None
    appended: list[str] = field(default_factory=list)

    def open(self, *, read_only: bool = False) -> Workspace:
        return Workspace.open(self.root, read_only=read_only)

    def request(self, command: str = COMMAND, **more: Any) -> str:
        """Asks for a gate; its id."""
        asked = RequestGate(action=Action(action="publish", command=command), **more)
        return self.open().gates.request(GOAL, AGENT, asked).object_id

    def decide(self, gate_id: str, outcome: Any = "rejected") -> None:
        """Another window of the owner decides the gate."""
        ws = self.open()
        unsigned = ws.gates.decide(GOAL, OWNER, DecideGate(gate_id=gate_id, outcome=outcome))
        ws.append(unsigned, ws.keys.unlock(self.key, self.passphrase))

    def status(self, gate_id: str) -> str:
        return self.open().state(GOAL).gate(gate_id).status

    @property
    def lines(self) -> int:
        """How many lines the goal's journal has."""
        return self.open().state(GOAL).seq


def build(
    root: Path,
    key_file: Path,
    passphrase: str | None = PASSPHRASE,
    state_file: str = f".loopx/goals/{GOAL}/ACTIVE_GOAL_STATE.md",
    **rules: Any,
) -> House:
    """A workspace with one goal; its owner's key has a passphrase or is allowed unattended."""
    ws = Workspace.connect(root)
    secret = passphrase.encode() if passphrase else None
    generate(key_file, OWNER, secret)
    opened = load_private(key_file, secret)
    ws.append(ws.owners.enroll_first(OWNER, opened.public.line, passphrase is None), opened)
    open_goal(ws, opened, state_file, **rules)
    return House(root, ws.keys.choices(key_file)[0], secret)


def open_goal(
    ws: Workspace,
    key: Signer,
    state_file: str = f".loopx/goals/{GOAL}/ACTIVE_GOAL_STATE.md",
    **more: Any,
) -> None:
    """The goal, signed with the owner's key, and its agent."""
    rules = GoalRules(
        display_name="Dark mode",
        state_file=state_file,
        coordination=Coordination(write_scope=("src/**",), requires_parent_approval=("publish",)),
        **more,
    )
    command = OpenGoal(goal_id=GOAL, objective="Add a dark mode", rules=rules)
    ws.append(ws.goals.open(OWNER, command), key)
    ws.agents.add(AGENT)


class Watched:
    """A ledger that notes in ``house.appended`` every append that was tried."""

    def __init__(self, house: House, *, read_only: bool = False) -> None:
        self._house = house
        self._ws = house.open(read_only=read_only)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ws, name)

    def append(self, unsigned: Any, key: Any) -> Any:
        self._house.appended.append(unsigned.object_id)
        return self._ws.append(unsigned, key)


class Times:
    """A clock for keys that stands still until a test moves it."""

    def __init__(self) -> None:
        self.seconds = 100.0

    def __call__(self, _: object = None) -> float:
        return self.seconds


class ReviewApp(App[None]):
    """Shows one review screen over an empty first screen."""

    ENABLE_COMMAND_PALETTE = False

    def __init__(
        self,
        house: House,
        object_id: str,
        times: Times,
        *,
        case: str = "gate",
        read_only: bool = False,
        kept: Kept | None = None,
    ) -> None:
        super().__init__()
        self.register_theme(to_textual(DEFAULT))
        self.theme = "loopx-dark"
        self.times = times
        self.review = ReviewScreen(
            CASES[case],
            GOAL,
            object_id,
            lambda: Watched(house, read_only=read_only),
            now=times,
            pressed_at=times,
            kept=kept,
        )

    def on_mount(self) -> None:
        self.push_screen(self.review)

    @property
    def text(self) -> str:
        """What the top screen says, all of it."""
        return "\n".join(str(one.content) for one in self.screen.query("Static").results())  # type: ignore[attr-defined]

    @property
    def review_text(self) -> str:
        """What the review screen says, whatever is above it."""
        return "\n".join(str(one.content) for one in self.review.query("Static").results())  # type: ignore[attr-defined]


async def until(pilot: Pilot[None], holds: Callable[[], Any], what: str = "") -> None:
    """Waits, with a limit, for a condition."""
    async with asyncio.timeout(PATIENCE):
        while not holds():
            await pilot.pause()
            await asyncio.sleep(0.005)


def stands(app: App[Any], kind: type) -> bool:
    """Whether a dialog of this kind is on top and put up whole."""
    return isinstance(app.screen, kind) and bool(app.screen.query("#dialog-hint"))


async def armed(pilot: Pilot[None]) -> None:
    """Waits for the review to be painted and read, lets the quiet time pass, and arms it."""
    app = pilot.app
    assert isinstance(app, ReviewApp)

    def ready() -> bool:
        app.times.seconds += 0.5
        return app.review.course.phase == "armed"

    await until(pilot, ready)


async def press(pilot: Pilot[None], *keys: str) -> None:
    """Presses keys one after the other, as a person does."""
    app = pilot.app
    assert isinstance(app, ReviewApp)
    for key in keys:
        app.times.seconds += 0.2
        await pilot.press(key)
