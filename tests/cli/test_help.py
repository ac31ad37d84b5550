"""Help on every level, with an example that is a real command."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

import click
import pytest
from loopx_kernel.cli.framework import Command
from loopx_kernel.cli.main import COMMANDS, root

from tests.cli.helpers import loopx, process


def commands() -> Iterator[tuple[str, ...]]:
    """The words of every command, groups too."""
    context = click.Context(root, info_name="loopx")
    for name in COMMANDS:
        yield (name,)
        command = root.get_command(context, name)
        if isinstance(command, click.Group):
            yield from ((name, sub) for sub in command.list_commands(context))


@pytest.fixture
def invoked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The paths of the commands that were reached, which do nothing here."""
    reached: list[str] = []

    def note(command: Command, context: click.Context) -> int:
        reached.append(context.command_path)
        return 0

    monkeypatch.setattr(Command, "invoke", note)
    return reached


def find(words: tuple[str, ...]) -> click.Command:
    context = click.Context(root, info_name="loopx")
    command: click.Command = root
    for word in words:
        assert isinstance(command, click.Group)
        found = command.get_command(context, word)
        assert found is not None
        command = found
    return command


@pytest.mark.parametrize("words", commands(), ids=" ".join)
def test_every_command_has_help_and_an_example_that_parses_into_it(
    words: tuple[str, ...], invoked: list[str]
) -> None:
    command = find(words)
    result = loopx(*words, "--help")
    assert result.status == 0
    example = command.example  # type: ignore[attr-defined]
    assert f"  {example}\n" in result.out
    assert (command.help or "").splitlines()[0].split(".")[0] in " ".join(result.out.split())

    assert loopx(*shlex.split(example)[1:]).status == 0
    assert invoked
    assert f"{invoked[0]} ".startswith(f"loopx {' '.join(words)} ")
    assert example.startswith(invoked[0])


def test_help_lists_exactly_the_commands_there_are() -> None:
    listed = loopx("--help")

    assert listed.status == 0
    for name, summary in COMMANDS.items():
        assert f"  {name} " in listed.out
        assert summary.split(".")[0][:30] in listed.out


def test_without_a_command_the_help_is_shown() -> None:
    assert loopx().out == loopx("--help").out


def test_a_group_without_a_command_names_its_commands() -> None:
    result = loopx("todo", "--json")

    assert result.status == 2
    assert result.code == "invalid_value"
    assert "claim" in result.json["error"]["message"]


@pytest.mark.parametrize(
    ("typed", "near"),
    [(("stauts",), "loopx status"), (("todo", "clam"), "loopx todo claim")],
)
def test_a_wrong_command_suggests_the_near_one(typed: tuple[str, ...], near: str) -> None:
    result = loopx(*typed, "--json")

    assert (result.status, result.code) == (2, "invalid_value")
    assert result.json["error"]["next"] == f"{near} --help"


def test_the_shell_can_complete_commands() -> None:
    completed = process(_LOOPX_COMPLETE="bash_complete", COMP_WORDS="loopx gate ap", COMP_CWORD="2")

    assert "approve" in completed.stdout
