"""The reader's own caches against the journal they were made from."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from loopx_kernel.store import index_audit
from loopx_kernel.store.checkpoint import Checkpoint
from loopx_kernel.store.index import FILE as INDEX
from loopx_kernel.workspace import resume, snapshots
from loopx_kernel.workspace.ledger import Ledger


def false_states(folder: Path, ledger: Ledger) -> Iterator[tuple[Path, str]]:
    """The kept states that readings start from and that are not those of their lines.

    ``ledger`` trusts no cache and was not read yet; it is read on as far as they go.
    """
    for path, found in _kept(folder, ledger):
        ledger.read_up_to(found.seq)
        at_its_line = (ledger.position.seq, ledger.position.head) == (found.seq, found.head)
        if at_its_line and resume.state_of(found, type(ledger.state)) != ledger.state:
            yield path, f"it is not the state after line {found.seq}"


def false_index(folder: Path, ledger: Ledger) -> Iterator[tuple[Path, str]]:
    """The index, if it says something else than the journal's lines."""
    path = folder / INDEX
    if index_audit.is_true(path, ledger.journal) is False:
        yield path, "it does not say where the lines are"


def _kept(folder: Path, ledger: Ledger) -> list[tuple[Path, Checkpoint]]:
    paths = [folder / resume.FILE, *(folder / snapshots.FOLDER).glob("*.json")]
    rests_on, files = ledger.rests_on(), ledger.journal.files
    loaded = ((path, resume.load(path, rests_on, files=files)) for path in paths)
    kept = [(path, found) for path, found in loaded if found is not None]
    return sorted(kept, key=lambda pair: pair[1].seq)
