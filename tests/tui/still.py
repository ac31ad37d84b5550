"""Everything there is to decide, as values: a ledger without a file, and an app that reviews."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from loopx_kernel.domain.event import WORKSPACE_JOURNAL
from loopx_kernel.domain.needs_you import Difference
from loopx_kernel.domain.records import EvidenceRef
from loopx_kernel.domain.records_of_work import Effort, Escalation, Turn
from loopx_kernel.domain.roster_state import Owner
from loopx_kernel.views.packet import Change, Packet, looked, packet
from loopx_kernel.views.packet_subject import followed, subject_of
from loopx_kernel.workspace import DamageRow, Edited
from loopx_kernel.workspace.pins import Sight
from textual.app import App
from textual.pilot import Pilot
from textual.screen import Screen

from loopx_tui.cases.table import CASES
from loopx_tui.flags import Flag
from loopx_tui.screens.review import ReviewScreen
from loopx_tui.themes import DEFAULT, to_textual
from tests.tui import fixtures
from tests.tui.gates import Times, until

GOAL = "dark-mode"
DIFF = (
    "--- as recorded",
    "+++ as edited",
    "@@ -9,5 +9,6 @@",
    " ## Todos",
    " ",
    "-- [ ] T3 Convert the shop's components to tokens",
    "+- [ ] T3 Convert all of the shop's components to tokens",
    "-- [ ] T4 Add tests for the theme switch",
    "+- [x] T4 Add tests for the theme switch",
    "+- [ ] Ask the designers about 深色模式",
    " - [ ] T6 Publish the package @mall/theme",
)


def digest(number: int) -> str:
    return f"{number:02x}" * 32


def state() -> Any:
    """Work that one turn after the other led nowhere."""
    turns = {
        f"turn-{n:04}": Turn(
            id=f"turn-{n:04}",
            todo_id="T3",
            agent_id="claude-code",
            contract_id=f"c{n}",
            lease_epoch=2,
            status="settled",
            outcome="failed" if n % 2 else "progress",
            slots_booked=0 if n % 2 else 1,
            result_digest=digest(n),
            opened_at=fixtures.ago(minutes=90 - n),
            opened_seq=n,
            reason="3 of 40 tests fail" if n % 2 else "",
            seq=n,
        )
        for n in range(81, 85)
    }
    raised = Escalation(
        id="E1",
        cause="no_progress",
        todo_id="T3",
        turn_id="turn-0084",
        detail="3 settled turns in a row without progress",
        at=fixtures.ago(minutes=4),
        seq=411,
    )
    found = fixtures.dark_mode()
    effort = Effort(
        turns=4, failed=2, streak=3, digests=tuple(map(digest, range(81, 85))), score="6"
    )
    return found.model_copy(
        update={
            "turns": turns,
            "escalations": {"E1": raised},
            "todos": {
                **found.todos,
                "T3": found.todos["T3"].model_copy(update={"effort": effort}),
            },
        }
    )


def people() -> tuple[Owner, ...]:
    """Three owners: one with a passphrase, one whose programs decide, one who left."""
    lines = [f"ssh-ed25519 {'A' * 60}{n}" for n in range(3)]
    prints = [f"SHA256:{letter * 43}" for letter in ("u", "k", "w")]
    first = {"enrolled_by": "huang", "enrolled_at": fixtures.ago(hours=900)}
    return (
        Owner(name="huang", key=lines[0], fingerprint=prints[0], enrolled_seq=2, **first),
        Owner(
            name="ci-robot",
            key=lines[1],
            fingerprint=prints[1],
            allow_unattended=True,
            enrolled_seq=7,
            **first,
        ),
        Owner(
            name="lin",
            key=lines[2],
            fingerprint=prints[2],
            enrolled_seq=9,
            **first,
            revoked_seq=12,
            revoked_by="huang",
            revoked_at=fixtures.ago(hours=20),
        ),
    )


class StillLedger:
    """A ledger of values with everything there is to decide, and a key that could sign."""

    read_only = False
    root = Path("/home/huang/mall-frontend")
    goal_ids = (GOAL,)

    def __init__(self) -> None:
        key = SimpleNamespace(
            path=Path("/home/huang/.config/loopx/loopx_ed25519"),
            owner="huang",
            fingerprint="SHA256:u3Zk1mQf8cV2x0hT7bJm5sYpQ9rL4aWnE6dGcKiXoUs",
            usable=True,
            problem=None,
            needs_passphrase=True,
            level="passphrase",
            in_agent=False,
            asks="passphrase",
        )
        damage = fixtures.damaged().reads.damage[0]
        edits = (
            Difference("retitled", "T3", 11, "Convert all of the shop's components to tokens"),
            Difference("ticked", "T4", 12, "Add tests for the theme switch"),
            Difference("added", None, 13, "Ask the designers about 深色模式"),
        )
        edited = Edited(".codex/goals/dark-mode/ACTIVE_GOAL_STATE.md", digest(7), edits, DIFF)
        self.keys = SimpleNamespace(choices=lambda: (key,))
        self.owners = SimpleNamespace(
            list=people, narrowing=None, pins=SimpleNamespace(look=Sight, damage=tuple)
        )
        self.drift = SimpleNamespace(look=lambda goal_id: edited)
        self.repairs = SimpleNamespace(list=lambda: (DamageRow(GOAL, damage, "T3 of dark-mode"),))

    def state(self, goal_id: str) -> Any:
        return state()

    def view(self, goal_id: str) -> Any:
        return fixtures.view(state())

    def workspace_view(self, projection: str) -> Any:
        return fixtures.workspace(fixtures.goals())

    def packet(self, goal_id: str, ref: str) -> Packet:
        """A real packet, with a look inside two files that nobody has."""
        view, now = self.view(goal_id), state()
        subject = subject_of(view, now, ref)
        todos = [now.todos[name] for name in followed(subject, ()) if name in now.todos]
        red = EvidenceRef(path="report.xml", sha256=digest(9), size=812, kind="junit")
        inside = Change("test report, failed: 40 tests, 3 failed", "theme.test: expected #111", "")
        evidence = [looked(todo.id, red, "changed", "kept", inside) for todo in todos]
        return packet(view, now, subject, todos, evidence=evidence)


class CaseApp(App[None]):
    ENABLE_COMMAND_PALETTE = False

    def __init__(self, case: str, object_id: str) -> None:
        super().__init__()
        self.animation_level = "none"
        self.register_theme(to_textual(DEFAULT))
        self.theme = "loopx-dark"
        goal_id = WORKSPACE_JOURNAL if object_id == "owners" else GOAL
        self.times = Times()
        self.review = ReviewScreen(
            CASES[case], goal_id, object_id, StillLedger, now=self.times, pressed_at=self.times
        )

    def on_mount(self) -> None:
        self.push_screen(self.review)


async def armed(pilot: Pilot[None], app: CaseApp) -> None:
    """Waits until keys count at the review, or a dialog stands over it."""

    def ready() -> bool:
        if app.screen is not app.review:
            return True
        app.times.seconds += 0.5
        return app.review.course.phase == "armed"

    await until(pilot, ready)


class Over(App[None]):
    """Shows one screen over an empty one."""

    ENABLE_COMMAND_PALETTE = False

    def __init__(self, make: Callable[[], Screen[Any]], flag: Flag = Flag()) -> None:  # noqa: B008
        super().__init__()
        self.animation_level = "none"
        self.register_theme(to_textual(DEFAULT, frame=flag.colour))
        self.theme = "loopx-dark"
        self.flag = flag
        self._make = make

    def on_mount(self) -> None:
        self.push_screen(self._make())
