"""The road of a decision on a page: written, fixed, signed and appended, or given up."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from loopx_kernel.domain.event import WORKSPACE_JOURNAL
from loopx_kernel.errors import LoopxError
from textual import events, work

from loopx_tui import strings
from loopx_tui.cases.case import Case, Difference, Field, Values, Way, missing
from loopx_tui.decisions import Course, Ledger
from loopx_tui.desk import Desk, Fate, Look, verify_command
from loopx_tui.kept import Kept
from loopx_tui.presentation import review as shown
from loopx_tui.presentation.ages import countdown
from loopx_tui.presentation.lines import Line
from loopx_tui.screens.confirm_id import ConfirmId
from loopx_tui.screens.dialog import Dialog
from loopx_tui.screens.form import FormScreen
from loopx_tui.screens.guide import GuideScreen
from loopx_tui.screens.page import Page
from loopx_tui.screens.passphrase import PassphraseScreen, SignScreen

if TYPE_CHECKING:
    from loopx_kernel.workspace import Done, KeyChoice, Unsigned

T = TypeVar("T")


class DecidingPage(Page["Done[Any]"]):
    """A page on which one object of a case is decided; its result is what was recorded.

    The ledger is opened by ``open_ledger`` and used off the event loop; ``now`` is
    a monotonic clock in seconds, and ``pressed_at`` when a key was pressed by it. ``kept`` is
    where the app keeps a key open, if its owner let it.
    """

    def __init__(
        self,
        case: Case,
        goal_id: str,
        object_id: str,
        open_ledger: Callable[[], Ledger],
        *,
        now: Callable[[], float] = time.monotonic,
        pressed_at: Callable[[events.Key], float] = lambda event: event.time,
        kept: Kept | None = None,
    ) -> None:
        place = strings.WORKSPACE if goal_id == WORKSPACE_JOURNAL else goal_id
        super().__init__(" · ".join(dict.fromkeys((object_id, place))), now)
        self.case = case
        self.object_id = object_id
        self._desk = Desk(open_ledger, case, goal_id, object_id)
        self._now = now
        self._pressed_at = pressed_at
        self._course = Course()
        self._look: Look | None = None
        self._changes: tuple[Difference, ...] = ()
        self._values: dict[str, str] = {}
        self._wanted: KeyChoice | None = None
        self._kept = kept or Kept()
        self._begun = False
        self._dialog: Dialog[Any] | None = None

    @property
    def course(self) -> Course:
        """Where the decision stands."""
        return self._course

    @property
    def look(self) -> Look | None:
        """What was seen last; ``None`` before the first look, and where it cannot be read."""
        return self._look

    @property
    def values(self) -> Values:
        """What was written so far."""
        return self._values

    @property
    def recorded(self) -> Fate:
        """Whether a decision of this screen is in the journal."""
        return self._desk.fate

    @property
    def last_words(self) -> str:
        """What became of a decision that was under way when the app ended; empty without one."""
        return self._desk.fate_in_words if self._course.busy else ""

    def show_kept(self) -> None:
        """Says in the title how long the key stays open, where one is kept."""
        left = self._kept.left
        self.say_beside_title(strings.KEY_OPEN.format(left=countdown(left)) if left else "")

    def look_again(self) -> object:
        """Begins to read the object again."""
        raise NotImplementedError

    def _stop(self, sentence: str) -> None:
        """Ends a decision under way with nothing written, and says why."""
        if self._course.busy and self._course.can("cancel"):
            self._course = self._course.step("cancel")
            sentence += "; nothing was written"
        if self._dialog is not None:
            self._dialog.leave(None)
            self._dialog = None
        self.say(self._course.note if self._course.phase == "failed" else sentence)

    @work(exclusive=True, group="decision")
    async def _decide(self, look: Look, way: Way) -> None:
        values = await self._completed(look, way)
        if not self._course.can("fix"):
            return
        try:
            unsigned, key = await asyncio.to_thread(
                self._desk.fix, look.matter, way, values, wanted=look.key
            )
            signing = await self._signature(look, unsigned, key)
            if self._course.can("append"):
                self._go(self._course.step("append"))
                done = await asyncio.to_thread(self._desk.append, unsigned, signing)
                self._finish(done, unsigned, way)
        except Exception as error:
            self._go(self._course.step("fail", note=self._desk.failure(error)))
            self.look_again()

    async def _completed(self, look: Look, way: Way) -> Values:
        """Begins; what was written, with what this way cannot do without."""
        lacking = missing(way.needs, self._values)
        if not lacking:
            self._go(self._course.step("choose", way=way.name))
            return dict(self._values)
        self._go(self._course.step("ask", way=way.name))
        typed = await self._fill_in(f"To {way.title} · {self.object_id}", lacking, look)
        self._go_on_or_cancel("answer", typed)
        fresh = {one.name for one in lacking if one.fresh}
        self._values |= {name: text for name, text in (typed or {}).items() if name not in fresh}
        return {**self._values, **(typed or {})}

    async def _fill_in(
        self, title: str, fields: Sequence[Field], look: Look
    ) -> dict[str, str] | None:
        """What was written, as it counts; asked again, with the reason, where it cannot."""

        def problem(values: Values) -> str:
            return self.case.problem(look.matter, {**self._values, **values})

        if self.case.step_by_step:
            return await self._ask(GuideScreen(fields, self._values, problem))
        choices, values, note = self.case.choices(look.matter), self._values, ""
        while True:
            form = FormScreen(title, fields, values, choices, note=note, problem=problem)
            typed = await self._ask(form)
            if typed is None or self.case.take is None:
                return typed
            try:
                return {**await asyncio.to_thread(self.case.take, typed)}
            except LoopxError as error:
                values, note = {**values, **typed}, error.message

    async def _signature(self, look: Look, unsigned: Unsigned, key: KeyChoice) -> object:
        """The opened key, to be used where the course can now append."""
        lines = shown.fixed(unsigned, key)
        if look.matter.irreversible:
            self._go(self._course.step("fix_irreversible"))
            if self._course.can("name"):
                named = await self._ask(ConfirmId(self.object_id, lines))
                self._go_on_or_cancel("name", named)
        else:
            self._go(self._course.step("fix"))
        keep = False
        while self._course.can("unlock"):
            dialog = self._consent(key, lines, keep)
            typed = await self._ask(dialog)
            self._go_on_or_cancel("unlock", typed)
            if typed is None or not self._course.can("append"):
                break
            keep = isinstance(dialog, PassphraseScreen) and dialog.keep
            try:
                opened = await self._opened(key, dialog, typed, unsigned)
            except LoopxError as error:
                if error.code != "wrong_passphrase":
                    raise
                self._go(self._course.wrong_passphrase(error.message))
            else:
                if opened is not None:
                    return opened
                self._go(self._course.step("retry", note=strings.KEPT_IS_OVER))
        return None

    def _consent(self, key: KeyChoice, lines: list[Line], keep: bool) -> Dialog[str]:
        """What asks for the signature: a second deliberate key, or the passphrase."""
        if not key.needs_passphrase:
            return SignScreen(lines, self._now, self._pressed_at)
        left = self._kept.left if self._kept.take(key.fingerprint) else None
        if left is None:
            return PassphraseScreen(lines, self._course.note, keep=keep)
        title = strings.SIGN_WITH_KEPT.format(left=countdown(left))
        return SignScreen(lines, self._now, self._pressed_at, title)

    async def _opened(
        self, key: KeyChoice, dialog: Dialog[str], typed: str, unsigned: Unsigned
    ) -> Any:
        """The key, ready to sign; ``None`` where it was kept open, and is not any more."""
        if key.needs_passphrase and not isinstance(dialog, PassphraseScreen):
            return self._kept.take(key.fingerprint)
        if key.asks in strings.ASKED:
            self.say(strings.ASKED[key.asks])
        passphrase = typed.encode() if key.needs_passphrase else None
        opened = await asyncio.to_thread(self._desk.unlock, key, passphrase, unsigned)
        if isinstance(dialog, PassphraseScreen) and dialog.keep:
            self._kept.keep(key.fingerprint, opened)
        return opened

    def _go_on_or_cancel(
        self, step: Literal["answer", "name", "unlock"], typed: object | None
    ) -> None:
        if typed is None:
            self._go(self._course.step("cancel", note="Cancelled; nothing was written"))
        else:
            self._go(self._course.step(step, note=""))

    async def _ask(self, dialog: Dialog[T]) -> T | None:
        self._dialog = dialog
        try:
            return await self.app.push_screen_wait(dialog)
        finally:
            self._dialog = None

    def _finish(self, done: Done[Any], unsigned: Unsigned, way: Way) -> None:
        self._go(self._course.step("record", done=done, note=""))
        verify = verify_command(unsigned, done.receipt.event_id)
        receipt = shown.receipt(done, unsigned.owner, way.done, verify)
        after = list(self.case.after(done))
        self.show([*receipt, Line(), *after] if after else receipt)

    def _go(self, course: Course) -> None:
        if course == self._course:
            return
        self._course = course
        self.say(strings.PROGRESS.get(course.phase, course.note))
        self.show_keys()
        if course.phase in ("looking", "failed"):
            self.cover()
