"""Every kind of refusal: its code, its exit status, and nothing written."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from loopx_kernel.cli import main as entry

from tests.cli.helpers import loopx, ok, process, start, unchanged

AGENT = ("--agent", "claude-code")
NOW_ASK = ("gate", "request", "--action", "publish", "--command", "git push")
PAST = "2020-01-01T00:00:00Z"

_RULES = (
    "id display-name domain repo state-file write-scope requires-approval gate acceptance probe "
    "source judge compute window-hours slot-minutes from"
)

SETTLE = ("turn", "settle", "--turn", "turn-0001", "--outcome")
REFUSED = [
    # usage
    (("todo", "list", "--status", "finished"), 2, "invalid_status"),
    (("todo", "update", "T1", "--status", "blocked", *AGENT), 2, "illegal_transition"),
    (("todo", "update", "T1", "--status", "finished", *AGENT), 2, "invalid_status"),
    (("todo", "update", "T9", *AGENT), 2, "unknown_todo"),
    (("todo", "update", "T1", *AGENT), 2, "nothing_to_do"),
    (("todo", "update", "T1", "--status", "claimed", *AGENT), 2, "nothing_to_do"),
    (("todo", "show", "T9"), 2, "unknown_todo"),
    (("todo", "claim", "T9", *AGENT), 2, "unknown_todo"),
    (("lease", "show", "T9"), 2, "unknown_todo"),
    (("lease", "show", "T2"), 2, "unknown_todo"),
    (("todo", "add", "Work"), 2, "unknown_agent"),
    (("todo", "add", "Work", "--agent", "nobody"), 2, "unknown_agent"),
    (("quota", "should-run", "--agent", "nobody"), 2, "unknown_agent"),
    (("todo", "add", "", *AGENT), 2, "invalid_value"),
    (("todo", "add", "two\nlines", *AGENT), 2, "invalid_value"),
    (("todo", "add", "Work", "--priority", "P7", *AGENT), 2, "invalid_value"),
    (("todo", "add", "Work", "--frobnicate", *AGENT), 2, "invalid_value"),
    (("todo", "add", *AGENT), 2, "invalid_value"),
    (("todo", "add", "Work", "--write-scope", "../elsewhere", *AGENT), 2, "invalid_scope"),
    (("todo", "add", "Work", "--depends-on", "T9", *AGENT), 2, "unknown_todo"),
    (("todo", "add", "Work", "--lineage", "T9", *AGENT), 2, "lineage_invalid"),
    (("todo", "add", "Work", "--resume-at", "tomorrow", *AGENT), 2, "invalid_value"),
    (("todo", "add", "Work", "--resume-at", "2026-09-16T22:40:00", *AGENT), 2, "invalid_value"),
    (("todo", "claim", "T2", "--ttl", "fast", *AGENT), 2, "invalid_value"),
    (("todo", "claim", "T2", "--ttl", "25h", *AGENT), 2, "invalid_value"),
    (("todo", "claim", "T2", "--expect-version", "one", *AGENT), 2, "invalid_value"),
    (("todo", "renew", "T1", "--epoch", "1", *AGENT), 2, "invalid_value"),
    (("todo", "wait", "T2", "--on", "the moon", *AGENT), 2, "invalid_value"),
    (("todo", "wait", "T2", "--on", "source", *AGENT), 2, "invalid_value"),
    (("todo", "wait", "T2", "--on", "source:nope", *AGENT), 2, "unknown_source"),
    (("todo", "defer", "T2", "--until", PAST, *AGENT), 2, "invalid_value"),
    (("todo", "block", "T2", *AGENT), 2, "invalid_value"),
    (("gate", "request", "--action", "publish", *AGENT), 2, "vague_gate"),
    (("gate", "show", "G9"), 2, "unknown_gate"),
    (("gate", "approve", "G9"), 2, "unknown_gate"),
    (("gate", "check", "--action", "publish"), 2, "vague_gate"),
    (("gate", "defer", "G1", "--until", PAST), 2, "invalid_value"),
    (("quota", "spend-slot", "--turn", "today", *AGENT), 2, "unknown_turn"),
    (("quota", "spend-slot", "--turn", "turn-0001", "--slots", "0", *AGENT), 2, "invalid_value"),
    (("quota", "void-slot", "--turn", "turn-9999", "--reason", "r"), 2, "unknown_turn"),
    (("source", "add", "Bad Id", "--provider", "p"), 2, "invalid_value"),
    (("source", "add", "ok", "--provider", ""), 2, "invalid_value"),
    (("source", "bind", "nope"), 2, "unknown_source"),
    (("source", "read", "nope", "--status", "read"), 2, "unknown_source"),
    (("event", "show", "e-none"), 2, "unknown_event"),
    (("refresh-state", "--handoff-file", "none.md", *AGENT), 2, "invalid_value"),
    (("refresh-state", "--handoff", " ", *AGENT), 2, "invalid_value"),
    (("agent", "add", "not an id"), 2, "invalid_value"),
    (("status", "--goal", "nope"), 2, "unknown_goal"),
    (("status", "--goal", "../shop"), 2, "unknown_goal"),
    (("status", "--scope", "galaxy"), 2, "invalid_value"),
    (("status", "--root", "/nowhere"), 2, "not_initialised"),
    (("goal", "resume", "--reason", "r"), 2, "illegal_transition"),
    (("start-goal",), 2, "invalid_value"),
    (("start-goal", "--objective", "x", "--id", "Not An Id"), 2, "invalid_value"),
    (("start-goal", "--objective", "x", "--gate", "ask me if unsure"), 2, "vague_gate"),
    (("start-goal", "--objective", "x", "--write-scope", "/etc"), 2, "invalid_scope"),
    (("start-goal", "--objective", "x", "--compute", "1.5"), 2, "invalid_value"),
    (("start-goal", "--objective", "x", "--acceptance", "looks good"), 2, "invalid_value"),
    (("start-goal", "--objective", "x", "--source", "tickets"), 2, "invalid_value"),
    (("start-goal", "--objective", "x", "--probe", "tests"), 2, "invalid_value"),
    # conflict
    (("agent", "add", "claude-code"), 3, "exists"),
    (("start-goal", "--objective", "x", "--id", "shop"), 3, "exists"),
    (("todo", "claim", "T2", "--expect-version", "7", *AGENT), 3, "version_mismatch"),
    (("todo", "claim", "T1", "--agent", "codex"), 3, "lease_held"),
    (("todo", "complete", "T2", *AGENT), 3, "lease_required"),
    ((*NOW_ASK, *AGENT), 3, "exists"),
    (("quota", "spend-slot", "--turn", "turn-0001", *AGENT), 3, "already_spent"),
    (("turn", "settle", "--turn", "turn-0009", "--outcome", "done", *AGENT), 2, "unknown_turn"),
    (("turn", "settle", "--turn", "turn-0001", "--outcome", "well", *AGENT), 2, "invalid_value"),
    ((*SETTLE, "done", "--slots", "-1", *AGENT), 2, "invalid_value"),
    ((*SETTLE, "done", *AGENT), 6, "missing_evidence"),
    ((*SETTLE, "done", "--evidence", "none.xml", *AGENT), 6, "missing_evidence"),
    ((*SETTLE, "failed", "--handoff", "a", "--handoff-file", "b", *AGENT), 2, "invalid_value"),
    ((*SETTLE, "failed", "--agent", "codex"), 4, "not_holder"),
    (("turn", "begin", "--agent", "nobody"), 2, "unknown_agent"),
    (("turn", "begin"), 2, "unknown_agent"),
    (("turn", "show", "turn-0009"), 2, "unknown_turn"),
    (("todo", "update", "T1", "--turn", "turn-0009", *AGENT), 2, "unknown_turn"),
    (("todo", "complete", "T1", "--turn", "turn-0001", *AGENT), 6, "missing_evidence"),
    (("refresh-state", "--turn", "turn-0001", *AGENT), 2, "invalid_value"),
    (("refresh-state", "--turn", "turn-0009", "--handoff", "x", *AGENT), 2, "unknown_turn"),
    # fenced
    (("todo", "renew", "T1", "--version", "1", "--epoch", "7", *AGENT), 4, "stale_epoch"),
    (("todo", "complete", "T1", "--agent", "codex"), 4, "not_holder"),
    # denied
    (("todo", "complete", "T1", "--tests", "failed", *AGENT), 6, "not_verified"),
    (("todo", "update", "T1", "--evidence", "none.xml", *AGENT), 6, "missing_evidence"),
    (("todo", "update", "T1", "--evidence", "/etc/passwd", *AGENT), 6, "missing_evidence"),
    (("todo", "claim", "T3", *AGENT), 6, "gate_required"),
    (("gate", "use", "--action", "publish", "--command", "git push", *AGENT), 6, "gate_required"),
    (("gate", "approve", "G1", *AGENT), 6, "not_a_person"),
    (("gate", "approve", "G1", "--key", "none"), 6, "no_key"),
    (("goal", "pause", "--reason", "r", *AGENT), 6, "not_a_person"),
    (("event", "show", "unsigned-1", "--statement"), 6, "unsigned"),
]


WAIT = ("todo", "wait", "T2", "--on", "ci")
GOAL = ("start-goal", "--dry-run", "--objective")
ANY_VALUE = [
    ("@",),
    ("todo", "@"),
    ("agent", "add", "@"),
    ("todo", "add", "@", *AGENT),
    ("todo", "add", "Work", "--agent", "@"),
    ("todo", "add", "Work", "--event-id", "@", *AGENT),
    ("todo", "add", "Work", "--write-scope", "@", *AGENT),
    ("todo", "show", "@"),
    ("todo", "claim", "T2", "--ttl", "@", *AGENT),
    ("todo", "update", "T1", "--note", "@", *AGENT),
    ("todo", "update", "T1", "--evidence", "@", *AGENT),
    ("todo", "block", "T2", "--reason", "@", *AGENT),
    (*WAIT, "--every", "@", *AGENT),
    (*WAIT[:-1], "@", *AGENT),
    ("gate", "request", "--action", "@", "--command", "c", *AGENT),
    ("gate", "request", "--action", "publish", "--command", "@", *AGENT),
    ("gate", "request", "--action", "publish", "--path", "@", *AGENT),
    ("gate", "approve", "G1", "--dry-run", "--reason", "@"),
    ("gate", "approve", "G1", "--dry-run", "--key", "@"),
    ("quota", "spend-slot", "--turn", "@", *AGENT),
    ("turn", "show", "@"),
    ("turn", "settle", "--turn", "@", "--outcome", "failed", *AGENT),
    (*SETTLE, "@", *AGENT),
    (*SETTLE, "progress", "--evidence", "@", *AGENT),
    (*SETTLE, "progress", "--tests", "@", *AGENT),
    (*SETTLE, "progress", "--slots", "@", *AGENT),
    (*SETTLE, "progress", "--note", "@", *AGENT),
    (*SETTLE, "progress", "--handoff", "@", *AGENT),
    (*SETTLE, "progress", "--handoff-file", "@", *AGENT),
    ("quota", "spend-slot", "--turn", "turn-0009", "--slots", "@", *AGENT),
    ("source", "add", "@", "--provider", "p"),
    ("source", "add", "s", "--provider", "@"),
    ("event", "show", "@"),
    ("event", "list", "--since", "@"),
    ("refresh-state", "--handoff", "@", *AGENT),
    ("refresh-state", "--handoff-file", "@", *AGENT),
    ("status", "--root", "@"),
    ("status", "--goal", "@"),
    (*GOAL, "@"),
    *((*GOAL, "o", f"--{name}", "@") for name in _RULES.split()),
]


@pytest.fixture
def ledger() -> None:
    """Three todos, T1 held by claude-code, T3 gated by G1; one slot booked."""
    start(None, "shop", "--requires-approval", "publish")
    ok("agent", "add", "codex")
    for title in ("Convert", "Test", "Ship"):
        ok("todo", "add", title, *AGENT)
    ok("turn", "begin", *AGENT)
    ok(*NOW_ASK, "--blocks", "T3", *AGENT)
    ok("quota", "spend-slot", "--turn", "turn-0001", "--event-id", "unsigned-1", *AGENT)


def test_each_wrong_command_has_its_code_and_status_and_changes_nothing(ledger: None) -> None:
    for command, status, code in REFUSED:
        with unchanged():
            result = loopx(*command, "--json")
        assert (result.status, result.code) == (status, code), (command, result)
        assert result.out == ""
        assert result.json["ok"] is False
        assert result.json["error"]["message"]


def test_arguments_that_are_no_text_are_refused_before_anything_reads_them(ledger: None) -> None:
    for wrong in ("\udcff", "half \ud83d", "a\0b"):
        with unchanged():
            result = loopx("todo", "add", wrong, *AGENT, "--json")
        assert (result.status, result.code) == (2, "invalid_value")


@pytest.mark.parametrize(
    "value",
    ["", " ", "x" * 200, "x" * 5000, "a\nb", "\x1b[2J", "-1", "9" * 30, "..", ".", "{}"],
    ids=range(11),
)
def test_no_value_of_any_option_is_an_internal_failure(ledger: None, value: str) -> None:
    for command in ANY_VALUE:
        result = loopx(*(value if word == "@" else word for word in command))
        assert result.status in (*range(9), 13), (command, result)
        assert result.status == 0 or result.out or result.err


def test_people_get_a_sentence_and_the_next_command_on_stderr() -> None:
    result = loopx("status")

    assert result.status == 2
    assert result.out == ""
    sentence, step = result.err.splitlines()
    assert sentence.endswith("[not_initialised]")
    assert step == "next: loopx connect"


def test_a_goal_is_named_when_there_are_several(ledger: None) -> None:
    start(None, "docs")

    result = loopx("status", "--json")
    assert (result.status, result.code) == (2, "ambiguous_goal")
    assert result.json["error"]["goals"] == ["shop", "docs"]
    assert ok("status", "--goal", "docs")["goal"]["id"] == "docs"
    assert ok("--goal", "docs", "status")["goal"]["id"] == "docs"


def test_a_damaged_journal_stops_writing_with_its_own_status(ledger: None) -> None:
    journal = Path(".loopx/runtime/shop/events.jsonl")
    journal.write_bytes(journal.read_bytes().replace(b"Convert", b"Pervert"))

    with unchanged():
        result = loopx("todo", "add", "More", *AGENT, "--json")

    assert (result.status, result.code) == (7, "journal_damaged")
    assert loopx("event", "verify").status == 1
    assert loopx("doctor").status == 1
    assert loopx("quota", "should-run").status == 10


def test_a_workspace_that_cannot_be_written_is_a_storage_error(
    ledger: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    import errno
    import os

    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with unchanged(), monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        result = loopx("todo", "add", "More", *AGENT, "--json")

    assert (result.status, result.code) == (8, "no_space")
    assert ok("todo", "add", "More", *AGENT)["todo"]["id"] == "T4"


def test_an_unexpected_failure_is_internal_and_shows_no_traceback(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("boom\x1b[2J")

    monkeypatch.setattr(entry.root, "main", broken)

    result = loopx("status")
    assert result.status == 70
    assert "Traceback" not in result.err
    assert "\x1b" not in result.err
    assert loopx("status", "--json").code == "internal"
    monkeypatch.setenv("LOOPX_DEBUG", "1")
    with pytest.raises(RuntimeError):
        loopx("status")


def test_an_interrupted_command_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(entry.root, "main", interrupt)

    assert loopx("status").status == 130


def test_the_installed_program_has_the_same_statuses_and_streams(ledger: None) -> None:
    refused = process("todo", "claim", "T2", "--expect-version", "7", *AGENT, "--json")
    assert refused.returncode == 3
    assert refused.stdout == ""
    assert json.loads(refused.stderr)["error"]["code"] == "version_mismatch"

    answer = process("quota", "should-run", *AGENT, "--json")
    assert answer.returncode == 0
    assert answer.stderr == ""
    assert json.loads(answer.stdout)["answer"] == "run"


def test_a_reader_that_goes_away_ends_the_command_quietly(ledger: None) -> None:
    from tests.cli.helpers import PROGRAM

    with subprocess.Popen(
        ["/bin/sh", "-c", f"'{PROGRAM}' event list | true"], stderr=subprocess.PIPE
    ) as shell:
        assert shell.stderr is not None
        assert shell.stderr.read() == b""
        assert shell.wait(30) == 0
