"""What a row stands for: the object to open, and the situation for commands."""

from __future__ import annotations

from typing import Final

from loopx_tui.commands import Situation
from loopx_tui.presentation.details import Subject
from loopx_tui.presentation.scene import Scene

_KINDS: Final = {"goals": "goal", "needs": "need", "todos": "todo", "leases": "lease",
                 "sources": "source", "events": "event"}  # fmt: skip


def subject_of(pane: str, key: str | None, scene: Scene) -> Subject | None:
    """The object behind row ``key`` of a pane; panes about the goal itself open the goal."""
    if pane == "needs":
        goal_id, _, item = (key or "").partition("/")
        return Subject("need", goal_id, item) if item else None
    if pane == "goals":
        return Subject("goal", key, key) if key else None
    if scene.goal_id is None:
        return None
    if pane in _KINDS:
        return Subject(_KINDS[pane], scene.goal_id, key) if key else None
    return Subject("goal", scene.goal_id, scene.goal_id)


def situation_of(pane: str, key: str | None, scene: Scene, *, read_only: bool) -> Situation:
    """What the cursor is on, as commands ask for it."""
    subject = subject_of(pane, key, scene)
    if subject is None:
        return Situation(goal_id=scene.goal_id or "", read_only=read_only)
    if subject.kind != "need":
        return Situation(subject.goal_id, subject.id, subject.kind, read_only=read_only)
    goal = scene.find(subject.goal_id)
    needs = goal.needs_you if goal else ()
    item = next((item for item in needs if item.id == subject.id), None)
    if item is None:
        return Situation(subject.goal_id, subject.id, "damage", read_only=read_only)
    return Situation(subject.goal_id, item.id, item.kind, item.next, read_only=read_only)
