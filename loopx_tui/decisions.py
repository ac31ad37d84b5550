"""From a key to a signed append: the one road to a record, step by step.

``Course`` is a pure state machine, no widget in sight; ``Ledger`` is what it
takes of the workspace to go that road. Which key presses may decide anything
is ``KeyGuard``'s to say; reading, signing and appending are ``Desk``'s.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol

if TYPE_CHECKING:
    from pathlib import Path

    from loopx_kernel.clock import Clock
    from loopx_kernel.domain.state import GoalState
    from loopx_kernel.views.goal import GoalView
    from loopx_kernel.views.packet import Packet
    from loopx_kernel.views.workspace import WorkspaceView
    from loopx_kernel.workspace import Done, KeyChoice, Unsigned
    from loopx_kernel.workspace.accepting import Accepting
    from loopx_kernel.workspace.drifts import Drifts
    from loopx_kernel.workspace.escalations import Escalations
    from loopx_kernel.workspace.gates import Gates
    from loopx_kernel.workspace.goals import Goals
    from loopx_kernel.workspace.objectives import Objectives
    from loopx_kernel.workspace.owners import Owners
    from loopx_kernel.workspace.repairs import Repairs
    from loopx_kernel.workspace.replans import Replans
    from loopx_kernel.workspace.todos import Todos

TRIES: Final = 3

Phase = Literal[
    "looking",
    "armed",
    "asking",
    "fixing",
    "naming",
    "fixed",
    "unlocking",
    "appending",
    "recorded",
    "failed",
    "settled",
]

Step = Literal[
    "arm",
    "disturb",
    "choose",
    "ask",
    "answer",
    "fix",
    "fix_irreversible",
    "name",
    "unlock",
    "retry",
    "append",
    "record",
    "fail",
    "cancel",
    "settle",
]

STEPS: Final[Mapping[Step, Mapping[Phase, Phase]]] = {
    "arm": {"looking": "armed", "failed": "armed"},
    "disturb": {"armed": "looking"},
    "choose": {"armed": "fixing"},
    "ask": {"armed": "asking"},
    "answer": {"asking": "fixing"},
    "fix": {"fixing": "fixed"},
    "fix_irreversible": {"fixing": "naming"},
    "name": {"naming": "fixed"},
    "unlock": {"fixed": "unlocking"},
    "retry": {"unlocking": "fixed"},
    "append": {"unlocking": "appending"},
    "record": {"appending": "recorded"},
    "fail": dict.fromkeys(("fixing", "unlocking", "appending"), "failed"),
    "cancel": dict.fromkeys(("asking", "fixing", "naming", "fixed", "unlocking"), "looking"),
    "settle": dict.fromkeys(
        ("looking", "armed", "asking", "fixing", "naming", "fixed", "unlocking", "failed"),
        "settled",
    ),
}
"""Every legal step: from which phase to which. Only ``appending`` writes."""


@dataclass(frozen=True, slots=True)
class Course:
    """Where one decision stands, with what happened last as a sentence in ``note``."""

    phase: Phase = "looking"
    way: str = ""
    tries: int = 0
    note: str = ""
    done: Done[Any] | None = None

    def can(self, step: Step) -> bool:
        """Whether the step is legal from here."""
        return self.phase in STEPS[step]

    def step(self, step: Step, **changes: Any) -> Course:
        """The course after a legal step, with ``changes``; itself after any other."""
        to = STEPS[step].get(self.phase)
        if to is None:
            return self
        if step in ("choose", "ask"):
            changes = {"tries": 0, "note": "", **changes}
        return replace(self, phase=to, **changes)

    def wrong_passphrase(self, sentence: str) -> Course:
        """Another try, or after ``TRIES`` of them back to looking."""
        if not self.can("retry"):
            return self
        tries = self.tries + 1
        if tries < TRIES:
            return self.step("retry", tries=tries, note=f"{sentence}; {TRIES - tries} tries left")
        return self.step("cancel", note=f"{sentence}, {TRIES} times; nothing was written")

    @property
    def writing(self) -> bool:
        """The statement is on its way into the journal and cannot be called back."""
        return self.phase == "appending"

    @property
    def over(self) -> bool:
        """Nothing can be decided here any more."""
        return self.phase in ("recorded", "settled")

    @property
    def busy(self) -> bool:
        """Between the decision key and its end."""
        return not self.over and self.phase not in ("looking", "armed", "failed")


class Keys(Protocol):
    """What is needed of ``Workspace.keys``."""

    def choices(self) -> tuple[KeyChoice, ...]: ...

    def unlock(self, choice: KeyChoice, passphrase: bytes | None, unsigned: Unsigned, /) -> Any: ...


class Ledger(Protocol):
    """What is needed of the ``Workspace``."""

    @property
    def root(self) -> Path: ...

    @property
    def read_only(self) -> bool: ...

    @property
    def clock(self) -> Clock: ...

    @property
    def goal_ids(self) -> tuple[str, ...]: ...

    @property
    def keys(self) -> Keys: ...

    @property
    def gates(self) -> Gates: ...

    @property
    def escalations(self) -> Escalations: ...

    @property
    def drift(self) -> Drifts: ...

    @property
    def repairs(self) -> Repairs: ...

    @property
    def todos(self) -> Todos: ...

    @property
    def goals(self) -> Goals: ...

    @property
    def objectives(self) -> Objectives: ...

    @property
    def replans(self) -> Replans: ...

    @property
    def accepting(self) -> Accepting: ...

    @property
    def owners(self) -> Owners: ...

    def state(self, goal_id: str, /) -> GoalState: ...

    def view(self, goal_id: str, /) -> GoalView: ...

    def workspace_view(self, projection: str, /) -> WorkspaceView: ...

    def packet(self, goal_id: str, ref: str, /) -> Packet: ...

    def append(self, unsigned: Unsigned, key: Any, /) -> Done[Any]: ...
