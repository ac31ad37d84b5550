"""The journal by page, a goal as it stood, and what people see while much is read."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest
from loopx_kernel.cli import progress
from loopx_kernel.cli.progress import Progress
from loopx_kernel.clock import ManualClock, parse_time

from tests.cli.helpers import loopx, ok, start
from tests.patience import PATIENCE


def add() -> None:
    """One more todo."""
    ok("todo", "add", "Work", "--agent", "claude-code")


def seqs(*arguments: str) -> list[int]:
    return [event["seq"] for event in ok("event", "list", *arguments)["events"]]


def test_pages_lead_from_one_to_the_next_both_ways(folder: Path) -> None:
    start()
    for _ in range(5):
        add()
    everything = seqs()
    assert everything == list(range(1, 7))

    assert seqs("--limit", "2") == [5, 6]
    assert seqs("--limit", "2", "--before", "5") == [3, 4]
    assert seqs("--limit", "2", "--since", "0") == [1, 2]
    assert seqs("--since", "2", "--before", "5") == [3, 4]

    last = loopx("event", "list", "--limit", "2").out
    assert "the same command with --before 5" in last
    first = loopx("event", "list", "--limit", "2", "--since", "1").out
    assert "the same command with --since 3" in first
    assert "more:" not in loopx("event", "list", "--limit", "6").out
    assert [ok("event", "list", "--limit", limit)["more"] for limit in ("5", "6")] == [True, False]


def test_events_about_one_object(folder: Path) -> None:
    start()
    add()
    add()
    loopx("todo", "claim", "T2", "--agent", "claude-code")
    assert seqs("--about", "T2") == [3, 4]
    assert seqs("--about", "T2", "--type", "todo.claimed") == [4]
    assert seqs("--about", "T2", "--limit", "1") == [4]
    assert seqs("--about", "T9") == seqs("--type", "none.such") == []


def test_events_by_the_beginning_of_a_type_by_actor_and_by_time(folder: Path) -> None:
    clock = ManualClock(parse_time("2026-09-16T22:40:00Z"))
    start(clock)
    for title in ("First", "Second"):
        clock.advance(hours=1)
        ok("todo", "add", title, "--agent", "claude-code", clock=clock)
    ok("todo", "claim", "T2", "--agent", "claude-code", clock=clock)
    clock.advance(hours=1)
    ok("source", "add", "chat", "--provider", "slack", clock=clock)

    assert seqs("--type", "todo") == seqs("--type", "todo.") == [2, 3, 4]
    assert seqs("--type", "todo.a") == [2, 3]
    assert seqs("--type", "todo.claimed", "--actor", "claude-code") == [4]
    assert seqs("--actor", "claude-code") == [2, 3, 4]
    assert seqs("--actor", "huang") == [1]
    assert seqs("--actor", "loopx") == [5]
    assert seqs("--object", "chat") == [5]
    assert seqs("--since", "2026-09-17T00:40:00Z") == [3, 4, 5]
    assert seqs("--until", "2026-09-17T00:40:00Z") == [1, 2]
    assert seqs("--since", "2026-09-16T23:00:00+00:00", "--until", "4") == [2, 3, 4]
    assert seqs("--since", "1", "--until", "2026-09-17T01:40:00+01:00", "--limit", "1") == [2]
    workspace = ("--goal", "_workspace")
    assert seqs("--type", "owner", *workspace) == [2]
    assert seqs("--type", "goal.opened", "--actor", "huang", *workspace) == [4]

    page = ok("event", "list", "--since", "2026-09-16T23:00:00Z", "--limit", "2")
    assert (page["more"], page["next"]) == (True, {"since": 3})
    page = ok("event", "list", "--actor", "claude-code", "--limit", "2")
    assert (page["more"], page["next"]) == (True, {"before": 3})
    assert ok("event", "list")["next"] is None


def test_a_list_as_json_is_one_object_however_it_is_written(folder: Path) -> None:
    start()
    add()
    out = loopx("event", "list", "--json").out
    assert out.count("\n") == 1
    whole = json.loads(out)
    assert json.dumps(whole) + "\n" == out
    paged = json.loads(loopx("event", "list", "--limit", "9", "--json").out)
    assert whole["events"] == paged["events"]
    assert whole.keys() == paged.keys()
    assert list(whole)[:3] == ["ok", "schema_version", "projection_envelope"]
    assert loopx("event", "list", "--type", "none.such", "--json").json["events"] == []


@pytest.mark.parametrize(
    "option",
    [
        *(("--limit", "0"), ("--before", "0"), ("--limit", "x"), ("--since", "-1")),
        *(("--since", "yesterday"), ("--until", "2026-09-17"), ("--until", "2026-09-17T00:00:00")),
    ],
)
def test_a_page_that_cannot_be(folder: Path, option: tuple[str, str]) -> None:
    start()
    assert loopx("event", "list", *option, "--json").code == "invalid_value"


def test_a_goal_as_it_stood(folder: Path) -> None:
    start()
    add()
    loopx("todo", "claim", "T1", "--agent", "claude-code")
    past = ok("replay", "--at", "2")
    assert past["past"] is True
    assert past["at"]["seq"] == 2 and past["last_seq"] == 3
    assert (past["todos"]["open"], past["todos"]["claimed"]) == (1, 0)
    assert past["projection_envelope"]["fresh"] is False
    assert past["projection_envelope"]["observed_at"] == past["at"]["recorded_at"]
    now = ok("replay", "--at", "3")
    assert now["todos"] == ok("status")["todos"]

    text = loopx("replay", "--at", "2").out.splitlines()
    assert text[1].startswith("PAST: shop right after #2, ") and text[1].endswith("on to #3")
    assert any(line.startswith("next todo: T1") for line in text)


@pytest.mark.parametrize(("at", "code"), [("0", "invalid_value"), ("99", "unknown_event")])
def test_a_moment_that_never_was(folder: Path, at: str, code: str) -> None:
    start()
    result = loopx("replay", "--at", at, "--json")
    assert (result.status, result.code) == (2, code)


def test_should_run_opens_no_index(folder: Path) -> None:
    start()
    add()
    program = (
        "import sys\n"
        "from loopx_kernel.cli.main import main\n"
        "main(['quota', 'should-run', '--agent', 'claude-code'])\n"
        "sys.exit('sqlite3' in sys.modules)\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, timeout=PATIENCE, check=False
    )
    assert run.returncode == 0, run.stderr


class Terminal(io.StringIO):
    """A stderr that people look at."""

    def isatty(self) -> bool:
        return True


class Watch:
    """A clock that is moved by hand."""

    now = 0.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def watch(monkeypatch: pytest.MonkeyPatch) -> Watch:
    watch = Watch()
    monkeypatch.setattr(progress, "time", watch)
    return watch


def test_what_takes_long_says_how_far_it_is_and_cleans_up(
    monkeypatch: pytest.MonkeyPatch, watch: Watch
) -> None:
    monkeypatch.setattr(sys, "stderr", Terminal())
    told = Progress()
    for watch.now, done in ((0.0, 0), (0.4, 10), (0.6, 34), (0.7, 34), (0.9, 99)):
        told(done, 100)
    told(100, 100)
    shown = sys.stderr.getvalue()  # type: ignore[attr-defined]
    assert shown == "\rloading 34 %\rloading 99 %\r            \r"


def test_what_is_quick_or_not_on_a_terminal_says_nothing(
    monkeypatch: pytest.MonkeyPatch, watch: Watch
) -> None:
    for stream in (Terminal(), io.StringIO()):
        monkeypatch.setattr(sys, "stderr", stream)
        told = Progress()
        told(1, 100)
        watch.now += 0.4
        told(50, 100)
        told(100, 100)
        watch.now += 9 if not stream.isatty() else 0
        told(1, 100)
        assert stream.getvalue() == ""
