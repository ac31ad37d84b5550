"""What a row stands for: the object to open, and the situation for commands."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from loopx_tui.commands import Situation
from loopx_tui.presentation.events import object_of
from loopx_tui.presentation.facts import Subject
from loopx_tui.presentation.finding import NAMED
from loopx_tui.presentation.scene import Scene

if TYPE_CHECKING:
    from loopx_kernel.domain.needs_you import NeedsYou

_KINDS: Final = {
    "todos": "todo",
    "leases": "lease",
    "sources": "source",
    "events": "event",
    "journal": "event",
    "turns": "turn",
    "bookings": "spend",
}
_OF_NOTHING: Final = ("report", "side")

TAB_OF: Final = {"completion": 4, "quota": 5, "sources": 6, "events": 7}
"""The tab of a goal's own screen in which what a pane of the first one shows stands in full."""


def subject_of(pane: str, key: str | None, scene: Scene) -> Subject | None:
    """The object behind row ``key`` of a pane; panes about the goal itself open the goal."""
    if pane == "needs":
        goal_id, _, item = (key or "").partition("/")
        return Subject("need", goal_id, item) if item else None
    if pane == "goals":
        return Subject("goal", key, key) if key else None
    goal_id = scene.goal_id or ""
    if pane == "changes":
        return _of_change(key or "", goal_id)
    if pane == "todos" and key and _has_left(key, scene):
        return Subject(NAMED, goal_id, key)
    if pane in _KINDS:
        return Subject(_KINDS[pane], goal_id, key) if goal_id and key else None
    return Subject("goal", goal_id, goal_id) if goal_id and pane not in _OF_NOTHING else None


def _has_left(todo_id: str, scene: Scene) -> bool:
    """Whether a todo finished so long ago that only the journal knows it."""
    finished = (scene.story.finished or ()) if scene.story else ()
    here = scene.goal.todos if scene.goal else ()
    return any(todo.id == todo_id for todo in finished) and all(
        row.todo.id != todo_id for row in here
    )


def _of_change(key: str, goal_id: str) -> Subject | None:
    """A row of changes says its kind in its key."""
    kind, _, name = key.partition("/")
    if kind == "lineage":
        kind, name = "todo", name.partition("/")[0]
    return Subject(kind, goal_id, name) if name else None


def situation_of(pane: str, key: str | None, scene: Scene, *, read_only: bool) -> Situation:
    """What the cursor is on, as commands ask for it."""
    here = Situation(scene.goal_id or "", read_only=read_only, history=scene.past)
    subject = subject_of(pane, key, scene)
    if subject is None:
        return here
    about = replace(here, goal_id=subject.goal_id, object_id=subject.id, kind=subject.kind)
    if subject.kind == "need":
        item = _needed(subject.id, subject.goal_id, scene)
        if item is None:
            return replace(about, kind="damage")
        return replace(about, kind=item.kind, next=item.next)
    item = _waits(pane, key, subject, scene)
    return about if item is None else replace(about, next=item.next, waiting=(item.kind, item.id))


def _needed(item_id: str, goal_id: str, scene: Scene) -> NeedsYou | None:
    goal = scene.find(goal_id)
    needs = goal.needs_you if goal else ()
    return next((item for item in needs if item.id == item_id), None)


def _waits(pane: str, key: str | None, subject: Subject, scene: Scene) -> NeedsYou | None:
    """What waits for a person about an object: itself, or what stops it."""
    names = _names(pane, key, subject, scene)
    goal = scene.find(subject.goal_id)
    needs = goal.needs_you if goal else ()
    own = (item for name in names for item in needs if item.id == name)
    stops = (item for name in names for item in needs if name in item.blocks)
    return next(own, None) or next(stops, None)


def _names(pane: str, key: str | None, subject: Subject, scene: Scene) -> tuple[str, ...]:
    """The ids an object goes by: its own, that of what a line is about, those a check counts."""
    goal = scene.find(subject.goal_id)
    if pane == "completion" and goal is not None:
        checks = goal.completion.checks
        return next((one.ids for one in checks if f"{one.gate}.{one.check}" == key), ())
    if subject.kind == "event":
        shown = scene.story.events if scene.story else scene.events
        row = next((row for row in shown if row.event.event_id == subject.id), None)
        return (object_of(row.event.payload),) if row else ()
    if subject.kind == "turn" and scene.story is not None:
        turn = scene.story.turn(subject.id)
        return (turn.todo_id,) if turn else ()
    return () if subject.kind == "goal" else (subject.id,)
