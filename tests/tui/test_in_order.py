"""Keys that come closely after one another act in their order, whatever takes them."""

from __future__ import annotations

import pytest
from textual import events
from textual.app import App, ComposeResult
from textual.widgets import Input, TextArea

from loopx_tui.widgets.in_order import LineInput, TextInput
from tests.tui.gates import until

KEYS = {"<": "backspace", "^": "home", "$": "end", "[": "left"}


class Typing(App[None]):
    """An app with one widget to type in."""

    def __init__(self, widget: Input | TextArea) -> None:
        super().__init__()
        self.widget = widget

    def compose(self) -> ComposeResult:
        yield self.widget

    def type(self, keys: str) -> None:
        """All of it before the app looks."""
        for key in keys:
            name = KEYS.get(key)
            self.post_message(events.Key(name or key, None if name else key))

    @property
    def text(self) -> str:
        widget = self.widget
        return widget.text if isinstance(widget, TextArea) else widget.value


@pytest.mark.parametrize("make", [LineInput, TextInput])
@pytest.mark.parametrize(
    ("keys", "text"),
    [("a<b", "b"), ("ab<c<d", "ad"), ("bc^a$d", "abcd"), ("ac[b", "abc"), ("<<a", "a")],
)
async def test_letters_and_keys_that_edit(
    make: type[LineInput | TextInput], keys: str, text: str
) -> None:
    app = Typing(make())
    async with app.run_test() as pilot:
        app.widget.focus()
        await until(pilot, lambda: app.widget.has_focus)
        app.type(f"{keys}!")
        await until(pilot, lambda: "!" in app.text)
        await pilot.pause()
        assert app.text.replace("!", "") == text


async def test_enter_submits_what_was_typed_before_it() -> None:
    said: list[str] = []

    class Asking(Typing):
        def on_input_submitted(self, event: Input.Submitted) -> None:
            said.append(event.value)

    app = Asking(LineInput())
    async with app.run_test() as pilot:
        app.widget.focus()
        await until(pilot, lambda: app.widget.has_focus)
        app.type("ab<")
        app.post_message(events.Key("enter", "\r"))
        app.type("c")
        await until(pilot, lambda: app.text == "ac" and bool(said))
        assert said == ["a"]
