"""Events, who caused them, and the statement a person signs.

An event is one line of a journal. ``EventType`` is one row of the table of
what may happen: who may cause it, what its payload holds, when it is legal
(``check``) and what it does (``evolve``).
"""

from collections.abc import Callable, Mapping
from datetime import datetime
from functools import lru_cache
from typing import Any, Generic, Literal, TypeVar

from loopx_kernel.clock import Reading, format_time, parse_time
from loopx_kernel.domain.record import Count, Hex, Int, Name, Record, SpelledTime, Time
from loopx_kernel.value import Value

EVENT_SCHEMA = "loopx_event_v1"
WORKSPACE_JOURNAL = "_workspace"
KERNEL_ID = "loopx"
"""What the kernel is called in the lines that code writes."""

ActorKind = Literal["owner", "agent", "code"]
OWNER: frozenset[ActorKind] = frozenset({"owner"})
AGENT: frozenset[ActorKind] = frozenset({"agent"})
CODE: frozenset[ActorKind] = frozenset({"code"})
Problem = Literal[
    "unsigned",
    "bad_signature",
    "unknown_signer",
    "revoked",
    "not_yet_valid",
    "expired",
    "wrong_level",
    "outside",
    "borrowed_name",
]
Level = Literal["none", "software", "passphrase", "confirmed", "presence"]


class Actor(Record):
    """Who acts: a person by name, a registered agent, or the kernel's own code."""

    kind: ActorKind
    id: Name


class ObjectRef(Record):
    """What a decision is about; ``version`` is the ``seq`` that last changed it."""

    id: Name
    version: Count


class Witness(Record):
    """The line the decider had before their eyes."""

    seq: Count
    head: str


class Signed(Record):
    """What makes a line a person's: when, about what, seen from where, and the SSHSIG."""

    signed_at: SpelledTime
    object: ObjectRef
    witnessed: Witness
    signature: str

    @property
    def moment(self) -> datetime:
        """When it was signed, as its line says; UTC."""
        return parse_time(self.signed_at)


class Event(Record):
    """One line of a journal, as stored."""

    event_id: Name
    goal_id: Name
    event_type: Name
    recorded_at: Time
    actor_kind: ActorKind
    actor_agent_id: Name
    payload: dict[str, Any]
    signed: Signed | None = None
    request: Hex
    seq: Int
    schema_version: Literal["loopx_event_v1"]
    prev: str
    sha256: Hex

    @property
    def actor(self) -> Actor:
        """The actor of this line."""
        return _actor(self.actor_kind, self.actor_agent_id)


@lru_cache(maxsize=256)
def _actor(kind: ActorKind, name: str) -> Actor:
    # A journal names the same few on nearly every line.
    return Actor(kind=kind, id=name)


class Verdict(Value):
    """What checking a signature gave; computed by ``trust``, handed to the fold.

    ``signer`` and ``fingerprint`` stand as soon as they are known. ``level`` is
    ``none`` unless ``ok``; ``why`` adds a reason to ``bad_signature``.
    ``verified`` tells that a hardware key checked a PIN or a finger besides the touch.
    """

    ok: bool
    signer: str | None = None
    fingerprint: str | None = None
    level: Level = "none"
    problem: Problem | None = None
    why: str | None = None
    verified: bool = False


UNSIGNED = Verdict(ok=False, problem="unsigned")
BORROWED_NAME = Verdict(ok=False, problem="borrowed_name")
"""On a line that is nobody's signature and names a person as its agent."""


class Facts(Value):
    """The circumstances of an event that are not in its payload."""

    actor: Actor
    at: datetime
    seq: int
    event_id: str
    signed: Signed | None = None
    verdict: Verdict = UNSIGNED


class Abroad(Value):
    """The other machine a lease was taken on or renewed last, its boot, and when; UTC."""

    host_id: str
    boot_id: str
    renewed_at: datetime


class LiveLease(Value):
    """A live lease as the workspace sees it, for comparing scopes; ``repo`` is a real path.
    Times are UTC. ``abroad`` is set where another machine's clocks judge it."""

    goal_id: str
    todo_id: str
    owner: str
    repo: str
    write_scopes: tuple[str, ...]
    acquired_at: datetime
    expires_at: datetime
    abroad: Abroad | None = None

    @property
    def place(self) -> str:
        """The todo it is on, with its goal."""
        return f"{self.goal_id}/{self.todo_id}"


class Context(Value):
    """What a decider may look at besides the state: caller, clocks, the neighbours.

    ``repo`` is the real absolute path of the goal's repo, as in the neighbours;
    ``real_scopes`` are the todo's scopes with links followed, as theirs are.
    """

    actor: Actor
    reading: Reading
    agents: frozenset[str] = frozenset()
    repo: str = ""
    neighbours: tuple[LiveLease, ...] = ()
    real_scopes: tuple[str, ...] = ()

    @property
    def now(self) -> datetime:
        """UTC wall time."""
        return self.reading.now


class Draft(Value):
    """A decided event that is not appended yet. ``object_id`` is what it changes."""

    event_type: str
    payload: dict[str, Any]
    object_id: str


S = TypeVar("S")
P = TypeVar("P", bound=Record)


class EventType(Value, Generic[S, P]):
    """One kind of event: its payload, its authors, its rule and its effect.

    ``kernel_fields`` are payload keys the kernel gives at append; with
    ``parts`` they stand in the line and never in what is signed.
    """

    name: str
    payload: type[P]
    by: frozenset[ActorKind]
    check: Callable[[S, P, Facts], None]
    evolve: Callable[[S, P, Facts], S]
    kernel_fields: frozenset[str] = frozenset()
    parts: frozenset[str] = frozenset()
    changes_work: bool = True
    part_only: bool = False


def asked(kind: EventType[Any, Any], payload: Mapping[str, Any]) -> dict[str, Any]:
    """The part of a payload that a person asked for, which is what they sign."""
    hidden = kind.kernel_fields | {"parts"}
    return {key: value for key, value in payload.items() if key not in hidden}


def statement(
    *,
    workspace_id: str,
    event_id: str,
    goal_id: str,
    event_type: str,
    actor: Actor,
    signed_at: datetime | str,
    payload: Mapping[str, Any],
    object_ref: ObjectRef,
    witnessed: Witness,
) -> dict[str, Any]:
    """The statement whose RFC 8785 form is signed. ``payload`` is the asked part; ``signed_at``
    a moment, or its text as it stands in a line."""
    return {
        "workspace_id": workspace_id,
        "event_id": event_id,
        "goal_id": goal_id,
        "event_type": event_type,
        "actor_kind": actor.kind,
        "actor_agent_id": actor.id,
        "signed_at": signed_at if isinstance(signed_at, str) else format_time(signed_at),
        "payload": dict(payload),
        "object": object_ref.model_dump(mode="json"),
        "witnessed": witnessed.model_dump(mode="json"),
    }
