"""`loopx gate approve`, `reject` and `defer`: people decide, and sign."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import click

from loopx_kernel.cli.framework import Command, Group
from loopx_kernel.cli.person import decide
from loopx_kernel.cli.session import Session
from loopx_kernel.cli.values import gate_value
from loopx_kernel.clock import parse_time


def register(group: Group) -> None:
    """Puts these commands under `loopx gate`."""
    for one in (approve, reject, defer):
        group.add_command(one)


@click.command(
    "approve", cls=Command, example="loopx gate approve G4 --expires 2026-09-17T18:00:00Z"
)
@click.argument("gate_id", metavar="ID")
@click.option("--reason", default="", metavar="TEXT", help="Why.")
@click.option(
    "--expires", type=parse_time, metavar="TIME", help="The approval ends then if it is not used."
)
@click.option("--dry-run", is_flag=True, help="Show what would be signed; write nothing.")
@click.pass_obj
def approve(
    session: Session, /, *, gate_id: str, reason: str, expires: datetime | None, dry_run: bool
) -> None:
    """Allow exactly this action, once. Asks on your terminal, and signs."""
    _decide(
        session, dry_run, gate_id=gate_id, outcome="approved", reason=reason, expires_at=expires
    )


@click.command(
    "reject", cls=Command, example="loopx gate reject G4 --reason 'not before the audit'"
)
@click.argument("gate_id", metavar="ID")
@click.option("--reason", default="", metavar="TEXT", help="Why; stands in the worker's brief.")
@click.option("--dry-run", is_flag=True, help="Show what would be signed; write nothing.")
@click.pass_obj
def reject(session: Session, /, *, gate_id: str, reason: str, dry_run: bool) -> None:
    """Refuse this action. Asks on your terminal, and signs."""
    _decide(session, dry_run, gate_id=gate_id, outcome="rejected", reason=reason)


@click.command("defer", cls=Command, example="loopx gate defer G4 --until 2026-09-17T09:00:00Z")
@click.argument("gate_id", metavar="ID")
@click.option("--until", type=parse_time, metavar="TIME", required=True, help="When to ask again.")
@click.option("--reason", default="", metavar="TEXT", help="Why.")
@click.option("--dry-run", is_flag=True, help="Show what would be signed; write nothing.")
@click.pass_obj
def defer(
    session: Session, /, *, gate_id: str, until: datetime, reason: str, dry_run: bool
) -> None:
    """Decide later. Asks on your terminal, and signs."""
    _decide(session, dry_run, gate_id=gate_id, outcome="deferred", reason=reason, until=until)


def _decide(session: Session, dry_run: bool, **values: Any) -> None:
    from loopx_kernel.domain.gate_decide import DecideGate

    workspace = session.writing()
    goal_id = session.goal_id(workspace)
    asked = DecideGate(**values)
    done = decide(
        session,
        workspace,
        lambda owner: workspace.gates.decide(
            goal_id, owner, asked, event_id=session.options.event_id
        ),
        dry_run=dry_run,
    )
    if done is None:
        return
    gate = done.state.gate(asked.gate_id)
    status = gate.status_at(session.clock.read().now)
    value = gate_value(workspace, goal_id, gate, status)
    session.done(workspace, done, f"{gate.id} is {gate.status}", gate=value)
