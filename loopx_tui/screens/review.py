"""The review screen: one gate, all that a decision about it needs, and the decision."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal

from loopx_kernel.errors import LoopxError
from loopx_kernel.text import safe
from textual import events, work
from textual.binding import BindingType

from loopx_tui import strings
from loopx_tui.commands import bindings_for
from loopx_tui.decisions import Course, Ledger
from loopx_tui.desk import Desk, Difference, Fate, Look, differences, explain
from loopx_tui.key_guard import HOLD_SECONDS
from loopx_tui.presentation import review as shown
from loopx_tui.presentation.review import Line
from loopx_tui.screens.confirm_id import AskReason, AskTime, ConfirmId
from loopx_tui.screens.dialog import Dialog
from loopx_tui.screens.page import Page
from loopx_tui.screens.passphrase import PassphraseScreen, SignScreen
from loopx_tui.screens.review_keys import GUARDED, OUTCOMES, Room, why_closed

if TYPE_CHECKING:
    from loopx_kernel.domain.gate import Outcome
    from loopx_kernel.workspace import Done, KeyChoice, Unsigned

RESCAN_SECONDS: Final = 2.0


class ReviewScreen(Page["Done[Any]"]):
    """Shows one gate, by its ids, and takes a decision about it.

    Nothing is decided but by a decision key pressed on a text that was read,
    followed by a signature. Its result is what was recorded, or ``None``. The
    ledger is opened by ``open_ledger`` and used off the event loop; ``now`` is
    a monotonic clock in seconds, and ``pressed_at`` when a key was pressed by it.
    """

    BINDINGS: ClassVar[list[BindingType]] = [*bindings_for("review")]

    def __init__(
        self,
        goal_id: str,
        gate_id: str,
        open_ledger: Callable[[], Ledger],
        *,
        now: Callable[[], float] = time.monotonic,
        pressed_at: Callable[[events.Key], float] = lambda event: event.time,
    ) -> None:
        super().__init__(f"{gate_id} · {goal_id}", now)
        self.goal_id = goal_id
        self.gate_id = gate_id
        self._desk = Desk(open_ledger, goal_id, gate_id)
        self._now = now
        self._pressed_at = pressed_at
        self._course = Course()
        self._look: Look | None = None
        self._changes: tuple[Difference, ...] = ()
        self._reason = ""
        self._wanted: KeyChoice | None = None
        self._dialog: Dialog[str] | None = None

    @property
    def course(self) -> Course:
        """Where the decision stands."""
        return self._course

    @property
    def recorded(self) -> Fate:
        """Whether a decision of this screen is in the journal."""
        return self._desk.fate

    @property
    def last_words(self) -> str:
        """What became of a decision that was under way when the app ended; empty without one."""
        return self._desk.fate_in_words if self._course.busy else ""

    # Reading

    def on_mount(self) -> None:
        self.say("Reading the gate …")
        self.set_interval(RESCAN_SECONDS, self.look_again)
        self.look_again()

    @work(exclusive=True, group="look")
    async def look_again(self) -> None:
        """Reads the gate again; what changed in it is shown and stops a decision under way."""
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
        self.show([Line(f"▲ {safe(explain(error))}", "alert")])

    def _take(self, look: Look) -> None:
        if self._course.over or self._course.writing:
            return
        changes = differences(self._look.gate, look.gate) if self._look else ()
        if self._look is None:
            self.say(self._course.note)
        if changes:
            self._changes = changes
            self._stop(f"{self.gate_id} changed while you looked")
        self._look = look
        lines = shown.review(look, self._reason, self._changes)
        if not look.open:
            self._course = self._course.step("settle")
            lines = [*shown.settled(look), Line(), *lines]
        self.show(lines)

    def _stop(self, sentence: str) -> None:
        """Ends a decision under way with nothing written, and says why."""
        if self._course.busy and self._course.can("cancel"):
            self._course = self._course.step("cancel")
            sentence += "; nothing was written"
        if self._dialog is not None:
            self._dialog.leave(None)
            self._dialog = None
        self.say(self._course.note if self._course.phase == "failed" else sentence)

    # Keys

    def on_disturbed(self) -> None:
        self._course = self._course.step("disturb")

    def on_armed(self) -> None:
        if self._look is not None:
            self._course = self._course.step("arm")

    def offers(self, command_id: str) -> bool:
        return command_id != "review.key" or bool(self._look and len(self._look.keys) > 1)

    def why_not(self, command_id: str) -> str:
        reason = self._why_closed(command_id)
        if reason or command_id not in GUARDED or self._course.can("choose"):
            return reason
        if self._course.busy:
            return strings.DECIDING
        return strings.KEYS_WAIT if command_id in OUTCOMES else ""

    def _why_closed(self, command_id: str) -> str:
        """As ``why_not``, but for what passes by itself."""
        room = Room(self.end_seen, self.too_small)
        return why_closed(command_id, self.gate_id, self._course, self._look, room)

    def on_key(self, event: events.Key) -> None:
        ticket = self.guard.press(self._pressed_at(event))
        active = self.active_bindings.get(event.key)
        command_id = active.binding.id if active and active.binding.id else ""
        if command_id in OUTCOMES:
            event.stop()
            self._hold(command_id, ticket)
        elif command_id == "review.reason" and ticket is None:
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
        if free and not self._why_closed(command_id) and self._look is not None:
            self._decide(self._look, OUTCOMES[command_id])

    def action_choose(self, outcome: str) -> None:
        # Decision keys are taken in `on_key`, where it is known when they were pressed.
        self.say(f"Nothing but its own key makes it {outcome}")

    # Deciding

    @work(exclusive=True, group="decision")
    async def _decide(self, look: Look, outcome: Outcome) -> None:
        until = await self._chosen(outcome)
        if not self._course.can("fix"):
            return
        try:
            unsigned, key = await asyncio.to_thread(
                self._desk.fix, look.gate, outcome, self._reason, until, wanted=look.key
            )
            signing = await self._signature(look, unsigned, key)
            if self._course.can("append"):
                self._go(self._course.step("append"))
                done = await asyncio.to_thread(self._desk.append, unsigned, signing)
                await self._finish(done, unsigned, outcome)
        except Exception as error:
            self._go(self._course.step("fail", note=self._desk.failure(error)))
            self.look_again()

    async def _chosen(self, outcome: Outcome) -> str:
        """Begins; the time a deferral was given."""
        if outcome != "deferred":
            self._go(self._course.step("choose", outcome=outcome))
            return ""
        self._go(self._course.step("ask", outcome=outcome))
        until = await self._ask(AskTime(self.gate_id))
        self._go_on_or_cancel("answer", until)
        return until or ""

    async def _signature(self, look: Look, unsigned: Unsigned, key: KeyChoice) -> object:
        """The opened key, to be used where the course can now append."""
        lines = shown.fixed(unsigned, key)
        if look.gate.irreversible:
            self._go(self._course.step("fix_irreversible"))
            if self._course.can("name"):
                self._go_on_or_cancel("name", await self._ask(ConfirmId(self.gate_id, lines)))
        else:
            self._go(self._course.step("fix"))
        while self._course.can("unlock"):
            typed = await self._ask(
                PassphraseScreen(lines, self._course.note)
                if key.needs_passphrase
                else SignScreen(lines, self._now, self._pressed_at)
            )
            self._go_on_or_cancel("unlock", typed)
            if typed is None or not self._course.can("append"):
                break
            try:
                passphrase = typed.encode() if key.needs_passphrase else None
                return await asyncio.to_thread(self._desk.unlock, key, passphrase)
            except LoopxError as error:
                if error.code != "wrong_passphrase":
                    raise
                self._go(self._course.wrong_passphrase(error.message))
        return None

    def _go_on_or_cancel(
        self, step: Literal["answer", "name", "unlock"], typed: str | None
    ) -> None:
        if typed is None:
            self._go(self._course.step("cancel", note="Cancelled; nothing was written"))
        else:
            self._go(self._course.step(step, note=""))

    async def _ask(self, dialog: Dialog[str]) -> str | None:
        self._dialog = dialog
        try:
            return await self.app.push_screen_wait(dialog)
        finally:
            self._dialog = None

    async def _finish(self, done: Done[Any], unsigned: Unsigned, outcome: str) -> None:
        self._go(self._course.step("record", done=done, note=""))
        verify = await asyncio.to_thread(
            self._desk.verify_command, done.receipt.event_id, unsigned.owner
        )
        self.show(shown.receipt(done, unsigned.owner, outcome, verify))

    def _go(self, course: Course) -> None:
        if course == self._course:
            return
        self._course = course
        self.say(strings.PROGRESS.get(course.phase, course.note))
        self.show_keys()
        if course.phase in ("looking", "failed"):
            self.cover()

    # Leaving, the reason, and the key

    def action_close(self) -> None:
        if self._course.writing:
            self.say("It is being recorded; wait for the receipt")
        elif self._course.busy:
            self._stop("Cancelled")
            self.cover()
        else:
            self.leave(self._course.done)

    @work(exclusive=True, group="reason")
    async def action_reason(self) -> None:
        if self._course.busy or self._course.over:
            return
        self._course = self._course.step("disturb")
        typed = await self._ask(AskReason(self.gate_id, self._reason))
        if typed is not None and self._look is not None:
            self._reason = typed
            self._take(self._look)

    def action_next_key(self) -> None:
        if self._look is not None and not self._course.busy:
            self._wanted = (look := self._look.with_next_key()).key
            self._take(look)
