"""A screen with a header, a deck of panes and a footer, all drawn from one scene."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, ClassVar

from loopx_kernel.text import safe
from textual import events, on
from textual.geometry import Size
from textual.reactive import Reactive
from textual.timer import Timer
from textual.widget import Widget

from loopx_tui import strings
from loopx_tui.commands import BY_ID, Situation, shown_keys
from loopx_tui.panes.bars import FooterBar, HeaderBar
from loopx_tui.panes.deck import Deck
from loopx_tui.panes.pane import Pane
from loopx_tui.presentation.facts import OWNERS, Facts, Subject
from loopx_tui.presentation.finding import find
from loopx_tui.presentation.header import Bar, Place
from loopx_tui.presentation.pen import Pen
from loopx_tui.presentation.scene import Scene
from loopx_tui.presentation.subjects import situation_of, subject_of
from loopx_tui.screens.acting import ActingScreen
from loopx_tui.screens.detail import DetailScreen
from loopx_tui.screens.following import above
from loopx_tui.widgets.rows import Rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from loopx_tui.presentation.finding import Found

_SHORTEST_TICK = 1.0


class BoardScreen(ActingScreen):
    """Draws its scene; what is equal is left alone. ``clock`` gives the present moment, UTC and
    aware; ``place`` is where the app looks, and as whom.

    Subclasses say what the header is, and make the deck.
    """

    CSS_PATH = "../styles/loopx.tcss"
    FOOTER: ClassVar[tuple[str, ...]] = (
        "rows.open", "decide", "replan", "objective", "filter", "palette", "help", "quit",
    )  # fmt: skip
    """The actions named in the last line, in their order."""
    make_bar: Callable[..., Bar]
    """Makes the header's line of a scene, for what lies over this screen too."""
    # The panes show the focus themselves; Textual would paint the whole screen again for it.
    focused: Reactive[Widget | None] = Reactive(None, repaint=False)

    def __init__(
        self,
        place: Place,
        *,
        id: str | None = None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        ascii_only: bool = False,
    ) -> None:
        super().__init__(id=id, classes="-ascii" if ascii_only else None)
        self.scene = Scene()
        self._place = place
        self._clock = clock
        self._ascii_only = ascii_only
        self._timer: Timer | None = None
        self._header_due: datetime | None = None
        self.board = self.make_deck()
        self._header = HeaderBar(self._make_header)
        self._footer = FooterBar(self._footer_keys)

    def make_deck(self) -> Deck:
        """The panes of this screen."""
        raise NotImplementedError

    def make_header(self, pen: Pen, width: int) -> Bar:
        """The line at the top, in ``width`` cells, by a pen for the present moment."""
        raise NotImplementedError

    def _make_header(self, width: int) -> Bar:
        pen = Pen(self._clock(), ascii_only=self._ascii_only)
        bar = self.make_header(pen, width)
        self._header_due = pen.next_change
        return bar

    def redraw_header(self) -> None:
        """Draws the header again, here and on the screen above."""
        if self.is_mounted:
            self._header.redraw()
            self._schedule()
            over = above(self)
            if isinstance(over, BoardScreen):
                over.redraw_header()

    def size_classes(self, size: Size) -> list[str]:
        """The classes of the breakpoints that a terminal of ``size`` reaches."""
        pairs = (size.width, self.HORIZONTAL_BREAKPOINTS), (size.height, self.VERTICAL_BREAKPOINTS)
        return [
            [name for least, name in breakpoints or () if cells >= least][-1]
            for cells, breakpoints in pairs
        ]

    # Drawing

    @property
    def live(self) -> Scene:
        """How things stand now, whatever is shown."""
        return self.scene

    def pen(self) -> Pen:
        """A pen for the moment that is shown."""
        return Pen(self._clock(), ascii_only=self._ascii_only)

    def draw(self) -> None:
        """Draws the scene, here and in what lies over this screen."""
        self.board.show(self.scene)
        self._header.redraw()
        self._footer.redraw()
        self._schedule()
        over = above(self)
        if over is not None:
            over.follow(self.scene)

    @property
    def footer_ids(self) -> tuple[str, ...]:
        """The actions the last line names now."""
        return self.FOOTER

    def _footer_keys(self) -> Sequence[tuple[str, str, bool]]:
        """Keys of the live keymap; grey where one can do nothing now."""
        live = {one.binding.id: key for key, one in reversed(self.active_bindings.items())}
        situation = self.situation()
        shown = [BY_ID[name] for name in self.footer_ids]
        return [
            (shown_keys(live[one.id]), one.title, not one.disabled_reason(situation))
            for one in shown
            if one.id in live
        ]

    def keys_changed(self) -> None:
        """The person's keys are others now, here and on the screens above."""
        self._footer.redraw()
        over = above(self)
        if isinstance(over, BoardScreen):
            over.keys_changed()

    # The clock

    @property
    def panes_due(self) -> datetime | None:
        """When the first text in a pane will read differently; UTC."""
        return self.board.due

    def _schedule(self) -> None:
        """One timer, for the first age or countdown that will read differently."""
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        due = min(filter(None, (self.panes_due, self._header_due)), default=None)
        covered = isinstance(above(self), BoardScreen)
        if due is not None and self.app.app_focus and not covered:
            wait = (due - self._clock()).total_seconds()
            self._timer = self.set_timer(max(wait, _SHORTEST_TICK), self._tick)

    def _tick(self) -> None:
        now = self._clock()
        if self.panes_due is not None:
            self.board.tick(now)
        if self._header_due is not None and self._header_due <= now:
            self._header.redraw()
        self._schedule()

    def refocused(self) -> None:
        """The terminal has the focus again, or lost it; ages stand still while it has not."""
        self._tick()
        over = above(self)
        if over is not None:
            over.refocused()

    def on_screen_resume(self) -> None:
        self._tick()

    # Selection

    def situation(self) -> Situation:
        """What the cursor is on, for commands and their reasons."""
        pane = self.board.focused
        name, key = (pane.id or "", pane.rows.cursor_key) if pane else ("", None)
        return situation_of(name, key, self.scene, read_only=self._place.read_only)

    def subject(self, pane: Pane) -> Subject | None:
        """The object under the cursor of a pane."""
        return subject_of(pane.id or "", pane.rows.cursor_key, self.scene)

    @on(Rows.Opened)
    def _open(self, event: Rows.Opened) -> None:
        self.open_row(self.pane_of(event.rows))

    def open_row(self, pane: Pane) -> None:
        """Opens what the cursor of a pane is on."""
        subject = self.subject(pane)
        if subject is None:
            self.say(strings.NOTHING_TO_OPEN)
        else:
            self.open_subject(subject)

    def find(self, text: str) -> Sequence[Found]:
        return find(text, self.scene)

    def open_subject(self, subject: Subject) -> None:
        """Opens what is known of an object."""
        self.app.push_screen(DetailScreen(subject, self.scene, self.pen, self.known))

    def open_goal(self, goal_id: str, tab: int = 1) -> None:
        """Opens a goal's own screen."""
        self.app.push_screen(self.loopx.screen_over("goal", self, goal_id=goal_id, tab=tab))

    def action_doctor(self) -> None:
        self.open_list("doctor")

    def action_quarantine(self) -> None:
        self.open_list("quarantine")

    def open_list(self, name: str) -> None:
        """Opens the screen of one long list."""
        self.app.push_screen(self.loopx.screen_over(name, self))

    @property
    def shared(self) -> dict[str, Any]:
        """What every screen over this one is given too."""
        return {
            "place": self._place,
            "make_bar": self.make_bar,
            "clock": self._clock,
            "ascii_only": self._ascii_only,
        }

    def action_owners(self) -> None:
        self.open_subject(Subject(OWNERS, "", OWNERS))

    def known(self, subject: Subject, pen: Pen) -> Facts:
        """What else the ledger knows of an object; for worker threads."""
        from loopx_tui.knowing import look_up

        return look_up(self.loopx.open_ledger, subject, pen)

    @on(Rows.Vanished)
    def _row_vanished(self, event: Rows.Vanished) -> None:
        if event.rows.has_focus and not self.scene.past:
            key = safe(event.key.rpartition("/")[2])
            pane = self.pane_of(event.rows)
            self.say(strings.ROW_GONE.format(key=key, pane=pane.TITLE))

    def pane_of(self, rows: object) -> Pane:
        """The pane whose rows these are."""
        return next(pane for pane in self.board if pane.rows is rows)

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        self._footer.redraw()
