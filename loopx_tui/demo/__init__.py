"""`loopx-tui demo`: a live workspace in a temporary folder, with scripted workers."""

from __future__ import annotations

from collections.abc import Sequence


def run(argv: Sequence[str]) -> int:
    """Runs the demo with these options until quit; returns the exit status.

    Everything lives in a temporary folder, which is gone afterwards.
    """
    from loopx_tui.demo import start

    return start.run(argv)
