"""One goal in the four states in which every projection is looked at."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from loopx_kernel.clock import ManualClock

from tests.cli.helpers import connect, loopx, ok

AGENT = ("--agent", "claude-code")
BEGIN = datetime(2026, 9, 14, 9, 0, tzinfo=UTC)
PERIOD = ("--since", "2026-09-14T00:00:00Z", "--until", "2026-09-21T00:00:00Z")
PACKET = {"healthy": "G1", "waiting": "G2", "damaged": "damage", "stale": "G1"}
JUNIT = '<testsuite tests="2" failures="0"><testcase name="a"/><testcase name="b"/></testsuite>\n'
RULES = """\
id: shop
display_name: 为商城前端添加深色模式
objective: Add a dark mode to the shop
requires_approval: [publish]
sources: ["tickets=jira,required,window=3d"]
"""


def healthy() -> ManualClock:
    """Work was done on evidence, a gate decided, the source read; T3 is ready."""
    clock = ManualClock(BEGIN)
    connect()
    Path("goal.yaml").write_text(RULES, "utf-8")
    ok("agent", "add", "claude-code", clock=clock)
    ok("start-goal", "--from", "goal.yaml", clock=clock)
    ok("source", "bind", "tickets", clock=clock)
    read(clock)
    for title in ("Research styles", "Plan CSS variables", "Convert components"):
        ok("todo", "add", title, *AGENT, clock=clock)
    Path("report.xml").write_text(JUNIT, "utf-8")
    Path("NOTES.md").write_text("Chose variables.\n", "utf-8")
    for number in (1, 2):
        clock.advance(hours=1)
        ok("turn", "begin", *AGENT, clock=clock)
        clock.advance(minutes=5)
        turn = ("--turn", f"turn-{number:04}", "--handoff-file", "NOTES.md", *AGENT)
        files = ("--outcome", "done", "--evidence", "report.xml", "--tests", "passed")
        ok("turn", "settle", *turn, *files, clock=clock)
    ask("git push origin main", clock)
    clock.advance(hours=1)
    ok("gate", "approve", "G1", "--reason", "looks good", clock=clock)
    return clock


def waiting() -> ManualClock:
    """The same, but T3 waits for its CI, and a gate for a person."""
    clock = healthy()
    ok("todo", "claim", "T3", *AGENT, clock=clock)
    ok("todo", "wait", "T3", "--on", "ci:pr-7", *AGENT, clock=clock)
    ask("npm publish", clock)
    return clock


def damaged() -> ManualClock:
    """The same, but somebody wrote into the registry."""
    clock = healthy()
    path = Path(".loopx/registry.json")
    path.write_bytes(path.read_bytes().replace(b"Add a dark mode", b"Add a dank mode"))
    return clock


def stale() -> ManualClock:
    """The same, but the source was last read nine days ago, and its window is three."""
    clock = healthy()
    clock.now = datetime(2026, 9, 23, 9, 0, tzinfo=UTC)
    return clock


STATES = {"healthy": healthy, "waiting": waiting, "damaged": damaged, "stale": stale}


def read(clock: ManualClock, *counts: str) -> None:
    """The source is read, with counts of what was in it."""
    counts = counts or ("--items", "12", "--unreadable", "0", "--pending", "0")
    ok("source", "read", "tickets", "--status", "read", *counts, clock=clock)


def ask(command: str, clock: ManualClock) -> None:
    """A gate for a command."""
    asked = ("--action", "publish", "--command", command, "--question", f"May I: {command}?")
    assert loopx("gate", "request", *asked, *AGENT, clock=clock).status == 0
