"""A program of its own: whether a pattern occurs in a text. A pattern may run for ever and fill
the memory, so it runs where both can be ended.

Reads the pattern as one line of JSON and then the text, both UTF-8. Exits with 0 where the
pattern was found, 1 where it was not, 2 where it is none, 70 where
there is no telling.
"""

from __future__ import annotations

import contextlib
import json
import re
import sys

MEMORY = 2 * 1024 * 1024 * 1024
FOUND, NOT_FOUND, NO_PATTERN, FAILED = 0, 1, 2, 70


def main() -> int:
    """The exit status for what stands on stdin."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    line, _, content = sys.stdin.buffer.read().partition(b"\n")
    try:
        pattern = re.compile(json.loads(line), re.MULTILINE)
    except (re.error, RecursionError, OverflowError):
        return NO_PATTERN
    return FOUND if pattern.search(content.decode("utf-8", "replace")) else NOT_FOUND


if __name__ == "__main__":
    try:
        status = main()
    except Exception:
        # A failure must not look like an answer.
        status = FAILED
    sys.exit(status)
