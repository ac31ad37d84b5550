"""``ACTIVE_GOAL_STATE.md`` against the fold: rendering it, and seeing what a person changed."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from loopx_kernel.clock import format_time
from loopx_kernel.domain.needs_you import Difference
from loopx_kernel.domain.records import Todo
from loopx_kernel.domain.state import GoalState
from loopx_kernel.errors import Storage
from loopx_kernel.store.disk import is_at_rest, signature
from loopx_kernel.store.state_swap import read_state, replace_rendered
from loopx_kernel.store.state_text import (
    Header,
    Row,
    own_lines,
    render_top,
    rest_of,
    to_bytes,
    to_text,
    untouched_seq,
)
from loopx_kernel.workspace.pages import Edited, Looked, Page, Shown

if TYPE_CHECKING:
    from loopx_kernel.store.state_parse import Parsed
    from loopx_kernel.workspace.core import Core
    from loopx_kernel.workspace.ledgers import GoalLedger

HANDOFF_MODE = "hard_lease"
_MOST_RACES = 8


class StateFile:
    """The state file of one goal, as its ledger stands now."""

    def __init__(self, core: Core, ledger: GoalLedger) -> None:
        self._core = core
        self._ledger = ledger
        self.path = core.state_file(ledger.state)
        core.files.confine(core.repo(ledger.state))

    def look(self) -> Page:
        """Judges the file; changes nothing and never raises for its content. The same file is
        read again only where it stands to another list, and a person may have changed it."""
        pages, state = self._core.pages, self._ledger.state
        decided = (state.cuts, state.settled.get(self._core.shown(self.path)))
        found, known = signature(self.path, files=self._core.files), pages.get(self.path)
        if known is not None and (known.signature, known.decided) == (found, decided):
            if known.list_seq == state.list_seq:
                return known.page
            if known.untouched_at:
                return Page(self.path, behind=known.untouched_at < state.list_seq)
        page, untouched_at = self._looked()
        if found is not None and page.problem is None and is_at_rest(found):
            pages[self.path] = Looked(found, state.list_seq, decided, page, untouched_at)
        return page

    def _looked(self) -> tuple[Page, int]:
        """How the file stands, and the ``seq`` at which it was rendered, where it was not changed
        since; else 0."""
        shown = self.show()
        if shown.problem is not None:
            return Page(self.path, problem=shown.problem), 0
        if shown.data is None:
            return Page(self.path, missing=True), 0
        page = Page(
            self.path,
            behind=not shown.drift and (shown.settled or shown.seq < self._ledger.state.list_seq),
            drift=shown.drift,
            changed_at=self._changed_at() if shown.drift else None,
        )
        # A file without its front matter passes for one of line 1.
        rendered = shown.rest is not None or shown.seq > 1
        return page, shown.seq if rendered and not shown.drift and not shown.settled else 0

    def show(self) -> Shown:
        """What the file shows: everything up to its ``seq`` was materialised. Never raises."""
        try:
            data = read_state(self.path, files=self._core.files)
        except Storage as error:
            return Shown(None, 0, problem=error)
        return self._judge(data, self._ledger.state)

    def edited(self) -> Edited:
        """What a person changed, for showing it to a person; changes nothing.

        Raises ``Storage`` where the file cannot be read.
        """
        shown = self.show()
        if shown.problem is not None:
            raise shown.problem
        data, drift = shown.data, shown.drift
        name, digest = self._core.shown(self.path), hashlib.sha256(data or b"").hexdigest()
        if data is None or shown.rest is not None:
            return Edited(name, digest)
        from loopx_kernel.store.state_file import edit_as_diff

        text = to_text(data)
        seen = self._rendered_from(_seq(_parse(text)), self._ledger.state)
        problems = _parse(text, own_lines(top_of(seen))).problems
        if not drift:
            return Edited(name, digest, problems=problems)
        diff = edit_as_diff(text, header_of(seen), rows_of(seen))
        return Edited(name, digest, drift, diff, problems)

    def bring_level(self, shown: Shown) -> tuple[Difference, ...]:
        """Renders the file again unless a person's edit must be settled first.

        Returns that edit, empty when the file is level and durable. A save that
        comes in between is kept, and the rendering made again on top of it. Raises ``Storage``.
        """
        if shown.problem is not None:
            raise shown.problem
        state = self._ledger.state
        for _ in range(_MOST_RACES):
            if shown.drift or (shown.rest is not None and shown.seq == state.list_seq):
                return shown.drift
            if self._write(shown):
                return ()
            shown = self._judge(self._read(), state)
        return ()

    def follow(self, before: GoalState) -> None:
        """The same right after a commit, when the file most likely shows ``before``."""
        self.bring_level(self._judge(self._read(), before))

    def _read(self) -> bytes | None:
        return read_state(self.path, files=self._core.files, pause=_no_pause)

    def _judge(self, data: bytes | None, likely: GoalState) -> Shown:
        if data is None:
            return Shown(None, 0)
        text, top = to_text(data), top_of(likely)
        rest = rest_of(text, top)
        if rest is not None:
            return Shown(data, likely.list_seq, rest, top=top)
        rendered_at = untouched_seq(text)
        if rendered_at not in (0, likely.list_seq, self._ledger.state.list_seq):
            return Shown(data, rendered_at, settled=self._is_settled(data))
        parsed = _parse(text)
        seq = max(1, _seq(parsed))
        shown = Shown(data, seq, top=top if _seq(parsed) in (0, likely.list_seq) else None)
        if self._is_settled(data):
            return replace(shown, settled=True)
        return replace(shown, drift=self._drift(parsed, likely))

    def _is_settled(self, data: bytes) -> bool:
        settled = self._ledger.state.settled.get(self._core.shown(self.path))
        return settled is not None and hashlib.sha256(data).hexdigest() == settled

    def _write(self, shown: Shown) -> bool:
        from loopx_kernel.store.disk import make_folder

        make_folder(self.path.parent, files=self._core.files)
        if shown.settled and shown.data is not None:
            self._keep(shown.data)
        content = to_bytes(self._content(shown))
        files = self._core.files
        return replace_rendered(self.path, shown.data, content, files=files, keep=self._keep)

    def _keep(self, data: bytes) -> None:
        from loopx_kernel.store.quarantine import set_aside

        folder, at = self._ledger.quarantine, self._core.clock.read().now
        set_aside(folder, "drift", [data], at=at, files=self._core.files)

    def _content(self, shown: Shown) -> str:
        state = self._ledger.state
        handoff = state.handoff
        if shown.rest is not None and (handoff is None or handoff.seq <= shown.seq):
            return top_of(state) + shown.rest
        from loopx_kernel.store.state_file import render

        top = shown.top or top_of(self._rendered_from(shown.seq, state))
        last = handoff and (handoff.text if handoff.seq <= shown.seq else handoff.replaces)
        return render(
            None if shown.data is None else to_text(shown.data),
            header_of(state),
            rows_of(state),
            handoff=handoff.text if handoff else None,
            last_handoff=last or None,
            at=format_time(state.list_at or datetime.now(UTC)),
            ours=own_lines(top, top_of(state)),
        )

    def _drift(self, parsed: Parsed, likely: GoalState) -> tuple[Difference, ...]:
        from loopx_kernel.store.state_file import drift, is_own_rendering

        state = self._ledger.state
        seq = _seq(parsed)
        if is_own_rendering(parsed) and seq != state.list_seq:
            return ()
        return tuple(
            Difference(item.kind, item.todo_id, item.line or 0, item.text)
            for item in drift(parsed, rows_of(self._rendered_from(seq, likely)))
        )

    def _rendered_from(self, seq: int, likely: GoalState) -> GoalState:
        """The state the file was rendered from (0: it does not say); replayed where that is
        not ``likely``, as this is rare."""
        if seq in (0, likely.list_seq):
            return likely
        from loopx_kernel.workspace.snapshots import state_at

        return state_at(self._ledger, seq)

    def _changed_at(self) -> datetime | None:
        try:
            return datetime.fromtimestamp(self.path.stat().st_mtime, UTC)
        except OSError:
            return None


def header_of(state: GoalState) -> Header:
    """The front matter of the state's rendering."""
    at, earlier = state.list_at, sum(state.left.values())
    shown = format_time(at) if at else ""
    return Header(state.goal_id, HANDOFF_MODE, shown, state.list_seq, earlier)


def top_of(state: GoalState) -> str:
    """The kernel's part of the state's rendering."""
    return render_top(header_of(state), rows_of(state))


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


def _parse(text: str, ours: frozenset[str] | None = None) -> Parsed:
    from loopx_kernel.store.state_parse import parse

    return parse(text, ours)


def _seq(parsed: Parsed) -> int:
    return parsed.header.seq if parsed.header else 0


def _no_pause(seconds: float) -> None:
    """Whoever renders the file does not wait for it to come back."""
