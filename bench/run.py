"""`make bench`: what the commands and the terminal UI cost on this machine.

A whole run writes ``bench/RESULTS.md`` and the profiles; one with ``--only`` prints. Exit 1
where a bound is broken.
"""

from __future__ import annotations

import argparse
import compileall
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

from loopx_kernel.errors import LoopxError

from bench.commands import commands
from bench.commits import commits
from bench.growth import growth
from bench.journal import journals
from bench.memory import memory
from bench.place import use_home, workspace
from bench.profiles import profiles
from bench.projections import projections
from bench.reference import reference
from bench.results import Results
from bench.scale import scale
from bench.screens import screens
from bench.signatures import signatures

PAGE = Path(__file__).with_name("RESULTS.md")

CASES: dict[str, tuple[str, Callable[[Path, Results], None]]] = {
    "commands": ("Hot commands as whole processes", commands),
    "reference": ("The reference implementation on the same work", reference),
    "commits": ("Durable writing in one process", commits),
    "growth": ("What age costs", growth),
    "journal": ("A journal of a million events", journals),
    "projections": ("Projections over many goals", projections),
    "signatures": ("Signatures, in one process on one core", signatures),
    "screens": ("The terminal UI at 120x40", screens),
    "memory": ("Memory", memory),
    "scale": ("Where one machine ends", scale),
    "profiles": ("Where the time goes", profiles),
}


def main() -> int:
    """Measures the cases asked for; 1 where a bound is broken."""
    only = _asked()
    results = Results()
    _compile()
    for name in only or CASES:
        title, case = CASES[name]
        results.section(title)
        with tempfile.TemporaryDirectory(prefix=f"loopx-bench-{name}-") as folder:
            home = Path(folder)
            use_home(home)
            try:
                case(workspace(home), results)
            except (RuntimeError, OSError, subprocess.SubprocessError, LoopxError) as why:
                results.note(f"Broken off: {why}")
                results.at_most(f"{name}, measured to its end", None, 0)
    print()
    for bound in results.bounds:
        print(f"{'holds ' if bound.ok else 'BROKEN'}  {bound.name}: {bound.words}")
    if not only:
        PAGE.write_text(results.page(), "utf-8")
        print(f"\nwritten: {PAGE}")
    return 1 if results.broken else 0


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
