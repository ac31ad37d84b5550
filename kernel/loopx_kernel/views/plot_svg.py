"""A plot as inline SVG: axes, ticks, and a title and description for who cannot see it."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from loopx_kernel.text import safe
from loopx_kernel.views.document import Plot, Series

WIDTH, HEIGHT = 720, 240
_LEFT, _RIGHT, _TOP, _BOTTOM = 56, 12, 14, 44
_AREA_WIDTH = WIDTH - _LEFT - _RIGHT
_AREA_HEIGHT = HEIGHT - _TOP - _BOTTOM
_MOST_LABELS = 8
_TICKS = 4


def svg(plot: Plot, name: str) -> str:
    """The plot; ``name`` is unique on its page."""
    top = nice_top(max((max(series.values, default=0) for series in plot.series), default=0))
    title, told = (escape(safe(text)) for text in (f"{plot.title} ({plot.unit})", plot.told))
    parts = [
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-labelledby="{name}-t {name}-d">',
        f'<title id="{name}-t">{title}</title><desc id="{name}-d">{told}</desc>',
        *_axes(plot, top),
    ]
    for number, series in enumerate(plot.series):
        if plot.kind == "steps":
            parts += _steps(series, number, top)
    if plot.kind == "bars":
        drawn = [number for number, series in enumerate(plot.series) if any(series.values)]
        for place, number in enumerate(drawn):
            parts += _bars(plot.series[number], number, place, len(drawn), top)
    return "".join([*parts, "</svg>"])


def nice_top(most: int) -> int:
    """The end of an axis for numbers up to ``most``: at least four, in four even parts."""
    step, unit = 1, 1
    while step * _TICKS < most:
        step = {1: 2, 2: 5, 5: 10}[step // unit] * unit
        unit = unit * 10 if step == 10 * unit else unit
    return step * _TICKS


def _axes(plot: Plot, top: int) -> Iterator[str]:
    for tick in range(_TICKS + 1):
        value = top * tick // _TICKS
        y = _y(value, top)
        line = "axis" if tick == 0 else "grid"
        yield f'<line class="{line}" x1="{_LEFT}" x2="{WIDTH - _RIGHT}" y1="{_f(y)}" y2="{_f(y)}"/>'
        yield f'<text class="tick" x="{_LEFT - 8}" y="{_f(y + 4)}" text-anchor="end">{value}</text>'
    count = len(plot.labels)
    every = max(1, -(-count // _MOST_LABELS))
    for index in range(0, count, every):
        x = _LEFT + (index + 0.5) * _AREA_WIDTH / count
        label = escape(safe(plot.labels[index]))
        y = HEIGHT - _BOTTOM + 18
        yield f'<text class="tick" x="{_f(x)}" y="{y}" text-anchor="middle">{label}</text>'
    yield f'<line class="axis" x1="{_LEFT}" x2="{_LEFT}" y1="{_TOP}" y2="{HEIGHT - _BOTTOM}"/>'
    middle = _TOP + _AREA_HEIGHT / 2
    turned = f'transform="rotate(-90 14 {_f(middle)})"'
    unit = escape(safe(plot.unit))
    yield f'<text class="tick" x="14" y="{_f(middle)}" text-anchor="middle" {turned}>{unit}</text>'


def _bars(series: Series, number: int, place: int, of: int, top: int) -> Iterator[str]:
    """Bars side by side with those of the ``of`` rows of numbers that have any."""
    slot = _AREA_WIDTH / max(1, len(series.values))
    width = slot * 0.8 / of
    for index, value in enumerate(series.values):
        if value == 0:
            continue
        x = _LEFT + index * slot + slot * 0.1 + place * width
        y = _y(value, top)
        size = f'width="{_f(width)}" height="{_f(HEIGHT - _BOTTOM - y)}"'
        yield f'<rect class="s{number}" x="{_f(x)}" y="{_f(y)}" {size}/>'


def _steps(series: Series, number: int, top: int) -> Iterator[str]:
    slot = _AREA_WIDTH / max(1, len(series.values))
    path: list[str] = []
    for index, value in enumerate(series.values):
        x, y = _LEFT + index * slot, _f(_y(value, top))
        path.append(f"{'L' if path else 'M'}{_f(x)} {y}L{_f(x + slot)} {y}")
    line = "".join(path)
    if number == 0 and path:
        floor = _f(_y(0, top))
        end = _f(_LEFT + len(series.values) * slot)
        yield f'<path class="under" d="{line}L{end} {floor}L{_LEFT} {floor}Z"/>'
    yield f'<path class="l{number}" d="{line}"/>'


def _y(value: int, top: int) -> float:
    return HEIGHT - _BOTTOM - value * _AREA_HEIGHT / top


def _f(number: float) -> str:
    return f"{number:.1f}"
