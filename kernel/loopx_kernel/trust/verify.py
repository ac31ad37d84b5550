"""The verdict on a signature: whose it is, whether it counts, and how strongly it was given."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from loopx_kernel.domain.event import Problem, Verdict
from loopx_kernel.domain.levels import level_of_key
from loopx_kernel.errors import Denied, UsageError
from loopx_kernel.trust import sshsig
from loopx_kernel.trust.algorithms import is_hardware
from loopx_kernel.trust.keys import PublicKey, parse_public_line
from loopx_kernel.trust.wire import Reader
from loopx_kernel.value import Value


class EnrolledKey(Value):
    """A key as it stands at one place of the journal.

    ``revoked`` says that its revocation stands before that place: such keys are
    handed in so that the verdict can say so. Times are aware UTC.
    """

    name: str
    key_line: str
    fingerprint: str
    allow_unattended: bool = False
    confirmed: bool = False
    revoked: bool = False
    valid_after: datetime | None = None
    valid_before: datetime | None = None


def judge(
    statement: bytes,
    armored: str | None,
    candidates: Iterable[EnrolledKey],
    *,
    at: datetime | None = None,
) -> Verdict:
    """The verdict on ``armored`` as a signature over ``statement``; never raises on content.
    Not a byte of it may be other than it was made, line breaks among them.

    ``candidates`` are the keys known at that place, revoked ones included. ``at``
    (aware UTC) is the moment a validity period is held against; without it
    periods are not looked at.
    """
    if not armored:
        return Verdict(False, problem="unsigned")
    try:
        signature = sshsig.verify(statement, armored)
    except Denied as fault:
        return Verdict(False, problem="bad_signature", why=fault.facts["why"])
    if not sshsig.is_as_made(armored):
        return Verdict(False, problem="bad_signature", why="it is written otherwise than made")
    blob = signature.public_key
    key = PublicKey(Reader(blob).text(), blob)
    enrolled = _find(blob, candidates)
    if enrolled is None:
        return Verdict(False, fingerprint=key.fingerprint, problem="unknown_signer")
    level = level_of_key(
        key.kind, allow_unattended=enrolled.allow_unattended, confirmed=enrolled.confirmed
    )
    problem = _standing(enrolled, at)
    if problem is None and is_hardware(key.kind) and not signature.fields.touched:
        problem = "wrong_level"
    if problem:
        return Verdict(False, enrolled.name, key.fingerprint, problem=problem)
    return Verdict(True, enrolled.name, key.fingerprint, level, verified=signature.fields.verified)


def _find(blob: bytes, candidates: Iterable[EnrolledKey]) -> EnrolledKey | None:
    """The enrolment of this very key; one that counts before one that is revoked."""
    revoked = None
    for candidate in candidates:
        if _blob_of(candidate) != blob:
            continue
        if not candidate.revoked:
            return candidate
        revoked = candidate
    return revoked


def _blob_of(candidate: EnrolledKey) -> bytes | None:
    try:
        return parse_public_line(candidate.key_line).blob
    except UsageError:
        return None


def _standing(enrolled: EnrolledKey, at: datetime | None) -> Problem | None:
    if enrolled.revoked:
        return "revoked"
    if at and enrolled.valid_after and at < enrolled.valid_after:
        return "not_yet_valid"
    if at and enrolled.valid_before and at > enrolled.valid_before:
        return "expired"
    return None
