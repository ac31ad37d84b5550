"""What commands print: records of the kernel as JSON-ready values with the public keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from loopx_kernel.domain.completion import Completion
    from loopx_kernel.domain.quota import Usage
    from loopx_kernel.domain.records import Gate, Lease, Todo
    from loopx_kernel.views.envelope import Envelope
    from loopx_kernel.views.goal import GoalView, TodoRow
    from loopx_kernel.workspace import Workspace
    from loopx_kernel.workspace.evidence import EvidenceRow, Statement
    from loopx_kernel.workspace.lineage import Made

LEASE_SCHEMA = "task_lease_v0"


def envelope_value(envelope: Envelope) -> dict[str, Any]:
    """The envelope with what is computed from it."""
    from loopx_kernel.views.envelope import ENVELOPE_SCHEMA
    from loopx_kernel.views.plain import to_json

    value: dict[str, Any] = to_json(envelope)
    coverage = value["coverage"] | {"complete": envelope.coverage.complete}
    return {
        "schema_version": ENVELOPE_SCHEMA,
        **value,
        "alert": envelope.alert,
        "coverage": coverage,
    }


def todo_value(row: TodoRow) -> dict[str, Any]:
    """A todo with what the moment adds to it."""
    return row.todo.model_dump(mode="json") | {
        "display_status": row.display_status,
        "holder": row.holder,
        "gated_by": list(row.gated_by),
        "needs": list(row.needs),
        "damaged": row.damaged,
    }


def statement_value(statement: Statement | None) -> dict[str, Any] | None:
    """The statement as its file should be, and how the file stands."""
    if statement is None:
        return None
    found = {"file": statement.file.level, "found_sha256": statement.file.found_digest}
    return statement.record | found


def evidence_value(row: EvidenceRow) -> dict[str, Any]:
    """A file handed in, with what became of it and of its copy."""
    basis = "told" if row.evidence.result is None else "read"
    now = {"basis": basis, "since": row.since, "copy": row.copy}
    return row.evidence.model_dump(mode="json") | now


def origin_value(made: Made) -> dict[str, Any]:
    """A todo, what it comes from, and the event that made it."""
    event = made.event.event
    return {
        "todo_id": made.todo.id,
        "title": made.todo.title,
        "from": list(made.todo.lineage_todo_ids),
        "facts": list(made.facts),
        "event_id": event.event_id,
        "seq": event.seq,
        "event_type": event.event_type,
        "recorded_at": event.recorded_at,
        "actor_kind": event.actor_kind,
        "actor_agent_id": event.actor_agent_id,
    }


def lease_value(goal_id: str, todo_id: str, lease: Lease) -> dict[str, Any]:
    """A lease as other programs know it."""
    return {
        "schema_version": LEASE_SCHEMA,
        "goal_id": goal_id,
        "todo_id": todo_id,
        **lease.model_dump(mode="json"),
    }


def lease_of(goal_id: str, todo: Todo) -> dict[str, Any] | None:
    """The lease of a todo, if it has or had one."""
    return None if todo.lease is None else lease_value(goal_id, todo.id, todo.lease)


def gate_value(workspace: Workspace, goal_id: str, gate: Gate, status: str) -> dict[str, Any]:
    """A gate; its decision with whether the signature holds."""
    value = gate.model_dump(mode="json") | {"status": status}
    if gate.decision is not None:
        row = workspace.events.show(goal_id, gate.decision.event_id)
        value["decision"] = value["decision"] | {"signature_ok": row.signature_ok}
    return value


def quota_value(usage: Usage) -> dict[str, Any]:
    """The quota with its window."""
    return {
        "allowed": usage.allowed,
        "spent": usage.spent,
        "voided": usage.voided,
        "used": usage.used,
        "remaining": usage.remaining,
        "reserved": usage.reserved,
        "attempts": usage.attempts,
        "window": {"start": usage.window_start, "end": usage.window_end},
        "window_hours": usage.window_hours,
        "slot_minutes": usage.slot_minutes,
        "spends": usage.spends,
        "voids": usage.voids,
        "aged_out": usage.aged_out,
    }


def completion_value(completion: Completion) -> dict[str, Any]:
    """The verdict and what stands in its way."""
    return {
        "complete": completion.complete,
        "derived": completion.derived,
        "source": completion.source,
        "failing": [
            {"check": check.check, "count": check.count, "ids": list(check.ids)}
            for check in completion.failing
        ],
    }


def status_value(view: GoalView, gate_rules: tuple[str, ...]) -> dict[str, Any]:
    """The whole of ``status`` for one goal. ``gate_rules`` are what needs approval."""
    chosen = view.contract.todo
    return {
        "goal": goal_value(view),
        "answer": view.contract.answer,
        "reasons": view.contract.reasons,
        "needs_you": view.needs_you,
        "gate_rules": list(gate_rules),
        "next_todo": None if chosen is None else {"id": chosen.id, "title": chosen.title},
        "todos": dict(view.counts),
        "quota": quota_value(view.contract.quota),
        "leases": view.leases,
        "warnings": view.warnings,
        "sources": view.sources,
        "completion": completion_value(view.completion),
        "files": {
            "missing": view.reads.missing_files,
            "behind": view.reads.behind_files,
            "missing_evidence": view.reads.missing_evidence,
        },
    }


def goal_value(view: GoalView) -> dict[str, Any]:
    """Which goal, in which version of its objective."""
    return {
        "id": view.goal_id,
        "display_name": view.display_name,
        "objective": view.objective,
        "objective_version": view.objective_version,
        "status": view.status,
    }


def rules_value(workspace: Workspace, goal_id: str) -> Mapping[str, Any]:
    """A goal's rules, with its gate rules as they are typed."""
    rules = workspace.state(goal_id).the_rules
    return rules.model_dump(mode="json") | {"gates": [rule.text for rule in rules.gates]}


def gate_rules(workspace: Workspace, goal_id: str) -> tuple[str, ...]:
    """What needs an owner's approval in this goal, as it is typed."""
    return tuple(rule.text for rule in workspace.state(goal_id).the_rules.approval_rules)
