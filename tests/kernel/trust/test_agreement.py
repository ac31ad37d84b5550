"""Three programs, one answer: ours, ``ssh-keygen -Y verify`` and asyncssh."""

from __future__ import annotations

import base64
import subprocess
from collections.abc import Callable
from pathlib import Path

import asyncssh
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from loopx_kernel.errors import Denied
from loopx_kernel.trust.algorithms import check_key
from loopx_kernel.trust.keys import PublicKey, load_private, parse_public_line, public_of
from loopx_kernel.trust.owners import make_owner, render_line
from loopx_kernel.trust.sshsig import Signer, sign, verify
from loopx_kernel.trust.verify import EnrolledKey, judge
from loopx_kernel.trust.wire import Malformed, pack

from tests.hardware import ECDSA, ED25519, TOUCHED, UNTOUCHED, VERIFIED, SoftHardwareKey

from .conftest import their_signature

STATEMENT = b'{"event_id":"e-1","goal_id":"shop"}'
SOFTWARE = ["ed25519", "ecdsa256", "ecdsa384", "ecdsa521", "rsa3072"]
HARDWARE = [ED25519, ECDSA]

Answer = Callable[[bytes, str, PublicKey], bool]


def _owners(key: PublicKey) -> str:
    return f"{render_line(make_owner('ada', key))}\n"


def _ours(statement: bytes, armored: str, key: PublicKey) -> bool:
    return judge(statement, armored, [EnrolledKey("ada", key.line, key.fingerprint)]).ok


def _asyncssh(statement: bytes, armored: str, key: PublicKey) -> bool:
    told = asyncssh.validate_sshsig(statement, armored.encode(), "ada", _owners(key).encode())
    return bool(told)


@pytest.fixture
def answers(tmp_path: Path) -> dict[str, Answer]:
    """What each program says of a signature by ada over a statement."""

    def keygen(statement: bytes, armored: str, key: PublicKey) -> bool:
        owners, signature = tmp_path / "owners", tmp_path / "sig"
        owners.write_text(_owners(key))
        signature.write_text(armored)
        verify = ["ssh-keygen", "-Y", "verify", "-n", "loopx", "-I", "ada", "-f", owners]
        done = subprocess.run(
            [*verify, "-s", signature], input=statement, capture_output=True, check=False
        )
        return done.returncode == 0

    return {"ours": _ours, "ssh-keygen": keygen, "asyncssh": _asyncssh}


def _say(answers: dict[str, Answer], *asked: object) -> dict[str, bool]:
    return {name: answer(*asked) for name, answer in answers.items()}  # type: ignore[arg-type]


def _all(answer: bool) -> dict[str, bool]:
    return dict.fromkeys(("ours", "ssh-keygen", "asyncssh"), answer)


def _signer(keys: dict[str, Path], kind: str) -> Signer:
    return SoftHardwareKey(kind) if kind in HARDWARE else load_private(keys[kind], None)


@pytest.mark.parametrize("kind", [*SOFTWARE, *HARDWARE])
def test_all_three_agree_on_ours(
    keys: dict[str, Path], kind: str, answers: dict[str, Answer]
) -> None:
    signer = _signer(keys, kind)
    armored = sign(STATEMENT, signer)
    other = public_of(keys["locked"])

    assert _say(answers, STATEMENT, armored, signer.public) == _all(True)
    assert _say(answers, STATEMENT + b" ", armored, signer.public) == _all(False)
    assert _say(answers, STATEMENT, armored, other) == _all(False)


@pytest.mark.parametrize("kind", SOFTWARE)
@pytest.mark.parametrize("by", ["ssh-keygen", "asyncssh"])
def test_all_three_agree_on_theirs(
    keys: dict[str, Path], kind: str, by: str, answers: dict[str, Answer]
) -> None:
    if by == "ssh-keygen":
        armored = their_signature(keys[kind], STATEMENT)
    else:
        armored = asyncssh.create_sshsig(str(keys[kind]), STATEMENT, namespace="loopx").decode()
    public = public_of(keys[kind])

    assert _say(answers, STATEMENT, armored, public) == _all(True)
    assert _say(answers, STATEMENT[1:], armored, public) == _all(False)


@pytest.mark.parametrize("kind", ["ed25519", "rsa3072"])
def test_three_programs_make_the_same_bytes(keys: dict[str, Path], kind: str) -> None:
    ours = sign(STATEMENT, load_private(keys[kind], None))
    made = asyncssh.create_sshsig(str(keys[kind]), STATEMENT, namespace="loopx").decode()
    assert ours == their_signature(keys[kind], STATEMENT)
    assert _blob(made) == _blob(ours)


@given(st.binary(max_size=300))
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@pytest.mark.parametrize("kind", HARDWARE)
def test_any_statement_signed_with_a_hardware_key(
    answers: dict[str, Answer], kind: str, statement: bytes
) -> None:
    key = SoftHardwareKey(kind)
    armored = sign(statement, key)
    assert _say(answers, statement, armored, key.public) == _all(True)
    assert _say(answers, statement + b"\0", armored, key.public) == _all(False)


@pytest.mark.parametrize("kind", HARDWARE)
@pytest.mark.parametrize("flags", [UNTOUCHED, TOUCHED, 4, VERIFIED, 0x80, 0x81])
def test_only_a_touched_hardware_key_counts(
    answers: dict[str, Answer], kind: str, flags: int
) -> None:
    """The other two do not look at the flag; who checks with them alone is told so."""
    key = SoftHardwareKey(kind, flags=flags)
    armored = sign(STATEMENT, key)
    touched = bool(flags & TOUCHED)

    assert _say(answers, STATEMENT, armored, key.public) == _all(True) | {"ours": touched}
    verdict = judge(STATEMENT, armored, [EnrolledKey("ada", key.public.line, "")])
    if touched:
        assert (verdict.level, verdict.verified) == ("presence", flags == VERIFIED)
    else:
        assert (verdict.level, verdict.problem) == ("none", "wrong_level")


@pytest.mark.parametrize("kind", HARDWARE)
def test_no_bit_of_a_hardware_signature_can_be_changed(kind: str) -> None:
    """Neither a flag nor the counter can be given to it afterwards."""
    armored = sign(STATEMENT, SoftHardwareKey(kind, flags=UNTOUCHED))
    blob = _blob(armored)
    for position in range(len(blob)):
        changed = bytearray(blob)
        changed[position] ^= 1
        with pytest.raises(Denied):
            verify(STATEMENT, _armor(bytes(changed)))


@pytest.mark.parametrize("kind", HARDWARE)
@pytest.mark.parametrize("application", [b"", b"https://bank.example", b"ssh", b"SSH:"])
def test_a_key_made_for_something_else_is_none(kind: str, application: bytes) -> None:
    with pytest.raises(Malformed, match="not made for SSH"):
        check_key(SoftHardwareKey(kind, application=application).public.blob)
    own = SoftHardwareKey(kind, application=b"ssh:loopx").public
    assert parse_public_line(own.line) == own


def test_a_hardware_key_on_another_curve_is_none() -> None:
    with pytest.raises(Malformed, match="curve"):
        check_key(pack(ECDSA.encode(), b"nistp384", b"\4" + b"\1" * 96, b"ssh:"))


def test_a_software_signature_has_no_flags(keys: dict[str, Path]) -> None:
    fields = verify(STATEMENT, sign(STATEMENT, load_private(keys["ed25519"], None))).fields
    assert (fields.flags, fields.touched, fields.verified) == (None, False, False)


def _blob(armored: str) -> bytes:
    return base64.b64decode("".join(armored.strip().split("\n")[1:-1]))


def _armor(blob: bytes) -> str:
    text = base64.b64encode(blob).decode()
    return f"-----BEGIN SSH SIGNATURE-----\n{text}\n-----END SSH SIGNATURE-----\n"
