"""`loopx quota`: may I run now; book, void and show slots."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from loopx_kernel.cli.framework import Group
from loopx_kernel.cli.session import Session
from loopx_kernel.cli.values import quota_value
from loopx_kernel.clock import format_time
from loopx_kernel.errors import UsageError

if TYPE_CHECKING:
    from loopx_kernel.cli.output import Printer
    from loopx_kernel.domain.brief import Brief
    from loopx_kernel.domain.contract import Contract
    from loopx_kernel.workspace import Workspace

SCHEMA = "loopx_quota_v0"
NO_SCOPE = "(the todo names no place; see loopx gate check --action write --path PATH)"


@click.group("quota", cls=Group, example="loopx quota should-run --agent claude-code")
def command() -> None:
    """May I run now; book and show slots."""


@command.command("should-run", example="loopx quota should-run --agent claude-code --json")
@click.pass_obj
def should_run(session: Session) -> int:
    """The answer to one wake-up. Changes nothing.

    Exit: 0 run, 10 ask, 11 wait, 12 repair, 13 quiet.
    """
    from loopx_kernel.domain.contract import CONTRACT_SCHEMA, EXIT_STATUS

    workspace = session.reading()
    goal_id = session.goal_id(workspace)
    _require_registered(workspace, session.agent_id)
    view = workspace.view(goal_id, session.agent_id, projection="should-run")
    contract = view.contract
    body = _contract_value(contract) if session.options.json else {}
    session.answer(CONTRACT_SCHEMA, view.envelope, body, lambda printer: _show(printer, contract))
    return EXIT_STATUS[contract.answer]


@command.command("status", example="loopx quota status --goal dark-mode")
@click.pass_obj
def status(session: Session) -> None:
    """Slots used in the window that ends now."""
    workspace = session.reading()
    view = workspace.view(session.goal_id(workspace), projection="quota")
    usage = view.contract.quota

    def show(printer: Printer) -> None:
        over = usage.used - usage.allowed
        tail = f", {over} over" if over > 0 else ""
        printer.line(f"{usage.used} of {usage.allowed} slots used, {usage.remaining} left{tail}")
        printer.line(
            f"window: {format_time(usage.window_start)} to {format_time(usage.window_end)}, "
            f"{usage.window_hours} h, a slot is {usage.slot_minutes} min"
        )
        printer.line(
            f"{usage.spends} spends, {usage.voids} voids, {usage.attempts} attempts, "
            f"{usage.aged_out} slots aged out"
        )

    session.answer(SCHEMA, view.envelope, {"quota": quota_value(usage)}, show)


@command.command("spend-slot", example="loopx quota spend-slot --turn turn-0081 --slots 1")
@click.option("--turn", required=True, metavar="ID", help="The turn, like turn-0081.")
@click.option("--slots", type=int, default=1, show_default=True, metavar="N")
@click.pass_obj
def spend_slot(session: Session, /, *, turn: str, slots: int) -> None:
    """Book slots for one turn, once."""
    from loopx_kernel.domain.quota import SpendSlot

    workspace = session.writing()
    done = workspace.quota.spend(
        session.goal_id(workspace),
        session.agent(),
        SpendSlot(turn=turn, slots=slots),
        event_id=session.options.event_id,
    )
    session.done(workspace, done, f"{turn}: {slots} booked", spend=done.state.spends[turn])


@command.command("void-slot", example="loopx quota void-slot --turn turn-0083 --reason 'failed'")
@click.option("--turn", required=True, metavar="ID", help="The turn that was booked.")
@click.option("--reason", required=True, metavar="TEXT", help="Why the booking is wrong.")
@click.option("--dry-run", is_flag=True, help="Show what would be signed; write nothing.")
@click.pass_obj
def void_slot(session: Session, /, *, turn: str, reason: str, dry_run: bool) -> None:
    """Take a booking back; a person signs."""
    from loopx_kernel.cli.person import decide
    from loopx_kernel.domain.quota import VoidSlot

    workspace = session.writing()
    goal_id = session.goal_id(workspace)
    asked = VoidSlot(turn=turn, reason=reason)
    done = decide(
        session,
        workspace,
        lambda owner: workspace.quota.void(
            goal_id, owner, asked, event_id=session.options.event_id
        ),
        dry_run=dry_run,
    )
    if done is not None:
        session.done(workspace, done, f"{turn}: voided", spend=done.state.spends[turn])


def _require_registered(workspace: Workspace, agent_id: str | None) -> None:
    # "run" to somebody who may claim nothing would send them in circles.
    if agent_id is not None and all(agent.id != agent_id for agent in workspace.agents.list()):
        raise UsageError(
            "unknown_agent",
            f"{agent_id} is not a registered worker",
            next=f"loopx agent add {agent_id}",
            agent_id=agent_id,
        )


def _contract_value(contract: Contract) -> dict[str, Any]:
    from uuid import uuid4

    from loopx_kernel.views.plain import to_json

    value: dict[str, Any] = to_json(contract)
    return {"contract_id": f"c-{uuid4().hex}", **value, "quota": quota_value(contract.quota)}


def _show(printer: Printer, contract: Contract) -> None:
    reasons = "; ".join(f"{reason.message} ({reason.code})" for reason in contract.reasons)
    printer.line(f"answer: {contract.answer}: {reasons}", "bold")
    if contract.question:
        printer.line(f"question for {contract.ask}: {contract.question}", "bold yellow")
    if contract.repair is not None:
        printer.line(f"repair, by the {contract.repair.by}: {contract.repair.command}")
    for item in contract.needs_you:
        printer.line(f"needs a person: {item.id} {item.kind}: {item.question}")
    if contract.brief is not None:
        _show_brief(printer, contract.brief)
    hint = contract.scheduler_hint
    wake = format_time(hint.next_wake_at) if hint.next_wake_at else "not by itself"
    printer.line(f"next wake: {wake} ({hint.basis})")


def _show_brief(printer: Printer, brief: Brief) -> None:
    printer.line(f"todo: {brief.todo_id} {brief.title}")
    printer.line(f"objective: {brief.objective}")
    printer.line(f"write only in: {', '.join(brief.write_scope) or NO_SCOPE}")
    printer.line(f"ask before: {', '.join(brief.ask_before) or 'nothing'}")
    for check in brief.verification:
        printer.line(f"verified by: {check}")
    for refusal in brief.refusals:
        printer.line(f"respect: {refusal}")
    if brief.handoff:
        printer.line("from the last turn:")
        for text in brief.handoff.splitlines():
            printer.line(f"  {text}")
    printer.line("hand in with:")
    for text in brief.commands:
        printer.line(f"  {text}")
