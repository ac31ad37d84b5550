"""Reading a workspace for the screen: what to read again, and when something expires by itself."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path

from loopx_kernel.clock import Clock, SystemClock
from loopx_kernel.domain.event import WORKSPACE_JOURNAL
from loopx_kernel.errors import LoopxError
from loopx_kernel.views.goal import GoalView
from loopx_kernel.views.workspace import Unread, WorkspaceView, workspace_view
from loopx_kernel.workspace import EventRow, Workspace

from loopx_tui import strings
from loopx_tui.presentation.goals import NOT_LOADED
from loopx_tui.told import Told

EVENTS_SHOWN = 500
# A lease of another host is held this much longer than it says; see the kernel's grace.
_GRACE = timedelta(seconds=60)
_FOLDER = ".loopx"
_LONG_SECONDS, _PART_SECONDS = 0.5, 0.25
"""After what time it is told how much of a goal was read, and how often from then on."""


class Reader:
    """One workspace as the screen sees it. For one thread.

    ``start`` is where it is looked for; where there is none it is waited for. ``meanwhile`` is
    called when more of a goal was read whose first reading takes long.
    """

    def __init__(
        self,
        start: Path,
        *,
        read_only: bool,
        clock: Clock | None = None,
        meanwhile: Callable[[], object] = lambda: None,
    ) -> None:
        self._start = self._root = start
        self._meanwhile = meanwhile
        self._loading, self._say_at = "", 0.0
        self._read_only = read_only
        self._clock = clock or SystemClock()
        self._workspace: Workspace | None = None
        self._folder_id: tuple[int, int] | None = None
        self._goals: dict[str, GoalView | Unread] = {}
        self._deadlines: dict[str, datetime] = {}
        self._owners: tuple[str, ...] = ()
        self._agents: tuple[str, ...] = ()
        self._alerts: tuple[str, ...] = ()
        self._seen: object = None
        self._told = Told(start)
        # The last events of a goal, as long as it was not read again.
        self._tail: tuple[GoalView | None, tuple[EventRow, ...]] = (None, ())

    def directories(self) -> set[Path]:
        """What to watch: the workspace's own directories, or where one would be made."""
        if self._workspace is None:
            return {self._root / _FOLDER}
        return self._workspace.watch_directories()

    def seconds_to_deadline(self) -> float | None:
        """Until something known expires or comes due without any file changing."""
        if not self._deadlines:
            return None
        first = min(self._deadlines.values())
        return max((first - self._clock.read().now).total_seconds() + 0.05, 0.0)

    def read(
        self, changed: Iterable[str], *, everything: bool, goal_id: str | None
    ) -> Iterator[bool]:
        """Reads what changed or came due; the first time all, the selected goal first. One goal
        a step; whether there is another one to read."""
        with self._losing():
            workspace, fresh = self._open()
            if everything or fresh:
                self._read_house(workspace)
            names = self._names(workspace, set(changed), everything or fresh, goal_id)
            for place, name in enumerate(names, 1):
                self._read_goal(workspace, name)
                if place < len(names):
                    yield True
        yield False

    def told(self, goal_id: str | None) -> Told:
        """What was read so far, with the events of that goal, or of the first where it is not
        there."""
        if self._workspace is not None:
            with self._losing():
                self._told = self._tell(self._workspace, goal_id)
        return self._told

    @contextmanager
    def _losing(self) -> Iterator[None]:
        """Where there is no workspace any more, that is what is told."""
        try:
            yield
        except LoopxError as error:
            self._lose(str(error))
        except OSError as error:
            why = error.strerror or type(error).__name__
            self._lose(strings.NOT_READ.format(path=error.filename or self._root, why=why))

    def _open(self) -> tuple[Workspace, bool]:
        """The workspace, and whether it was opened just now: another one may stand in its place."""
        root = self._workspace.root if self._workspace else Workspace.find(self._start)
        root = root or self._start
        info = (root / _FOLDER).stat() if (root / _FOLDER).is_dir() else None
        folder_id = (info.st_dev, info.st_ino) if info else None
        if self._workspace is not None and folder_id == self._folder_id:
            return self._workspace, False
        self._forget()
        self._workspace = Workspace.open(
            root, clock=self._clock, read_only=self._read_only, progress=self._progress
        )
        self._workspace.owners.pins.see()
        self._folder_id, self._root = folder_id, root
        return self._workspace, True

    def _read_house(self, workspace: Workspace) -> None:
        # Whose signatures count decides what each line is worth.
        self._tail = (None, ())
        found = workspace.events.verify(WORKSPACE_JOURNAL)
        told = (*workspace.alerts(), *found.problems, *found.alerts)
        self._alerts = tuple(dict.fromkeys(told))
        owners = workspace.owners.list()
        self._owners = tuple(owner.name for owner in owners if owner.revoked_seq is None)
        self._agents = tuple(agent.id for agent in workspace.agents.list())

    def _forget(self) -> None:
        self._workspace = None
        self._goals.clear()
        self._deadlines.clear()
        self._tail = (None, ())

    def _lose(self, why: str) -> None:
        self._forget()
        self._told = Told(self._root, missing=why)

    def _names(
        self, workspace: Workspace, changed: set[str], everything: bool, goal_id: str | None
    ) -> list[str]:
        """The goals to read: the selected one, those that needed a person, the rest."""
        ids = workspace.goal_ids
        for gone in self._goals.keys() - set(ids):
            del self._goals[gone]
            self._deadlines.pop(gone, None)
        now = self._clock.read().now
        due = {name for name, at in self._deadlines.items() if at <= now}
        wanted = [
            name for name in ids if everything or name in changed | due or name not in self._goals
        ]
        return sorted(wanted, key=lambda name: (name != goal_id, not self._needed(name)))

    def _needed(self, name: str) -> bool:
        known = self._goals.get(name)
        return isinstance(known, Unread) or (known is not None and bool(known.needs_you))

    def _read_goal(self, workspace: Workspace, name: str) -> None:
        self._deadlines.pop(name, None)
        self._loading = name if not isinstance(self._goals.get(name), GoalView) else ""
        self._say_at = time.monotonic() + _LONG_SECONDS
        try:
            view = workspace.view(name)
        except LoopxError as error:
            reason = "not_permitted" if error.code == "permission" else "unreachable"
            self._goals[name] = Unread(name, reason, error.message, error.next)
        except Exception as error:
            # Whatever is wrong with one goal costs that goal only.
            text = f"{type(error).__name__}: {error}"
            self._goals[name] = Unread(name, "unreachable", text, "loopx doctor")
        else:
            self._goals[name] = view
            deadline = next_deadline(view, self._clock.read().now)
            if deadline is not None:
                self._deadlines[name] = deadline
        finally:
            self._loading = ""

    def _progress(self, done: int, whole: int) -> None:
        """Told by the ledger: so many bytes of a journal were read."""
        if not self._loading or done >= whole or time.monotonic() < self._say_at:
            return
        self._say_at = time.monotonic() + _PART_SECONDS
        part = Unread(self._loading, NOT_LOADED, strings.LOADED.format(part=done / whole), None)
        if part != self._goals.get(self._loading):
            self._goals[self._loading] = part
            self._meanwhile()

    def _tell(self, workspace: Workspace, goal_id: str | None) -> Told:
        now = self._clock.read().now
        ids = workspace.goal_ids
        view = self._view(workspace, ids, now)
        chosen = goal_id if goal_id in ids else None
        chosen = chosen or next((goal.goal_id for goal in view.goals), next(iter(ids), None))
        seen = _fingerprint(view)
        observed = self._told.observed if seen == self._seen else now
        self._seen = seen
        return Told(
            root=workspace.root,
            view=view,
            goal_id=chosen,
            events=self._events(workspace, chosen),
            observed=observed,
            read_only=workspace.read_only,
        )

    def _view(self, workspace: Workspace, ids: Sequence[str], now: datetime) -> WorkspaceView:
        known = [self._goals.get(name) or _not_loaded(name) for name in ids]
        return workspace_view(
            root=str(workspace.root),
            workspace_id=workspace.workspace_id,
            goals=[item for item in known if isinstance(item, GoalView)],
            unread=[item for item in known if isinstance(item, Unread)],
            owners=self._owners,
            agents=self._agents,
            alerts=self._alerts,
            now=now,
        )

    def _events(self, workspace: Workspace, goal_id: str | None) -> tuple[EventRow, ...]:
        view = self._goals.get(goal_id or "")
        if not isinstance(view, GoalView):
            return ()
        if self._tail[0] is not view:
            try:
                self._tail = view, self._longer_tail(workspace, view)
            except LoopxError:
                return ()
        return self._tail[1]

    def _longer_tail(self, workspace: Workspace, view: GoalView) -> tuple[EventRow, ...]:
        """The last events; those read before are kept where the new ones follow on them."""
        before, known = self._tail
        new = view.seq - before.seq if before and before.goal_id == view.goal_id else 0
        if not known or not 0 < new < EVENTS_SHOWN:
            return workspace.events.tail(view.goal_id, EVENTS_SHOWN)
        rows = workspace.events.tail(view.goal_id, new)
        if not rows or rows[0].event.prev != known[-1].event.sha256:
            return workspace.events.tail(view.goal_id, EVENTS_SHOWN)
        return (*known, *rows)[-EVENTS_SHOWN:]


def next_deadline(view: GoalView, now: datetime) -> datetime | None:
    """When this view will differ by the clock alone: a lease or source expires, a date comes."""
    moments: list[datetime | None] = []
    for lease in view.leases:
        if lease.status in ("active", "expired"):
            moments += [lease.expires_at, lease.expires_at + _GRACE]
    for source in view.sources:
        if source.last_success_at is not None:
            # One second more: a source is stale when it is older than its window.
            window = timedelta(seconds=source.window_seconds + 1)
            moments.append(source.last_success_at + window)
    for row in view.gates:
        moments += [row.gate.until, row.gate.expires_at]
    for todo in view.todos:
        moments += [todo.todo.resume_at, todo.todo.next_check_at]
    hint = view.contract.scheduler_hint
    if hint.basis != "work_ready":
        moments.append(hint.next_wake_at)
    if sum(view.burn.buckets):
        moments.append(now + timedelta(seconds=view.burn.bucket_seconds))
    return min((at for at in moments if at is not None and at > now), default=None)


def _fingerprint(view: WorkspaceView) -> object:
    """What makes two readings differ, times of reading aside."""
    goals = [
        (goal.goal_id, goal.seq, goal.head, goal.reads, goal.contract.answer) for goal in view.goals
    ]
    return goals, view.unread, view.owners, view.agents, view.alerts


def _not_loaded(goal_id: str) -> Unread:
    return Unread(goal_id, NOT_LOADED, strings.NOT_LOADED, None)
