"""Reading theme files, from the shipped folder and the person's own.

A file's stem is its theme's name. What is wrong with a file is one sentence
for the person, never an exception; one that is only hard to read is worn all the same.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from loopx_tui.preferences import own_folder
from loopx_tui.themes import DEFAULT, LEAST_CONTRAST, Theme, hard_to_read, written

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")
_LARGEST_FILE = 65_536


class Chosen(NamedTuple):
    """A theme, and what to tell the person where it is not the one asked for."""

    theme: Theme
    notice: str | None = None


class Found(NamedTuple):
    """All themes that could be read, by name, and a sentence for each that could not."""

    themes: dict[str, Theme]
    notices: list[str]


def folders() -> tuple[Path, ...]:
    """Where theme files are looked for: the person's folder, then the shipped one.

    Neither is made; the first honours ``XDG_CONFIG_HOME``.
    """
    here = Path(__file__).parent
    shipped = here / "themes"
    return (
        own_folder() / "themes",
        shipped if shipped.is_dir() else here.parent / "themes",
    )


def choose(name: str | None, among: Sequence[Path] | None = None) -> Chosen:
    """The theme called ``name``; the default with a notice where it is unknown or broken.

    Reads one file at most, and none for the default theme that nobody replaced.
    """
    if name is None:
        return Chosen(DEFAULT)
    theme, problem = find(name, among)
    if theme is not None:
        return Chosen(theme, problem)
    return Chosen(DEFAULT, f"{problem}; showing {DEFAULT.name}")


def find(name: str, among: Sequence[Path] | None = None) -> tuple[Theme | None, str | None]:
    """The theme called ``name``, ``None`` where there is none that can be used; and what is
    wrong with the first file of that name, as a sentence."""
    broken: list[str] = []
    if _NAME.fullmatch(name):
        for path in (folder / f"{name}.yaml" for folder in among or folders()):
            theme = _read(path, broken) if os.path.isfile(path) else None  # noqa: PTH113 - never raises
            if theme is not None:
                return theme, next(iter(broken), None)
    return None, broken[0] if broken else f"There is no theme {name!r}"


def available(among: Sequence[Path] | None = None) -> Found:
    """Every theme of all folders, an earlier folder's before a later one's of that name."""
    found = Found({DEFAULT.name: DEFAULT}, [])
    for folder in reversed(among or folders()):
        for path in sorted(_files(folder)):
            theme = _read(path, found.notices)
            if theme is not None:
                found.themes[theme.name] = theme
    return found


def _files(folder: Path) -> list[Path]:
    try:
        return [path for path in folder.iterdir() if path.suffix == ".yaml"]
    except OSError:
        return []


def _read(path: Path, notices: list[str]) -> Theme | None:
    """The theme of one file; one sentence more in ``notices`` where it cannot be read, or not
    well."""
    try:
        theme = _checked(_load_yaml(path), path.stem)
    except (OSError, ValueError) as error:
        notices.append(f"Theme {path.name!r}: {error}")
        return None
    poor = hard_to_read(theme)
    if poor:
        least = f"less than {LEAST_CONTRAST:g}:1 is hard to read"
        notices.append(f"Theme {path.name!r}: {', '.join(poor)}; {least}")
    return theme


def _load_yaml(path: Path) -> dict[str, Any]:
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    with path.open("rb") as file:
        data = file.read(_LARGEST_FILE + 1)
    if len(data) > _LARGEST_FILE:
        raise ValueError(f"it is larger than {_LARGEST_FILE:,} bytes")
    try:
        loaded = YAML(typ="safe", pure=True).load(data.decode("utf-8-sig"))
    except (YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise ValueError(f"it is not YAML ({type(error).__name__})") from None
    if not isinstance(loaded, dict) or not all(isinstance(key, str) for key in loaded):
        raise ValueError("it is not a list of names and colours")
    return loaded


def _checked(data: dict[str, Any], stem: str) -> Theme:
    """``data`` as a theme, or one ``ValueError`` that says everything that is wrong."""
    from pydantic import TypeAdapter, ValidationError

    names = {written(field.name): field.name for field in fields(Theme)}
    wrong = [f"{key!r} is not a name a theme has" for key in data if key not in names]
    values = {names[key]: value for key, value in data.items() if key in names}
    if values.get("name", stem) != stem or not _NAME.fullmatch(stem):
        wrong.append(f"name must be the file's own, {stem!r}, in small letters, digits and hyphens")
    theme = None
    try:
        theme = TypeAdapter(Theme).validate_python(values)
    except ValidationError as error:
        wrong.extend(_sentences(error.errors(include_url=False)))
    if theme is None or wrong:
        raise ValueError("; ".join(wrong))
    return theme


def _sentences(errors: Sequence[ErrorDetails]) -> Iterator[str]:
    for error in errors:
        name = written(str(error["loc"][0]))
        if error["type"] == "missing":
            yield f"{name} is missing"
        elif error["type"] == "value_error":
            yield f"{name} {error['input']!r} {error['ctx']['error']}"
        else:
            yield f"{name} {error['input']!r} is not valid: {error['msg'].lower()}"
