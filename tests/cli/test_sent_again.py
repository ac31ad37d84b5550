"""Every writing command sent again with its event id gives its first receipt, however much
happened since, and writes nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from loopx_kernel.clock import ManualClock

from tests.cli.helpers import bytes_of, connect, loopx, ok
from tests.kernel.workspace.build import OPENED

AGENT = ("--agent", "claude-code")
REASON = ("--reason", "so it is")
LATER = "2026-09-17T09:00:00Z"
COMMANDS: list[tuple[str, ...]] = [
    ("agent", "add", "claude-code"),
    (
        "start-goal",
        "--id",
        "shop",
        "--objective",
        "Dark mode",
        "--probe",
        "ci=true",
        "--acceptance",
        "builds=cmd:true",
        "--gate",
        "publish:git push*",
    ),
    ("todo", "add", "First", *AGENT),
    ("todo", "claim", "T1", *AGENT),
    ("todo", "renew", "T1", "--version", "1", "--epoch", "1", *AGENT),
    ("todo", "update", "T1", "--note", "half", *AGENT),
    ("todo", "release", "T1", "--version", "3", "--epoch", "1", *AGENT),
    ("todo", "block", "T1", *REASON, *AGENT),
    ("todo", "reopen", "T1", *AGENT),
    ("todo", "defer", "T1", "--until", LATER, *AGENT),
    ("todo", "reopen", "T1", *AGENT),
    ("todo", "wait", "T1", "--on", "ci", *AGENT),
    ("observe", "record", "--kind", "ci", "--status", "pass", "--ref", "run-1", *AGENT),
    ("observe", "probe", "ci"),
    ("turn", "begin", *AGENT),
    (
        "turn",
        "settle",
        "--turn",
        "turn-0001",
        "--outcome",
        "done",
        "--evidence",
        "a.txt",
        "--handoff",
        "next",
        *AGENT,
    ),
    ("accept", "run"),
    ("accept", "by-hand", *REASON),
    ("refresh-state", "--handoff", "more", *AGENT),
    ("quota", "void-slot", "--turn", "turn-0001", *REASON),
    ("gate", "request", "--action", "publish", "--command", "git push a", *AGENT),
    ("gate", "approve", "G1", *REASON),
    ("gate", "use", "--action", "publish", "--command", "git push a", *AGENT),
    ("gate", "request", "--action", "publish", "--command", "git push b", *AGENT),
    ("gate", "defer", "G2", "--until", LATER),
    ("gate", "reject", "G2", *REASON),
    ("gate", "request", "--action", "publish", "--command", "git push c", *AGENT),
    ("gate", "withdraw", "G3", *AGENT),
    ("todo", "add", "For a person", "--role", "human", *AGENT),
    ("todo", "complete", "T2", *REASON),
    ("todo", "add", "Second", *AGENT),
    ("replan", "request", "--todo", "T3", *REASON),
    ("todo", "add", "Instead", "--lineage", "T3", *AGENT),
    ("replan", "fulfil", "O1", "--supersede", "T3:T5", *AGENT),
    ("propose", "cancel", "T5", *REASON, *AGENT),
    ("todo", "cancel", "T5", *REASON),
    ("objective", "patch", "--text", "Dark mode for all", *REASON),
    ("source", "add", "chat", "--provider", "slack"),
    ("source", "bind", "chat"),
    ("source", "read", "chat", "--status", "read", "--items", "1", "--unreadable", "0"),
    ("source", "settle", "chat", "--cursor", "batch-1"),
    ("source", "pause", "chat", *REASON),
    ("source", "resume", "chat"),
    ("source", "host", "slack", "--status", "ok", "--scanned", "chat"),
    ("goal", "pause", *REASON),
    ("goal", "resume", *REASON),
    ("goal", "retire", *REASON),
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.txt").write_text("done\n", "utf-8")
    return tmp_path


def journals(folder: Path) -> dict[str, bytes]:
    found = bytes_of(folder / ".loopx")
    return {name: data for name, data in found.items() if name.endswith("events.jsonl")}


@pytest.mark.parametrize("cached", [True, False])
def test_every_command_gives_its_first_receipt(
    folder: Path, monkeypatch: pytest.MonkeyPatch, cached: bool
) -> None:
    connect()
    clock = ManualClock(OPENED)
    receipts: list[dict[str, Any]] = []
    for number, words in enumerate(COMMANDS):
        clock.advance(seconds=1)
        receipts.append(ok(*words, "--event-id", f"own-{number}", clock=clock)["receipt"])
    before = journals(folder)
    if not cached:
        monkeypatch.setenv("LOOPX_CACHE_DIR", str(folder / "another"))
    for number, words in enumerate(COMMANDS):
        # The status of `turn begin` is the answer now; its receipt is the first one.
        told = loopx(*words, "--event-id", f"own-{number}", "--json", clock=clock).json
        again = told["receipt"]
        assert {**again, "replayed": False} == {**receipts[number], "replayed": False}, words
    assert journals(folder) == before
