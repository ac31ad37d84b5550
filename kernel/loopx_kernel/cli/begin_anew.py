"""Beginning a workspace anew in place of one whose owners lost their keys: asked first."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from loopx_kernel.errors import UsageError

if TYPE_CHECKING:
    from loopx_kernel.cli.person import Terminal


def confirm(terminal: Terminal, root: Path) -> None:
    """Three letters typed by a person; ``invalid_value`` for anything else."""
    terminal.say(f"{root / '.loopx'} is set aside, and a new workspace begins without its goals.")
    terminal.say("Nothing decided there counts any more, and everybody who knew it is told.")
    if terminal.ask("Type yes to begin anew:") != "yes":
        raise UsageError("invalid_value", "Nothing was changed", next="loopx connect --replaces")
