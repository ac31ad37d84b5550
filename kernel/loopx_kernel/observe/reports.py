"""Files a machine wrote: JUnit XML and exit-status records."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Any, Literal, NoReturn

from loopx_kernel.value import Value

_COUNT = re.compile(r"[0-9]{1,9}")
_SUITES = ("testsuites", "testsuite")
_OUTCOMES = {"failure": "failures", "error": "errors", "skipped": "skipped"}
_DECLARED = ("tests", "failures", "errors", "skipped")
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


class Report(Value):
    """What a report says; ``problem`` (``unreadable``, ``no_tests``) where it says nothing.
    ``command`` is that of an exit-status record."""

    kind: Literal["junit", "exit_status", "file"]
    tests: int = 0
    failures: int = 0
    errors: int = 0
    skipped: int = 0
    result: Literal["passed", "failed"] | None = None
    problem: str | None = None
    command: str = ""


def read_report(name: str, content: bytes) -> Report | None:
    """The report in ``content``, or None if it is no kind of report; never raises on content.

    Told by content; ``name`` decides only whether broken XML or JSON was meant as one.
    """
    xml_named = name.lower().endswith(".xml")
    head = content[:256].removeprefix(b"\xef\xbb\xbf").lstrip()
    if head.startswith(b"<") or content.startswith(_UTF16_MARKS) or xml_named:
        return _read_junit(content, meant=xml_named or b"<testsuite" in content.replace(b"\0", b""))
    if head.startswith(b"{"):
        return _read_exit_status(content)
    return None


def _read_junit(content: bytes, *, meant: bool) -> Report | None:
    from xml.etree.ElementTree import ParseError

    from defusedxml.ElementTree import DefusedXMLParser  # type: ignore[import-untyped]

    tally = _Tally()
    parser = DefusedXMLParser(target=tally, forbid_dtd=True)
    try:
        parser.feed(content)
        parser.close()
    except _OtherXml:
        return None
    except (ParseError, ValueError, LookupError):
        return Report("junit", problem="unreadable") if meant else None
    return tally.report()


class _OtherXml(Exception):
    """The root is not a test suite's."""


class _Tally:
    """Counts while the parser runs, so that no tree of a hostile file is ever built.

    A report says its numbers twice: as attributes and as elements. The worse of
    the two counts, so that neither can hide the other.
    """

    def __init__(self) -> None:
        self._open: list[str] = []
        self._root: dict[str, int] = {}
        self._below: Counter[str] = Counter()
        self._counted: Counter[str] = Counter()
        self._outcomes: set[str] = set()

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        name = tag.rpartition("}")[2]
        if not self._open and name not in _SUITES:
            raise _OtherXml
        parent = self._open[-1] if self._open else ""
        if name in _SUITES and len(self._open) <= 1:
            self._declare(attributes)
        elif name == "testcase":
            self._counted["tests"] += 1
            self._outcomes.clear()
        elif name in _OUTCOMES and parent in ("testcase", "testsuite"):
            self._outcome(name, in_case=parent == "testcase")
        self._open.append(name)

    def end(self, tag: str) -> None:
        self._open.pop()

    def close(self) -> None:
        """The parser asks for it; the numbers are read with ``report``."""

    def report(self) -> Report:
        tests, failures, errors, skipped = (self._worse(what) for what in _DECLARED)
        if failures or errors:
            return Report("junit", tests, failures, errors, skipped, result="failed")
        if tests <= skipped:
            return Report("junit", tests, skipped=skipped, problem="no_tests")
        return Report("junit", tests, skipped=skipped, result="passed")

    def _declare(self, attributes: dict[str, str]) -> None:
        for what in _DECLARED:
            text = attributes.get(what, "").strip()
            if not text:
                continue
            if not _COUNT.fullmatch(text):
                raise ValueError("a count is not a number")
            if self._open:
                self._below[what] += int(text)
            else:
                self._root[what] = int(text)

    def _outcome(self, name: str, *, in_case: bool) -> None:
        if in_case and name in self._outcomes:
            return
        self._outcomes.add(name)
        self._counted[_OUTCOMES[name]] += 1

    def _worse(self, what: str) -> int:
        return max(self._root.get(what, 0), self._below[what], self._counted[what])


def _read_exit_status(content: bytes) -> Report | None:
    try:
        record = json.loads(
            content.decode("utf-8-sig"), object_pairs_hook=unique_keys, parse_constant=no_constant
        )
    except (ValueError, RecursionError):
        meant = b'"exit_status"' in content
        return Report("exit_status", problem="unreadable") if meant else None
    if "exit_status" not in record:
        return None
    status = record["exit_status"]
    command = record.get("command")
    if type(status) is not int or not command:
        return Report("exit_status", problem="unreadable")
    words = " ".join(map(str, command)) if isinstance(command, list) else str(command)
    return Report("exit_status", result="passed" if status == 0 else "failed", command=words)


def unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object; ``ValueError`` where a key stands twice."""
    record = dict(pairs)
    if len(record) != len(pairs):
        raise ValueError("a key stands twice")
    return record


def no_constant(name: str) -> NoReturn:
    """``ValueError`` for NaN and the infinities."""
    raise ValueError(f"{name} is not JSON")
