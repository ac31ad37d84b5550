"""What the commands answer with ``--json``, as types: the one place the schemas are made from.

Field types are those of the values before they become JSON. These modules are imported by whoever
makes or checks schemas, and by no command.
"""

# Types made by ``shape`` are values to mypy.
# mypy: disable-error-code="valid-type"

from __future__ import annotations

from typing import Any

from typing_extensions import TypedDict

from loopx_kernel.cli.bodies_of_goals import (
    AskedNow,
    BoardOfAll,
    BoardOfGoal,
    BoardOfWorkspace,
    CompletionBody,
    ContractOfTurn,
    GoalName,
    Goals,
    OneGoal,
    PacketBody,
    QuotaNow,
    Replay,
    ReportBody,
    RulesChanged,
    StatusOfAll,
    StatusOfGoal,
    StatusOfWorkspace,
    WorkspaceListed,
    Workspaces,
)
from loopx_kernel.cli.bodies_of_records import (
    Agents,
    AllowedSigners,
    Audited,
    Connected,
    DamageShown,
    Doctor,
    Events,
    OneEvent,
    OneSchema,
    OwnerName,
    Owners,
    OwnersTrusted,
    Preview,
    Repairs,
    SchemaNames,
    SignedBytes,
    StateCheck,
    Verified,
)
from loopx_kernel.cli.bodies_of_work import (
    Acceptance,
    Escalations,
    Freshness,
    GateLook,
    Gates,
    HeldLease,
    Leases,
    Objective,
    OneGate,
    OneLease,
    OneTodo,
    OneTurn,
    Recovered,
    Refreshed,
    Replans,
    ShownGate,
    Texts,
    Todos,
    TurnResult,
    Turns,
)
from loopx_kernel.domain.freshness import HostReading, SourceReading
from loopx_kernel.domain.records import Gate, Handoff, Spend, Todo
from loopx_kernel.domain.records_of_work import Escalation, Obligation, Observation
from loopx_kernel.domain.roster_state import Agent, Owner
from loopx_kernel.workspace.objectives import Version
from loopx_kernel.workspace.orders import Receipt


class Written(TypedDict, total=False):
    """What a writing command gives besides its receipt: the objects it changed."""

    todo: Todo
    lease: HeldLease | None
    gate: Gate | ShownGate
    goal: GoalName | RulesChanged
    agent: Agent
    owner: Owner | OwnerName
    escalation: Escalation | None
    acceptance: Acceptance
    objective: Version
    observation: Observation | None
    thawed: Texts
    fix: Todo | None
    spend: Spend
    handoff: Handoff
    damage: tuple[DamageShown, ...]
    obligation: Obligation
    source: SourceReading
    host: HostReading
    added: Texts
    needs_evidence: Texts
    turn: TurnResult


class Recorded(Written):
    receipt: Receipt


NO_LEDGER = frozenset(
    {
        "loopx_workspace_listed_v0",
        "loopx_statement_preview_v0",
        "loopx_schema_v0",
        "loopx_schemas_v0",
    }
)
"""Answers that show nothing of a ledger, so that there is nothing to say of its age."""


BODIES: dict[str, tuple[Any, ...]] = {
    "decision_source_freshness_v0": (Freshness,),
    "loopx_agents_v0": (Agents,),
    "loopx_allowed_signers_v0": (AllowedSigners,),
    "loopx_board_v0": (BoardOfGoal, BoardOfWorkspace, BoardOfAll),
    "loopx_completion_v0": (CompletionBody,),
    "loopx_connect_v0": (Connected,),
    "loopx_doctor_v0": (Doctor,),
    "loopx_escalations_v0": (Escalations,),
    "loopx_events_v0": (Events, OneEvent, SignedBytes),
    "loopx_gates_v0": (Gates, OneGate, GateLook),
    "loopx_goals_v0": (Goals, OneGoal),
    "loopx_interaction_contract_v1": (AskedNow, ContractOfTurn),
    "loopx_leases_v0": (Leases, OneLease),
    "loopx_objective_v0": (Objective,),
    "loopx_owners_v0": (Owners, OwnersTrusted),
    "loopx_quota_v0": (QuotaNow,),
    "loopx_receipt_v0": (Recorded,),
    "loopx_refresh_v0": (Refreshed,),
    "loopx_repairs_v0": (Repairs,),
    "loopx_replans_v0": (Replans,),
    "loopx_replay_v0": (Replay,),
    "loopx_report_v0": (ReportBody,),
    "loopx_review_packet_v0": (PacketBody,),
    "loopx_schema_v0": (OneSchema,),
    "loopx_schemas_v0": (SchemaNames,),
    "loopx_state_check_v0": (StateCheck,),
    "loopx_statement_preview_v0": (Preview,),
    "loopx_status_v0": (StatusOfGoal, StatusOfWorkspace, StatusOfAll),
    "loopx_todos_v0": (Todos, OneTodo),
    "loopx_turn_v0": (OneTurn,),
    "loopx_turns_v0": (Turns, Recovered),
    "loopx_verification_v0": (Verified, Audited),
    "loopx_workspace_listed_v0": (WorkspaceListed,),
    "loopx_workspaces_v0": (Workspaces,),
}
"""The bodies of the answers, by their ``schema_version``."""
