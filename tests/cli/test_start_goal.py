"""Opening a goal: flags, YAML and guided questions give the same rules."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loopx_kernel.cli.guided import ask_for_goal
from loopx_kernel.domain.rules import check_id
from loopx_kernel.errors import UsageError
from loopx_kernel.workspace.goal_words import open_goal

from tests.cli.helpers import connect, loopx, ok, start, unchanged

FULL = """\
id: shop
objective: Dark mode for the shop
display_name: Dark mode
domain: frontend
repo: .
state_file: docs/STATE.md
write_scope: [src/theme/**]
requires_approval: [publish]
gates: ["delete:rm *@src/**"]
acceptance: ["tests=cmd:pytest -q", "?json:out.json#/ok=true"]
judge: python judge.py
probes: {ci: gh run list}
sources: ["tickets=jira,required,window=2d"]
quota: {compute: 0.25, window_hours: 12, slot_minutes: 2}
"""
BOMB = "".join(
    f"{b}: &{b} [{','.join(8 * [f'*{a}' if a else 'x'])}]\n"
    for a, b in pairwise(["", *"abcdefghi"])
)
FLAGS = """\
--id shop|--objective Dark mode for the shop|--display-name Dark mode|--domain frontend|--repo .
--state-file docs/STATE.md|--write-scope src/theme/**|--requires-approval publish
--gate delete:rm *@src/**|--acceptance tests=cmd:pytest -q|--acceptance ?json:out.json#/ok=true
--judge python judge.py|--probe ci=gh run list|--source tickets=jira,required,window=2d
--compute 0.25|--window-hours 12|--slot-minutes 2
"""


def write(text: str) -> str:
    Path("goal.yaml").write_text(text, "utf-8")
    return "goal.yaml"


def flags() -> list[str]:
    pairs = FLAGS.replace("\n", "|").strip("|").split("|")
    return [word for pair in pairs for word in pair.split(" ", 1)]


def rules() -> Any:
    return ok("goal", "show")["goal"]["rules"]


def test_yaml_and_flags_open_the_same_goal(folder: Path) -> None:
    connect()
    ok("start-goal", "--from", write(FULL))
    first = ok("goal", "show")["goal"]
    (folder / "second").mkdir()
    other = ("--root", str(folder / "second"))
    ok(*other, "connect", "--allow-unattended")
    ok(*other, "start-goal", *flags())

    assert ok(*other, "goal", "show")["goal"] == first
    assert first["rules"]["quota"] == {"compute": "0.25", "window_hours": 12, "slot_minutes": 2}
    assert first["rules"]["gates"] == ["delete:rm *@src/**"]
    assert [item["optional"] for item in first["rules"]["acceptance"]] == [False, True]
    assert first["rules"]["sources"][0]["window_seconds"] == 2 * 86400
    assert (folder / "docs" / "STATE.md").is_file()


def test_a_flag_wins_over_the_file() -> None:
    connect()
    ok("start-goal", "--from", write(FULL), "--domain", "backend", "--gate", "network")

    assert rules()["domain"] == "backend"
    assert rules()["gates"] == ["network"]


def test_what_is_not_said_has_a_default() -> None:
    connect()
    ok("start-goal", "--objective", "Fix the checkout, please!")

    goal = ok("goal", "show")["goal"]
    assert goal["id"] == "fix-the-checkout-please"
    assert goal["display_name"] == "Fix the checkout, please!"
    assert goal["repo"] == "."
    assert goal["rules"]["state_file"] == f".loopx/goals/{goal['id']}/ACTIVE_GOAL_STATE.md"
    assert goal["rules"]["quota"]["compute"] == "0.4"
    assert Path(goal["rules"]["state_file"]).is_file()


def test_an_objective_without_ascii_words_is_numbered() -> None:
    connect()
    for _ in range(2):
        ok("start-goal", "--objective", "为商城前端添加深色模式")
    ok("start-goal", "--objective", "Same words")
    ok("start-goal", "--objective", "Same words")

    names = [goal["id"] for goal in ok("goal", "list")["goals"]]
    assert names == ["goal-1", "goal-2", "same-words", "same-words-2"]


@pytest.mark.parametrize(
    ("text", "named"),
    [
        (FULL + "colour: red\n", "colour"),
        (FULL + "quota: {}\n", "line 15"),
        ("id: shop\nobjective: [a]\n", "objective"),
        ("objective: x\nid: 7\n", "id"),
        ("objective: x\nwrite_scope: src\n", "write_scope"),
        ("objective: x\nquota: {compute: 2}\n", "quota.compute: a share is a decimal from 0 to 1"),
        ("objective: x\nquota: {slots: 2}\n", "quota.slots"),
        ("objective: x\nquota: {window_hours: many}\n", "quota.window_hours"),
        ("objective: x\ncadence: {ladder_seconds: [x]}\n", "cadence.ladder_seconds"),
        ("objective: x\nprobes: {ci: [gh]}\n", "probe"),
        ("objective: 'x\n", "goal.yaml"),
        ("\t\n: ][", "goal.yaml"),
        ("- a\n- b\n", "goal.yaml"),
        ("", "goal.yaml"),
        ("!!python/object/apply:os.system ['touch ran']\n", "goal.yaml"),
        (BOMB + "objective: *i\n", "a, b"),
        ("objective: x\ngates: [ask me if unsure]\n", "ask me if unsure"),
    ],
    ids=range(17),
)
def test_what_is_wrong_in_a_file_is_named_and_nothing_is_written(text: str, named: str) -> None:
    connect()

    with unchanged():
        result = loopx("start-goal", "--from", write(text), "--json")

    assert result.status == 2, result
    assert result.code in ("invalid_value", "vague_gate")
    assert named in result.json["error"]["message"]
    assert not Path("ran").exists()


def test_a_file_as_windows_writes_it_is_read() -> None:
    connect()
    Path("goal.yaml").write_bytes(b"\xef\xbb\xbf" + FULL.replace("\n", "\r\n").encode())

    ok("start-goal", "--from", "goal.yaml")
    assert ok("status")["goal"]["id"] == "shop"


def test_a_file_that_is_no_text_or_not_there_is_refused() -> None:
    start()
    Path("goal.yaml").write_bytes("objective: x\n".encode("utf-16"))

    for name in ("goal.yaml", "none.yaml", ".", "a\0b"):
        assert loopx("start-goal", "--from", name, "--json").code == "invalid_value"


class Script:
    """A person who answers from a list."""

    def __init__(self, *answers: str) -> None:
        self.answers = list(answers)
        self.heard: list[str] = []

    def say(self, text: str = "") -> None:
        self.heard.append(text)

    def ask(self, question: str, default: str = "") -> str:
        return self.answers.pop(0) or default


def test_the_guide_asks_again_and_says_why() -> None:
    person = Script(
        *("", "Dark mode"),
        *("../elsewhere", "src/**", ""),
        *("ask me if unsure", "publish:git push*", ""),
        *("looks good", "cmd:pytest -q", ""),
        *("40 %", ""),
    )

    values = ask_for_goal(person, {})

    assert person.answers == []
    assert values == {
        "objective": "Dark mode",
        "write_scope": ["src/**"],
        "gates": ["publish:git push*"],
        "acceptance": ["cmd:pytest -q"],
        "compute": "0.4",
    }
    heard = "\n".join(person.heard)
    assert "'../elsewhere' is not a path or glob inside the repo" in heard
    assert "'ask me if unsure' names no concrete action" in heard
    assert "'looks good' is not an acceptance item" in heard
    command = open_goal(values, [])
    assert command.rules.quota.allowed == 576


def test_the_guide_asks_only_for_what_is_missing() -> None:
    given = {
        "objective": "Dark mode",
        "write_scope": ["src/**"],
        "requires_approval": ["publish"],
        "acceptance": ["cmd:true"],
        "quota": {"compute": "0.1"},
    }
    assert ask_for_goal(Script(), given) == given


@given(st.text())
def test_every_objective_has_a_legal_id_or_an_error_with_a_code(objective: str) -> None:
    try:
        command = open_goal({"objective": objective}, ["goal-1"])
    except UsageError as error:
        assert error.code == "invalid_value"
        assert not objective.strip()
        return
    assert command.goal_id not in ("", "goal-1")
    assert check_id(command.goal_id, "a goal") == command.goal_id
    assert command.rules.display_name
