"""`loopx goal`: list, show, pause, resume and retire."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import click

from loopx_kernel.cli import goal_edit
from loopx_kernel.cli.framework import Group
from loopx_kernel.cli.session import Session
from loopx_kernel.cli.values import goal_value, rules_value

if TYPE_CHECKING:
    from loopx_kernel.cli.output import Printer

SCHEMA = "loopx_goals_v0"


@click.group("goal", cls=Group, example="loopx goal list")
def command() -> None:
    """List, show, edit, pause, resume or retire goals."""


goal_edit.register(command)


@command.command("list", example="loopx goal list --json")
@click.pass_obj
def list_all(session: Session) -> None:
    """All goals of the workspace."""
    workspace = session.reading()
    view = workspace.workspace_view(projection="goals")

    def show(printer: Printer) -> None:
        printer.table(
            ("goal", "status", "name", "objective"),
            ((g.goal_id, g.status, g.display_name, g.objective) for g in view.goals),
        )
        for unread in view.unread:
            printer.line(f"{unread.goal_id}: not read: {unread.message}", "bold red")

    body = {"goals": [goal_value(goal) for goal in view.goals], "unread": view.unread}
    session.answer(SCHEMA, view.envelope, body, show)


@command.command("show", example="loopx goal show --goal dark-mode")
@click.pass_obj
def show(session: Session) -> None:
    """One goal with all its rules."""
    workspace = session.reading()
    view = workspace.view(session.goal_id(workspace), projection="goal")
    rules = rules_value(workspace, view.goal_id)
    value = goal_value(view) | {"domain": view.domain, "repo": view.repo, "rules": rules}

    def text(printer: Printer) -> None:
        printer.line(f"{view.goal_id} ({view.display_name}), {view.status}", "bold")
        printer.line(f"objective v{view.objective_version}: {view.objective}")
        printer.line(f"repo: {view.repo}")
        printer.line(f"state file: {view.state_file}")
        scopes = rules["coordination"]["write_scope"]
        printer.line(f"write scope: {', '.join(scopes) or 'nothing without approval'}")
        kinds = rules["coordination"]["requires_parent_approval"]
        printer.line(f"needs approval: {', '.join([*kinds, *rules['gates']]) or 'nothing'}")
        for item in rules["acceptance"]:
            optional = " (optional)" if item["optional"] else ""
            goal = " ".join(filter(None, (item["value"], item["path"])))
            goal += f" >= {item['threshold']}" if item["threshold"] else ""
            goal += f" <- {item['command']}" if item["command"] else ""
            printer.line(f"acceptance {item['id']}{optional}: {item['kind']} {goal}")
        if rules["judge"]:
            printer.line(f"judge: {rules['judge']['command']}, votes: {rules['judge']['votes']}")
        if rules["search_path"]:
            printer.line(f"search path: {', '.join(rules['search_path'])}, then the system's")
        for source in view.sources:
            printer.line(f"source {source.id}: {source.provider}")
        quota = rules["quota"]
        printer.line(
            f"quota: {quota['compute']} of {quota['window_hours']} h, "
            f"slots of {quota['slot_minutes']} min"
        )

    session.answer(SCHEMA, view.envelope, {"goal": value}, text)


@command.command("pause", example="loopx goal pause --goal dark-mode --reason 'release freeze'")
@click.option("--reason", required=True, metavar="TEXT", help="Why.")
@click.option("--dry-run", is_flag=True, help="Show what would be signed; write nothing.")
@click.pass_obj
def pause(session: Session, /, *, reason: str, dry_run: bool) -> None:
    """Start nothing new for now; a person signs."""
    _change(session, "paused", reason, dry_run)


@command.command("resume", example="loopx goal resume --goal dark-mode --reason 'released'")
@click.option("--reason", required=True, metavar="TEXT", help="Why.")
@click.option("--dry-run", is_flag=True, help="Show what would be signed; write nothing.")
@click.pass_obj
def resume(session: Session, /, *, reason: str, dry_run: bool) -> None:
    """Go on with a paused goal; a person signs."""
    _change(session, "resumed", reason, dry_run)


@command.command("retire", example="loopx goal retire --goal dark-mode --reason 'no longer wanted'")
@click.option("--reason", required=True, metavar="TEXT", help="Why.")
@click.option("--dry-run", is_flag=True, help="Show what would be signed; write nothing.")
@click.pass_obj
def retire(session: Session, /, *, reason: str, dry_run: bool) -> None:
    """Give a goal up for good; it stays readable; a person signs."""
    _change(session, "retired", reason, dry_run)


def _change(
    session: Session, to: Literal["paused", "resumed", "retired"], reason: str, dry_run: bool
) -> None:
    from loopx_kernel.cli.person import decide
    from loopx_kernel.domain.goal import ChangeGoalStatus

    workspace = session.writing()
    goal_id = session.goal_id(workspace)
    asked = ChangeGoalStatus(to=to, reason=reason)
    done = decide(
        session,
        workspace,
        lambda owner: workspace.goals.change_status(
            goal_id, owner, asked, event_id=session.options.event_id
        ),
        dry_run=dry_run,
    )
    if done is not None:
        goal = goal_value(workspace.view(goal_id))
        session.done(workspace, done, f"{goal_id} is {done.state.status}", goal=goal)
