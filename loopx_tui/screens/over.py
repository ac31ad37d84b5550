"""The screens that lie over a board: a goal's own, its past, the doctor and the quarantine."""

from __future__ import annotations

from functools import partial
from typing import Any

from loopx_tui.screens.acting import ActingScreen
from loopx_tui.screens.boarded import BoardScreen
from loopx_tui.screens.goal import GoalScreen
from loopx_tui.screens.history import HistoryScreen
from loopx_tui.screens.listed import DoctorScreen, ListScreen, QuarantineScreen


def screen_over(name: str, under: ActingScreen, **more: Any) -> BoardScreen:
    """The screen of that name, drawn from what is shown on the one below it. ``more`` is what
    that screen alone is asked for: ``goal_id`` and ``tab``, or ``seq``."""
    assert isinstance(under, BoardScreen), under
    if name == "history":
        return _own(HistoryScreen, under, scene=under.scene, **more)
    if name == "goal":
        return _own(GoalScreen, under, scene=under.live, **more)
    kind: type[ListScreen] = DoctorScreen if name == "doctor" else QuarantineScreen
    return kind(under.live, open_workspace=under.loopx.open_ledger, **under.shared)


def _own(kind: type[GoalScreen], under: BoardScreen, *, goal_id: str, **more: Any) -> GoalScreen:
    return kind(goal_id, know=partial(under.loopx.knowing, goal_id), **under.shared, **more)
