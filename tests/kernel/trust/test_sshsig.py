"""Signatures: the same as OpenSSH's, and refused when one bit is not."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from loopx_kernel.errors import Denied
from loopx_kernel.trust.algorithms import check_key
from loopx_kernel.trust.keys import load_private, public_of
from loopx_kernel.trust.sshsig import parse, sign, verify
from loopx_kernel.trust.wire import Malformed, pack

from .conftest import PASSPHRASE, keygen, their_signature

STATEMENT = '{"event_id":"e-1","payload":{"gate_id":"G1","text":"Ship 漢字?"}}'.encode()
KINDS = ["ed25519", "ecdsa256", "ecdsa384", "ecdsa521", "rsa3072"]


def _blob(armored: str) -> bytes:
    return base64.b64decode("".join(armored.split("\n")[1:-2]))


def _armor(blob: bytes) -> str:
    text = base64.b64encode(blob).decode()
    return f"-----BEGIN SSH SIGNATURE-----\n{text}\n-----END SSH SIGNATURE-----\n"


def _frame(
    key: bytes,
    *,
    version: int = 1,
    namespace: bytes = b"loopx",
    reserved: bytes = b"",
    hash: bytes = b"sha512",
    signature: bytes | None = None,
    tail: bytes = b"",
) -> str:
    inner = pack(b"ssh-ed25519", b"\0" * 64) if signature is None else signature
    head = b"SSHSIG" + version.to_bytes(4, "big")
    return _armor(head + pack(key, namespace, reserved, hash, inner) + tail)


def _refusal(message: bytes, armored: str) -> str:
    with pytest.raises(Denied) as refusal:
        verify(message, armored)
    assert refusal.value.code == "bad_signature"
    why = refusal.value.facts["why"]
    assert isinstance(why, str) and why in refusal.value.message
    return why


@pytest.fixture
def signed(keys: dict[str, Path]) -> str:
    return sign(STATEMENT, load_private(keys["ed25519"], None))


@pytest.mark.parametrize("kind", ["ed25519", "rsa3072"])
def test_ours_is_theirs_to_the_byte(keys: dict[str, Path], kind: str) -> None:
    ours = sign(STATEMENT, load_private(keys[kind], None))
    assert ours == their_signature(keys[kind], STATEMENT)


@pytest.mark.parametrize("kind", KINDS)
def test_ssh_keygen_accepts_ours(keys: dict[str, Path], kind: str, tmp_path: Path) -> None:
    signature = tmp_path / "statement.sig"
    signature.write_text(sign(STATEMENT, load_private(keys[kind], None)))
    allowed = tmp_path / "owners"
    allowed.write_text(f'ada namespaces="loopx" {public_of(keys[kind]).line}\n')
    keygen(
        *("-Y", "verify", "-n", "loopx", "-I", "ada", "-f", allowed, "-s", signature),
        message=STATEMENT,
    )


@pytest.mark.parametrize("hash", ["sha512", "sha256"])
@pytest.mark.parametrize("kind", KINDS)
def test_we_accept_theirs(keys: dict[str, Path], kind: str, hash: str) -> None:
    armored = their_signature(keys[kind], STATEMENT, hash=hash)
    assert verify(STATEMENT, armored).public_key == public_of(keys[kind]).blob
    assert parse(armored).hash_algorithm == hash
    assert "what was signed" in _refusal(STATEMENT + b" ", armored)


def test_a_key_with_a_passphrase_signs_the_same(keys: dict[str, Path]) -> None:
    key = load_private(keys["locked"], PASSPHRASE)
    assert verify(STATEMENT, sign(STATEMENT, key)).public_key == public_of(keys["locked"]).blob


def test_ecdsa_of_ours_is_read_back_every_time(keys: dict[str, Path]) -> None:
    key = load_private(keys["ecdsa521"], None)
    for number in range(40):
        message = str(number).encode()
        assert verify(message, sign(message, key)).public_key == key.public.blob


def test_an_empty_message_can_be_signed(keys: dict[str, Path]) -> None:
    assert verify(b"", their_signature(keys["ed25519"], b""))
    assert sign(b"", load_private(keys["ed25519"], None)) == their_signature(keys["ed25519"], b"")


def test_crlf_and_a_missing_last_newline_do_not_matter(signed: str) -> None:
    assert verify(STATEMENT, signed.replace("\n", "\r\n")) == verify(STATEMENT, signed.rstrip("\n"))


def test_every_flipped_bit_is_refused(signed: str) -> None:
    blob = _blob(signed)
    for position in range(len(blob)):
        for bit in (1, 0x80):
            changed = bytearray(blob)
            changed[position] ^= bit
            _refusal(STATEMENT, _armor(bytes(changed)))


def test_every_truncation_is_refused(signed: str) -> None:
    blob = _blob(signed)
    for length in range(len(blob)):
        _refusal(STATEMENT, _armor(blob[:length]))
    for length in range(len(signed) - 1):
        _refusal(STATEMENT, signed[:length])


def test_another_purpose_is_refused(keys: dict[str, Path]) -> None:
    armored = their_signature(keys["ed25519"], STATEMENT, namespace="git")
    assert "another purpose" in _refusal(STATEMENT, armored)


def test_the_namespace_cannot_be_relabelled(keys: dict[str, Path]) -> None:
    blob = _blob(their_signature(keys["ed25519"], STATEMENT, namespace="xpool"))
    assert "what was signed" in _refusal(STATEMENT, _armor(blob.replace(b"xpool", b"loopx")))


def test_a_short_rsa_key_is_refused(keys: dict[str, Path]) -> None:
    assert "3072" in _refusal(STATEMENT, their_signature(keys["rsa2048"], STATEMENT))


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"version": 2}, "version"),
        ({"version": 0}, "version"),
        ({"namespace": b""}, "another purpose"),
        ({"namespace": b"loopx\0"}, "another purpose"),
        ({"reserved": b"x"}, "reserved"),
        ({"hash": b"sha1"}, "hash"),
        ({"hash": b"md5"}, "hash"),
        ({"hash": b"sha512\xff"}, "ASCII"),
        ({"tail": b"\0"}, "follow"),
        ({"signature": pack(b"ssh-ed25519", b"\0" * 64) + b"\0"}, "follow"),
        ({"signature": pack(b"ssh-ed25519", b"\0" * 63)}, "signed"),
        ({"signature": pack(b"ssh-rsa", b"\0" * 64)}, "algorithm"),
        ({"signature": b""}, "short"),
    ],
)
def test_an_odd_frame_is_refused(
    keys: dict[str, Path], change: dict[str, bytes], word: str
) -> None:
    key = public_of(keys["ed25519"]).blob
    assert word in _refusal(STATEMENT, _frame(key, **change))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("key", "word"),
    [
        (pack(b"sk-ssh-ed25519@openssh.com", b"\0" * 32, b"ssh:"), "algorithm"),
        (pack(b"ssh-dss", b"\1", b"\1", b"\1", b"\1"), "kind"),
        (pack(b"ssh-ed25519", b"\0" * 31), "length"),
        (pack(b"ssh-ed25519", b"\0" * 32) + b"\0", "follow"),
        (pack(b"\x1b[2J", b""), "ASCII"),
        (b"", "short"),
        (b"\xff\xff\xff\xffx", "short"),
    ],
)
def test_an_odd_key_is_refused(key: bytes, word: str) -> None:
    assert word in _refusal(STATEMENT, _frame(key))


@pytest.mark.parametrize(
    "blob",
    [
        pack(b"ecdsa-sha2-nistp256", b"nistp384", b"\4" + b"\1" * 64),
        pack(b"ecdsa-sha2-nistp256", b"nistp256", b"\4" + b"\1" * 64),
        pack(b"ecdsa-sha2-nistp256", b"nistp256", b"\2" + b"\1" * 32),
        pack(b"ssh-rsa", b"\1\0\1", b"\0" + b"\xff" * 2049),
        pack(b"ssh-rsa", b"\1" * 40, b"\0" + b"\xff" * 384),
        pack(b"ssh-rsa", b"\2", b"\0" + b"\xff" * 384),
        pack(b"ssh-rsa", b"\1\0\1", b"\xff" * 384),
        pack(b"ssh-rsa", b"\1\0\1", b"\0\0" + b"\xff" * 384),
        pack(b"ssh-rsa", b"\1\0\1", b""),
    ],
)
def test_a_key_that_is_none_is_refused(blob: bytes) -> None:
    with pytest.raises(Malformed):
        check_key(blob)


def test_a_curve_point_has_one_name_and_one_form(keys: dict[str, Path]) -> None:
    blob = public_of(keys["ecdsa256"]).blob
    assert check_key(blob) == "ecdsa-sha2-nistp256"
    point = blob[-65:]
    compressed = bytes([2 + point[-1] % 2]) + point[1:33]
    for curve, form in ((b"nistp384", point), (b"nistp256", compressed)):
        with pytest.raises(Malformed):
            check_key(pack(b"ecdsa-sha2-nistp256", curve, form))


def test_text_that_is_no_armor_is_refused(signed: str) -> None:
    lines = signed.split("\n")
    for odd in (
        "",
        "yes",
        "\ud800",
        signed + signed,
        "x" + signed,
        " " + signed,
        signed.replace("SSH", "PGP"),
        "\n".join([lines[0], "!!!!", *lines[1:]]),
        "\n".join([lines[0], "é", *lines[1:]]),
        "\n".join([lines[0], "A" * 20_000, *lines[1:]]),
    ):
        _refusal(STATEMENT, odd)


def test_unused_base64_bits_are_refused() -> None:
    assert "base64" in _refusal(
        b"", "-----BEGIN SSH SIGNATURE-----\nAB==\n-----END SSH SIGNATURE-----\n"
    )


@given(st.binary(max_size=300))
@settings(max_examples=100)
def test_random_bytes_are_refused(blob: bytes) -> None:
    _refusal(STATEMENT, _armor(blob))
    _refusal(STATEMENT, _armor(b"SSHSIG\0\0\0\1" + blob))
    _refusal(STATEMENT, _frame(pack(b"ssh-rsa") + blob, signature=blob))
    _refusal(STATEMENT, _frame(pack(b"ecdsa-sha2-nistp384", b"nistp384") + blob))


@given(st.text(max_size=200))
@settings(max_examples=100)
def test_random_text_is_refused(text: str) -> None:
    _refusal(STATEMENT, text)
