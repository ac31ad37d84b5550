"""A contract as commands print it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from loopx_kernel.cli.values import quota_value
from loopx_kernel.clock import format_time
from loopx_kernel.errors import UsageError

if TYPE_CHECKING:
    from loopx_kernel.cli.output import Printer
    from loopx_kernel.domain.answer import Contract
    from loopx_kernel.domain.brief import Brief
    from loopx_kernel.workspace import Workspace

NO_SCOPE = "(the todo names no place; see loopx gate check --action write --path PATH)"


def require_registered(workspace: Workspace, agent_id: str | None) -> None:
    """``unknown_agent`` for a name that nobody registered."""
    # "run" to somebody who may claim nothing would send them in circles.
    if agent_id is not None and all(agent.id != agent_id for agent in workspace.agents.list()):
        raise UsageError(
            "unknown_agent",
            f"{agent_id} is not a registered worker",
            next=f"loopx agent add {agent_id}",
            agent_id=agent_id,
        )


def contract_value(contract: Contract, contract_id: str) -> dict[str, Any]:
    """The contract under its id, with its public keys."""
    from loopx_kernel.views.plain import to_json

    value: dict[str, Any] = to_json(contract)
    return {"contract_id": contract_id, **value, "quota": quota_value(contract.quota)}


def show_contract(printer: Printer, contract: Contract) -> None:
    """The answer and what goes with it, for people."""
    reasons = "; ".join(f"{reason.message} ({reason.code})" for reason in contract.reasons)
    printer.line(f"answer: {contract.answer}: {reasons}", "bold")
    if contract.question:
        printer.line(f"question for {contract.ask}: {contract.question}", "bold yellow")
    if contract.repair is not None:
        printer.line(f"repair, by the {contract.repair.by}: {contract.repair.command}")
    for item in contract.needs_you:
        printer.line(f"needs a person: {item.id} {item.kind}: {item.question}")
        printer.line(f"  next: {item.next}")
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
    spawn = brief.spawn_policy
    printer.line(f"workers of your own: at most {spawn.max_children}, {spawn.mode}")
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
