"""Running acceptance items: what the signed rules say, in the repo, and what came of it.

``regex``, ``json`` and ``junit`` count only on a file that a command of the rules wrote in this
very run: what lay there before is somebody's word. Only ``passed`` passes.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

from loopx_kernel.domain.items import file_of
from loopx_kernel.domain.rules import AcceptanceItem, JudgeRule
from loopx_kernel.errors import Denied
from loopx_kernel.observe.files import read_inside
from loopx_kernel.observe.judge import Voted, vote
from loopx_kernel.observe.matching import FOUND, NO_PATTERN, NOT_FOUND
from loopx_kernel.observe.reports import no_constant, read_report, unique_keys
from loopx_kernel.observe.run import Problem, Run, run_command, split_command
from loopx_kernel.text import safe
from loopx_kernel.value import Value

Progress = Callable[[int, int, str], None]
"""Told before each item: how many were run, of how many, and which is next."""
Result = Literal["passed", "failed", "inconclusive"]
REGEX_SECONDS = 10
_LONGEST = 200
_INDEX = re.compile(r"0|[1-9][0-9]{0,9}")
_MATCHING = Path(__file__).with_name("matching.py")
_Mark = tuple[int, int, int, int]


class Seen(Value):
    """What an item gave. ``digest`` is a SHA-256 of what was looked at: output, file or votes;
    ``score`` (0 to 10) and ``confidence`` (a decimal as text) are a judge's."""

    result: Result
    detail: str
    digest: str
    score: int | None = None
    confidence: str | None = None


class Bench(Value):
    """Where and how items are run. ``question`` is what a judge is told of the goal; ``worker``
    the agent that the judge's command names, whose vote counts for nothing; ``search`` where else
    than in the system's folders programs are looked for."""

    repo: Path
    seconds: float
    judge: JudgeRule | None = None
    worker: str | None = None
    question: dict[str, Any] | None = None
    search: tuple[str, ...] = ()


def run(
    items: Sequence[AcceptanceItem], bench: Bench, progress: Progress | None = None
) -> tuple[Seen, ...]:
    """Runs the items, those with a command first, and gives what was seen of each, in the order
    they were given. Never raises for what a command, a file or a judge does."""
    before = {file_of(item): _mark(bench.repo, file_of(item)) for item in items if item.path}
    order = sorted(range(len(items)), key=lambda number: _place(items[number]))
    seen: dict[int, Seen] = {}
    for done, number in enumerate(order):
        item = items[number]
        if progress is not None:
            progress(done, len(items), item.id)
        seen[number] = _one(item, bench, before)
    return tuple(seen[number] for number in range(len(items)))


def _place(item: AcceptanceItem) -> int:
    if item.kind == "rubric":
        return 2
    return 0 if item.kind == "cmd" or item.command else 1


def _one(item: AcceptanceItem, bench: Bench, before: dict[str, _Mark | None]) -> Seen:
    if item.kind == "rubric":
        return _judged(item, bench)
    command = item.value if item.kind == "cmd" else item.command
    ran: Seen | None = None
    if command:
        mark = _mark(bench.repo, file_of(item)) if item.path else None
        ran = _ran(_run(command, bench), bench.seconds)
        if item.kind == "cmd" or ran.result != "passed":
            return ran
        before = {**before, file_of(item): mark}
    return _of_file(item, bench, before)


def _run(command: str, bench: Bench) -> Run:
    words = split_command(command)
    return run_command(words, bench.repo, seconds=bench.seconds, search=bench.search)


def _ran(run: Run, seconds: float) -> Seen:
    digest = _sha256(run.output)
    if run.problem is not None:
        return Seen("inconclusive", f"its command {_says(run.problem, seconds)}", digest)
    if run.status == 0:
        return Seen("passed", "exit status 0", digest)
    assert run.status is not None
    ended = f"signal {-run.status}" if run.status < 0 else f"exit status {run.status}"
    return Seen("failed", _detail(ended, _last_line(run.output)), digest)


def _of_file(item: AcceptanceItem, bench: Bench, before: dict[str, _Mark | None]) -> Seen:
    """What the item's file says, if a command of the rules wrote it since ``before``."""
    path = file_of(item)
    mark = _mark(bench.repo, path)
    if mark is None:
        return Seen("inconclusive", _detail(f"there is no file {path}"), _sha256(b""))
    if mark == before[path]:
        nobody = f"no command of the rules wrote {path} now"
        hint = f"; one is named by {item.kind}:… {path} <- COMMAND" if not item.command else ""
        return Seen("inconclusive", _detail(nobody + hint), _sha256(b""))
    try:
        _, content = read_inside(bench.repo, path, ())
    except Denied as refusal:
        return Seen("inconclusive", _detail(refusal.message), _sha256(b""))
    if _mark(bench.repo, path) != mark:
        return Seen("inconclusive", _detail(f"{path} changed while it was read"), _sha256(content))
    result, detail = _READERS[item.kind](item, content)
    return Seen(result, _detail(detail), _sha256(content))


def _junit(item: AcceptanceItem, content: bytes) -> tuple[Result, str]:
    report = read_report(item.path, content)
    if report is None or report.kind != "junit":
        return "inconclusive", f"{item.path} is no JUnit report"
    if report.problem is not None:
        says = "shows no test that ran" if report.problem == "no_tests" else "cannot be read"
        return "inconclusive", f"{item.path} {says}"
    bad = report.failures + report.errors
    result: Result = "passed" if report.result == "passed" else "failed"
    return result, f"{report.tests} tests, {bad} failed, {report.skipped} skipped"


def _regex(item: AcceptanceItem, content: bytes) -> tuple[Result, str]:
    argv = [sys.executable, "-I", str(_MATCHING)]
    stdin = json.dumps(item.value).encode() + b"\n" + content
    ran = run_command(argv, _MATCHING.parent, seconds=REGEX_SECONDS, stdin=stdin)
    if ran.problem is not None or ran.status not in (FOUND, NOT_FOUND, NO_PATTERN):
        return "inconclusive", f"looking for the pattern in {item.path} came to no end"
    if ran.status == NO_PATTERN:
        return "failed", "it is no pattern"
    found = ran.status == FOUND
    return "passed" if found else "failed", f"{'found' if found else 'not found'} in {item.path}"


def _json(item: AcceptanceItem, content: bytes) -> tuple[Result, str]:
    path, _, pointer = item.path.partition("#")
    try:
        # Numbers keep the words they are written in.
        value = json.loads(
            content.decode("utf-8-sig"),
            parse_int=str,
            parse_float=str,
            parse_constant=no_constant,
            object_pairs_hook=unique_keys,
        )
    except (ValueError, RecursionError):
        return "inconclusive", f"{path} is not JSON"
    try:
        for key in pointer.split("/")[1:]:
            value = _below(value, key.replace("~1", "/").replace("~0", "~"))
    except (KeyError, IndexError, TypeError, ValueError):
        return "failed", f"there is no {pointer} in {path}"
    if _as_text(value) == item.value:
        return "passed", f"{pointer} is {item.value}"
    return "failed", f"{pointer} is not {item.value}"


def _below(value: Any, name: str) -> Any:
    if isinstance(value, list) and _INDEX.fullmatch(name):
        return value[int(name)]
    return value[name]


def _as_text(value: Any) -> str | None:
    if isinstance(value, bool) or value is None:
        return json.dumps(value)
    return value if isinstance(value, str) else None


_READERS = {"junit": _junit, "regex": _regex, "json": _json}


def _judged(item: AcceptanceItem, bench: Bench) -> Seen:
    if bench.judge is None or item.threshold is None:
        return Seen("inconclusive", "the rules name no judge", _sha256(b""))
    if bench.worker is not None:
        detail = _detail(f"its judge names {bench.worker}, a worker")
        return Seen("inconclusive", detail, _sha256(b""))
    question = {
        **(bench.question or {}),
        "kind": "rubric",
        "item_id": item.id,
        "rubric": item.value,
        "scale": "a whole number from 0 to 10, alone on the first line",
    }
    asked = (bench.judge, bench.repo, question, item.threshold)
    voted = vote(*asked, seconds=bench.seconds, search=bench.search)
    found = voted.verdict
    words = json.dumps([reply.word for reply in voted.replies]).encode()
    detail = _voted(voted, bench, bench.judge.votes, item.threshold)
    return Seen(found.result, _detail(detail), _sha256(words), found.score, found.confidence)


def _voted(voted: Voted, bench: Bench, votes: int, threshold: int) -> str:
    found = voted.verdict
    if found.score is None:
        problem = voted.replies[-1].problem
        return f"its judge {_says(problem, bench.seconds) if problem else 'gave no vote'}"
    of = f"the median of {votes} votes" if votes > 1 else "the vote"
    return f"{of} is {found.score}, {threshold} is asked for"


def _says(problem: Problem, seconds: float) -> str:
    if problem == "timed_out":
        return f"did not end within {seconds:g} s"
    if problem == "not_started":
        return "could not be started; is it in a folder of search_path?"
    return "printed without end"


def _mark(repo: Path, path: str) -> _Mark | None:
    """What tells one state of a file from another. Whatever time a file claims, a command that
    writes it now changes that; one that only changes its mode has not written it."""
    try:
        found = (repo / path).lstat()
    except (OSError, ValueError):
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def _last_line(output: bytes) -> str:
    lines = output[-4096:].decode("utf-8", "replace").split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "")


def _detail(text: str, more: str = "") -> str:
    return safe(re.sub(r"\x1b\[[0-9;]*m", "", f"{text}: {more}" if more else text))[:_LONGEST]


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
