"""The ways out of drift and damage on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.helpers import loopx, ok, start, unchanged

AGENT = ("--agent", "claude-code")
PAGE = Path(".loopx/goals/shop/ACTIVE_GOAL_STATE.md")
JOURNAL = Path(".loopx/runtime/shop/events.jsonl")


@pytest.fixture(autouse=True)
def shop() -> None:
    start()
    ok("todo", "add", "Write it", *AGENT)
    ok("todo", "add", "Test it", *AGENT)


def edit() -> str:
    text = PAGE.read_text("utf-8").replace("- [ ] **T1** Write it", "- [x] **T1** Write it well")
    text = text.replace("## Todos\n", "## Todos\n\n- [ ] Ask the designers\n", 1)
    PAGE.write_text(text, "utf-8")
    return text


def test_an_edit_is_shown_as_a_diff_with_both_ways_out() -> None:
    edit()
    shown = loopx("state", "check").out
    assert "-- [ ] **T1** Write it\n" in shown
    assert "+- [x] **T1** Write it well\n" in shown
    assert "loopx state adopt --goal shop" in shown
    assert "loopx state restore --goal shop" in shown
    assert "+- [ ] Ask the designers" in loopx("state", "check", "--json").json["diff"]


def test_adopting_makes_work_of_new_rows_and_completes_nothing() -> None:
    edit()
    with unchanged():
        dry = ok("state", "adopt", "--dry-run")
    assert dry["statement"]["event_type"] == "drift.adopted"
    done = ok("state", "adopt", "--event-id", "adopt-1")
    assert (done["added"], done["needs_evidence"]) == (["T3"], ["T1"])
    assert ok("state", "adopt", "--event-id", "adopt-1")["receipt"]["replayed"] is True
    titles = {todo["id"]: todo["title"] for todo in ok("todo", "list")["todos"]}
    assert titles == {"T1": "Write it well", "T2": "Test it", "T3": "Ask the designers"}
    assert loopx("state", "check").status == 0
    assert loopx("quota", "should-run", *AGENT).status == 0
    ok("todo", "claim", "T1", *AGENT)


def test_restoring_puts_the_list_back_and_keeps_the_text() -> None:
    before = PAGE.read_text("utf-8")
    text = edit()
    assert "restored" in loopx("state", "restore").out
    rows = [line for line in PAGE.read_text("utf-8").splitlines() if line.startswith("- [")]
    assert rows == [line for line in before.splitlines() if line.startswith("- [")]
    (kept,) = Path(".loopx/runtime/shop/quarantine").iterdir()
    assert kept.read_text("utf-8") == text
    assert loopx("state", "restore", "--json").code == "invalid_value"


@pytest.mark.parametrize("command", [("state", "adopt"), ("state", "restore")])
def test_an_agent_settles_no_edit(command: tuple[str, ...]) -> None:
    edit()
    with unchanged():
        assert loopx(*command, *AGENT, "--json").code == "not_a_person"


def test_a_damaged_file_is_listed_and_rendered_again() -> None:
    registry = Path(".loopx/registry.json")
    sound = registry.read_bytes()
    registry.write_bytes(sound.replace(b'"active"', b'"complete"'))
    listed = loopx("repair", "list", "--json")
    (damage,) = listed.json["damage"]
    assert listed.status == 1
    assert damage["command"] == "loopx repair file .loopx/registry.json"
    assert len(damage["expected_digest"]) == len(damage["found_digest"]) == 64
    text = loopx("repair", "list").out
    assert damage["expected_digest"] in text and damage["found_digest"] in text
    refused = loopx("todo", "add", "More", *AGENT, "--json")
    assert refused.code == "file_damaged"
    assert refused.json["error"]["next"] == f"loopx repair file {registry.absolute()}"

    with unchanged():
        assert loopx("repair", "file", str(registry), *AGENT, "--json").code == "not_a_person"
    assert ok("repair", "file", ".loopx/registry.json")["damage"] == []
    assert registry.read_bytes() == sound
    assert loopx("repair", "list").status == 0
    assert "nothing is damaged" in loopx("repair", "list").out
    assert loopx("doctor", "--deep").status == 0
    ok("todo", "add", "More", *AGENT)


def test_a_damaged_journal_is_cut_and_the_goal_goes_on() -> None:
    lines = JOURNAL.read_bytes().splitlines(keepends=True)
    JOURNAL.write_bytes(lines[0] + lines[1].replace(b"Write", b"Wrote") + lines[2])
    refused = loopx("todo", "add", "More", *AGENT, "--json")
    assert refused.code == "journal_damaged"
    assert refused.json["error"]["next"] == "loopx repair journal --goal shop"
    assert "loopx repair journal --goal shop" in loopx("repair", "list").out

    ok("repair", "journal", "--goal", "shop")
    repaired = ok("event", "list", "--type", "damage.repaired")["events"][0]
    assert repaired["payload"]["cut"]["lines"] == 2
    assert ok("event", "verify", "--deep")["verified"] is True
    assert ok("todo", "add", "Write it again", *AGENT)["todo"]["id"] == "T1"
    assert loopx("repair", "journal", "--goal", "shop", "--json").code == "invalid_value"


def test_the_deep_check_names_what_differs_and_how() -> None:
    Path(".loopx/registry.json").write_bytes(b"{")
    lines = JOURNAL.read_bytes().splitlines(keepends=True)
    JOURNAL.write_bytes(b"".join(lines[:-1]))
    result = loopx("event", "verify", "--deep", "--json")
    assert result.status == 1
    statuses = {one["goal_id"]: one["status"] for one in result.json["journals"]}
    assert statuses == {"_workspace": "damaged", "shop": "damaged"}
    text = loopx("event", "verify", "--deep").out
    assert "damaged .loopx/registry.json: " in text
    assert "loopx repair file .loopx/registry.json" in text
    doctor = loopx("doctor", "--deep", "--json")
    assert doctor.status == 1
    assert "shop: damaged" in [check["name"] for check in doctor.json["checks"]]
    assert json.dumps(doctor.json).isascii()


def test_the_workspace_s_own_journal_is_named_as_such() -> None:
    house = Path(".loopx/runtime/_workspace/events.jsonl")
    with house.open("ab") as file:
        file.write(b"{}\n")
    refused = loopx("todo", "add", "More", *AGENT, "--json")
    assert refused.json["error"]["next"] == "loopx repair journal --goal _workspace"
    ok("repair", "journal", "--goal", "_workspace")
    ok("todo", "add", "More", *AGENT)
    assert loopx("repair", "list").status == 0
