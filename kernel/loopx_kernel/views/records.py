"""What each materialised file says about a state: the records other programs read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from loopx_kernel.clock import format_time
from loopx_kernel.domain.records import Spend, Todo
from loopx_kernel.domain.state import GoalState


def registry_entry(state: GoalState) -> dict[str, Any]:
    """The goal's entry of ``registry.json``: configuration, no progress."""
    rules = state.the_rules
    objective = state.objective
    values = rules.model_dump(mode="json")
    return {
        "id": state.goal_id,
        "display_name": rules.display_name,
        "domain": rules.domain,
        "status": state.status,
        "repo": rules.repo,
        "state_file": rules.state_file,
        "objective": objective.model_dump(mode="json") if objective else None,
        "spawn_policy": values["spawn_policy"],
        "coordination": values["coordination"],
        "quota": {**values["quota"], "compute": _number(rules.quota.compute)},
        "gates": [rule.text for rule in rules.gates],
        "acceptance": values["acceptance"],
        "judge": values["judge"],
        "search_path": values["search_path"],
        "probes": [probe.model_dump(mode="json", exclude_defaults=True) for probe in rules.probes],
        "sources": [
            {
                "id": source.id,
                "provider": source.provider,
                "required": source.required,
                "on_demand": source.on_demand,
                "window_seconds": source.window_seconds,
            }
            for source in state.sources.values()
        ],
        "cadence": values["cadence"],
        "lease": values["lease"],
        "limits": values["limits"],
        "revision": state.registry_seq,
    }


def lease_record(state: GoalState, todo: Todo) -> dict[str, Any]:
    """The lease file of a todo that has, or had, a lease. ``boot_deadline`` is in milliseconds."""
    lease = todo.lease
    assert lease is not None
    return {
        "schema_version": "task_lease_v0",
        "goal_id": state.goal_id,
        "todo_id": todo.id,
        "owner": lease.owner,
        "write_scopes": list(lease.write_scopes),
        "version": lease.version,
        "lease_epoch": lease.lease_epoch,
        "acquired_at": format_time(lease.acquired_at),
        "expires_at": format_time(lease.expires_at),
        "status": lease.status,
        "seq": lease.seq,
        "host_id": lease.host_id,
        "boot_id": lease.boot_id,
        "boot_deadline": lease.boot_deadline_ms,
    }


def spend_lines(state: GoalState, since: int) -> Iterator[dict[str, Any]]:
    """The lines of ``spend.jsonl`` with at least that ``seq``, in order, of the spends that are
    in the state."""
    lines = []
    for spend in state.spends.values():
        if spend.seq >= since:
            lines.append(spent_line(state.goal_id, spend))
        if spend.void_seq is not None and spend.void_seq >= since:
            lines.append(voided_line(state.goal_id, spend))
    yield from sorted(lines, key=lambda line: int(line["seq"]))


def spent_line(goal_id: str, spend: Spend) -> dict[str, Any]:
    """The line of a booking."""
    return {
        "goal_id": goal_id,
        "effect_ref": spend.effect_ref,
        "action": "spent",
        "slots": spend.slots,
        "recorded_at": format_time(spend.at),
        "seq": spend.seq,
    }


def voided_line(goal_id: str, spend: Spend) -> dict[str, Any]:
    """The line of a void, with the slots it gives back."""
    assert spend.voided_at is not None
    return {
        "goal_id": goal_id,
        "effect_ref": spend.effect_ref,
        "action": "voided",
        "slots": spend.slots,
        "recorded_at": format_time(spend.voided_at),
        "reason": spend.void_reason,
        "seq": spend.void_seq,
    }


def _number(text: str) -> float | int:
    value = float(text)
    return int(value) if value.is_integer() else value
