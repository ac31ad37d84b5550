"""A document as one self-contained page: no script, nothing loaded, everything escaped."""

from __future__ import annotations

import hashlib
import re
from base64 import b64encode
from collections.abc import Iterator, Sequence
from html import escape

from loopx_kernel.text import safe, safe_block
from loopx_kernel.views.document import Block, Document, Excerpt, Facts, Figures, Lines, Plot, Table
from loopx_kernel.views.envelope import head_lines
from loopx_kernel.views.page_style import STYLE
from loopx_kernel.views.plot_svg import svg

_DIGEST = re.compile(r"[0-9a-f]{64}|(?:holds, )?SHA256:\S{43}")
_SHORT = len("2026-09-16T22:40:00Z")
_NAME = len("claude-code")


def html_page(document: Document) -> str:
    """The page, which a browser opens from a file and prints."""
    return "".join(f"{part}\n" for part in _page(document))


def policy() -> str:
    """What the page itself lets a browser do: use its own style, and nothing else."""
    digest = b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
    return (
        f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'; "
        "img-src data:"
    )


def _text(text: str) -> str:
    return escape(safe(text), quote=True)


def _page(document: Document) -> Iterator[str]:
    yield "<!doctype html>"
    yield '<html lang="en"><head><meta charset="utf-8">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{escape(policy())}">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield '<meta name="referrer" content="no-referrer">'
    yield '<meta name="color-scheme" content="light dark">'
    # Without an icon of its own a browser asks the server for one.
    yield '<link rel="icon" href="data:,">'
    yield f"<title>{_text(document.title)}</title><style>{STYLE}</style></head><body>"
    yield '<header><div class="envelope" role="status">'
    for line in head_lines(document.envelope):
        kind = ' class="alert"' if line.startswith("alerts:") else ""
        yield f"<p{kind}>{_text(line)}</p>"
    yield f"</div><h1>{_text(document.title)}</h1>"
    if document.subtitle:
        yield f'<p class="subtitle">{_text(document.subtitle)}</p>'
    yield "<nav>" + _links(document) + "</nav></header><main>"
    plots = 0
    for number, section in enumerate(document.sections, 1):
        yield f'<section id="s{number}"><h2>{_text(section.title)}</h2>'
        if section.basis:
            yield f'<p class="basis">Basis: {_text(section.basis)}</p>'
        for block in section.blocks:
            plots += 1
            yield from _block(block, f"p{plots}")
        yield "</section>"
    yield "</main></body></html>"


def _links(document: Document) -> str:
    titles = (section.title for section in document.sections)
    return "".join(f'<a href="#s{n}">{_text(title)}</a>' for n, title in enumerate(titles, 1))


def _block(block: Block, name: str) -> Iterator[str]:
    match block:
        case Lines((text,), style):
            yield f'<p class="{style}">{_text(text)}</p>'
        case Lines(items, style):
            yield f'<ul class="{style}">'
            yield from (f"<li>{_text(text)}</li>" for text in items)
            yield "</ul>"
        case Facts(pairs):
            yield "<dl>"
            yield from (f"<dt>{_text(key)}</dt><dd>{_text(value)}</dd>" for key, value in pairs)
            yield "</dl>"
        case Figures(pairs):
            yield '<dl class="figures">'
            for key, value in pairs:
                yield f"<div><dt>{_text(key)}</dt><dd>{_text(value)}</dd></div>"
            yield "</dl>"
        case Table():
            yield from _table(block)
        case Excerpt(title, text, left_out):
            shown = escape(safe_block(text), quote=True)
            yield f"<figure><figcaption>{_text(title)}</figcaption><pre>{shown}</pre>"
            yield f'<p class="basis">{_text(left_out)}</p></figure>' if left_out else "</figure>"
        case Plot():
            yield from _plot(block, name)


def _plot(plot: Plot, name: str) -> Iterator[str]:
    yield f"<figure>{svg(plot, name)}<figcaption>"
    for number, series in enumerate(plot.series):
        yield f'<span class="key k{number}"></span>{_text(series.name)} '
    yield f"<span>{_text(plot.title)}: {_text(plot.told)}</span></figcaption></figure>"


def _table(block: Table) -> Iterator[str]:
    if block.left_out:
        yield f'<p class="basis">{block.left_out} more rows are counted and not shown.</p>'
    if not block.rows:
        yield '<p class="none">none</p>'
        return
    yield '<div class="wide"><table><thead>' + _row(block.columns, "th") + "</thead><tbody>"
    yield from (_row(row, "td") for row in block.rows)
    yield "</tbody></table></div>"


def _row(cells: Sequence[str], tag: str) -> str:
    return "<tr>" + "".join(_cell(cell, tag) for cell in cells) + "</tr>"


def _cell(cell: str, tag: str) -> str:
    """What is short stays in one piece, what is long breaks anywhere: nothing runs off a page."""
    kind = ' class="short"' if len(cell) <= _SHORT else ""
    if len(cell) <= _NAME:
        kind = ' class="short name"'
    if _DIGEST.fullmatch(cell):
        kind = ' class="digest"'
    return f"<{tag}{kind}>{_text(cell)}</{tag}>"
