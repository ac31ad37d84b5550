"""Commands that take the common options anywhere, show an example, and load when used."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any, NoReturn

import click

from loopx_kernel.errors import UsageError

ROOT_EXAMPLE = "loopx connect"
_NEAR = 0.75  # ``report`` is no misspelt ``repair``


@dataclass
class Options:
    """The options every command takes, before or after its name."""

    root: str | None = None
    goal: str | None = None
    agent: str | None = None
    key: str | None = None
    event_id: str | None = None
    json: bool = False
    no_color: bool = False


_COMMON: tuple[tuple[str, str | None, str], ...] = (
    ("--root", "DIR", "The workspace (else $LOOPX_ROOT, else the nearest parent with .loopx)."),
    ("--goal", "ID", "The goal (else $LOOPX_GOAL, else the only one)."),
    ("--agent", "ID", "Who acts, for an agent (else $LOOPX_AGENT)."),
    ("--key", "PATH", "The key a person signs with (else $LOOPX_KEY, else your config.yaml)."),
    ("--event-id", "ID", "Sending a writing command again with the same id changes nothing."),
    ("--json", None, "One JSON object instead of text."),
    ("--no-color", None, "No colours."),
)


def _keep(context: click.Context, parameter: click.Parameter, value: Any) -> None:
    if value not in (None, False) and parameter.name is not None:
        setattr(context.obj.options, parameter.name, value)


@cache
def _common_options() -> list[click.Parameter]:
    return [
        click.Option(
            [name],
            metavar=metavar,
            help=text,
            is_flag=metavar is None,
            expose_value=False,
            callback=_keep,
        )
        for name, metavar, text in _COMMON
    ]


class Command(click.Command):
    """A command with the common options and one real example in its help."""

    def __init__(self, *args: Any, example: str, takes_common: bool = True, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.example = example
        self._common = _common_options() if takes_common else []
        self.params += self._common

    def invoke(self, ctx: click.Context) -> Any:
        """Does what was asked, with nobody's plugins."""
        _load_no_plugins()
        return super().invoke(ctx)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Own options first; those of every command in a section of their own."""
        _write_options(self, self._common, ctx, formatter)
        _write_example(self.example, formatter)


class Group(click.Group):
    """A noun with its commands."""

    command_class = Command

    def __init__(self, *args: Any, example: str = ROOT_EXAMPLE, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # Without a command our own error is wanted, with its code, not the parser's help.
        self.invoke_without_command, self.no_args_is_help = True, False
        self.callback = _require_command
        self.example = example
        self._common = _common_options()
        self.params += self._common

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Commands first, then the options of every command."""
        self.format_commands(ctx, formatter)
        _write_options(self, self._common, ctx, formatter)
        _write_example(self.example, formatter)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command named first; a wrong name suggests the near one."""
        if args and self.get_command(ctx, args[0]) is None and not ctx.resilient_parsing:
            _no_such_command(ctx, args[0], self.list_commands(ctx))
        return super().resolve_command(ctx, args)


class LazyGroup(Group):
    """The root: each command's module is imported when the command is used."""

    def __init__(self, *args: Any, commands_in: Mapping[str, str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._summaries = commands_in

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All names, without importing anything."""
        return list(self._summaries)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name, imported now."""
        if cmd_name not in self._summaries:
            return None
        module = import_module(f"loopx_kernel.cli.{cmd_name.replace('-', '_')}")
        command: click.Command = module.command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The table of commands, from their summaries."""
        with formatter.section("Commands"):
            formatter.write_dl(list(self._summaries.items()))


def _load_no_plugins() -> None:
    # Pydantic would read the metadata of every installed package for plugins of its own, a tenth
    # of a command's time, and let them change what is judged. Its environment variable says the
    # same, but whatever is started from here would inherit it; and the module that looks for them
    # imports all it takes to look.
    none = ModuleType("pydantic.plugin._loader")
    vars(none)["get_plugins"] = tuple
    sys.modules[none.__name__] = none


def _require_command() -> None:
    context = click.get_current_context()
    group = context.command
    if context.invoked_subcommand is None and isinstance(group, click.Group):
        raise UsageError(
            "invalid_value",
            f"{context.command_path} needs one of its commands: "
            + ", ".join(group.list_commands(context)),
            next=f"{context.command_path} --help",
        )


def _write_options(
    command: click.Command,
    common: Sequence[click.Parameter],
    ctx: click.Context,
    formatter: click.HelpFormatter,
) -> None:
    records = [(p, p.get_help_record(ctx)) for p in command.get_params(ctx)]
    own = [record for p, record in records if record is not None and p not in common]
    shared = [record for p, record in records if record is not None and p in common]
    for title, rows in (("Options", own), ("Options of every command", shared)):
        if rows:
            with formatter.section(title):
                formatter.write_dl(rows)


def _write_example(example: str, formatter: click.HelpFormatter) -> None:
    with formatter.section("Example"):
        formatter.write(f"{'':>{formatter.current_indent}}{example}\n")


def _no_such_command(ctx: click.Context, name: str, known: Sequence[str]) -> NoReturn:
    from difflib import get_close_matches

    near = get_close_matches(name, known, n=1, cutoff=_NEAR)
    step = f"{ctx.command_path} {near[0]} --help" if near else f"{ctx.command_path} --help"
    hint = f"; did you mean {near[0]}?" if near else ""
    raise UsageError(
        "invalid_value",
        f"{ctx.command_path} has no command {name!r}{hint}",
        next=step,
        command=name,
    )
