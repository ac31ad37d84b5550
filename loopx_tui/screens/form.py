"""What is written before a decision: one widget a field, checked before it is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import ClassVar

from loopx_kernel.errors import LoopxError, UsageError
from loopx_kernel.text import check_line
from textual import events, work
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input, Static, TextArea

from loopx_tui import strings
from loopx_tui.cases.case import Field, Values
from loopx_tui.cases.times import parse_until
from loopx_tui.commands import BY_ID, make_binding
from loopx_tui.desk import explain
from loopx_tui.presentation.lines import Line
from loopx_tui.screens.dialog import Dialog
from loopx_tui.widgets.choice_list import ChoiceList
from loopx_tui.widgets.in_order import LineInput, TextInput

_FRAME = 6


class FormScreen(Dialog[dict[str, str]]):
    """Asks for the ``fields``; its result is their values, each as it may be signed.

    ``choices`` are the ids and words that a field to choose from offers, ``note`` what was
    wrong with what was written before; ``problem`` says what is wrong with all the values
    together. ``lines`` stand above the fields.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        make_binding(BY_ID["form.keep"]),
        make_binding(BY_ID["form.editor"]),
    ]
    DEFAULT_CSS = """
    FormScreen {
        #form-body { height: auto; max-height: 100%; scrollbar-size-vertical: 1; }
        .form-label { height: auto; color: $text-dim; }
        TextArea { height: 7; border: tall $border; background: $surface; }
        TextArea.page { height: 55vh; min-height: 5; }
        TextArea:focus, ChoiceList:focus { border: tall $border-focus; }
        ChoiceList { height: auto; max-height: 9; border: tall $border; background: $surface; }
        #dialog-text { max-height: 25%; }
    }
    """

    def __init__(
        self,
        title: str,
        fields: Sequence[Field],
        values: Values,
        choices: Mapping[str, Sequence[tuple[str, str]]],
        *,
        note: str = "",
        problem: Callable[[Values], str] = lambda values: "",
        lines: Iterable[Line] = (),
    ) -> None:
        super().__init__(title, lines, hint="enter keep" if _one_line(fields) else "tab next")
        self._fields = fields
        self._said = note
        self._problem = problem
        self._body = VerticalScroll(id="form-body", can_focus=False)
        self.widgets = {one.name: widget_of(one, values, choices) for one in fields}

    def compose_body(self) -> Iterable[Widget]:
        with self._body:
            for one in self._fields:
                hint = f": {one.hint}" if one.hint else ""
                yield Static(Content(f"{one.label}{hint}"), classes="form-label")
                yield self.widgets[one.name]

    def on_resize(self, event: events.Resize) -> None:
        # The line with the keys stays in sight, however low the window is.
        told = event.size.height // 4 + 1 if self._lines else 0
        self._body.styles.max_height = max(event.size.height - _FRAME - told, 1)

    def on_mount(self) -> None:
        self.widgets[self._fields[0].name].focus()
        if self._said:
            self.say(self._said)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.action_keep()

    def action_keep(self) -> None:
        values = {one.name: value_of(self.widgets[one.name]) for one in self._fields}
        for one in self._fields:
            problem = check(one, values[one.name])
            if problem:
                self.widgets[one.name].focus()
                self.say(problem)
                return
        problem = self._problem(values)
        if problem:
            self.say(problem)
        else:
            self.leave(values)

    def offers(self, command_id: str) -> bool:
        return command_id != "form.editor" or self._written is not None

    @property
    def _written(self) -> TextArea | None:
        """The text that the editor would be given: the focused one, else the first."""
        texts = [one for one in self.widgets.values() if isinstance(one, TextArea)]
        return next((one for one in texts if one.has_focus), next(iter(texts), None))

    @work(exclusive=True, group="editor")
    async def action_editor(self) -> None:
        from loopx_tui.editor import edit

        area = self._written
        if area is None:
            self.say(strings.NOTHING_TO_EDIT)
            return
        edited = await edit(self.app, area.text, ".yaml" if area.has_class("page") else ".md")
        if edited.text != area.text:
            area.text = edited.text
            area.move_cursor(area.document.end)
        area.focus()
        self.say(edited.problem)


def check(field: Field, value: str) -> str:
    """What is wrong with the value of a field, as a sentence; empty where nothing is."""
    if not value.strip():
        return strings.NEEDED.format(label=field.label) if field.required else ""
    if field.kind == "time":
        return _check_time(value)
    lines = value.splitlines() if field.kind == "lines" else [value]
    try:
        for line in filter(str.strip, lines if field.kind in ("line", "lines") else ()):
            check_line(line, field.label)
            field.check(line.strip())
    except LoopxError as error:
        return explain(error)
    return ""


def _check_time(value: str) -> str:
    now = datetime.now(UTC)
    try:
        future = parse_until(value, now) > now
    except (UsageError, OverflowError):
        return "Write it like 10m, 3h or 2026-09-17T09:00:00Z"
    return "" if future else "That time is past"


def _one_line(fields: Sequence[Field]) -> bool:
    return len(fields) == 1 and fields[0].kind in ("line", "time")


def widget_of(
    field: Field, values: Values, choices: Mapping[str, Sequence[tuple[str, str]]]
) -> Widget:
    """The widget in which a field is written, with its value."""
    value = values.get(field.name, "")
    if field.kind in ("line", "time"):
        return LineInput(value, select_on_focus=False)
    if field.kind in ("choice", "pick"):
        offered = choices.get(field.name, ())
        return ChoiceList(offered, value.splitlines(), one=field.kind == "pick")
    page = field.kind == "page"
    area = TextInput(
        value,
        soft_wrap=not page,
        tab_behavior="focus",
        show_line_numbers=page,
        classes="page" if page else None,
    )
    if not page:
        area.move_cursor(area.document.end)
    return area


def value_of(widget: Widget) -> str:
    """What was written or chosen in a widget of a field."""
    if isinstance(widget, ChoiceList):
        return "\n".join(widget.chosen)
    if isinstance(widget, TextArea):
        return widget.text.strip("\n")
    assert isinstance(widget, Input)
    return widget.value
