"""The command ``loopx-tui``: the screen itself, the demo, and pictures."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path

from loopx_kernel import __version__

from loopx_tui.showing import add_screen_options, show


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


def _parser() -> ArgumentParser:
    parser = ArgumentParser(
        prog="loopx-tui",
        description="One screen on a LoopX workspace, to keep open all day.",
        epilog="loopx-tui demo: a live throw-away workspace. "
        "loopx-tui shot -o FILE.svg: a picture without a terminal.",
    )
    parser.add_argument("--version", action="version", version=f"loopx-tui {__version__}")
    parser.add_argument("path", nargs="?", help="where the workspace is; this folder by default")
    add_screen_options(parser)
    return parser


if __name__ == "__main__":
    run()
