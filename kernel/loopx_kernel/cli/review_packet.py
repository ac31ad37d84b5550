"""`loopx review-packet`: all that one decision needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from loopx_kernel.cli.framework import Command
from loopx_kernel.cli.session import Session

if TYPE_CHECKING:
    from loopx_kernel.cli.output import Printer
    from loopx_kernel.views.packet import Packet

SCHEMA = "loopx_review_packet_v0"


@click.command("review-packet", cls=Command, example="loopx review-packet G1 --goal dark-mode")
@click.argument("ref", metavar="ID")
@click.pass_obj
def command(session: Session, /, *, ref: str) -> None:
    """All that one decision needs, and nothing else.

    ID is a gate (a proposal too), an escalation, drift, damage, accept, or a person's todo.
    """
    workspace = session.reading()
    found = workspace.packet(session.goal_id(workspace), ref)
    session.answer(SCHEMA, found.envelope, packet_value(found), lambda p: _show(p, found))


def packet_value(packet: Packet) -> dict[str, object]:
    """The packet with its public keys, without the envelope."""
    from loopx_kernel.cli.values import quota_value
    from loopx_kernel.views.plain import to_json

    value: dict[str, object] = to_json(packet)
    del value["envelope"]
    action = [{"name": name, "value": text} for name, text in packet.subject.action]
    subject = to_json(packet.subject) | {"action": action, "open": packet.subject.open}
    cost = to_json(packet.cost) | {"quota": to_json(quota_value(packet.cost.quota))}
    return value | {"subject": subject, "cost": cost}


def _show(printer: Printer, packet: Packet) -> None:
    from loopx_kernel.views.packet_document import document
    from loopx_kernel.views.render_plain import plain_lines

    printer.document(plain_lines(document(packet), printer.width))
