"""Beginning on the first screen: the welcome, connecting, the first goal, other workspaces."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

from loopx_kernel.domain.event import WORKSPACE_JOURNAL
from loopx_kernel.errors import LoopxError
from textual import on, work

from loopx_tui import first_words as words
from loopx_tui import strings
from loopx_tui.commands import BY_ID, Situation
from loopx_tui.panes.board import Board
from loopx_tui.panes.welcome import WAYS, Welcome
from loopx_tui.screens.boarded import BoardScreen
from loopx_tui.told import Told


class ArrivingScreen(BoardScreen):
    """A screen that shows a welcome where no workspace with an owner is."""

    board: Board
    welcome: Welcome
    told: Told | None = None
    """What the last reading gave."""

    @property
    def connected(self) -> bool:
        """Whether it is a workspace for which somebody signed; one that cannot be read may be."""
        view = self.told.view if self.told else None
        return view is not None and bool(view.owners or view.goals or view.unread or view.alerts)

    def root(self) -> Path:
        """The folder of the workspace, or where one would be."""
        return self.told.root if self.told else Path()

    def welcome_or_panes(self, told: Told) -> None:
        """The welcome in place of the panes, or the panes again; what is shown has the focus."""
        self.told = told
        self.set_class(not self.connected, "-missing")
        if not self.connected:
            self._show_welcome(told)
            if not self.welcome.has_focus_within:
                self.welcome.take_focus()
        elif self.welcome.has_focus_within:
            self.board.needs.rows.focus()

    @property
    def footer_ids(self) -> tuple[str, ...]:
        return super().footer_ids if self.connected else (*WAYS, "palette", "help", "quit")

    def situation(self) -> Situation:
        found = super().situation()
        return replace(found, connected=self.connected, demo=self._place.demo)

    def _show_welcome(self, told: Told) -> None:
        title, why = strings.NO_WORKSPACE, told.missing
        if told.view is not None:
            title, why = words.NO_OWNER, words.NO_OWNER_WHY.format(path=told.root)
        situation = self.situation()
        self.welcome.show(
            title, why, self.loopx.keys, lambda one: BY_ID[one].disabled_reason(situation)
        )

    @on(Welcome.Chosen)
    async def _begin(self, event: Welcome.Chosen) -> None:
        await self._run(BY_ID[event.command_id])

    def refused(self, command_id: str) -> bool:
        """Whether a command cannot be used now; then it is said why."""
        reason = BY_ID[command_id].disabled_reason(self.situation())
        if reason:
            self.say(reason)
        return bool(reason)

    @work(exclusive=True, group="arriving")
    async def action_connect(self) -> None:
        from loopx_tui.desk import usable_keys
        from loopx_tui.first_use import Connecting

        agent = self.loopx.agent
        if agent:
            self.say(usable_keys((), agent)[1])
            return
        if self.refused("connect"):
            return
        if await Connecting(self.app, self.root(), self.say).run():
            # The reading that shows the owner may still be on its way.
            self._open_goal()

    def action_open_goal(self) -> None:
        if not self.refused("goal.open"):
            self._open_goal()

    def _open_goal(self) -> None:
        self._review("goal.open", WORKSPACE_JOURNAL, words.NEW_GOAL)

    def action_demo(self) -> None:
        if not self.refused("demo"):
            self.loopx.go_on_with("demo")

    @work(exclusive=True, group="arriving")
    async def action_places(self) -> None:
        from loopx_tui.screens.places import PlacesScreen, places

        if self.refused("workspace.open"):
            return
        try:
            known = await asyncio.to_thread(places, self.root())
        except LoopxError as error:
            self.say(error.message)
            return
        path = await self.app.push_screen_wait(PlacesScreen(known))
        if path is not None and path != self.root():
            self.loopx.go_on_with(str(path))
