"""Everything known about one object; it stays on its object and follows it."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from loopx_tui import strings
from loopx_tui.commands import BY_ID, make_binding
from loopx_tui.presentation.cells import wrap
from loopx_tui.presentation.details import Detail, Subject, detail
from loopx_tui.presentation.pen import Pen
from loopx_tui.presentation.scene import Scene

_LABEL, _SHORT_LABEL, _WIDE = 12, 8, 60
_KEYS = "dialog.close review.up review.down review.page-up review.page-down review.first"
_GAP = "  "


class DetailScreen(ModalScreen[None]):
    """A window with labelled lines, over the first screen."""

    BINDINGS: ClassVar[list[BindingType]] = [
        make_binding(BY_ID[name]) for name in (*_KEYS.split(), "review.last")
    ]

    def __init__(self, subject: Subject, scene: Scene, make_pen: Callable[[], Pen]) -> None:
        super().__init__()
        self.subject = subject
        self._scene = scene
        self._make_pen = make_pen
        self._shown: Detail | None = None
        self._drawn: tuple[Detail, int] | None = None

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="detail"):
            yield Static(id="detail-text")

    def on_resize(self) -> None:
        self.call_after_refresh(self._redraw)

    def _redraw(self) -> None:
        self.show(self._scene)

    def show(self, scene: Scene) -> None:
        """Draws the object as it is in ``scene``; one that is gone keeps its last picture."""
        self._scene = scene
        found = detail(self.subject, scene, self._make_pen())
        gone = not found.facts
        if gone and self._shown is not None:
            found = self._shown
        box = self._box
        box.border_title = Content(f" {found.title} ")
        box.border_subtitle = Content(f" {strings.GONE if gone else strings.DETAIL_KEYS} ")
        box.set_class(gone, "-gone")
        width = box.scrollable_content_region.width
        if (found, width) != self._drawn:
            self._shown, self._drawn = found, (found, width)
            self.query_one("#detail-text", Static).update(render(found, width))

    @property
    def _box(self) -> VerticalScroll:
        return self.query_one("#detail", VerticalScroll)

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
