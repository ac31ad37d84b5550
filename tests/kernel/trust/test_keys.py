"""Key files: made, read, guarded."""

from __future__ import annotations

import base64
import os
import stat
from pathlib import Path

import asyncssh
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from loopx_kernel.errors import Conflict, Denied, LoopxError, Storage, UsageError
from loopx_kernel.trust import key_files
from loopx_kernel.trust.keys import (
    Found,
    PublicKey,
    load_private,
    look,
    parse_public_line,
    permissions_problem,
    public_of,
)
from loopx_kernel.trust.new_key import generate
from loopx_kernel.trust.sshsig import sign, verify
from loopx_kernel.trust.wire import pack

from tests.hardware import ECDSA, ED25519, SoftHardwareKey

from .conftest import PASSPHRASE, keygen, their_signature

USABLE = ["ed25519", "ecdsa256", "ecdsa384", "ecdsa521", "rsa3072", "locked"]


def _no_key(path: Path) -> str:
    with pytest.raises(Denied) as refusal:
        load_private(path, None)
    assert refusal.value.code == "no_key"
    assert refusal.value.facts["path"] == str(path)
    return str(refusal.value.facts["reason"])


def _names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("kind", USABLE)
def test_fingerprint_and_line_are_those_of_ssh_keygen(keys: dict[str, Path], kind: str) -> None:
    path = keys[kind]
    public = public_of(path)
    assert public.fingerprint in keygen("-l", "-f", path).decode()
    assert public.line == path.with_suffix(".pub").read_text().strip()
    assert parse_public_line(public.line) == public


def test_a_made_key_works_with_ssh_keygen_and_asyncssh(tmp_path: Path) -> None:
    path = tmp_path / "ssh" / "loopx"
    public = generate(path, "ada@desk", None)
    assert keygen("-y", "-f", path).decode().split()[:2] == public.line.split()[:2]
    assert public.line == path.with_name("loopx.pub").read_text().strip()
    assert public.line.endswith(" ada@desk")
    imported = asyncssh.read_private_key(path)
    assert imported.get_fingerprint() == public.fingerprint
    message = b"approve G1"
    assert sign(message, load_private(path, None)) == their_signature(path, message)


def test_a_made_key_with_a_passphrase_opens_with_it_alone(tmp_path: Path) -> None:
    path = tmp_path / "loopx"
    public = generate(path, "", b"open sesame", kdf_rounds=1)
    assert look(path).encrypted
    assert load_private(path, b"open sesame").public == public
    assert asyncssh.read_private_key(path, "open sesame").get_fingerprint() == public.fingerprint
    assert keygen("-y", "-P", "open sesame", "-f", path)
    for wrong in (b"open sesam", b"", None):
        with pytest.raises(Denied) as refusal:
            load_private(path, wrong)
        assert refusal.value.code == "wrong_passphrase"
        assert "sesam" not in str(refusal.value.as_dict())


def test_only_its_owner_can_read_a_made_key(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        generate(tmp_path / "new" / "loopx", "ada", None)
    finally:
        os.umask(old)
    folder = tmp_path / "new"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((folder / "loopx").stat().st_mode) == 0o600
    assert stat.S_IMODE((folder / "loopx.pub").stat().st_mode) == 0o644
    assert permissions_problem(folder / "loopx") is None
    assert _names(folder) == ["loopx", "loopx.pub"]


@pytest.mark.parametrize("name", ["loopx", "loopx.pub"])
@pytest.mark.parametrize("as_link", [False, True])
def test_no_file_is_overwritten(tmp_path: Path, name: str, as_link: bool) -> None:
    there = tmp_path / name
    if as_link:
        there.symlink_to("nowhere")
    else:
        there.write_text("mine")
    with pytest.raises(Conflict) as refusal:
        generate(tmp_path / "loopx", "ada", None)
    assert refusal.value.code == "exists"
    assert _names(tmp_path) == [name]
    assert as_link or there.read_text() == "mine"


def test_a_file_that_appears_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "loopx"
    path.write_text("mine")
    assert not key_files.write_new(path, b"other", 0o600)
    assert path.read_text() == "mine"
    assert _names(tmp_path) == ["loopx"]


def test_a_key_whose_public_half_cannot_be_written_is_taken_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = os.link

    def full_on_pub(source: Path, target: Path) -> None:
        if target.name.endswith(".pub"):
            raise OSError(28, "No space left on device")
        link(source, target)

    monkeypatch.setattr(os, "link", full_on_pub)
    with pytest.raises(Storage) as refusal:
        generate(tmp_path / "loopx", "ada", None)
    assert refusal.value.code == "no_space"
    assert _names(tmp_path) == []


def test_a_public_file_that_appears_meanwhile_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = os.link

    def raced(source: Path, target: Path) -> None:
        if target.name == "loopx":
            (tmp_path / "loopx.pub").write_text("mine")
        link(source, target)

    monkeypatch.setattr(os, "link", raced)
    with pytest.raises(Conflict):
        generate(tmp_path / "loopx", "ada", None)
    assert _names(tmp_path) == ["loopx.pub"]
    assert (tmp_path / "loopx.pub").read_text() == "mine"


def test_a_made_file_is_flushed_before_it_has_its_name_and_its_folder_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []
    fsync, link = os.fsync, os.link

    def flushed(handle: int) -> None:
        seen.append("folder" if stat.S_ISDIR(os.fstat(handle).st_mode) else "file")
        fsync(handle)

    def linked(source: Path, target: Path) -> None:
        seen.append("name")
        link(source, target)

    monkeypatch.setattr(os, "fsync", flushed)
    monkeypatch.setattr(os, "link", linked)
    assert key_files.write_new(tmp_path / "key", b"content", 0o600)
    assert seen == ["file", "name", "folder"]


def test_a_folder_that_is_a_file_is_a_storage_error(tmp_path: Path) -> None:
    (tmp_path / "ssh").write_text("")
    with pytest.raises(Storage):
        generate(tmp_path / "ssh" / "loopx", "ada", None)


def test_an_empty_passphrase_or_a_comment_of_two_lines_makes_no_key(tmp_path: Path) -> None:
    for comment, passphrase in (("ada", b""), ("ada\nssh-ed25519 AAAA", None), ("a" * 101, None)):
        with pytest.raises(UsageError) as refusal:
            generate(tmp_path / "loopx", comment, passphrase)
        assert refusal.value.code == "invalid_value"
    assert _names(tmp_path) == []


@pytest.mark.parametrize("kind", USABLE)
def test_whether_a_passphrase_is_needed_is_known_without_asking(
    keys: dict[str, Path], kind: str
) -> None:
    found = look(keys[kind])
    assert (found.opens, found.encrypted) == (True, kind == "locked")
    key = load_private(keys[kind], PASSPHRASE)
    assert key.encrypted is (kind == "locked")
    assert key.public.blob == public_of(keys[kind]).blob


def test_a_private_key_does_not_show_itself(keys: dict[str, Path]) -> None:
    shown = repr(load_private(keys["locked"], PASSPHRASE))
    assert "PrivateKey(public=" in shown
    assert "Ed25519PrivateKey" not in shown


def test_what_is_no_key_is_named(keys: dict[str, Path], tmp_path: Path) -> None:
    assert "no such file" in _no_key(tmp_path / "none")
    assert "not a file" in _no_key(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    assert "not a file" in _no_key(tmp_path / "pipe")
    (tmp_path / "big").write_bytes(b"x" * 70_000)
    assert "too large" in _no_key(tmp_path / "big")
    assert "not an OpenSSH private key" in _no_key(keys["ed25519"].with_suffix(".pub"))
    assert "3072" in _no_key(keys["rsa2048"])
    assert "name" in _no_key(Path("nul\0"))


def test_an_older_format_is_named_with_its_way_out(keys: dict[str, Path], tmp_path: Path) -> None:
    old = tmp_path / "old"
    old.write_bytes(keys["ecdsa256"].read_bytes())
    old.chmod(0o600)
    keygen("-q", "-p", "-m", "PEM", "-N", "", "-P", "", "-f", old)
    assert "ssh-keygen -p" in _no_key(old)


def test_a_changed_secret_is_damage_and_not_another_key(
    keys: dict[str, Path], tmp_path: Path
) -> None:
    armor = keys["ed25519"].read_text().split("\n")
    blob = bytearray(base64.b64decode("".join(armor[1:-2])))
    point = public_of(keys["ed25519"]).blob[-32:]
    # The secret stands right before the last copy of the public point.
    blob[blob.rindex(point) - 1] ^= 1
    path = tmp_path / "changed"
    path.write_text("\n".join([armor[0], base64.b64encode(blob).decode(), *armor[-2:]]))
    assert "halves" in _no_key(path)


def test_a_damaged_key_file_is_no_key(keys: dict[str, Path], tmp_path: Path) -> None:
    whole = keys["ed25519"].read_bytes()
    path = tmp_path / "cut"
    for length in range(0, whole.index(b"-----END") - 5, 7):
        path.write_bytes(whole[:length] + b"\n-----END OPENSSH PRIVATE KEY-----\n")
        _no_key(path)


@given(position=st.integers(40, 330), value=st.sampled_from(b"ABCXYZabcxyz0189+/=\n"))
@settings(max_examples=100)
def test_a_changed_key_file_never_crashes(
    keys: dict[str, Path], tmp_path_factory: pytest.TempPathFactory, position: int, value: int
) -> None:
    content = bytearray(keys["locked"].read_bytes())
    content[position] = value
    path = tmp_path_factory.getbasetemp() / "changed"
    path.write_bytes(content)
    try:
        key = load_private(path, PASSPHRASE)
    except LoopxError as refusal:
        assert refusal.code in ("no_key", "wrong_passphrase")
    else:
        assert verify(b"m", sign(b"m", key)).public_key == public_of(keys["locked"]).blob


def test_the_private_file_decides_whose_key_it_is(keys: dict[str, Path], tmp_path: Path) -> None:
    path = tmp_path / "key"
    beside = tmp_path / "key.pub"
    path.write_bytes(keys["locked"].read_bytes())
    assert public_of(path).blob == public_of(keys["locked"]).blob
    beside.write_bytes(keys["ed25519"].with_suffix(".pub").read_bytes())
    assert public_of(path).blob == public_of(keys["locked"]).blob
    beside.write_text("garbage")
    assert public_of(path).blob == public_of(keys["locked"]).blob


@pytest.mark.parametrize("kind", [ED25519, ECDSA])
def test_the_file_of_a_hardware_key_shows_it_and_opens_nothing(kind: str, tmp_path: Path) -> None:
    public = SoftHardwareKey(kind).public
    path = tmp_path / "id_sk"
    handle = pack(public.blob, b"", b"")
    head = b"openssh-key-v1\0" + pack(b"none", b"none", b"") + b"\0\0\0\1"
    armor = base64.b64encode(head + handle).decode()
    path.write_text(
        f"-----BEGIN OPENSSH PRIVATE KEY-----\n{armor}\n-----END OPENSSH PRIVATE KEY-----\n"
    )
    assert look(path) == Found(PublicKey(kind, public.blob))
    (tmp_path / "id_sk.pub").write_text(f"{public.line}\n")
    assert look(path) == Found(public)
    assert "ssh-agent" in _no_key(path)


def test_a_public_file_that_is_named_is_one(keys: dict[str, Path]) -> None:
    beside = keys["ed25519"].with_suffix(".pub")
    assert look(beside) == Found(public_of(keys["ed25519"]))
    assert "not an OpenSSH private key" in _no_key(beside)


def test_a_public_file_alone_will_do(keys: dict[str, Path], tmp_path: Path) -> None:
    (tmp_path / "key.pub").write_bytes(keys["ed25519"].with_suffix(".pub").read_bytes())
    assert public_of(tmp_path / "key") == public_of(keys["ed25519"])
    for content in (b"garbage", b"\xff\xfe", b""):
        (tmp_path / "key.pub").write_bytes(content)
        with pytest.raises(Denied) as refusal:
            public_of(tmp_path / "key")
        assert refusal.value.code == "no_key"


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o620])
def test_a_key_others_can_reach_is_named(keys: dict[str, Path], tmp_path: Path, mode: int) -> None:
    path = tmp_path / "key"
    path.write_bytes(keys["ed25519"].read_bytes())
    path.chmod(mode)
    assert f"mode {mode:04o}" in str(permissions_problem(path))
    path.chmod(0o400)
    assert permissions_problem(path) is None


def test_a_key_of_another_user_is_named(
    keys: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "getuid", lambda: 4242)
    assert "another user" in str(permissions_problem(keys["ed25519"]))


def test_permissions_of_nothing_are_no_key(tmp_path: Path) -> None:
    with pytest.raises(Denied) as refusal:
        permissions_problem(tmp_path / "none")
    assert refusal.value.code == "no_key"


@given(st.text(max_size=80))
@settings(max_examples=100)
def test_a_line_that_is_no_key_is_refused(text: str) -> None:
    for line in (text, f"ssh-ed25519 {text}", f"ssh-rsa AAAAB3NzaC1yc2E{text}"):
        with pytest.raises(UsageError) as refusal:
            parse_public_line(line)
        assert refusal.value.code == "invalid_value"


def test_a_mislabelled_or_short_key_line_is_refused(keys: dict[str, Path]) -> None:
    line = public_of(keys["ed25519"]).line
    for odd in (line.replace("ssh-ed25519", "ssh-rsa"), line.replace(" ", "", 1), "x" * 20_000):
        with pytest.raises(UsageError):
            parse_public_line(odd)
    with pytest.raises(UsageError) as refusal:
        parse_public_line(keys["rsa2048"].with_suffix(".pub").read_text())
    assert "3072" in refusal.value.facts["reason"]
