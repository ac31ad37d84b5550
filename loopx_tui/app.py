"""The terminal UI: wires feed, screens, keymap and themes, and ends when it is told to."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from loopx_kernel.text import safe
from textual.app import App
from textual.binding import BindingType
from textual.screen import Screen

from loopx_tui import strings
from loopx_tui.ending import Ending
from loopx_tui.presentation.header import Bar, Place, header
from loopx_tui.presentation.pen import Pen
from loopx_tui.screens.opening import OpeningScreen
from loopx_tui.theme_files import available, choose
from loopx_tui.themes import DEFAULT, Theme, suggested, to_textual
from loopx_tui.thrift import thrift

if TYPE_CHECKING:
    from rich.console import RenderableType

    from loopx_tui.decisions import Ledger
    from loopx_tui.feed import Feeding
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


class LoopxApp(App[None]):
    """One workspace on one screen. ``feed`` and ``clock`` are others in tests and pictures."""

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
    ) -> None:
        super().__init__()
        self.animation_level = "none"
        self.options = options
        self.keys: Mapping[str, str] = {}
        self._feed = feed
        self._clock = clock
        self._place = place or _place(options)
        self._root = options.path
        self._asked_goal = options.goal_id
        self._notices: list[str] = []
        self._theme_name = ""
        self._watching: asyncio.Task[None] | None = None
        self._telling: Telling | None = None
        self.under_review: ReviewScreen | None = None
        """The review opened last; it knows what became of its decision."""
        self._held = ExitStack()
        fitting = suggested(self.console.color_system)
        # The default is known without reading a file.
        chosen = choose(options.theme or (None if fitting == DEFAULT.name else fitting))
        self._wear(chosen.theme)
        if chosen.notice:
            self._notices.append(chosen.notice)

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
            options.path, goal_id=options.goal_id, read_only=options.read_only
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
        )

    def on_mount(self) -> None:
        self._hold_painting()
        if not self.is_headless:
            Ending(self._leave, lambda: self.last_words).arm()

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
        self.feed.start(self.post_message)
        from loopx_tui.keymap import load

        keymap = load()
        self.keys = keymap.keys
        self.set_keymap(dict(keymap.keys))
        for notice in [*self._notices, *keymap.notices]:
            self.notify(notice, severity="warning", markup=False)

    async def on_snapshot(self, snapshot: Snapshot) -> None:
        self._root = snapshot.told.root
        if self._watching is None:
            self._watching = asyncio.create_task(self.feed.watch())
            await self._open_main()
        self.main.take(snapshot)
        self._say_unknown_goal(snapshot.told)
        if snapshot.told.view is not None and self.main.settled and not self.is_headless:
            self.run_worker(self._teller().tell(snapshot.told.view), group="telling")

    async def _open_main(self) -> None:
        self._hold_painting()
        # What the first resize would find out, so that the first paint is the right one.
        self.main.add_class(*self.main.size_classes(self.size))
        await self.push_screen(self.main)
        self.main.call_after_refresh(self._paint)

    def _teller(self) -> Telling:
        if self._telling is None:
            from loopx_tui.notices import state_folder
            from loopx_tui.telling import Telling

            self._telling = Telling(
                write=self._send,
                complain=lambda text: self.notify(text, severity="warning", markup=False),
                environ=os.environ,
                folder=None if self.options.demo else state_folder(),
            )
        return self._telling

    def _send(self, sequence: str) -> None:
        # Textual has no public way to send a sequence of one's own.
        if self._driver is not None and sequence:
            self._driver.write(sequence)

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
        self.feed.stop()
        if self._telling is not None:
            self._telling.end()
        if self._watching is not None:
            self._watching.cancel()

    def on_app_focus(self) -> None:
        self._refocused()

    def on_app_blur(self) -> None:
        self._refocused()

    def _refocused(self) -> None:
        if self._watching is not None:
            self.main.refocused()

    def open_ledger(self) -> Ledger:
        """A workspace of its own for a decision; for worker threads."""
        from loopx_kernel.workspace import Workspace

        return Workspace.open(self._root, read_only=self.options.read_only)

    def next_theme(self) -> str:
        """Takes the theme that follows; returns the sentence that says which."""
        found = available()
        names = sorted(found.themes)
        if len(names) < 2:
            return strings.NO_OTHER_THEME
        here = names.index(self._theme_name) if self._theme_name in names else -1
        theme = found.themes[names[(here + 1) % len(names)]]
        self._wear(theme)
        return " ".join([strings.THEME_IS.format(label=theme.label), *found.notices])

    def redraw(self) -> None:
        """Draws the whole screen again, for a terminal that lost it."""
        self.screen.refresh(layout=True)
        self.refresh(layout=True)

    def _wear(self, theme: Theme) -> None:
        self._theme_name = theme.name
        self.register_theme(to_textual(theme, in_colour=not self.no_color))
        self.theme = f"loopx-{theme.name}"

    def _display(self, screen: Screen[Any], renderable: RenderableType | None) -> None:
        # All painting comes through here; Textual has no public place for it.
        super()._display(screen, thrift(renderable))

    def _leave(self, status: int) -> None:
        self.exit(return_code=status)


def _place(options: Options) -> Place:
    import getpass
    import platform

    try:
        who = f"{getpass.getuser()}@{platform.node().partition('.')[0]}"
    except (OSError, KeyError):
        who = ""
    path, home = str(options.path), str(Path.home())
    shown = f"~{path[len(home) :]}" if path == home or path.startswith(f"{home}/") else path
    return Place(shown, who, read_only=options.read_only, demo=options.demo)
