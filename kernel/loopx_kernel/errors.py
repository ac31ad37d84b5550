"""The error tree of the kernel.

Every error has a stable ``code``, a sentence for people, the next command to
type, and its facts as attributes. After any of them the ledger is as it was.
The classes and codes are those of the kernel's contract; the class decides the
exit status of the command line.
"""

from __future__ import annotations

from typing import Any, ClassVar


class LoopxError(Exception):
    """Base of every failure the kernel announces.

    ``code`` is stable and machine-readable; ``message`` is one sentence;
    ``next`` is the command (or act) that helps, or ``None``; ``facts`` are
    JSON-ready details such as ids, versions, digests and paths.
    """

    exit_status: ClassVar[int] = 70
    codes: ClassVar[frozenset[str]] = frozenset()

    def __init__(self, code: str, message: str, *, next: str | None = None, **facts: Any) -> None:
        if code not in self.codes:
            raise AssertionError(f"{type(self).__name__} has no code {code!r}")
        super().__init__(message)
        self.code = code
        self.message = message
        self.next = next
        self.facts = facts

    def __str__(self) -> str:
        return self.message

    def as_dict(self) -> dict[str, Any]:
        """``{"code", "message", "next", …facts}``: the ``error`` object of ``--json``."""
        return {"code": self.code, "message": self.message, "next": self.next, **self.facts}


class UsageError(LoopxError):
    """What was asked for does not exist or is not allowed to be asked."""

    exit_status = 2
    codes = frozenset(
        "invalid_value invalid_event invalid_scope invalid_status vague_gate illegal_transition "
        "dependency_cycle lineage_invalid not_initialised ambiguous_goal unknown_goal unknown_todo "
        "unknown_gate unknown_turn unknown_agent unknown_source unknown_event unknown_owner "
        "unknown_escalation nothing_to_do "
        "unknown_probe unknown_obligation".split()
    )


class Conflict(LoopxError):
    """Somebody else was there first, or the caller looked at an older state."""

    exit_status = 3
    codes = frozenset(
        "version_mismatch event_conflict scope_overlap lease_held lease_required stale_decision "
        "already_decided already_spent already_voided turn_closed turn_open drift exists".split()
    )


class Fenced(LoopxError):
    """The caller's ownership ended; it must stop working."""

    exit_status = 4
    codes = frozenset("stale_epoch not_holder writer_fenced".split())


class Busy(LoopxError):
    """A limit was reached for now; the same command may be sent again."""

    exit_status = 5
    codes = frozenset("lock_timeout limit".split())


class Denied(LoopxError):
    """A rule, a missing signature or missing evidence forbids it."""

    exit_status = 6
    codes = frozenset(
        "unsigned bad_signature unknown_signer presence_required not_a_person no_key "
        "wrong_passphrase no_agent agent_refused evidence_mismatch missing_evidence not_verified "
        "gate_required quota_exhausted quota_frozen goal_closed goal_paused last_owner".split()
    )


class Damaged(LoopxError):
    """Bytes are not what the journal says; a person decides."""

    exit_status = 7
    codes = frozenset(
        "journal_damaged rolled_back file_damaged owners_changed format_too_new".split()
    )


class Storage(LoopxError):
    """The file system refused; nothing was recorded unless the message says so."""

    exit_status = 8
    codes = frozenset(
        "no_space read_only permission durability_unknown unsupported_filesystem io_error "
        "not_regular too_large".split()
    )
