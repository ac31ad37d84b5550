"""Which workspace to open in place of this one: those a person knows, or any path."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from loopx_kernel.text import safe
from textual import events
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input, OptionList
from textual.widgets.option_list import Option

from loopx_tui import first_words as words
from loopx_tui.screens.dialog import Dialog
from loopx_tui.widgets.in_order import LineInput

_PATH_BEGINS = ("/", "~", ".")


class Known(NamedTuple):
    """A workspace on the person's list: what they call it, and what is to be said of it."""

    path: Path
    label: str = ""
    note: str = ""


class PlacesScreen(Dialog[Path]):
    """A list with a filter; its result is the folder to open."""

    DEFAULT_CSS = """
    PlacesScreen {
        & OptionList { height: auto; max-height: 16; border: none; background: $background; }
        & #dialog-text { display: none; }
    }
    """

    def __init__(self, known: Sequence[Known]) -> None:
        super().__init__(words.PLACES, hint=words.PLACES_HINT)
        self._known = known
        self._field = LineInput()
        self._options = OptionList()

    def compose_body(self) -> Iterable[Widget]:
        yield self._field
        yield self._options

    def on_mount(self) -> None:
        self._filter("")

    def on_input_changed(self, event: Input.Changed) -> None:
        self._filter(event.value)

    def _filter(self, needle: str) -> None:
        wanted = needle.strip().casefold()
        found = [one for one in self._known if wanted in f"{one.label} {one.path}".casefold()]
        self._options.clear_options()
        self._options.add_options(Option(_row(one), id=str(one.path)) for one in found)
        self._options.highlighted = 0 if found else None
        self.say("" if self._known else words.NO_PLACES)

    def on_key(self, event: events.Key) -> None:
        if event.key == "down" and self._field.has_focus:
            event.stop()
            self._options.focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        typed = event.value.strip()
        path = Path(os.path.expanduser(typed))  # noqa: PTH111 - never raises
        if typed.startswith(_PATH_BEGINS) and path.is_dir():
            self.leave(path.absolute())
        elif self._options.option_count:
            self._options.action_select()
        elif typed:
            self.say(words.NOT_A_FOLDER.format(path=typed))

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.leave(Path(event.option_id or ""))


def _row(known: Known) -> Content:
    return Content.assemble(
        (f"{known.label}  " if known.label else "", "bold $accent"),
        safe(str(known.path)),
        (f"  {known.note}" if known.note else "", "$text-dim"),
    )


def places(here: Path) -> list[Known]:
    """The person's list, for worker threads; raises ``LoopxError`` where it cannot be read."""
    from loopx_kernel.workspace.listed import listed

    from loopx_tui.flags import read_flag

    found = []
    for path in listed():
        gone = words.GONE if not (path / ".loopx").is_dir() else ""
        note = words.HERE if path == here.resolve() else gone
        found.append(Known(path, read_flag(path)[0].label, note))
    return found
