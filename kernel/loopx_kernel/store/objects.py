"""``objects/<sha256>``: evidence bytes, named by their digest and never changed."""

from __future__ import annotations

import hashlib
import stat
from pathlib import Path

from loopx_kernel.store.disk import MIB, atomic_write, make_folder, read_regular, translated
from loopx_kernel.store.files import Files
from loopx_kernel.store.quarantine import digest_of
from loopx_kernel.store.records import MISSING, Level, Verdict, damaged_file
from loopx_kernel.value import Value

KEPT_LIMIT = MIB
"""The most bytes of one file of evidence that are kept; of a larger one only the digest is."""
_READ_ONLY = 0o444


class Objects(Value):
    """The kept evidence of one goal. Digests are 64 hex digits, sizes bytes."""

    folder: Path
    files: Files

    def path(self, sha256: str) -> Path:
        """Where the bytes with this digest are, or would be."""
        return self.folder / sha256

    def keep(self, content: bytes) -> None:
        """Puts the bytes there; durable on return. What is there already is not written again.

        Raises ``Damaged`` ``file_damaged`` where other bytes stand under that name, and
        ``Storage``.
        """
        sha256 = hashlib.sha256(content).hexdigest()
        found = self.audit(sha256)
        if found.level is Level.DAMAGED:
            raise damaged_file(self.path(sha256), found)
        if found.level is Level.MISSING:
            self.put(content)
            return
        with translated(self.folder):
            # Whoever put it there may have been stopped before its name was durable.
            self.files.fsync_dir(self.folder)

    def put(self, content: bytes) -> None:
        """The same, whatever stands there."""
        path = self.path(hashlib.sha256(content).hexdigest())
        make_folder(self.folder, files=self.files)
        atomic_write(path, content, files=self.files, mode=_READ_ONLY)

    def read(self, sha256: str) -> bytes:
        """The bytes with this digest; none where they are missing or others stand there.
        Raises ``Storage``."""
        content = read_regular(self.path(sha256), KEPT_LIMIT, files=self.files) or b""
        return content if hashlib.sha256(content).hexdigest() == sha256 else b""

    def level(self, sha256: str, size: int) -> Verdict:
        """How the copy stands, by its size alone where that fits; changes nothing."""
        with translated(self.path(sha256)):
            try:
                status = self.files.lstat(self.path(sha256))
            except FileNotFoundError:
                return MISSING
        fits = stat.S_ISREG(status.st_mode) and status.st_size == size
        return Verdict(Level.SAME) if fits else self.audit(sha256)

    def audit(self, sha256: str) -> Verdict:
        """The same by all of its bytes. Raises ``Storage`` where it is no regular file."""
        found = digest_of(self.path(sha256), files=self.files)
        if found is None:
            return MISSING
        if found == sha256:
            return Verdict(Level.SAME, sha256, found)
        return Verdict(Level.DAMAGED, sha256, found, "it is not what was handed in")
