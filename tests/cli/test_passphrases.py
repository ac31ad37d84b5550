"""A passphrase is asked for each time, and is nowhere afterwards."""

from __future__ import annotations

import os
from pathlib import Path

import pexpect

from tests.cli.helpers import PROGRAM, ok
from tests.cli.people import finish, terminal
from tests.patience import PATIENCE

PASSPHRASE = "zwölf-Boxkämpfer-jagen"
WRONG = "zwölf-Boxkämpfer-raten"


def typed(*arguments: str, passphrases: tuple[str, ...]) -> str:
    """What a command shows whose questions are answered with these passphrases."""
    with terminal(*arguments) as child:
        for passphrase in passphrases:
            child.expect("Passphrase of|New passphrase:|same again:")
            child.sendline(passphrase)
        _, shown = finish(child)
    return str(shown)


def leaks(folder: Path) -> list[Path]:
    """The files below a folder that hold a passphrase, or its beginning."""
    marks = [text[:12].encode() for text in (PASSPHRASE, WRONG)]
    files = [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]
    return [path for path in files if any(mark in path.read_bytes() for mark in marks)]


def test_a_passphrase_is_asked_for_each_time_and_is_in_no_file(home: Path, folder: Path) -> None:
    shown = typed("connect", "--owner", "huang", passphrases=(PASSPHRASE, PASSPHRASE))
    opening = ("start-goal", "--id", "shop", "--objective", "Sell")
    shown += typed(*opening, passphrases=(WRONG, PASSPHRASE))
    for verb in ("pause", "resume"):
        shown += typed("goal", verb, "--reason", "r", passphrases=(PASSPHRASE,))
    assert ok("goal", "show")["goal"]["status"] == "active"
    assert ok("event", "verify")["verified"] is True

    assert PASSPHRASE not in shown and WRONG not in shown
    assert (home / ".config" / "loopx" / "loopx_ed25519").is_file()
    assert list((home / ".cache").rglob("*.json")), "there is a cache to look through"
    for place in (home, folder):
        assert leaks(place) == []


def test_the_search_would_find_one(folder: Path) -> None:
    (folder / "deep").mkdir()
    (folder / "deep" / "log").write_text(f"typed {PASSPHRASE} at 12:00")
    assert leaks(folder) == [folder / "deep" / "log"]


def test_no_process_is_given_it(folder: Path) -> None:
    """Neither the command nor a child of it has it among its arguments or in its environment."""
    typed("connect", "--owner", "huang", passphrases=(PASSPHRASE, PASSPHRASE))
    seen = folder / "seen"
    # Every program that the command starts is put down with what it was given.
    programs = folder / "programs"
    programs.mkdir()
    for name in ("ssh-keygen", "ssh-add", "ssh", "git", "sh", "stty"):
        script = programs / name
        script.write_text(f'#!/bin/sh\n{{ echo "$0 $*"; env; }} >> {seen}\nexit 1\n')
        script.chmod(0o700)
    env = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"}
    arguments = ["start-goal", "--id", "shop", "--objective", "Sell"]
    child = pexpect.spawn(
        str(PROGRAM), arguments, env=env, encoding="utf-8", timeout=PATIENCE, dimensions=(40, 200)
    )
    try:
        child.expect("Passphrase of")
        child.sendline(PASSPHRASE)
        proc = Path(f"/proc/{child.pid}")
        given = b""
        while child.isalive():
            try:
                given += (proc / "cmdline").read_bytes() + (proc / "environ").read_bytes()
                child.expect(pexpect.EOF, timeout=0.01)
            except (OSError, pexpect.TIMEOUT):
                continue
        assert finish(child)[0] == 0
    finally:
        child.close(force=True)
    told = given + (seen.read_bytes() if seen.exists() else b"")
    assert PASSPHRASE.encode() not in told
