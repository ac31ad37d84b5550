"""Copying over SSH and in tmux, where there is no desktop: a tmux buffer, or OSC 52."""

from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import Callable, Mapping
from typing import Final

LARGEST_BYTES: Final = 74_994
"""What fits into the 100,000 bytes that terminals take in one OSC 52 sequence."""

_TMUX_SECONDS: Final = 2.0
_KEPT_CONTROLS = frozenset("\n\t")


async def copy(
    text: str, osc52: Callable[[str], None], environ: Mapping[str, str] = os.environ
) -> str:
    """Copies ``text`` and returns one sentence that says which way, or why not.

    Inside tmux it goes to a tmux buffer; elsewhere ``osc52`` is called with it,
    on the caller's thread. Control characters other than line ends and tabs are
    left out; a text larger than ``LARGEST_BYTES`` is not copied at all.
    """
    data = pasteable(text).encode("utf-8", "replace")
    if not data:
        return "There is nothing to copy"
    if len(data) > LARGEST_BYTES:
        return f"Not copied: {len(data):,} bytes, and {LARGEST_BYTES:,} is the most"
    size = f"{len(data):,} bytes"
    if environ.get("TMUX"):
        problem = await asyncio.to_thread(_load_buffer, data, environ)
        return f"Not copied: {problem}" if problem else f"Copied {size} to the tmux buffer"
    osc52(data.decode("utf-8"))
    return f"Sent {size} to the terminal's clipboard (OSC 52)"


def pasteable(text: str) -> str:
    """``text`` without what would act on the terminal it is pasted into."""
    return "".join(char for char in text if char in _KEPT_CONTROLS or not _is_control(char))


def _is_control(char: str) -> bool:
    return char < " " or "\x7f" <= char <= "\x9f"


def _load_buffer(data: bytes, environ: Mapping[str, str]) -> str:
    """Hands ``data`` to tmux; the sentence that says what went wrong, if anything did."""
    try:
        done = subprocess.run(
            ["tmux", "load-buffer", "-"],
            input=data,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env=dict(environ),
            timeout=_TMUX_SECONDS,
            check=False,
        )
    except FileNotFoundError:
        return "tmux is not in PATH"
    except subprocess.TimeoutExpired:
        return "tmux did not answer"
    except OSError as error:
        return f"tmux could not be started ({error.strerror})"
    if done.returncode == 0:
        return ""
    said = done.stderr.decode("utf-8", "replace").strip()
    return f"tmux said: {said}" if said else f"tmux ended with {done.returncode}"
