"""The command ``loopx-tui``: the screen itself, the demo, and pictures."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path

from loopx_tui import strings

_DONE, _USAGE = 0, 2


def run() -> None:
    """The script's entry: exits with the command's status, never with a traceback."""
    try:
        status = main(sys.argv[1:])
    except KeyboardInterrupt:
        status = 130
    sys.exit(status)


def main(arguments: Sequence[str]) -> int:
    """Does what ``arguments`` ask for; returns the exit status."""
    first = arguments[0] if arguments else ""
    if first == "demo":
        from loopx_tui.demo import run as run_demo

        return run_demo(arguments[1:])
    if first == "shot":
        from loopx_tui.shot import run as run_shot

        return run_shot(arguments[1:])
    asked = _parser().parse_args(arguments)
    return show(Path(asked.path or os.environ.get("LOOPX_ROOT") or "."), asked)


def show(path: Path, asked: Namespace | None = None, *, demo: bool = False) -> int:
    """Runs the app on this terminal until it is quit; returns the exit status.

    ``asked`` holds the options of ``add_screen_options``, their defaults where it is missing.
    """
    if not _has_terminal():
        print(strings.NO_TERMINAL, file=sys.stderr)  # noqa: T201
        return _USAGE
    from loopx_tui.app import LoopxApp, Options

    asked = asked or _parser().parse_args([])
    app = LoopxApp(
        Options(
            path=path.absolute(),
            goal_id=asked.goal or os.environ.get("LOOPX_GOAL") or None,
            read_only=asked.read_only,
            theme=asked.theme,
            ascii_only=asked.ascii,
            demo=demo,
        )
    )
    app.run(mouse=not asked.no_mouse)
    return app.return_code or _DONE


def add_screen_options(parser: ArgumentParser) -> None:
    """The options every way of showing the screen takes."""
    parser.add_argument("--goal", metavar="ID", help="select this goal first")
    parser.add_argument("--read-only", action="store_true", help="decide nothing from here")
    parser.add_argument("--theme", metavar="NAME", help="colours; `t` takes the next one")
    parser.add_argument("--no-mouse", action="store_true", help="leave the mouse to the terminal")
    parser.add_argument("--ascii", action="store_true", help="plain characters for every glyph")


def _parser() -> ArgumentParser:
    parser = ArgumentParser(
        prog="loopx-tui",
        description="One screen on a LoopX workspace, to keep open all day.",
        epilog="loopx-tui demo: a live throw-away workspace. "
        "loopx-tui shot -o FILE.svg: a picture without a terminal.",
    )
    parser.add_argument("path", nargs="?", help="where the workspace is; this folder by default")
    add_screen_options(parser)
    return parser


def _has_terminal() -> bool:
    return all(stream is not None and stream.isatty() for stream in (sys.__stdin__, sys.__stderr__))


if __name__ == "__main__":
    run()
