"""What the command prints: JSON for programs, tables and lines for people."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from loopx_kernel.text import safe

if TYPE_CHECKING:
    from loopx_kernel.cli.status_line import Part
    from loopx_kernel.views.render_plain import TextLine

_STYLES = {"dim": "dim", "alert": "bold red", "ask": "bold yellow"}


def print_json(value: Mapping[str, Any]) -> None:
    """One object on one line, ASCII-escaped: nothing in it can steer a terminal."""
    sys.stdout.write(one_line(value) + "\n")


def one_line(value: Any) -> str:
    """A JSON value on one line, ASCII-escaped."""
    return json.dumps(value, ensure_ascii=True, separators=(", ", ": "))


def print_json_list(head: Mapping[str, Any], name: str, values: Iterable[Any]) -> None:
    """The object ``head`` with ``values`` as its last key ``name``, written one by one: what
    ``print_json`` would print, without all of them in memory."""
    sys.stdout.write(one_line(head)[:-1] + f', "{name}": [')
    for number, value in enumerate(values):
        sys.stdout.write((", " if number else "") + one_line(value))
    sys.stdout.write("]}\n")


def print_error(error: Mapping[str, Any], *, as_json: bool) -> None:
    """An error on stderr: its sentence and the next step, or one JSON object."""
    if as_json:
        text = json.dumps({"ok": False, "error": error}, ensure_ascii=True, default=str)
    else:
        text = f"{safe(str(error['message']))} [{error['code']}]"
        if error.get("next"):
            text += f"\nnext: {safe(str(error['next']))}"
    sys.stderr.write(text + "\n")


class Printer:
    """Text for people: styled on a terminal, plain when piped. Everything passes ``safe``."""

    def __init__(self, *, no_color: bool = False) -> None:
        self._no_color = no_color or bool(os.environ.get("NO_COLOR"))
        self._rich = sys.stdout.isatty()

    def line(self, text: str = "", style: str = "") -> None:
        """One line."""
        if self._rich and style:
            from rich.text import Text

            self._console().print(Text(safe(text), style=style), soft_wrap=True)
        else:
            sys.stdout.write(safe(text) + "\n")

    def document(self, lines: Iterable[TextLine]) -> None:
        """The lines of a document, which are safe already and keep their columns."""
        for text, style in lines:
            if self._rich and style in _STYLES:
                from rich.text import Text

                self._console().print(Text(text, style=_STYLES[style]), soft_wrap=True)
            else:
                sys.stdout.write(text + "\n")

    @property
    def width(self) -> int | None:
        """How many cells a line has; ``None`` where it has no end, as in a pipe or a file."""
        if not self._rich:
            return None
        import shutil

        return shutil.get_terminal_size().columns

    def head(self, lines: Iterable[str]) -> None:
        """The envelope's lines: age and coverage dim, alerts in red."""
        for text in lines:
            self.line(text, "bold red" if text.startswith("alerts:") else "dim")

    def bar(self, parts: Sequence[Part]) -> None:
        """One line of coloured words: as tmux reads it, or on a terminal as that shows it."""
        from loopx_kernel.cli.status_line import for_tmux

        if not self._rich:
            sys.stdout.write(for_tmux(parts, colours=not self._no_color) + "\n")
            return
        from rich.text import Text

        words = (Text(safe(text), style=style) for text, style in parts)
        self._console().print(Text(" | ").join(words), soft_wrap=True)

    def table(
        self,
        columns: Sequence[str],
        rows: Iterable[Sequence[object]],
        styles: Sequence[str] = (),
    ) -> None:
        """A table; an empty cell for ``None``. Without rows the word ``none``. ``styles`` are those
        of the rows, on a terminal."""
        cells = [["" if value is None else safe(str(value)) for value in row] for row in rows]
        if not cells:
            self.line("none", "dim")
            return
        if self._rich:
            self._on_terminal(columns, cells, styles)
            return
        from loopx_kernel.views.columns import cells_of, lines_of_row

        widths = [max(map(cells_of, column)) for column in zip(columns, *cells, strict=True)]
        for row in (columns, *cells):
            sys.stdout.writelines(f"{text}\n" for text in lines_of_row(row, widths))

    def _on_terminal(
        self, columns: Sequence[str], rows: Sequence[Sequence[str]], styles: Sequence[str]
    ) -> None:
        """As a table where its columns fit, else each row as a few lines."""
        from loopx_kernel.views.columns import stacked, widths_of

        room = self.width
        if room is None or widths_of([columns, *rows], room) is not None:
            self._rich_table(columns, rows, styles)
            return
        for row, style in zip_longest(rows, styles, fillvalue=""):
            for number, text in enumerate(stacked(columns, row, room)):
                self.line(text, style or ("dim" if number else ""))

    def _rich_table(
        self, columns: Sequence[str], rows: Sequence[Sequence[str]], styles: Sequence[str]
    ) -> None:
        from rich import box
        from rich.table import Table
        from rich.text import Text

        table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
        for name in columns:
            table.add_column(Text(name), overflow="fold")
        for row, style in zip_longest(rows, styles, fillvalue=""):
            table.add_row(*(Text(cell) for cell in row), style=style)
        self._console().print(table)

    def _console(self) -> Any:
        from rich.console import Console

        return Console(no_color=self._no_color, highlight=False, markup=False, emoji=False)
