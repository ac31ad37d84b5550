"""A workspace of values for the screen: fixed ids, times and words, and no file behind it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from loopx_kernel.clock import Reading
from loopx_kernel.domain.event import Event, ObjectRef, Signed, Witness
from loopx_kernel.domain.needs_you import Damage, Difference, Reads
from loopx_kernel.domain.records import (
    Alert,
    Gate,
    Lease,
    Objective,
    Origin,
    Source,
    Spend,
    Todo,
    WaitingOn,
)
from loopx_kernel.domain.rules import Coordination, GoalRules
from loopx_kernel.domain.state import GoalState
from loopx_kernel.views.goal import GoalView, goal_view
from loopx_kernel.views.workspace import Unread, WorkspaceView, workspace_view
from loopx_kernel.workspace import EventRow

from loopx_tui.app import LoopxApp, Options
from loopx_tui.feed import Liveness, OwnFiles, Snapshot, Told
from loopx_tui.presentation.header import Place

NOW = datetime(2026, 9, 16, 22, 41, 7, tzinfo=UTC)
HEAD = "9f2c" + "0" * 60
DIGEST = "a" * 64
OWNER = "huang"
AGENTS = ("claude-code", "codex")
ROOT = "/home/huang/mall-frontend"


def ago(**delta: float) -> datetime:
    """That long before ``NOW``."""
    return NOW - timedelta(**delta)


def todo(number: int, title: str, **more: Any) -> Todo:
    """A todo of claude-code's; ``more`` overrides."""
    values: dict[str, Any] = {
        "id": f"T{number}",
        "title": title,
        "origin": Origin(actor_kind="agent", actor_agent_id="claude-code", event_id=f"e{number}"),
        "added_at": ago(hours=9),
        "changed_at": ago(hours=1),
        "seq": number,
    }
    return Todo(**{**values, **more})


def lease(
    owner: str, *, epoch: int, version: int, left: timedelta, scopes: tuple[str, ...]
) -> Lease:
    """A lease of a quarter of an hour that ends ``left`` after ``NOW``."""
    return Lease(
        owner=owner,
        write_scopes=scopes,
        version=version,
        lease_epoch=epoch,
        acquired_at=NOW + left - timedelta(minutes=16),
        renewed_at=NOW + left - timedelta(minutes=16),
        expires_at=NOW + left,
        status="active",
        seq=version,
    )


def held(number: int, title: str, holder: Lease, **more: Any) -> Todo:
    """A claimed todo."""
    return todo(
        number,
        title,
        status="claimed",
        lease=holder,
        write_scope=holder.write_scopes,
        version=holder.version,
        lease_epoch=holder.lease_epoch,
        **more,
    )


def gate(number: int, question: str, **more: Any) -> Gate:
    """A pending gate asked by codex twelve minutes ago."""
    values: dict[str, Any] = {
        "id": f"G{number}",
        "status": "pending",
        "action": "publish",
        "command": "npm publish @mall/theme",
        "question": question,
        "digest": DIGEST,
        "requested_by": "codex",
        "requested_at": ago(minutes=12),
        "seq": 40 + number,
    }
    return Gate(**{**values, **more})


def goal(goal_id: str, *, name: str = "", **more: Any) -> GoalState:
    """An active goal with its rules."""
    rules = GoalRules(
        display_name=name or goal_id,
        state_file=f".loopx/goals/{goal_id}/ACTIVE_GOAL_STATE.md",
        coordination=Coordination(write_scope=("src/**", "tests/**")),
    )
    values: dict[str, Any] = {
        "goal_id": goal_id,
        "seq": 412,
        "head": HEAD,
        "last_at": ago(seconds=20),
        "opened_at": ago(days=2),
        "changed_at": ago(minutes=3),
        "rules": rules,
        "objective": Objective(text="Add a dark mode to the shop front", version=2),
    }
    return GoalState(**{**values, **more})


def by_id(items: Sequence[Any]) -> dict[str, Any]:
    """Records by their id."""
    return {item.id: item for item in items}


def spends(count: int) -> dict[str, Spend]:
    """Bookings spread over the last day, more of them lately."""
    return {
        f"turn-{n:04}": Spend(
            effect_ref=f"turn-{n:04}",
            slots=1,
            at=ago(minutes=5 + (n * n) * 1400 / (count * count)),
            by="claude-code",
            seq=n,
        )
        for n in range(count)
    }


def dark_mode() -> GoalState:
    """The goal in the middle of its work; every kind of row occurs in it."""
    claimed = lease(
        "claude-code", epoch=2, version=5, left=timedelta(minutes=14), scopes=("src/theme/**",)
    )
    lost = lease("codex", epoch=1, version=2, left=timedelta(minutes=-3), scopes=("docs/**",))
    todos = [
        todo(1, "Choose the colour tokens", status="done", proven=True, seq=11),
        todo(2, "Write the theme provider", status="done", seq=12),
        held(3, "Convert the shop's components to tokens", claimed),
        todo(4, "Add tests for the theme switch", write_scope=("tests/theme/**",)),
        todo(
            5,
            "Open the pull request",
            status="waiting",
            waiting_on=WaitingOn(kind="ci", ref="#812"),
            changed_at=ago(minutes=4),
        ),
        todo(6, "Publish the package @mall/theme", priority="P1"),
        held(7, "Describe the tokens in the docs", lost),
        todo(8, "Ask the designers about 深色模式 contrast", role="human", depends_on=("T3",)),
    ]
    sources = [
        Source(
            id="github",
            provider="github",
            required=True,
            bound=True,
            window_seconds=86400,
            last_read_at=ago(minutes=3),
            last_success_at=ago(minutes=3),
            checked_at=ago(minutes=3),
            read_status="read",
            item_count=12,
            unreadable_count=0,
            seq=30,
        ),
        Source(
            id="chat-a",
            provider="chat",
            required=True,
            bound=True,
            window_seconds=3 * 86400,
            last_read_at=ago(days=9),
            last_success_at=ago(days=9),
            checked_at=ago(minutes=30),
            read_status="failed",
            failure_streak=4,
            seq=31,
        ),
        Source(id="wiki", provider="wiki", on_demand=True, window_seconds=86400, seq=32),
    ]
    return goal(
        "dark-mode",
        name="商城前端添加深色模式",
        todos=by_id(todos),
        gates=by_id([gate(4, "Publish @mall/theme 1.0 to npm?", blocks=("T6",))]),
        sources=by_id(sources),
        spends=spends(212),
        next_todo=9,
        next_gate=5,
    )


def view(state: GoalState, reads: Reads | None = None) -> GoalView:
    """The goal's view at ``NOW``."""
    return goal_view(
        state,
        reads or Reads(),
        Reading(NOW, "host-1", "boot-1", 1000.0),
        agents=AGENTS,
        owners=(OWNER,),
    )


def view_at(state: GoalState, now: datetime) -> GoalView:
    """The goal's view by another clock, with nothing read beside its journal."""
    return goal_view(state, Reads(), Reading(now), agents=AGENTS, owners=(OWNER,))


def goals() -> list[GoalView]:
    """Four goals, each with another answer."""
    drift = Reads(
        drift=(Difference("ticked", "T3", 12, "Fix the rounding"),), drift_since=ago(minutes=2)
    )
    waiting = todo(
        1, "Merge the docs", status="waiting", waiting_on=WaitingOn(kind="review", ref="#77")
    )
    return [
        view(dark_mode()),
        view(goal("fix-checkout", todos=by_id([todo(3, "Fix the rounding")])), drift),
        view(goal("docs-refresh", todos=by_id([waiting]))),
        view(goal("auth-cleanup", status="paused")),
    ]


def damaged() -> GoalView:
    """A goal whose lease file is damaged and with a line that has no effect."""
    damage = Damage(
        path="task-leases/T3.json",
        reason="its digest does not fit",
        expected_digest="ab" * 32,
        found_digest="cd" * 32,
        command="loopx repair file task-leases/T3.json",
        todo_id="T3",
    )
    alert = Alert(
        seq=409,
        event_id="forged-1",
        event_type="gate.approved",
        actor_agent_id="huang",
        code="unknown_signer",
        message="signed by nobody who is enrolled here",
    )
    state = dark_mode().model_copy(update={"alerts": (alert,), "alert_count": 1})
    return view(state, Reads(damage=(damage,)))


def workspace(views: Sequence[GoalView], unread: Sequence[Unread] = ()) -> WorkspaceView:
    """These goals as a workspace."""
    return workspace_view(
        root=ROOT,
        workspace_id="0" * 32,
        goals=views,
        unread=unread,
        owners=(OWNER,),
        agents=AGENTS,
        alerts=(),
        now=NOW,
    )


def event(
    seq: int, event_type: str, at: datetime, payload: dict[str, Any], **more: Any
) -> EventRow:
    """A line of the journal; an owner's is signed and verifies unless ``more`` says otherwise."""
    kind, actor = more.pop("kind", "agent"), more.pop("actor", "claude-code")
    signed = None
    if kind == "owner":
        signed = Signed(
            signed_at=at,
            object=ObjectRef(id="G3", version=1),
            witnessed=Witness(seq=seq - 1, head=HEAD),
            signature="SSHSIG",
        )
    line = Event(
        event_id=f"event-{seq}",
        goal_id="dark-mode",
        event_type=event_type,
        recorded_at=at,
        actor_kind=kind,
        actor_agent_id=actor,
        payload=payload,
        signed=signed,
        request=DIGEST,
        seq=seq,
        schema_version="loopx_event_v1",
        prev=HEAD,
        sha256=DIGEST,
    )
    facts: dict[str, Any] = {
        "effective": True,
        "problem": None,
        "signature_ok": True if signed else None,
        "level": "passphrase" if signed else None,
        "signer": actor if signed else None,
        "fingerprint": "SHA256:u3Zk1mQf8c" if signed else None,
    }
    return EventRow(event=line, **{**facts, **more})


def events() -> list[EventRow]:
    """The tail of dark-mode's journal, oldest first."""
    forged = {"effective": False, "signature_ok": False, "problem": "unknown_signer", "level": None}
    return [
        event(404, "todo.added", ago(minutes=16), {"todo_id": "T8", "title": "Ask the designers"}),
        event(405, "todo.claimed", ago(minutes=14), {"todo_id": "T3", "lease_epoch": 2}),
        event(
            406,
            "gate.requested",
            ago(minutes=12),
            {"gate_id": "G4", "question": "Publish @mall/theme 1.0 to npm?"},
            actor="codex",
        ),
        event(407, "gate.approved", ago(minutes=9), {"gate_id": "G3"}, kind="owner", actor="huang"),
        event(408, "gate.used", ago(minutes=8), {"gate_id": "G3"}, actor="codex"),
        event(
            409,
            "gate.approved",
            ago(minutes=6),
            {"gate_id": "G4"},
            kind="owner",
            actor="mallory",
            **forged,
        ),
        event(
            410,
            "source.read",
            ago(minutes=3),
            {"source_id": "github", "status": "read"},
            kind="code",
            actor="loopx",
        ),
        event(
            411,
            "todo.completed",
            ago(minutes=1),
            {"todo_id": "T2", "note": "the provider is in src/theme/provider.tsx"},
        ),
        event(412, "spend.booked", ago(seconds=20), {"effect_ref": "turn-0081", "slots": 1}),
    ]


class StillFeed:
    """A feed of values: it tells one thing, and nothing of the disk."""

    def __init__(self, told: Told, mode: Liveness = "live") -> None:
        self.told = told
        self.mode = mode
        self.reason = ""
        self.selected: list[str] = []
        self.stopped = False
        self._post: Callable[[Snapshot | OwnFiles], object] = lambda _: None

    def start(self, post: Callable[[Snapshot | OwnFiles], object]) -> None:
        self._post = post
        self.tell(self.told)

    def tell(self, told: Told) -> None:
        """Posts another reading."""
        self.told = told
        self._post(Snapshot(told, self.mode, self.reason))

    def select(self, goal_id: str) -> None:
        self.selected.append(goal_id)

    async def watch(self) -> None:
        await asyncio.Event().wait()

    def stop(self) -> None:
        self.stopped = True


def told(views: Sequence[GoalView] | None = None, unread: Sequence[Unread] = ()) -> Told:
    """A reading of the four goals, or of others, with dark-mode's events."""
    found = goals() if views is None else views
    first = next((one.goal_id for one in found), None)
    tail = tuple(events()) if first == "dark-mode" else ()
    return Told(Path(ROOT), workspace(found, unread), first, tail, NOW)


def app(told_first: Told | None = None, **options: Any) -> LoopxApp:
    """The app on values, at ``NOW``, at a place that is the same on every machine."""
    options.setdefault("path", Path(ROOT))
    return LoopxApp(
        Options(**options),
        feed=StillFeed(told_first or told()),
        clock=lambda: NOW,
        place=Place("~/mall-frontend", "huang@host", read_only=options.get("read_only", False)),
    )
