"""An app that follows the person's own files: keys, themes, and what they call a workspace."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path

from loopx_kernel.text import safe
from textual import work

from loopx_tui.flags import Flag
from loopx_tui.lending import LendingApp
from loopx_tui.preferences import own_folder
from loopx_tui.told import OwnFiles
from loopx_tui.wardrobe import Wardrobe


class PersonalApp(LendingApp):
    """Takes over what is saved there. ``theme`` is the one asked for at the start, and ``keep``
    the folder in which a later choice is kept, ``None`` for nowhere."""

    def __init__(self, theme: str | None, keep: Path | None) -> None:
        super().__init__()
        self.animation_level = "none"
        self.keys: Mapping[str, str] = {}
        self.flag = Flag()
        self.flag_read = False
        """Whether it is known what the person calls the workspace."""
        self.keep = keep
        self._wardrobe = Wardrobe(self, theme, keep=keep)

    def warn(self, sentence: str) -> None:
        """Shows what is wrong with something of theirs; an empty sentence says nothing."""
        if sentence:
            self.notify(safe(sentence), severity="warning", markup=False)

    def show_keys(self) -> None:
        """The keys are others now."""

    def show_flag(self, flag: Flag) -> None:
        """What the person calls the workspace is something else now."""

    def fit_theme(self) -> None:
        """Once it is known that there is a terminal: the theme in the colours that it has."""
        self._wardrobe.fit()

    def next_theme(self) -> str:
        """Takes the theme that follows; returns the sentence that says which."""
        return self._wardrobe.next()

    def take_own_files(self) -> None:
        """Takes the keys over, and says what is wrong with them and with the theme."""
        for notice in self._wardrobe.notices:
            self.warn(notice)
        self._take_keys()

    def _take_keys(self) -> None:
        from loopx_tui.keymap import load

        keymap = load()
        self.keys = keymap.keys
        self.set_keymap(dict(keymap.keys))
        for notice in keymap.notices:
            self.warn(notice)

    def on_own_files(self, event: OwnFiles) -> None:
        own = own_folder()
        if own / "keys.yaml" in event.paths:
            self._take_keys()
            self.show_keys()
        if own / "config.yaml" in event.paths:
            self.raise_flag()
        if any(path.is_relative_to(own / "themes") for path in event.paths):
            self.warn(self._wardrobe.reload())

    def workspace_root(self) -> Path:
        """Where the workspace is."""
        raise NotImplementedError

    @work(exclusive=True, group="flag")
    async def raise_flag(self) -> None:
        """Shows what the person calls the workspace."""
        from loopx_tui.flags import read_flag

        flag, problem = await asyncio.to_thread(read_flag, self.workspace_root())
        self.warn(problem)
        self.take_flag(flag)

    def take_flag(self, flag: Flag) -> None:
        """From now on the workspace looks like this."""
        if self.flag_read and flag == self.flag:
            return
        self.flag, self.flag_read = flag, True
        self.warn(self._wardrobe.fly(flag))
        self.show_flag(flag)
