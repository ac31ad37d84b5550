"""The rules of a goal from a file, or from standard input."""

from __future__ import annotations

from typing import Any

from loopx_kernel.errors import UsageError


def read_yaml(path: str) -> dict[str, Any]:
    """The keys of a goal from a YAML file, ``-`` for standard input; unknown ones are refused
    by name."""
    from loopx_kernel.cli.refresh_state import read_text
    from loopx_kernel.workspace.goal_words import parse_yaml

    if path == "-":
        return parse_yaml(_standard_input(), "standard input")
    return parse_yaml(read_text(path), path)


def _standard_input() -> str:
    import sys

    try:
        return sys.stdin.buffer.read().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError):
        raise UsageError(
            "invalid_value", "Standard input is not UTF-8 text", next="--from FILE"
        ) from None
