"""`loopx owner`: people come, change their keys and go, each time signed."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from tests.cli.helpers import connect, loopx, ok, start, unchanged


def new_key(name: str) -> Path:
    from loopx_kernel.trust import new_key as keys

    path = Path(f"{name}.key")
    keys.generate(path, f"{name}@test", None)
    return path


def enroll(name: str, *more: str) -> Any:
    public = ("--public-key", f"{new_key(name)}.pub")
    return ok("owner", "enroll", "--name", name, *public, "--allow-unattended", *more)


def names() -> list[tuple[str, bool]]:
    found = ok("owner", "list")["owners"]
    return [(owner["name"], owner["revoked_seq"] is None) for owner in found]


def test_a_second_owner_comes_decides_and_goes() -> None:
    start()
    done = enroll("lin")
    assert (done["owner"]["name"], done["owner"]["enrolled_by"]) == ("lin", "huang")
    assert set(done["owner"]["from_heads"]) == {"shop"}
    ok("goal", "pause", "--reason", "r", "--key", "lin.key")
    gone = ok("owner", "revoke", "--name", "lin", "--reason", "left")
    assert gone["owner"]["revoked_by"] == "huang"
    with unchanged():
        assert (
            loopx("goal", "resume", "--reason", "r", "--key", "lin.key", "--json").code == "no_key"
        )
    assert names() == [("huang", True), ("lin", False)]
    assert ok("goal", "show")["goal"]["status"] == "paused"


def test_a_new_key_in_place_of_the_old_one(monkeypatch: pytest.MonkeyPatch) -> None:
    start()
    public = ("--public-key", f"{new_key('new')}.pub")
    ok("owner", "rotate", "--name", "huang", *public, "--allow-unattended")
    assert names() == [("huang", False), ("huang", True)]
    with unchanged():
        assert loopx("goal", "pause", "--reason", "r", "--json").code == "no_key"
    monkeypatch.setenv("LOOPX_KEY", "new.key")
    ok("goal", "pause", "--reason", "r")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("revoke", "--name", "huang"), "last_owner"),
        (("revoke", "--name", "lin"), "unknown_owner"),
        (("rotate", "--name", "lin", "--public-key", "x.key.pub"), "unknown_owner"),
        (("enroll", "--name", "huang", "--public-key", "x.key.pub"), "exists"),
        (("enroll", "--name", "claude-code", "--public-key", "x.key.pub"), "exists"),
        (("enroll", "--name", "lin", "--public-key", "x.key"), "invalid_value"),
        (("enroll", "--name", "lin", "--public-key", "none.pub"), "invalid_value"),
        (("enroll", "--name", "a b", "--public-key", "x.key.pub"), "invalid_value"),
        (("enroll", "--name", "", "--public-key", "x.key.pub"), "invalid_value"),
        (("enroll", "--name", "lin", "--public-key", "~nobody/x.pub"), "invalid_value"),
        (("enroll", "--name", "lin", "--public-key", "pipe"), "invalid_value"),
    ],
)
def test_what_is_refused_changes_nothing(arguments: tuple[str, ...], code: str) -> None:
    start()
    new_key("x")
    os.mkfifo("pipe")
    with unchanged():
        result = loopx("owner", *arguments, "--json")
    assert (result.code, bool(result.json["error"]["next"])) == (code, True)


@pytest.mark.parametrize("command", ["enroll", "rotate", "revoke"])
def test_an_agent_is_no_owner_s_friend(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    connect()
    key = () if command == "revoke" else ("--public-key", f"{new_key('x')}.pub")
    monkeypatch.setenv("LOOPX_AGENT", "claude-code")
    with unchanged():
        result = loopx("owner", command, "--name", "huang", *key, "--json")
    assert (result.status, result.code) == (6, "not_a_person")


def test_a_dry_run_shows_which_lines_the_key_counts_from() -> None:
    start()
    public = ("--public-key", f"{new_key('lin')}.pub")
    with unchanged():
        shown = ok("owner", "enroll", "--name", "lin", *public, "--dry-run")
    heads = shown["statement"]["payload"]["heads"]
    assert heads["shop"]["seq"] == 1


def test_what_is_shown_of_people() -> None:
    connect()
    enroll("lin", "--valid-before", "2199-01-01T00:00:00Z")
    enroll("wu")
    ok("owner", "revoke", "--name", "wu")
    text = loopx("owner", "list").out
    assert "until 2199-01-01T00:00:00Z" in text and "by huang" in text
