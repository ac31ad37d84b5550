"""A list from which any number is chosen, or one; what is chosen shows without colour, too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import OptionList
from textual.widgets.option_list import Option

_MARKS: Final = {True: "[x]", False: "[ ]"}
_ONE: Final = {True: "(x)", False: "( )"}


class ChoiceList(OptionList):
    """``offered`` are ids with their words, safe to show; ``chosen`` the ids that are marked.
    Where ``one`` is to be picked, marking it takes the mark from the other."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("space", "select", show=False)]

    def __init__(
        self, offered: Sequence[tuple[str, str]], chosen: Sequence[str], *, one: bool = False
    ) -> None:
        self._words = dict(offered)
        self._one = one
        self._chosen = {ref for ref in chosen if ref in self._words}
        super().__init__(*(Option(self._prompt(ref), id=ref) for ref in self._words))

    @property
    def chosen(self) -> list[str]:
        """The ids that are marked, in the order of the list."""
        return [ref for ref in self._words if ref in self._chosen]

    def toggle(self, ref: str) -> None:
        """Marks an entry, or takes the mark away."""
        before = set(self._chosen)
        self._chosen = {ref} if self._one else self._chosen ^ {ref}
        for changed in before ^ self._chosen:
            self.replace_option_prompt(changed, self._prompt(changed))

    def _prompt(self, ref: str) -> Content:
        marks = _ONE if self._one else _MARKS
        return Content(f"{marks[ref in self._chosen]} {self._words[ref]}")

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.toggle(event.option_id or "")
