"""A projection as something to read: sections of facts, tables, excerpts and plots.

What stands here is raw; each renderer makes it safe for where it prints. One document gives
the text, the Markdown and the page, so that the three cannot say different things.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, TypeAlias

from loopx_kernel.value import Value
from loopx_kernel.views.envelope import Envelope

Style = Literal["plain", "dim", "ask", "alert"]
LONGEST = 500
"""How many characters of one text are shown; a title has no more."""


class Lines(Value):
    """Sentences, one under the other."""

    items: tuple[str, ...]
    style: Style = "plain"


class Facts(Value):
    """Names with values."""

    pairs: tuple[tuple[str, str], ...]


class Figures(Value):
    """A few figures that are seen first, each with its name."""

    pairs: tuple[tuple[str, str], ...]


class Table(Value):
    """Rows of cells; ``left_out`` others are counted and not shown."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    left_out: int = 0


class Excerpt(Value):
    """The beginning of a longer text, as it was written."""

    title: str
    text: str
    left_out: str = ""


class Series(Value):
    """One row of numbers of a plot."""

    name: str
    values: tuple[int, ...]


class Plot(Value):
    """Numbers over time: a bar or step for each of ``labels``; ``told`` says in words what a
    reader would see."""

    title: str
    unit: str
    labels: tuple[str, ...]
    series: tuple[Series, ...]
    told: str
    kind: Literal["bars", "steps"] = "bars"


Block: TypeAlias = Lines | Facts | Figures | Table | Excerpt | Plot


class Section(Value):
    """A heading and what stands below it; ``basis`` says where its figures come from."""

    title: str
    blocks: tuple[Block, ...]
    basis: str = ""


class Document(Value):
    """A whole projection; its envelope comes first in every form."""

    title: str
    envelope: Envelope
    sections: tuple[Section, ...]
    subtitle: str = ""


def clip(text: str, limit: int = LONGEST) -> str:
    """``text``, cut where it is longer than ``limit``, which is said."""
    if len(text) <= limit:
        return text
    return f"{text[:limit]}… ({len(text) - limit} more characters)"


def table(columns: Sequence[str], rows: Iterable[Sequence[object]], left_out: int = 0) -> Table:
    """A table of anything that has a text; ``None`` is an empty cell, and a column without any
    content is left out."""
    cells = [tuple("" if v is None else clip(str(v)) for v in row) for row in rows]
    kept = [n for n in range(len(columns)) if not cells or n == 0 or any(row[n] for row in cells)]
    names = tuple(columns[n] for n in kept)
    return Table(names, tuple(tuple(row[n] for n in kept) for row in cells), left_out)


def facts(*pairs: tuple[str, object]) -> Facts:
    """Facts of anything that has a text; those without a value are left out."""
    given = ((name, value) for name, value in pairs if value not in (None, ""))
    return Facts(tuple((name, clip(str(value))) for name, value in given))
