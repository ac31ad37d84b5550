"""People at a terminal of their own, in front of the installed command."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pexpect

from tests.cli.helpers import PROGRAM
from tests.patience import PATIENCE


@contextmanager
def terminal(*arguments: str) -> Iterator[Any]:
    """The installed command on a terminal of its own."""
    child = pexpect.spawn(
        str(PROGRAM), list(arguments), encoding="utf-8", timeout=PATIENCE, dimensions=(40, 200)
    )
    try:
        yield child
    finally:
        child.close(force=True)


def finish(child: Any) -> tuple[int, str]:
    child.expect(pexpect.EOF)
    child.wait()
    return child.exitstatus, child.before
