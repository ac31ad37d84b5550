"""Is everything as it should be, layer by layer, and honest about what only looks safe."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from loopx_kernel.clock import to_the_second
from loopx_kernel.domain.event import WORKSPACE_JOURNAL
from loopx_kernel.text import counted
from loopx_kernel.workspace import health_of_trust
from loopx_kernel.workspace.damage import refresh_command
from loopx_kernel.workspace.findings import Finding

if TYPE_CHECKING:
    from loopx_kernel.views.goal import GoalView
    from loopx_kernel.views.workspace import WorkspaceView
    from loopx_kernel.workspace import Workspace


def look(workspace: Workspace, view: WorkspaceView, *, deep: bool = False) -> Iterator[Finding]:
    """Every finding as it is made: each journal is replayed from line 1, which takes long where
    it is long. ``deep`` compares every file and checkpoint with that too."""
    yield from _of_workspace(workspace)
    yield from _of_goals(workspace, view.goals)
    if deep:
        yield from _deep(workspace)
    for unread in view.unread:
        yield Finding(f"{unread.goal_id}: reading", False, unread.message, unread.next)


def _of_workspace(workspace: Workspace) -> Iterator[Finding]:
    yield Finding("workspace", True, f"{workspace.root}, id {workspace.workspace_id}")
    yield _journal(workspace, WORKSPACE_JOURNAL)
    yield from health_of_trust.findings(workspace)
    agents = ", ".join(agent.id for agent in workspace.agents.list()) or "none registered"
    yield Finding(
        "agents",
        True,
        f"{agents}; an agent's name is a name, not a proof, "
        "and whoever may write these files can also write what the kernel itself saw",
    )
    yield Finding("goals", bool(workspace.goal_ids), *_goals(workspace))


def _goals(workspace: Workspace) -> tuple[str, str]:
    names = ", ".join(workspace.goal_ids)
    return names or "not initialised", "loopx start-goal --guided"


def _of_goals(workspace: Workspace, goals: tuple[GoalView, ...]) -> Iterator[Finding]:
    for goal in goals:
        yield _journal(workspace, goal.goal_id)
        yield from _files(workspace, goal)
        yield from _set_aside(workspace, goal.goal_id)
        yield _evidence(workspace, goal)
        for warned in goal.warnings:
            yield Finding(f"{goal.goal_id}: {warned.id}", False, warned.sentence, warned.next)
        yield from _sources(goal)


def _journal(workspace: Workspace, goal_id: str) -> Finding:
    found, since = workspace.events.verified(goal_id)
    problems = "; ".join((*found.problems, *found.alerts))
    whole = found.ok and not problems
    detail = f"{found.lines} lines, chain whole, signatures hold" if whole else problems
    if since is not None:
        detail += f", seen at {to_the_second(since)}; the file is the same since"
    return Finding(f"{goal_id}: journal", whole, detail, f"loopx event verify --goal {goal_id}")


def _deep(workspace: Workspace) -> Iterator[Finding]:
    """Each thing that is not what a replay from line 1 gives, with the word for how."""
    for goal_id in (WORKSPACE_JOURNAL, *workspace.goal_ids):
        found = workspace.events.audit(goal_id)
        whole = "all as a replay from line 1 gives it"
        yield Finding(
            f"{goal_id}: deep",
            found.status == "whole",
            whole if found.status == "whole" else found.status,
            f"loopx event verify --deep --goal {goal_id}",
        )
        for item in found.findings:
            well = item.status == "behind"
            detail = f"{item.path}: {item.detail}"
            yield Finding(f"{goal_id}: {item.status}", well, detail, item.command)


def _files(workspace: Workspace, goal: GoalView) -> Iterator[Finding]:
    reads = goal.reads
    name = goal.goal_id
    damage = "; ".join(f"{item.path}: {item.reason}" for item in reads.damage)
    fix = reads.damage[0].command if reads.damage else None
    yield Finding(
        f"{name}: files",
        not damage,
        damage or "registry, leases, spend, statements as recorded",
        fix,
    )
    missing = ", ".join(reads.missing_files)
    detail = (
        f"missing: {missing}; the next writing command rebuilds them" if missing else "all there"
    )
    yield Finding(f"{name}: materialised", not missing, detail, _refresh(workspace, name))
    if reads.behind_files:
        behind = ", ".join(reads.behind_files)
        yield Finding(f"{name}: behind", True, f"{behind}; the next writing command catches up")
    drift = "; ".join(item.sentence for item in reads.drift)
    check = f"loopx state check --goal {name}"
    yield Finding(f"{name}: state file", not drift, drift or "says what the journal says", check)
    repo = "is there" if reads.repo_present else "is missing"
    needed = goal.status != "retired"
    yield Finding(
        f"{name}: repo",
        reads.repo_present or not needed,
        f"{goal.repo} {repo}" if needed else f"{goal.repo}: the goal is retired and needs none",
        "ls",
    )
    if reads.incomplete_tail:
        tail = "an unfinished last line; the next writer sets it aside"
        yield Finding(f"{name}: tail", True, tail)


def _refresh(workspace: Workspace, goal_id: str) -> str:
    return refresh_command(goal_id, (agent.id for agent in workspace.agents.list()))


def _set_aside(workspace: Workspace, goal_id: str) -> Iterator[Finding]:
    """Lines that repairs cut off. A person signed that; it is told for as long as the goal is."""
    for cut in workspace.state(goal_id).cuts:
        detail = (
            f"{counted(cut.lines, 'line')} after #{cut.after.seq}, by the repair {cut.event_id}: "
            "in quarantine, and counted by nothing until somebody does it again"
        )
        yield Finding(f"{goal_id}: set aside", True, detail)


def _evidence(workspace: Workspace, goal: GoalView) -> Finding:
    """Kept copies of evidence. Those of no hand-in were kept before an append that failed."""
    found, lost = workspace.evidence.kept(goal.goal_id), goal.reads.missing_evidence
    detail = f"{counted(found.copies, 'file')} kept, {found.orphans} of no hand-in"
    if lost:
        names = ", ".join(f"{item.path} ({item.of})" for item in lost)
        detail += f"; missing: {names}; only the file handed in can give it back"
    fix = _refresh(workspace, goal.goal_id)
    return Finding(f"{goal.goal_id}: evidence", not lost, detail, fix)


def _sources(goal: GoalView) -> Iterator[Finding]:
    """Each layer of each source apart, then the hosts that read them."""
    from loopx_kernel.views.layers import layer_of_host, layers_of

    name = goal.goal_id
    for source in goal.sources:
        for layer in layers_of(source, name):
            place = f"{name}: source {source.id}: {layer.name}"
            yield Finding(place, layer.ok, layer.detail, layer.fix)
    for host in goal.hosts:
        layer = layer_of_host(host, name)
        yield Finding(f"{name}: {layer.name}", layer.ok, layer.detail, layer.fix)
