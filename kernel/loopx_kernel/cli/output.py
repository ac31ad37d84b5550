"""What the command prints: JSON for programs, tables and lines for people."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from loopx_kernel.text import safe


def print_json(value: Mapping[str, Any]) -> None:
    """One object on one line, ASCII-escaped: nothing in it can steer a terminal."""
    sys.stdout.write(_one_line(value) + "\n")


def _one_line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=True, separators=(", ", ": "))


def print_json_list(head: Mapping[str, Any], name: str, values: Iterable[Any]) -> None:
    """The object ``head`` with ``values`` as its last key ``name``, written one by one: what
    ``print_json`` would print, without all of them in memory."""
    sys.stdout.write(_one_line(head)[:-1] + f', "{name}": [')
    for number, value in enumerate(values):
        sys.stdout.write((", " if number else "") + _one_line(value))
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

    def head(self, lines: Iterable[str]) -> None:
        """The envelope's lines: age and coverage dim, alerts in red."""
        for text in lines:
            self.line(text, "bold red" if text.startswith("alerts:") else "dim")

    def table(self, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
        """A table; an empty cell for ``None``. Without rows the word ``none``."""
        cells = [["" if value is None else safe(str(value)) for value in row] for row in rows]
        if not cells:
            self.line("none", "dim")
            return
        if self._rich:
            self._rich_table(columns, cells)
            return
        widths = [max(map(len, column)) for column in zip(columns, *cells, strict=True)]
        for row in (columns, *cells):
            padded = (text.ljust(width) for text, width in zip(row, widths, strict=True))
            sys.stdout.write("  ".join(padded).rstrip() + "\n")

    def _rich_table(self, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        from rich import box
        from rich.table import Table
        from rich.text import Text

        table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
        for name in columns:
            table.add_column(Text(name), overflow="fold")
        for row in rows:
            table.add_row(*(Text(cell) for cell in row))
        self._console().print(table)

    def _console(self) -> Any:
        from rich.console import Console

        return Console(no_color=self._no_color, highlight=False, markup=False, emoji=False)
