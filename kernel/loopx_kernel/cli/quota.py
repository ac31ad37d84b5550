"""`loopx quota`: may I run now; book, void and show slots."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from loopx_kernel.cli.framework import Group
from loopx_kernel.cli.session import Session
from loopx_kernel.cli.values import quota_value
from loopx_kernel.clock import format_time
from loopx_kernel.text import counted

if TYPE_CHECKING:
    from loopx_kernel.cli.output import Printer

SCHEMA = "loopx_quota_v0"


@click.group("quota", cls=Group, example="loopx quota should-run --agent claude-code")
def command() -> None:
    """May I run now; book and show slots."""


@command.command("should-run", example="loopx quota should-run --agent claude-code --json")
@click.pass_obj
def should_run(session: Session) -> int:
    """The answer to one wake-up. Changes nothing.

    Exit: 0 run, 10 ask, 11 wait, 12 repair, 13 quiet.
    """
    from loopx_kernel.cli.contract import contract_value, require_registered, show_contract
    from loopx_kernel.domain.answer import CONTRACT_SCHEMA, EXIT_STATUS
    from loopx_kernel.workspace.contracts import new_contract_id

    workspace = session.reading()
    goal_id = session.goal_id(workspace)
    require_registered(workspace, session.agent_id)
    view = workspace.view(goal_id, session.agent_id, projection="should-run")
    contract = view.contract
    body = contract_value(contract, new_contract_id()) if session.options.json else {}
    session.answer(
        CONTRACT_SCHEMA, view.envelope, body, lambda printer: show_contract(printer, contract)
    )
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
            f"{counted(usage.spends, 'spend')}, {counted(usage.voids, 'void')}, "
            f"{counted(usage.attempts, 'attempt')}, {counted(usage.aged_out, 'slot')} aged out"
        )

    session.answer(SCHEMA, view.envelope, {"quota": quota_value(usage)}, show)


@command.command("spend-slot", example="loopx quota spend-slot --turn turn-0003 --slots 1")
@click.option("--turn", required=True, metavar="ID", help="The turn, like turn-0003.")
@click.option("--slots", type=int, default=1, show_default=True, metavar="N")
@click.pass_obj
def spend_slot(session: Session, /, *, turn: str, slots: int) -> None:
    """Book slots for your open turn, once: one of its three parts."""
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
