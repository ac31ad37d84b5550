"""The command: its options, the line that shows the building, and the terminal UI on it."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence
from contextlib import suppress

from loopx_tui import strings
from loopx_tui.demo.live import live_demo
from loopx_tui.demo.place import DemoError, Place

SLOWEST, FASTEST = 0.1, 20.0


def run(argv: Sequence[str]) -> int:
    """Runs the demo until quit; returns the exit status. Nothing is left behind."""
    options = _options(argv)
    if not (options.headless or (sys.stdin.isatty() and sys.stderr.isatty())):
        print(strings.NO_TERMINAL, file=sys.stderr)  # noqa: T201
        return 2
    try:
        with live_demo(options.speed, _progress, owner=options.owner) as place:
            _clear_progress()
            if options.headless:
                return _headless(place, options.seconds)
            return _screen(place, options)
    except DemoError as error:
        _clear_progress()
        print(error, file=sys.stderr)  # noqa: T201
        return 1
    except KeyboardInterrupt:
        return 130


def _options(argv: Sequence[str]) -> argparse.Namespace:
    from loopx_tui.showing import add_screen_options

    parser = argparse.ArgumentParser(
        prog="loopx-tui demo",
        description="A live workspace in a temporary folder: scripted workers edit files, run "
        "tests, fail, wait, and ask you at gates. Nothing is left when you quit.",
    )
    parser.add_argument(
        "--speed", type=_speed, default=1.0, metavar="X", help="pace of the workers (default 1)"
    )
    parser.add_argument(
        "--headless", action="store_true", help="no terminal UI: print the workspace and wait"
    )
    parser.add_argument(
        "--seconds", type=float, metavar="N", help="with --headless: end after so long"
    )
    parser.add_argument(
        "--owner", action="store_true", help="a scripted owner decides what waits for a person"
    )
    add_screen_options(parser)
    return parser.parse_args(argv)


def _speed(text: str) -> float:
    with suppress(ValueError):
        speed = float(text)
        if SLOWEST <= speed <= FASTEST:
            return speed
    raise argparse.ArgumentTypeError(f"a number from {SLOWEST} to {FASTEST:.0f}")


def _progress(step: str) -> None:
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[2Kdemo: {step} ...")
    else:
        sys.stderr.write(f"demo: {step}\n")
    sys.stderr.flush()


def _clear_progress() -> None:
    if sys.stderr.isatty():
        sys.stderr.write("\r\x1b[2K")
        sys.stderr.flush()


def _headless(place: Place, seconds: float | None) -> int:
    print(place.repo, flush=True)  # noqa: T201
    end = None if seconds is None else time.monotonic() + seconds
    while end is None or time.monotonic() < end:
        time.sleep(0.1)
    return 0


def _screen(place: Place, options: argparse.Namespace) -> int:
    from loopx_tui.showing import show

    os.environ.update(place.screen_variables())
    return show(place.repo, options, demo=True)
