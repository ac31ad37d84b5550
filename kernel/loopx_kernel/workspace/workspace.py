"""The façade: open a workspace, one method per command, one per projection."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loopx_kernel.clock import Clock, SystemClock
from loopx_kernel.domain.event import WORKSPACE_JOURNAL, LiveLease
from loopx_kernel.domain.state import GoalState
from loopx_kernel.domain.times import Moment
from loopx_kernel.errors import LoopxError, UsageError
from loopx_kernel.store.layout import Layout
from loopx_kernel.views.goal import GoalView, goal_view
from loopx_kernel.views.warnings import clock_warning
from loopx_kernel.views.workspace import Unread, WorkspaceView, workspace_view
from loopx_kernel.workspace.beside import live_leases
from loopx_kernel.workspace.core import Core, not_initialised
from loopx_kernel.workspace.materials import Materials
from loopx_kernel.workspace.narrowing import alerts as narrowing_alerts
from loopx_kernel.workspace.strangers import never_opened

if TYPE_CHECKING:
    from loopx_kernel.trust.sshsig import Signer
    from loopx_kernel.views.board import Board
    from loopx_kernel.views.packet import Packet
    from loopx_kernel.views.report import Period, Report
    from loopx_kernel.workspace.accepting import Accepting
    from loopx_kernel.workspace.agents import Agents
    from loopx_kernel.workspace.drifts import Drifts
    from loopx_kernel.workspace.escalations import Escalations
    from loopx_kernel.workspace.events import Events
    from loopx_kernel.workspace.evidence import Evidence
    from loopx_kernel.workspace.gates import Gates
    from loopx_kernel.workspace.goals import Goals
    from loopx_kernel.workspace.handoffs import Handoffs
    from loopx_kernel.workspace.history import History
    from loopx_kernel.workspace.keys import Keys
    from loopx_kernel.workspace.ledger import Progress
    from loopx_kernel.workspace.objectives import Objectives
    from loopx_kernel.workspace.observations import Observations
    from loopx_kernel.workspace.orders import Done
    from loopx_kernel.workspace.owners import Owners
    from loopx_kernel.workspace.quota import Quota
    from loopx_kernel.workspace.repairs import Repairs
    from loopx_kernel.workspace.replans import Replans
    from loopx_kernel.workspace.signing import Unsigned
    from loopx_kernel.workspace.sources import Sources
    from loopx_kernel.workspace.todos import Todos
    from loopx_kernel.workspace.turns import Turns


class Workspace:
    """One workspace, open for reading and, unless ``read_only``, for writing.

    Reading takes no lock and changes nothing; it reads only what is new. Safe
    to use from several threads of one process.
    """

    def __init__(self, core: Core) -> None:
        self._core = core

    @staticmethod
    def find(start: Path | None = None, environ: Mapping[str, str] = os.environ) -> Path | None:
        """The root: ``$LOOPX_ROOT``, else the nearest parent with ``.loopx``, else that of a
        git worktree's main tree; ``None`` if there is none."""
        if named := environ.get("LOOPX_ROOT"):
            return Path(named)
        here = (start or Path.cwd()).absolute()
        for folder in (here, *here.parents):
            if (folder / ".loopx").is_dir():
                return folder
        return _main_tree(here)

    @classmethod
    def open(
        cls,
        root: Path,
        *,
        clock: Clock | None = None,
        read_only: bool = False,
        progress: Progress | None = None,
    ) -> Workspace:
        """An existing workspace. Raises ``not_initialised``, ``journal_damaged``; where its journal
        is missing or empty and it was there before, ``owners_changed`` or ``rolled_back``.

        ``progress`` is called while journals are read, with how much was read of how much.
        """
        core = Core(Layout(root.absolute()), clock or SystemClock(), read_only, progress)
        core.house.refresh(progress)
        if not core.house.state.workspace_id:
            core.house.require_whole()
            from loopx_kernel.workspace.founding import require_never_begun

            require_never_begun(core)
            raise not_initialised(root)
        return cls(core)

    @classmethod
    def connect(cls, root: Path, *, clock: Clock | None = None) -> Workspace:
        """Makes ``.loopx`` where it is missing; changes not one byte of one that is there.

        Raises ``owners_changed`` where this person knew one there, which is gone, and
        ``rolled_back`` where only its journal is.
        """
        try:
            return cls.open(root, clock=clock)
        except UsageError as error:
            if error.code != "not_initialised":
                raise
        from loopx_kernel.workspace.founding import found

        core = Core(Layout(root.absolute()), clock or SystemClock())
        found(core)
        return cls.open(root, clock=clock)

    @classmethod
    def replace(cls, root: Path, *, clock: Clock | None = None) -> Workspace:
        """Makes a new workspace, without owners and goals, whose first event names the one it
        takes the place of. That one is kept beside it. For owners who lost their last key.

        Raises ``not_initialised`` where there never was one.
        """
        from loopx_kernel.workspace.founding import replace

        replace(Core(Layout(root.absolute()), clock or SystemClock()))
        return cls.open(root, clock=clock)

    @property
    def root(self) -> Path:
        """The directory that holds ``.loopx``."""
        return self._core.layout.root

    @property
    def clock(self) -> Clock:
        """The clock this workspace was opened with."""
        return self._core.clock

    @property
    def read_only(self) -> bool:
        """Whether writing commands are refused."""
        return self._core.read_only

    @property
    def workspace_id(self) -> str:
        """128 random bits in hex, given when the workspace was made."""
        return str(self._core.house.state.workspace_id)

    @property
    def goal_ids(self) -> tuple[str, ...]:
        """All goals, in the order they were opened."""
        with self._core.lock:
            self._core.house.refresh()
            return tuple(self._core.house.state.goals)

    def pick_goal(self, goal_id: str | None) -> str:
        """The goal named, else the only one. Raises ``unknown_goal``, ``ambiguous_goal``,
        ``not_initialised`` when there is none yet."""
        goals = self.goal_ids
        if goal_id is not None:
            return str(self._core.house.opened(goal_id).goal_id)
        if len(goals) == 1:
            return goals[0]
        if goals:
            raise UsageError(
                "ambiguous_goal",
                f"There are several goals: {', '.join(goals)}",
                next=f"name one with --goal, for example --goal {goals[0]}",
                goals=list(goals),
            )
        self._core.house.require_whole()
        raise UsageError(
            "not_initialised",
            "This workspace has no goal yet",
            next="loopx start-goal --guided",
        )

    def append(self, unsigned: Unsigned, key: Signer) -> Done[Any]:
        """Signs a prepared decision and appends it; durable on return.

        Raises ``stale_decision``, ``already_decided``, ``unknown_signer``.
        """
        from loopx_kernel.workspace.signing import sign_and_append

        return sign_and_append(self._core, unsigned, key)

    def state(self, goal_id: str) -> GoalState:
        """The folded state of a goal, level with its journal."""
        with self._core.lock:
            self._core.house.refresh()
            state: GoalState = self._core.fresh_goal(goal_id).state
            return state

    def view(self, goal_id: str, agent: str | None = None, projection: str = "status") -> GoalView:
        """One goal at this moment, with the health of its files."""
        with self._core.lock:
            self._core.house.refresh()
            leases = live_leases(self._core, self._core.clock.read(), beside=goal_id)
            return self._view(goal_id, agent, projection, leases)

    def workspace_view(self, projection: str = "status") -> WorkspaceView:
        """All goals at this moment; one that cannot be read is named with its reason."""
        with self._core.lock:
            house = self._core.house
            house.refresh()
            goals: list[GoalView] = []
            unread: list[Unread] = []
            leases = live_leases(self._core, self._core.clock.read(), beside="")
            for goal_id in house.state.goals:
                try:
                    others = tuple(lease for lease in leases if lease.goal_id != goal_id)
                    goals.append(self._view(goal_id, None, projection, others))
                except LoopxError as error:
                    reason = "not_permitted" if error.code == "permission" else "unreachable"
                    unread.append(Unread(goal_id, reason, error.message, error.next))
            return workspace_view(
                root=str(self.root),
                workspace_id=self.workspace_id,
                goals=goals,
                unread=unread,
                owners=house.deciders,
                agents=list(house.state.agents),
                alerts=self.alerts(),
                now=self._core.clock.read().now,
                projection=projection,
            )

    def alerts(self) -> tuple[str, ...]:
        """What is wrong with the workspace itself, in sentences; whose it is comes first."""
        with self._core.lock:
            house = self._core.house
            house.refresh()
            alerts = [
                f"#{a.seq} {a.event_type} has no effect: {a.message}" for a in house.state.alerts
            ]
            now = self._core.clock.read().now
            last = house.state.last_at
            latest = Moment(seq=house.state.seq, at=last) if last else None
            clock = clock_warning(WORKSPACE_JOURNAL, latest, now)
            if clock is not None:
                alerts.insert(0, clock.sentence)
            alerts += narrowing_alerts(house.narrowing)
            if house.damage is not None:
                alerts.insert(0, house.damage.message)
            else:
                alerts += never_opened(self._core)
            return (*(one.sentence for one in self._core.pins.damage()), *alerts)

    def board(self, goal_id: str) -> Board:
        """One goal's todos by state, with who holds what, what is decided and what is watched."""
        from loopx_kernel.views.board import board

        with self._core.lock:
            view = self.view(goal_id, projection="board")
            return board(self._core.goal(goal_id).state, view)

    def report(self, goal_id: str, period: Period) -> Report:
        """What one goal did in a period, from its journal. Raises ``invalid_value`` for a period
        that ends before it begins, or before the goal was opened."""
        from loopx_kernel.workspace.reports import report_on

        with self._core.lock:
            return report_on(self._core, self.view(goal_id, projection="report"), period)

    def packet(self, goal_id: str, ref: str) -> Packet:
        """All that one decision needs: about a gate, an escalation, ``drift``, ``damage``,
        ``accept`` or a person's todo. Raises ``unknown_gate``, ``unknown_escalation``,
        ``unknown_todo``, ``already_decided``, ``invalid_value``."""
        from loopx_kernel.workspace.packets import packet_on

        with self._core.lock:
            return packet_on(self._core, self.view(goal_id, projection="review-packet"), ref)

    def watch_directories(self) -> set[Path]:
        """The directories in which a change of the ledger shows, also those of state files
        elsewhere, of the goals that were read so far. Reads nothing."""
        with self._core.lock:
            own = self._core.layout.folder
            read = filter(self._core.has_read, self._core.house.state.goals)
            states = (self._core.goal(goal_id).state for goal_id in read)
            places = [self._core.state_file(state).parent for state in states if state.rules]
            return {own, *(place for place in places if not place.is_relative_to(own))}

    def _view(
        self,
        goal_id: str,
        agent: str | None,
        projection: str,
        neighbours: tuple[LiveLease, ...],
    ) -> GoalView:
        core = self._core
        ledger = core.fresh_goal(goal_id)
        ledger_damaged = ledger.state.rules is None and ledger.damage is not None
        if ledger_damaged:
            ledger.require_whole()
        # Looking may read on: first what was read, then the state it is compared with.
        reads = Materials(core).look(ledger, neighbours)
        return goal_view(
            ledger.state,
            reads,
            core.clock.read(),
            agent_id=agent,
            agents=list(core.house.state.agents),
            owners=core.house.deciders,
            projection=projection,
        )

    @cached_property
    def agents(self) -> Agents:
        """Registered workers."""
        from loopx_kernel.workspace.agents import Agents

        return Agents(self._core)

    @cached_property
    def owners(self) -> Owners:
        """People."""
        from loopx_kernel.workspace.owners import Owners

        return Owners(self._core)

    @cached_property
    def keys(self) -> Keys:
        """The person's own keys."""
        from loopx_kernel.workspace.keys import Keys

        return Keys(self._core)

    @cached_property
    def goals(self) -> Goals:
        """Goal commands."""
        from loopx_kernel.workspace.goals import Goals

        return Goals(self._core)

    @cached_property
    def todos(self) -> Todos:
        """Todo and lease commands."""
        from loopx_kernel.workspace.todos import Todos

        return Todos(self._core)

    @cached_property
    def evidence(self) -> Evidence:
        """What todos rest on."""
        from loopx_kernel.workspace.evidence import Evidence

        return Evidence(self._core)

    @cached_property
    def gates(self) -> Gates:
        """Gate commands."""
        from loopx_kernel.workspace.gates import Gates

        return Gates(self._core)

    @cached_property
    def quota(self) -> Quota:
        """Quota commands."""
        from loopx_kernel.workspace.quota import Quota

        return Quota(self._core)

    @cached_property
    def turns(self) -> Turns:
        """Turn commands."""
        from loopx_kernel.workspace.turns import Turns

        return Turns(self._core)

    @cached_property
    def observations(self) -> Observations:
        """Looks at facts from outside."""
        from loopx_kernel.workspace.observations import Observations

        return Observations(self._core)

    @cached_property
    def accepting(self) -> Accepting:
        """Acceptance runs, and accepting by hand."""
        from loopx_kernel.workspace.accepting import Accepting

        return Accepting(self._core)

    @cached_property
    def escalations(self) -> Escalations:
        """Answers to escalations."""
        from loopx_kernel.workspace.escalations import Escalations

        return Escalations(self._core)

    @cached_property
    def sources(self) -> Sources:
        """Source commands."""
        from loopx_kernel.workspace.sources import Sources

        return Sources(self._core)

    @cached_property
    def handoff(self) -> Handoffs:
        """The hand-over."""
        from loopx_kernel.workspace.handoffs import Handoffs

        return Handoffs(self._core)

    @cached_property
    def drift(self) -> Drifts:
        """Edits of the todo list by hand."""
        from loopx_kernel.workspace.drifts import Drifts

        return Drifts(self._core)

    @cached_property
    def replans(self) -> Replans:
        """Work taken away, other routes, proposals."""
        from loopx_kernel.workspace.replans import Replans

        return Replans(self._core)

    @cached_property
    def objectives(self) -> Objectives:
        """The objective in all its versions."""
        from loopx_kernel.workspace.objectives import Objectives

        return Objectives(self._core)

    @cached_property
    def history(self) -> History:
        """Goals as they stood at an earlier line."""
        from loopx_kernel.workspace.history import History

        return History(self._core)

    @cached_property
    def repairs(self) -> Repairs:
        """Damage, and the way out of it."""
        from loopx_kernel.workspace.repairs import Repairs

        return Repairs(self._core)

    @cached_property
    def events(self) -> Events:
        """The journals."""
        from loopx_kernel.workspace.events import Events

        return Events(self._core)


def _main_tree(here: Path) -> Path | None:
    """The main tree of the git worktree ``here`` is in, if that has a ``.loopx``."""
    for folder in (here, *here.parents):
        link = folder / ".git"
        if not link.is_file():
            continue
        try:
            target = link.read_text("utf-8").removeprefix("gitdir:").strip()
        except (OSError, UnicodeDecodeError):
            return None
        main = (folder / target).resolve().parent.parent.parent
        return main if (main / ".loopx").is_dir() else None
    return None
