"""Every theme in every kind of terminal: what is written can be read, with colours or without."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopx_tui import strings
from loopx_tui.themes import ANSI_COLOURS, LEAST_CONTRAST, contrast
from tests.terminal.ptys import QUESTION, Screen, on_a_pty
from tests.terminal.stage import Place
from tests.tui.gates import build
from tests.tui.test_themes import NAMES

pytestmark = pytest.mark.terminal

TERMS = ("dumb", "vt100", "linux", "screen", "tmux-256color", "xterm-256color")
NAMED = {
    name.removeprefix("ansi_").replace("bright_", "bright"): value
    for name, value in ANSI_COLOURS.items()
}
NAMED |= {"brown": NAMED["yellow"], "brightbrown": NAMED["brightyellow"]}
"""The sixteen colours by the names that pyte gives them."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    build(folder / "w", folder / "key").request(question=QUESTION)
    return folder


@pytest.fixture
def place(made: Path, tmp_path: Path) -> Place:
    return Place.copy_of(made, tmp_path)


def hard_to_read(screen: Screen) -> dict[tuple[str, str], str]:
    """The colours of letters and figures that stand out too little, each with one of its lines."""
    found = {}
    for number, line in screen.seen.buffer.items():
        for cell in (line[column] for column in range(screen.seen.columns)):
            pair = (cell.fg, cell.bg)
            if cell.data.isalnum() and pair != ("default", "default"):
                values = [NAMED.get(one, f"#{one}") for one in pair]
                if "#default" in values or contrast(*values) < LEAST_CONTRAST:
                    found[pair] = screen.seen.display[number]
    return found


@pytest.mark.parametrize("no_color", [False, True], ids=["colours", "NO_COLOR"])
@pytest.mark.parametrize("term", TERMS)
def test_every_theme_can_be_read(place: Place, term: str, no_color: bool) -> None:
    environ = {"TERM": term, "COLORTERM": ""} | ({"NO_COLOR": "1"} if no_color else {})
    with on_a_pty(place, **environ) as screen:
        screen.sees(QUESTION, "live")
        for _ in NAMES:
            screen.quiet(0.3)
            assert hard_to_read(screen) == {}
            screen.child.send("t")
            screen.sees(strings.THEME_IS.partition("{")[0])
        screen.child.send("q")
        assert b"Traceback" not in screen.rest()


@pytest.mark.parametrize("name", ["textual-ansi", "nope"])
def test_a_theme_there_is_not_is_a_notice(place: Place, name: str) -> None:
    with on_a_pty(place, "--theme", name) as screen:
        screen.sees(QUESTION, "live", f"no theme '{name}'")
        screen.quiet(0.3)
        assert hard_to_read(screen) == {}
