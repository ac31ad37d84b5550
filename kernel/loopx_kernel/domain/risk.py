"""What a hand-in shows that a rule covers, and that nobody approved."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from loopx_kernel.domain.records import Gate
from loopx_kernel.domain.rules import GateRule, rule_covers
from loopx_kernel.domain.scope import covers, touches
from loopx_kernel.domain.state import GoalState

MOST = 20
"""How many are named; one is enough to ask a person."""
_LONGEST = 300
Risk = tuple[str, str]
"""The rule, and the action in words."""


def risks(
    state: GoalState,
    since: datetime,
    at: datetime,
    *,
    written: Sequence[str] = (),
    gone: Sequence[str] = (),
    commands: Sequence[str] = (),
) -> tuple[Risk, ...]:
    """The actions that rules cover and nobody approved, in the order of the rules.

    ``written`` and ``gone`` are paths in the repo that changed ``since`` the work began,
    ``commands`` those of the records handed in. Only a rule that names paths or a command tells
    what such a thing is; a kind alone does not. Times are UTC.
    """
    allowed = [gate for gate in state.gates.values() if _is_allowed(state, gate, since, at)]
    found: list[Risk] = []
    for rule in state.the_rules.approval_rules:
        for words in (
            *_paths(rule, allowed, written, gone),
            *_commands(state, rule, allowed, commands),
        ):
            found.append((rule.text[:_LONGEST], words[:_LONGEST]))
            if len(found) == MOST:
                return tuple(found)
    return tuple(found)


def unseen_from(state: GoalState, agent_id: str, since: datetime) -> datetime:
    """From when on (UTC) nobody looked at what an agent did, where its work began ``since``: what
    it did in turns that ended without a receipt is looked at with what it hands in next."""
    for turn in reversed(state.turns.values()):
        if turn.agent_id != agent_id or turn.status == "open":
            continue
        if turn.status == "settled":
            break
        since = min(since, turn.opened_at)
    return since


def _is_allowed(state: GoalState, gate: Gate, since: datetime, at: datetime) -> bool:
    """Whether the gate gives leave for the work: it stands, or was used since that began."""
    if gate.status == "used":
        return gate.used_at is not None and gate.used_at >= since
    from loopx_kernel.domain.permission import weaker

    return state.gate_status(gate, at) == "approved" and not weaker(state, gate)


def _paths(
    rule: GateRule, allowed: Iterable[Gate], written: Sequence[str], gone: Sequence[str]
) -> Iterator[str]:
    """The paths a rule names that changed without leave from a gate of its kind, or, of those
    that went, to delete them."""
    if rule.names_a_command or not rule.path:
        return
    mine = [gate for gate in allowed if gate.action == rule.kind]
    to_delete = [gate for gate in allowed if gate.action in (rule.kind, "delete")]
    changed = {"write": [(written, mine), (gone, to_delete)], "delete": [(gone, mine)]}
    for paths, leave in changed.get(rule.kind, ()):
        for path in paths:
            if touches(rule.path, path) and not any(_allows_path(gate, path) for gate in leave):
                yield f"{rule.kind} {path}"


def _commands(
    state: GoalState, rule: GateRule, allowed: Sequence[Gate], commands: Sequence[str]
) -> Iterator[str]:
    """The commands a rule names that nobody approved word for word, of whatever kind."""
    if not rule.names_a_command:
        return
    for command in commands:
        if _is_named(state, rule, command) and not any(g.command == command for g in allowed):
            yield f"{rule.kind}: {command}"


def _allows_path(gate: Gate, path: str) -> bool:
    return not gate.paths or any(covers(scope, path) for scope in gate.paths)


def _is_named(state: GoalState, rule: GateRule, command: str) -> bool:
    write_scope = state.the_rules.coordination.write_scope
    return bool(command.strip()) and rule_covers(
        rule, action=rule.kind, command=command, paths=(), write_scope=write_scope
    )
