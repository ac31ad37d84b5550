"""A look inside what a decision rests on: the beginning of a file, a report in a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from loopx_kernel.observe import git
from loopx_kernel.observe.reports import Report, read_report
from loopx_kernel.text import counted
from loopx_kernel.value import Value

LINES, WIDTH = 40, 200
"""How many lines are shown, and how many characters of each."""
DIFF_LINES = 160
CASES = 10
"""How many failed test cases are named."""
_PROBED = 8192


class Inside(Value):
    """What is in a file: in a sentence, and its beginning; ``left_out`` says what is not shown."""

    told: str
    text: str = ""
    left_out: str = ""


def look_inside(path: str, content: bytes) -> Inside:
    """What is in the bytes of a file called ``path``; never raises for what they are."""
    report = read_report(path, content)
    if report is not None and report.kind == "junit":
        return Inside(_told(report), "\n".join(failed_cases(content)))
    if report is not None:
        told = report.problem or f"{report.result}: {report.command}"
        return Inside(f"exit-status record, {told}")
    if b"\0" in content[:_PROBED]:
        return Inside(f"binary, {len(content)} bytes")
    text, left_out = beginning(content, LINES)
    return Inside(counted(len(content.splitlines()), "line"), text, left_out)


def diff_inside(repo: Path, paths: Sequence[str], scopes: Sequence[str] = ()) -> Inside | None:
    """What is changed in ``repo`` and not committed, in ``paths`` and ``scopes`` or everywhere;
    ``None`` without git. New files that nobody added are not in it.

    Nothing of the repository's own settings is run.
    """
    found = git.find(repo)
    if found is None:
        return None
    where = [f":(literal){path}" for path in paths] + [f":(glob){scope}" for scope in scopes]
    quiet = ("--no-ext-diff", "--no-textconv", "--no-color", "--ignore-submodules=all")
    told = found.ask("diff", *quiet, "HEAD", "--", *where)
    if told is None:
        return None
    if not told:
        return Inside("nothing is changed and not committed there")
    files = told.count(b"\ndiff --git ") + told.startswith(b"diff --git ")
    text, left_out = beginning(told, DIFF_LINES)
    return Inside(f"{counted(files, 'file')} changed and not committed", text, left_out)


def beginning(content: bytes, lines: int) -> tuple[str, str]:
    """The first lines of a text, and what of it is left out."""
    part = content[: lines * WIDTH * 4]
    rows = part.decode("utf-8", "replace").splitlines()
    shown = [row if len(row) <= WIDTH else f"{row[:WIDTH]}…" for row in rows[:lines]]
    more = len(content.splitlines()) - len(shown)
    if more > 0:
        return "\n".join(shown), counted(more, "more line")
    return "\n".join(shown), "the rest of the line" if len(part) < len(content) else ""


def failed_cases(content: bytes) -> list[str]:
    """The names of the first test cases that failed, each with the first line of why."""
    from xml.etree.ElementTree import ParseError

    from defusedxml.ElementTree import DefusedXMLParser  # type: ignore[import-untyped]

    cases = _Cases()
    parser = DefusedXMLParser(target=cases, forbid_dtd=True)
    try:
        parser.feed(content)
        parser.close()
    except (ParseError, ValueError, LookupError):
        return []
    more = cases.failed - len(cases.named)
    return cases.named + ([f"and {more} more"] if more else [])


def _told(report: Report) -> str:
    if report.problem:
        return f"test report, {report.problem.replace('_', ' ')}"
    counts = f"{report.failures} failed, {report.errors} errors, {report.skipped} skipped"
    return f"test report, {report.result}: {counted(report.tests, 'test')}, {counts}"


class _Cases:
    """Names what failed while the parser runs; keeps no tree."""

    def __init__(self) -> None:
        self.named: list[str] = []
        self.failed = 0
        self._case = ""

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        name = tag.rpartition("}")[2]
        if name == "testcase":
            parts = (attributes.get("classname", ""), attributes.get("name", ""))
            self._case = "::".join(part for part in parts if part)[:WIDTH]
        elif name in ("failure", "error"):
            self.failed += 1
            if len(self.named) < CASES:
                why = (attributes.get("message", "").splitlines() or [""])[0][:WIDTH]
                self.named.append(f"{name}: {self._case}{': ' if why else ''}{why}")

    def end(self, tag: str) -> None:
        """Nothing is kept of it."""

    def close(self) -> None:
        """The parser asks for it."""
