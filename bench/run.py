"""`make bench`: what the commands and the terminal UI cost on this machine.

A whole run writes ``bench/RESULTS.md`` and the profiles; one with ``--only`` prints. Each case
has a limit of time. Exit 1 where a bound is broken.
"""

from __future__ import annotations

import argparse
import compileall
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from loopx_kernel.cli.main import collect_seldom
from loopx_kernel.errors import LoopxError

from bench.commands import commands
from bench.commits import commits
from bench.growth import growth
from bench.journal import journals
from bench.load import load
from bench.memory import memory
from bench.peers import fetch
from bench.place import use_home, workspace
from bench.profiles import profiles
from bench.projections import projections
from bench.reference import reference
from bench.results import Results
from bench.scale import scale
from bench.screens import screens
from bench.signatures import signatures

PAGE = Path(__file__).with_name("RESULTS.md")

Case = Callable[[Path, Results], None]
CASES: dict[str, tuple[str, int, Case]] = {
    "commands": ("Hot commands as whole processes", 120, commands),
    "reference": ("The reference implementation on the same work", 480, reference),
    "commits": ("Durable writing in one process", 60, commits),
    "growth": ("What age costs", 360, growth),
    "journal": ("A journal of a million events", 480, journals),
    "projections": ("Projections over many goals", 180, projections),
    "signatures": ("Signatures, in one process on one core", 60, signatures),
    "screens": ("The terminal UI at 120x40", 300, screens),
    "load": ("The terminal UI under load", 300, load),
    "memory": ("Memory", 180, memory),
    "scale": ("Where one machine ends", 180, scale),
    "profiles": ("Where the time goes", 120, profiles),
}
"""What each is about, and the seconds after which it is broken off: it takes about half."""


class TooLong(Exception):
    """A case has had its time."""


def main() -> int:
    """Measures the cases asked for; 1 where a bound is broken."""
    names = _asked() or list(CASES)
    results = Results()
    _compile()
    collect_seldom()
    if {"reference", "screens"}.intersection(names):
        fetch()
    begun = time.monotonic()
    for number, name in enumerate(names, 1):
        title, limit, case = CASES[name]
        so_far = time.monotonic() - begun
        print(f"\n[{number}/{len(names)}, {so_far:.0f} s so far; this one at most {limit} s]")
        results.section(title)
        _measure(name, case, limit, results)
    print(f"\n{time.monotonic() - begun:.0f} s in all")
    for bound in results.bounds:
        print(f"{'holds ' if bound.ok else 'BROKEN'}  {bound.name}: {bound.words}")
    if names == list(CASES):
        PAGE.write_text(results.page(), "utf-8")
        print(f"\nwritten: {PAGE}")
    return 1 if results.broken else 0


def _measure(name: str, case: Case, limit: int, results: Results) -> None:
    """One case in a home of its own. What breaks it off is said, and the next one follows."""
    with tempfile.TemporaryDirectory(prefix=f"loopx-bench-{name}-") as folder:
        home = Path(folder)
        use_home(home)
        signal.signal(signal.SIGALRM, _too_long)
        signal.alarm(limit)
        try:
            case(workspace(home), results)
        except (RuntimeError, OSError, subprocess.SubprocessError, LoopxError, TooLong) as why:
            results.note(f"Broken off: {why or f'not done after {limit} s'}")
            results.at_most(f"{name}, measured to its end", None, 0)
        finally:
            signal.alarm(0)


def _too_long(*_: object) -> None:
    raise TooLong


def _compile() -> None:
    """As an installed package is, and those it is compared with: nothing measured compiles."""
    for folder in ("kernel", "loopx_tui", "tests"):
        compileall.compile_dir(PAGE.parents[1] / folder, quiet=1)


def _asked() -> list[str]:
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="CASE",
        choices=CASES,
        help=f"one of {', '.join(CASES)}; may be repeated",
    )
    only: list[str] = parser.parse_args().only
    return only


if __name__ == "__main__":
    raise SystemExit(main())
