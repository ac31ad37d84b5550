"""Text that is edited in the order of the keys, however quickly they come.

Textual puts a letter in at once, and takes a key that edits up to the app and back first: a
letter typed right after it would be overtaken, and a backspace take the wrong one away.
"""

from __future__ import annotations

from textual import events
from textual.widget import Widget
from textual.widgets import Input, TextArea


class LineInput(Input):
    """One line to type in; its cursor stands still, for a quiet screen."""

    def on_mount(self) -> None:
        self.cursor_blink = False

    async def _on_key(self, event: events.Key) -> None:
        await _act(self, event)


class TextInput(TextArea):
    """Several lines to type in; its cursor stands still."""

    def on_mount(self) -> None:
        self.cursor_blink = False

    async def _on_key(self, event: events.Key) -> None:
        await _act(self, event)


async def _act(widget: Widget, event: events.Key) -> None:
    """Does what a key that is no letter means to the widget itself."""
    if event.is_printable:
        return
    # Textual has no public way to ask for a widget's keys as the person set them.
    chain = widget.screen._binding_chain
    own = next((bindings for node, bindings in chain if node is widget), None)
    for binding in own.key_to_bindings.get(event.key, ()) if own else ():
        if not binding.priority and await widget.app.run_action(binding.action, widget):
            event.stop()
            event.prevent_default()
            return
