"""Pictures of the screen, made without a terminal."""

from __future__ import annotations

import asyncio
import re
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path

from loopx_tui.app import LoopxApp, Options
from loopx_tui.presentation.header import Place
from loopx_tui.themes import DEFAULT

_VIEWS = {
    "overview": (),
    "goal": ("1", "enter"),
    "changes": ("1", "enter", "2"),
    "turns": ("1", "enter", "3"),
    "burn": ("1", "enter", "5"),
    "report": ("1", "enter", "8"),
    "history": ("H", "h"),
    "doctor": ("exclamation_mark",),
    "quarantine": ("Q",),
    "need": ("2", "enter"),
    "todo": ("3", "enter"),
    "event": ("9", "enter"),
    "todos": ("3", "z"),
    "review": ("2", "d"),
    "palette": ("colon",),
    "help": ("question_mark",),
}
_SIZE = re.compile(r"([1-9]\d{0,2})x([1-9]\d{0,2})")
_LIMIT_SECONDS = 30.0
_STEP_SECONDS = 0.05


def run(arguments: Sequence[str]) -> int:
    """``loopx-tui shot``: writes the picture and returns the exit status."""
    asked = _parser().parse_args(arguments)
    size = _SIZE.fullmatch(asked.size)
    if size is None:
        return _refuse(f"{asked.size!r} is not a size; write it like 120x36")
    try:
        svg = asyncio.run(picture(_app(asked), asked.view, (int(size[1]), int(size[2]))))
    except TimeoutError:
        return _refuse(f"Nothing could be read in {asked.path} within {_LIMIT_SECONDS:g} seconds")
    try:
        Path(asked.output).write_text(svg, "utf-8")
    except OSError as error:
        return _refuse(f"{asked.output} cannot be written: {error.strerror}")
    return 0


async def picture(app: LoopxApp, view: str, size: tuple[int, int]) -> str:
    """The view as SVG text, ``size`` in columns and rows, once everything was read.

    ``TimeoutError`` where that takes too long.
    """
    async with app.run_test(size=size) as pilot:
        async with asyncio.timeout(_LIMIT_SECONDS):
            while not app.main.settled:
                await pilot.pause(_STEP_SECONDS)
        for key in _VIEWS[view]:
            await pilot.press(key)
            await pilot.pause()
            await app.workers.wait_for_complete()
            await pilot.pause()
        return app.export_screenshot(title="loopx")


def _app(asked: Namespace) -> LoopxApp:
    path = Path(asked.path).absolute()
    options = Options(
        path, asked.goal, asked.read_only, asked.theme or DEFAULT.name, ascii_only=asked.ascii
    )
    # A picture travels: it names the folder, not whose machine it was made on.
    return LoopxApp(options, place=Place(path.name, read_only=asked.read_only))


def _parser() -> ArgumentParser:
    from loopx_tui.showing import add_screen_options

    parser = ArgumentParser(prog="loopx-tui shot", description="A picture of the screen as SVG.")
    parser.add_argument("path", nargs="?", default=".", help="where the workspace is")
    parser.add_argument("--view", choices=sorted(_VIEWS), default="overview")
    parser.add_argument("--size", default="120x36", help="columns x rows")
    parser.add_argument("-o", "--output", required=True, metavar="FILE.svg")
    add_screen_options(parser)
    return parser


def _refuse(sentence: str) -> int:
    print(sentence, file=sys.stderr)  # noqa: T201
    return 2
