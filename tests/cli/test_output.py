"""What is printed: JSON with the promised keys, safe text, plain when piped."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pexpect
import pytest
from loopx_kernel.cli.status_line import for_tmux
from loopx_kernel.clock import ManualClock, parse_time

from tests.cli.helpers import PROGRAM, loopx, ok, process, start
from tests.patience import PATIENCE

AGENT = ("--agent", "claude-code")
HOSTILE = 'A \u202e[red]OK[/] ]0;pwn [/x] {"a":[true]} 漢字 👩‍👩‍👧'
ENVELOPE = {
    *("schema_version", "projection", "observed_at", "served_at", "fresh", "complete"),
    *("alert", "alert_reasons", "sources", "coverage"),
}
READS = [
    ("status",),
    ("status", "--scope", "workspace"),
    ("status", "--scope", "global"),
    ("board",),
    ("board", "--scope", "workspace"),
    ("board", "--scope", "global"),
    ("workspace", "list"),
    ("review-packet", "G1"),
    ("goal", "list"),
    ("goal", "show"),
    ("agent", "list"),
    ("owner", "list"),
    ("todo", "list", "--all"),
    ("todo", "show", "T1"),
    ("lease", "list"),
    ("lease", "show", "T1"),
    ("gate", "list"),
    ("gate", "show", "G1"),
    ("gate", "check", "--action", "publish", "--command", "git push"),
    ("quota", "status"),
    ("quota", "should-run"),
    ("source", "list"),
    ("completion",),
    ("doctor",),
    ("state", "check"),
    ("event", "list"),
    ("event", "verify"),
    ("event", "list", "--goal", "_workspace"),
    ("connect",),
]


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(parse_time("2026-09-16T22:40:00Z"))


@pytest.fixture
def ledger(clock: ManualClock) -> None:
    """A held todo with a hostile title, a gate, a booking and a source nobody read."""
    start(clock, "shop", "--requires-approval", "publish", "--source", "tickets=jira,required")
    ok("todo", "add", HOSTILE, *AGENT, clock=clock)
    ok("turn", "begin", *AGENT, clock=clock)
    asked = ("--action", "publish", "--command", "git push", "--question", HOSTILE)
    ok("gate", "request", *asked, "--blocks", "T1", *AGENT, clock=clock)
    ok("quota", "spend-slot", "--turn", "turn-0001", *AGENT, clock=clock)


def test_every_projection_is_one_ascii_object_with_its_envelope(
    ledger: None, clock: ManualClock
) -> None:
    for command in READS:
        result = loopx(*command, "--json", clock=clock)
        assert result.err == "", command
        assert result.out.isascii(), command
        assert result.out.count("\n") == 1, command
        check_envelope(json.loads(result.out))


def check_envelope(value: Any) -> None:
    assert value["ok"] is True
    assert value["schema_version"]
    envelope = value["projection_envelope"]
    assert set(envelope) == ENVELOPE
    assert envelope["schema_version"] == "loopx_projection_envelope_v0"
    assert set(envelope["coverage"]) == {
        *("scope", "expected_count", "included_count", "omitted", "complete")
    }


def test_people_read_age_and_alerts_before_the_body_and_nothing_hidden(
    ledger: None, clock: ManualClock
) -> None:
    first = "projection: observed_at=2026-09-16T22:40:00Z coverage=1/1 scope="
    for command in READS:
        lines = loopx(*command, clock=clock).out.split("\n")
        assert lines[0].startswith(first), command
        # Over many workspaces it says whose source that is.
        assert lines[1].startswith("alerts: missing_required_sources="), command
        assert lines[1].endswith("tickets"), command
        assert not any(line.startswith(("projection:", "alerts:")) for line in lines[2:])
        shown = "".join(lines)
        assert all(char.isprintable() for char in shown if char != "\u200d"), command


def test_hostile_text_is_shown_literally(ledger: None) -> None:
    shown = loopx("todo", "show", "T1").out

    assert "⟨U+202E⟩[red]OK[/] ]0;pwn [/x]" in shown
    assert "漢字 👩‍👩‍👧" in shown
    assert ok("todo", "show", "T1")["todo"]["title"] == HOSTILE


def test_status_has_the_promised_keys(ledger: None, clock: ManualClock) -> None:
    status = ok("status", clock=clock)

    assert status["goal"] == {
        "id": "shop",
        "display_name": "Dark mode for the shop",
        "objective": "Dark mode for the shop",
        "objective_version": 1,
        "status": "active",
    }
    assert status["answer"] == "ask"
    (need,) = status["needs_you"]
    assert need | {"next": ""} == {
        "id": "G1",
        "kind": "gate",
        "goal_id": "shop",
        "question": HOSTILE,
        "blocks": ["T1"],
        "since": "2026-09-16T22:40:00Z",
        "asked_by": "claude-code",
        "next": "",
    }
    assert status["todos"] == {
        **{"total": 1, "open": 0, "claimed": 1, "blocked": 0, "waiting": 0},
        **{"deferred": 0, "done": 0, "superseded": 0, "cancelled": 0},
    }
    quota = status["quota"]
    assert quota["window"] == {"start": "2026-09-15T22:40:00Z", "end": "2026-09-16T22:40:00Z"}
    promised = ("allowed", "spent", "voided", "used", "remaining", "reserved", "attempts")
    assert [quota[key] for key in promised] == [576, 1, 0, 1, 575, 0, 1]
    (lease,) = status["leases"]
    assert (lease["todo_id"], lease["owner"], lease["version"]) == ("T1", "claude-code", 1)
    completion = status["completion"]
    assert (completion["complete"], completion["derived"]) == (False, True)
    assert completion["source"] == "validated_goal_closure"
    assert {"check": "claimed_zero", "count": 1, "ids": ["T1"]} in completion["failing"]
    goals = ok("status", "--scope", "workspace", clock=clock)["goals"]
    assert [set(goal) <= set(status) for goal in goals] == [True]


def test_the_other_promised_keys(ledger: None) -> None:
    gate = ok("gate", "show", "G1")["gate"]
    assert {
        *("id", "status", "action", "command", "paths", "question", "blocks", "digest"),
        *("requested_by", "requested_at", "decision"),
    } <= set(gate)
    assert gate["decision"] is None
    checks = loopx("completion", "--json").json["checks"]
    assert all(set(check) == {"gate", "check", "ok", "count", "ids"} for check in checks)
    doctor = loopx("doctor", "--json")
    assert doctor.status == 1
    assert doctor.json["healthy"] is False
    assert doctor.json["level"] == "software"
    assert all(set(c) == {"name", "ok", "detail", "fix"} for c in doctor.json["checks"])
    red = [check["name"] for check in doctor.json["checks"] if not check["ok"]]
    layers = "bound checked succeeded fresh complete".split()
    assert red == [f"shop: source tickets: {layer}" for layer in layers]
    signed = ok("event", "list")["events"][0]
    assert (signed["event_type"], signed["effective"], signed["signature_ok"]) == (
        *("goal.opened", True, True),
    )
    claimed = ok("event", "list", "--type", "turn.opened")["events"][0]
    assert claimed["payload"]["todo_id"] == "T1"
    assert "signature_ok" not in claimed
    lines = Path(".loopx/runtime/shop/events.jsonl").read_text("utf-8").split("\n")
    stored = json.loads(lines[claimed["seq"] - 1])
    assert {key: claimed[key] for key in stored} == stored


def test_a_receipt_names_the_line_it_stands_in(ledger: None) -> None:
    done = ok("todo", "add", "Test it", "--event-id", "e-1", *AGENT)

    receipt = done["receipt"]
    event = ok("event", "show", "e-1")["event"]
    assert {key: receipt[key] for key in ("event_id", "seq", "sha256", "recorded_at")} == {
        key: event[key] for key in ("event_id", "seq", "sha256", "recorded_at")
    }
    assert done["todo"]["id"] == "T2"
    shown = loopx("todo", "add", "Test it again", *AGENT).out.splitlines()
    assert shown[0] == "alerts: missing_required_sources=tickets"
    assert shown[1] == "T3 added: Test it again"
    assert shown[2].startswith("receipt ")


def test_options_stand_before_or_after_the_command(ledger: None) -> None:
    before = loopx("--json", "--agent", "claude-code", "quota", "should-run")
    after = loopx("quota", "should-run", "--agent", "claude-code", "--json")
    between = loopx("quota", "--json", "should-run", "--agent", "claude-code")

    answers = [(r.status, r.json["agent_id"], r.json["answer"]) for r in (before, after, between)]
    assert answers == [answers[0]] * 3
    assert answers[0][1] == "claude-code"


def test_the_environment_names_goal_agent_and_root(
    ledger: None, monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    start(None, "docs")
    (folder / "deep" / "down").mkdir(parents=True)
    monkeypatch.chdir(folder / "deep" / "down")
    monkeypatch.setenv("LOOPX_GOAL", "docs")
    monkeypatch.setenv("LOOPX_AGENT", "claude-code")

    assert ok("todo", "add", "Write")["receipt"]["goal_id"] == "docs"
    assert ok("status", "--goal", "shop")["goal"]["id"] == "shop"
    monkeypatch.chdir("/")
    assert loopx("status", "--json").code == "not_initialised"
    monkeypatch.setenv("LOOPX_ROOT", str(folder))
    assert ok("status")["goal"]["id"] == "docs"


def test_one_line_for_a_status_bar_with_alerts_first(ledger: None, clock: ManualClock) -> None:
    line = loopx("status", "--line", "--no-color", clock=clock).out

    assert line == (
        "missing_required_sources! | shop ask | 1 for you: G1 | 0/1 done | 1/576 slots\n"
    )
    everything = loopx("status", "--line", "--scope", "workspace", "--no-color", clock=clock).out
    assert everything == "missing_required_sources! | 1 goal | 1 for you | 1 ask\n"


def test_a_status_bar_has_the_colours_of_tmux_and_nothing_else_it_would_read() -> None:
    parts = [("stale!", "red"), ("#[fg=blue]#(rm -rf) #7", ""), ("\x1b[2J ##", "yellow")]
    shown = "##[fg=blue]##(rm -rf) ##7"

    assert for_tmux(parts, colours=False) == f"stale! | {shown} | ␛[2J ####"
    coloured = f"#[fg=red]stale!#[default] | {shown} | #[fg=yellow]␛[2J #####[default]"
    assert for_tmux(parts, colours=True) == coloured


def test_the_line_of_the_status_bar_is_coloured_for_whoever_reads_it(
    ledger: None, clock: ManualClock
) -> None:
    alert = "missing_required_sources!"
    begins = f"#[fg=red]{alert}#[default] | #[fg=yellow]shop ask#[default] | "
    assert loopx("status", "--line", clock=clock).out.startswith(begins)
    assert process("status", "--line", NO_COLOR="1").stdout.startswith(f"{alert} | shop ")
    shown = on_a_terminal("status --line")
    assert shown.startswith(f"\x1b[31m{alert}\x1b[0m | \x1b[31mshop repair\x1b[0m | ")


@pytest.mark.terminal
def test_tmux_shows_the_line_as_it_is_meant() -> None:
    text = for_tmux([("a #[fg=red] #{pid} #(echo x) ## #", "red"), ("b", "")], colours=True)
    socket = f"loopx-{os.getpid()}"
    tmux = ("tmux", "-L", socket, "-f", "/dev/null")
    subprocess.run([*tmux, "new-session", "-d", "sleep", "60"], check=True)
    try:
        shown = subprocess.run(
            [*tmux, "display-message", "-p", text], capture_output=True, check=True, text=True
        ).stdout
    finally:
        subprocess.run([*tmux, "kill-server"], check=True)
    # What is left is for the drawing of styles, which takes ``##`` for ``#``.
    assert shown == "#[fg=red]a ##[fg=red] #{pid} #(echo x) ## ###[default] | b\n"


def test_three_lines_say_where_it_is_who_must_act_and_what_is_next(
    ledger: None, clock: ManualClock
) -> None:
    lines = loopx("status", clock=clock).out.splitlines()
    assert lines[0].startswith("projection:") and lines[1].startswith("alerts:")
    assert lines[2].startswith("answer: ask: ") and lines[2].endswith("(0 of 1 todo done)")
    assert lines[3].startswith("needs you: G1 gate: A ")
    assert lines[4] == "next todo: none is ready; next look 2026-09-16T22:50:00Z"
    ok("gate", "request", "--action", "publish", "--command", "git push b", *AGENT, clock=clock)
    assert loopx("status", clock=clock).out.splitlines()[3].endswith(" (and 1 more)")


def on_a_terminal(*arguments: str, **env: str) -> str:
    shown: Any = pexpect.run(
        f"{PROGRAM} {' '.join(arguments)}",
        env={**os.environ, "TERM": "xterm-256color", **env},
        timeout=PATIENCE,
    )
    return str(shown.decode("utf-8"))


def test_colours_are_for_terminals_and_can_be_refused(ledger: None) -> None:
    assert "\x1b[" in on_a_terminal("todo list")
    assert "\x1b[1;31malerts:" in on_a_terminal("todo list")
    for plain in (
        on_a_terminal("todo list", NO_COLOR="1"),
        on_a_terminal("todo list --no-color"),
    ):
        assert "31m" not in plain
        assert "⟨U+202E⟩" in plain
    assert "\x1b" not in process("todo", "list").stdout
    assert "\u202e" not in on_a_terminal("todo list")


def test_a_terminal_without_unicode_gets_escapes_and_no_failure(ledger: None) -> None:
    shown = process("todo", "list", PYTHONIOENCODING="ascii", LC_ALL="C")

    assert shown.returncode == 0
    assert "\\u6f22" in shown.stdout


def test_new_events_are_followed_as_they_come(ledger: None) -> None:
    child = pexpect.spawn(
        str(PROGRAM), ["event", "list", "--follow"], encoding="utf-8", timeout=PATIENCE
    )
    try:
        child.expect("spend.booked")
        ok("todo", "add", "Come later", *AGENT)
        child.expect("todo.added .* Come later")
        child.sendintr()
        child.expect(pexpect.EOF)
        child.wait()
        assert child.exitstatus == 130
    finally:
        child.close(force=True)


def test_a_list_without_rows_says_none() -> None:
    start()
    for command in (("gate", "list"), ("todo", "list"), ("source", "list"), ("lease", "list")):
        assert loopx(*command).out.splitlines()[-1] == "none", command
