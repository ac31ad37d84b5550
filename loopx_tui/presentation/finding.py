"""Finding an object by its id, among everything that is read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

from loopx_kernel.text import safe

from loopx_tui.presentation.facts import Subject
from loopx_tui.presentation.scene import Scene

if TYPE_CHECKING:
    from loopx_kernel.views.goal import GoalView

    from loopx_tui.presentation.story import Story

MOST: Final = 12
NAMED: Final = "named"
"""The kind of what only the journal may know."""
_ID: Final = re.compile(r"(?=.*[0-9])[A-Za-z0-9][A-Za-z0-9._-]{1,199}|#[0-9]{1,15}")


class Found(NamedTuple):
    """An object with what it is called in words, safe to show."""

    subject: Subject
    words: str


def find(text: str, scene: Scene) -> list[Found]:
    """What is called ``text``, then what begins so, whatever its case; the selected goal's first.

    At most ``MOST``. Where nothing is called so and it may be an id, the first is that name, to
    be looked up in the selected goal's journal.
    """
    wanted = text.strip().casefold()
    if not wanted:
        return []
    known = list(_known(scene))
    found = [one for one in known if _names(one, wanted)]
    if not found and scene.goal_id and _ID.fullmatch(text.strip()):
        found.append(Found(Subject(NAMED, scene.goal_id, text.strip()), ""))
    if len(wanted) > 1:
        found += [one for one in known if _begins(one, wanted)]
    return [one._replace(words=safe(one.words)) for one in found[:MOST]]


def _names(one: Found, wanted: str) -> bool:
    if one.subject.id.casefold() == wanted:
        return True
    return one.subject.kind == "event" and one.words.partition(" ")[0] == wanted


def _begins(one: Found, wanted: str) -> bool:
    name = one.subject.id.casefold()
    return name.startswith(wanted) and name != wanted


def _known(scene: Scene) -> Iterator[Found]:
    goals = scene.view.goals if scene.view else ()
    for goal in sorted(goals, key=lambda goal: goal.goal_id != scene.goal_id):
        yield Found(Subject("goal", goal.goal_id, goal.goal_id), goal.display_name)
        yield from _of_goal(goal)
    if scene.story is not None and scene.goal_id:
        yield from _of_story(scene.story, scene.goal_id)
    for row in scene.story.events if scene.story else scene.events:
        event = row.event
        words = f"#{event.seq} {event.event_type}"
        yield Found(Subject("event", event.goal_id, event.event_id), words)


def _of_goal(goal: GoalView) -> Iterator[Found]:
    name = goal.goal_id
    for todo in (row.todo for row in goal.todos):
        yield Found(Subject("todo", name, todo.id), todo.title)
    for gate in (row.gate for row in goal.gates):
        yield Found(Subject("gate", name, gate.id), gate.question)
    for source in goal.sources:
        yield Found(Subject("source", name, source.id), source.provider)
    for item in goal.needs_you:
        if item.kind == "escalation":
            yield Found(Subject("need", name, item.id), item.question)


def _of_story(story: Story, goal_id: str) -> Iterator[Found]:
    for turn in story.turns:
        yield Found(Subject("turn", goal_id, turn.id), f"{turn.todo_id} {turn.agent_id}")
    for duty in story.state.obligations.values():
        yield Found(Subject("replan", goal_id, duty.id), duty.reason)
    for one in story.state.escalations.values():
        yield Found(Subject("escalation", goal_id, one.id), one.detail)
