"""The verdict: every way a decision can fail to be an owner's has its own word."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from loopx_kernel.trust.keys import load_private, public_of
from loopx_kernel.trust.sshsig import sign, verify
from loopx_kernel.trust.verify import EnrolledKey, Verdict, judge

from .conftest import their_signature

STATEMENT = b'{"event_id":"e-1"}'
NOW = datetime(2026, 9, 16, 22, 40, tzinfo=UTC)
HOUR = timedelta(hours=1)


@pytest.fixture
def ada(keys: dict[str, Path]) -> EnrolledKey:
    public = public_of(keys["ed25519"])
    return EnrolledKey("ada", public.line, public.fingerprint)


@pytest.fixture
def bob(keys: dict[str, Path]) -> EnrolledKey:
    public = public_of(keys["ecdsa256"])
    return EnrolledKey("bob", public.line, public.fingerprint)


@pytest.fixture
def signed(keys: dict[str, Path]) -> str:
    return sign(STATEMENT, load_private(keys["ed25519"], None))


def test_an_owners_signature_counts(ada: EnrolledKey, bob: EnrolledKey, signed: str) -> None:
    assert judge(STATEMENT, signed, [bob, ada]) == Verdict(
        True, "ada", ada.fingerprint, "passphrase"
    )


def test_unattended_use_is_a_lower_level(ada: EnrolledKey, signed: str) -> None:
    verdict = judge(STATEMENT, signed, [replace(ada, allow_unattended=True)])
    assert (verdict.ok, verdict.level) == (True, "software")


def test_a_confirmed_key_is_its_owners_claim(ada: EnrolledKey, signed: str) -> None:
    assert judge(STATEMENT, signed, [replace(ada, confirmed=True)]).level == "confirmed"
    both = replace(ada, confirmed=True, allow_unattended=True)
    assert judge(STATEMENT, signed, [both]).level == "software"


def test_unsigned(ada: EnrolledKey) -> None:
    for nothing in (None, ""):
        assert judge(STATEMENT, nothing, [ada]) == Verdict(False, problem="unsigned")


def test_an_altered_statement_is_a_bad_signature(ada: EnrolledKey, signed: str) -> None:
    verdict = judge(STATEMENT + b" ", signed, [ada])
    assert (verdict.ok, verdict.signer, verdict.problem) == (False, None, "bad_signature")
    assert verdict.why


@pytest.mark.parametrize(
    "rewritten",
    [
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.rstrip("\n"),
        lambda text: text + "\n",
        lambda text: text[:60] + "\n" + text[60:],
        lambda text: "".join((text[:40], "\n", text[40:].replace("\n", "", 1))),
    ],
)
def test_not_even_its_line_breaks_may_be_others(
    ada: EnrolledKey, signed: str, rewritten: Callable[[str], str]
) -> None:
    verify(STATEMENT, rewritten(signed))
    verdict = judge(STATEMENT, rewritten(signed), [ada])
    assert (verdict.ok, verdict.problem) == (False, "bad_signature")
    assert "otherwise" in (verdict.why or "")


def test_another_namespace_is_a_bad_signature(ada: EnrolledKey, keys: dict[str, Path]) -> None:
    armored = their_signature(keys["ed25519"], STATEMENT, namespace="git")
    assert judge(STATEMENT, armored, [ada]).problem == "bad_signature"


def test_a_stranger_is_unknown_and_named_by_fingerprint(
    ada: EnrolledKey, bob: EnrolledKey, signed: str
) -> None:
    unknown = Verdict(False, fingerprint=ada.fingerprint, problem="unknown_signer")
    assert judge(STATEMENT, signed, [bob]) == unknown
    assert judge(STATEMENT, signed, []) == unknown


def test_a_fingerprint_alone_enrols_nobody(ada: EnrolledKey, bob: EnrolledKey, signed: str) -> None:
    forged = [replace(bob, fingerprint=ada.fingerprint), replace(ada, key_line="garbage")]
    assert judge(STATEMENT, signed, forged).problem == "unknown_signer"


def test_a_revoked_key_has_its_word_unless_enrolled_again(ada: EnrolledKey, signed: str) -> None:
    revoked = replace(ada, revoked=True)
    verdict = judge(STATEMENT, signed, [revoked])
    assert verdict == Verdict(False, "ada", ada.fingerprint, problem="revoked")
    again = replace(ada, name="ada-2")
    assert judge(STATEMENT, signed, [revoked, again]).signer == "ada-2"
    assert judge(STATEMENT, signed, [again, revoked]).signer == "ada-2"


@pytest.mark.parametrize(
    ("after", "before", "problem"),
    [
        (NOW - HOUR, NOW + HOUR, None),
        (NOW, NOW, None),
        (NOW + HOUR, None, "not_yet_valid"),
        (None, NOW - HOUR, "expired"),
    ],
)
def test_the_period_is_held_against_the_moment(
    ada: EnrolledKey,
    signed: str,
    after: datetime | None,
    before: datetime | None,
    problem: str | None,
) -> None:
    limited = replace(ada, valid_after=after, valid_before=before)
    verdict = judge(STATEMENT, signed, [limited], at=NOW)
    assert (verdict.ok, verdict.problem) == (problem is None, problem)


@given(st.text(max_size=200), st.text(max_size=100))
@settings(max_examples=100)
def test_no_content_raises(armored: str, key_line: str) -> None:
    enrolled = EnrolledKey("x", key_line, "SHA256:x")
    assert not judge(STATEMENT, armored, [enrolled]).ok
