"""Themes: readable on every ground, for every eye, and never the reason for a crash."""

from __future__ import annotations

import itertools
import math
from pathlib import Path
from typing import Any

import pytest
from rich.color import Color as RichColor
from rich.color import ColorSystem
from rich.style import Style
from textual.app import App, ComposeResult
from textual.color import Color

from loopx_tui.presentation.cells import Cell, Row
from loopx_tui.presentation.columns import Column
from loopx_tui.presentation.glyphs import GLYPHS
from loopx_tui.theme_files import available, choose, folders
from loopx_tui.themes import ANSI_COLOURS, DEFAULT, Theme, nearest_of_sixteen, suggested, to_textual
from loopx_tui.widgets.rows import Rows

SHIPPED = available(folders()[1:]).themes
NAMES = ("dark", "light", "high-contrast", "colour-blind", "sixteen")
GROUNDS = ("background", "surface")
NOT_TEXT = {*GROUNDS, "border"}
# Red against green, as protanopes and deuteranopes see it: rows of a linear RGB matrix.
BLINDNESS = {
    "protan": ((0.152, 1.053, -0.205), (0.115, 0.786, 0.099), (-0.004, -0.048, 1.052)),
    "deutan": ((0.367, 0.861, -0.228), (0.280, 0.673, 0.047), (-0.012, 0.043, 0.969)),
}
ODD_FILES = {
    "empty": b"",
    "a list": b"- a\n",
    "unclosed": b"a: [",
    "not UTF-8": b"\xff\xfe",
    "deep": b"a: " + b"[" * 2000,
    "huge": b"#" * 70_000,
    "numbers": b"1: 2\n",
    "NUL": b"\0",
}
OPPOSITES = (("run", "alert"), ("fresh", "stale"), ("verified", "forged"), ("run", "repair"))


def linear(colour: str) -> tuple[float, ...]:
    value = ANSI_COLOURS.get(colour, colour)
    parts = (int(value[at : at + 2], 16) / 255 for at in (1, 3, 5))
    return tuple(one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in parts)


def luminance(colour: str) -> float:
    red, green, blue = linear(colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def texts(theme: Theme) -> dict[str, str]:
    return {name: value for name, value in theme.colours.items() if name not in NOT_TEXT}


def test_these_themes_are_shipped() -> None:
    assert set(SHIPPED) == set(NAMES)
    assert available(folders()[1:]).notices == []


def test_the_default_theme_is_the_shipped_file() -> None:
    path = folders()[1] / "dark.yaml"
    assert choose("dark", [path.parent]).theme == DEFAULT


@pytest.mark.parametrize("name", NAMES)
def test_every_text_is_readable_on_every_ground(name: str) -> None:
    theme = SHIPPED[name]
    least = 7.0 if name == "high-contrast" else 4.5
    poor = {
        f"{text} on {ground}": round(contrast(value, theme.colours[ground]), 2)
        for text, value in texts(theme).items()
        for ground in GROUNDS
        if contrast(value, theme.colours[ground]) < least
    }
    assert poor == {}


@pytest.mark.parametrize("name", [name for name in NAMES if name != "sixteen"])
def test_text_stays_readable_with_256_colours(name: str) -> None:
    theme = SHIPPED[name]

    def reduced(value: str) -> str:
        colour = RichColor.parse(value).downgrade(ColorSystem.EIGHT_BIT)
        return str(colour.get_truecolor().hex)

    poor = {
        f"{text} on {ground}"
        for text, value in texts(theme).items()
        for ground in GROUNDS
        if contrast(reduced(value), reduced(theme.colours[ground])) < 4.5
    }
    assert poor == set()


@pytest.mark.parametrize("in_colour", [True, False])
@pytest.mark.parametrize("name", NAMES)
def test_text_stays_readable_where_a_terminal_has_sixteen_colours(
    name: str, in_colour: bool
) -> None:
    dress = to_textual(SHIPPED[name], in_colour=in_colour, sixteen=True).variables
    poor = {
        f"{text} on {ground}"
        for text in texts(SHIPPED[name])
        for ground in GROUNDS
        if contrast(nearest_of_sixteen(dress[text]), nearest_of_sixteen(dress[ground])) < 4.5
    }
    assert poor == set()


@pytest.mark.parametrize("name", NAMES)
def test_grounds_are_as_dark_as_the_theme_says(name: str) -> None:
    theme = SHIPPED[name]
    assert all((luminance(theme.colours[one]) < 0.2) == theme.dark for one in GROUNDS)


@pytest.mark.parametrize("name", NAMES)
def test_states_stay_apart_in_greyscale_by_light_or_by_glyph(name: str) -> None:
    colours = SHIPPED[name].colours
    states = [state for state in colours if state in GLYPHS]
    same = [
        (one, other)
        for one, other in itertools.combinations(states, 2)
        if GLYPHS[one] == GLYPHS[other] and contrast(colours[one], colours[other]) < 1.05
    ]
    # Both are drawn with a word beside them, and mean the same thing: all is well here.
    assert set(same) <= {("closed", "verified")}


@pytest.mark.parametrize("kind", BLINDNESS)
def test_opposites_stay_apart_for_red_green_blindness(kind: str) -> None:
    colours = SHIPPED["colour-blind"].colours

    def seen(name: str) -> tuple[float, ...]:
        values = linear(colours[name])
        mixed = (sum(a * b for a, b in zip(row, values, strict=True)) for row in BLINDNESS[kind])
        return tuple(max(one, 0.0) ** (1 / 2.2) for one in mixed)

    def distance(one: str, other: str) -> float:
        return math.dist(seen(one), seen(other))

    assert {pair: distance(*pair) for pair in OPPOSITES if distance(*pair) < 0.25} == {}


def test_sixteen_uses_the_terminals_own_colours_alone() -> None:
    assert set(SHIPPED["sixteen"].colours.values()) <= set(ANSI_COLOURS)
    assert [suggested(system) for system in (None, "standard", "256", "truecolor")] == [
        "sixteen",
        "sixteen",
        "dark",
        "dark",
    ]


@pytest.mark.parametrize("name", NAMES)
def test_css_may_use_every_name_of_a_theme(name: str) -> None:
    theme = to_textual(SHIPPED[name])
    variables = {**theme.to_color_system().generate(), **theme.variables}
    wanted = SHIPPED[name].colours
    assert {key: variables[key].lower() for key in wanted} == wanted


class TestFiles:
    def test_a_persons_theme_is_found_in_their_folder(self, home: Path) -> None:
        mine = write(home / ".config" / "loopx" / "themes", "mine", label="Mine")
        assert choose("mine") == (mine, None)
        assert "mine" in available().themes

    def test_looking_for_themes_makes_no_folder(self, home: Path) -> None:
        available()
        assert not (home / ".config").exists()

    @pytest.mark.parametrize("name", ["nope", "../dark", "", "a" * 200, "textual-ansi", "[/x]"])
    def test_an_unknown_theme_falls_back_and_says_so(self, name: str) -> None:
        theme, notice = choose(name)
        assert theme == DEFAULT
        assert notice == f"There is no theme {name!r}; showing dark"

    def test_all_that_is_wrong_with_a_file_is_one_sentence(self, tmp_path: Path) -> None:
        write(tmp_path, "bad", accent="blurple", run=None, colour="#ffffff", dark="maybe")
        theme, notice = choose("bad", [tmp_path])
        assert theme == DEFAULT
        assert notice is not None
        assert "\n" not in notice
        for part in (
            "Theme 'bad.yaml'",
            "'colour' is not a name a theme has",
            "accent 'blurple' is not a colour",
            "run is missing",
            "dark 'maybe' is not valid",
            "showing dark",
        ):
            assert part in notice

    def test_a_broken_copy_of_a_shipped_theme_gives_the_shipped_one(self, tmp_path: Path) -> None:
        write(tmp_path, "light", accent="red")
        theme, notice = choose("light", [tmp_path, folders()[1]])
        assert theme == SHIPPED["light"]
        assert notice is not None and "accent" in notice

    @pytest.mark.parametrize("kind", ODD_FILES)
    def test_a_file_that_is_no_theme_costs_one_sentence(self, tmp_path: Path, kind: str) -> None:
        (tmp_path / "odd.yaml").write_bytes(ODD_FILES[kind])
        found = available([tmp_path])
        assert found.themes == {"dark": DEFAULT}
        assert len(found.notices) == 1 and found.notices[0].startswith("Theme 'odd.yaml': ")

    def test_a_theme_that_is_hard_to_read_is_worn_and_said_to_be(self, tmp_path: Path) -> None:
        dim = write(tmp_path, "dim", run="#2a3040", **{"text-dim": "#555d70"})
        theme, notice = choose("dim", [tmp_path])
        assert theme == dim and notice is not None and "\n" not in notice
        for part in ("run on background 1.", "run on surface 1.", "text-dim on", "4.5:1"):
            assert part in notice
        assert available([tmp_path]).notices == [notice]
        assert choose("dim", [tmp_path]).notice == notice

    def test_a_files_name_is_the_themes_name(self, tmp_path: Path) -> None:
        write(tmp_path, "mine", name="yours")
        assert "name must be the file's own" in available([tmp_path]).notices[0]

    def test_a_byte_order_mark_and_windows_line_ends_are_read(self, tmp_path: Path) -> None:
        theme = write(tmp_path, "mine")
        path = tmp_path / "mine.yaml"
        path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
        assert choose("mine", [tmp_path]) == (theme, None)


def write(folder: Path, stem: str, **changed: Any) -> Theme:
    """Writes the default theme with changes as ``stem.yaml``; ``None`` leaves a key out."""
    values: dict[str, Any] = {"name": stem, "label": "Any", "dark": True, **DEFAULT.colours}
    values |= changed
    lines = [
        f"{key}: {str(value).lower() if isinstance(value, bool) else repr(value)}"
        for key, value in values.items()
        if value is not None
    ]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{stem}.yaml").write_text("\n".join(lines) + "\n")
    fields = {key.replace("-", "_"): value for key, value in values.items()}
    known = set(Theme.__dataclass_fields__)
    return Theme(**{key: value for key, value in fields.items() if key in known})


class Board(App[None]):
    """One row in every state, as a terminal would get it."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        chosen = to_textual(theme, in_colour=not self.no_color)
        self.register_theme(chosen)
        self.theme = chosen.name
        self.states = [name for name in theme.colours if name not in NOT_TEXT]

    def compose(self) -> ComposeResult:
        yield Rows([Column("state")])

    def on_mount(self) -> None:
        self.query_one(Rows).set_rows([Row(name, (Cell(name, name),)) for name in self.states])


def drawn(app: Board) -> dict[str, Style]:
    """The style in which each state's name stands on the screen."""
    segments = itertools.chain.from_iterable(app.screen._compositor.render_strips())
    named = {segment.text.strip(" ▌"): segment.style for segment in segments}
    return {name: style for name, style in named.items() if name in app.states and style}


@pytest.mark.parametrize("name", NAMES)
async def test_every_state_is_drawn_in_its_colour(name: str) -> None:
    app = Board(SHIPPED[name])
    async with app.run_test(size=(30, 24)):
        styles = drawn(app)
    shown = {state: Color.from_rich_color(style.color).hex for state, style in styles.items()}
    wanted = texts(SHIPPED[name])
    assert {state: value.lower() for state, value in shown.items()} == wanted


def test_no_colour_of_sixteen_is_left_to_the_terminals_default() -> None:
    theme = to_textual(SHIPPED["sixteen"])
    variables = {**theme.to_color_system().generate(), **theme.variables}
    rest = {name for name, value in variables.items() if value.startswith("ansi_default")}
    assert rest == set()
    every = {**to_textual(DEFAULT).to_color_system().generate(), **to_textual(DEFAULT).variables}
    assert every.keys() <= variables.keys()


@pytest.mark.parametrize("name", NAMES)
async def test_without_colour_every_state_is_grey_and_readable(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    app = Board(SHIPPED[name])
    async with app.run_test(size=(30, 24)):
        styles = drawn(app)
    assert set(styles) == set(app.states)
    for state, style in styles.items():
        assert style.color is not None and style.bgcolor is not None
        front, back = style.color.get_truecolor(), style.bgcolor.get_truecolor()
        assert front.red == front.green == front.blue, state
        assert contrast(front.hex, back.hex) >= 4.5, state
