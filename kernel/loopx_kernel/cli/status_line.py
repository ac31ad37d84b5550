"""One line for a status bar: alerts first, in the colours of tmux or of the terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from loopx_kernel.text import counted, safe

if TYPE_CHECKING:
    from loopx_kernel.views.envelope import Envelope
    from loopx_kernel.views.everywhere import GlobalView
    from loopx_kernel.views.goal import GoalView
    from loopx_kernel.views.workspace import WorkspaceView

Part = tuple[str, str]
"""Words, and a colour or nothing."""
ALERT = "red"
PERSON = "yellow"
_ANSWERS = {"run": "green", "ask": PERSON, "repair": ALERT, "wait": "blue", "closed": "green"}


def parts_of_goal(view: GoalView) -> list[Part]:
    """How one goal stands, what waits for a person, what is next."""
    quota = view.contract.quota
    parts = _alerts(view.envelope)
    parts.append((f"{view.goal_id} {view.display_answer}", _ANSWERS.get(view.display_answer, "")))
    if view.needs_you:
        parts.append((f"{len(view.needs_you)} for you: {view.needs_you[0].id}", PERSON))
    if view.contract.todo is not None:
        parts.append((f"next {view.contract.todo.id}", ""))
    parts.append((f"{view.counts['done']}/{view.counts['total']} done", ""))
    return [*parts, (f"{quota.used}/{quota.allowed} slots", "")]


def parts_of_workspace(view: WorkspaceView) -> list[Part]:
    """The same for all goals together."""
    return _together(view.envelope, view.goals, len(view.needs_you))


def parts_of_everywhere(view: GlobalView) -> list[Part]:
    """The same for every workspace of the person's list, and how many of them that is."""
    goals = [goal for _, goal in view.goals]
    read, listed = view.envelope.coverage.included_count, view.envelope.coverage.expected_count
    where = (f"{read}/{counted(listed, 'workspace')}", "" if read == listed else ALERT)
    return [*_together(view.envelope, goals, len(view.needs_you)), where]


def _together(envelope: Envelope, goals: Sequence[GoalView], waiting: int) -> list[Part]:
    parts = _alerts(envelope)
    parts.append((counted(len(goals), "goal"), ""))
    parts.append((f"{waiting} for you", PERSON if waiting else ""))
    answers = Counter(goal.display_answer for goal in goals)
    return parts + [(f"{answers[one]} {one}", _ANSWERS.get(one, "")) for one in sorted(answers)]


def for_tmux(parts: Sequence[Part], *, colours: bool) -> str:
    """The parts as tmux reads them: ``#[fg=…]`` colours, and every ``#`` of the words doubled."""
    shown = []
    for words, colour in parts:
        text = safe(words).replace("#", "##")
        styled = colours and colour
        shown.append(f"#[fg={colour}]{text}#[default]" if styled else text)
    return " | ".join(shown)


def _alerts(envelope: Envelope) -> list[Part]:
    return [(f"{reason.code}!", ALERT) for reason in envelope.alert_reasons]
