"""Whether a hand-in is verified: by what code read and ran, not by what was said."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, Literal, TypeAlias

from loopx_kernel.domain.records import EvidenceRef, Todo
from loopx_kernel.domain.records_of_work import Outcome

Tests = Literal["passed", "failed"]
_SHARE = re.compile(r"0|1|0\.[0-9]{1,6}")
Results: TypeAlias = Sequence[Mapping[str, Any]]
"""What running acceptance items gave, as ``acceptance.ran`` holds it."""


def said(evidence: Sequence[EvidenceRef], tests: Tests | None) -> Tests | None:
    """What a hand-in says of tests: failure needs no claim, a report that says so is enough."""
    failed = any(one.result == "failed" for one in evidence)
    return tests or ("failed" if failed else None)


def contradicts(evidence: Sequence[EvidenceRef], tests: Tests | None) -> bool:
    """Whether a report handed in says something else than what is claimed."""
    reports = [one for one in evidence if one.kind != "file"]
    if tests == "passed":
        return any(one.result != "passed" for one in reports)
    return tests == "failed" and bool(reports) and all(one.result == "passed" for one in reports)


def agreed(evidence: Sequence[EvidenceRef], tests: Tests | None) -> Tests | None:
    """The claim as far as the reports bear it out."""
    return said(evidence, None) if contradicts(evidence, tests) else tests


def fault(
    todo: Todo,
    outcome: Outcome,
    *,
    evidence: Sequence[EvidenceRef],
    tests: Tests | None,
    proven: bool,
    results: Results,
) -> str:
    """What speaks against this outcome, in words; nothing where it holds. Failure needs no
    proof, success does."""
    if outcome in ("done", "progress") and contradicts(evidence, tests):
        return f"{tests!r} was claimed, but a report says something else"
    if outcome != "done":
        return ""
    if (said(evidence, tests) or todo.claimed_tests) == "failed":
        return "its tests failed"
    passed = {one["item_id"] for one in results if one["result"] == "passed"}
    for item in todo.acceptance:
        if item not in passed:
            detail = next((one.get("detail") for one in results if one["item_id"] == item), None)
            return f"acceptance item {item} did not pass: {detail or 'it was not run'}"
    if todo.requires_statement and not (proven and tests == "passed"):
        return "no machine-readable report says passed"
    return ""


def least_confidence(results: Results) -> str | None:
    """The lowest share of votes on a winning side, a decimal as text; ``None`` without a vote."""
    shares = [str(one["confidence"]) for one in results if one.get("confidence") is not None]
    return min((share for share in shares if _SHARE.fullmatch(share)), key=Decimal, default=None)


def score(results: Results) -> str | None:
    """How much of a todo's acceptance holds, as a decimal: one for each item that passed, and
    tenths for the votes of a rubric that did not."""
    if not results:
        return None
    tenths = sum(10 if one["result"] == "passed" else one.get("score") or 0 for one in results)
    return f"{tenths // 10}.{tenths % 10}"
