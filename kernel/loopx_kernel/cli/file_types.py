"""What files hold, and what a judge is handed, as types: their schemas are made from these."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

from loopx_kernel.domain.record import Hex
from loopx_kernel.domain.records import LeaseStatus, Objective
from loopx_kernel.domain.rules import (
    AcceptanceItem,
    Cadence,
    Coordination,
    JudgeRule,
    LeaseRule,
    Limits,
    SourceRule,
    SpawnPolicy,
)


class LeaseFile(TypedDict):
    """``runtime/<goal_id>/task-leases/<todo_id>.json``: who works on what, until when."""

    schema_version: Literal["task_lease_v0"]
    goal_id: str
    todo_id: str
    owner: str
    write_scopes: tuple[str, ...]
    version: int
    lease_epoch: int
    acquired_at: datetime
    expires_at: datetime
    status: LeaseStatus
    seq: int
    host_id: str
    boot_id: str
    boot_deadline: int | None
    sha256: Hex


class StatementCheck(TypedDict):
    """One thing that was looked at, and on what basis."""

    name: str
    kind: str
    basis: Literal["ran", "read", "told"]
    result: Literal["passed", "failed"] | None
    path: str
    sha256: Hex


class StatementFile(TypedDict):
    """``runtime/<goal_id>/statements/<todo_id>.json``: what was checked when a todo was done."""

    schema_version: Literal["loopx_statement_v0"]
    goal_id: str
    todo_id: str
    checks: tuple[StatementCheck, ...]
    result: Literal["passed", "unproven"]
    made_at: datetime
    seq: int
    sha256: Hex


class SpendLine(TypedDict):
    """A line of ``runtime/<goal_id>/spend.jsonl``; ``reason`` is of a void."""

    goal_id: str
    effect_ref: str
    action: Literal["spent", "voided"]
    slots: int
    recorded_at: datetime
    reason: NotRequired[str]
    seq: int
    sha256: Hex


class QuotaInRegistry(TypedDict):
    """The share of a window's slots."""

    compute: float
    window_hours: int
    slot_minutes: int


class ProbeInRegistry(TypedDict):
    """A command whose exit status is a fact; ``kind`` is ci where it is left out."""

    id: str
    command: str
    kind: NotRequired[str]


class GoalInRegistry(TypedDict):
    """A goal: configuration, no progress."""

    id: str
    display_name: str
    domain: str
    status: Literal["active", "paused", "retired"]
    repo: str
    state_file: str
    objective: Objective
    spawn_policy: SpawnPolicy
    coordination: Coordination
    quota: QuotaInRegistry
    gates: tuple[str, ...]
    acceptance: tuple[AcceptanceItem, ...]
    judge: JudgeRule | None
    search_path: tuple[str, ...]
    probes: tuple[ProbeInRegistry, ...]
    sources: tuple[SourceRule, ...]
    cadence: Cadence
    lease: LeaseRule
    limits: Limits
    revision: int
    sha256: Hex


class RegistryFile(TypedDict):
    """``registry.json``: who each goal is and what it may do."""

    schema_version: Literal["0.1"]
    goals: tuple[GoalInRegistry, ...]


class LockHolder(TypedDict):
    """``lock.holder.json`` beside a lock: who holds it, or held it last, since when, for what."""

    pid: int
    host: str
    since: datetime
    purpose: str
    actor: str
    started: str


class FrontMatter(TypedDict):
    """The YAML at the beginning of ``ACTIVE_GOAL_STATE.md``."""

    goal_id: str
    handoff_mode: Literal["hard_lease"]
    updated_at: datetime
    seq: int
    todos_digest: Hex


class KnownLine(TypedDict):
    """A line of the person's own ``known_workspaces``: a workspace as it was last seen.

    ``seq`` and ``head`` are the line of its journal that last changed its owners; ``owners`` are
    their names by the fingerprints of their keys.
    """

    root: str
    workspace_id: str
    seq: int
    head: Hex
    owners: dict[str, str]


class RubricAsked(TypedDict):
    """What the judge of the rules gets on its standard input for one vote on a rubric."""

    schema_version: Literal["loopx_judge_request_v0"]
    kind: Literal["rubric"]
    goal_id: str
    objective: str
    item_id: str
    rubric: str
    scale: str
    vote: int


class ActionAsked(TypedDict):
    """What the judge gets where a rule admits by it and nobody watches: one action."""

    schema_version: Literal["loopx_judge_request_v0"]
    kind: Literal["admission"]
    scale: str
    action: str
    command: str
    paths: list[str]


FILES: dict[str, Any] = {
    "active_goal_state": FrontMatter,
    "known_workspaces": KnownLine,
    "loopx_judge_request_v0": RubricAsked | ActionAsked,
    "loopx_statement_v0": StatementFile,
    "lock_holder": LockHolder,
    "registry": RegistryFile,
    "spend": SpendLine,
    "task_lease_v0": LeaseFile,
}
"""By the name of their schema."""
