"""`loopx replan`: people ask for another route, an agent finds it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from loopx_kernel.cli.framework import Group
from loopx_kernel.cli.session import Session
from loopx_kernel.clock import format_time
from loopx_kernel.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from loopx_kernel.cli.output import Printer
    from loopx_kernel.domain.records_of_work import Obligation
    from loopx_kernel.domain.replan import FulfilReplan
    from loopx_kernel.workspace import Unsigned, Workspace

SCHEMA = "loopx_replans_v0"


@click.group("replan", cls=Group, example="loopx replan list")
def command() -> None:
    """Another route: people ask for it, an agent binds the new work to the old."""


@command.command(
    "request", example="loopx replan request --reason 'tests unstable' --todo T3 --fact 'run 12'"
)
@click.option("--reason", required=True, metavar="TEXT", help="Why the route is no longer good.")
@click.option("--fact", "facts", multiple=True, metavar="REF", help="What that rests on.")
@click.option("--todo", "todo_ids", multiple=True, metavar="TODO", help="What is to be replanned.")
@click.option("--dry-run", is_flag=True, help="Show what would be signed; write nothing.")
@click.pass_obj
def request(
    session: Session,
    /,
    *,
    reason: str,
    facts: tuple[str, ...],
    todo_ids: tuple[str, ...],
    dry_run: bool,
) -> None:
    """Open a duty to replan; the named todos are not begun meanwhile. A person signs."""
    from loopx_kernel.domain.replan import RequestReplan

    asked = RequestReplan(reason=reason, facts=facts, todo_ids=todo_ids)
    _signed(
        session,
        dry_run,
        "loopx propose route --reason 'why'",
        lambda workspace, goal_id, owner: workspace.replans.request(
            goal_id, owner, asked, event_id=session.options.event_id
        ),
    )


@command.command("withdraw", example="loopx replan withdraw O1 --reason 'good after all'")
@click.argument("obligation_id", metavar="ID")
@click.option("--reason", default="", metavar="TEXT", help="Why.")
@click.option("--dry-run", is_flag=True, help="Show what would be signed; write nothing.")
@click.pass_obj
def withdraw(session: Session, /, *, obligation_id: str, reason: str, dry_run: bool) -> None:
    """End a duty to replan; its todos may be worked on again. A person signs."""
    from loopx_kernel.domain.replan import WithdrawReplan

    asked = WithdrawReplan(obligation_id=obligation_id, reason=reason)
    _signed(
        session,
        dry_run,
        f"loopx replan fulfil {obligation_id} --supersede T3:T5",
        lambda workspace, goal_id, owner: workspace.replans.withdraw(
            goal_id, owner, asked, event_id=session.options.event_id
        ),
    )


@command.command("fulfil", example="loopx replan fulfil O1 --supersede T3:T5")
@click.argument("obligation_id", metavar="ID")
@click.option(
    "--supersede",
    "pairs",
    multiple=True,
    metavar="OLD:NEW",
    help="A todo, and the one that takes its place.",
)
@click.option("--reason", default="", metavar="TEXT", help="Why this route.")
@click.pass_obj
def fulfil(session: Session, /, *, obligation_id: str, pairs: tuple[str, ...], reason: str) -> None:
    """Bind a successor to each todo that is to be replanned; this closes the duty."""
    from loopx_kernel.domain.replan import FulfilReplan

    asked = FulfilReplan(
        obligation_id=obligation_id, supersede=tuple(map(_pair, pairs)), reason=reason
    )
    fulfil_duty(session, asked)


def fulfil_duty(session: Session, asked: FulfilReplan) -> None:
    """Records a new route and prints the duty it closes."""
    workspace = session.writing()
    goal_id = session.goal_id(workspace)
    done = workspace.replans.fulfil(
        goal_id, session.agent(), asked, event_id=session.options.event_id
    )
    duty = workspace.replans.obligation(goal_id, done)
    bound = [f"{new} takes the place of {old}" for old, new in asked.supersede]
    sentence = ": ".join(filter(None, (f"{duty.id} is fulfilled", ", ".join(bound))))
    session.done(workspace, done, sentence, obligation=duty)


@command.command("list", example="loopx replan list --json")
@click.pass_obj
def list_all(session: Session) -> None:
    """Duties to replan: the open ones, and those closed last."""
    workspace = session.reading()
    goal_id = session.goal_id(workspace)
    view = workspace.view(goal_id, projection="replans")
    state = workspace.state(goal_id)
    duties = list(state.obligations.values())
    earlier = state.next_obligation - 1 - len(duties)
    body = {"obligations": [one.model_dump(mode="json") for one in duties], "earlier": earlier}
    session.answer(SCHEMA, view.envelope, body, lambda printer: _table(printer, duties, earlier))


def _table(printer: Printer, duties: Sequence[Obligation], earlier: int) -> None:
    if earlier:
        printer.line(f"{earlier} earlier: loopx event list --type replan.requested", "dim")
    printer.table(
        ("id", "status", "todos", "replanned in", "asked by", "since", "reason"),
        (
            (
                one.id,
                one.status,
                ", ".join(one.todo_ids),
                one.replan_todo,
                one.by,
                format_time(one.at),
                one.reason,
            )
            for one in duties
        ),
    )


def _pair(text: str) -> tuple[str, str]:
    old, _, new = text.partition(":")
    if not (old and new):
        raise UsageError(
            "invalid_value",
            f"{text!r} names no two todos",
            next="write --supersede OLD:NEW, for example --supersede T3:T5",
            value=text,
        )
    return old, new


def _signed(
    session: Session,
    dry_run: bool,
    for_agents: str,
    prepare: Callable[[Workspace, str, str], Unsigned],
) -> None:
    from loopx_kernel.cli.person import decide, refuse_agents

    refuse_agents(session, for_agents)
    workspace = session.writing()
    goal_id = session.goal_id(workspace)
    done = decide(
        session, workspace, lambda owner: prepare(workspace, goal_id, owner), dry_run=dry_run
    )
    if done is None:
        return
    duty = workspace.replans.obligation(goal_id, done)
    sentence = f"{duty.id} is {duty.status}"
    if duty.status == "open":
        sentence = f"{duty.id} asks for another route; {duty.replan_todo} is where it is found"
    session.done(workspace, done, sentence, obligation=duty)
