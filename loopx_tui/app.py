"""The terminal UI: wires feed, screens, keymap and themes, and ends when it is told to."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from loopx_kernel.text import safe
from textual import events
from textual.binding import BindingType
from textual.screen import Screen

from loopx_tui import strings
from loopx_tui.ending import Ending
from loopx_tui.kept import Kept
from loopx_tui.personal import PersonalApp
from loopx_tui.preferences import own_folder, state_folder
from loopx_tui.presentation.header import Bar, Place, header
from loopx_tui.presentation.pen import Pen
from loopx_tui.screens.opening import OpeningScreen

if TYPE_CHECKING:
    from loopx_kernel.workspace import Workspace

    from loopx_tui.feed import Feeding
    from loopx_tui.flags import Flag
    from loopx_tui.insight import Knowing, Progress
    from loopx_tui.screens.acting import ActingScreen
    from loopx_tui.screens.main import MainScreen
    from loopx_tui.screens.review import ReviewScreen
    from loopx_tui.telling import Telling
    from loopx_tui.told import Snapshot, Told


@dataclass(frozen=True, slots=True)
class Options:
    """How the app was started. ``path`` is where the workspace is looked for."""

    path: Path
    goal_id: str | None = None
    read_only: bool = False
    theme: str | None = None
    ascii_only: bool = False
    demo: bool = False


class LoopxApp(PersonalApp):
    """One workspace on one screen. ``feed``, ``clock`` and ``knowing`` are others in tests and
    pictures."""

    TITLE = strings.APP
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = []

    def __init__(
        self,
        options: Options,
        *,
        feed: Feeding | None = None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        place: Place | None = None,
        knowing: Callable[[str], Knowing] | None = None,
    ) -> None:
        super().__init__(options.theme, None if options.demo else state_folder())
        self._knowing = knowing
        self.options = options
        self._feed = feed
        self._clock = clock
        self._place = place or _place(options)
        self._root = options.path
        self._asked_goal = options.goal_id
        self._watching: asyncio.Task[None] | None = None
        self._telling: Telling | None = None
        self.successor = ""
        """The path to go on with once this ended, or ``demo``; empty for an end."""
        self.under_review: ReviewScreen | None = None
        """The review opened last; it knows what became of its decision."""
        self.kept = Kept()
        """The key that its owner let the app keep open."""
        self._held = ExitStack()
        self._ending = Ending(self._leave, lambda: self.last_words)

    def get_default_screen(self) -> Screen[None]:
        return OpeningScreen(self._opening_header)

    def _opening_header(self, width: int) -> Bar:
        pen = Pen(self._clock(), ascii_only=self.options.ascii_only)
        return header(self._place, None, None, mode="start", observed=None, pen=pen, width=width)

    @cached_property
    def feed(self) -> Feeding:
        """Where the readings come from."""
        from loopx_tui.feed import Feed

        options = self.options
        return self._feed or Feed(
            options.path,
            goal_id=options.goal_id,
            read_only=options.read_only,
            own=own_folder(),
        )

    @cached_property
    def main(self) -> MainScreen:
        """The screen with the panes; it is shown with the first reading."""
        from loopx_tui.screens.main import MainScreen

        return MainScreen(
            self._place,
            select=self.feed.select,
            clock=self._clock,
            ascii_only=self.options.ascii_only,
            kept=self.kept,
            keep=self.keep,
        )

    def on_mount(self) -> None:
        self._hold_painting()
        if not self.is_headless:
            self.fit_theme()
            self._ending.arm()
            self.mind_stops()

    def on_ready(self) -> None:
        self._paint()
        self.call_after_refresh(self._begin)

    def _hold_painting(self) -> None:
        """Until ``_paint``: Textual lays a new screen out and resumes it, and paints for both."""
        self._held.enter_context(self.batch_update())

    def _paint(self) -> None:
        self._held.close()
        self.screen.refresh()

    def _begin(self) -> None:
        """After the first paint: the slow imports, the keys, the first reading."""
        self._take_size()
        self.feed.start(self.post_message)
        self.take_own_files()

    def _take_size(self) -> None:
        """A change of size while Textual was starting was told to nobody."""
        if self.is_headless or sys.__stderr__ is None:
            return
        with suppress(OSError):
            if (*os.get_terminal_size(sys.__stderr__.fileno()),) != (*self.size,):
                os.kill(os.getpid(), signal.SIGWINCH)

    def show_keys(self) -> None:
        self.main.keys_changed()

    def show_flag(self, flag: Flag) -> None:
        self.main.fly(flag)
        self._tell()

    def workspace_root(self) -> Path:
        return self._root

    async def on_snapshot(self, snapshot: Snapshot) -> None:
        moved = self._root != snapshot.told.root or self._watching is None
        self._root = snapshot.told.root
        if self._watching is None:
            self._watching = asyncio.create_task(self.feed.watch())
            await self._open_main()
        self.main.take(snapshot)
        if moved:
            self.raise_flag()
        self._say_unknown_goal(snapshot.told)
        self._tell()

    def _tell(self) -> None:
        """Tells a person what is new, once all was read and the workspace has its name."""
        view = self.main.scene.view
        if view is not None and self.main.settled and self.flag_read and not self.is_headless:
            self.run_worker(self._teller().tell(view), group="telling")

    async def _open_main(self) -> None:
        self._hold_painting()
        # What the first resize would find out, so that the first paint is the right one.
        self.main.add_class(*self.main.size_classes(self.size))
        await self.push_screen(self.main)
        self.main.call_after_refresh(self._paint)

    def _teller(self) -> Telling:
        if self._telling is None:
            from loopx_tui.telling import Telling

            self._telling = Telling(
                write=self.send,
                complain=self.warn,
                environ=os.environ,
                folder=self.keep,
                called=lambda: self.flag.label,
            )
        return self._telling

    def _say_unknown_goal(self, told: Told) -> None:
        asked, self._asked_goal = self._asked_goal, None
        if asked is None or told.view is None:
            return
        known = [goal.goal_id for goal in told.view.goals]
        known += [item.goal_id for item in told.view.unread]
        if asked not in known:
            shown = told.goal_id or strings.NOTHING
            self.notify(
                safe(strings.NO_SUCH_GOAL.format(goal=asked, shown=shown)),
                severity="warning",
                markup=False,
            )

    @property
    def last_words(self) -> str:
        """What became of a decision under way when the app ended; empty without one."""
        return self.under_review.last_words if self.under_review else ""

    def on_unmount(self) -> None:
        self.kept.drop()
        self.feed.stop()
        if self._telling is not None:
            self._telling.end()
        if self._watching is not None:
            self._watching.cancel()

    def on_key(self, event: events.Key) -> None:
        """A letter that was on its way to a list when the filter opened is text of the filter."""
        field = self.focused
        if field is not None and field.id == "filter" and event.is_printable:
            event.prevent_default()
            field.post_message(events.Key(event.key, event.character))

    def on_app_focus(self) -> None:
        self._refocused()

    def on_app_blur(self) -> None:
        self.kept.drop()
        self._refocused()

    def _refocused(self) -> None:
        if self._watching is not None:
            self.main.refocused()

    def open_ledger(self, progress: Progress | None = None) -> Workspace:
        """A workspace of its own for a decision, or a look; for worker threads."""
        from loopx_kernel.workspace import Workspace

        return Workspace.open(self._root, read_only=self.options.read_only, progress=progress)

    def knowing(self, goal_id: str, progress: Progress) -> Knowing:
        """What tells a goal's own screen what the ledger holds of it."""
        from loopx_tui.insight import Insight

        return (
            self._knowing(goal_id)
            if self._knowing
            else Insight(self.open_ledger, goal_id, progress)
        )

    def screen_over(self, name: str, under: ActingScreen, **more: object) -> ActingScreen:
        """A screen to lie over another, by its name."""
        from loopx_tui.screens.over import screen_over

        return screen_over(name, under, **more)

    @property
    def agent(self) -> str:
        """The agent in whose shell this runs, who decides nothing; empty for a person's."""
        return os.environ.get("LOOPX_AGENT", "")

    def go_on_with(self, path: str) -> None:
        """Ends, and has whoever started it begin anew with ``successor``."""
        self.successor = path
        self.exit()

    def _leave(self, status: int) -> None:
        self.exit(return_code=status)


def _place(options: Options) -> Place:
    import getpass
    import platform

    from loopx_tui.demo.place import OWNER

    try:
        who = OWNER if options.demo else f"{getpass.getuser()}@{platform.node().partition('.')[0]}"
    except (OSError, KeyError):
        who = ""
    path, home = str(options.path), str(Path.home())
    shown = f"~{path[len(home) :]}" if path == home or path.startswith(f"{home}/") else path
    return Place(shown, who, read_only=options.read_only, demo=options.demo)
