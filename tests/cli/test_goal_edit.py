"""The rules of a goal changed by a person: as YAML, with a diff, and signed."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loopx_kernel.workspace.goal_words import open_goal
from loopx_kernel.workspace.rules_text import rules_of, typed

from tests.cli.helpers import loopx, ok, start, unchanged

AGENT = ("--agent", "claude-code")
PUSH = ("--action", "publish", "--command", "git push origin main")
FULL: dict[str, Any] = {
    "id": "shop",
    "objective": "Dark mode",
    "domain": "frontend",
    "write_scope": ["src/**"],
    "requires_approval": ["delete"],
    "gates": ["publish:git push*", "write@infra/**", "network:curl* admit:judge"],
    "acceptance": [
        "tests=cmd:make test",
        "?style=regex:^ok$@out.txt <- make style",
        "json:out.json#/a/b=1=2 <- make json",
        "junit:out/report.xml",
        "rubric:Is it dark? >= 7",
    ],
    "judge": {"command": "./judge", "votes": 3, "min_confidence": "0.7"},
    "search_path": [".venv/bin", "/opt/tools"],
    "probes": {"main": "make probe", "review:pr": "make review"},
    "sources": ["news=rss,required,window=1d", "mail=imap,on-demand"],
    "quota": {"compute": "0.25", "window_hours": 12},
    "limits": {"turns_per_todo": 9},
    "cadence": {"ladder_seconds": [60, 120]},
}


def test_what_is_typed_is_read_again_as_it_was() -> None:
    rules = open_goal(FULL, ()).rules
    assert rules_of("shop", rules, {}) == rules
    assert rules_of("shop", rules, json.loads(json.dumps(typed(rules)))) == rules


@given(
    st.fixed_dictionaries(
        {}, optional={key: st.just(FULL[key]) for key in FULL if key not in ("id", "objective")}
    )
)
def test_any_of_it_is_read_again_as_it_was(keys: set[str]) -> None:
    rules = open_goal({"id": "a", "objective": "b"} | {key: FULL[key] for key in keys}, ()).rules
    assert rules_of("a", rules, {}) == rules


def test_rules_from_a_file_are_shown_signed_and_followed() -> None:
    start()
    assert loopx("gate", "check", *PUSH).status == 0
    Path("rules.yaml").write_text("gates: ['publish:git push*']\nquota: {compute: 0.5}\n", "utf-8")
    with unchanged():
        shown = loopx("goal", "edit", "--from", "rules.yaml", "--dry-run").out
    assert "+- publish:git push*" in shown.replace("+  - ", "+- ")
    assert "compute: '0.4'" in shown and "compute: '0.5'" in shown
    done = ok("goal", "edit", "--from", "rules.yaml", "--reason", "pushed too early")
    assert done["goal"]["changed"] == ["gates", "quota"]

    rules = ok("goal", "show")["goal"]["rules"]
    assert (rules["gates"], rules["quota"]["compute"]) == (["publish:git push*"], "0.5")
    assert loopx("gate", "check", *PUSH).status == 1
    gate = ok("gate", "request", *PUSH, *AGENT)["gate"]["id"]
    ok("gate", "approve", gate)
    assert loopx("gate", "check", *PUSH).status == 0
    ok("gate", "use", *PUSH, *AGENT)
    registry = json.loads(Path(".loopx/registry.json").read_text("utf-8"))
    assert registry["goals"][0]["quota"]["compute"] == 0.5
    assert loopx("doctor").status == 0
    Path("back.yaml").write_text("gates: []\n", "utf-8")
    ok("goal", "edit", "--from", "back.yaml")
    assert loopx("gate", "check", *PUSH).status == 0


def test_rules_are_edited_in_the_persons_editor(monkeypatch: pytest.MonkeyPatch) -> None:
    start()
    editor = Path("editor.sh").absolute()
    editor.write_text('#!/bin/sh\nsed -i "s/^domain: .*/domain: kitchen/" "$1"\n', "utf-8")
    editor.chmod(0o700)
    monkeypatch.setenv("VISUAL", str(editor))
    ok("goal", "edit")
    assert ok("goal", "show")["goal"]["domain"] == "kitchen"
    monkeypatch.setenv("VISUAL", "true")
    with unchanged():
        assert loopx("goal", "edit", "--json").code == "invalid_value"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("gates: ['ask me']\n", "vague_gate"),
        ("repo: elsewhere\n", "invalid_value"),
        ("state_file: other.md\n", "invalid_value"),
        ("objective: other\n", "invalid_value"),
        ("id: other\n", "invalid_value"),
        ("{}\n", "invalid_value"),
        ("status: complete\n", "invalid_value"),
        ("gates: [\n", "invalid_value"),
        ("write_scope: ['../x']\n", "invalid_scope"),
    ],
)
def test_what_is_no_change_of_rules_is_refused(text: str, code: str) -> None:
    start()
    Path("rules.yaml").write_text(text, "utf-8")
    with unchanged():
        assert loopx("goal", "edit", "--from", "rules.yaml", "--json").code == code


def test_agents_lay_no_rules() -> None:
    start()
    Path("rules.yaml").write_text("domain: x\n", "utf-8")
    with unchanged():
        result = loopx("goal", "edit", "--from", "rules.yaml", *AGENT, "--json")
    assert result.code == "not_a_person"


def test_rules_are_read_from_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    start()
    given = io.TextIOWrapper(io.BytesIO(b"gates: ['publish:git push*']\n"), "utf-8")
    monkeypatch.setattr("sys.stdin", given)
    done = ok("goal", "edit", "--from", "-", "--reason", "pushed too early")
    assert done["goal"]["changed"] == ["gates"]
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"\xff"), "utf-8"))
    with unchanged():
        assert "Standard input is not UTF-8 text" in loopx("goal", "edit", "--from", "-").err
