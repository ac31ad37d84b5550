"""`loopx escalation`: work that was taken out of the loop, and a person's answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import click

from loopx_kernel.cli.framework import Group
from loopx_kernel.cli.person import decide
from loopx_kernel.cli.session import Session
from loopx_kernel.clock import format_time

if TYPE_CHECKING:
    from loopx_kernel.cli.output import Printer
    from loopx_kernel.domain.records_of_work import Escalation

SCHEMA = "loopx_escalations_v0"


@click.group("escalation", cls=Group, example="loopx escalation list")
def command() -> None:
    """Work that was taken out of the loop, and your answer."""


@command.command("list", example="loopx escalation list --json")
@click.pass_obj
def list_all(session: Session) -> None:
    """What waits for an answer, and what was answered last."""
    workspace = session.reading()
    goal_id = session.goal_id(workspace)
    view = workspace.view(goal_id, projection="escalations")
    found = list(workspace.state(goal_id).escalations.values())
    session.answer(
        SCHEMA,
        view.envelope,
        {"escalations": [one.model_dump(mode="json") for one in found]},
        lambda printer: _table(printer, found),
    )


def _table(printer: Printer, found: list[Escalation]) -> None:
    printer.table(
        ("id", "status", "cause", "about", "since", "what was seen", "answer"),
        (
            (
                one.id,
                one.status,
                one.cause.replace("_", " "),
                one.todo_id or "the whole goal",
                format_time(one.at),
                one.detail,
                _answered(one),
            )
            for one in found
        ),
    )


def _answered(one: Escalation) -> str:
    if one.answer is None:
        return ""
    return f"{one.answer.replace('_', ' ')}, by {one.by}: {one.reason}"


@command.command(
    "answer", example="loopx escalation answer E1 --go-on --reason 'the tests are new'"
)
@click.argument("escalation_id", metavar="ID")
@click.option("--go-on", "how", flag_value="go_on", help="Work goes on with a new allowance.")
@click.option("--replan", "how", flag_value="replan", help="Another route is to be found.")
@click.option("--cancel", "how", flag_value="cancel", help="The todo is not wanted any more.")
@click.option("--reason", required=True, metavar="TEXT", help="Why.")
@click.option("--dry-run", is_flag=True, help="Show what would be signed; write nothing.")
@click.pass_obj
def answer(
    session: Session,
    /,
    *,
    escalation_id: str,
    how: Literal["go_on", "replan", "cancel"] | None,
    reason: str,
    dry_run: bool,
) -> None:
    """Say how work goes on. Asks on your terminal, and signs."""
    from loopx_kernel.domain.escalation import AnswerEscalation

    if how is None:
        raise click.UsageError("Say --go-on, --replan or --cancel", click.get_current_context())
    workspace = session.writing()
    goal_id = session.goal_id(workspace)
    asked = AnswerEscalation(escalation_id=escalation_id, answer=how, reason=reason)
    done = decide(
        session,
        workspace,
        lambda owner: workspace.escalations.answer(
            goal_id, owner, asked, event_id=session.options.event_id
        ),
        dry_run=dry_run,
    )
    if done is None:
        return
    found = done.state.escalations[asked.escalation_id]
    said = {
        "go_on": f"{found.todo_id or 'the goal'} goes on",
        "replan": f"{found.todo_id or 'the goal'} is to be replanned",
        "cancel": f"{found.todo_id} is cancelled",
    }
    session.done(workspace, done, f"{found.id}: {said[how]}", escalation=found)
