"""What only a person may do is refused to everybody else, by every command that does it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import click
import pytest
from loopx_kernel.cli.main import root
from loopx_kernel.trust import new_key

from tests.agents import add, real_agent
from tests.cli.helpers import loopx, ok, process, start, unchanged
from tests.kernel.workspace.test_binding import HOUSE_STEPS, PERSON, goal_types

UNTIL = "2199-01-01T00:00:00Z"
WHY = ("--reason", "r")
DECIDES: dict[str, tuple[tuple[str, ...], ...]] = {
    "goal.opened": (("start-goal", "--id", "x", "--objective", "x"),),
    "goal.paused": (("goal", "pause", *WHY),),
    "goal.resumed": (("goal", "resume", *WHY),),
    "goal.retired": (("goal", "retire", *WHY),),
    "rules.patched": (("goal", "edit", "--from", "rules.yaml"),),
    "objective.patched": (("objective", "patch", "--text", "x", *WHY),),
    "gate.approved": (("gate", "approve", "G1"),),
    "gate.rejected": (("gate", "reject", "G1"),),
    "gate.deferred": (("gate", "defer", "G1", "--until", UNTIL),),
    "replan.requested": (("replan", "request", *WHY),),
    "replan.withdrawn": (("replan", "withdraw", "O1", *WHY),),
    "todo.cancelled": (("todo", "cancel", "T1", *WHY),),
    "todo.superseded": (("todo", "supersede", "T1", "--by", "T2", *WHY),),
    "todo.completed": (("todo", "complete", "T1", *WHY),),
    "drift.adopted": (("state", "adopt"),),
    "drift.restored": (("state", "restore"),),
    "escalation.answered": (("escalation", "answer", "E1", "--go-on", *WHY),),
    "work.accepted": (("accept", "by-hand", *WHY),),
    "damage.repaired": (("repair", "journal"), ("repair", "file", ".loopx/owners")),
    "spend.voided": (("quota", "void-slot", "--turn", "turn-0001", *WHY),),
    "owner.enrolled": (
        ("owner", "enroll", "--name", "x", "--public-key", "x.key.pub"),
        ("owner", "rotate", "--name", "huang", "--public-key", "x.key.pub"),
    ),
    "owner.revoked": (("owner", "revoke", "--name", "huang"),),
}
"""The commands of each type of event that only a person may cause."""
EXTRA = (("owner", "trust"), ("connect", "--replaces", "--allow-unattended"))
"""Commands that only a person may give, though they sign nothing, or nothing here yet."""
COMMANDS = [words for rows in DECIDES.values() for words in rows] + [*EXTRA]

every_command = pytest.mark.parametrize("words", COMMANDS, ids=" ".join)


@pytest.fixture
def goal(monkeypatch: pytest.MonkeyPatch) -> Path:
    """A goal whose owner has a key with a passphrase, and one gate; the path of the key."""
    start(None, "shop", "--requires-approval", "publish")
    agent = ("--agent", "claude-code")
    ok("todo", "add", "Ship it", *agent)
    ok("gate", "request", "--action", "publish", "--command", "git push", *agent)
    new_key.generate(Path("x.key"), "x", None)
    new_key.generate(Path("typed.key"), "huang", b"secret")
    ok("owner", "rotate", "--name", "huang", "--public-key", "typed.key.pub")
    Path("rules.yaml").write_text("domain: other\n", "utf-8")
    monkeypatch.setenv("LOOPX_KEY", "typed.key")
    return Path("typed.key")


def leaves(group: click.Group, words: tuple[str, ...] = ()) -> dict[tuple[str, ...], str]:
    """Every command with its help."""
    found: dict[tuple[str, ...], str] = {}
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            found |= leaves(command, (*words, name))
        elif command is not None:
            found[*words, name] = command.help or ""
    return found


def test_every_command_that_signs_is_tried_here_and_says_so() -> None:
    told = {words for words, text in leaves(root).items() if "signs" in text}
    by_both = {("todo", "complete")}
    tried = {
        words[:2] if words[0] != "start-goal" else words[:1] for words in COMMANDS[: -len(EXTRA)]
    }
    assert tried - by_both == told


def test_every_type_of_event_that_only_a_person_may_cause_has_a_command() -> None:
    mine = {kind.name for kind in goal_types() if kind.by == PERSON and not kind.part_only}
    by_both = {"todo.completed"}
    assert set(DECIDES) - by_both == mine | set(HOUSE_STEPS)


@every_command
def test_not_by_an_agent_that_says_so(
    goal: Path, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOOPX_KEY", "x.key")
    with unchanged():
        result = loopx(*words, "--agent", "claude-code", "--json")
        assert (result.status, result.code) == (6, "not_a_person"), result.json
        monkeypatch.setenv("LOOPX_AGENT", "claude-code")
        result = loopx(*words, "--json")
        assert (result.status, result.code) == (6, "not_a_person"), result.json


@every_command
def test_not_without_a_terminal(goal: Path, words: tuple[str, ...]) -> None:
    with unchanged():
        result = loopx(*words, "--json")
    assert (result.status, result.code) == (6, "not_a_person"), result.json


def test_nor_from_the_shell_of_an_agent_that_finds_the_key_in_ssh_agent(
    goal: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The key was enrolled to be typed for, so that one in ssh-agent is none to use."""
    with real_agent() as agent:
        change = ["ssh-keygen", "-q", "-p", "-P", "secret", "-N", "", "-f", str(goal)]
        subprocess.run(change, check=True, capture_output=True)
        add(agent, goal)
        change = ["ssh-keygen", "-q", "-p", "-P", "", "-N", "secret", "-a", "1", "-f", str(goal)]
        subprocess.run(change, check=True, capture_output=True)
        monkeypatch.setenv("SSH_AUTH_SOCK", str(agent))
        with unchanged():
            for words in COMMANDS:
                result = loopx(*words, "--json")
                assert (result.status, result.code) == (6, "not_a_person"), words
            monkeypatch.delenv("LOOPX_KEY")
            for words in DECIDES["gate.approved"] + DECIDES["owner.revoked"]:
                assert loopx(*words, "--json").status == 6
                assert process(*words, "--json").returncode == 6
