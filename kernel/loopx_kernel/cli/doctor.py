"""`loopx doctor`: each layer apart, and honest about what only looks safe."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from loopx_kernel.cli.framework import Command
from loopx_kernel.cli.session import Session
from loopx_kernel.clock import format_time

if TYPE_CHECKING:
    from loopx_kernel.cli.output import Printer
    from loopx_kernel.domain.freshness import SourceReading
    from loopx_kernel.views.goal import GoalView
    from loopx_kernel.workspace import Workspace

SCHEMA = "loopx_doctor_v0"
REFRESH = "loopx refresh-state --agent ID --handoff TEXT"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing looked at; ``fix`` is the command that helps where it is not well."""

    name: str
    ok: bool
    detail: str
    fix: str | None = None
    warns: bool = False


@click.command("doctor", cls=Command, example="loopx doctor --json")
@click.option("--deep", is_flag=True, help="Compare every file and checkpoint from line 1.")
@click.pass_obj
def command(session: Session, /, *, deep: bool) -> int:
    """Is everything as it should be, layer by layer. Exit 0 healthy, 1 not."""
    workspace = session.reading()
    view = workspace.workspace_view(projection="doctor")
    checks = [*_of_workspace(workspace), *_of_goals(workspace, view.goals)]
    if deep:
        checks += _deep(workspace)
    checks += [
        Finding(f"{unread.goal_id}: reading", False, unread.message, unread.next)
        for unread in view.unread
    ]
    healthy = all(check.ok for check in checks)
    body = {
        "healthy": healthy,
        "level": _level(workspace),
        "enabled_state_implies_freshness": False,
        "checks": [{"name": c.name, "ok": c.ok, "detail": c.detail, "fix": c.fix} for c in checks],
    }

    def show(printer: Printer) -> None:
        for check in checks:
            style = "" if check.ok else "bold red"
            mark = "ok " if check.ok else "BAD"
            printer.line(f"{mark} {check.name}: {check.detail}", "red" if check.warns else style)
            if check.fix and not check.ok:
                printer.line(f"    fix: {check.fix}")
        printer.line("healthy" if healthy else "NOT healthy", "" if healthy else "bold red")

    session.answer(SCHEMA, view.envelope, body, show)
    return 0 if healthy else 1


def _level(workspace: Workspace) -> str:
    """The weakest level at which a decision can be signed here."""
    present = [owner for owner in workspace.owners.list() if owner.revoked_seq is None]
    if not present:
        return "none"
    return "software" if any(owner.allow_unattended for owner in present) else "passphrase"


def _of_workspace(workspace: Workspace) -> Iterator[Finding]:
    yield Finding("workspace", True, f"{workspace.root}, id {workspace.workspace_id}")
    yield _journal(workspace, "_workspace")
    present = [owner for owner in workspace.owners.list() if owner.revoked_seq is None]
    names = ", ".join(f"{owner.name} {owner.fingerprint}" for owner in present)
    yield Finding("owners", bool(present), names or "nobody can decide here", "loopx connect")
    for owner in present:
        if owner.allow_unattended:
            detail = "may sign UNATTENDED: any program of this user can decide in this name"
        else:
            detail = "signs with a passphrase; only that stops a hostile program of this user"
        yield Finding(f"owner {owner.name}", True, detail, warns=owner.allow_unattended)
    for choice in workspace.keys.choices():
        # A key of yours that is nobody's here is no fault of this workspace.
        well = choice.problem is None or (choice.owner is None and bool(choice.fingerprint))
        detail = choice.problem or f"{choice.owner} signs with it"
        yield Finding(f"key {choice.path}", well, detail, f"ls -l {choice.path}")
    agents = ", ".join(agent.id for agent in workspace.agents.list()) or "none registered"
    yield Finding("agents", True, f"{agents}; an agent's name is a name, not a proof")
    yield Finding("goals", bool(workspace.goal_ids), *_goals(workspace))


def _goals(workspace: Workspace) -> tuple[str, str]:
    names = ", ".join(workspace.goal_ids)
    return names or "not initialised", "loopx start-goal --guided"


def _of_goals(workspace: Workspace, goals: tuple[GoalView, ...]) -> Iterator[Finding]:
    for goal in goals:
        yield _journal(workspace, goal.goal_id)
        yield from _files(goal)
        for source in goal.sources:
            yield _source(goal.goal_id, source)


def _journal(workspace: Workspace, goal_id: str) -> Finding:
    found = workspace.events.verify(goal_id)
    problems = "; ".join((*found.problems, *found.alerts))
    whole = found.ok and not problems
    detail = f"{found.lines} lines, chain whole, signatures hold" if whole else problems
    return Finding(f"{goal_id}: journal", whole, detail, f"loopx event verify --goal {goal_id}")


def _deep(workspace: Workspace) -> Iterator[Finding]:
    """Each thing that is not what a replay from line 1 gives, with the word for how."""
    for goal_id in ("_workspace", *workspace.goal_ids):
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


def _files(goal: GoalView) -> Iterator[Finding]:
    reads = goal.reads
    name = goal.goal_id
    damage = "; ".join(f"{item.path}: {item.reason}" for item in reads.damage)
    fix = reads.damage[0].command if reads.damage else None
    yield Finding(
        f"{name}: files", not damage, damage or "registry, leases, spend as recorded", fix
    )
    missing = ", ".join(reads.missing_files)
    detail = (
        f"missing: {missing}; the next writing command rebuilds them" if missing else "all there"
    )
    yield Finding(f"{name}: materialised", not missing, detail, REFRESH)
    if reads.behind_files:
        behind = ", ".join(reads.behind_files)
        yield Finding(f"{name}: behind", True, f"{behind}; the next writing command catches up")
    drift = "; ".join(item.sentence for item in reads.drift)
    check = f"loopx state check --goal {name}"
    yield Finding(f"{name}: state file", not drift, drift or "says what the journal says", check)
    repo = "is there" if reads.repo_present else "is missing"
    yield Finding(f"{name}: repo", reads.repo_present, f"{goal.repo} {repo}", "ls")
    if reads.incomplete_tail:
        tail = "an unfinished last line; the next writer sets it aside"
        yield Finding(f"{name}: tail", True, tail)


def _source(goal_id: str, source: SourceReading) -> Finding:
    last = format_time(source.last_success_at) if source.last_success_at else "never"
    age = "" if source.staleness_seconds is None else f", {source.staleness_seconds} s ago"
    detail = (
        f"{source.status}, {source.read_status}, last success {last}{age}, "
        f"window {source.window_seconds} s, failures in a row {source.failure_streak}, "
        f"queue {source.queue}"
    )
    if source.alert_reasons:
        detail += f" [{', '.join(source.alert_reasons)}]"
    fix = "loopx source read" if source.bound else "loopx source bind"
    return Finding(
        f"{goal_id}: source {source.id}",
        not source.alert,
        detail,
        f"{fix} {source.id} --goal {goal_id}",
    )
