"""A goal under way for the scenarios of governance, and what they ask of it again and again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from loopx_kernel.clock import ManualClock

from tests.cli.helpers import Result, dark_mode, loopx, ok, unchanged

AGENT = ("--agent", "claude-code")
REPO = Path("mall-frontend")


def add(title: str, *more: str, clock: ManualClock | None = None) -> str:
    """Adds work; its id."""
    return str(ok("todo", "add", title, *more, *AGENT, clock=clock)["todo"]["id"])


def finish(title: str, path: str, *, clock: ManualClock | None = None) -> None:
    """Adds work and does it, with a file as evidence."""
    todo = add(title, clock=clock)
    (REPO / path).write_text("words\n", "utf-8")
    ok("todo", "claim", todo, *AGENT, clock=clock)
    ok("todo", "complete", todo, "--evidence", path, *AGENT, clock=clock)


def researched(clock: ManualClock | None = None) -> None:
    """T1 and T2 are done on evidence; T3 is open."""
    dark_mode(clock)
    finish("Research styles", "dark-mode-notes.md", clock=clock)
    finish("Plan CSS variables", "theme-vars.md", clock=clock)
    add("Convert components", clock=clock)


def should_run(clock: ManualClock | None = None) -> Result:
    """The answer to a wake-up, which changes nothing."""
    with unchanged():
        return loopx("quota", "should-run", *AGENT, "--json", clock=clock)


def codes(result: Result) -> list[str]:
    """The codes of an answer's reasons."""
    return [reason["code"] for reason in result.json["reasons"]]


def refused(code: str, *arguments: str, clock: ManualClock | None = None) -> Any:
    """A command that must be refused with this code and change nothing; its error."""
    with unchanged():
        result = loopx(*arguments, "--json", clock=clock)
    assert result.status != 0
    assert result.code == code, result
    assert result.json["error"]["next"]
    return result.json["error"]


def failing() -> dict[str, tuple[int, list[str]]]:
    """The checks of completion that do not hold, with count and ids."""
    found = loopx("completion", "--json")
    assert found.json["derived"] is True
    assert found.json["source"] == "validated_goal_closure"
    assert all(c["count"] == len(c["ids"]) for c in found.json["checks"])
    bad = {c["check"]: (c["count"], c["ids"]) for c in found.json["checks"] if not c["ok"]}
    assert found.json["complete"] is (not bad)
    assert found.status == (1 if bad else 0)
    return bad
