"""The review screen: one object, all that a decision about it needs, and the decision."""

from __future__ import annotations

import asyncio
from typing import ClassVar, Final

from textual import events, work
from textual.binding import BindingType

from loopx_tui import strings
from loopx_tui.cases.case import differences
from loopx_tui.commands import Command, bindings_for, commands_for
from loopx_tui.desk import Look, explain
from loopx_tui.key_guard import HOLD_SECONDS
from loopx_tui.presentation import review as shown
from loopx_tui.presentation.lines import Line, alert
from loopx_tui.screens.deciding import DecidingPage
from loopx_tui.screens.review_keys import DECIDE, GUARDED, Room, why_closed

RESCAN_SECONDS: Final = 2.0


class ReviewScreen(DecidingPage):
    """Shows one object of a case, by its ids, and takes a decision about it.

    Nothing is decided but by a decision key pressed on a text that was read,
    followed by a signature.
    """

    BINDINGS: ClassVar[list[BindingType]] = [*bindings_for("review")]

    # Reading

    def on_mount(self) -> None:
        self.say(f"Reading the {self.case.noun} …")
        self.set_interval(RESCAN_SECONDS, self.look_again)
        self.look_again()

    @work(exclusive=True, group="look")
    async def look_again(self) -> None:
        """Reads the object again; what changed in it is shown and stops a decision under way."""
        self.show_kept()
        try:
            look = await asyncio.to_thread(self._desk.look, self._wanted)
        except Exception as error:
            self._lost(error)
        else:
            self._take(look)

    def _lost(self, error: Exception) -> None:
        if self._course.over or self._course.writing:
            return
        self._look = None
        self._stop("It cannot be read any more")
        self.show([alert(explain(error))])

    def _take(self, look: Look) -> None:
        if self._course.over or self._course.writing:
            return
        changes = differences(self._look.matter.meaning, look.matter.meaning) if self._look else ()
        if self._look is None:
            self.say(self._course.note)
        if changes:
            self._changes = changes
            self._stop(f"{self.object_id} changed while you looked")
        self._look = look
        if not look.matter.open:
            self._course = self._course.step("settle")
        if not self._begun:
            self._begin(look)
        self._draw()

    def _begin(self, look: Look) -> None:
        self._begun = True
        self._values |= self.case.begin(look.matter)
        if self.case.first and look.matter.open and not look.no_signing:
            self.call_after_refresh(self.action_edit)

    def _draw(self) -> None:
        """Shows the last look, as wide as there is room; an equal text changes nothing."""
        look = self._look
        if look is None or (self._course.over and self._course.done is not None):
            return
        width = self._scroll.scrollable_content_region.width or 80
        lines = shown.review(self.case, look, self._values, width, self._changes)
        if not look.matter.open:
            lines = [*shown.settled(look.matter), Line(), *lines]
        self.show(lines)

    def on_resize(self) -> None:
        self.call_after_refresh(self._draw)

    # Keys

    def on_disturbed(self) -> None:
        self._course = self._course.step("disturb")

    def on_armed(self) -> None:
        if self._look is not None:
            self._course = self._course.step("arm")

    def offers(self, command_id: str) -> bool:
        if command_id in DECIDE:
            return self.case.way(command_id) is not None
        if command_id == "review.edit":
            return bool(self.case.fields)
        if command_id == "review.lock":
            return self._kept.left is not None
        return command_id != "review.key" or bool(self._look and len(self._look.keys) > 1)

    def title_of(self, command: Command) -> str:
        way = self.case.way(command.id)
        return way.title if way else command.title

    def why_not(self, command_id: str) -> str:
        reason = self._why_closed(command_id)
        if reason or command_id not in GUARDED or self._course.can("choose"):
            return reason
        if self._course.busy:
            return strings.DECIDING
        return strings.KEYS_WAIT if command_id in DECIDE else ""

    def _why_closed(self, command_id: str) -> str:
        """As ``why_not``, but for what passes by itself."""
        room = Room(self.end_seen, self.too_small)
        return why_closed(
            command_id, self.case, self._course, self._look, values=self._values, room=room
        )

    def on_key(self, event: events.Key) -> None:
        ticket = self.guard.press(self._pressed_at(event))
        active = self.active_bindings.get(event.key)
        command_id = active.binding.id if active and active.binding.id else ""
        if command_id in DECIDE:
            event.stop()
            if self.offers(command_id):
                self._hold(command_id, ticket)
        elif command_id == "review.edit" and ticket is None:
            event.stop()

    def on_paste(self) -> None:
        self.guard.pasted(self._now())

    def _hold(self, command_id: str, ticket: int | None) -> None:
        """Waits until it is known that the key was not the start of a paste."""
        why_closed = self._why_closed(command_id)
        if why_closed:
            self.say(why_closed)
        elif ticket is not None and self._course.can("choose"):
            self.set_timer(HOLD_SECONDS, lambda: self._let_go(command_id, ticket))

    def _let_go(self, command_id: str, ticket: int) -> None:
        free = self.guard.alone(ticket) and self._course.can("choose")
        way = self.case.way(command_id)
        if free and not self._why_closed(command_id) and self._look is not None and way:
            self._decide(self._look, way)

    def action_choose(self, command_id: str) -> None:
        # Decision keys are taken in `on_key`, where it is known when they were pressed.
        self.say(strings.OWN_KEY)

    # Leaving, what is written, and the key

    def action_close(self) -> None:
        if self._course.writing:
            self.say("It is being recorded; wait for the receipt")
        elif self._course.busy:
            self._stop("Cancelled")
            self.cover()
        else:
            self.leave(self._course.done)

    @work(exclusive=True, group="writing")
    async def action_edit(self) -> None:
        look = self._look
        if look is None or not self.case.fields or not self.is_current:
            return
        if self._course.busy or self._course.over:
            return
        self._course = self._course.step("disturb")
        typed = await self._fill_in(f"{self.case.noun} · {self.object_id}", self.case.fields, look)
        if typed is not None and self._look is not None:
            self._values |= typed
            self._take(self._look)

    def action_lock(self) -> None:
        self.say(strings.KEY_DROPPED if self._kept.drop() else strings.NO_KEY_OPEN)
        self.show_kept()

    @work(exclusive=True, group="help")
    async def action_help(self) -> None:
        """The keys of this page; what decides has to be pressed on it, where it was read."""
        from loopx_tui.screens.help import PageHelp

        def why_not(command: Command) -> str:
            own = strings.OWN_KEY if command.id in DECIDE else ""
            return self.why_not(command.id) or own

        if self._course.busy or not self.is_current:
            return
        listed = (one for one in commands_for("review") if self.offers(one.id))
        offered = {one: self.title_of(one) for one in listed if one.id != "review.help"}
        keys = getattr(self.app, "keys", {})
        command = await self.app.push_screen_wait(PageHelp(offered, why_not, keys))
        if isinstance(command, Command) and self.is_current:
            await self.run_action(command.action)

    def action_next_key(self) -> None:
        if self._look is not None and not self._course.busy:
            self._wanted = (look := self._look.with_next_key()).key
            self._take(look)
