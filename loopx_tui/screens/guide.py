"""A form asked step by step, each answer read back while it is written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import ClassVar

from loopx_kernel.errors import LoopxError
from loopx_kernel.text import check_line, safe
from textual import work
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input, Static, TextArea

from loopx_tui import first_words as words
from loopx_tui import strings
from loopx_tui.cases.case import Field, Values
from loopx_tui.commands import BY_ID, Command, make_binding
from loopx_tui.screens.dialog import Dialog
from loopx_tui.screens.form import check, value_of, widget_of


class GuideScreen(Dialog[dict[str, str]]):
    """Asks one of ``steps`` after the other; its result is their values.

    Escape goes a step back, and leaves at the first. ``problem`` says what is wrong with all
    the values together, once the last was given.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        make_binding(BY_ID["form.keep"]),
        make_binding(BY_ID["form.editor"]),
    ]
    DEFAULT_CSS = """
    GuideScreen {
        #guide-hint { height: auto; padding-bottom: 1; }
        #guide-body { height: auto; }
        #guide-reading { height: auto; max-height: 8; min-height: 1; }
        #dialog-text { display: none; }
        TextArea { height: 5; border: tall $border; background: $surface; }
        TextArea:focus { border: tall $border-focus; }
    }
    """

    def __init__(
        self, steps: Sequence[Field], values: Values, problem: Callable[[Values], str]
    ) -> None:
        super().__init__("")
        self._steps = steps
        self._values = dict(values)
        self._problem = problem
        self._at = 0
        self._question = Static(id="guide-hint")
        self._place = Vertical(id="guide-body")
        self._reading = Static(id="guide-reading")
        self.widget: Widget = Static()

    @property
    def step(self) -> Field:
        """What is asked now."""
        return self._steps[self._at]

    def compose_body(self) -> Iterable[Widget]:
        yield from (self._question, self._place, self._reading)

    def on_mount(self) -> None:
        self._begin()

    @work(exclusive=True, group="step")
    async def _begin(self) -> None:
        await self._ask()

    async def _ask(self) -> None:
        step = self.step
        number = words.STEP.format(number=self._at + 1, count=len(self._steps), label=step.label)
        self.box.border_title = Content(number)
        self._question.update(Content(step.hint))
        self.widget = widget_of(step, self._values, {})
        await self._place.remove_children()
        await self._place.mount(self.widget)
        self.widget.focus()
        self.say("")
        self._read()
        self.show_keys()

    # What is written is read back as the kernel reads it

    def on_text_area_changed(self) -> None:
        self._read()

    def on_input_changed(self) -> None:
        self._read()

    def _read(self) -> None:
        value = value_of(self.widget)
        lines = list(self._readings(value))
        if not value.strip() and self.step.name in words.NONE_MEANS:
            lines = [(words.NONE_MEANS[self.step.name], "$stale")]
        self._reading.update(Content("\n").join(Content.styled(*line) for line in lines))

    def _readings(self, value: str) -> Iterator[tuple[str, str]]:
        if self.step.check is str:
            return
        for line in filter(None, map(str.strip, value.splitlines())):
            try:
                check_line(line, self.step.label)
                yield f"✔ {safe(str(self.step.check(line)))}", "$verified"
            except LoopxError as error:
                yield f"✘ {safe(error.message)}", "$alert"

    # Going on and back

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.action_keep()

    @work(exclusive=True, group="step")
    async def action_keep(self) -> None:
        value = value_of(self.widget)
        problem = check(self.step, value)
        if not problem and self._at + 1 == len(self._steps):
            problem = self._problem({**self._values, self.step.name: value})
        if problem:
            self.say(problem)
            return
        self._values[self.step.name] = value
        if self._at + 1 == len(self._steps):
            self.leave(self._values)
        else:
            self._at += 1
            await self._ask()

    def action_close(self) -> None:
        if self._at == 0:
            self.leave(None)
        else:
            self._go_back()

    @work(exclusive=True, group="step")
    async def _go_back(self) -> None:
        self._values[self.step.name] = value_of(self.widget)
        self._at -= 1
        await self._ask()

    @work(exclusive=True, group="editor")
    async def action_editor(self) -> None:
        from loopx_tui.editor import edit

        if not isinstance(self.widget, TextArea):
            self.say(strings.NOTHING_TO_EDIT)
            return
        edited = await edit(self.app, self.widget.text, ".txt")
        self.widget.text = edited.text
        self.widget.focus()
        self.say(edited.problem)

    def offers(self, command_id: str) -> bool:
        return command_id != "form.editor" or isinstance(self.widget, TextArea)

    def title_of(self, command: Command) -> str:
        if command.id == "form.keep":
            return strings.LAST_STEP if self._at + 1 == len(self._steps) else strings.NEXT_STEP
        if command.id == "dialog.close" and self._at:
            return strings.STEP_BACK
        return command.title
