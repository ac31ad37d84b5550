"""Screens that lie over one another, each drawn from what the one below shows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from textual.screen import Screen

if TYPE_CHECKING:
    from loopx_tui.presentation.scene import Scene


class Following:
    """Something over a screen with a scene; it is told whenever that scene differs."""

    def follow(self, scene: Scene) -> None:
        """Draws what it shows as it is in this scene."""
        raise NotImplementedError

    def refocused(self) -> None:
        """The terminal has the focus again, or lost it."""


def above(screen: Screen[Any]) -> Following | None:
    """What lies right over a screen, if that follows it."""
    stack = screen.app.screen_stack if screen.is_attached else []
    place = stack.index(screen) + 1 if screen in stack else len(stack)
    over = stack[place] if place < len(stack) else None
    return over if isinstance(over, Following) else None
