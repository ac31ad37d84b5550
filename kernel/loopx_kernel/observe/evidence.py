"""Evidence handed in: a file bound by digest, and what it says if a machine can read it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NoReturn

from loopx_kernel.errors import Denied
from loopx_kernel.observe.files import read_inside
from loopx_kernel.observe.reports import Report, read_report
from loopx_kernel.text import safe

Claim = Literal["passed", "failed"]
Since = Literal["same", "changed", "gone", "unreadable"]
"""What became of a file since it was handed in."""
_SINCE: dict[object, Since] = {"absent": "gone", "outside": "gone", "unreadable": "unreadable"}


@dataclass(frozen=True, slots=True)
class Evidence:
    """A file as it was when it was read, once: digest, counts and result are of ``content``.

    ``path`` is relative to the repo, or absolute where the file lies in another
    root. ``result`` is None for what no machine reads (``kind`` "file") and where
    ``problem`` says why a report counts for nothing (``unreadable``, ``no_tests``). ``command``
    is what an exit-status record is of.
    """

    path: str
    sha256: str
    size: int
    kind: Literal["junit", "exit_status", "file"]
    tests: int = 0
    failures: int = 0
    errors: int = 0
    skipped: int = 0
    result: Claim | None = None
    problem: str | None = None
    command: str = ""
    content: bytes = field(default=b"", repr=False, compare=False)


def bind(repo: Path, path: str, extra_roots: Sequence[Path] = ()) -> Evidence:
    """Reads the file ``path``, inside ``repo`` or one of ``extra_roots``, and what it says.

    Follows no link below the root, never blocks, reads at most 16 MiB. Raises
    ``Denied("missing_evidence")`` with the facts ``path`` and ``reason``: absent,
    outside, link, not_a_file, too_big, empty, unreadable.
    """
    shown, content = read_inside(repo, path, extra_roots)
    report = read_report(path, content) or Report("file")
    return Evidence(
        path=shown,
        sha256=hashlib.sha256(content).hexdigest(),
        size=len(content),
        kind=report.kind,
        tests=report.tests,
        failures=report.failures,
        errors=report.errors,
        skipped=report.skipped,
        result=report.result,
        problem=report.problem,
        command=report.command,
        content=content,
    )


def look_again(
    repo: Path, path: str, extra_roots: Sequence[Path] = (), *, sha256: str, size: int
) -> tuple[Since, bytes]:
    """What became of a file that was bound, and its bytes where they are the same.

    ``path`` is as it was recorded. Only a file that still has its size (in bytes) is read.
    """
    roots = extra_roots if path.startswith("/") else ()
    try:
        _, content = read_inside(repo, path, roots, size=size)
    except Denied as refusal:
        return _SINCE.get(refusal.facts["reason"], "changed"), b""
    if hashlib.sha256(content).hexdigest() != sha256:
        return "changed", b""
    return "same", content


def agree(evidences: Iterable[Evidence], claim: Claim | None) -> bool:
    """Whether machine-readable evidence proves ``claim``; False where there is none to.

    A claim of ``passed`` needs every machine-readable file to say passed; one of
    ``failed`` is contradicted only where all of them do. Raises
    ``Denied("evidence_mismatch")`` with the facts ``path``, ``claim``, ``reason`` and
    the counts. Without a claim nothing is proven and nothing contradicted.
    """
    reports = [evidence for evidence in evidences if evidence.kind != "file"]
    if claim is None or not reports:
        return False
    if claim == "passed":
        for report in reports:
            if report.result != "passed":
                _mismatch(report, claim)
        return True
    if all(report.result == "passed" for report in reports):
        _mismatch(reports[0], claim)
    return any(report.result == "failed" for report in reports)


def _mismatch(report: Evidence, claim: Claim) -> NoReturn:
    raise Denied(
        "evidence_mismatch",
        f"{claim!r} was claimed, but {safe(report.path)} {_says(report)}",
        next="hand in what the file says, or a new report",
        path=report.path,
        claim=claim,
        reason=report.problem or f"says_{report.result}",
        tests=report.tests,
        failures=report.failures,
        errors=report.errors,
        skipped=report.skipped,
    )


def _says(report: Evidence) -> str:
    if report.problem == "no_tests":
        return "shows no test that ran"
    if report.problem:
        return "cannot be read"
    if report.result == "passed":
        return "says passed"
    if report.kind == "exit_status":
        return "records an exit status other than 0"
    return f"has {report.failures} failures and {report.errors} errors in {report.tests} tests"
