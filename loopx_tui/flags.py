"""What a person calls a workspace, and its colour, so that production looks like production.

It stands in the person's own configuration and nowhere in the workspace: what lies there can be
written by agents, and one that looks harmless is just what somebody would want to be decided in.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from loopx_kernel.text import safe

from loopx_tui import strings
from loopx_tui.themes import DEFAULT

LONGEST_LABEL: Final = 24
"""Characters of a label; more would take the place of what waits."""


class Flag(NamedTuple):
    """A label, the name of one of a theme's colours, and a theme's name; each may be empty."""

    label: str = ""
    colour: str = ""
    theme: str = ""


def flag_of(root: Path, config: Mapping[str, Any]) -> tuple[Flag, str]:
    """The flag of the workspace in ``root`` by the person's configuration; a sentence where what
    stands there cannot be used."""
    listed = config.get("workspaces")
    if listed is None:
        return Flag(), ""
    if not isinstance(listed, dict):
        return Flag(), strings.FLAG_WRONG.format(why="it is not a list of folders")
    here = os.path.realpath(root)
    for place, wanted in listed.items():
        if isinstance(place, str) and _real(place) == here:
            return _flag(wanted)
    return Flag(), ""


def _real(place: str) -> str:
    """Where a name leads, which need not be there nor be one that can be."""
    try:
        return os.path.realpath(os.path.expanduser(place))  # noqa: PTH111 - never raises
    except ValueError:
        return ""


def read_flag(root: Path) -> tuple[Flag, str]:
    """As ``flag_of``, from the person's file; for worker threads."""
    from loopx_kernel.errors import LoopxError
    from loopx_kernel.workspace.person import read_config

    try:
        return flag_of(root, read_config())
    except LoopxError as error:
        return Flag(), error.message
    except OSError as error:
        return Flag(), strings.FLAG_WRONG.format(why=error.strerror or type(error).__name__)


def _flag(wanted: object) -> tuple[Flag, str]:
    values = {"label": wanted} if isinstance(wanted, str) else wanted
    if not isinstance(values, dict) or not all(isinstance(one, str) for one in values.values()):
        return Flag(), strings.FLAG_WRONG.format(why="a folder has a label, a colour, a theme")
    unknown = [str(name) for name in values if name not in Flag._fields]
    if unknown:
        why = f"{safe(', '.join(unknown))} is nothing a folder has"
        return Flag(), strings.FLAG_WRONG.format(why=why)
    colour = values.get("colour", "")
    if colour and colour not in DEFAULT.colours:
        why = f"{safe(repr(colour))} is no colour of a theme, such as alert"
        return Flag(_label(values)), strings.FLAG_WRONG.format(why=why)
    return Flag(_label(values), colour, values.get("theme", "")), ""


def _label(values: Mapping[str, str]) -> str:
    return safe(" ".join(values.get("label", "").split()))[:LONGEST_LABEL]
