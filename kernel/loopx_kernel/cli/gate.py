"""`loopx gate`: agents ask and use, people decide."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from loopx_kernel.cli import gate_decide
from loopx_kernel.cli.framework import Group
from loopx_kernel.cli.session import Session
from loopx_kernel.cli.values import gate_value
from loopx_kernel.clock import format_time

if TYPE_CHECKING:
    from loopx_kernel.cli.output import Printer
    from loopx_kernel.domain.event import Level
    from loopx_kernel.domain.permission import Action
    from loopx_kernel.domain.records import Gate

SCHEMA = "loopx_gates_v0"


@click.group("gate", cls=Group, example="loopx gate list")
def command() -> None:
    """Ask for a decision, look it up, decide it."""


gate_decide.register(command)


def _action_options(wrapped: Callable[..., Any]) -> Callable[..., Any]:
    for option in (
        click.option("--path", "paths", multiple=True, metavar="PATH", help="A path it touches."),
        click.option("--command", "line", default="", metavar="CMD", help="The exact command."),
        click.option("--action", "kind", required=True, metavar="KIND", help="Such as publish."),
    ):
        wrapped = option(wrapped)
    return wrapped


def _action(kind: str, line: str, paths: tuple[str, ...]) -> Action:
    from loopx_kernel.domain.permission import Action

    return Action(action=kind, command=line, paths=paths)


@command.command(
    "request", example="loopx gate request --action publish --command 'git push' --blocks T3"
)
@_action_options
@click.option("--question", default="", metavar="TEXT", help="What the person is asked.")
@click.option("--blocks", multiple=True, metavar="TODO", help="A todo that waits for it.")
@click.option("--irreversible", is_flag=True, help="It cannot be taken back.")
@click.pass_obj
def request(
    session: Session,
    /,
    *,
    kind: str,
    line: str,
    paths: tuple[str, ...],
    question: str,
    blocks: tuple[str, ...],
    irreversible: bool,
) -> None:
    """Ask a person to decide one concrete action; prints the gate."""
    from loopx_kernel.domain.gate import RequestGate

    workspace = session.writing()
    asked = RequestGate(
        action=_action(kind, line, paths),
        question=question,
        blocks=blocks,
        irreversible=irreversible,
        unattended=session.unattended,
    )
    goal_id = session.goal_id(workspace)
    done = workspace.gates.request(
        goal_id, session.agent(), asked, event_id=session.options.event_id
    )
    gate = done.state.gate(done.object_id)
    session.done(workspace, done, f"{gate.id} asks: {gate.question}", gate=gate)


@command.command("withdraw", example="loopx gate withdraw G4")
@click.argument("gate_id", metavar="ID")
@click.pass_obj
def withdraw(session: Session, /, *, gate_id: str) -> None:
    """The asker no longer needs a decision."""
    from loopx_kernel.domain.gate import WithdrawGate

    workspace = session.writing()
    done = workspace.gates.withdraw(
        session.goal_id(workspace),
        session.agent(),
        WithdrawGate(gate_id=gate_id),
        event_id=session.options.event_id,
    )
    session.done(workspace, done, f"{gate_id} is withdrawn", gate=done.state.gate(gate_id))


@command.command("list", example="loopx gate list --json")
@click.pass_obj
def list_all(session: Session) -> None:
    """All gates of the goal, with their status now."""
    workspace = session.reading()
    goal_id = session.goal_id(workspace)
    view = workspace.view(goal_id, projection="gates")
    gates = [gate_value(workspace, goal_id, row.gate, row.status) for row in view.gates]
    session.answer(
        SCHEMA,
        view.envelope,
        {"gates": gates},
        lambda printer: printer.table(
            ("id", "status", "action", "asked by", "blocks", "question"),
            (
                (
                    row.gate.id,
                    row.status,
                    row.gate.action,
                    row.gate.requested_by,
                    ", ".join(row.gate.blocks),
                    row.gate.question,
                )
                for row in view.gates
            ),
        ),
    )


@command.command("show", example="loopx gate show G4 --json")
@click.argument("gate_id", metavar="ID")
@click.pass_obj
def show(session: Session, /, *, gate_id: str) -> None:
    """One gate: exactly what is asked, and how it was decided."""
    from loopx_kernel.domain.permission import level_wanted

    workspace = session.reading()
    goal_id = session.goal_id(workspace)
    state = workspace.state(goal_id)
    wanted = level_wanted(state, state.gate(gate_id))
    view = workspace.view(goal_id, projection="gate")
    row = next(row for row in view.gates if row.gate.id == gate_id)
    value = gate_value(workspace, goal_id, row.gate, row.status)
    session.answer(
        SCHEMA,
        view.envelope,
        {"gate": value},
        lambda printer: _show(printer, row.gate, row.status, value, wanted),
    )


@command.command("check", example="loopx gate check --action publish --command 'git push'")
@_action_options
@click.pass_obj
def check(session: Session, /, *, kind: str, line: str, paths: tuple[str, ...]) -> int:
    """May I do this now? Exit 0 yes, 1 no. Changes nothing."""
    workspace = session.reading()
    goal_id = session.goal_id(workspace)
    found = workspace.gates.check(goal_id, _action(kind, line, paths))
    body = {
        "allowed": found.allowed,
        "reason": found.reason,
        "rule": found.rule.text if found.rule else None,
        "gate_id": found.gate.id if found.gate else None,
    }
    session.answer(
        SCHEMA,
        workspace.view(goal_id, projection="gate-check").envelope,
        body,
        lambda printer: printer.line(
            f"{'allowed' if found.allowed else 'not allowed'}: {found.reason}"
        ),
    )
    return 0 if found.allowed else 1


@command.command("use", example="loopx gate use --action publish --command 'git push'")
@_action_options
@click.pass_obj
def use(session: Session, /, *, kind: str, line: str, paths: tuple[str, ...]) -> None:
    """Take the one use of an approval; do the action only after this."""
    from loopx_kernel.domain.gate import UseGate

    workspace = session.writing()
    done = workspace.gates.use(
        session.goal_id(workspace),
        session.agent(),
        UseGate(action=_action(kind, line, paths)),
        unattended=session.unattended,
        event_id=session.options.event_id,
    )
    gate = done.state.gate(done.object_id)
    session.done(workspace, done, f"{gate.id} is used: do it now, once", gate=gate)


def _show(
    printer: Printer, gate: Gate, status: str, value: dict[str, Any], wanted: Level | None
) -> None:
    printer.line(f"{gate.id} {status}: {gate.question}", "bold")
    printer.line(f"action: {gate.action}" + (" (cannot be taken back)" * gate.irreversible))
    if gate.command:
        printer.line(f"command: {gate.command}")
    for path in gate.paths:
        printer.line(f"path: {path}")
    if gate.proposal is not None:
        from loopx_kernel.views.proposal import told

        for name, text in told(gate.proposal):
            printer.line(f"{name}: {text}")
    printer.line(f"blocks: {', '.join(gate.blocks) or 'nothing'}")
    printer.line(f"asked by {gate.requested_by} at {format_time(gate.requested_at)}")
    printer.line(f"digest: {gate.digest}")
    if wanted is not None:
        printer.line(f"an approval is signed at level {wanted} or above")
    if status == "pending":
        printer.line(f"decide it: loopx gate approve {gate.id} (or reject, or defer --until)")
    if gate.decision is not None:
        decision = gate.decision
        holds = (
            "signature holds" if value["decision"]["signature_ok"] else "SIGNATURE DOES NOT HOLD"
        )
        printer.line(
            f"{decision.outcome} by {decision.by} at {format_time(decision.at)}; {holds}; "
            f"{decision.key}, {decision.level}"
        )
        if decision.reason:
            printer.line(f"reason: {decision.reason}")
    for what, moment in (("approval ends", gate.expires_at), ("asked again", gate.until)):
        _show_time(printer, what, moment)
    if gate.used_by:
        by = ", admitted by the judge" if gate.basis else ""
        printer.line(f"used by {gate.used_by}{by}")


def _show_time(printer: Printer, what: str, moment: datetime | None) -> None:
    if moment is not None:
        printer.line(f"{what}: {format_time(moment)}")
