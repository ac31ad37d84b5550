"""The owners file: readable by ssh-keygen, and no line can harm another."""

from __future__ import annotations

import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from loopx_kernel.errors import UsageError
from loopx_kernel.trust.keys import load_private, public_of
from loopx_kernel.trust.owners import Owner, check_name, make_owner, parse_owners, render_line
from loopx_kernel.trust.sshsig import sign

YEAR_2000 = datetime(2000, 1, 1, tzinfo=UTC)
YEAR_2001 = datetime(2001, 12, 31, 23, 59, 59, tzinfo=UTC)
YEAR_2099 = datetime(2099, 1, 1, tzinfo=UTC)


@pytest.fixture
def ada(keys: dict[str, Path]) -> Owner:
    return make_owner("ada@example.org", public_of(keys["ed25519"]))


@pytest.fixture
def bob(keys: dict[str, Path]) -> Owner:
    return make_owner("bob", public_of(keys["ecdsa256"]), allow_unattended=True)


def _ssh_keygen_accepts(line: str, name: str, key: Path, folder: Path) -> bool:
    owners, signature = folder / "owners", folder / "sig"
    owners.write_text(f"{line}\n")
    signature.write_text(sign(b"statement", load_private(key, None)))
    done = subprocess.run(
        ["ssh-keygen", "-Y", "verify", "-n", "loopx", "-I", name, "-f", owners, "-s", signature],
        input=b"statement",
        capture_output=True,
        check=False,
    )
    return done.returncode == 0


def test_the_line_is_the_documented_one(ada: Owner) -> None:
    assert render_line(ada) == f'ada@example.org namespaces="loopx" {ada.key_line}'
    assert ada.key_line.startswith("ssh-ed25519 AAAA") and ada.key_line.count(" ") == 1


def test_ssh_keygen_reads_every_form(keys: dict[str, Path], tmp_path: Path) -> None:
    key = public_of(keys["ed25519"])
    good = [
        make_owner("ada", key),
        make_owner("ada", key, allow_unattended=True),
        make_owner("ada", key, confirmed=True),
        make_owner("ada", key, valid_after=YEAR_2000, valid_before=YEAR_2099),
    ]
    for owner in good:
        assert _ssh_keygen_accepts(render_line(owner), "ada", keys["ed25519"], tmp_path)
    for owner in (
        make_owner("ada", key, valid_before=YEAR_2001),
        make_owner("ada", key, valid_after=YEAR_2099),
        make_owner("bob", key),
    ):
        assert not _ssh_keygen_accepts(render_line(owner), "ada", keys["ed25519"], tmp_path)


@pytest.mark.parametrize("unattended", [False, True])
@pytest.mark.parametrize("after", [None, YEAR_2000])
@pytest.mark.parametrize("before", [None, YEAR_2001])
def test_what_is_written_is_read_back(
    keys: dict[str, Path], unattended: bool, after: datetime | None, before: datetime | None
) -> None:
    owner = make_owner(
        "a.d_a-1@x",
        public_of(keys["rsa3072"]),
        allow_unattended=unattended,
        valid_after=after,
        valid_before=before,
    )
    assert parse_owners(render_line(owner).encode()) == ([owner], [])


def test_comments_bom_and_crlf_are_read(ada: Owner, bob: Owner) -> None:
    text = f"# people\r\n\r\n{render_line(ada)}\r\n  \t\r\n{render_line(bob)}"
    assert parse_owners(b"\xef\xbb\xbf" + text.encode()) == ([ada, bob], [])


def test_lines_people_write_for_ssh_are_read(ada: Owner) -> None:
    for options in (
        "",
        'namespaces="git,loopx" ',
        'NAMESPACES="loopx" ',
        'valid-after="20000101Z" ',
    ):
        owners, bad = parse_owners(f"ada {options}{ada.key_line} ada's key\n".encode())
        assert not bad
        assert [(o.name, o.fingerprint) for o in owners] == [("ada", ada.fingerprint)]


def test_a_bad_line_costs_that_line_alone_and_is_named(ada: Owner, bob: Owner) -> None:
    key = ada.key_line
    bad_lines = {
        f"* {key}": "name",
        f"ada,eve {key}": "name",
        f"!ada {key}": "name",
        f"{'a' * 65} {key}": "name",
        f"ada cert-authority {key}": "key",
        f'ada cert-authority="" {key}': "option",
        f'ada namespaces="git" {key}': "not meant for loopx",
        f'ada namespaces="*" {key}': "not meant for loopx",
        f'ada namespaces="loopx",namespaces="git" {key}': "twice",
        f'ada namespaces="loopx"{key}': "options",
        f'ada valid-before="20300101" {key}': "UTC",
        f'ada valid-before="20301301Z" {key}': "exists",
        f'ada valid-before="" {key}': "UTC",
        "ada": "key",
        "ada ssh-ed25519": "key",
        "ada ssh-ed25519 AAAA": "key",
        f"ada {key.replace('ssh-ed25519', 'ssh-rsa')}": "kind",
        f"ada {key}".replace(" ", "\t"): "name",
        f"ada {key} {'x' * 17_000}": "long",
        "\x1b[2J": "name",
    }
    text = "\n".join([render_line(ada), *bad_lines, render_line(bob), render_line(ada)])
    owners, bad = parse_owners(text.encode() + b"\n\xff\xfe")
    assert owners == [ada, bob]
    count = len(bad_lines)
    assert [line.line for line in bad] == [*range(2, count + 2), count + 3, count + 4]
    for line, word in zip(bad, [*bad_lines.values(), "line 1", "UTF-8"], strict=True):
        assert word in line.reason


def test_a_huge_file_is_one_bad_line() -> None:
    owners, bad = parse_owners(b"\n" * (4 * 1024 * 1024 + 1))
    assert not owners
    assert [line.line for line in bad] == [1]


@given(st.binary(max_size=200))
@settings(max_examples=100)
def test_random_lines_enrol_nobody(content: bytes) -> None:
    assert parse_owners(content)[0] == []


@pytest.mark.parametrize("name", ["", "-ada", ".ada", "a b", "ada\n", "a*", "adä", "a" * 65])
def test_a_name_that_ssh_would_misread_is_refused(name: str) -> None:
    with pytest.raises(UsageError) as refusal:
        check_name(name)
    assert (refusal.value.code, refusal.value.facts["field"]) == ("invalid_value", "name")


def test_a_good_name_is_kept() -> None:
    for name in ("a", "9", "Ada.Lovelace_1-x@example.org", "a" * 64):
        assert check_name(name) == name
