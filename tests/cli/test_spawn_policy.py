"""How many workers a worker may register by itself: ``spawn_policy.max_children``."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.cli.governing import AGENT, refused
from tests.cli.helpers import loopx, ok, process, start, unchanged


def allow(children: int, goal: str = "shop") -> None:
    Path("rules.yaml").write_text(f"spawn_policy: {{max_children: {children}}}", "utf-8")
    ok("goal", "edit", "--from", "rules.yaml", "--goal", goal, "--reason", "more hands")


def test_a_worker_registers_as_many_as_the_rules_say_and_people_any_number(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    start(None, "shop")
    allow(2)
    child = ok("agent", "add", "one", *AGENT)["agent"]
    assert child["parent"] == "claude-code"
    monkeypatch.setenv("LOOPX_AGENT", "claude-code")
    ok("agent", "add", "two")
    with unchanged():
        result = loopx("agent", "add", "three", "--json")
    assert (result.status, result.code) == (5, "limit")
    assert result.json["error"]["children"] == ["one", "two"]
    ok("agent", "add", "grandchild", "--agent", "one")
    monkeypatch.delenv("LOOPX_AGENT")
    assert ok("agent", "add", "three")["agent"]["parent"] is None
    assert "two  " in loopx("agent", "list").out


def test_the_most_generous_goal_counts_as_its_rules_are_now() -> None:
    start(None, "shop")
    start(None, "blog")
    ok("agent", "add", "one", *AGENT)
    refused("limit", "agent", "add", "two", *AGENT)
    allow(2, "blog")
    ok("agent", "add", "two", *AGENT)
    ok("goal", "retire", "--goal", "blog", "--reason", "no longer")
    refused("limit", "agent", "add", "three", *AGENT)


def test_sent_again_it_is_answered_as_before() -> None:
    start(None, "shop")
    first = ok("agent", "add", "one", *AGENT, "--event-id", "e-one")
    again = ok("agent", "add", "one", *AGENT, "--event-id", "e-one")
    assert again["receipt"] == first["receipt"] | {"replayed": True}
    refused("event_conflict", "agent", "add", "one", "--event-id", "e-one")


def test_who_registers_itself_is_nobody_s_child_and_a_stranger_has_none() -> None:
    start(None, "shop")
    assert ok("agent", "add", "codex", "--agent", "codex")["agent"]["parent"] is None
    refused("unknown_agent", "agent", "add", "mine", "--agent", "stranger")


def test_of_many_at_once_no_more_than_allowed_come_in() -> None:
    start(None, "shop")
    allow(2)

    def add(number: int) -> int:
        return process("agent", "add", f"w{number}", *AGENT, "--json").returncode

    with ThreadPoolExecutor(4) as pool:
        ended = list(pool.map(add, range(4)))
    assert sorted(ended) == [0, 0, 5, 5]
    agents = json.loads(loopx("agent", "list", "--json").out)["agents"]
    assert sum(one["parent"] == "claude-code" for one in agents) == 2
