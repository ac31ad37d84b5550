"""Looking at a hand-in for actions that a rule covers and nobody approved."""

from __future__ import annotations

from datetime import datetime

from loopx_kernel.domain.records_of_work import Turn
from loopx_kernel.domain.risk import Risk, risks, unseen_from
from loopx_kernel.domain.state import GoalState
from loopx_kernel.errors import Denied
from loopx_kernel.text import safe
from loopx_kernel.workspace.core import Core
from loopx_kernel.workspace.handing import Looked


def risks_in(
    core: Core, state: GoalState, agent_id: str, since: datetime, seen: Looked
) -> tuple[Risk, ...]:
    """What an agent did ``since`` (UTC), and in turns without a receipt before, without approval,
    as far as the disk and the files handed in show it."""
    since = unseen_from(state, agent_id, since)
    rules = state.the_rules.approval_rules
    written: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    named = [
        rule.path
        for rule in rules
        if rule.path and not rule.names_a_command and rule.kind in ("write", "delete")
    ]
    if named:
        from loopx_kernel.observe.touched import touched

        handed_in = [one.path for one in seen.evidence if not one.path.startswith("/")]
        written, gone = touched(
            core.repo(state),
            since,
            without=core.rendered_in_repo(state),
            more=handed_in,
            named=named,
        )
    now = core.clock.read().now
    return risks(state, since, now, written=written, gone=gone, commands=seen.commands)


def refuse_risky(core: Core, state: GoalState, turn: Turn, seen: Looked) -> None:
    """``gate_required`` where a part of a turn shows an action without approval: only the whole
    receipt puts that before a person."""
    found = risks_in(core, state, turn.agent_id, turn.opened_at, seen)
    if found:
        rule, action = found[0]
        raise Denied(
            "gate_required",
            f"{turn.id} shows what needed an approval: {safe(action)} ({safe(rule)})",
            next=f"loopx turn settle --turn {turn.id} --outcome progress",
            turn=turn.id,
            rule=rule,
        )
