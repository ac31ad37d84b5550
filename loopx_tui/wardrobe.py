"""Which theme the app wears: chosen at the start, by a key, by its file, by the workspace."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from textual.app import App

from loopx_tui import preferences, strings
from loopx_tui.flags import Flag
from loopx_tui.theme_files import available, choose, find
from loopx_tui.themes import DEFAULT, SIXTEEN, Theme, suggested, to_textual


class Wardrobe:
    """Dresses one app. ``keep`` is the folder in which a choice is kept, ``None`` for nowhere.

    ``notices`` are what is to be told of the start, each a sentence.
    """

    def __init__(self, app: App[Any], asked: str | None, *, keep: Path | None) -> None:
        self.notices: list[str] = []
        self._app = app
        self._keep = keep
        self._asked = asked
        self._flag = Flag()
        self._worn: Theme | None = None
        self._changes = 0
        fitting = suggested(app.console.color_system)
        self._sixteen = False
        # The default is known without reading a file.
        name = asked or preferences.theme(keep) or (None if fitting == DEFAULT.name else fitting)
        chosen = choose(name)
        if chosen.notice:
            self.notices.append(chosen.notice)
        self._wear(chosen.theme)

    def fit(self) -> None:
        """Fits what is worn to the terminal on which it is seen; pictures are as they are."""
        if suggested(self._app.console.color_system) == SIXTEEN and self._worn is not None:
            self._sixteen = True
            self._wear(self._worn)

    def next(self) -> str:
        """Takes the theme that follows, and keeps that; the sentence that says which."""
        found = available()
        names = sorted(found.themes)
        if len(names) < 2:
            return strings.NO_OTHER_THEME
        here = names.index(self._name) if self._name in names else -1
        theme = found.themes[names[(here + 1) % len(names)]]
        self._wear(theme)
        preferences.keep_theme(self._keep, theme.name)
        return " ".join([strings.THEME_IS.format(label=theme.label), *found.notices])

    def reload(self) -> str:
        """Wears the theme's file as it is now; what is wrong with it, as a sentence.

        A file that cannot be used changes nothing.
        """
        theme, problem = find(self._name)
        if theme is None:
            return strings.THEME_STAYS.format(why=problem)
        if theme == self._worn:
            return ""
        self._wear(theme)
        return problem or ""

    def fly(self, flag: Flag) -> str:
        """Shows which workspace this is; what is wrong with its theme, as a sentence."""
        if flag == self._flag:
            return ""
        self._flag = flag
        chosen = choose(flag.theme if flag.theme and not self._asked else self._name)
        self._wear(chosen.theme)
        return chosen.notice or ""

    @property
    def _name(self) -> str:
        return self._worn.name if self._worn else ""

    def _wear(self, theme: Theme) -> None:
        self._worn = theme
        self._changes += 1
        dress = to_textual(
            theme,
            in_colour=not self._app.no_color,
            sixteen=self._sixteen,
            frame=self._flag.colour,
        )
        # Textual changes nothing for a theme of the same name.
        dress.name += f"-{self._changes}"
        before = self._app.theme
        self._app.register_theme(dress)
        self._app.theme = dress.name
        if before.startswith("loopx-"):
            self._app.unregister_theme(before)
