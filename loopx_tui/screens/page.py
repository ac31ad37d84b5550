"""A page of text that knows when it was painted, left alone, and read to its end."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final, TypeVar

from loopx_kernel.text import safe
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.timer import Timer
from textual.widgets import Static

from loopx_tui import clipboard
from loopx_tui.commands import BY_ID, Command, shown_keys
from loopx_tui.key_guard import QUIET_SECONDS, KeyGuard
from loopx_tui.presentation.lines import Line
from loopx_tui.screens.dialog import as_content

T = TypeVar("T")

LAYOUT_SECONDS: Final = 0.02

SMALLEST: Final = (24, 3)
"""Columns and lines of text without which nobody can be said to have read anything."""


class Page(ModalScreen[T | None]):
    """A title, a scrolled text, a note, and the keys that work with why others do not.

    ``guard`` says which keys count: it begins anew whenever the text, the size
    or the focus of the terminal changes. Subclasses say in ``why_not`` why a
    command is greyed, and are told by ``on_disturbed`` and ``on_armed``.
    """

    DEFAULT_CSS = """
    Page {
        background: $background;
        layout: vertical;
        & > #page-title { height: 1; padding: 0 1; color: $accent; text-style: bold; }
        & > #page-scroll {
            height: 1fr;
            border: round $border-focus;
            padding: 0 1;
            scrollbar-size-vertical: 1;
            scrollbar-gutter: stable;
        }
        & > #page-note { height: auto; max-height: 4; padding: 0 1; color: $ask; }
        & > #page-keys { height: auto; min-height: 2; max-height: 4; padding: 0 1; }
    }
    """

    def __init__(self, title: str, now: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self.guard = KeyGuard(now)
        self.end_seen = False
        # Held, not looked up: late results may come when the page is being taken away.
        self._named = safe(title)
        self._title = Static(id="page-title")
        self._beside = ""
        self._body = Static(id="page-text")
        self._scroll = VerticalScroll(self._body, id="page-scroll", can_focus=False)
        self._note = Static(id="page-note")
        self._footer = Static(id="page-keys")
        self._text: list[Line] = []
        self._arming: Timer | None = None

    def why_not(self, command_id: str) -> str:
        """Why a command cannot be used now; empty if it can."""
        return ""

    def offers(self, command_id: str) -> bool:
        """Whether a command has a meaning here at all."""
        return True

    def title_of(self, command: Command) -> str:
        """What a command's key does here, in a word."""
        return command.title

    def on_disturbed(self) -> None:
        """What the screen shows is about to change."""

    def on_armed(self) -> None:
        """The screen was painted and left alone; keys count from now on."""

    def leave(self, result: T | None) -> None:
        """Closes the page; a second key that came before it was gone closes nothing else."""
        if self.is_current:
            self.dismiss(result)

    # The screen

    def compose(self) -> ComposeResult:
        yield from (self._title, self._scroll, self._note, self._footer)

    def on_mount(self) -> None:
        self._show_title()
        self.watch(self._scroll, "scroll_y", self._scrolled, init=False)
        # A text laid out anew may end on the screen without being scrolled.
        self.watch(self._scroll, "virtual_size", self._scrolled, init=False)
        self.watch(self.app, "app_focus", self.cover, init=False)

    def on_resize(self) -> None:
        self.cover()

    def on_screen_resume(self) -> None:
        self.cover()

    @property
    def too_small(self) -> bool:
        """Whether there is too little room to read."""
        size = self._scroll.scrollable_content_region.size
        return size.width < SMALLEST[0] or size.height < SMALLEST[1]

    def show(self, lines: list[Line]) -> None:
        """Replaces the text; an equal one changes nothing."""
        if lines == self._text:
            return
        self._text = lines
        self.end_seen = False
        self._body.update(as_content(lines))
        self.cover()

    def say(self, sentence: str) -> None:
        """Shows one sentence about what was just done."""
        self._note.update(Content(safe(sentence)))

    def say_beside_title(self, text: str) -> None:
        """Shows a few words beside the title; equal ones change nothing."""
        if text != self._beside:
            self._beside = text
            self._show_title()

    def _show_title(self) -> None:
        """What the person calls the workspace, the title, and what is said beside it."""
        flag = getattr(self.app, "flag", None)
        parts: list[str | tuple[str, str]] = [self._named]
        if flag is not None and flag.label:
            parts = [(f" {flag.label} ", "bold reverse $border-focus"), "  ", *parts]
        if self._beside:
            parts += ["   ", (self._beside, "$ask")]
        self._title.update(Content.assemble(*parts))

    def show_keys(self) -> None:
        """Shows the keys of the live keymap, greyed ones with their reasons."""
        keys: list[Content] = []
        reasons: dict[str, None] = {}
        for key, active in self.active_bindings.items():
            command = BY_ID.get(active.binding.id or "")
            if command is None or not command.footer or not self.offers(command.id):
                continue
            why_not = self.why_not(command.id)
            if why_not:
                reasons.setdefault(why_not)
            style = "$text-dim" if why_not else "bold $accent"
            keys.append(
                Content.assemble(
                    (shown_keys(key), style), (f" {self.title_of(command)}", "$text-dim")
                )
            )
        lines = [Content("   ").join(keys)]
        lines += [Content.styled(safe(reason), "$text-dim") for reason in reasons]
        self._footer.update(Content("\n").join(lines))

    # What was seen

    def cover(self, *_: object) -> None:
        """The screen is about to differ: keys count again only after it was painted."""
        self.guard.cover()
        self.on_disturbed()
        self.show_keys()
        self.call_after_refresh(self._painted)

    def _painted(self) -> None:
        if not self.too_small and not self._is_laid_out:
            self._next(LAYOUT_SECONDS, self._painted)
            return
        self.guard.painted()
        self._note_end()
        self._next(QUIET_SECONDS, self._arm)
        self.show_keys()

    def _next(self, seconds: float, step: Callable[[], None]) -> None:
        if self._arming is not None:
            self._arming.stop()
        self._arming = self.set_timer(seconds, step)

    def _arm(self) -> None:
        if self.guard.quiet:
            self._next(QUIET_SECONDS / 4, self._arm)
        else:
            self.on_armed()
            self.show_keys()

    def _scrolled(self, *_: object) -> None:
        self.call_after_refresh(self._note_end)

    def _note_end(self) -> None:
        scroll = self._scroll
        at_end = scroll.scroll_offset.y >= scroll.max_scroll_y and self._is_laid_out
        if self._text and at_end and not self.too_small and not self.end_seen:
            self.end_seen = True
            self.show_keys()

    @property
    def _is_laid_out(self) -> bool:
        """Whether the text has its place on the screen: a new one gets it some steps later."""
        body = self._body
        height = body.get_content_height(self._scroll.size, self.app.size, body.content_size.width)
        return body.content_size.height == height

    # Actions that decide nothing

    async def action_copy(self) -> None:
        text = "\n".join(line.text for line in self._text)
        self.say(await clipboard.copy(text, self.app.copy_to_clipboard))

    def action_scroll_by(self, lines: int) -> None:
        self._scroll.scroll_relative(y=lines, animate=False)

    def action_scroll_pages(self, pages: int) -> None:
        self._scroll.scroll_relative(y=pages * self._scroll.size.height, animate=False)

    def action_scroll_top(self) -> None:
        self._scroll.scroll_home(animate=False)

    def action_scroll_bottom(self) -> None:
        self._scroll.scroll_end(animate=False)
