"""What a report lists: each row says by whom, when, and in which line of the journal."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Generic, Literal, TypeVar

from loopx_kernel.value import Value

T = TypeVar("T")
MOST = 500
"""How many rows of a kind a report lists, the latest; all of them are counted."""


class Rows(Value, Generic[T]):
    """The latest rows of a kind, oldest first, and how many there were in all."""

    total: int
    rows: tuple[T, ...]

    @property
    def left_out(self) -> int:
        """How many earlier ones are counted and not listed."""
        return self.total - len(self.rows)


def latest(rows: Iterable[T]) -> Rows[T]:
    """All of ``rows`` counted, the last of them listed."""
    found = tuple(rows)
    return Rows(len(found), found[-MOST:])


class Place(Value):
    """Who caused something, when (UTC), and in which line."""

    by: str
    at: datetime
    seq: int


class Added(Value):
    """Work that came in, and where from."""

    todo_id: str
    title: str
    kind: str
    lineage: tuple[str, ...]
    place: Place


class Ended(Value):
    """Work that came to an end. ``proven`` tells that a machine read the proof of it."""

    todo_id: str
    title: str
    outcome: str
    proven: bool
    evidence: int
    superseded_by: str | None
    reason: str
    place: Place


class Shown(Value):
    """A piece of evidence: ``of`` what, which file or command, its digest, what it says, and on
    what basis that is known. ``sha256`` is of the file, or of the whole result of a run."""

    of: str
    what: str
    kind: str
    basis: Literal["ran", "read", "told"]
    result: str | None
    sha256: str | None
    place: Place


class TurnEnd(Value):
    """A turn that was closed; ``progress`` where its three parts hold together."""

    turn_id: str
    todo_id: str
    agent_id: str
    outcome: str
    progress: bool
    verified: bool
    unproven: bool
    slots: int
    reason: str
    place: Place


class Booking(Value):
    """Slots that were booked, or with ``voided`` given back and why."""

    effect_ref: str
    slots: int
    voided: bool
    reason: str
    place: Place


class Decided(Value):
    """A person's act with what its signature is worth. ``signature_ok`` is of the line at its
    place; one that is not ``effective`` changed nothing, and ``problem`` says why."""

    event_id: str
    event_type: str
    about: str
    what: str
    reason: str
    signature_ok: bool
    level: str
    fingerprint: str | None
    effective: bool
    problem: str | None
    place: Place


class Asked(Value):
    """A gate that was requested in the period, and how it stands at its end."""

    gate_id: str
    action: str
    question: str
    blocks: tuple[str, ...]
    status: str
    place: Place


class Changed(Value):
    """A change of plan, of the objective or of the rules: on whose word, and on which facts."""

    event_type: str
    what: str
    reason: str
    facts: tuple[str, ...]
    place: Place


class Incident(Value):
    """Something that went wrong, or that mended what had."""

    kind: str
    what: str
    place: Place
