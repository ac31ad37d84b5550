"""What the demo's workers do: an endless list of small, real changes for each goal."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from decimal import ROUND_HALF_UP, Decimal
from textwrap import dedent
from typing import Literal

Twist = Literal["plain", "fails", "gate", "ci", "dies", "later", "stuck"]
REROUTED = ", another way"
"""How the title of what takes the place of a stuck job ends."""


@dataclass(frozen=True, slots=True)
class Action:
    """Something only the owner may allow. Exactly one of command and path is set."""

    kind: str
    question: str
    command: str = ""
    path: str = ""
    content: str = ""
    irreversible: bool = False


@dataclass(frozen=True, slots=True)
class Job:
    """One todo: the files to write, the test that proves it, and what happens on the way.

    ``draft`` are files of a first try that its test refuses. Paths are relative to the repo.
    """

    title: str
    files: Mapping[str, str]
    test: str
    summary: str
    twist: Twist = "plain"
    draft: Mapping[str, str] | None = None
    action: Action | None = None
    priority: str = "P2"

    @property
    def scope(self) -> tuple[str, ...]:
        """The paths the job writes."""
        return tuple(self.files)


GOALS = ("dark-mode", "fix-checkout", "docs-refresh")
TESTS = {"dark-mode": "tests/theme", "fix-checkout": "tests/checkout", "docs-refresh": "tests/docs"}
"""Where in the repo the tests of each goal are."""

_TWISTS: Mapping[str, tuple[Twist, ...]] = {
    "dark-mode": ("fails", "gate", "plain", "dies", "ci", "fails", "plain", "later"),
    "fix-checkout": ("gate", "fails", "ci", "plain", "fails"),
    "docs-refresh": ("plain", "stuck", "gate", "ci", "fails", "later"),
}


def job(goal: str, number: int, *, asks: bool = True) -> Job:
    """The goal's job ``number``, from 0. With ``asks=False`` it needs no approval."""
    twists = _TWISTS[goal]
    made = _MAKERS[goal](number)
    twist = twists[number % len(twists)]
    if twist == "gate" and not asks:
        twist = "plain"
    return replace(
        made,
        title=f"{made.title}{_SUFFIX[goal]}" if twist == "gate" else made.title,
        twist=twist,
        draft=made.draft if twist == "fails" else None,
        action=made.action if twist == "gate" else None,
        priority="P1" if twist in ("gate", "stuck") else "P2",
    )


def find(goal: str, title: str, below: int) -> Job | None:
    """The job with this title among the first ``below``; None if a person added the todo."""
    if title.endswith(REROUTED):
        old = find(goal, title.removesuffix(REROUTED), below)
        return old and replace(old, title=title, twist="plain")
    for number in range(below):
        for asks in (True, False):
            candidate = job(goal, number, asks=asks)
            if candidate.title == title:
                return candidate
    return None


_SUFFIX = {
    "dark-mode": ", publish it",
    "fix-checkout": ", set its limit",
    "docs-refresh": ", drop the old one",
}


# -- dark-mode: components in two colour sets, held to a real contrast rule ---------------------

_COMPONENTS = "button card navbar footer badge dialog price searchbox cart banner".split()
_PALETTES = (
    ("dusk", "#e6edf3", "#10141a"),
    ("midnight", "#dbe4ff", "#0b1020"),
    ("ink", "#f2f2f0", "#16161a"),
    ("forest", "#e3f2e6", "#0e1a13"),
)
_COMPONENT = '''\
"""Colours of the {name}: {palette}."""

from mall.theme.contrast import Pair

LIGHT = Pair(text="#1f2328", ground="#ffffff")
DARK = Pair(text="{text}", ground="{ground}")
'''
_COMPONENT_TEST = """\
from mall.theme import {name}
from mall.theme.contrast import luminance


def test_light_text_is_readable():
    assert {name}.LIGHT.contrast >= 4.5


def test_dark_text_is_readable():
    assert {name}.DARK.contrast >= 4.5


def test_dark_ground_is_dark():
    assert luminance({name}.DARK.ground) < 0.05
"""


def _dark_mode(number: int) -> Job:
    name = _COMPONENTS[number % len(_COMPONENTS)]
    lap = number // len(_COMPONENTS)
    palette, text, ground = _PALETTES[lap % len(_PALETTES)]
    source, test = f"mall/theme/{name}.py", f"tests/theme/test_{name}.py"
    good = _COMPONENT.format(name=name, palette=palette, text=text, ground=ground)
    bad = _COMPONENT.format(name=name, palette=palette, text="#4b5563", ground=ground)
    branch = f"dark-mode-{number + 1}"
    return Job(
        title=f"{name.capitalize()} in the {palette} palette{_lap(lap // len(_PALETTES))}",
        files={source: good, test: _COMPONENT_TEST.format(name=name)},
        draft={source: bad, test: _COMPONENT_TEST.format(name=name)},
        test=test,
        summary=f"{name}: {palette} palette, contrast checked",
        action=Action(
            kind="publish",
            command=f"git push origin {branch}",
            question=f"Publish the {palette} {name}?",
        ),
    )


# -- fix-checkout: totals that round as each currency does --------------------------------------

_CURRENCIES = (
    ("jpy", "1"),
    ("chf", "0.05"),
    ("kwd", "0.001"),
    ("eur", "0.01"),
    ("sek", "1"),
    ("clp", "1"),
    ("usd", "0.01"),
)
_CURRENCY = '''\
"""Smallest step of a {code} total."""

from decimal import Decimal

STEP = Decimal("{step}")
'''
_CURRENCY_TEST = """\
from decimal import Decimal

from mall.checkout import {code}
from mall.checkout.totals import round_total


def test_total_of_{items}_items_in_{code}():
    prices = [Decimal("{price}")] * {items}
    assert round_total(sum(prices), {code}.STEP) == Decimal("{total}")


def test_the_smallest_amount_survives():
    assert round_total(Decimal("{step}"), {code}.STEP) == Decimal("{step}")
"""


def _fix_checkout(number: int) -> Job:
    code, step = _CURRENCIES[number % len(_CURRENCIES)]
    items = 3 + number // len(_CURRENCIES)
    price = Decimal("19.987")
    total = (price * items / Decimal(step)).quantize(Decimal(1), ROUND_HALF_UP) * Decimal(step)
    source, test = f"mall/checkout/{code}.py", f"tests/checkout/test_{code}.py"
    proof = _CURRENCY_TEST.format(code=code, step=step, items=items, price=price, total=total)
    coarse = Decimal(step) * 100
    return Job(
        title=f"{code.upper()}: round a basket of {items} items",
        files={source: _CURRENCY.format(code=code, step=step), test: proof},
        draft={source: _CURRENCY.format(code=code, step=coarse), test: proof},
        test=test,
        summary=f"{code.upper()} totals round in steps of {step}",
        action=Action(
            kind="write",
            path=f"infra/limits/{code}-{items}.toml",
            content=f'currency = "{code}"\nlargest_basket = {items}\n',
            question=f"Set the {code.upper()} limit to {items}?",
        ),
    )


# -- docs-refresh: pages whose links are followed -----------------------------------------------

_PAGES = "themes checkout install contribute accessibility".split()
_PAGE = dedent("""\
    # {title}

    Edition {edition}. Back to the [start page]({start}).

    Read on: [{next_title}]({next}.md).
    """)
_PAGE_TEST = """\
import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "{page}.md"


def test_every_link_leads_somewhere():
    targets = re.findall(r"\\]\\(([^)]+)\\)", PAGE.read_text())
    missing = [target for target in targets if not (PAGE.parent / target).exists()]
    assert missing == []


def test_this_is_edition_{edition}():
    assert "Edition {edition}." in PAGE.read_text()
"""


def first_pages() -> dict[str, str]:
    """The docs as they are before the demo: edition 1 of every page."""
    return {f"docs/{page}.md": _page(page, 1) for page in _PAGES}


def _page(page: str, edition: int, *, start: str = "index.md") -> str:
    following = _PAGES[(_PAGES.index(page) + 1) % len(_PAGES)]
    return _PAGE.format(
        title=page.capitalize(),
        edition=edition,
        start=start,
        next=following,
        next_title=following.capitalize(),
    )


def _docs_refresh(number: int) -> Job:
    page = _PAGES[number % len(_PAGES)]
    edition = 2 + number // len(_PAGES)
    archived = f"docs/archive/{page}-{edition - 1}.md"

    source, test = f"docs/{page}.md", f"tests/docs/test_{page}.py"
    proof = _PAGE_TEST.format(page=page, edition=edition)
    old = _page(page, edition - 1)
    return Job(
        title=f"{page.capitalize()} page, edition {edition}",
        files={source: _page(page, edition), archived: old, test: proof},
        draft={source: _page(page, edition, start="home.md"), archived: old, test: proof},
        test=test,
        summary=f"docs/{page}.md is at edition {edition}, links followed",
        action=Action(
            kind="delete",
            path=archived,
            question=f"Delete {page}-{edition - 1}.md? No page links to it.",
            irreversible=True,
        ),
    )


def _lap(lap: int) -> str:
    return f", pass {lap + 1}" if lap else ""


_MAKERS: Mapping[str, Callable[[int], Job]] = {
    "dark-mode": _dark_mode,
    "fix-checkout": _fix_checkout,
    "docs-refresh": _docs_refresh,
}
