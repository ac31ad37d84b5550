"""Answers about what was recorded: events, damage, edits, people."""

# Types made by ``shape`` are values to mypy.
# mypy: disable-error-code="valid-type"

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

from loopx_kernel.cli.bodies_of_work import Texts
from loopx_kernel.cli.shapes import shape
from loopx_kernel.domain.event import Event, Level, Signed
from loopx_kernel.domain.needs_you import Damage
from loopx_kernel.domain.roster_state import Agent, Owner
from loopx_kernel.workspace.audit import Audit
from loopx_kernel.workspace.events import Verification

ShownOwner = shape("ShownOwner", Owner, level=Level)


ShownAudit = shape("ShownAudit", Audit, status=str)


class EventFields(TypedDict):
    """A line of a journal with what it is worth."""

    effective: bool
    goes_back: bool
    problem: NotRequired[str]
    signed: NotRequired[Signed]
    signature_ok: NotRequired[bool]
    level: NotRequired[Level]
    signer: NotRequired[str | None]
    fingerprint: NotRequired[str | None]
    user_verified: NotRequired[bool | None]
    copies: NotRequired[dict[str, str]]


class Agents(TypedDict):
    agents: tuple[Agent, ...]


class KnownWorkspace(TypedDict):
    """A workspace as it was seen on this machine; owners by the fingerprints of their keys."""

    root: str
    workspace_id: str
    seq: int
    head: str
    owners: dict[str, str]


class OwnersTrusted(TypedDict):
    """Who stands here, and what this machine knows of the workspace from now on."""

    owners: tuple[Owner, ...]
    known: KnownWorkspace


class Owners(TypedDict):
    owners: tuple[ShownOwner, ...]


EventShown = shape("EventShown", Event, also=EventFields)


class Cursor(TypedDict):
    """Where the next page begins: what to give as the option of that name."""

    since: NotRequired[int]
    before: NotRequired[int]


class Events(TypedDict):
    goal_id: str
    more: bool
    next: Cursor | None
    events: tuple[EventShown, ...]


class OneEvent(TypedDict):
    event: EventShown


class SignedBytes(TypedDict):
    """The exact text that was signed, and the armored signature; each where it was asked for."""

    statement: str | None
    signature: str | None


class Verified(TypedDict):
    verified: bool
    journals: tuple[Verification, ...]


class Audited(TypedDict):
    verified: bool
    journals: tuple[ShownAudit, ...]


class AllowedSigners(TypedDict):
    allowed_signers: str


class DoctorCheck(TypedDict):
    name: str
    ok: bool
    detail: str
    fix: str | None


class Doctor(TypedDict):
    healthy: bool
    level: Level
    enabled_state_implies_freshness: Literal[False]
    checks: tuple[DoctorCheck, ...]


class DriftLine(TypedDict):
    kind: Literal["ticked", "unticked", "retitled", "added", "removed"]
    todo_id: str | None
    line: int
    text: str


class LineNote(TypedDict):
    line: int
    reason: str


class StateCheck(TypedDict):
    level: bool
    state_file: str
    drift: tuple[DriftLine, ...]
    drift_since: datetime | None
    digest: str | None
    diff: Texts
    not_of_the_list: tuple[LineNote, ...]
    damage: tuple[Damage, ...]
    missing: Texts
    behind: Texts


class DamageShown(TypedDict):
    goal_id: str
    path: str
    reason: str
    expected_digest: str | None
    found_digest: str | None
    stops: str
    command: str


class Repairs(TypedDict):
    damaged: bool
    damage: tuple[DamageShown, ...]


class Connected(TypedDict):
    root: str
    workspace_id: str
    created: Literal[False]
    owners: Texts
    goals: Texts
    next: str | None
    agents_file: str | None


class Preview(TypedDict):
    """What would be signed; nothing was."""

    dry_run: Literal[True]
    preview: str
    statement: dict[str, Any]


class OwnerName(TypedDict):
    name: str
    fingerprint: str


class SchemaName(TypedDict):
    name: str
    kind: Literal["file", "event", "projection"]


class SchemaNames(TypedDict):
    schemas: tuple[SchemaName, ...]


class OneSchema(SchemaName):
    schema: dict[str, Any]
