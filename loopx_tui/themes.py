"""Themes: named colours of states, kept as small YAML files.

A theme names what a colour means, and no widget. The default theme is also
held here as values, so that the first paint reads no file.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any, Final

if TYPE_CHECKING:
    from pydantic_core import CoreSchema
    from textual.theme import Theme as TextualTheme

_HEX = re.compile(r"#[0-9a-fA-F]{6}")

ANSI_COLOURS = {
    "ansi_black": "#000000",
    "ansi_red": "#cd0000",
    "ansi_green": "#00cd00",
    "ansi_yellow": "#cdcd00",
    "ansi_blue": "#0000ee",
    "ansi_magenta": "#cd00cd",
    "ansi_cyan": "#00cdcd",
    "ansi_white": "#e5e5e5",
    "ansi_bright_black": "#7f7f7f",
    "ansi_bright_red": "#ff0000",
    "ansi_bright_green": "#00ff00",
    "ansi_bright_yellow": "#ffff00",
    "ansi_bright_blue": "#5c5cff",
    "ansi_bright_magenta": "#ff00ff",
    "ansi_bright_cyan": "#00ffff",
    "ansi_bright_white": "#ffffff",
}
"""The terminal's own sixteen colours, with the values xterm gives them."""


GROUNDS: Final = ("background", "surface")
NOT_TEXT: Final = frozenset((*GROUNDS, "border"))
LEAST_CONTRAST: Final = 4.5
"""Between every text and every ground; that of WCAG 2, level AA."""


class _ColourRule:
    """Has pydantic check a colour, without importing it before a file is read."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> CoreSchema:
        from pydantic_core import core_schema

        return core_schema.no_info_after_validator_function(_colour, core_schema.str_schema())


def _colour(value: str) -> str:
    if value in ANSI_COLOURS or _HEX.fullmatch(value):
        return value
    raise ValueError("is not a colour like #8fb4ff or ansi_cyan")


Colour = Annotated[str, _ColourRule]


@dataclass(frozen=True, slots=True, kw_only=True)
class Theme:
    """One theme: ``#rrggbb`` values, or names of ``ANSI_COLOURS`` throughout.

    In a file and in CSS the keys are written with hyphens: ``border-focus``.
    """

    name: str
    label: str
    dark: bool
    background: Colour
    surface: Colour
    border: Colour
    border_focus: Colour
    text: Colour
    text_dim: Colour
    accent: Colour
    run: Colour
    ask: Colour
    wait: Colour
    repair: Colour
    quiet: Colour
    closed: Colour
    paused: Colour
    fresh: Colour
    stale: Colour
    alert: Colour
    verified: Colour
    forged: Colour
    past: Colour
    plot: Colour

    @property
    def colours(self) -> dict[str, str]:
        """All colours by their written name: ``{"border-focus": "#8fb4ff", …}``."""
        skipped = {"name", "label", "dark"}
        return {written(k): v for k, v in asdict(self).items() if k not in skipped}


DEFAULT = Theme(
    name="dark",
    label="Dark",
    dark=True,
    background="#11141b",
    surface="#1c2230",
    border="#323b4e",
    border_focus="#8fb4ff",
    text="#e3e8f2",
    text_dim="#8f9ab0",
    accent="#8fb4ff",
    run="#7ddc9a",
    ask="#f7c873",
    wait="#86c5e0",
    repair="#f5a26b",
    quiet="#8f9ab0",
    closed="#a9b6dc",
    paused="#c9b2ea",
    fresh="#74d6c0",
    stale="#e3b35f",
    alert="#ff7f8a",
    verified="#a8d982",
    forged="#ff6fa8",
    past="#bda2f5",
    plot="#7aa5f2",
)


SIXTEEN = "sixteen"
"""The theme made for terminals with no other colours than their own sixteen."""


def suggested(color_system: str | None) -> str:
    """The theme for a terminal that shows ``color_system`` (as rich names it)."""
    return SIXTEEN if color_system in (None, "standard", "windows") else DEFAULT.name


def to_textual(
    theme: Theme, *, in_colour: bool = True, sixteen: bool = False, frame: str = ""
) -> TextualTheme:
    """``theme`` for ``App.register_theme``; CSS may say ``$run``, ``$border-focus``, ….

    All borders have the colour called ``frame`` where one is named.

    Pass ``not app.no_color`` for ``in_colour``. Without colour each one becomes
    the grey of its own luminance, so that contrasts stay: Textual's filter
    weighs channels as they are, which turns magenta to near black, and the
    terminal's own colours to black. Where the terminal has but ``sixteen``, what
    would be hard to read in the nearest of them has the colour of the text.
    """
    from textual.theme import Theme as TextualTheme

    colours = theme.colours
    if frame:
        colours |= dict.fromkeys(("border", "border-focus"), colours[frame])
    if not in_colour:
        colours = {key: _grey(value) for key, value in colours.items()}
    if sixteen:
        colours = readable_in_sixteen(colours)
    return TextualTheme(
        name=f"loopx-{theme.name}",
        primary=colours["accent"],
        secondary=colours["plot"],
        warning=colours["ask"],
        error=colours["alert"],
        success=colours["run"],
        accent=colours["accent"],
        foreground=colours["text"],
        background=colours["background"],
        surface=colours["surface"],
        panel=colours["surface"],
        dark=theme.dark,
        ansi=any(value in ANSI_COLOURS for value in colours.values()),
        variables={**colours, **_derived(colours)},
    )


def readable_in_sixteen(colours: dict[str, str]) -> dict[str, str]:
    """A theme's colours for a terminal that shows the nearest of its own sixteen instead."""
    near = {name: nearest_of_sixteen(colour) for name, colour in colours.items()}

    def is_lost(name: str) -> bool:
        return name not in NOT_TEXT and any(
            contrast(near[name], near[ground]) < LEAST_CONTRAST for ground in GROUNDS
        )

    return {name: colours["text"] if is_lost(name) else colours[name] for name in colours}


def nearest_of_sixteen(colour: str) -> str:
    """Which of ``ANSI_COLOURS`` is written for a colour to a terminal that has no others."""
    from rich.color import Color, ColorSystem

    if colour in ANSI_COLOURS:
        return colour
    number = Color.parse(colour).downgrade(ColorSystem.STANDARD).number
    assert number is not None
    return list(ANSI_COLOURS)[number]


def _derived(colours: dict[str, str]) -> dict[str, str]:
    """Textual's own names for what the theme says, so that its widgets look like ours.

    Among the terminal's sixteen colours Textual leaves some of them undefined
    and others to a default of the terminal that nobody knows the contrast of.
    """
    uses = {
        "background": "ansi-background background-muted block-cursor-foreground "
        "button-color-foreground "
        "input-cursor-foreground input-selection-foreground link-color-hover "
        "screen-selection-foreground scrollbar-background scrollbar-background-hover "
        "scrollbar-background-active scrollbar-corner-color",
        "surface": "block-cursor-blurred-background block-hover-background "
        "footer-background footer-description-background footer-item-background panel "
        "surface-active",
        "text": "ansi-foreground block-cursor-blurred-foreground button-foreground "
        "footer-foreground markdown-h4-color markdown-h5-color "
        "markdown-h6-color",
        "text-dim": "footer-description-foreground foreground-disabled foreground-muted "
        "scrollbar-hover text-disabled text-muted",
        "accent": "block-cursor-background footer-key-foreground input-cursor-background "
        "input-selection-background link-background-hover link-color markdown-h1-color "
        "markdown-h2-color markdown-h3-color screen-selection-background scrollbar-active",
        "border": "border-blurred scrollbar",
    }
    return {name: colours[ours] for ours, names in uses.items() for name in names.split()}


def luminance(colour: str) -> float:
    """The relative luminance of WCAG 2, from 0 (black) to 1 (white)."""
    value = ANSI_COLOURS.get(colour, colour)
    red, green, blue = (int(value[at : at + 2], 16) / 255 for at in (1, 3, 5))
    return 0.2126 * _linear(red) + 0.7152 * _linear(green) + 0.0722 * _linear(blue)


def contrast(one: str, other: str) -> float:
    """The contrast of WCAG 2 between two colours, from 1 to 21."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def hard_to_read(theme: Theme) -> list[str]:
    """What of a theme stands out too little from a ground of it, with how much it does."""
    return [
        f"{name} on {ground} {found:.1f}:1"
        for name, colour in theme.colours.items()
        for ground in GROUNDS
        if name not in NOT_TEXT
        and (found := contrast(colour, theme.colours[ground])) < LEAST_CONTRAST
    ]


def _linear(channel: float) -> float:
    return channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4


def _grey(colour: str) -> str:
    light = luminance(colour)
    level = light * 12.92 if light <= 0.0031308 else 1.055 * light ** (1 / 2.4) - 0.055
    return "#" + f"{round(level * 255):02x}" * 3


def written(name: str) -> str:
    """A field's name as files and CSS write it."""
    return name.replace("_", "-")
