"""`loopx status`: where are we, what waits for a person, what is next."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from loopx_kernel.cli.framework import Command
from loopx_kernel.cli.session import Session
from loopx_kernel.cli.status_line import parts_of_everywhere, parts_of_goal, parts_of_workspace
from loopx_kernel.cli.values import gate_rules, status_value
from loopx_kernel.clock import format_time, span, to_the_second
from loopx_kernel.text import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from loopx_kernel.cli.output import Printer
    from loopx_kernel.domain.freshness import SourceReading
    from loopx_kernel.domain.needs_you import NeedsYou
    from loopx_kernel.views.goal import GoalView
    from loopx_kernel.workspace import Workspace

SCHEMA = "loopx_status_v0"


@click.command("status", cls=Command, example="loopx status --line")
@click.option("--line", "one_line", is_flag=True, help="One line, for a status bar of tmux.")
@click.option(
    "--scope",
    type=click.Choice(["goal", "workspace", "global"]),
    default="goal",
    show_default=True,
    help="One goal, all goals of the workspace, or of every workspace on your list.",
)
@click.pass_obj
def command(session: Session, /, *, one_line: bool, scope: str) -> None:
    """Where are we, what waits for a person, what is next."""
    if scope == "global":
        _of_everywhere(session, one_line)
        return
    workspace = session.reading()
    if scope == "workspace":
        _of_workspace(session, workspace, one_line)
    else:
        _of_goal(session, workspace, one_line)


def _of_goal(session: Session, workspace: Workspace, one_line: bool) -> None:
    view = workspace.view(session.goal_id(workspace), session.agent_id)
    if one_line and not session.options.json:
        session.printer().bar(parts_of_goal(view))
        return
    rules = gate_rules(workspace, view.goal_id)
    worker = session.agent_id
    if worker is None and not view.counts["total"]:
        worker = next((one.id for one in workspace.agents.list()), None)
    session.answer(
        SCHEMA,
        view.envelope,
        {"scope": "goal", **status_value(view, rules)},
        lambda printer: show_goal(printer, view, rules, worker),
    )


def _of_workspace(session: Session, workspace: Workspace, one_line: bool) -> None:
    view = workspace.workspace_view()
    if one_line and not session.options.json:
        session.printer().bar(parts_of_workspace(view))
        return
    goals = [(goal, gate_rules(workspace, goal.goal_id)) for goal in view.goals]
    body = {
        "scope": "workspace",
        "needs_you": view.needs_you,
        "goals": [status_value(goal, rules) for goal, rules in goals],
        "unread": view.unread,
    }

    def show(printer: Printer) -> None:
        from loopx_kernel.cli.everywhere import goals_table
        from loopx_kernel.cli.summary import show_summary, show_waiting

        here = [("", goal) for goal in view.goals]
        waiting = [("", item) for item in view.needs_you]
        show_summary(printer, here, waiting)
        for unread in view.unread:
            printer.line(f"{unread.goal_id}: not read: {unread.message}", "bold red")
        for warned in dict.fromkeys(warned for goal in view.goals for warned in goal.warnings):
            printer.line(f"warning: {warned.sentence}", "bold red")
        goals_table(printer, here)
        show_waiting(printer, waiting)

    session.answer(SCHEMA, view.envelope, body, show)


def _of_everywhere(session: Session, one_line: bool) -> None:
    from loopx_kernel.cli.everywhere import (
        goals_table,
        look,
        needs_value,
        show_unread,
        unread_value,
    )

    found = look(session, "status")
    view = found.view
    if one_line and not session.options.json:
        session.printer().bar(parts_of_everywhere(view))
        return
    goals = [
        {"workspace": root, **status_value(goal, gate_rules(found.opened[root], goal.goal_id))}
        for root, goal in view.goals
    ]
    body = {"scope": "global", "needs_you": needs_value(view), "goals": goals}

    def show(printer: Printer) -> None:
        from loopx_kernel.cli.summary import show_summary, show_waiting

        show_summary(printer, view.goals, view.needs_you)
        show_unread(printer, view)
        goals_table(printer, view.goals)
        show_waiting(printer, view.needs_you)

    session.answer(SCHEMA, view.envelope, body | unread_value(view), show)


def show_goal(
    printer: Printer, view: GoalView, rules: tuple[str, ...], worker: str | None = None
) -> None:
    """The whole of a goal's status for people: three lines that say where it is, what waits for a
    person and what is next, then the rest. ``rules`` are what needs approval, ``worker`` is who
    may add work."""
    reasons = "; ".join(reason.message for reason in view.contract.reasons)
    done = f"{view.counts['done']} of {counted(view.counts['total'], 'todo')} done"
    printer.line(f"answer: {view.display_answer}: {reasons} ({done})", "bold")
    printer.line(f"needs you: {_first(view.needs_you)}", "bold yellow" if view.needs_you else "")
    printer.line(f"next todo: {_next(view, worker or 'claude-code')}")
    printer.line(
        f"goal: {view.goal_id} ({view.display_name}), {view.status}, "
        f"objective v{view.objective_version}: {view.objective}"
    )
    printer.line(f"gate rules: {', '.join(rules) or 'none'}")
    for warned in view.warnings:
        printer.line(f"warning: {warned.sentence}", "bold red")
        printer.line(f"  next: {warned.next}")
    for item in view.needs_you:
        printer.line(f"waiting for a person: {item.id} {item.kind}: {item.question}", "yellow")
        printer.line(f"  asked by {item.asked_by}; next: {item.next}")
    _show_counts(printer, view)
    for path in view.reads.missing_files:
        printer.line(f"missing: {path}; the next writing command makes it again", "yellow")
    for lost in view.reads.missing_evidence:
        printer.line(f"missing: the copy of {lost.of}; only that file can give it back", "bold red")


def _aged(source: SourceReading) -> str:
    """How old a source is against its window, and what its last look gave."""
    age = source.staleness_seconds
    since = "never read" if age is None else f"last success {span(age)} ago"
    return (
        f"{source.status}: {since}, window {span(source.window_seconds)}; "
        f"last look: {source.read_status}"
    )


def _first(waiting: Sequence[NeedsYou]) -> str:
    """What waits longest, and how much more there is."""
    if not waiting:
        return "nothing"
    more = f" (and {len(waiting) - 1} more)" if len(waiting) > 1 else ""
    return f"{waiting[0].id} {waiting[0].kind}: {waiting[0].question}{more}"


def _next(view: GoalView, worker: str) -> str:
    contract, wake = view.contract, view.contract.scheduler_hint.next_wake_at
    if contract.todo is not None:
        return f"{contract.todo.id} {contract.todo.title}"
    if not view.counts["total"]:
        return f"none yet; add one: loopx todo add 'First piece of work' --agent {worker}"
    if contract.repair is not None:
        return f"none before this, by the {contract.repair.by}: {contract.repair.command}"
    return "none is ready" + (f"; next look {to_the_second(wake)}" if wake is not None else "")


def _show_counts(printer: Printer, view: GoalView) -> None:
    counts = [f"{count} {name}" for name, count in view.counts.items() if name != "total" and count]
    printer.line(f"todos: {view.counts['total']} in total; {', '.join(counts) or 'none'}")
    quota = view.contract.quota
    printer.line(
        f"quota: {quota.used} of {quota.allowed} slots used in {quota.window_hours} h, "
        f"{quota.aged_out} aged out"
    )
    for lease in view.leases:
        if lease.status in ("active", "expired"):
            until = format_time(lease.expires_at)
            printer.line(f"lease: {lease.todo_id} {lease.owner} {lease.status}, until {until}")
    for source in view.sources:
        style = "bold red" if source.alert else ""
        printer.line(f"source: {source.id} {_aged(source)}", style)
    failing = ", ".join(f"{check.check} ({check.count})" for check in view.completion.failing)
    verdict = "complete" if view.completion.complete else f"not complete: {failing}"
    printer.line(f"completion: {verdict} [derived]")
