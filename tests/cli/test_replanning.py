"""Changes of mind through the public command: signed by people, proposed by agents, kept."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from tests.cli.helpers import dark_mode, loopx, ok, start, unchanged

AGENT = ("--agent", "claude-code")
WHY = ("--reason", "tests unstable")


def add(title: str, *more: str) -> str:
    return str(ok("todo", "add", title, *more, *AGENT)["todo"]["id"])


def failing(check: str) -> list[str]:
    checks = loopx("completion", "--json").json["checks"]
    return next(one["ids"] for one in checks if one["check"] == check)


def refused(code: str, *arguments: str) -> dict[str, Any]:
    with unchanged():
        result = loopx(*arguments, "--json")
    assert result.code == code, result
    assert result.json["error"]["next"]
    error: dict[str, Any] = result.json["error"]
    return error


@pytest.fixture
def shop() -> None:
    """T1 and T2 are done on evidence; T3 is open."""
    dark_mode()
    for title, path in (("Research", "notes.md"), ("Plan", "plan.md")):
        todo = add(title)
        Path("mall-frontend", path).write_text("words\n", "utf-8")
        ok("todo", "claim", todo, *AGENT)
        ok("todo", "complete", todo, "--evidence", path, *AGENT)
    add("Convert components")


@pytest.mark.usefixtures("shop")
def test_another_route_is_asked_for_found_and_bound_and_nothing_vanishes() -> None:
    Path("mall-frontend", "half.md").write_text("half\n", "utf-8")
    ok("todo", "claim", "T3", *AGENT)
    ok("todo", "update", "T3", "--evidence", "half.md", *AGENT)
    ok("todo", "release", "T3", "--version", "2", "--epoch", "1", *AGENT)

    asked = ok("replan", "request", *WHY, "--fact", "run 12 failed", "--todo", "T3")
    duty = asked["obligation"]
    assert (duty["id"], duty["status"], duty["todo_ids"]) == ("O1", "open", ["T3"])
    assert (duty["by"], duty["facts"]) == ("huang", ["run 12 failed"])
    assert failing("obligations") == ["O1"]
    contract = loopx("quota", "should-run", *AGENT, "--json").json
    assert (contract["answer"], contract["todo"]["id"]) == ("run", duty["replan_todo"])
    assert contract["reasons"][0]["code"] == "replan_due"
    refused("illegal_transition", "todo", "claim", "T3", *AGENT)
    refused("illegal_transition", "replan", "fulfil", "O1", *AGENT)

    new = add("Convert with variables", "--lineage", "T3")
    other = add("Of nothing")
    error = refused(
        "lineage_invalid", "replan", "fulfil", "O1", "--supersede", f"T3:{other}", *AGENT
    )
    assert "--lineage T3" in error["next"]
    assert failing("obligations") == ["O1"]
    done = ok("replan", "fulfil", "O1", "--supersede", f"T3:{new}", *AGENT)

    assert done["obligation"]["status"] == "fulfilled"
    assert failing("obligations") == []
    old = ok("todo", "show", "T3")
    assert (old["todo"]["status"], old["todo"]["superseded_by"]) == ("superseded", new)
    assert [one["path"] for one in old["evidence"]] == ["half.md"]
    shown = ok("todo", "show", new)
    assert shown["todo"]["lineage_todo_ids"] == ["T3"]
    assert [one["id"] for one in shown["lineage"]] == ["T3"]
    event = ok("event", "show", asked["receipt"]["event_id"])["event"]
    assert (event["signature_ok"], event["payload"]["facts"]) == (True, ["run 12 failed"])
    statement = json.loads(loopx("event", "show", event["event_id"], "--statement").out)
    assert "parts" not in statement["payload"]
    assert "obligation_id" not in statement["payload"]
    counts = ok("status")["todos"]
    assert (counts["total"], counts["superseded"], counts["done"]) == (6, 1, 2)
    assert sum(counts[name] for name in counts if name != "total") == 6
    listed = ok("replan", "list")["obligations"]
    assert [(one["id"], one["status"], one["closed_by"]) for one in listed] == [
        ("O1", "fulfilled", "claude-code")
    ]
    assert "fulfilled" in loopx("replan", "list").out
    rows = ok("event", "list", "--about", "O1")["events"]
    assert [row["event_type"] for row in rows] == ["replan.requested", "replan.fulfilled"]


@pytest.mark.usefixtures("shop")
def test_a_turn_of_replanning_is_done_when_its_duty_is_fulfilled() -> None:
    ok("replan", "request", *WHY, "--todo", "T3")
    turn = ok("turn", "begin", *AGENT)
    assert (turn["todo"]["id"], turn["turn_id"]) == ("T4", "turn-0001")
    assert any("--lineage T3" in command for command in turn["brief"]["commands"])
    settle = ("turn", "settle", "--turn", "turn-0001", "--outcome", "done", "--handoff", "T5 next")
    settle = (*settle, *AGENT)
    error = refused("not_verified", *settle)
    assert "O1" in error["message"]
    new = ok(*shlex.split(error["next"])[1:])["todo"]
    assert new["lineage_todo_ids"] == ["T3"]
    new = new["id"]
    error = refused("not_verified", *settle)
    assert f"--supersede T3:{new}" in error["next"]
    ok(*shlex.split(error["next"])[1:])
    done = ok(*settle)["turn"]
    assert (done["outcome"], done["progress"]) == ("done", True)
    assert loopx("quota", "should-run", *AGENT, "--json").json["todo"]["id"] == new


@pytest.mark.usefixtures("shop")
def test_a_turn_on_what_is_cancelled_meanwhile_ends_with_it() -> None:
    other = add("Something else")
    assert ok("turn", "begin", *AGENT)["todo"]["id"] == "T3"
    ok("todo", "cancel", "T3", *WHY)
    assert ok("turn", "recover")["recovered"] == []
    turn = ok("turn", "show", "turn-0001")["turn"]
    assert (turn["status"], turn["withdrawn_by"]) == ("withdrawn", "huang")
    assert (turn["outcome"], turn["unclosed"], turn["reason"]) == (None, False, "T3 was cancelled")
    shown = loopx("turn", "show", "turn-0001").out
    assert "ended with its work: T3 was cancelled, by huang" in shown
    assert f"closed {turn['closed_at']}" in shown
    quota = ok("status")["quota"]
    assert (quota["used"], quota["reserved"]) == (0, 0)
    settle = ("turn", "settle", "--turn", "turn-0001", "--outcome", "done", *AGENT)
    error = refused("turn_closed", *settle)
    assert error["next"] == "loopx turn begin --agent claude-code"
    assert ok(*error["next"].split()[1:])["todo"]["id"] == other
    assert loopx("turn", "list").out.count("ended with its work") == 1


@pytest.mark.usefixtures("shop")
def test_a_withdrawn_replanning_frees_its_todos() -> None:
    replan = ok("replan", "request", *WHY, "--todo", "T3")["obligation"]["replan_todo"]
    refused("illegal_transition", "todo", "cancel", replan, *WHY)
    ended = ok("replan", "withdraw", "O1", "--reason", "good after all")["obligation"]
    assert (ended["status"], ended["closed_by"]) == ("withdrawn", "huang")
    assert ok("todo", "show", replan)["todo"]["status"] == "cancelled"
    ok("todo", "claim", "T3", *AGENT)
    refused("already_decided", "replan", "withdraw", "O1")
    refused("unknown_obligation", "replan", "withdraw", "O7")
    refused("already_decided", "replan", "fulfil", "O1", *AGENT)


@pytest.mark.usefixtures("shop")
def test_a_command_sent_again_gives_its_first_receipt() -> None:
    new = add("Convert with variables", "--lineage", "T3")
    same = ("replan", "request", *WHY, "--todo", "T3", "--event-id", "again-1")
    first, second = ok(*same), ok(*same)
    fulfil = ("replan", "fulfil", "O1", "--supersede", f"T3:{new}", *AGENT, "--event-id", "f-1")
    third = ok(*fulfil)
    add("Later work")
    assert ok(*fulfil)["obligation"] == third["obligation"]
    last = ok(*same)
    assert first["obligation"] == second["obligation"] == last["obligation"]
    assert last["receipt"]["replayed"] is True
    assert refused("event_conflict", *same[:-2], "--fact", "x", "--event-id", "again-1")


@pytest.mark.usefixtures("shop")
def test_people_take_work_away_and_agents_are_told_what_they_may_do() -> None:
    new = add("Convert with variables", "--lineage", "T3")
    error = refused("not_a_person", "todo", "cancel", "T3", *WHY, *AGENT)
    assert error["next"].startswith("loopx propose cancel T3")
    error = refused("not_a_person", "todo", "supersede", "T3", "--by", new, *WHY, *AGENT)
    assert error["next"].startswith(f"loopx propose supersede T3 --by {new}")
    error = refused("not_a_person", "replan", "request", *WHY, *AGENT)
    assert error["next"].startswith("loopx propose route")
    error = refused("not_a_person", "objective", "patch", "--text", "x", *WHY, *AGENT)
    assert error["next"].startswith("loopx propose objective")
    refused("not_a_person", "replan", "withdraw", "O1", *AGENT)

    with unchanged():
        statement = ok("todo", "supersede", "T3", "--by", new, *WHY, "--dry-run")["statement"]
    assert statement["payload"] == {
        "todo_id": "T3",
        "superseded_by": new,
        "reason": "tests unstable",
    }
    old = ok("todo", "supersede", "T3", "--by", new, *WHY)["todo"]
    assert (old["status"], old["superseded_by"]) == ("superseded", new)
    gone = ok("todo", "cancel", new, *WHY)["todo"]
    assert (gone["status"], gone["reason"]) == ("cancelled", "tests unstable")
    assert {"T3", new} <= {row["id"] for row in ok("todo", "list", "--all")["todos"]}
    refused("illegal_transition", "todo", "cancel", "T3", *WHY)
    refused("unknown_todo", "todo", "cancel", "T77", *WHY)


@pytest.mark.usefixtures("shop")
def test_an_agent_supersedes_where_a_duty_names_the_todo() -> None:
    new = add("Convert with variables", "--lineage", "T3")
    ok("replan", "request", *WHY, "--todo", "T3")
    done = ok("todo", "supersede", "T3", "--by", new, "--reason", "simpler", *AGENT)
    assert done["obligation"]["status"] == "fulfilled"
    assert ok("todo", "show", "T3")["todo"]["reason"] == "simpler"


@pytest.mark.usefixtures("shop")
def test_the_objective_in_all_its_versions() -> None:
    patched = ok("objective", "patch", "--text", "Shop only", *WHY, "--fact", "mail 7")
    assert (patched["objective"]["version"], patched["objective"]["text"]) == (2, "Shop only")
    ok("propose", "objective", "--text", "Shop and blog", *WHY, *AGENT)
    ok("gate", "approve", "G1")

    versions = ok("objective", "history")["versions"]
    assert [(one["version"], one["text"]) for one in versions] == [
        (1, "为商城前端添加深色模式"),
        (2, "Shop only"),
        (3, "Shop and blog"),
    ]
    assert [(one["reason"], one["facts"]) for one in versions[1:]] == [
        ("tests unstable", ["mail 7"]),
        ("tests unstable", []),
    ]
    assert [one["gate_id"] for one in versions] == [None, None, "G1"]
    assert {one["by"] for one in versions} == {"huang"}
    text = loopx("objective", "history").out
    assert text.index("为商城") < text.index("Shop only") < text.index("Shop and blog")
    goal = ok("status")["goal"]
    assert (goal["objective"], goal["objective_version"]) == ("Shop and blog", 3)
    registry = json.loads(Path(".loopx/registry.json").read_text("utf-8"))
    assert registry["goals"][0]["objective"] == {"text": "Shop and blog", "version": 3}
    assert loopx("doctor").status == 0
    contract = loopx("quota", "should-run", *AGENT, "--json").json
    assert contract["brief"]["objective"] == "Shop and blog"
    refused("invalid_value", "objective", "patch", "--text", "Shop and blog", *WHY)
    refused("invalid_value", "objective", "patch", "--text", " ", *WHY)


@pytest.mark.usefixtures("shop")
@pytest.mark.parametrize(
    ("proposal", "question"),
    [
        (("cancel", "T3"), "Cancel T3"),
        (("supersede", "T3", "--by", "T4"), "Put T4"),
        (("route", "--todo", "T3", "--fact", "run 12"), "Replan T3"),
        (("objective", "--text", "Shop only"), "Change the objective"),
    ],
)
def test_a_proposal_waits_for_a_person_and_is_carried_out_or_not(
    proposal: tuple[str, ...], question: str
) -> None:
    add("Convert with variables", "--lineage", "T3")
    gate = ok("propose", *proposal, *WHY, *AGENT)["gate"]
    assert gate["action"] == f"propose-{proposal[0]}"
    assert gate["question"].startswith(question)
    (need,) = ok("status")["needs_you"]
    assert (need["kind"], need["id"], need["asked_by"]) == ("gate", "G1", "claude-code")
    refused("exists", "propose", *proposal, *WHY, *AGENT)
    before = ok("todo", "list", "--all")["todos"]

    ok("gate", "reject", "G1", "--reason", "no")
    assert [(t["id"], t["status"]) for t in before] == [
        (t["id"], t["status"]) for t in ok("todo", "list", "--all")["todos"]
    ]
    refused("already_decided", "propose", *proposal, *WHY, *AGENT)
    ok("propose", *proposal, "--reason", "new facts", *AGENT)
    shown = loopx("gate", "show", "G2").out
    assert "new facts" in shown
    assert all(word in shown for word in proposal[1:] if not word.startswith("--"))
    with unchanged():
        assert question in ok("gate", "approve", "G2", "--dry-run")["preview"]
    assert ok("gate", "approve", "G2")["gate"]["decision"]["signature_ok"] is True
    found = {
        "cancel": lambda: ok("todo", "show", "T3")["todo"]["status"] == "cancelled",
        "supersede": lambda: ok("todo", "show", "T3")["todo"]["superseded_by"] == "T4",
        "route": lambda: failing("obligations") == ["O1"],
        "objective": lambda: ok("status")["goal"]["objective"] == "Shop only",
    }
    assert found[proposal[0]]()


def test_what_is_no_pair_is_refused() -> None:
    start()
    ok("replan", "request", *WHY)
    for pair in ("T1", "T1:", ":T2", ""):
        refused("invalid_value", "replan", "fulfil", "O1", "--supersede", pair, *AGENT)
