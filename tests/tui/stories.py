"""What the ledger holds of dark-mode beyond its view: turns, versions, duties, its past."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from loopx_kernel.domain.records import Objective
from loopx_kernel.domain.records_of_work import Escalation, Obligation, Turn
from loopx_kernel.domain.state import GoalState
from loopx_kernel.errors import UsageError
from loopx_kernel.views.render_plain import TextLine
from loopx_kernel.workspace import EventRow, Past
from loopx_kernel.workspace.objectives import Version

from loopx_tui.app import LoopxApp, Options
from loopx_tui.feed import Told
from loopx_tui.presentation.header import Place
from loopx_tui.presentation.story import Story
from tests.tui import fixtures
from tests.tui.fixtures import NOW, ROOT, ago


def turn(number: int, todo_id: str, opened: float, closed: float | None, **more: Any) -> Turn:
    """A turn of claude-code's, opened and closed so many minutes ago."""
    values: dict[str, Any] = {
        "id": f"turn-{number:04}",
        "todo_id": todo_id,
        "agent_id": "claude-code",
        "contract_id": f"c-{number}",
        "lease_epoch": 2,
        "opened_at": ago(minutes=opened),
        "opened_seq": 300 + number,
        "seq": 300 + number,
    }
    if closed is not None:
        values |= {"closed_at": ago(minutes=closed), "status": "settled"}
    return Turn(**{**values, **more})


def turns() -> list[Turn]:
    """One of each ending, and one under way."""
    good = {"verified": True, "state_written": True, "slots_booked": 1}
    return [
        turn(76, "T1", 200, 185, outcome="done", **good),
        turn(77, "T2", 180, 171, outcome="progress", unproven=True, **good),
        turn(78, "T2", 160, 151, outcome="failed", reason="2 of 14 tests failed"),
        turn(
            79, "T7", 130, None, status="recovered", closed_at=ago(minutes=100), reason="no receipt"
        ),
        turn(80, "T5", 60, 44, outcome="blocked", reason="waits for ci #812", agent_id="codex"),
        turn(81, "T3", 14, None),
    ]


def state() -> GoalState:
    """The goal as in ``fixtures``, with turns and changes of mind."""
    known = fixtures.dark_mode()
    duties = [
        Obligation(id="O1", status="fulfilled", reason="the provider needs a context",
                   todo_ids=("T2",),
                   replan_todo="T4", by="huang", at=ago(hours=7), closed_by="claude-code",
                   closed_at=ago(hours=6), seq=200),
        Obligation(id="O2", reason="CSS variables do not reach the shadow DOM",
                   facts=("the date picker stays white",), todo_ids=("T3",), replan_todo="T4",
                   by="huang", at=ago(minutes=9), seq=408),
    ]  # fmt: skip
    escalation = Escalation(id="E1", status="answered", cause="no_progress", todo_id="T2",
                            detail="three turns without progress", at=ago(hours=8), answer="go_on",
                            by="huang", reason="give it one more day", answered_at=ago(hours=7.5),
                            seq=190)  # fmt: skip
    todos = dict(known.todos)
    todos["T4"] = todos["T4"].model_copy(update={"lineage_todo_ids": ("T2",)})
    todos["T7"] = todos["T7"].model_copy(update={"lineage_todo_ids": ("T2",)})
    todos["T8"] = todos["T8"].model_copy(update={"lineage_todo_ids": ("T4", "T7")})
    return known.model_copy(
        update={
            "turns": fixtures.by_id(turns()),
            "next_turn": 82,
            "obligations": fixtures.by_id(duties),
            "escalations": {"E1": escalation},
            "todos": todos,
            "objective": Objective(text=VERSIONS[-1].text, version=3),
        }
    )


VERSIONS = (
    Version(1, "Add a dark mode to the shop front.", "", (), "huang", ago(days=2), "event-1"),
    Version(2, "Add a dark mode to the shop front. It follows the system's setting.",
            "nobody finds the switch", ("usability test, 9 of 12",), "huang", ago(days=1),
            "event-88"),
    Version(3, "Add a dark mode to the shop front and the checkout. It follows the system's "
            "setting.",
            "the checkout was forgotten", (), "huang", ago(hours=3), "event-310"),
)  # fmt: skip

REPORT = (
    TextLine("Report on 商城前端添加深色模式, 2026-09-09 22:41 to 2026-09-16 22:41 UTC"),
    TextLine(),
    TextLine("SUMMARY"),
    TextLine("  basis: journal lines #1 to #412", "dim"),
    TextLine("  goal       dark-mode"),
    TextLine("  objective  v3: Add a dark mode to the shop front and the checkout."),
    TextLine("  todos      2 of 8 ended, 2 of them done"),
    TextLine(),
    TextLine("ALERTS"),
    TextLine("  chat-a was last read 9 days ago; its window is 3 days", "alert"),
    TextLine(),
    TextLine("PROGRESS"),
    TextLine("  Todos ended and in all (todos): 2 of 8 ended"),
    TextLine("  ended   ▁▁▁▁▂▂▂▄▄▄▄████  most 2"),
    TextLine("  in all  ▃▃▄▄▅▅▆▆▆▇▇████  most 8"),
)


class StillKnowing:
    """A ledger of values. Each line before the last one is a moment at which less was done."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def now(self, events: int) -> Story:
        self.asked.append("now")
        return Story(state(), tuple(fixtures.events()))

    def versions(self) -> tuple[Version, ...]:
        self.asked.append("versions")
        return VERSIONS

    def turns(self) -> tuple[Turn, ...]:
        self.asked.append("turns")
        return (turn(75, "T1", 300, 290, outcome="progress", verified=True),)

    def report(self) -> tuple[TextLine, ...]:
        self.asked.append("report")
        return REPORT

    def at(self, seq: int) -> tuple[Past, Story]:
        self.asked.append(f"at {seq}")
        rows = [row for row in fixtures.events() if row.event.seq <= seq] or [_first(seq)]
        then = rows[-1].event.recorded_at
        known = state()
        todos = {
            ref: todo for ref, todo in known.todos.items() if seq >= 404 or ref in ("T1", "T2")
        }
        known = known.model_copy(update={"seq": seq, "last_at": then, "todos": todos})
        return Past(fixtures.view_at(known, then), known, then, 412), Story(known, tuple(rows))

    def last_seq(self) -> int:
        return 412

    def seq_at(self, moment: datetime) -> int:
        seqs = [row.event.seq for row in fixtures.events() if row.event.recorded_at <= moment]
        return max(seqs, default=1)

    def seq_of(self, event_id: str) -> int:
        name, _, number = event_id.partition("-")
        if name != "event" or not number.isdigit():
            raise UsageError("unknown_event", f"There is no event {event_id}")
        return int(number)

    def seq_about(self, object_id: str, seq: int, step: int) -> int | None:
        lines = [
            row.event.seq for row in fixtures.events() if object_id in row.event.payload.values()
        ]
        found = [one for one in lines if (one > seq if step > 0 else one < seq)]
        return (min if step > 0 else max)(found) if found else None


def _first(seq: int) -> EventRow:
    return fixtures.event(seq, "todo.added", ago(hours=9), {"todo_id": "T1", "title": "Choose"})


def told() -> Told:
    """A reading of the four goals, in which dark-mode has its turns and changes."""
    views = fixtures.goals()
    views[0] = fixtures.view(state())
    return fixtures.told(views)


def app(first: Told | None = None, **options: Any) -> LoopxApp:
    """The app on values, with a ledger of values behind the goal's own screens."""
    knowing = StillKnowing()
    options.setdefault("path", fixtures.Path(ROOT))
    made = LoopxApp(
        Options(**options),
        feed=fixtures.StillFeed(first or told()),
        clock=lambda: NOW,
        place=Place("~/mall-frontend", "huang@host", read_only=options.get("read_only", False)),
        knowing=lambda goal_id: knowing,
    )
    made.asked = knowing.asked  # type: ignore[attr-defined]
    return made
