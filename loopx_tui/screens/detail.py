"""Everything known about one object; it stays on its object and follows it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from loopx_tui import strings, strings_goal
from loopx_tui.commands import BY_ID, make_binding
from loopx_tui.presentation.cells import wrap
from loopx_tui.presentation.details import Detail, detail
from loopx_tui.presentation.facts import OWNERS, Facts, Subject
from loopx_tui.presentation.pen import Pen
from loopx_tui.presentation.scene import Scene
from loopx_tui.screens.following import Following

_LABEL, _SHORT_LABEL, _WIDE = 12, 8, 60
_KEYS = "dialog.close review.up review.down review.page-up review.page-down review.first"
_GAP = "  "


class DetailScreen(ModalScreen[None], Following):
    """A window with labelled lines, over the first screen.

    ``look_up`` says what else is known of the object; it is called in a thread of its own, when
    the window opens and when something about the object changed.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        make_binding(BY_ID[name]) for name in (*_KEYS.split(), "review.last")
    ]

    def __init__(
        self,
        subject: Subject,
        scene: Scene,
        make_pen: Callable[[], Pen],
        look_up: Callable[[Subject, Pen], Facts],
    ) -> None:
        super().__init__()
        self.subject = subject
        self._scene = scene
        self._make_pen = make_pen
        self._shown: Detail | None = None
        self._drawn: tuple[Detail, int] | None = None
        self._look_up = look_up
        self._more: Facts = []
        self._border = ("", "")
        self._text = Static(id="detail-text")
        self._box = VerticalScroll(self._text, id="detail")

    def compose(self) -> ComposeResult:
        yield self._box

    def on_resize(self) -> None:
        self.call_after_refresh(self._redraw)

    def _redraw(self) -> None:
        self.follow(self._scene)

    def follow(self, scene: Scene) -> None:
        """Draws the object as it is in ``scene``; one that is gone keeps its last picture."""
        # Of people only the names are in the scene, and a key can change without them.
        beyond = self.subject.kind == OWNERS and scene is not self._scene
        self._scene = scene
        found = detail(self.subject, scene, self._make_pen())
        gone = not found.facts and self._shown is not None and bool(self._shown.facts)
        if gone and self._shown is not None:
            found = self._shown
        elif found != self._shown or beyond:
            self._shown = found
            self._look_further()
        box = self._box
        told = strings.GONE if gone else strings_goal.AS_ONCE if scene.past else strings.DETAIL_KEYS
        if (found.title, told) != self._border:
            # Textual paints the whole window again for its border.
            self._border = found.title, told
            box.border_title = Content(f" {found.title} ")
            box.border_subtitle = Content(f" {told} ")
        box.set_class(gone or scene.past, "-gone")
        width = box.scrollable_content_region.width
        whole = found._replace(facts=(*found.facts, *self._more))
        if (whole, width) != self._drawn:
            self._drawn = whole, width
            self._text.update(render(whole, width))

    @work(exclusive=True, group="looking")
    async def _look_further(self) -> None:
        more = await asyncio.to_thread(self._look_up, self.subject, self._make_pen())
        if more != self._more and self.is_mounted:
            self._more = more
            self.follow(self._scene)

    def action_close(self) -> None:
        self.dismiss(None)

    def action_scroll_by(self, lines: int) -> None:
        self._box.scroll_relative(y=lines, animate=False)

    def action_scroll_pages(self, pages: int) -> None:
        self._box.scroll_relative(y=pages * max(self._box.size.height - 1, 1), animate=False)

    def action_scroll_top(self) -> None:
        self._box.scroll_home(animate=False)

    def action_scroll_bottom(self) -> None:
        self._box.scroll_end(animate=False)


def render(shown: Detail, width: int) -> Content:
    """The facts in ``width`` cells: labels in a column of their own, long texts wrapped."""
    column = _LABEL if width >= _WIDE else _SHORT_LABEL
    room = max(width - column - len(_GAP), 1)
    lines: list[Content] = []
    for fact in shown.facts:
        label = fact.label
        for text in fact.value.text.split("\n"):
            for part in wrap(text, room) or [""]:
                styled = Content.styled(part, f"${fact.value.style}")
                head = (f"{label[:column]:<{column}}{_GAP}", "$text-dim")
                lines.append(Content.assemble(head, styled))
                label = ""
    return Content("\n").join(lines)
