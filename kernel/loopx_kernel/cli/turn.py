"""`loopx turn`: bounded work, from a brief to its receipt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from loopx_kernel.cli.framework import Group
from loopx_kernel.cli.session import Session
from loopx_kernel.clock import format_time

if TYPE_CHECKING:
    from loopx_kernel.cli.output import Printer
    from loopx_kernel.domain.records_of_work import Turn
    from loopx_kernel.domain.state import GoalState
    from loopx_kernel.workspace import Workspace

SCHEMA = "loopx_turn_v0"
LIST_SCHEMA = "loopx_turns_v0"
OUTCOMES = ("done", "progress", "blocked", "failed")
_MISSING = {
    "verified": "evidence that code could verify",
    "state_written": "a hand-over",
    "slots_booked": "booked slots",
}


@click.group("turn", cls=Group, example="loopx turn begin --agent claude-code")
def command() -> None:
    """Bounded work: from a brief to its receipt."""


@command.command("begin", example="loopx turn begin --agent claude-code --json")
@click.pass_obj
def begin(session: Session) -> int:
    """Ask as `quota should-run` does; on run, take the todo and get its brief.

    Exit: 0 run, 10 ask, 11 wait, 12 repair, 13 quiet.
    """
    from loopx_kernel.cli.contract import contract_value, show_contract
    from loopx_kernel.cli.values import lease_of
    from loopx_kernel.domain.answer import CONTRACT_SCHEMA, EXIT_STATUS

    workspace = session.writing()
    goal_id = session.goal_id(workspace)
    agent = session.agent()
    begun = workspace.turns.begin(goal_id, agent, event_id=session.options.event_id)
    view = workspace.view(goal_id, agent, projection="turn")
    turn, contract = begun.turn, begun.contract
    todo = None if turn is None else workspace.state(goal_id).todos.get(turn.todo_id)
    body = contract_value(contract, begun.contract_id) | {
        "turn_id": turn.id if turn else None,
        "lease": lease_of(goal_id, todo) if todo else None,
        "receipt": begun.receipt,
    }

    def show(printer: Printer) -> None:
        # Whoever may not go on is told that alone.
        if turn is not None and contract.answer == "run":
            is_open = turn.status == "open"
            told = f"{turn.id} is open on {turn.todo_id}" if is_open else _sentence(turn)
            printer.line(told, "bold")
        show_contract(printer, contract)

    session.answer(CONTRACT_SCHEMA, view.envelope, body, show)
    return EXIT_STATUS[contract.answer]


@command.command(
    "settle",
    example="loopx turn settle --turn turn-0003 --outcome done --evidence report.xml "
    "--tests passed --handoff-file NOTES.md",
)
@click.option("--turn", "turn_id", required=True, metavar="ID", help="Your open turn.")
@click.option("--outcome", required=True, type=click.Choice(OUTCOMES), help="How it ended.")
@click.option("--evidence", multiple=True, metavar="PATH", help="A file in the repo.")
@click.option("--tests", type=click.Choice(["passed", "failed"]), help="What tests said.")
@click.option("--note", default="", metavar="TEXT", help="One line on what was done, or why not.")
@click.option("--handoff", metavar="TEXT", help="What the next turn must know.")
@click.option("--handoff-file", metavar="FILE", help="The same, from a UTF-8 file.")
@click.option("--slots", type=int, default=1, show_default=True, metavar="N")
@click.pass_obj
def settle(
    session: Session,
    /,
    *,
    turn_id: str,
    handoff: str | None,
    handoff_file: str | None,
    **asked: Any,
) -> None:
    """Hand in a turn: code verifies the result, and books and closes in one step.

    What is not verified settles as failed. It is progress only with evidence that was
    verified, a hand-over, and booked slots.
    """
    from loopx_kernel.cli.refresh_state import handed_over

    workspace = session.writing()
    goal_id = session.goal_id(workspace)
    done = workspace.turns.settle(
        goal_id,
        session.agent(),
        turn_id,
        handoff=handed_over(handoff, handoff_file),
        event_id=session.options.event_id,
        **asked,
    )
    turn = workspace.turns.show(goal_id, turn_id)
    todo = done.state.todos.get(turn.todo_id)
    session.done(workspace, done, _sentence(turn), turn=_settled_value(turn), todo=todo)


def _settled_value(turn: Turn) -> dict[str, Any]:
    return {
        "id": turn.id,
        "todo_id": turn.todo_id,
        "outcome": turn.outcome,
        "verified": turn.verified,
        "unproven": turn.unproven,
        "state_written": turn.state_written,
        "slots_booked": turn.slots_booked,
        "progress": turn.progress,
        "reason": turn.reason,
    }


def _sentence(turn: Turn) -> str:
    """How a turn ended, or what it lacks."""
    from loopx_kernel.domain.turn_state import missing

    lacks = ", ".join(_MISSING[part] for part in missing(turn))
    if turn.status == "open":
        return f"{turn.id} of {turn.agent_id} is open on {turn.todo_id}; missing: {lacks}"
    if turn.status == "withdrawn":
        who = f"{turn.id} of {turn.agent_id} on {turn.todo_id}"
        return f"{who} ended with its work: {turn.reason}, by {turn.withdrawn_by}"
    ended = "without a receipt" if turn.status == "recovered" else f"as {turn.outcome}"
    text = f"{turn.id} of {turn.agent_id} on {turn.todo_id} ended {ended}"
    text += f": {turn.reason}" if turn.reason else ""
    if turn.progress:
        return text + ("; progress, unproven" if turn.unproven else "; progress")
    return text + (
        "; no progress" if turn.outcome == "failed" else f"; no progress without {lacks}"
    )


@command.command("show", example="loopx turn show turn-0003")
@click.argument("turn_id", metavar="ID")
@click.pass_obj
def show(session: Session, /, *, turn_id: str) -> None:
    """How a turn stands, and what is missing of it."""
    workspace = session.reading()
    goal_id = session.goal_id(workspace)
    turn = workspace.turns.show(goal_id, turn_id)
    view = workspace.view(goal_id, projection="turn")
    value = _turn_value(workspace, workspace.state(goal_id), turn)

    def text(printer: Printer) -> None:
        printer.line(_sentence(turn), "bold")
        printer.line(f"opened {format_time(turn.opened_at)} under contract {turn.contract_id}")
        if value["deadline"] is not None:
            late = " (over: loopx turn recover)" if value["unclosed"] else ""
            printer.line(f"deadline {format_time(value['deadline'])}{late}")
        if turn.closed_at is not None:
            slots = "1 slot" if turn.slots_booked == 1 else f"{turn.slots_booked} slots"
            printer.line(f"closed {format_time(turn.closed_at)}, {slots} booked")

    session.answer(SCHEMA, view.envelope, {"turn": value}, text)


def _turn_value(workspace: Workspace, state: GoalState, turn: Turn) -> dict[str, Any]:
    from loopx_kernel.domain.turn_state import deadline, is_within_deadline, missing

    is_open = turn.status == "open"
    reading = workspace.clock.read()
    return turn.model_dump(mode="json") | {
        "progress": turn.progress,
        "missing": list(missing(turn)),
        "deadline": deadline(state, turn) if is_open else None,
        "unclosed": is_open and not is_within_deadline(state, turn, reading),
    }


@command.command("list", example="loopx turn list --all")
@click.option("--all", "everything", is_flag=True, help="Also those that were closed long ago.")
@click.pass_obj
def list_turns(session: Session, /, *, everything: bool) -> None:
    """Open turns, and how the last ones ended."""
    workspace = session.reading()
    goal_id = session.goal_id(workspace)
    turns = workspace.turns.list(goal_id, everything=everything)
    state = workspace.state(goal_id)
    values = [_turn_value(workspace, state, turn) for turn in turns]

    def text(printer: Printer) -> None:
        for turn in turns:
            printer.line(_sentence(turn))
        if not turns:
            printer.line("no turn was opened yet: loopx turn begin")

    view = workspace.view(goal_id, projection="turns")
    session.answer(LIST_SCHEMA, view.envelope, {"turns": values}, text)


@command.command("recover", example="loopx turn recover")
@click.pass_obj
def recover(session: Session) -> None:
    """Record each turn that ended without a receipt as a failure, once."""
    workspace = session.writing()
    goal_id = session.goal_id(workspace)
    done = workspace.turns.recover(goal_id, event_id=session.options.event_id)
    turns = [workspace.turns.show(goal_id, one.object_id) for one in done]
    view = workspace.view(goal_id, projection="turns")

    def text(printer: Printer) -> None:
        for turn in turns:
            printer.line(_sentence(turn))
        if not turns:
            printer.line("nothing to recover: no turn is past its deadline")

    body = {
        "recovered": [turn.id for turn in turns],
        "turns": turns,
        "receipts": [one.receipt for one in done],
    }
    session.answer(LIST_SCHEMA, view.envelope, body, text)
