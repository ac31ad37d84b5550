"""People and their keys."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from loopx_kernel.clock import format_time
from loopx_kernel.domain import owner as people
from loopx_kernel.domain.event import WORKSPACE_JOURNAL, Context, Draft
from loopx_kernel.domain.owner import EnrollOwner, Heads, RevokeOwner
from loopx_kernel.domain.records import Head
from loopx_kernel.domain.roster_state import Owner, Replaced, WorkspaceState, same_name
from loopx_kernel.errors import Conflict, UsageError
from loopx_kernel.workspace.core import Core
from loopx_kernel.workspace.orders import Order, named, plain
from loopx_kernel.workspace.paging import Wanted, first_to_last
from loopx_kernel.workspace.signing import Unsigned, prepare

if TYPE_CHECKING:
    from loopx_kernel.store.line import Line
    from loopx_kernel.workspace.narrowing import Narrowing
    from loopx_kernel.workspace.pins import Pins


class Owners:
    """The owners of a workspace."""

    def __init__(self, core: Core) -> None:
        self._core = core

    def allowed_signers(self) -> str:
        """Every key that ever counted here, as an OpenSSH allowed_signers file with a comment
        on each. It tells whose a signature is; where a key counts stands in the journal."""
        from loopx_kernel.trust.keys import parse_public_line
        from loopx_kernel.trust.owners import make_owner, render_line

        lines = ["# keys of LoopX owners; see `loopx event show --statement`"]
        for one in self.list():
            ends = f", revoked at #{one.revoked_seq}" if one.revoked_seq else ""
            lines.append(f"# {one.name}: {one.level}, enrolled at #{one.enrolled_seq}{ends}")
            lines.append(render_line(make_owner(one.name, parse_public_line(one.key))))
        return "\n".join(lines) + "\n"

    def list(self) -> tuple[Owner, ...]:
        """All owners, revoked ones too, in the order they came."""
        with self._core.lock:
            self._core.house.refresh()
            return tuple(self._core.house.state.owners)

    @property
    def narrowing(self) -> Narrowing | None:
        """The file ``$LOOPX_OWNERS`` names, beside which a key must be enrolled to count."""
        return self._core.house.narrowing

    @property
    def replaces(self) -> Replaced | None:
        """The workspace in whose place this one was begun, whose owners had lost their keys."""
        replaced: Replaced | None = self._core.house.state.replaces
        return replaced

    @property
    def pins(self) -> Pins:
        """What this person knew the workspace to be, and whether it still is."""
        return self._core.pins

    def enroll_first(
        self,
        name: str,
        public_key_line: str,
        allow_unattended: bool = False,
        *,
        confirmed: bool = False,
        event_id: str | None = None,
    ) -> Unsigned:
        """Prepares the enrolment of the first owner, who signs for themselves."""
        command = _enrolment(name, public_key_line, allow_unattended, confirmed)
        order = Order(
            WORKSPACE_JOURNAL, command, _decide_first, named("owner", name), event_id, house=True
        )
        return prepare(self._core, order, f"enrol {name} as the first owner")

    def enroll(
        self,
        owner: str,
        name: str,
        public_key_line: str,
        allow_unattended: bool = False,
        *,
        confirmed: bool = False,
        valid_after: datetime | None = None,
        valid_before: datetime | None = None,
        event_id: str | None = None,
    ) -> Unsigned:
        """Prepares the enrolment of another person by the present ``owner``; times are UTC.

        The key counts for what comes after the lines that end the journals now. Raises
        ``exists`` for a name or key that is enrolled, ``invalid_value`` for one that cannot be.
        """
        command = replace(
            _enrolment(name, public_key_line, allow_unattended, confirmed),
            valid_after=valid_after,
            valid_before=valid_before,
        )
        return self._prepare(owner, command, event_id, f"enrol {_in_words(command)}")

    def revoke(
        self, owner: str, name: str, reason: str = "", *, event_id: str | None = None
    ) -> Unsigned:
        """Prepares the revocation of a person's present key: it decides nothing after the lines
        that end the journals now, and what it decided stays.

        Raises ``unknown_owner``, and ``last_owner`` where nobody would be left.
        """
        key = self._present(name).fingerprint
        command = RevokeOwner(name=name, fingerprint=key, reason=reason)
        return self._prepare(owner, command, event_id, f"revoke {name}'s key {key}")

    def rotate(
        self,
        owner: str,
        name: str,
        public_key_line: str,
        allow_unattended: bool = False,
        *,
        confirmed: bool = False,
        valid_after: datetime | None = None,
        valid_before: datetime | None = None,
        event_id: str | None = None,
    ) -> Unsigned:
        """Prepares a new key for a person in place of the present one, which is revoked in the
        same event: there is no moment with both or with neither. Raises ``unknown_owner``."""
        old = self._present(name).fingerprint
        command = replace(
            _enrolment(name, public_key_line, allow_unattended, confirmed),
            valid_after=valid_after,
            valid_before=valid_before,
            replaces=old,
        )
        preview = f"give {_in_words(command)} in place of {old}, which is revoked"
        return self._prepare(owner, command, event_id, preview)

    def _prepare(
        self, owner: str, command: people.Command, event_id: str | None, preview: str
    ) -> Unsigned:
        # Where the journals end is no part of what was asked for, or no retry would be one.
        arguments = {key: value for key, value in plain(command).items() if key != "heads"}
        order = Order(
            WORKSPACE_JOURNAL,
            replace(command, heads=self._heads()),
            self._decide,
            named("owner", owner),
            event_id,
            arguments=arguments,
            house=True,
        )
        return prepare(self._core, order, preview)

    def _present(self, name: str) -> Owner:
        for owner in self.list():
            if owner.name == name and owner.revoked_seq is None:
                return owner
        raise UsageError(
            "unknown_owner",
            f"Nobody named {name} is an owner now",
            next="loopx owner list",
            name=name,
        )

    def _heads(self) -> Heads:
        """Where every goal's journal ends, flushed: what a power cut could take back is no
        place. Of a journal that lost lines it is the end that was known."""
        core, found = self._core, []
        with core.lock:
            core.house.refresh()
            for goal_id in core.house.state.goals:
                ledger = core.fresh_goal(goal_id)
                ledger.journal.flush()
                missed, end = ledger.missed, ledger.position
                seq, head = (missed.seq, missed.head) if missed else (end.seq, end.head)
                found.append((goal_id, seq, head))
        return tuple(found)

    def _decide(self, state: WorkspaceState, command: people.Command, context: Context) -> Draft:
        """What was signed names lines that were the last ones then. It still holds where no
        line came since on which this key bears; signed lines wait for the workspace's lock."""
        if {goal_id for goal_id, _, _ in command.heads} != set(state.goals):
            raise people.stale(command.name)
        for goal_id, seq, head in command.heads:
            ledger = self._core.fresh_goal(goal_id)
            if ledger.hash_at(seq) != head and ledger.missed != Head(seq=seq, head=head):
                raise people.stale(command.name, goal_id=goal_id)
            for line in first_to_last(ledger, Wanted(since=seq)):
                if _bears_on(command.name, line):
                    raise people.stale(command.name, goal_id=goal_id, seq=line.seq)
        return people.decide(state, command, context)


def _bears_on(name: str, line: Line) -> bool:
    """Whether a line is in the name of that person, or says that they told of something."""
    named_there = (line.record["actor_agent_id"], line.record["payload"].get("by"))
    return any(isinstance(one, str) and same_name(one, name) for one in named_there)


def _decide_first(state: WorkspaceState, command: EnrollOwner, context: Context) -> Draft:
    if state.owners and not any(owner.name == command.name for owner in state.owners):
        raise Conflict(
            "exists",
            f"This workspace has an owner already: {state.owners[0].name}",
            next="loopx owner list",
        )
    return people.decide(state, command, context)


def _enrolment(
    name: str, public_key_line: str, allow_unattended: bool, confirmed: bool
) -> EnrollOwner:
    from loopx_kernel.trust.keys import PublicKey, parse_public_line

    people.check_name(name)
    try:
        key = parse_public_line(public_key_line)
    except UsageError as error:
        error.next = "name the .pub file of a key: --public-key FILE"
        raise
    return EnrollOwner(
        name=name,
        key=PublicKey(key.kind, key.blob).line,
        fingerprint=key.fingerprint,
        allow_unattended=allow_unattended,
        confirmed=confirmed,
    )


def _in_words(command: EnrollOwner) -> str:
    words = f"{command.name} with the key {command.fingerprint}"
    if command.valid_after:
        words += f", from {format_time(command.valid_after)}"
    if command.valid_before:
        words += f", until {format_time(command.valid_before)}"
    return f"{words}, UNATTENDED" if command.allow_unattended else words
