"""Status, board, report and review packet: what they carry, and what they refuse."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.cli.helpers import loopx, ok, process
from tests.cli.ledgers import AGENT, PACKET, PERIOD, STATES, ask, healthy, read


def commands(state: str) -> dict[str, tuple[str, ...]]:
    return {
        "status": ("status",),
        "board": ("board",),
        "report": ("report", *PERIOD),
        "packet": ("review-packet", PACKET[state]),
    }


@pytest.mark.parametrize(
    ("state", "fresh", "complete", "reasons"),
    [
        ("healthy", True, True, []),
        ("waiting", True, True, []),
        ("damaged", True, False, ["integrity"]),
        ("stale", False, True, ["stale_sources"]),
    ],
)
def test_every_form_carries_the_same_envelope(
    state: str, fresh: bool, complete: bool, reasons: list[str]
) -> None:
    clock = STATES[state]()

    for words in commands(state).values():
        envelope = ok(*words, clock=clock)["projection_envelope"]
        assert (envelope["fresh"], envelope["complete"]) == (fresh, complete), words
        assert [reason["code"] for reason in envelope["alert_reasons"]] == reasons
    for form in ("text", "md", "html"):
        shown = loopx("report", *PERIOD, "--format", form, clock=clock).out
        head = shown.partition("<body>")[2] or shown
        assert head.find("projection: observed") < head.find("Report on")
        assert ("alerts:" in head) is bool(reasons)


def test_a_report_is_written_to_a_file_in_the_form_its_name_says() -> None:
    clock = healthy()
    forms = {"a.html": "<!doctype html>", "a.md": "> projection: ", "a.txt": "projection: "}
    for name, begins in forms.items():
        done = loopx("report", *PERIOD, "-o", name, clock=clock)
        assert done.status == 0
        assert name in done.out
        assert Path(name).read_text("utf-8").startswith(begins)
    loopx("report", *PERIOD, "-o", "a.json", clock=clock)
    value = json.loads(Path("a.json").read_text("ascii"))
    assert value == ok("report", *PERIOD, clock=clock)
    assert value["schema_version"] == "loopx_report_v0"
    assert value["spending"]["booked"] == 2
    assert value["still_open"]["todos"][0]["id"] == "T3"


def test_a_file_that_cannot_be_written_is_an_error_and_leaves_nothing() -> None:
    clock = healthy()
    result = loopx("report", "-o", "no/such/folder.html", "--json", clock=clock)

    assert result.status == 8
    assert result.json["error"]["message"].startswith("no/such/folder.html")


@pytest.mark.parametrize(
    "words",
    [
        ("--period", "soon"),
        ("--since", "yesterday"),
        ("--period", "7d", "--since", "2026-09-14T00:00:00Z"),
        ("--since", "2026-09-15T00:00:00Z", "--until", "2026-09-14T00:00:00Z"),
        ("--until", "2020-01-01T00:00:00Z"),
        ("--format", "pdf"),
    ],
)
def test_a_period_or_form_that_makes_no_sense_is_refused(words: tuple[str, ...]) -> None:
    result = loopx("report", *words, "--json", clock=healthy())

    assert (result.status, result.code) == (2, "invalid_value")
    assert result.json["error"]["next"]


def test_scenario_35_age_and_a_source_that_was_never_bound() -> None:
    clock = STATES["stale"]()
    ok("source", "add", "mail", "--provider", "imap", "--required", clock=clock)

    for words in commands("stale").values():
        envelope = ok(*words, clock=clock)["projection_envelope"]
        assert envelope["fresh"] is False
        reasons = {reason["code"]: reason["ids"] for reason in envelope["alert_reasons"]}
        assert reasons["stale_sources"] == ["tickets"]
        assert reasons["missing_required_sources"] == ["mail"]
        rows = {row["id"]: row for row in envelope["sources"]}
        assert rows["tickets"]["staleness_seconds"] == 777600
        assert rows["tickets"]["window_seconds"] == 3 * 86400
        assert rows["mail"]["read_status"] == "not_read"
    doctor = loopx("doctor", "--json", clock=clock)
    assert doctor.status == 1
    assert doctor.json["enabled_state_implies_freshness"] is False
    assert ok("source", "list", clock=clock)["enabled_state_implies_freshness"] is False


def test_scenario_37_success_without_content_is_not_complete_and_a_backlog_is_named() -> None:
    clock = healthy()
    read(clock, "--items", "12", "--unreadable", "12", "--pending", "1000")
    clock.advance(hours=1)

    for words in commands("healthy").values():
        envelope = ok(*words, clock=clock)["projection_envelope"]
        assert envelope["complete"] is False
        reasons = {reason["code"]: reason["ids"] for reason in envelope["alert_reasons"]}
        assert reasons["unreadable_sources"] == ["tickets"]
        (row,) = [row for row in envelope["sources"] if row["id"] == "tickets"]
        assert (row["read_status"], row["unreadable_count"]) == ("partially_unreadable", 12)
    assert "queue stalled" in loopx("board", clock=clock).out
    source = ok("source", "list", clock=clock)["sources"][0]
    assert (source["queue"], source["pending_count"], source["cursor"]) == ("stalled", 1000, None)


def test_scenario_37_one_registry_of_forty_eight(folder: Path) -> None:
    clock = healthy()
    for number in range(47):
        other = folder / "others" / str(number)
        (other / ".loopx").mkdir(parents=True)
        ok("workspace", "add", str(other), clock=clock)
    here = ("--scope", "global", "--root", str(folder))

    for words in (("status", *here), ("board", *here)):
        envelope = ok(*words, clock=clock)["projection_envelope"]
        assert (envelope["fresh"], envelope["complete"], envelope["alert"]) == (True, False, True)
        assert envelope["coverage"] == {
            **{"scope": "global", "expected_count": 48, "included_count": 1, "complete": False},
            "omitted": [{"reason": "outside_current_registry", "count": 47}],
        }
        assert loopx(*words, clock=clock).out.splitlines()[:2] == [
            "projection: observed_at=2026-09-14T12:10:00Z coverage=1/48 scope=global",
            "alerts: incomplete_coverage omitted=outside_current_registry=47",
        ]
    line = loopx("status", "--line", *here, "--no-color", clock=clock).out
    assert line.startswith("incomplete_coverage! | ") and line.endswith("| 1/48 workspaces\n")


def test_connect_notes_a_workspace_and_every_one_of_the_list_is_in_the_summary(
    folder: Path,
) -> None:
    clock = healthy()
    found = ok("workspace", "list", clock=clock)

    assert [one["path"] for one in found["workspaces"]] == [str(folder)]
    assert found["workspaces"][0]["goals"] == ["shop"]
    (folder / "gone" / ".loopx").mkdir(parents=True)
    ok("workspace", "add", str(folder / "gone"), clock=clock)
    shown = loopx("status", "--scope", "global", clock=clock).out
    assert "coverage=1/2 scope=global" in shown
    assert f"{folder / 'gone'}: not read, unreachable" in shown
    assert f"next: loopx workspace remove {folder / 'gone'}" in shown
    assert ok("workspace", "remove", str(folder / "gone"))["changed"] is True
    assert ok("workspace", "remove", str(folder / "gone"))["changed"] is False


def test_scenario_40_the_packet_lists_every_piece_of_evidence_and_the_way_to_decide() -> None:
    clock = healthy()
    ask("npm publish", clock)
    packet = ok("review-packet", "G2", clock=clock)

    assert {row["todo_id"] for row in packet["evidence"]} == {"T1", "T2"}
    assert all(re.fullmatch("[0-9a-f]{64}", row["sha256"]) for row in packet["evidence"])
    assert [(row["id"], row["outcome"], row["by"]) for row in packet["before"]] == [
        ("G1", "approved", "huang")
    ]
    way = next(way["command"] for way in packet["ways"] if " approve " in way["command"])
    assert process(*way.split()[1:-1], "as seen").returncode == 0
    decided = ok("review-packet", "G2", clock=clock)
    assert decided["subject"]["open"] is False
    assert decided["ways"] == []


@pytest.mark.parametrize("ref", ["G9", "E1", "T9", "T3"])
def test_a_packet_of_nothing_is_refused(ref: str) -> None:
    result = loopx("review-packet", ref, "--json", clock=healthy())

    assert result.status == 2
    assert result.json["error"]["next"]


def test_the_board_of_many_goals_has_an_answer_for_each(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = healthy()
    ok("start-goal", "--id", "docs", "--objective", "Write them", clock=clock)

    board = ok("board", clock=clock)
    assert board["scope"] == "workspace"
    assert [(goal["goal"]["id"], goal["answer"]) for goal in board["goals"]] == [
        *(("shop", "run"), ("docs", "quiet")),
    ]
    monkeypatch.setenv("LOOPX_GOAL", "docs")
    assert ok("board", clock=clock)["goal"]["id"] == "docs"
    monkeypatch.delenv("LOOPX_GOAL")
    assert ok("board", "--goal", "shop", clock=clock)["scope"] == "goal"


def test_texts_that_are_hostile_or_endless_stay_texts() -> None:
    clock = healthy()
    hostile = "<script>alert(1)</script> [red]OK[/] \u202e| a | `x` https://evil.example"
    ok("todo", "add", hostile, *AGENT, clock=clock)
    ok("todo", "add", "x" * 500, *AGENT, clock=clock)
    objective = "<img src=x onerror=alert(2)> " * 600
    ok("objective", "patch", "--text", objective, "--reason", hostile, clock=clock)
    gate = ("--action", "publish", "--command", "x" * 400, "--question", hostile)
    assert loopx("gate", "request", *gate, *AGENT, clock=clock).status == 0
    clock.advance(minutes=1)

    for words in (("status",), ("board",), ("report",), ("review-packet", "G2")):
        shown = loopx(*words, clock=clock).out
        assert "\u202e" not in shown
        assert all(char.isprintable() for char in shown if char != "\n"), words
        assert "⟨U+202E⟩" in shown
    for form in ("md", "html"):
        shown = loopx("report", "--format", form, clock=clock).out
        assert "<script" not in shown and "<img" not in shown
        assert len(shown) < 100_000
