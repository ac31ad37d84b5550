"""May this action be done now? The look that ``gate check`` takes, and what it looks at."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from loopx_kernel.domain.canonical import digest
from loopx_kernel.domain.event import Level
from loopx_kernel.domain.levels import LEVELS, reaches
from loopx_kernel.domain.records import Gate
from loopx_kernel.domain.rules import STANDARD_KINDS, GateRule, is_kind, rule_covers
from loopx_kernel.domain.scope import check_path
from loopx_kernel.domain.state import GoalState
from loopx_kernel.errors import UsageError
from loopx_kernel.value import Value


class Action(Value, kw_only=True):
    """What somebody wants to do: its kind, its command and the paths it touches."""

    action: str
    command: str = ""
    paths: tuple[str, ...] = ()

    @property
    def digest(self) -> str:
        """The digest an approval is matched by: exactly these words and paths."""
        return digest({"action": self.action, "command": self.command, "paths": list(self.paths)})


class Permission(Value):
    """The answer of ``gate check``: whether the action may be done now, and why."""

    allowed: bool
    reason: str
    rule: GateRule | None = None
    gate: Gate | None = None


def permission(
    state: GoalState, action: Action, now: datetime, real_paths: tuple[str, ...] = ()
) -> Permission:
    """Looks, and changes nothing. An action no rule covers needs no approval.

    ``real_paths`` are where the action's paths lead on disk, relative to the repo.
    """
    check_action(action)
    rule = next(iter(covering(state, action, real_paths)), None)
    asked = [gate for gate in state.gates.values() if gate.digest == action.digest]
    given = [gate for gate in asked if state.gate_status(gate, now) == "approved"]
    approved = next((gate for gate in given if not weaker(state, gate, real_paths)), None)
    if rule is None:
        return Permission(True, "no rule covers it", gate=approved)
    if approved is not None:
        return Permission(True, f"{approved.id} was approved", rule, approved)
    last = asked[-1] if asked else None
    if last is None:
        return Permission(False, f"{rule.text} needs an approval; nobody asked yet", rule)
    status = state.gate_status(last, now) + state.ran_out_by(last, now)
    wanted = weaker(state, last, real_paths) if last in given else None
    if wanted is not None:
        status += f", but not at level {wanted} or above, as a rule asks for"
    return Permission(False, f"{last.id} is {status}", rule, last)


def weaker(state: GoalState, gate: Gate, real_paths: tuple[str, ...] = ()) -> Level | None:
    """The level that the rules ask for, where the decision about a gate did not reach it."""
    wanted = level_wanted(state, gate, real_paths)
    return None if reaches(gate.decision.level if gate.decision else "none", wanted) else wanted


def level_wanted(state: GoalState, gate: Gate, real_paths: tuple[str, ...] = ()) -> Level | None:
    """The highest level that a rule covering a gate's action asks its approval for."""
    action = Action(action=gate.action, command=gate.command, paths=gate.paths)
    return strongest(covering(state, action, real_paths))


def strongest(rules: Iterable[GateRule]) -> Level | None:
    """The highest level that one of these rules asks for."""
    levels = [rule.at_least for rule in rules if rule.at_least is not None]
    return max(levels, key=LEVELS.index, default=None)


def covering(
    state: GoalState, action: Action, real_paths: tuple[str, ...] = ()
) -> tuple[GateRule, ...]:
    """The rules that ask for approval of an action."""
    return tuple(
        rule
        for rule in state.the_rules.approval_rules
        if rule_covers(
            rule,
            action=action.action,
            command=action.command,
            paths=action.paths + real_paths,
            write_scope=state.the_rules.coordination.write_scope,
        )
    )


def check_action(action: Action) -> None:
    if not (action.command.strip() or action.paths):
        raise UsageError(
            "vague_gate",
            "An action names a command or a path; a question alone stops nothing",
            next="loopx gate request --action publish --command 'git push origin main'",
            action=action.action,
        )
    if not is_kind(action.action):
        raise UsageError(
            "vague_gate",
            f"{action.action!r} is not a kind of action",
            next=f"use {', '.join(STANDARD_KINDS)} or a kind of your own rules",
            action=action.action,
        )
    for path in action.paths:
        check_path(path)
