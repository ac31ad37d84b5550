"""One line made of cells, of which only what differs is drawn again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.color import Color, ColorParseError
from textual.geometry import Region
from textual.strip import Strip

from loopx_tui.panes.steady import Steady
from loopx_tui.presentation.cells import BADGE, Cell, fit, one_line


class Line(Steady):
    """Draws ``runs(width)``, which a subclass gives, as plain segments, never as markup.

    Style names are looked up among the theme's variables.
    """

    DEFAULT_CSS = """
    Line { height: 1; }
    """

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._drawn: tuple[Cell, ...] = ()
        self._colours: dict[str, Style] = {}

    def runs(self, width: int) -> Iterable[Cell]:
        """The line as cells without gaps, at most ``width`` terminal cells in all."""
        raise NotImplementedError

    def redraw(self) -> None:
        """Marks dirty what differs from what is on the screen."""
        width = self.size.width
        if not width:
            return
        new = self._laid_out(width)
        if new != self._drawn:
            left, right = _difference(self._drawn, new)
            self._drawn = new
            self.refresh(Region(left, 0, max(width - left - right, 0), 1))

    def on_resize(self) -> None:
        self._drawn = self._laid_out(self.size.width)

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._colours.clear()

    def render_line(self, y: int) -> Strip:
        """The line itself, whatever ``y``."""
        if length(self._drawn) != self.size.width:
            self._drawn = self._laid_out(self.size.width)
        ground = self.rich_style
        segments = [Segment(cell.text, ground + self._colour(cell.style)) for cell in self._drawn]
        return Strip(segments).extend_cell_length(self.size.width, ground)

    def _laid_out(self, width: int) -> tuple[Cell, ...]:
        return clip([Cell(one_line(run.text), run.style) for run in self.runs(width)], width)

    def _colour(self, name: str) -> Style:
        if name not in self._colours:
            try:
                colour = Color.parse(self.app.theme_variables[name.lstrip(BADGE)]).rich_color
                badge = name.startswith(BADGE)
                self._colours[name] = Style(color=colour, reverse=badge or None, bold=badge or None)
            except (KeyError, ColorParseError):
                self._colours[name] = Style()
        return self._colours[name]


def clip(runs: Sequence[Cell], width: int) -> tuple[Cell, ...]:
    """As much of ``runs`` as fits in ``width`` terminal cells."""
    kept: list[Cell] = []
    for run in runs:
        text = run.text if cell_len(run.text) <= width else fit(run.text, width)
        width -= cell_len(text)
        kept.append(Cell(text, run.style))
    return tuple(kept)


def spaced(cells: Sequence[Cell], gap: int) -> list[Cell]:
    """``cells`` with ``gap`` spaces between them."""
    runs: list[Cell] = []
    for cell in cells:
        if runs:
            runs.append(Cell(" " * gap))
        runs.append(cell)
    return runs


def length(runs: Iterable[Cell]) -> int:
    """How many terminal cells the runs take."""
    return sum(cell_len(run.text) for run in runs)


def _difference(old: Sequence[Cell], new: Sequence[Cell]) -> tuple[int, int]:
    """Terminal cells at the left and at the right that two lines share."""
    if length(old) != length(new):
        return _shared(old, new), 0
    left = _shared(old, new)
    return left, min(_shared(old[::-1], new[::-1]), length(new) - left)


def _shared(old: Sequence[Cell], new: Sequence[Cell]) -> int:
    cells = 0
    for before, after in zip(old, new, strict=False):
        if before != after:
            break
        cells += cell_len(after.text)
    return cells
