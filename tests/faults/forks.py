"""Other processes in a test: forked from it, spoken to through a pipe, gone with it."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any

from tests.patience import PATIENCE

FORK = multiprocessing.get_context("fork")


def started(work: Callable[..., None], *arguments: Any) -> tuple[BaseProcess, Connection]:
    """A process that does ``work(pipe, ...)``, and our end of its pipe."""
    ours, theirs = FORK.Pipe()
    process = FORK.Process(target=work, args=(theirs, *arguments), daemon=True)
    process.start()
    theirs.close()
    return process, ours


def heard(pipe: Connection) -> Any:
    """What the process says next."""
    assert pipe.poll(PATIENCE), "the other process says nothing"
    return pipe.recv()


def killed(process: BaseProcess) -> None:
    """Ends a process as a crash would, and waits until it is gone."""
    assert process.pid is not None
    os.kill(process.pid, signal.SIGKILL)
    process.join(PATIENCE)
    assert process.exitcode is not None
