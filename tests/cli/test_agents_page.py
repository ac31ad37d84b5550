"""Every command of docs/agents.md, run as an agent would, on a goal that has what it names."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest
from loopx_kernel.workspace.guide import BEGIN, END

from tests.cli.helpers import connect, loopx, ok

PAGE = Path(__file__).parents[2] / "docs" / "agents.md"
PUSH = {"KIND": "publish", "THE EXACT COMMAND": "git push origin main"}
SAME = "--action publish --command 'git push origin main'"
TOLD = (
    # What stands in the page, what stands for its words in capitals, and the exit status.
    ("loopx connect --agents-file AGENTS.md", {}, 0),
    ('loopx agent add claude-code --note "works on the front end"', {}, 0),
    ("loopx agent list", {}, 0),
    ("loopx quota should-run --json", {}, 0),
    ("loopx status --json", {}, 0),
    ("loopx completion --json", {}, 1),
    ("loopx todo list --json", {}, 0),
    ("loopx turn begin --json", {}, 0),
    ("loopx turn begin", {}, 0),
    ("loopx gate check --action KIND --command 'THE EXACT COMMAND'", PUSH, 1),
    ("loopx gate request", {"": f"{SAME} --question 'Push it?'"}, 0),
    ("loopx gate check --action KIND --command 'THE EXACT COMMAND'", PUSH, 0),
    ("loopx gate use", {"": SAME}, 0),
    ("loopx todo renew", {"": "T1 --version 1 --epoch 1"}, 0),
    (
        "loopx turn settle --turn ID --outcome done --evidence FILE --tests passed "
        "--handoff-file FILE",
        {"ID": "turn-0001", "FILE": "report.xml"},
        0,
    ),
    ("loopx todo wait ID --on ci --every 10m", {"ID": "T2"}, 0),
    ("loopx observe probe ID", {"ID": "gh"}, 0),
    ("loopx observe junit FILE --ref REF", {"FILE": "report.xml", "REF": "run-2"}, 0),
    ("loopx propose route --reason 'WHY'", {"WHY": "the tests are flaky"}, 0),
    ("loopx completion", {}, 1),
    ("loopx schema", {}, 0),
)
FOR_A_PERSON = {"loopx start-goal --guided"}
APPROVED_AFTER = "loopx gate request"


def in_the_page() -> set[str]:
    """Every command of the page: in a line of its own, or in a sentence between backticks."""
    text = PAGE.read_text("utf-8")
    fenced = re.findall(r"(?m)^(loopx [^#\n]+?) *(?:#.*)?$", text)
    quoted = re.findall(r"`(loopx [^`]+)`", re.sub(r"\s+", " ", text))
    return {*fenced, *quoted}


def typed(command: str, values: dict[str, str]) -> list[str]:
    for name, value in values.items():
        command = command.replace(name, value) if name else f"{command} {value}"
    return shlex.split(command)[1:]


def test_the_table_has_every_command_of_the_page() -> None:
    assert {command for command, _, _ in TOLD} | FOR_A_PERSON == in_the_page()


def test_every_command_does_what_the_page_says(monkeypatch: pytest.MonkeyPatch) -> None:
    connect()
    gates = ("--gate", "publish:git push*", "--probe", "gh=true")
    ok("start-goal", "--id", "shop", "--objective", "Dark mode", *gates)
    ok("agent", "add", "codex")
    for title in ("Research", "Plan"):
        ok("todo", "add", title, "--agent", "codex")
    Path("report.xml").write_text('<testsuite tests="2" failures="0"/>', "utf-8")

    for command, values, status in TOLD:
        if "agent add" in command:
            monkeypatch.setenv("LOOPX_AGENT", "claude-code")
        ran = loopx(*typed(command, values))
        assert ran.status == status, (command, ran)
        if "--json" in command:
            assert json.loads(ran.out)["ok"] is True
        if command == APPROVED_AFTER:
            monkeypatch.delenv("LOOPX_AGENT")
            ok("gate", "approve", "G1", "--reason", "read it")
            monkeypatch.setenv("LOOPX_AGENT", "claude-code")
    refused = loopx("gate", "reject", "G2", "--reason", "no", "--json")
    assert (refused.status, refused.code) == (6, "not_a_person")
    block = Path("AGENTS.md").read_text("utf-8")
    assert block.startswith(BEGIN) and END in block
