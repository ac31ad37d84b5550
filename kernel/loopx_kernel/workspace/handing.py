"""What the kernel itself looks at when work is handed in, before any lock is taken."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from loopx_kernel.domain.records import EvidenceRef, Todo
from loopx_kernel.domain.state import GoalState
from loopx_kernel.domain.verification import Results, Tests
from loopx_kernel.errors import Denied, LoopxError
from loopx_kernel.store.objects import KEPT_LIMIT
from loopx_kernel.value import Value
from loopx_kernel.workspace.core import Core


@dataclass(frozen=True, slots=True)
class Looked:
    """The files handed in, bound by digest; whether a machine could read the claim in them; the
    bytes of those that are kept, and the commands that records are of."""

    evidence: tuple[EvidenceRef, ...]
    proven: bool
    keeps: tuple[bytes, ...] = field(repr=False)
    commands: tuple[str, ...] = ()


def look_at(
    core: Core,
    state: GoalState,
    paths: Sequence[str],
    tests: Tests | None,
    *,
    judged: bool = False,
) -> Looked:
    """Reads the files once. Raises ``missing_evidence``, and ``evidence_mismatch`` where they do
    not say what is claimed, unless that is ``judged`` later."""
    from loopx_kernel.observe.evidence import agree, bind

    home = core.state_file(state).parent
    found = [bind(core.repo(state), path, (home,)) for path in paths]
    try:
        proven = agree(found, tests)
    except Denied:
        if not judged:
            raise
        proven = False
    refs = tuple(
        EvidenceRef(
            path=item.path,
            sha256=item.sha256,
            size=item.size,
            kind=item.kind,
            result=item.result,
            tests=item.tests if item.kind == "junit" else None,
            failures=item.failures + item.errors if item.kind == "junit" else None,
            kept=item.size <= KEPT_LIMIT,
        )
        for item in found
    )
    keeps = tuple(one.content for one in found if one.size <= KEPT_LIMIT)
    return Looked(refs, proven, keeps, tuple(one.command for one in found if one.command))


class Ran(Value):
    """What running a todo's acceptance items gave, and a digest of what the repo holds."""

    results: Results = ()
    digest: str | None = None


def run_for(core: Core, state: GoalState, todo: Todo | None, seen: Looked) -> Ran:
    """Runs what the signed rules name for this todo, now; nothing without one."""
    if todo is None:
        return Ran()
    results: Results = ()
    if todo.acceptance:
        from loopx_kernel.workspace.accepting import run_items

        results = run_items(core, state, todo.acceptance)
    reports = [one.path for one in seen.evidence if one.kind != "file"]
    return Ran(results, _digest(core, state, todo, reports))


def _digest(core: Core, state: GoalState, todo: Todo, reports: Sequence[str]) -> str | None:
    """Of the files, not of the worker's words, nor of reports, which tell the time; ``None``
    where they are too many to look at."""
    from loopx_kernel.observe.repo import diff_digest

    without = (*core.rendered_in_repo(state), *reports)
    try:
        return diff_digest(core.repo(state), None, todo.write_scope, without=without)
    except LoopxError:
        return None
