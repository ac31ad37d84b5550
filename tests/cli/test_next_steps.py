"""The next command that an answer names is one that there is, and can be sent as it stands."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from loopx_kernel.cli.framework import Options
from loopx_kernel.cli.next_step import carry_on

from tests.cli.command_lines import NotACommand, mentions, parse, steps
from tests.cli.helpers import connect, loopx, ok, start, unchanged

AGENT = ("--agent", "claude-code")
STEPS = steps()
MENTIONS = mentions()
_PLACEHOLDER = re.compile(r"[A-WYZ]+")


def test_there_are_steps_to_look_at() -> None:
    assert len(STEPS) > 75 and len(MENTIONS) > 120


@pytest.mark.parametrize("step", STEPS)
def test_a_step_is_a_whole_command_that_parses(step: str) -> None:
    parse(step, whole=True)


@pytest.mark.parametrize("step", STEPS)
def test_a_step_can_be_typed_as_it_stands(step: str) -> None:
    pieces = [piece for word in shlex.split(step) for piece in re.split("[:=,]", word)]
    assert list(filter(_PLACEHOLDER.fullmatch, pieces)) == []


@pytest.mark.parametrize("text", MENTIONS)
def test_a_command_in_a_sentence_is_one_that_there_is(text: str) -> None:
    parse(text)


@pytest.mark.parametrize(
    "wrong",
    [
        "loopx schemas",
        "loopx todo",
        "loopx todo shw T1",
        "loopx todo show",
        "loopx todo show T1 --deep",
        "loopx todo list --all T1 T2",
        "loopx gate defer G1 --until TIME",
        "loopx escalation answer E1 --go-on",
    ],
)
def test_what_is_no_command_is_found_out(wrong: str) -> None:
    with pytest.raises(NotACommand):
        parse(wrong, whole=True)


TOLD = Options(root="/w s", goal="shop", agent="claude-code")
HERE = "--root '/w s'"
SHOP = f"{HERE} --goal shop"


@pytest.mark.parametrize(
    ("step", "expected"),
    [
        (None, None),
        ("write it like 90s, 10m, 3h or 7d", "write it like 90s, 10m, 3h or 7d"),
        ("loopx --help", "loopx --help"),
        ("loopx todo add --help", "loopx todo add --help"),
        ("loopx connect", f"loopx connect {HERE}"),
        ("loopx agent list", f"loopx agent list {HERE}"),
        ("loopx goal list", f"loopx goal list {HERE}"),
        ("loopx goal show --goal blog", f"loopx goal show --goal blog {HERE}"),
        ("loopx todo show T1", f"loopx todo show T1 {SHOP}"),
        ("loopx gate approve G1", f"loopx gate approve G1 {SHOP}"),
        ("loopx todo claim T1", f"loopx todo claim T1 {SHOP} --agent claude-code"),
        ("loopx turn begin", f"loopx turn begin {SHOP} --agent claude-code"),
        ("loopx turn begin --agent codex", f"loopx turn begin --agent codex {SHOP}"),
        (
            "loopx todo complete T1 --reason 'x (y)'",
            f"loopx todo complete T1 --reason 'x (y)' {SHOP}",
        ),
        (
            "loopx refresh-state --handoff TEXT (or --handoff-file FILE)",
            f"loopx refresh-state --handoff TEXT {SHOP} --agent claude-code"
            " (or --handoff-file FILE)",
        ),
    ],
)
def test_a_step_is_told_what_the_refused_command_was_told(
    step: str | None, expected: str | None
) -> None:
    assert carry_on(step, TOLD) == expected


def test_nothing_is_added_where_nothing_was_named() -> None:
    assert all(carry_on(step, Options()) == step for step in STEPS)


@pytest.mark.parametrize("step", STEPS)
def test_a_step_that_was_told_more_is_still_a_command(step: str) -> None:
    told = carry_on(step, TOLD)
    assert told is not None
    shown = loopx(*shlex.split(told)[1:], "--help")
    assert (shown.status, shown.err) == (0, "")


@pytest.mark.parametrize(
    "action",
    [
        ("--command", "git push 'origin' main; true"),
        ("--command", "npm publish", "--path", "dist/a b", "--path", "dist/c"),
    ],
)
def test_who_may_not_use_a_gate_asks_for_just_that(action: tuple[str, ...]) -> None:
    start(None, "shop", "--gate", "publish:*")
    refused = loopx("gate", "use", "--action", "publish", *action, *AGENT, "--json")
    assert refused.code == "gate_required"
    ok(*shlex.split(refused.json["error"]["next"])[1:])
    ok("gate", "approve", "G1")
    ok("gate", "use", "--action", "publish", *action, *AGENT)


def test_words_that_say_nothing_are_said_again_where_they_belong() -> None:
    start(None, "shop")
    refused = loopx("objective", "patch", "--text", " ", "--reason", "x", "--json")
    assert refused.code == "invalid_value"
    ok(*shlex.split(refused.json["error"]["next"])[1:])


@pytest.mark.parametrize(
    "refused",
    [
        ("turn", "settle", "--turn", "turn-0009", "--outcome", "done", *AGENT),
        ("todo", "update", "T1", "--status", "blocked", *AGENT),
        ("todo", "renew", "T1", "--version", "7", "--epoch", "1", *AGENT),
        ("todo", "claim", "T9", *AGENT),
        ("replan", "fulfil", "O1", *AGENT),
        ("escalation", "answer", "E1", "--go-on", "--reason", "x"),
        ("gate", "approve", "G1"),
        ("observe", "probe", "nope"),
    ],
)
def test_beside_another_goal_the_next_step_is_about_the_same_one(refused: tuple[str, ...]) -> None:
    start(None, "shop")
    start(None, "blog")
    ok("todo", "add", "Convert", *AGENT, "--goal", "shop")
    ok("todo", "claim", "T1", *AGENT, "--goal", "shop")
    with unchanged():
        result = loopx(*refused, "--goal", "shop", "--json")
    assert result.status != 0
    following = loopx(*shlex.split(result.json["error"]["next"])[1:], "--json")
    assert following.status == 0 or following.code not in ("ambiguous_goal", "unknown_agent")


def test_who_needs_no_approval_is_told_to_go_on() -> None:
    start(None, "shop", "--gate", "publish:git push*")
    act = ("--action", "publish", "--command", "npm publish")
    assert ok("gate", "check", *act)["allowed"] is True
    refused = loopx("gate", "use", *act, *AGENT, "--json")
    assert refused.code == "gate_required"
    assert refused.json["error"]["next"].startswith("do it")


def test_a_lost_file_is_brought_back_by_the_command_doctor_and_the_deep_check_print() -> None:
    connect()
    ok("agent", "add", "codex")
    for goal in ("shop", "blog"):
        ok("start-goal", "--id", goal, "--objective", "Dark mode")
    for command in (("doctor",), ("event", "verify", "--deep", "--goal", "blog")):
        Path(".loopx/goals/blog/ACTIVE_GOAL_STATE.md").unlink()
        (step,) = set(re.findall(r"loopx refresh-state [^\n\"]*", loopx(*command).out))
        ok(*shlex.split(step)[1:])
        assert Path(".loopx/goals/blog/ACTIVE_GOAL_STATE.md").exists()


def test_the_first_piece_of_work_is_added_by_an_agent_there_is() -> None:
    connect()
    ok("agent", "add", "codex")
    ok("start-goal", "--id", "shop", "--objective", "Dark mode")
    (step,) = re.findall(r"add one: (loopx .*)", loopx("status").out)
    ok(*shlex.split(step)[1:])
