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


@pytest.mark.parametrize(
    ("glob", "command"),
    [
        (PUSH, "git -c a=b push"),
        (PUSH, "git -c a=b -C /srv --no-pager push origin main"),
        (PUSH, "git --git-dir=/srv/.git push"),
        (PUSH, "git --git-dir /srv/.git push"),
        (PUSH, "env -i X=1 /usr/bin/git -C . 'push' --force"),
        (PUSH, "true; git -p push; true"),
        ("git push", "git -p push"),
        ("npm run deploy*", "npm --prefix web run -s deploy:prod"),
        ("docker compose up*", "docker --context prod compose -f a.yaml -p x up -d"),
        ("kubectl * delete*", "kubectl -n prod pods delete x"),
        ("git push --force*", "git push -v --force"),
        ("terraform apply", "terraform -chdir=infra apply"),
        ("./deploy.sh prod*", "./deploy.sh --now prod"),
    ],
)
def test_options_between_its_words_are_no_way_around(glob: str, command: str) -> None:
    assert may_mean(glob, command)


@pytest.mark.parametrize(
    ("glob", "command"),
    [
        (PUSH, "git -c a=b pull"),
        (PUSH, "git log push"),
        (PUSH, "git -c a=b log x push"),
        (PUSH, "git --no-pager; push"),
        (PUSH, "push --git"),
        (PUSH, "git -"),
        ("git push", "git -p push origin"),
        ("npm run deploy*", "npm --prefix run"),
        ("npm run deploy*", "npm run test deploy"),
    ],
)
def test_what_stands_between_them_besides_tells_commands_apart(glob: str, command: str) -> None:
    assert not may_mean(glob, command)


def test_the_longest_command_of_nothing_but_options_is_looked_at_at_once() -> None:
    assert not may_mean(PUSH, "a - " * (LONGEST // 4))
    assert not may_mean("a b c d e f*", "a - " * (LONGEST // 4))


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


@given(st.lists(st.sampled_from(["-c", "--x=y", "-C a", "-v"])), st.text(max_size=50))
def test_what_is_named_is_found_behind_any_options(options: list[str], after: str) -> None:
    assert may_mean(PUSH, " ".join(["git", *options, "push", after]))
