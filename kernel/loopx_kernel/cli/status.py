"""`loopx status`: where are we, what waits for a person, what is next."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from loopx_kernel.cli.framework import Command
from loopx_kernel.cli.session import Session
from loopx_kernel.cli.values import gate_rules, status_value
from loopx_kernel.clock import format_time

if TYPE_CHECKING:
    from loopx_kernel.cli.output import Printer
    from loopx_kernel.views.goal import GoalView
    from loopx_kernel.views.workspace import WorkspaceView
    from loopx_kernel.workspace import Workspace

SCHEMA = "loopx_status_v0"


@click.command("status", cls=Command, example="loopx status --line")
@click.option("--line", "one_line", is_flag=True, help="One line, for a status bar.")
@click.option(
    "--scope",
    type=click.Choice(["goal", "workspace"]),
    default="goal",
    show_default=True,
    help="One goal, or all goals of the workspace.",
)
@click.pass_obj
def command(session: Session, /, *, one_line: bool, scope: str) -> None:
    """Where are we, what waits for a person, what is next."""
    workspace = session.reading()
    if scope == "workspace":
        _of_workspace(session, workspace, one_line)
    else:
        _of_goal(session, workspace, one_line)


def _of_goal(session: Session, workspace: Workspace, one_line: bool) -> None:
    view = workspace.view(session.goal_id(workspace), session.agent_id)
    if one_line and not session.options.json:
        session.printer().line(goal_line(view))
        return
    rules = gate_rules(workspace, view.goal_id)
    session.answer(
        SCHEMA,
        view.envelope,
        {"scope": "goal", **status_value(view, rules)},
        lambda printer: show_goal(printer, view, rules),
    )


def _of_workspace(session: Session, workspace: Workspace, one_line: bool) -> None:
    view = workspace.workspace_view()
    if one_line and not session.options.json:
        session.printer().line(_workspace_line(view))
        return
    goals = [(goal, gate_rules(workspace, goal.goal_id)) for goal in view.goals]
    body = {
        "scope": "workspace",
        "needs_you": view.needs_you,
        "goals": [status_value(goal, rules) for goal, rules in goals],
        "unread": view.unread,
    }

    def show(printer: Printer) -> None:
        for unread in view.unread:
            printer.line(f"{unread.goal_id}: not read: {unread.message}", "bold red")
        printer.table(
            ("goal", "answer", "needs you", "next", "done", "slots"),
            (
                (
                    goal.goal_id,
                    goal.display_answer,
                    len(goal.needs_you) or "",
                    goal.contract.todo.id if goal.contract.todo else "",
                    f"{goal.counts['done']}/{goal.counts['total']}",
                    f"{goal.contract.quota.used}/{goal.contract.quota.allowed}",
                )
                for goal in view.goals
            ),
        )

    session.answer(SCHEMA, view.envelope, body, show)


def goal_line(view: GoalView) -> str:
    """One line for a status bar; alerts come first."""
    quota = view.contract.quota
    parts = [f"{reason.code}!" for reason in view.envelope.alert_reasons]
    parts.append(f"{view.goal_id} {view.display_answer}")
    if view.needs_you:
        parts.append(f"{len(view.needs_you)} for you: {view.needs_you[0].id}")
    if view.contract.todo is not None:
        parts.append(f"next {view.contract.todo.id}")
    parts.append(f"{view.counts['done']}/{view.counts['total']} done")
    parts.append(f"{quota.used}/{quota.allowed} slots")
    return " | ".join(parts)


def _workspace_line(view: WorkspaceView) -> str:
    parts = [f"{reason.code}!" for reason in view.envelope.alert_reasons]
    parts.append(f"{len(view.goals)} goal{'s' * (len(view.goals) != 1)}")
    parts.append(f"{len(view.needs_you)} for you")
    answers = [goal.display_answer for goal in view.goals]
    parts += [f"{answers.count(answer)} {answer}" for answer in sorted(set(answers))]
    return " | ".join(parts)


def show_goal(printer: Printer, view: GoalView, rules: tuple[str, ...]) -> None:
    """The whole of a goal's status for people. ``rules`` are what needs approval."""
    contract = view.contract
    printer.line(
        f"goal: {view.goal_id} ({view.display_name}), {view.status}, "
        f"objective v{view.objective_version}: {view.objective}"
    )
    printer.line(f"gate rules: {', '.join(rules) or 'none'}")
    if contract.todo is not None:
        printer.line(f"next todo: {contract.todo.id} {contract.todo.title}")
    elif not view.todos:
        printer.line("next todo: none yet; add one: loopx todo add TITLE --agent ID")
    else:
        printer.line("next todo: none is ready")
    reasons = "; ".join(reason.message for reason in contract.reasons)
    printer.line(f"answer: {view.display_answer}: {reasons}")
    for item in view.needs_you:
        printer.line(f"needs you: {item.id} {item.kind}: {item.question}", "bold yellow")
        printer.line(f"  asked by {item.asked_by}; next: {item.next}")
    _show_counts(printer, view)


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
        printer.line(f"source: {source.id} {source.status}, last read {source.read_status}", style)
    failing = ", ".join(f"{check.check} ({check.count})" for check in view.completion.failing)
    verdict = "complete" if view.completion.complete else f"not complete: {failing}"
    printer.line(f"completion: {verdict} [derived]")
