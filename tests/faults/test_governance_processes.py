"""Governance through the public command: two processes at a time, each doing what it may or not."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from random import Random

import pytest
from loopx_kernel.domain.state import GoalState
from loopx_kernel.workspace import Workspace

from tests.cli.helpers import PROGRAM, ok, start
from tests.faults.governed import assert_governed
from tests.patience import PATIENCE

GOAL, CLAUDE, CODEX = "shop", "claude-code", "codex"
ROUNDS = 20
ANSWERS = {0, 10, 11, 12, 13}
"""Exit statuses of what was done, and of a turn that does not begin."""
REFUSALS = {1, 2, 3, 4, 5, 6}


def agent_acts(dice: Random, state: GoalState, agent: str) -> list[str]:
    """Something an agent tries."""
    turn = next((t.id for t in state.turns.values() if t.status == "open"), "turn-0001")
    todo = dice.choice(list(state.todos))
    duty, gate = next(iter(state.obligations), "O9"), next(reversed(state.gates), "G9")
    numbers = ["--version", str(state.todos[todo].version), "--epoch", "1"]
    proof, push = ["--evidence", "notes.md"], ["--action", "publish", "--command", "git push"]
    acts = [
        ["turn", "begin"],
        ["turn", "settle", "--turn", turn, "--outcome", "done", *proof, "--handoff", "next"],
        ["turn", "settle", "--turn", turn, "--outcome", "failed"],
        ["turn", "recover"],
        ["todo", "complete", todo, "--turn", turn, *proof],
        ["todo", "update", todo, *proof],
        ["refresh-state", "--handoff", "next", "--turn", turn],
        ["quota", "spend-slot", "--turn", turn],
        ["todo", "add", "More", "--lineage", todo],
        ["todo", "claim", todo],
        ["todo", "renew", todo, *numbers],
        ["todo", "release", todo, *numbers],
        ["todo", "block", todo, "--reason", "no way"],
        ["todo", "wait", todo, "--on", "ci:main"],
        ["todo", "reopen", todo],
        ["gate", "request", *push, "--blocks", todo],
        ["gate", "use", *push],
        ["gate", "use", *push],
        ["gate", "withdraw", gate],
        ["propose", "cancel", todo, "--reason", "nobody needs it"],
        ["propose", "objective", "--text", "Light mode", "--reason", "it is asked for"],
        ["replan", "fulfil", duty, "--supersede", f"{todo}:T{state.next_todo - 1}"],
        ["observe", "probe", "tests"],
    ]
    return [*dice.choice([*acts[:2] * 4, *acts]), "--agent", agent]


def other_acts(dice: Random, state: GoalState) -> list[str]:
    """Something a person decides, or that code sees."""
    todo = dice.choice(list(state.todos))
    gate = next((g.id for g in state.gates.values() if g.status == "pending"), "G9")
    duty, why = next(iter(state.obligations), "O9"), ["--reason", "the owner says so"]
    acts = [
        ["gate", "approve", gate],
        ["gate", "approve", gate],
        ["gate", "reject", gate, *why],
        ["replan", "request", "--todo", todo, *why],
        ["replan", "withdraw", duty, *why],
        ["todo", "cancel", todo, *why],
        ["todo", "supersede", todo, "--by", f"T{state.next_todo - 1}", *why],
        ["objective", "patch", "--text", f"Words of {state.seq}", *why],
        ["escalation", "answer", "E1", "--go-on", *why],
        ["quota", "void-slot", "--turn", "turn-0001", *why],
        ["goal", "pause", *why],
        ["goal", "resume", *why],
        ["observe", "record", "--kind", "ci", "--status", "fail", "--ref", "main"],
        ["accept", "run"],
        ["accept", "by-hand", *why],
        ["turn", "recover"],
    ]
    return dice.choice(acts)


def at_once(*commands: list[str]) -> list[subprocess.CompletedProcess[str]]:
    """The commands, begun at the same time, and how they ended."""
    running = [
        subprocess.Popen(
            [PROGRAM, *command, "--goal", GOAL, "--json"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            start_new_session=True,
        )
        for command in commands
    ]
    ended = []
    for command, process in zip(commands, running, strict=True):
        try:
            out, err = process.communicate(timeout=PATIENCE)
        finally:
            process.kill()
        ended.append(subprocess.CompletedProcess(command, process.returncode, out, err))
    return ended


@pytest.mark.parametrize("seed", [0])
def test_what_must_hold_holds_between_processes(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("notes.md").write_text("notes\n", "utf-8")
    Path("ok").touch()
    rules = ("--gate", "publish:git push*", "--probe", "tests=test -e ok")
    start(None, GOAL, "--acceptance", "tests=cmd:test -e ok", *rules)
    ok("agent", "add", CODEX)
    for number in range(4):
        ok("todo", "add", f"Part {number}", "--agent", CLAUDE)
    dice, journal = Random(seed), Path(".loopx/runtime") / GOAL / "events.jsonl"
    reader = Workspace.open(tmp_path)
    statuses = []
    for _ in range(ROUNDS):
        state = reader.state(GOAL)
        one = agent_acts(dice, state, CLAUDE)
        two = dice.choice([agent_acts(dice, state, CODEX), other_acts(dice, state)])
        for ended in at_once(one, two):
            statuses.append(ended.returncode)
            assert ended.returncode in ANSWERS | REFUSALS, ended
            if ended.returncode in REFUSALS - {1}:
                error = json.loads(ended.stderr or ended.stdout)["error"]
                assert error["code"] not in ("invalid_event", "internal"), ended
        fresh = Workspace.open(tmp_path)
        assert fresh.state(GOAL) == reader.state(GOAL)
        assert_governed(journal, fresh.view(GOAL), fresh.state(GOAL))
    with monkeypatch.context() as patch:
        patch.setenv("LOOPX_CACHE_DIR", os.fspath(tmp_path / "no-cache"))
        again = Workspace.open(tmp_path)
        assert again.state(GOAL) == reader.state(GOAL)
        assert again.events.verify(GOAL).ok
    assert {0} < set(statuses), "nothing was done, or nothing refused"
