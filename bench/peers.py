"""The programs that people use today, each installed from its registry into its own environment.

They stay in ``.venv/peers`` for the next run. What cannot be installed is said in the results.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from bench.results import Results

HOMES = Path(__file__).parents[1] / ".venv" / "peers"
LONGEST_SECONDS = 240
NODE = "node@22"
REFERENCES = ("0.5.4", "2.1.1")
"""Versions of the reference implementation; both need Node.js."""


class NotInstalled(Exception):
    """Why a peer is not here, in a sentence."""


@dataclass(frozen=True)
class Program:
    """A program for terminals; ``FILE`` in its command is a text to show."""

    name: str
    command: tuple[str, ...]
    quit_keys: bytes


# name, the script it installs, its arguments, what quits it
_PROGRAMS = (
    ("toolong", "tl", ("FILE",), b"\x03"),
    ("frogmouth", "frogmouth", ("FILE",), b"\x11"),
    ("harlequin", "harlequin", (":memory:",), b"\x11"),
)


def fetch() -> None:
    """Installs what is not here yet, so that no case spends its time on that. What cannot be
    had is said by the case that wants it."""
    wanted: list[Callable[[], Path]] = [node]
    wanted += [partial(installed, name, name) for name, *_ in _PROGRAMS]
    wanted += [partial(installed, f"loopx-{one}", f"loopx=={one}") for one in REFERENCES]
    for get in wanted:
        with contextlib.suppress(NotInstalled):
            print(f"here: {get()}", flush=True)


def programs(results: Results) -> Iterator[Program]:
    """Those of the terminal programs that can be had."""
    for name, script, arguments, quit_keys in _PROGRAMS:
        try:
            home = installed(name, name)
        except NotInstalled as why:
            results.note(f"{name} is left out: {why}")
            continue
        label = f"{name} {version_in(home, name)}"
        yield Program(label, (str(home / "bin" / script), *arguments), quit_keys)


def installed(name: str, *requirements: str) -> Path:
    """The environment ``name`` with these packages from the registry of Python packages.

    Raises ``NotInstalled``.
    """
    home = HOMES / name
    done = home / ".installed"
    if done.is_file() and done.read_text("utf-8") == repr(requirements):
        return home
    shutil.rmtree(home, ignore_errors=True)
    _run(sys.executable, "-m", "venv", str(home))
    pip = (str(home / "bin" / "python"), "-m", "pip", "install", "--quiet")
    _run(*pip, "--disable-pip-version-check", *requirements)
    done.write_text(repr(requirements), "utf-8")
    return home


def version_in(home: Path, name: str) -> str:
    """The version of a package that was installed there."""
    found = home.glob(f"lib/*/site-packages/{name}-*.dist-info")
    return next((one.stem.partition("-")[2] for one in found), "of an unknown version")


def node() -> Path:
    """The folder of a Node.js 22 from the npm registry. Raises ``NotInstalled``."""
    npm = shutil.which("npm")
    if npm is None:
        raise NotInstalled("npm is not on this machine")
    home = HOMES / "node"
    found = home / "node_modules" / "node" / "bin"
    if not (found / "node").exists():
        _run(npm, "install", "--silent", "--no-fund", "--no-audit", "--prefix", str(home), NODE)
    if not (found / "node").exists():
        raise NotInstalled(f"the npm package {NODE} brought no node")
    return found


def end_servers() -> int:
    """Ends what the peers left running in the background; how many processes that were."""
    own, ended = os.fsencode(HOMES) + b"/", 0
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if own in path.read_bytes():
                os.kill(int(path.parent.name), signal.SIGTERM)
                ended += 1
    return ended


def _run(*command: str) -> None:
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=LONGEST_SECONDS,
            check=False,
            env={**os.environ, "PIP_NO_INPUT": "1"},
            stdin=subprocess.DEVNULL,
        )
    except subprocess.TimeoutExpired:
        raise NotInstalled(f"{command[0]} took longer than {LONGEST_SECONDS} s") from None
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines() or ["no reason given"]
        raise NotInstalled(said[-1])
