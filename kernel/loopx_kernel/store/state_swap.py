"""Reading and replacing a file that a person's editor may save at the same moment, without a lock.

Swap first, then look at what was there: a save that raced goes back, so nothing typed is lost.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from loopx_kernel.errors import Storage
from loopx_kernel.store.disk import MIB, discard, read_regular, translated, write_temporary
from loopx_kernel.store.files import Files

STATE_LIMIT = 32 * MIB
_SECOND_LOOK_SECONDS = 0.2
Keep = Callable[[bytes], None]


def read_state(
    path: Path, *, files: Files, pause: Callable[[float], None] = time.sleep
) -> bytes | None:
    """The file's bytes; ``None`` only when it is missing at a second look 200 ms later, and
    empty only then, too.

    Editors that rename aside, or empty a file before they write it, leave a gap.
    Raises ``Storage``.
    """
    data = read_regular(path, STATE_LIMIT, files=files)
    if not data:
        pause(_SECOND_LOOK_SECONDS)
        data = read_regular(path, STATE_LIMIT, files=files)
    return data


def replace_rendered(
    path: Path, old: bytes | None, new: bytes, *, files: Files, keep: Keep | None = None
) -> bool:
    """Puts ``new`` in place of ``old`` (``None``: no file); durable when it returns ``True``.

    ``False`` when a person saved in between: their bytes stand there, ours are gone; read again.
    Where they saved twice, the last one stands there and ``keep`` is given the one before.
    Raises ``Storage``, also for a link or anything else that is no regular file.
    """
    with translated(path):
        ours = write_temporary(path, new, files=files)
        done = (
            _link(ours, path, files)
            if old is None
            else _swap(ours, path, old, new, files, keep=keep)
        )
        # Not in a ``finally``: after a failure this name may hold what a person saved.
        discard(ours, files=files)
        if done:
            files.fsync_dir(path.parent)
        return done


def _link(ours: Path, path: Path, files: Files) -> bool:
    try:
        files.link(ours, path)
    except FileExistsError:
        return False
    except OSError:
        discard(ours, files=files)
        raise
    return True


def _swap(
    ours: Path, path: Path, old: bytes, new: bytes, files: Files, *, keep: Keep | None
) -> bool:
    try:
        swapped = files.exchange(ours, path)
    except FileNotFoundError:
        return False
    except OSError:
        discard(ours, files=files)
        raise
    if not swapped:
        return _swap_by_link(ours, path, old, files)
    try:
        displaced = _content(ours, files)
    except Storage:
        _put_back_unread(ours, path, new, files)
        raise
    if displaced == old:
        return True
    for superseded in _give_back(ours, path, displaced, new, files):
        if keep is not None and superseded is not None:
            keep(superseded)
    return False


def _put_back_unread(ours: Path, path: Path, new: bytes, files: Files) -> None:
    """What came out may be what a person saved; what comes out now is kept unless it is ours."""
    files.exchange(ours, path)
    with contextlib.suppress(Storage):
        if _content(ours, files) == new:
            discard(ours, files=files)


def _give_back(
    ours: Path, path: Path, displaced: bytes | None, new: bytes, files: Files
) -> Iterator[bytes | None]:
    """What a person saved goes back.

    Should they save once more meanwhile, that one comes out and goes back in turn; each save
    that stands there no more is yielded before it is gone.
    """
    put_in: bytes | None = new
    while True:
        try:
            files.exchange(ours, path)
        except FileNotFoundError:
            # They deleted what stood there, which was ours: the save before that is not gone.
            with contextlib.suppress(FileExistsError):
                files.link(ours, path)
                return
            continue
        taken = _content(ours, files)
        if taken == put_in:
            return
        yield displaced
        put_in, displaced = displaced, taken


def _swap_by_link(ours: Path, path: Path, old: bytes, files: Files) -> bool:
    """Where names cannot be swapped: link aside, rename, compare."""
    aside = ours.with_suffix(".aside")
    discard(aside, files=files)
    try:
        files.link(path, aside)
    except FileNotFoundError:
        return False
    except OSError:
        discard(ours, files=files)
        raise
    try:
        same = files.lstat(path).st_ino == files.lstat(aside).st_ino
        if _content(aside, files) != old or not same:
            discard(aside, files=files)
            return False
        files.replace(ours, path)
    except (OSError, Storage):
        discard(aside, files=files)
        discard(ours, files=files)
        raise
    # An editor that wrote into the file it had open wrote into what is now aside.
    done = False
    try:
        done = _content(aside, files) == old
    finally:
        if not done:
            files.replace(aside, path)
    discard(aside, files=files)
    return done


def _content(path: Path, files: Files) -> bytes | None:
    """What stands there; ``None`` where it is no file of a person's text. Raises ``Storage``
    where it cannot be read: it must not be taken for something else then."""
    try:
        return read_regular(path, STATE_LIMIT, files=files)
    except Storage as error:
        if error.code in ("not_regular", "too_large"):
            return None
        raise
