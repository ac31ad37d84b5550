"""A document as Markdown: tables, and nothing of what it quotes taken for markup."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from loopx_kernel.text import safe, safe_block
from loopx_kernel.views.document import Block, Document, Excerpt, Facts, Figures, Lines, Plot, Table
from loopx_kernel.views.envelope import head_lines

_MARKUP = re.compile(r"[\\`*_\[\]#|~$]|^\s*[-+=]")
_ENTITIES = str.maketrans({"<": "&lt;", ">": "&gt;", "&": "&amp;"})
_AUTOLINK = re.compile(r"(?<=\w)(:)(?=//)|(?<=www)(\.)|(?<=\w)(@)(?=\w)", re.I)
_NUMBERED = re.compile(r"^(\s*\d+)([.)])")
_FENCE = re.compile(r"`+")


def markdown(document: Document) -> str:
    """The whole document, with a newline at its end."""
    return "\n".join(_lines(document)) + "\n"


def escaped(text: str) -> str:
    """One line of text from elsewhere, shown literally wherever it stands in Markdown."""
    text = _NUMBERED.sub(r"\1\\\2", _MARKUP.sub(_behind_a_backslash, safe(text)))
    # Entities hold where a renderer takes HTML before it looks at backslashes.
    text = text.translate(_ENTITIES)
    # A word joiner would hide; an entity keeps an address from becoming a link.
    return _AUTOLINK.sub(lambda found: f"&#{ord(found[0])};", text)


def _behind_a_backslash(found: re.Match[str]) -> str:
    return f"{found[0][:-1]}\\{found[0][-1]}"


def _strong(text: str) -> str:
    # A mark beside a space, or around nothing, would be shown as it stands.
    inside = escaped(text).strip()
    return f"**{inside}**" if inside else ""


def _lines(document: Document) -> Iterator[str]:
    for number, line in enumerate(head_lines(document.envelope)):
        if number:
            yield ">"
        yield f"> {_strong(line)}" if line.startswith("alerts:") else f"> {escaped(line)}"
    yield ""
    yield f"# {escaped(document.title)}"
    yield ""
    if document.subtitle:
        yield escaped(document.subtitle)
        yield ""
    for section in document.sections:
        yield f"## {escaped(section.title)}"
        yield ""
        if section.basis:
            yield f"Basis: {escaped(section.basis)}"
            yield ""
        for block in section.blocks:
            yield from _block(block)
            yield ""


def _block(block: Block) -> Iterator[str]:
    match block:
        case Lines(items, style):
            strong = style in ("alert", "ask")
            yield from (f"- {_strong(text) if strong else escaped(text)}" for text in items)
        case Facts(pairs) | Figures(pairs):
            yield from (f"- {escaped(name)}: {escaped(value)}" for name, value in pairs)
        case Table():
            yield from _table(block)
        case Excerpt(title, text, left_out):
            yield from _excerpt(title, text, left_out)
        case Plot():
            yield f"{_strong(plot_title(block))} {escaped(block.told)}"
            yield ""
            columns = ("from", *(series.name for series in block.series))
            values = zip(block.labels, *(series.values for series in block.series), strict=True)
            yield from _table(Table(columns, tuple(tuple(map(str, row)) for row in values)))


def plot_title(plot: Plot) -> str:
    """A plot's title with its unit."""
    return f"{plot.title} ({plot.unit})."


def _table(block: Table) -> Iterator[str]:
    if block.left_out:
        yield f"{block.left_out} more rows are counted and not shown."
        yield ""
    if not block.rows:
        yield "none"
        return
    yield _row(block.columns)
    yield _row(["---"] * len(block.columns), raw=True)
    yield from (_row(row) for row in block.rows)


def _row(cells: Sequence[str], *, raw: bool = False) -> str:
    return f"| {' | '.join(cells if raw else map(escaped, cells))} |"


def _excerpt(title: str, text: str, left_out: str) -> Iterator[str]:
    shown = safe_block(text)
    fence = "`" * max(3, *(len(run) + 1 for run in _FENCE.findall(shown) or [""]))
    yield escaped(title)
    yield ""
    yield f"{fence}text"
    yield from shown.splitlines()
    yield fence
    if left_out:
        yield ""
        yield escaped(left_out)
