"""Layer 5: a real disk that is full, and a real limit on file sizes, through the command.

This is hazard 05.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.helpers import PROGRAM, connect, ok, process
from tests.patience import PATIENCE

AGENT = ("--agent", "claude-code")
JOURNAL = Path(".loopx/runtime/shop/events.jsonl")
PUSH = ("--action", "publish", "--command", "git push origin main")
PAGE = 4096
LEFT = 40
"""Bytes between the journal's end and the end of the space there is."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def small_disk(folder: Path) -> Iterator[Path]:
    """A file system of 64 kB at ``.loopx``."""
    place = folder / ".loopx"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "loopx-test", str(place)]
    subprocess.run(mount, check=True)
    try:
        yield place
    finally:
        os.chdir("/")
        subprocess.run(["umount", "--lazy", str(place)], check=True)


def gate_asked() -> None:
    """A goal whose journal ends ``LEFT`` bytes before a page does, and the gate ``G1``."""
    connect()
    ok("agent", "add", "claude-code")
    ok("start-goal", "--id", "shop", "--objective", "Open the shop")
    ok("gate", "request", *PUSH, *AGENT)
    size = JOURNAL.stat().st_size
    hand_over("x")
    line = JOURNAL.stat().st_size - size
    hand_over("x" * (1 + (PAGE - LEFT - JOURNAL.stat().st_size - line) % PAGE))
    assert JOURNAL.stat().st_size % PAGE == PAGE - LEFT


def hand_over(text: str) -> None:
    Path("notes.md").write_text(text, "utf-8")
    ok("refresh-state", "--handoff-file", "notes.md", *AGENT)


def approvals() -> list[dict[str, Any]]:
    events: list[dict[str, Any]] = ok("event", "list")["events"]
    return [event for event in events if event["event_type"] == "gate.approved"]


def assert_refused_and_approved_later(done: subprocess.CompletedProcess[str]) -> None:
    """Nothing was recorded, the gate is open, and the owner's next press makes one approval."""
    assert (done.returncode, done.stdout) == (8, "")
    error = json.loads(done.stderr)["error"]
    assert error["code"] == "no_space"
    assert str(JOURNAL) in error["path"]
    assert approvals() == []
    assert ok("gate", "show", "G1")["gate"]["status"] == "pending"


@pytest.mark.root(mount=True)
def test_hazard_05_a_disk_with_40_bytes_left_takes_no_half_approval(small_disk: Path) -> None:
    gate_asked()
    before = JOURNAL.read_bytes()
    filler = small_disk / "filler"
    fill(filler)

    done = process("gate", "approve", "G1", "--json")

    assert JOURNAL.read_bytes() == before
    assert_refused_and_approved_later(done)
    again = process("gate", "approve", "G1", "--json")
    assert again.returncode == 8
    filler.unlink()
    assert process("gate", "approve", "G1", "--json").returncode == 0
    assert len(approvals()) == 1
    assert ok("event", "verify")["ok"]


def fill(path: Path) -> None:
    """Takes every page that is left, and that of every note which a writer would give up."""
    for note in path.parent.rglob("lock.holder.json"):
        note.unlink()
    with path.open("wb", buffering=0) as file:
        try:
            while file.write(b"x" * PAGE):
                pass
        except OSError:
            return


def test_hazard_05_a_limit_on_file_sizes_takes_no_half_approval(folder: Path) -> None:
    gate_asked()
    before = JOURNAL.read_bytes()

    done = limited(len(before) + LEFT, "gate", "approve", "G1", "--json")

    assert JOURNAL.read_bytes() == before
    assert_refused_and_approved_later(done)
    assert process("gate", "approve", "G1", "--json").returncode == 0
    assert len(approvals()) == 1


def limited(size: int, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The command where no file may grow beyond ``size`` bytes."""
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    code = (
        "import os, resource, sys\n"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({size}, {hard}))\n"
        "os.execv(sys.argv[1], sys.argv[1:])\n"
    )
    call = [sys.executable, "-c", code, str(PROGRAM), *arguments]
    return subprocess.run(
        call,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        start_new_session=True,
        timeout=PATIENCE,
        check=False,
    )
