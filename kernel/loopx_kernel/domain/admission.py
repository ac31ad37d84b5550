"""Unattended runs: what nobody may ask for there, and what a judge may admit in a person's place.

A rule says so with ``admit:judge``. The judge of the signed rules is asked once for each use;
what it does not admit with its exact word is asked of a person, and then only they decide.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Any

from loopx_kernel.domain.asking import check_next
from loopx_kernel.domain.event import Facts
from loopx_kernel.domain.permission import Action, check_action, covering
from loopx_kernel.domain.record import Line, Name, Record
from loopx_kernel.domain.records import Gate
from loopx_kernel.domain.rules import GateRule, rule_covers
from loopx_kernel.domain.state import GoalState
from loopx_kernel.errors import Denied

ADMITTED = "low"
"""The judge's word for a risk that needs no person; exactly this and nothing else admits."""
OF_ITSELF = frozenset({"self-schedule", "self-upgrade"})
"""Kinds of action by which a worker would change its own loop."""

_COMPOUND = re.compile(r"[;&|<>`$(){}\n\r]")
_SECRET = re.compile(
    r"api[\W_]*key|access[\W_]*key|private[\W_]*key|token|passw(?:or)?d|passphrase|passcode"
    r"|secret|credential|bearer|authorization|cookie|-----begin|\bakia[0-9a-z]{8}"
    r"|\bgh[oprsu]_|\bglpat-|\bxox[abprs]-|\bsk-|\beyj[\w-]{8,}\.|://[^/\s@]+:[^/\s@]+@"
    r"|[a-z0-9+_=-]{32,}"
)


class Asked(Record):
    """The action a judge was asked about."""

    action: Name
    command: Line = ""
    paths: tuple[str, ...] = ()

    @property
    def as_action(self) -> Action:
        """The same, to be compared with rules."""
        return Action(action=self.action, command=self.command, paths=self.paths)


def refuse_of_itself(action: str, unattended: bool) -> None:
    """``not_a_person`` where a run that nobody watches asks to change its own loop."""
    if unattended and action in OF_ITSELF:
        raise Denied(
            "not_a_person",
            f"Nobody watches this run, so it may not ask for {action}; a person starts that",
            next="ask again in a session that a person watches, without LOOPX_UNATTENDED",
            action=action,
        )


def looks_secret(action: Action) -> bool:
    """Whether an action names or carries something like a key, a token or a password."""
    for text in (action.command, *action.paths):
        shown = (c for c in unicodedata.normalize("NFKC", text) if unicodedata.category(c) != "Cf")
        if _SECRET.search("".join(shown).casefold()):
            return True
    return False


def why_not(state: GoalState, action: Action, real_paths: tuple[str, ...] = ()) -> str | None:
    """Why a judge may not admit this action, as a sentence; ``None`` where it may be asked.

    Each rule of its kind that covers the action must say so, and no rule may name its command
    or paths under another kind. ``real_paths`` are where the paths lead on disk.
    """
    rules = covering(state, action, real_paths)
    mine = [rule for rule in rules if rule.kind == action.action]
    if not mine or not all(rule.admit == "judge" for rule in mine):
        return "its rule leaves the decision to a person"
    if _COMPOUND.search(action.command):
        return "a judge admits one simple command"
    if looks_secret(action):
        return "it looks as if it held a secret"
    paths = action.paths + real_paths
    for rule in state.the_rules.approval_rules:
        if rule in mine:
            continue
        if rule in rules or _names(state, rule, action.command, paths):
            return f"{rule.text} covers it too"
    return None


def _names(state: GoalState, rule: GateRule, command: str, paths: tuple[str, ...]) -> bool:
    """Whether a rule names this command or these paths, whatever kind they are said to be. What
    the action leaves unsaid is no answer here, as its own kind says enough."""
    if not (rule.command or rule.path) or (rule.command and not command):
        return False
    if rule.path and not paths:
        return False
    write_scope = state.the_rules.coordination.write_scope
    return rule_covers(
        rule, action=rule.kind, command=command, paths=paths, write_scope=write_scope
    )


def before_a_person(state: GoalState, action: Action) -> Gate | None:
    """The gate by which a person decides about this very action, or decided against it."""
    return next(
        (
            gate
            for gate in state.gates.values()
            if gate.digest == action.digest
            and (
                gate.status in ("deferred", "rejected")
                or (gate.status == "pending" and gate.judged)
            )
        ),
        None,
    )


def admitted(state: GoalState, action: Action) -> dict[str, Any]:
    """The payload of ``gate.used`` for an action that the judge admitted, without a person."""
    asked = {"action": action.action, "command": action.command, "paths": action.paths}
    gate_id = _pending(state, action) or f"G{state.next_gate}"
    return {"gate_id": gate_id, "digest": action.digest, "basis": "judge", "asked": asked}


def _pending(state: GoalState, action: Action) -> str | None:
    """The gate by which the worker itself asked before, if a person did not decide yet."""
    gates = state.gates.values()
    mine = (gate for gate in gates if gate.digest == action.digest and gate.status == "pending")
    return next((gate.id for gate in mine), None)


def check_admitted(
    state: GoalState, gate_id: str, digest: str, asked: Asked | None, facts: Facts
) -> None:
    """Raises ``gate_required`` unless a judge may admit this; the rest as for a request."""
    if asked is None or asked.as_action.digest != digest:
        raise _denied(gate_id, "nothing says what the judge was asked about")
    action = asked.as_action
    check_action(action)
    decided = before_a_person(state, action)
    if decided is not None:
        raise _denied(decided.id, f"{decided.id} is before a person")
    reason = why_not(state, action)
    if reason is not None:
        raise _denied(gate_id, reason)
    if gate_id != _pending(state, action):
        check_next(state, gate_id)


def _denied(gate_id: str, reason: str) -> Denied:
    return Denied(
        "gate_required",
        f"A judge cannot admit this: {reason}",
        next="loopx gate list",
        gate_id=gate_id,
    )


def with_admitted(
    state: GoalState, gate_id: str, digest: str, asked: Asked, facts: Facts
) -> GoalState:
    """The state with the gate of an admitted action, which is used at once."""
    action = asked.as_action
    used: dict[str, Any] = {
        "status": "used",
        "basis": "judge",
        "used_by": facts.actor.id,
        "used_at": facts.at,
        "seq": facts.seq,
    }
    if gate_id in state.gates:
        return state.with_gate(state.gates[gate_id].model_copy(update=used))
    gate = Gate(
        id=gate_id,
        action=action.action,
        command=action.command,
        paths=action.paths,
        question=f"Admitted by the judge: {action.action}",
        digest=digest,
        requested_by=facts.actor.id,
        requested_at=facts.at,
        **used,
    )
    return state.with_gate(gate).model_copy(update={"next_gate": state.next_gate + 1})
