"""How state files stand: whole, behind, edited by a person, or not readable."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from loopx_kernel.domain.needs_you import Difference
from loopx_kernel.errors import Storage
from loopx_kernel.store.disk import Signature
from loopx_kernel.value import Value

if TYPE_CHECKING:
    from loopx_kernel.store.state_parse import Problem


class Page(Value):
    """How the file stands: missing, behind, edited by a person, or not readable at all."""

    path: Path
    missing: bool = False
    behind: bool = False
    drift: tuple[Difference, ...] = ()
    changed_at: datetime | None = None
    problem: Storage | None = None


class Shown(Value):
    """What the file shows now: its bytes, the ``seq`` it was rendered at (0: no file), what
    stands after the kernel's part where that is untouched, and what a person changed.
    ``settled`` says that a person decided about that change already; ``top`` is the kernel's
    part as it was rendered, where that is known without a replay, and ``problem`` why the file
    cannot be read."""

    data: bytes | None
    seq: int
    rest: str | None = None
    drift: tuple[Difference, ...] = ()
    settled: bool = False
    top: str | None = None
    problem: Storage | None = None


class Looked(Value):
    """How a file of this ``signature`` stood to the list of ``list_seq``, after what was
    ``decided`` about the journal and the file. Nobody had changed it since it was rendered at
    ``untouched_at``; 0 where that is not known."""

    signature: Signature
    list_seq: int
    decided: object
    page: Page
    untouched_at: int


class Edited(Value):
    """The file as a person left it: its SHA-256, what they changed, that as a unified diff from
    what the kernel had written, and the lines in the kernel's parts that are none of its."""

    path: str
    digest: str
    drift: tuple[Difference, ...] = ()
    diff: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()
