"""Showing the screen on this terminal, and the options every way of showing it takes."""

from __future__ import annotations

import os
import sys
import termios
from argparse import ArgumentParser, Namespace
from contextlib import suppress
from pathlib import Path

from loopx_tui import strings

_DONE, _USAGE = 0, 2
_USUAL_SIZE = 24, 80
_SIZELESS = ("dumb", "unknown")


def add_screen_options(parser: ArgumentParser) -> None:
    """The options every way of showing the screen takes."""
    parser.add_argument("--goal", metavar="ID", help="select this goal first")
    parser.add_argument("--read-only", action="store_true", help="decide nothing from here")
    parser.add_argument("--theme", metavar="NAME", help="colours; `t` takes the next one")
    parser.add_argument("--no-mouse", action="store_true", help="leave the mouse to the terminal")
    parser.add_argument("--ascii", action="store_true", help="plain characters for every glyph")


def show(path: Path, asked: Namespace, *, demo: bool = False) -> int:
    """Runs the app on this terminal until it is quit; returns the exit status.

    ``asked`` holds the options of ``add_screen_options``.
    """
    if not _has_terminal():
        print(strings.NO_TERMINAL, file=sys.stderr)  # noqa: T201
        return _USAGE
    if os.environ.get("TERM", "").lower() in _SIZELESS:
        # rich takes such a terminal for one of 80x25, and Textual lays out for both sizes in turn.
        os.environ["TERM"] = "vt100"
    _give_size()
    from loopx_tui.app import LoopxApp, Options

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
    if app.last_words:
        # The terminal may be what ended it.
        with suppress(OSError):
            print(app.last_words, file=sys.stderr, flush=True)  # noqa: T201
    if app.successor and not app.return_code:
        _become(app.successor, asked)
    return app.return_code or _DONE


def _become(path: str, asked: Namespace) -> None:
    """Begins anew in this process, which keeps its terminal: nothing of the old one stays."""
    words = ["demo"] if path == "demo" else ["--", path]
    options = [f"--theme={asked.theme}"] if asked.theme else []
    options += [
        f"--{name}" for name in ("ascii", "no-mouse") if getattr(asked, name.replace("-", "_"))
    ]
    if path != "demo" and asked.read_only:
        options.append("--read-only")
    for name in ("LOOPX_ROOT", "LOOPX_GOAL"):
        os.environ.pop(name, None)
    sys.stdout.flush()
    sys.stderr.flush()
    program = [sys.executable, "-P", "-m", "loopx_tui.main"]
    rest = [*words, *options] if path == "demo" else [*options, *words]
    os.execv(sys.executable, [*program, *rest])


def _give_size() -> None:
    """A terminal that says it has no cells gets the usual ones, until it knows its own.

    Textual and rich would each take it for one of another size, and lay out for both in turn.
    """
    assert sys.__stderr__ is not None
    terminal = sys.__stderr__.fileno()
    with suppress(OSError, termios.error):
        if not all(termios.tcgetwinsize(terminal)):
            termios.tcsetwinsize(terminal, _USUAL_SIZE)


def _has_terminal() -> bool:
    return all(stream is not None and stream.isatty() for stream in (sys.__stdin__, sys.__stderr__))
