"""The scenarios of closure and of changed minds, through the public command."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from loopx_kernel.clock import SystemClock
from loopx_kernel.domain.completion import derive
from loopx_kernel.domain.needs_you import Reads
from loopx_kernel.workspace import Workspace

from tests.cli.governing import AGENT, REPO, add, codes, failing, refused, researched, should_run
from tests.cli.helpers import loopx, ok, start


def three_done() -> None:
    """T1 to T3 are done, each acceptance item passes now: the clean case."""
    start(None, "shop", "--acceptance", "tests=cmd:test -e ok", "--source", "chat=slack")
    for title in ("Research", "Plan", "Convert"):
        todo = add(title)
        ok("todo", "claim", todo, *AGENT)
        ok("todo", "complete", todo, *AGENT)
    Path("ok").touch()
    ok("accept", "run")
    counts = ok("status")["todos"]
    assert (counts["total"], counts["done"]) == (3, 3)
    assert failing() == {}


def wait_for(on: str) -> None:
    ok("todo", "wait", add("Wait"), "--on", on, *AGENT)


def gap() -> None:
    Path("ok").unlink()
    # Something else fails first, so that this failure adds no todo to fix it.
    assert loopx("accept", "run").status == 1
    ok("todo", "cancel", "T4", "--reason", "mended by hand")


VARIANTS: dict[str, tuple[Callable[[], Any], set[str]]] = {
    "open": (lambda: add("More"), {"open_zero"}),
    "deferred": (
        lambda: ok("todo", "defer", add("Later"), "--until", "2999-01-01T00:00:00Z", *AGENT),
        {"deferred_zero"},
    ),
    "due_unchecked": (
        lambda: add("Look", "--kind", "monitor", "--next-check-at", "2020-01-01T00:00:00Z"),
        {"open_zero", "due_checked"},
    ),
    "observation": (lambda: wait_for("source:chat"), {"waiting_zero", "observations"}),
    "ci": (lambda: wait_for("ci:pr-7"), {"waiting_zero", "ci"}),
    "review": (lambda: wait_for("review:pr-7"), {"waiting_zero", "review"}),
    "runnable_successor": (
        lambda: add("Next", "--lineage", "T3"),
        {"open_zero", "runnable_successor"},
    ),
    "blocked_successor": (
        lambda: ok("todo", "block", add("Next", "--lineage", "T3"), "--reason", "x", *AGENT),
        {"blocked_zero", "blocked_successor"},
    ),
}


@pytest.mark.parametrize("variant", VARIANTS)
def test_scenario_31_each_open_book_blocks_by_its_own_name(variant: str) -> None:
    three_done()
    change, expected = VARIANTS[variant]
    change()
    assert "acceptance" in failing()
    ok("accept", "run")
    found = failing()
    assert set(found) == expected | {"count_total"}
    assert all(at == (1, ["T4"]) for at in found.values())


def test_scenario_31_acceptance_replanning_and_prose_block_too() -> None:
    three_done()
    workspace = Workspace.open(Path.cwd())
    state, now = workspace.state("shop"), SystemClock().read().now
    assert derive(state, Reads(), (), now).complete
    prose = derive(state, Reads(), (), now, "prose")
    assert [(c.check, c.ids) for c in prose.failing] == [("list_source", ("prose",))]

    gap()
    assert failing() == {"acceptance": (1, ["tests"])}
    Path("ok").touch()
    ok("accept", "run")
    assert failing() == {}

    ok("replan", "request", "--reason", "tests unstable")
    ok("accept", "run")
    found = failing()
    assert found["obligations"] == (1, ["O1"])
    assert set(found) == {"obligations", "open_zero", "count_total"}


def test_scenario_32_another_route_is_signed_bound_and_loses_nothing() -> None:
    researched()
    ok("todo", "claim", "T3", *AGENT)
    (REPO / "overrides.css").write_text("a {}\n", "utf-8")
    ok("todo", "update", "T3", "--evidence", "overrides.css", *AGENT)
    ok("todo", "release", "T3", "--version", "2", "--epoch", "1", *AGENT)

    why = ("--reason", "overrides do not hold", "--fact", "tests unstable", "--todo", "T3")
    asked = ok("replan", "request", *why)
    assert (asked["obligation"]["id"], asked["obligation"]["status"]) == ("O1", "open")
    event = ok("event", "show", asked["receipt"]["event_id"])["event"]
    assert (event["actor_kind"], event["actor_agent_id"]) == ("owner", "huang")
    assert (event["signature_ok"], event["payload"]["facts"]) == (True, ["tests unstable"])

    assert failing()["obligations"] == (1, ["O1"])
    answer = should_run()
    assert (answer.status, codes(answer)) == (0, ["replan_due"])
    refused("illegal_transition", "replan", "fulfil", "O1", *AGENT)
    new = add("Convert with variables", "--lineage", "T3")
    assert new == "T5"
    assert failing()["obligations"] == (1, ["O1"])
    done = ok("replan", "fulfil", "O1", "--supersede", "T3:T5", *AGENT)

    assert done["obligation"]["status"] == "fulfilled"
    assert "obligations" not in failing()
    old = ok("todo", "show", "T3")
    assert (old["todo"]["status"], old["todo"]["superseded_by"]) == ("superseded", "T5")
    assert [one["path"] for one in old["evidence"]] == ["overrides.css"]
    shown = ok("todo", "show", "T5")
    assert shown["todo"]["lineage_todo_ids"] == ["T3"]
    refused("already_decided", "replan", "fulfil", "O1", "--supersede", "T3:T5", *AGENT)


def test_scenario_33_objective_and_work_change_and_stay_readable() -> None:
    researched()
    assert add("Write the docs") == "T4"
    add("Ship it")
    ok("objective", "patch", "--text", "Dark mode, shop only", "--reason", "too large")
    versions = ok("objective", "history")["versions"]
    assert [(one["version"], one["text"]) for one in versions] == [
        (1, "为商城前端添加深色模式"),
        (2, "Dark mode, shop only"),
    ]

    added = ok("todo", "add", "Tell the support team", *AGENT)
    assert added["todo"]["id"] == "T6"
    origin = ok("todo", "show", "T6")["todo"]["origin"]
    assert (origin["actor_agent_id"], origin["event_id"]) == (
        "claude-code",
        added["receipt"]["event_id"],
    )

    error = refused("not_a_person", "todo", "cancel", "T4", "--reason", "nobody reads it", *AGENT)
    assert error["next"].startswith("loopx propose cancel T4")
    gate = ok("propose", "cancel", "T4", "--reason", "nobody reads it", *AGENT)["gate"]
    assert (gate["status"], gate["blocks"]) == ("pending", ["T4"])
    decided = ok("gate", "approve", gate["id"])["gate"]
    assert (decided["status"], decided["decision"]["signature_ok"]) == ("approved", True)
    gone = ok("todo", "show", "T4")["todo"]
    assert (gone["status"], gone["reason"]) == ("cancelled", "nobody reads it")
    assert "T4" in {row["id"] for row in ok("todo", "list", "--all")["todos"]}
