"""Where a decision about one gate is read, fixed, signed and appended, for worker threads."""

from __future__ import annotations

import os
import shlex
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from loopx_kernel.clock import parse_duration, parse_time
from loopx_kernel.errors import Conflict, Denied, LoopxError, UsageError

from loopx_tui import strings

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from loopx_kernel.domain.gate import Outcome
    from loopx_kernel.domain.records import Gate
    from loopx_kernel.views.goal import GoalView
    from loopx_kernel.workspace import Done, KeyChoice, Unsigned

    from loopx_tui.decisions import Ledger


Fate = Literal["recorded", "not recorded", "unknown"]
"""Whether a decision is in the journal; ``unknown`` while it is on its way there, too."""


@dataclass(frozen=True, slots=True)
class Look:
    """One look at a gate: the goal's view it stands in, and who could sign.

    ``keys`` are all that can sign here, ``key`` the one that would.
    """

    view: GoalView
    gate: Gate
    status: str
    key: KeyChoice | None
    key_problem: str
    read_only: bool
    keys: tuple[KeyChoice, ...] = ()

    @property
    def open(self) -> bool:
        """Whether the gate still waits for a decision."""
        return self.status in ("pending", "deferred")

    @property
    def no_signing(self) -> str:
        """Why nothing can be signed here; empty if something can."""
        return "This workspace is open read-only" if self.read_only else self.key_problem

    def with_next_key(self) -> Look:
        """The same look with the key that follows; itself where there is no other."""
        if self.key not in self.keys:
            return self
        place = self.keys.index(self.key) + 1
        return replace(self, key=self.keys[place % len(self.keys)])


class Desk:
    """Reads, fixes, unlocks and appends for one gate.

    The ledger is its own and opened at the first call. Methods may be called
    from any thread, one at a time; all raise ``LoopxError`` alone.
    """

    def __init__(self, open_ledger: Callable[[], Ledger], goal_id: str, gate_id: str) -> None:
        self.goal_id = goal_id
        self.gate_id = gate_id
        self._open = open_ledger
        self._ledger: Ledger | None = None
        self._lock = threading.Lock()
        self.fate: Fate = "not recorded"
        """What became of the last ``append``; right even where nobody waited for its result."""

    def look(self, wanted: KeyChoice | None = None) -> Look:
        """The gate as it is now; ``unknown_gate`` where there is none.

        The key ``wanted`` would sign, if it still can, else the first that can.
        """
        with self._lock:
            return self._look(wanted)

    def fix(
        self,
        shown: Gate,
        outcome: Outcome,
        reason: str,
        until: str = "",
        *,
        wanted: KeyChoice | None = None,
    ) -> tuple[Unsigned, KeyChoice]:
        """The statement of this decision about the gate as it was shown; writes nothing.

        ``until`` is a time as ``parse_until`` takes it, for a deferral. Raises
        ``stale_decision`` where the gate is not what was shown any more, and
        ``no_key`` where nobody could sign, or not with the key ``wanted``.
        """
        from loopx_kernel.domain.gate import DecideGate

        with self._lock:
            key = self._look(wanted).key
            if key is None or key.owner is None:
                raise Denied("no_key", "No key can sign here", next="loopx doctor")
            if wanted is not None and not _is_same(key, wanted):
                raise Denied("no_key", f"{wanted.path} cannot sign any more", next="loopx doctor")
            ledger = self._opened()
            command = DecideGate(
                gate_id=self.gate_id,
                outcome=outcome,
                reason=reason,
                until=parse_until(until, ledger.clock.read().now) if until else None,
            )
            unsigned = ledger.gates.decide(self.goal_id, key.owner, command)
            # After the statement was made: what changed before it is seen here,
            # what changes after it makes the append fail.
            present = self._look().gate
        if differences(shown, present) or not _is_about(unsigned.statement, shown):
            raise Conflict(
                "stale_decision",
                f"{self.gate_id} is not what you were shown; read it again",
                next=f"loopx gate show {self.gate_id}",
                gate_id=self.gate_id,
            )
        return unsigned, key

    def unlock(self, key: KeyChoice, passphrase: bytes | None) -> Any:
        """The opened key; ``wrong_passphrase`` or ``no_key``. Takes up to a second."""
        with self._lock:
            return self._opened().keys.unlock(key, passphrase)

    def append(self, unsigned: Unsigned, key: Any) -> Done[Any]:
        """Signs and appends; the event is durable on return, and ``fate`` says so."""
        with self._lock:
            ledger = self._opened()
            self.fate = "unknown"
            try:
                done = ledger.append(unsigned, key)
            except LoopxError as error:
                if error.code != "durability_unknown":
                    self.fate = "not recorded"
                raise
            self.fate = "recorded"
            return done

    @property
    def fate_in_words(self) -> str:
        """What became of the last ``append``, as a sentence."""
        return strings.FATES[self.fate].format(gate=self.gate_id, goal=self.goal_id)

    def failure(self, error: Exception) -> str:
        """Why a decision was not made, or that it is not known whether it was."""
        if self.fate == "unknown":
            return f"{explain(error)}. {self.fate_in_words}"
        return f"Not recorded: {explain(error)}"

    def verify_command(self, event_id: str, owner: str) -> str:
        """Commands that check a decision with ``ssh-keygen`` alone."""
        with self._lock:
            owners = self._opened().root / ".loopx" / "owners"
        show = f"loopx event show {shlex.quote(event_id)} --goal {shlex.quote(self.goal_id)}"
        return (
            f"{show} --statement > statement.json\n"
            f"{show} --signature > statement.sig\n"
            f"ssh-keygen -Y verify -f {shlex.quote(str(owners))} -I {shlex.quote(owner)}"
            " -n loopx -s statement.sig < statement.json"
        )

    def _opened(self) -> Ledger:
        if self._ledger is None:
            self._ledger = self._open()
        return self._ledger

    def _look(self, wanted: KeyChoice | None = None) -> Look:
        ledger = self._opened()
        view = ledger.view(self.goal_id)
        keys, problem = usable_keys(ledger.keys.choices(), os.environ.get("LOOPX_AGENT", ""))
        problem = _not_writable(ledger.root / ".loopx") or problem
        same = (key for key in keys if wanted is not None and _is_same(key, wanted))
        key = next(same, keys[0] if keys else None)
        for row in view.gates:
            if row.gate.id == self.gate_id:
                return Look(view, row.gate, row.status, key, problem, ledger.read_only, keys)
        raise UsageError("unknown_gate", f"There is no gate {self.gate_id} in {self.goal_id}")


def parse_until(text: str, now: datetime) -> datetime:
    """``10m``, ``3h`` from ``now`` on, or RFC 3339 with a zone; ``invalid_value`` otherwise."""
    text = text.strip()
    try:
        return now + parse_duration(text)
    except UsageError:
        return parse_time(text)


def explain(error: Exception) -> str:
    """What went wrong, as a sentence for people with the next command."""
    if isinstance(error, LoopxError):
        return f"{error.message} (next: {error.next})" if error.next else error.message
    return f"Unexpected failure, {type(error).__name__}; see what was recorded: loopx event list"


def usable_keys(choices: Sequence[KeyChoice], agent: str = "") -> tuple[tuple[KeyChoice, ...], str]:
    """The keys that can sign here, or none of them and the sentence that says why.

    In the shell of an ``agent`` nobody decides, whatever keys lie there.
    """
    if agent:
        return (), strings.AN_AGENT.format(agent=agent)
    keys = tuple(choice for choice in choices if choice.usable and choice.owner is not None)
    if keys:
        return keys, ""
    if not choices:
        return (), "No key of yours is set up: name one in LOOPX_KEY, or run `loopx connect`"
    first = choices[0]
    return (), first.problem or f"The key {first.path} is not enrolled here"


def _not_writable(folder: Path) -> str:
    """Why nothing could be recorded in ``folder``; empty if it could."""
    if os.access(folder, os.F_OK) and not os.access(folder, os.W_OK):
        return strings.NOT_WRITABLE
    return ""


def _is_same(key: KeyChoice, other: KeyChoice) -> bool:
    return (key.path, key.fingerprint) == (other.path, other.fingerprint)


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing about a gate that is not as it was shown."""

    field: str
    before: str
    after: str


_MEANING = ("status", "question", "action", "command", "paths", "blocks", "irreversible", "digest")


def differences(before: Gate, after: Gate) -> tuple[Difference, ...]:
    """What differs between two states of a gate in anything a decision is about."""
    pairs = ((name, _text(before, name), _text(after, name)) for name in _MEANING)
    return tuple(Difference(name, old, new) for name, old, new in pairs if old != new)


def _text(gate: Gate, name: str) -> str:
    value = getattr(gate, name)
    return ", ".join(value) if isinstance(value, tuple) else str(value)


def _is_about(statement: Mapping[str, Any], gate: Gate) -> bool:
    """Whether a statement names this gate, in this version, with this digest."""
    about = {"id": gate.id, "version": gate.seq}
    return bool(statement["object"] == about and statement["payload"]["digest"] == gate.digest)
