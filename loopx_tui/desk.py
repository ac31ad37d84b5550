"""Where a decision about one object is read, fixed, signed and appended, for worker threads."""

from __future__ import annotations

import os
import shlex
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from loopx_kernel.errors import Conflict, Denied, LoopxError

from loopx_tui import strings
from loopx_tui.cases.case import Asked, Case, Matter, Values, Way, differences

if TYPE_CHECKING:
    from pathlib import Path

    from loopx_kernel.views.envelope import Envelope
    from loopx_kernel.views.packet import Packet
    from loopx_kernel.workspace import Done, KeyChoice, Unsigned

    from loopx_tui.decisions import Ledger


Fate = Literal["recorded", "not recorded", "unknown"]
"""Whether a decision is in the journal; ``unknown`` while it is on its way there, too."""


@dataclass(frozen=True, slots=True)
class Rest:
    """What a decision rests on, as it was read when its matter came to stand as it does.

    ``envelope`` says how old that is and how complete. Where a matter has no ``packet``,
    ``problem`` may say why.
    """

    packet: Packet | None = None
    envelope: Envelope | None = None
    problem: str = ""


NOTHING_READ = Rest()


@dataclass(frozen=True, slots=True)
class Look:
    """One look at a matter: how it stands, and who could sign.

    ``keys`` are all that can sign here, ``key`` the one that would. ``rest`` is what a decision
    rests on.
    """

    matter: Matter
    key: KeyChoice | None
    key_problem: str
    read_only: bool
    keys: tuple[KeyChoice, ...] = ()
    rest: Rest = NOTHING_READ

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
    """Reads, fixes, unlocks and appends for one object of a case.

    The ledger is its own and opened at the first call. Methods may be called
    from any thread, one at a time; all raise ``LoopxError`` alone.
    """

    def __init__(
        self, open_ledger: Callable[[], Ledger], case: Case, goal_id: str, object_id: str
    ) -> None:
        self.case = case
        self.goal_id = goal_id
        self.object_id = object_id
        self._open = open_ledger
        self._ledger: Ledger | None = None
        self._lock = threading.Lock()
        self._rest: tuple[object, Rest] = (None, NOTHING_READ)
        self.fate: Fate = "not recorded"
        """What became of the last ``append``; right even where nobody waited for its result."""

    def look(self, wanted: KeyChoice | None = None) -> Look:
        """The object as it is now; raises as its case does where there is none.

        The key ``wanted`` would sign, if it still can, else the first that can.
        """
        with self._lock:
            return self._look(wanted)

    def fix(
        self, shown: Matter, way: Way, values: Values, *, wanted: KeyChoice | None = None
    ) -> tuple[Unsigned, KeyChoice]:
        """The statement of this decision about the matter as it was shown; writes nothing.

        Raises ``stale_decision`` where it is not what was shown any more, and ``no_key`` where
        nobody could sign, or not with the key ``wanted``.
        """
        with self._lock:
            key = self._look(wanted).key
            if key is None or key.owner is None:
                raise Denied("no_key", "No key can sign here", next="loopx doctor")
            if wanted is not None and not _is_same(key, wanted):
                raise Denied("no_key", f"{wanted.path} cannot sign any more", next="loopx doctor")
            ledger = self._opened()
            asked = Asked(shown, key.owner, way, values)
            unsigned = self.case.prepare(ledger, asked)
            # After the statement was made: what changed before it is seen here,
            # what changes after it makes the append fail.
            present = self._look().matter
        if differences(shown.meaning, present.meaning) or not shown.is_about(unsigned.statement):
            raise Conflict(
                "stale_decision",
                f"{self.object_id} is not what you were shown; read it again",
                next=f"loopx event list --goal {shown.goal_id}",
                object_id=self.object_id,
            )
        return unsigned, key

    def unlock(self, key: KeyChoice, passphrase: bytes | None, unsigned: Unsigned) -> Any:
        """The opened key; ``wrong_passphrase`` or ``no_key``. Takes up to a second, and 30 where
        an agent waits for a person, who may look on meanwhile."""
        with self._lock:
            keys = self._opened().keys
        return keys.unlock(key, passphrase, unsigned)

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
        return strings.FATES[self.fate].format(what=self.object_id, goal=self.goal_id)

    def failure(self, error: Exception) -> str:
        """Why a decision was not made, or that it is not known whether it was."""
        if self.fate == "unknown":
            return f"{explain(error)}. {self.fate_in_words}"
        return f"Not recorded: {explain(error)}"

    def _opened(self) -> Ledger:
        if self._ledger is None:
            self._ledger = self._open()
        return self._ledger

    def _look(self, wanted: KeyChoice | None = None) -> Look:
        ledger = self._opened()
        matter = self.case.look(ledger, self.goal_id, self.object_id)
        keys, problem = usable_keys(ledger.keys.choices(), os.environ.get("LOOPX_AGENT", ""))
        problem = _not_writable(ledger.root / ".loopx") or problem
        same = (key for key in keys if wanted is not None and _is_same(key, wanted))
        key = next(same, keys[0] if keys else None)
        rest = self._rest_of(ledger, matter)
        return Look(matter, key, problem, ledger.read_only, keys, rest)

    def _rest_of(self, ledger: Ledger, matter: Matter) -> Rest:
        """Read once for each state of the matter: a text that moves by itself is never read to
        its end."""
        ref = self.case.packet(matter) if matter.open else None
        state = (ref, *matter.meaning.items())
        if state != self._rest[0]:
            self._rest = (state, _read(ledger, matter, ref))
        return self._rest[1]


def _read(ledger: Ledger, matter: Matter, ref: str | None) -> Rest:
    try:
        if ref is not None:
            packet = ledger.packet(matter.goal_id, ref)
            return Rest(packet, packet.envelope)
        # What is about no goal rests on the workspace.
        view = matter.view or ledger.workspace_view("review")
        return Rest(envelope=view.envelope)
    except LoopxError as error:
        envelope = matter.view.envelope if matter.view is not None else None
        return Rest(envelope=envelope, problem=explain(error))


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


def verify_command(unsigned: Unsigned, event_id: str) -> str:
    """Commands that check a recorded decision with ``ssh-keygen`` alone, also one made with a
    key that is revoked by it."""
    show = f"loopx event show {shlex.quote(event_id)} --goal {shlex.quote(unsigned.goal_id)}"
    return (
        f"{show} --statement > statement.json\n"
        f"{show} --signature > statement.sig\n"
        "loopx event export-owners > owners\n"
        f"ssh-keygen -Y verify -f owners -I {shlex.quote(unsigned.owner)}"
        " -n loopx -s statement.sig < statement.json"
    )


def _not_writable(folder: Path) -> str:
    """Why nothing could be recorded in ``folder``; empty if it could."""
    if os.access(folder, os.F_OK) and not os.access(folder, os.W_OK):
        return strings.NOT_WRITABLE
    return ""


def _is_same(key: KeyChoice, other: KeyChoice) -> bool:
    return (key.path, key.fingerprint) == (other.path, other.fingerprint)
