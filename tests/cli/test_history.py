"""Where things come from: a todo back to the first, the objective from one version to the next."""

from __future__ import annotations

from tests.cli.governing import AGENT, add
from tests.cli.helpers import loopx, ok, start


def test_a_todo_shows_each_it_comes_from_with_the_event_that_made_it() -> None:
    start()
    add("First")
    add("Second", "--lineage", "T1")
    add("Third", "--lineage", "T2")
    ok("todo", "wait", "T3", "--on", "ci", *AGENT)
    ok("observe", "record", "--kind", "ci", "--status", "fail", "--ref", "run-7", *AGENT)

    shown = ok("todo", "show", "T4")
    assert [todo["id"] for todo in shown["lineage"]] == ["T3", "T2", "T1"]
    origins = [(one["todo_id"], one["from"], one["event_type"]) for one in shown["origins"]]
    assert origins == [
        ("T4", ["T3"], "observation.recorded"),
        ("T3", ["T2"], "todo.added"),
        ("T2", ["T1"], "todo.added"),
        ("T1", [], "todo.added"),
    ]
    assert shown["origins"][0]["facts"] == ["ci:run-7 fail (told)"]
    for one in shown["origins"]:
        event = ok("event", "show", one["event_id"])["event"]
        keys = ("seq", "recorded_at", "actor_kind", "actor_agent_id")
        assert [one[key] for key in keys] == [event[key] for key in keys]

    lines = loopx("todo", "show", "T4").out.splitlines()
    made = [line for line in lines if line.startswith(("origin:", "comes from:"))]
    assert [line.split(" ")[:4] for line in made] == [
        ["origin:", "code", "loopx,", "#6"],
        ["comes", "from:", "T3", "Third:"],
        ["comes", "from:", "T2", "Second:"],
        ["comes", "from:", "T1", "First:"],
    ]
    assert made[0].endswith(", on ci:run-7 fail (told)")
    ok("replan", "request", "--todo", "T3", "--fact", "CI red", "--reason", "tests unstable")
    assert ", on CI red\ncomes from: T3" in loopx("todo", "show", "T5").out


def test_a_todo_that_left_long_ago_still_has_its_whole_origin() -> None:
    start()
    add("First")
    for number in range(2, 40):
        add(f"Work {number}", "--lineage", f"T{number - 1}")
        ok("todo", "cancel", f"T{number - 1}", "--reason", "goes on in the next")

    shown = ok("todo", "show", "T2")
    assert [one["todo_id"] for one in shown["origins"]] == ["T2", "T1"]
    last = ok("todo", "show", "T39")["origins"]
    assert [one["todo_id"] for one in last] == [f"T{number}" for number in range(39, 0, -1)]


def test_the_objective_is_shown_as_what_each_version_changed() -> None:
    start()
    asked = ("objective", "patch", "--reason", "smaller", "--text")
    ok(*asked, "Dark mode for the shop\n\nOn phones")
    ok(*asked, "Dark mode for the shop\n\nOn tablets")

    versions = ok("objective", "history")["versions"]
    assert [one["diff"] for one in versions] == [
        ["+ Dark mode for the shop"],
        ["  Dark mode for the shop", "+ ", "+ On phones"],
        ["  Dark mode for the shop", "  ", "- On phones", "+ On tablets"],
    ]
    shown = loopx("objective", "history").out
    assert "  - On phones\n  + On tablets\n" in shown
