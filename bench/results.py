"""What a run of the benchmarks found: figures, bounds and what could not be measured."""

from __future__ import annotations

import platform
import statistics
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PACKAGES = ("loopx-tui", "pydantic", "pydantic-core", "click", "textual", "rich", "cryptography")
HEADER = """# What LoopX costs

Written by `make bench`; do not edit. A ratio or a bound compares things measured in turn in
the same run; an absolute time is this machine's. A spread is the middle half of the rounds.
"""


@dataclass(frozen=True)
class Times:
    """Seconds of the same work, done several times."""

    seconds: tuple[float, ...]

    @property
    def median(self) -> float:
        """The middle one."""
        return statistics.median(self.seconds)

    @property
    def spread(self) -> tuple[float, float]:
        """Where the middle half of them begins and ends."""
        if len(self.seconds) < 3:
            return min(self.seconds), max(self.seconds)
        quarters = statistics.quantiles(self.seconds, n=4, method="inclusive")
        return quarters[0], quarters[2]

    def over(self, other: Times) -> float:
        """How many times the other: the middle of the ratios of the rounds."""
        pairs = zip(self.seconds, other.seconds, strict=True)
        return statistics.median(one / beside for one, beside in pairs)


@dataclass(frozen=True)
class Bound:
    """A figure that must not be worse than a limit; ``most`` is false for a least."""

    name: str
    value: float | None
    limit: float
    unit: str
    most: bool

    @property
    def ok(self) -> bool:
        """Whether it holds; what was not measured does not."""
        if self.value is None:
            return False
        return self.value <= self.limit if self.most else self.value >= self.limit

    @property
    def words(self) -> str:
        """The figure beside its limit."""
        value = "not measured" if self.value is None else f"{self.value:,.2f}"
        sign = "≤" if self.most else "≥"
        return f"{value} {sign} {self.limit:,.2f} {self.unit}".rstrip()


@dataclass
class Section:
    """One case: its figures, and sentences about them."""

    title: str
    rows: list[tuple[str, str, str, str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


class Results:
    """Takes figures as they come, prints each, and writes them all as a page."""

    def __init__(self) -> None:
        self.sections: list[Section] = []
        self.bounds: list[Bound] = []
        self.begun = datetime.now(UTC)

    def section(self, title: str) -> None:
        """What follows belongs to a case of this name."""
        self.sections.append(Section(title))
        print(f"\n{title}")

    def line(self, name: str, seconds: float, note: str = "") -> None:
        """One figure that was measured once."""
        self.row(name, f"{seconds * 1e3:,.2f} ms", note=note)

    def times(self, name: str, times: Times, note: str = "") -> None:
        """One figure that was measured several times."""
        low, high = (value * 1e3 for value in times.spread)
        self.row(name, f"{times.median * 1e3:,.2f} ms", f"{low:,.2f} to {high:,.2f}", note)

    def row(self, name: str, value: str, spread: str = "", note: str = "") -> None:
        """One figure in words."""
        self.sections[-1].rows.append((name, value, spread, note))
        print(f"{name:48}{value:>16}  {spread:20}  {note}".rstrip(), flush=True)

    def note(self, sentence: str) -> None:
        """Something a reader must know of the case."""
        self.sections[-1].notes.append(sentence)
        print(f"  {sentence}", flush=True)

    def at_most(self, name: str, value: float | None, limit: float, unit: str = "") -> None:
        """A bound from above."""
        self._bound(Bound(name, value, limit, unit, True))

    def at_least(self, name: str, value: float | None, limit: float, unit: str = "") -> None:
        """A bound from below."""
        self._bound(Bound(name, value, limit, unit, False))

    @property
    def broken(self) -> Sequence[Bound]:
        """The bounds that do not hold."""
        return [bound for bound in self.bounds if not bound.ok]

    def _bound(self, bound: Bound) -> None:
        self.bounds.append(bound)
        print(f"  {'holds' if bound.ok else 'BROKEN'}: {bound.name}: {bound.words}", flush=True)

    def page(self) -> str:
        """All of it in Markdown."""
        parts = [HEADER, *_machine(self.begun), "\n## Bounds\n"]
        parts += ["| bound | measured | holds |", "| --- | --- | --- |"]
        parts += [f"| {b.name} | {b.words} | {'yes' if b.ok else 'NO'} |" for b in self.bounds]
        for section in self.sections:
            parts.append(f"\n## {section.title}\n")
            if section.rows:
                parts += ["| what | median | spread (ms) | |", "| --- | ---: | ---: | --- |"]
                parts += [f"| {' | '.join(_cell(text) for text in row)} |" for row in section.rows]
                parts.append("")
            parts += [f"- {note}" for note in section.notes]
        return "\n".join(parts).rstrip() + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _machine(begun: datetime) -> list[str]:
    facts = {
        "measured": f"{begun:%Y-%m-%d %H:%M} UTC, {datetime.now(UTC) - begun} long".split(".")[0],
        "processor": f"{_processor()}, {_cores()} cores",
        "memory": _memory(),
        "system": f"{platform.system()} {platform.release()}",
        "Python": sys.version.split()[0],
    }
    facts |= {name: _version(name) for name in PACKAGES}
    return ["| | |", "| --- | --- |", *(f"| {name} | {value} |" for name, value in facts.items())]


def _processor() -> str:
    return _first("/proc/cpuinfo", "model name") or platform.machine()


def _cores() -> int:
    import os

    return os.cpu_count() or 1


def _memory() -> str:
    kib = (_first("/proc/meminfo", "MemTotal") or "0 kB").split()[0]
    return f"{int(kib) / 2**20:.0f} GiB"


def _first(path: str, key: str) -> str | None:
    try:
        lines = Path(path).read_text("utf-8").splitlines()
    except OSError:
        return None
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith(key)), None)


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"
