"""``ACTIVE_GOAL_STATE.md`` against the fold: rendering it, and seeing what a person changed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from loopx_kernel.clock import format_time
from loopx_kernel.domain.needs_you import Difference
from loopx_kernel.domain.records import Todo
from loopx_kernel.domain.state import GoalState
from loopx_kernel.errors import LoopxError
from loopx_kernel.store.state_swap import read_state, replace_rendered
from loopx_kernel.store.state_text import Header, Row, to_bytes, to_text, unchanged

if TYPE_CHECKING:
    from loopx_kernel.store.state_parse import Parsed
    from loopx_kernel.workspace.core import Core
    from loopx_kernel.workspace.ledgers import GoalLedger

HANDOFF_MODE = "hard_lease"
_MOST_RACES = 8


@dataclass(frozen=True, slots=True)
class Page:
    """How the file stands: missing, behind, edited by a person, or not readable at all."""

    path: Path
    missing: bool = False
    behind: bool = False
    drift: tuple[Difference, ...] = ()
    changed_at: datetime | None = None
    problem: str = ""


class StateFile:
    """The state file of one goal, as its ledger stands now."""

    def __init__(self, core: Core, ledger: GoalLedger) -> None:
        self._core = core
        self._ledger = ledger
        self.path = core.state_file(ledger.state)

    def look(self) -> Page:
        """Judges the file; changes nothing and never raises for its content."""
        try:
            data = read_state(self.path, files=self._core.files)
        except LoopxError as error:
            return Page(self.path, problem=error.message)
        if data is None:
            return Page(self.path, missing=True)
        state = self._ledger.state
        text = to_text(data)
        if unchanged(text, header_of(state), rows_of(state)):
            return Page(self.path)
        parsed = _parse(text)
        found = self._drift(parsed)
        return Page(
            self.path,
            behind=not found and _seq(parsed) < state.list_seq,
            drift=found,
            changed_at=self._changed_at() if found else None,
        )

    def rendered_seq(self) -> int:
        """The ``seq`` the file shows: everything up to there was materialised. 0: no file."""
        data = read_state(self.path, files=self._core.files)
        if data is None:
            return 0
        state = self._ledger.state
        text = to_text(data)
        if unchanged(text, header_of(state), rows_of(state)):
            shown: int = state.list_seq
            return shown
        return max(1, _seq(_parse(text)))

    def bring_level(self) -> tuple[Difference, ...]:
        """Renders the file again unless a person's edit must be settled first.

        Returns that edit, empty when the file is level and durable. A save that
        comes in between is kept, and the rendering made again on top of it.
        """
        state = self._ledger.state
        for _ in range(_MOST_RACES):
            data = read_state(self.path, files=self._core.files, pause=_no_pause)
            text = None if data is None else to_text(data)
            seq = 0
            if text is not None:
                if unchanged(text, header_of(state), rows_of(state)):
                    return ()
                parsed = _parse(text)
                found = self._drift(parsed)
                if found:
                    return found
                seq = _seq(parsed)
            if self._write(data, text, seq):
                return ()
        return ()

    def _write(self, data: bytes | None, text: str | None, seq: int) -> bool:
        from loopx_kernel.store.disk import make_folder
        from loopx_kernel.store.state_file import render

        state = self._ledger.state
        handoff = state.handoff
        last = handoff and (handoff.text if handoff.seq <= seq else handoff.replaces)
        content = render(
            text,
            header_of(state),
            rows_of(state),
            handoff=handoff.text if handoff else None,
            last_handoff=last or None,
            at=format_time(state.list_at or datetime.now(UTC)),
        )
        make_folder(self.path.parent, files=self._core.files)
        return replace_rendered(self.path, data, to_bytes(content), files=self._core.files)

    def _drift(self, parsed: Parsed) -> tuple[Difference, ...]:
        from loopx_kernel.store.state_file import drift, is_own_rendering

        state = self._ledger.state
        seq = _seq(parsed)
        if is_own_rendering(parsed) and seq != state.list_seq:
            return ()
        shown = state if seq in (0, state.list_seq) else self._state_at(seq)
        return tuple(
            Difference(item.kind, item.todo_id, item.line or 0, item.text)
            for item in drift(parsed, rows_of(shown))
        )

    def _state_at(self, seq: int) -> GoalState:
        """The state the file was rendered from; replayed, as this is rare."""
        from loopx_kernel.workspace.history import state_at

        return state_at(self._ledger, seq)

    def _changed_at(self) -> datetime | None:
        try:
            return datetime.fromtimestamp(self.path.stat().st_mtime, UTC)
        except OSError:
            return None


def header_of(state: GoalState) -> Header:
    """The front matter of the state's rendering."""
    at = state.list_at
    return Header(state.goal_id, HANDOFF_MODE, format_time(at) if at else "", state.list_seq)


def rows_of(state: GoalState) -> list[Row]:
    """The todo list of the state's rendering."""
    return [_row(todo) for todo in state.todos.values()]


def _row(todo: Todo) -> Row:
    lease = todo.lease if todo.lease and todo.lease.status == "active" else None
    return Row(
        todo_id=todo.id,
        title=todo.title,
        ticked=todo.status == "done",
        holder=lease.owner if lease else None,
        lease_until=format_time(lease.expires_at) if lease else None,
        evidence=tuple(item.path for item in todo.evidence),
        note=_note(todo),
    )


def _note(todo: Todo) -> str:
    if todo.status == "superseded":
        return f"superseded by {todo.superseded_by}"
    if todo.status in ("blocked", "cancelled"):
        return f"{todo.status}: {todo.reason}"
    if todo.status == "waiting" and todo.waiting_on:
        return " ".join(filter(None, ("waiting for", todo.waiting_on.kind, todo.waiting_on.ref)))
    if todo.status == "deferred" and todo.resume_at:
        return f"deferred until {format_time(todo.resume_at)}"
    return ""


def _parse(text: str) -> Parsed:
    from loopx_kernel.store.state_parse import parse

    return parse(text)


def _seq(parsed: Parsed) -> int:
    return parsed.header.seq if parsed.header else 0


def _no_pause(seconds: float) -> None:
    """Whoever renders the file does not wait for it to come back."""
