"""The commands that settle what waits for a person, and what each of them does."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from loopx_kernel.clock import to_the_second
from loopx_kernel.domain.needs_you import NeedKind
from loopx_kernel.value import Value
from loopx_kernel.views.goal import GoalView

_WHY = "--reason 'why'"


class Way(Value):
    """A command that decides, and what follows from it."""

    command: str
    does: str


def ways_of(view: GoalView, kind: NeedKind, ref: str) -> tuple[Way, ...]:
    """The ways out of one item; ``ref`` names it."""
    return tuple(_ways(view, kind, ref))


def _ways(view: GoalView, kind: NeedKind, ref: str) -> Iterator[Way]:
    goal = f"--goal {view.goal_id}"
    if kind == "gate":
        yield Way(f"loopx gate approve {ref} {goal} {_WHY}", "allows exactly this, once")
        yield Way(f"loopx gate reject {ref} {goal} {_WHY}", "refuses it; the brief says so")
        until = to_the_second(view.contract.decided_at + timedelta(days=1))
        yield Way(f"loopx gate defer {ref} {goal} --until {until}", "puts it off to a time")
    elif kind == "escalation":
        answer = f"loopx escalation answer {ref} {goal}"
        yield Way(f"{answer} --go-on {_WHY}", "gives a new allowance")
        yield Way(f"{answer} --replan {_WHY}", "asks for another route")
        yield Way(f"{answer} --cancel {_WHY}", "takes the todo away")
    elif kind in ("drift", "tick"):
        yield Way(
            f"loopx state adopt {goal}", "new rows and titles count; a tick completes nothing"
        )
        yield Way(
            f"loopx state restore {goal}", "the list is rendered again; the edit is kept aside"
        )
    elif kind == "damage":
        for command in dict.fromkeys(item.command for item in view.reads.damage):
            yield Way(command, "what stands there now is kept in quarantine")
    elif kind == "acceptance":
        by_hand = f"loopx accept by-hand {goal} --reason 'looked at it: it is good'"
        yield Way(by_hand, "accepts the finished work as it is")
        yield Way(f"loopx accept run {goal}", "runs the items of the rules again, signs nothing")
    elif kind == "human_todo":
        done = f"loopx todo complete {ref} {goal} --reason 'how it was done'"
        yield Way(done, "says that it is done, signed")
        yield Way(f"loopx todo cancel {ref} {goal} {_WHY}", "takes it away")
