"""What leaves the hot state: the cost of a decision must not grow with the age of a goal.

Everything that left stays in the journal and is read there by page.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import datetime, timedelta

from loopx_kernel.domain.aged import with_aged
from loopx_kernel.domain.landing import is_unproven
from loopx_kernel.domain.records import Gate, Spend
from loopx_kernel.domain.records_of_work import Escalation, Obligation, Observation, Turn
from loopx_kernel.domain.state import GoalState

KEPT = 32
"""How many finished todos, and how many closed turns stay, the latest."""
LOOKS = 64
"""How many observations stay, the latest, and as many of those that nothing has proven."""
BATCH = 32
"""Spends and observations are looked through whenever their number is a multiple of this, as
looking costs time for each of them."""


def let_go(before: GoalState, after: GoalState, at: datetime) -> GoalState:
    """``after`` without what one event made old; ``at`` is the latest time the journal bears."""
    if after.recent is not before.recent and len(after.recent) > KEPT:
        after = _without_finished(after)
    if after.turns is not before.turns and len(after.turns) > KEPT:
        after = _without_closed(after)
    if after.observations is not before.observations and len(after.observations) % BATCH == 0:
        after = _without_seen(after)
    if after.obligations is not before.obligations and len(after.obligations) > KEPT:
        after = _without_closed_duties(after)
    if after.gates is not before.gates and len(after.gates) > KEPT:
        after = _without_spent(after)
    if after.escalations is not before.escalations and len(after.escalations) > KEPT:
        after = _without_answered(after)
    if after.spends is not before.spends and len(after.spends) % BATCH == 0:
        after = _without_aged(after, at)
    return after


def _first_closed(closed: Iterable[Gate | Turn | Escalation | Obligation]) -> set[str]:
    """The ids of all but those closed last. What a line closes is there after it, however long
    it was open: whoever wrote the line is told of it."""
    return {one.id for one in sorted(closed, key=lambda one: one.seq)[:-KEPT]}


def _without_spent(state: GoalState) -> GoalState:
    """Of the gates from which nothing follows any more those go that were closed first. A
    refusal stays: the same may not be asked again."""
    leaving = _first_closed(
        gate
        for gate in state.gates.values()
        if gate.status in ("used", "withdrawn", "mooted")
        or (gate.status == "approved" and gate.proposal is not None)
    )
    left = {ref: gate for ref, gate in state.gates.items() if ref not in leaving}
    return state.model_copy(update={"gates": left})


def _without_answered(state: GoalState) -> GoalState:
    """Of the escalations that wait for nobody any more those go that were closed first."""
    leaving = _first_closed(one for one in state.escalations.values() if one.status != "open")
    left = {ref: one for ref, one in state.escalations.items() if ref not in leaving}
    return state.model_copy(update={"escalations": left})


def _without_finished(state: GoalState) -> GoalState:
    """The oldest finished todos go; one that was superseded stays until its successors end."""
    old = state.recent[:-KEPT]
    leaving = {ref for ref in old if state.has_ended(ref)}
    if not leaving:
        return state
    left = dict(state.left)
    for ref in leaving:
        status = state.todos[ref].status
        left[status] = left.get(status, 0) + 1
    return state.model_copy(
        update={
            "todos": {ref: todo for ref, todo in state.todos.items() if ref not in leaving},
            "recent": tuple(ref for ref in state.recent if ref not in leaving),
            "left": left,
            "statements": state.statements + sum(state.todos[ref].stated for ref in leaving),
        }
    )


def _without_closed(state: GoalState) -> GoalState:
    """Of the closed turns those go that were closed first."""
    leaving = _first_closed(turn for turn in state.turns.values() if turn.status != "open")
    turns = {ref: turn for ref, turn in state.turns.items() if ref not in leaving}
    return state.model_copy(update={"turns": turns})


def _without_seen(state: GoalState) -> GoalState:
    """The oldest observations go, but for those that something may still come of. What work
    waited for and nothing has proven is counted when it goes: only a person can accept it then,
    as a probe, which alone could prove it, keeps what it is about from going."""
    free = [seen for seen in state.observations.values() if not _is_needed(state, seen)]
    old = [seen for seen in free if is_unproven(state, seen)][:-LOOKS]
    others = [seen for seen in free if not is_unproven(state, seen)][:-LOOKS]
    leaving = {seen.key for seen in (*old, *others)}
    unproven = Counter(state.unproven) + Counter(seen.kind for seen in old)
    kept = {key: seen for key, seen in state.observations.items() if key not in leaving}
    return state.model_copy(update={"observations": kept, "unproven": dict(unproven)})


def _is_needed(state: GoalState, seen: Observation) -> bool:
    """Whether a todo waits for this very fact or is to mend it, or a probe may prove it yet."""
    todo, fix = state.todos.get(seen.todo_id or ""), state.todos.get(seen.fix or "")
    wait = todo.waiting_on if todo is not None else None
    if wait is not None and (wait.kind, wait.ref) == (seen.kind, seen.ref):
        return True
    if fix is not None and not fix.finished:
        return True
    probes = {(probe.kind, probe.id) for probe in state.the_rules.probes}
    return is_unproven(state, seen) and (seen.kind, seen.ref) in probes


def _without_closed_duties(state: GoalState) -> GoalState:
    """Of the closed duties to replan those go that were closed first."""
    leaving = _first_closed(duty for duty in state.obligations.values() if duty.status != "open")
    kept = {ref: duty for ref, duty in state.obligations.items() if ref not in leaving}
    return state.model_copy(update={"obligations": kept})


def _without_aged(state: GoalState, at: datetime) -> GoalState:
    """Spends older than the window go, as long as those after them fill the allowance.

    So a line that bears a time far in the future frees no slot. That of an open turn stays, as
    what was booked for it is not booked again, and is voided where it fails.
    """
    rule = state.the_rules.quota
    start = at - timedelta(hours=rule.window_hours)
    leaving: list[Spend] = []
    if next(iter(state.spends.values())).counted_at <= start:
        net = sum(spend.net_slots for spend in state.spends.values())
        for spend in state.spends.values():
            net -= spend.net_slots
            if spend.counted_at > start or net < rule.allowed:
                break
            turn = state.turns.get(spend.effect_ref)
            if turn is None or turn.status != "open":
                leaving.append(spend)
    if not leaving:
        return state
    gone = {spend.effect_ref for spend in leaving}
    return state.model_copy(
        update={
            "spends": {ref: spend for ref, spend in state.spends.items() if ref not in gone},
            "aged": with_aged(state.aged, leaving),
        }
    )
