"""One run of the command: its options, the workspace it finds, and how it answers."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loopx_kernel.clock import Clock
from loopx_kernel.errors import LoopxError, UsageError

if TYPE_CHECKING:
    from loopx_kernel.cli.framework import Options
    from loopx_kernel.cli.output import Printer
    from loopx_kernel.views.envelope import Envelope
    from loopx_kernel.workspace import Done, Workspace

RECEIPT_SCHEMA = "loopx_receipt_v0"


class Session:
    """What every command needs. ``clock`` is the time it acts by."""

    def __init__(self, options: Options, clock: Clock) -> None:
        self.options = options
        self.clock = clock

    def root(self) -> Path:
        """The workspace's directory; ``not_initialised`` if there is none."""
        from loopx_kernel.workspace import Workspace

        found = Path(self.options.root) if self.options.root else Workspace.find()
        if found is None:
            raise UsageError(
                "not_initialised",
                "There is no .loopx here or above",
                next="loopx connect",
                searched_from=str(Path.cwd()),
            )
        return found

    def reading(self) -> Workspace:
        """The workspace, opened so that it cannot be written."""
        return self._open(read_only=True)

    def writing(self) -> Workspace:
        """The workspace, opened for a change."""
        return self._open(read_only=False)

    def _open(self, *, read_only: bool) -> Workspace:
        from loopx_kernel.cli.progress import Progress
        from loopx_kernel.workspace import Workspace

        workspace = Workspace.open(
            self.root(), clock=self.clock, read_only=read_only, progress=Progress()
        )
        if self.agent_id is None and sys.stdout.isatty():
            workspace.owners.pins.see()
        return workspace

    def goal_id(self, workspace: Workspace) -> str:
        """``--goal``, else ``$LOOPX_GOAL``, else the only goal."""
        return workspace.pick_goal(self.goal_named)

    @property
    def goal_named(self) -> str | None:
        """``--goal``, else ``$LOOPX_GOAL``."""
        return self.options.goal or os.environ.get("LOOPX_GOAL") or None

    @property
    def agent_id(self) -> str | None:
        """``--agent``, else ``$LOOPX_AGENT``."""
        return self.options.agent or os.environ.get("LOOPX_AGENT") or None

    @property
    def unattended(self) -> bool:
        """``$LOOPX_UNATTENDED``: whether nobody watches this run."""
        return os.environ.get("LOOPX_UNATTENDED", "") not in ("", "0")

    def agent(self) -> str:
        """The agent that acts, or ``unknown_agent``."""
        if self.agent_id is None:
            raise UsageError(
                "unknown_agent",
                "This command is for a registered worker, and none is named",
                next="add --agent ID or set LOOPX_AGENT; loopx agent list shows who is registered",
            )
        return self.agent_id

    def printer(self) -> Printer:
        """For people, in the colours they want."""
        from loopx_kernel.cli.output import Printer

        return Printer(no_color=self.options.no_color)

    def answer(
        self,
        schema: str,
        envelope: Envelope,
        body: Mapping[str, Any],
        text: Callable[[Printer], None],
    ) -> None:
        """Prints a projection: one JSON object, or the envelope's lines and then ``text``."""
        if self.options.json:
            self._print_json(schema, envelope, body)
            return
        from loopx_kernel.views.envelope import head_lines

        printer = self.printer()
        printer.head(head_lines(envelope))
        text(printer)

    def answer_list(
        self,
        schema: str,
        envelope: Envelope,
        body: Mapping[str, Any],
        name: str,
        values: Iterable[Any],
    ) -> None:
        """Prints a projection as one JSON object that ends with a list, however long that is."""
        from loopx_kernel.cli.output import print_json_list

        print_json_list(head_value(schema, envelope) | dict(body), name, values)

    def done(self, workspace: Workspace, done: Done[Any], sentence: str, **objects: Any) -> None:
        """Prints what was recorded: the sentence and the receipt, with the objects in JSON."""
        receipt = done.receipt
        envelope = self._envelope_after(workspace, receipt.goal_id)
        if self.options.json:
            self._print_json(RECEIPT_SCHEMA, envelope, {"receipt": receipt, **objects})
            return
        from loopx_kernel.clock import format_time
        from loopx_kernel.views.envelope import head_lines

        printer = self.printer()
        if envelope is not None:
            printer.head(head_lines(envelope)[1:])
        printer.line(sentence + (" (recorded before)" if receipt.replayed else ""))
        printer.line(
            f"receipt {receipt.event_id} seq={receipt.seq} sha256={receipt.sha256} "
            f"recorded_at={format_time(receipt.recorded_at)}",
            "dim",
        )

    def _print_json(self, schema: str, envelope: Envelope | None, body: Mapping[str, Any]) -> None:
        from loopx_kernel.cli.output import print_json
        from loopx_kernel.views.plain import to_json

        print_json(head_value(schema, envelope) | to_json(dict(body)))

    def _envelope_after(self, workspace: Workspace, goal_id: str) -> Envelope | None:
        """The envelope of a receipt. The line stands already, so a reading that fails
        now costs the envelope and never the receipt."""
        try:
            if goal_id in workspace.goal_ids:
                return workspace.view(goal_id, projection="receipt").envelope
            return workspace.workspace_view(projection="receipt").envelope
        except LoopxError:
            return None


def head_value(schema: str, envelope: Envelope | None) -> dict[str, Any]:
    """The keys every JSON answer begins with."""
    from loopx_kernel.cli.values import envelope_value

    head: dict[str, Any] = {"ok": True, "schema_version": schema}
    if envelope is not None:
        head["projection_envelope"] = envelope_value(envelope)
    return head
