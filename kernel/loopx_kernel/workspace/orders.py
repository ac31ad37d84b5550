"""What a command is on its way to a journal, and what it gives back."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from datetime import datetime
from typing import Any, Generic, Literal, TypeVar

from pydantic import ValidationError

from loopx_kernel.clock import Reading, format_time
from loopx_kernel.domain.canonical import digest
from loopx_kernel.domain.event import KERNEL_ID, Actor, Context, Draft
from loopx_kernel.errors import UsageError
from loopx_kernel.value import Value

S = TypeVar("S")
CODE = Actor(kind="code", id=KERNEL_ID)


class Receipt(Value):
    """Proof that a line stands in a journal; ``recorded_at`` is UTC. ``replayed`` says that
    the same command had been recorded before."""

    event_id: str
    goal_id: str
    seq: int
    sha256: str
    recorded_at: datetime
    replayed: bool = False


class Done(Value, Generic[S]):
    """What a writing command gives back: the receipt, what it changed, the state after it."""

    receipt: Receipt
    object_id: str
    state: S


@dataclass(frozen=True, slots=True)
class Order:
    """A command on its way to a journal.

    ``arguments`` are what the caller asked for, nothing from clock or state:
    with the command's name and the actor they make the ``request`` digest.
    ``house`` sends it to the workspace journal; ``both`` takes the workspace's
    lock as well as the goal's; ``starts_work`` refuses it while the todo list drifts; ``checks``
    says that it changes nothing but files that are not level, and waits less for a lock.
    ``repairs`` says what damage does not stop it: that of files, or of the journal itself.
    ``keeps`` are bytes the event refers to, put into ``objects`` before it is appended.
    ``about`` is the todo it is about, where the command does not say so.
    """

    goal_id: str
    command: Any
    decide: Callable[[Any, Any, Context], Draft]
    actor: Actor
    event_id: str | None = None
    arguments: Mapping[str, Any] | None = None
    house: bool = False
    both: bool = False
    starts_work: bool = False
    checks: bool = False
    repairs: Literal["file", "journal"] | None = None
    keeps: tuple[bytes, ...] = field(default=(), repr=False)
    about: str | None = None

    @property
    def name(self) -> str:
        """The command's name, for the lock's note and the request digest."""
        return type(self.command).__name__

    @property
    def request(self) -> str:
        """SHA-256 of what was asked."""
        asked = dict(self.arguments) if self.arguments is not None else plain(self.command)
        return digest(
            {
                "command": self.name,
                "goal_id": self.goal_id,
                "actor": self.actor.model_dump(),
                "arguments": asked,
            }
        )

    @property
    def todo_id(self) -> str | None:
        """The todo the command is about, if it is about one."""
        return self.about or getattr(self.command, "todo_id", None)


def named(kind: Literal["agent", "owner"], name: str) -> Actor:
    """Who acts; ``unknown_agent`` or ``unknown_owner`` for what can be nobody's name."""
    try:
        return Actor(kind=kind, id=name)
    except ValidationError:
        raise UsageError(
            "unknown_agent" if kind == "agent" else "unknown_owner",
            f"{name!r} cannot be the name of an {kind}",
            next=f"loopx {kind} list",
            name=name,
        ) from None


_CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


def new_event_id(reading: Reading) -> str:
    """A ULID: 48 bits of milliseconds and 80 random bits, in Crockford's base 32."""
    number = (int(reading.now.timestamp() * 1000) << 80) | int.from_bytes(os.urandom(10))
    return "".join(_CROCKFORD[(number >> shift) & 31] for shift in range(125, -1, -5))


def plain(value: Any) -> Any:
    """A command as JSON values, for its request digest."""
    if is_dataclass(value) and not isinstance(value, type):
        return {item.name: plain(getattr(value, item.name)) for item in fields(value)}
    if isinstance(value, datetime):
        return format_time(value)
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json")
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value
