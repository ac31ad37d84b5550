"""A document says the same in every form, and nothing in it is taken for markup or a command."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loopx_kernel.text import safe, safe_block
from loopx_kernel.views.columns import cells_of
from loopx_kernel.views.document import (
    Block,
    Document,
    Excerpt,
    Facts,
    Figures,
    Lines,
    Plot,
    Section,
    Series,
    Table,
    clip,
)
from loopx_kernel.views.envelope import Envelope, head_lines
from loopx_kernel.views.page_style import STYLE
from loopx_kernel.views.plot_svg import HEIGHT, nice_top, svg
from loopx_kernel.views.render_html import html_page, policy
from loopx_kernel.views.render_markdown import escaped, markdown
from loopx_kernel.views.render_plain import plain_text
from markdown_it import MarkdownIt

from tests.kernel.domain.build import dark_mode
from tests.kernel.views.told import HOSTILE, view_of

TEXTS = st.one_of(st.text(max_size=60), st.sampled_from(HOSTILE))


def envelope() -> Envelope:
    return view_of(dark_mode().state).envelope


def every_block(text: str) -> tuple[Block, ...]:
    series = (Series("booked", (1, 0, 7)), Series("given back", (0, 2, 0)))
    return (
        Lines((text, "plain words"), "alert"),
        Facts((("name", text), ("other", "value"))),
        Figures(((text, "3"), ("of", text))),
        Table(("one", "two"), ((text, "x"), ("y", text)), left_out=3),
        Excerpt(text, f"{text}\n{text}", "2 more lines"),
        Plot(text, "slots", (text, "b", "c"), series, text),
        Plot(text, "todos", ("a", text, "c"), series, text, "steps"),
    )


def page(text: str) -> Document:
    return Document(text, envelope(), (Section(text, every_block(text), basis=text),), text)


class Seen(HTMLParser):
    """Every element with its attributes, and the text a reader sees."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


ALLOWED = {
    *"html head meta link title style body header main section nav a h1 h2 div p".split(),
    *"ul li dl dt dd table thead tbody tr th td figure figcaption pre span".split(),
    *"svg desc line text rect path".split(),
}


def seen(text: str) -> Seen:
    parser = Seen()
    parser.feed(text)
    parser.close()
    return parser


def check_page(text: str) -> Seen:
    """No element but ours, nothing that loads, runs or leads elsewhere."""
    found = seen(text)
    for tag, attributes in found.elements:
        assert tag in ALLOWED, tag
        assert not [name for name in attributes if name.startswith("on") or name == "style"]
        assert "src" not in attributes
        if tag == "a":
            assert re.fullmatch(r"#s[0-9]+", attributes["href"] or "")
        if tag == "link":
            assert attributes == {"rel": "icon", "href": "data:,"}
    assert text.count("<style>") == text.count("</style>") == 1
    return found


@given(TEXTS)
def test_a_page_holds_nothing_but_our_own_elements_and_shows_the_text(text: str) -> None:
    found = check_page(html_page(page(text)))

    shown = "".join(found.texts)
    assert safe(text) in shown
    assert safe_block(text).strip("\n") in shown


def test_a_page_forbids_a_browser_everything_but_its_own_style() -> None:
    assert policy().startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in policy() and "http" not in policy()
    found = seen(html_page(page("x")))
    said = [a["content"] for tag, a in found.elements if a.get("http-equiv")]
    assert said == [policy()]
    assert "url(" not in STYLE and "@import" not in STYLE and "<" not in STYLE


@pytest.mark.parametrize("text", HOSTILE)
def test_the_envelope_comes_before_everything_else_in_every_form(text: str) -> None:
    document = page(text)
    first = head_lines(document.envelope)[0]

    assert plain_text(document).startswith(first + "\n")
    assert markdown(document).startswith("> " + escaped(first))
    body = html_page(document).partition("<body>")[2]
    assert body.index(first) < body.index("<h1>")


@given(TEXTS)
def test_lines_for_a_terminal_hold_nothing_that_steers_it(text: str) -> None:
    shown = plain_text(page(text))

    assert all(safe(line) == line for line in shown.replace(" ", "").split("\n"))
    assert safe(text) in shown


def test_columns_line_up_whatever_width_their_letters_have() -> None:
    rows = (("漢字", "a"), ("e\u0301", "b"), ("👩‍👩‍👧", "c"), ("plain", "d"))
    document = Document("t", envelope(), (Section("s", (Table(("x", "y"), rows),)),))
    lines = [
        line for line in plain_text(document).split("\n") if line[-2:] in (" a", " b", " c", " d")
    ]

    assert len({cells_of(line[:-1]) for line in lines}) == 1


@given(TEXTS)
def test_markdown_takes_nothing_of_a_text_for_markup(text: str) -> None:
    tokens = MarkdownIt("commonmark", {"html": True, "linkify": False}).parseInline(escaped(text))
    (inline,) = tokens
    children = inline.children or []

    assert {child.type for child in children} <= {"text", "text_special", "softbreak"}
    # Markdown drops what surrounds a line; nothing else may be lost.
    assert "".join(child.content for child in children).strip() == safe(text).strip()


@given(TEXTS)
def test_a_markdown_document_keeps_its_own_shape(text: str) -> None:
    parser = MarkdownIt("commonmark").enable("table")
    tokens = parser.parse(markdown(page(text)))

    headings = [t.tag for t in tokens if t.type == "heading_open"]
    assert headings == ["h1", "h2"]
    assert sum(t.type == "table_open" for t in tokens) == 3
    assert not [t for t in tokens if t.type in ("html_block", "hr", "ordered_list_open")]
    cells = [t for t in tokens if t.type == "td_open"]
    assert len(cells) == 4 + 2 * 3 * 3
    (fence,) = [t for t in tokens if t.type == "fence"]
    assert fence.content.rstrip("\n") == "\n".join(
        safe_block(f"{text}\n{text}").splitlines()
    ).rstrip("\n")
    inline = [c.type for t in tokens for c in t.children or []]
    assert set(inline) <= {"text", "text_special", "softbreak", "strong_open", "strong_close"}


def test_addresses_become_no_links_where_bare_ones_would() -> None:
    shown = escaped("https://evil.example www.evil.example me@evil.example")

    assert "://" not in shown and "www." not in shown and "me@" not in shown


@given(st.integers(0, 10**9))
def test_an_axis_ends_at_a_number_people_read(most: int) -> None:
    top = nice_top(most)

    assert top >= max(4, most)
    assert top % 4 == 0
    assert top < max(5, 2.6 * most)
    assert str(top // 4).rstrip("0") in ("1", "2", "5")


@given(st.lists(st.integers(0, 1000), min_size=1, max_size=42))
def test_a_bar_is_as_high_as_its_number(values: list[int]) -> None:
    labels = tuple(map(str, range(len(values))))
    drawn = ET.fromstring(svg(Plot("t", "u", labels, (Series("s", tuple(values)),), "told"), "p1"))
    bars = drawn.findall("rect")

    assert len(bars) == sum(value > 0 for value in values)
    scale = (HEIGHT - 14 - 44) / nice_top(max(values))
    for bar, value in zip(bars, (v for v in values if v), strict=True):
        assert abs(float(bar.attrib["height"]) - value * scale) <= 0.11
    assert [child.text for child in drawn if child.tag in ("title", "desc")] == ["t (u)", "told"]
    assert drawn.attrib["role"] == "img"


def test_a_long_text_is_cut_and_says_so() -> None:
    assert clip("x" * 500) == "x" * 500
    assert clip("x" * 1_000_000) == "x" * 500 + "… (999500 more characters)"
