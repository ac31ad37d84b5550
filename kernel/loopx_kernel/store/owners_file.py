"""``owners``: the public keys of people in OpenSSH's allowed_signers format.

Its first line is a comment with ``seq`` and a digest of the rest. Whoever writes holds the
workspace lock.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path

from loopx_kernel.store.disk import MIB, atomic_write, read_regular
from loopx_kernel.store.files import Files
from loopx_kernel.store.records import MISSING, Level, Verdict, damaged_file, look_twice
from loopx_kernel.value import Value

_LIMIT = 4 * MIB
_HEADER = re.compile(rb"# loopx owners seq=(\d{1,15}) sha256=([0-9a-f]{64})\n")


class OwnersFile(Value):
    """The owners file at ``path``; ``lines`` are allowed_signers lines without newline.

    ``seq`` is that of the workspace journal's event the lines show.
    """

    path: Path
    files: Files

    def read(self) -> tuple[str, ...] | None:
        """The lines as they stand, ``None`` where the file is missing; raises ``Damaged``."""

        def judge(data: bytes | None) -> Verdict:
            return MISSING if data is None else _judge(data, None)

        data, verdict = look_twice(self._read, judge)
        if verdict.level is Level.DAMAGED:
            raise damaged_file(self.path, verdict)
        return None if data is None else tuple(data.decode().split("\n")[1:-1])

    def level(self, lines: Sequence[str], seq: int) -> Verdict:
        """How the file stands to what the journal gives; compared as whole bytes."""

        def judge(data: bytes | None) -> Verdict:
            return MISSING if data is None else _judge(data, (_render(lines, seq), seq))

        return look_twice(self._read, judge)[1]

    def bring_level(self, lines: Sequence[str], seq: int) -> Level:
        """Writes where missing or behind, durable on return; raises ``Damaged``, ``Storage``."""
        verdict = self.level(lines, seq)
        if verdict.level is Level.DAMAGED:
            raise damaged_file(self.path, verdict)
        if verdict.level in (Level.MISSING, Level.BEHIND):
            self.write(lines, seq)
        return verdict.level

    def write(self, lines: Sequence[str], seq: int) -> None:
        """Puts the lines there, whatever stood in the file (a repair); durable on return."""
        atomic_write(self.path, _render(lines, seq), files=self.files)

    def _read(self) -> bytes | None:
        return read_regular(self.path, _LIMIT, files=self.files)


def _render(lines: Sequence[str], seq: int) -> bytes:
    body = "".join(f"{line}\n" for line in lines).encode()
    return f"# loopx owners seq={seq} sha256={hashlib.sha256(body).hexdigest()}\n".encode() + body


def _judge(data: bytes, expected: tuple[bytes, int] | None) -> Verdict:
    wanted = hashlib.sha256(expected[0]).hexdigest() if expected else None
    actual = hashlib.sha256(data).hexdigest()
    header = _HEADER.match(data)
    if header is None:
        return Verdict(Level.DAMAGED, wanted, actual, "its first line is not ours")
    body = data[header.end() :]
    if hashlib.sha256(body).hexdigest().encode() != header[2] or not _is_text(body):
        return Verdict(Level.DAMAGED, wanted, actual, "its digest does not fit it")
    if expected is None:
        return Verdict(Level.SAME, None, actual)
    content, seq = expected
    if int(header[1]) != seq:
        level = Level.BEHIND if int(header[1]) < seq else Level.AHEAD
        return Verdict(level, wanted, actual, intact=True)
    if data != content:
        what = "it is not what the journal says"
        return Verdict(Level.DAMAGED, wanted, actual, what, intact=True)
    return Verdict(Level.SAME, wanted, actual)


def _is_text(body: bytes) -> bool:
    try:
        body.decode()
    except UnicodeDecodeError:
        return False
    return body.endswith(b"\n") or not body
