"""Materialised records: what the kernel writes from the journal, and how far a file follows it.

A record carries the ``seq`` of the event it shows and a digest over itself, so that missing,
behind and damaged can be told apart.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any

from loopx_kernel.errors import Damaged
from loopx_kernel.store.disk import MIB, atomic_write, make_folder, read_regular
from loopx_kernel.store.files import Files
from loopx_kernel.value import Value

FILE_LIMIT = 64 * MIB
Record = dict[str, Any]


class Level(StrEnum):
    """How a materialised record stands to the state computed from the journal."""

    MISSING = "missing"
    BEHIND = "behind"
    SAME = "same"
    AHEAD = "ahead"
    DAMAGED = "damaged"


class Verdict(Value):
    """A level with both digests (64 hex, or ``None`` where there is none) and what is wrong.

    ``intact`` says that what was found fits its own digest, ``step`` what to do where that is no
    repair.
    """

    level: Level
    expected_digest: str | None = None
    found_digest: str | None = None
    what: str = ""
    intact: bool = False
    step: str = ""


MISSING = Verdict(Level.MISSING)


def digest(record: Mapping[str, Any]) -> str:
    """SHA-256 over the canonical JSON (sorted keys, compact) of a record without its ``sha256``."""
    content = {key: value for key, value in record.items() if key != "sha256"}
    text = json.dumps(
        content, ensure_ascii=False, separators=(",", ":"), sort_keys=True, allow_nan=False
    )
    return hashlib.sha256(text.encode()).hexdigest()


def sealed(record: Mapping[str, Any]) -> Record:
    """The record with its digest as the last key."""
    content = {key: value for key, value in record.items() if key != "sha256"}
    return {**content, "sha256": digest(content)}


def parse_json(data: bytes) -> Any:
    """JSON as people may have saved it (BOM, CRLF); ``ValueError`` says what is wrong and where."""
    try:
        return json.loads(
            data.decode("utf-8-sig"), object_pairs_hook=_object, parse_constant=_constant
        )
    except UnicodeDecodeError:
        raise ValueError("it is not UTF-8") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"{error.msg}, line {error.lineno} col {error.colno}") from None
    except RecursionError:
        raise ValueError("values are nested too deeply") from None


def compare(found: Any, expected: Mapping[str, Any] | None, *, seq_key: str = "seq") -> Verdict:
    """Judges a parsed record against the one the journal gives (``expected``, not sealed).

    Without ``expected`` only by itself: ``SAME`` where its digest fits it.
    """
    wanted = digest(expected) if expected is not None else None
    actual, what = _check(found, seq_key)
    if what:
        return Verdict(Level.DAMAGED, wanted, actual, what)
    level, what = Level.SAME, ""
    if expected is not None and found[seq_key] != expected[seq_key]:
        level = Level.BEHIND if found[seq_key] < expected[seq_key] else Level.AHEAD
    elif expected is not None and actual != wanted:
        level, what = Level.DAMAGED, "it is not what the journal says"
    return Verdict(level, wanted, actual, what, intact=True)


def look_twice(
    read: Callable[[], bytes | None], judge: Callable[[bytes | None], Verdict]
) -> tuple[bytes | None, Verdict]:
    """Reads and judges; what looks damaged is read once more before it is called so."""
    found = read()
    verdict = judge(found)
    if verdict.level is Level.DAMAGED:
        found = read()
        verdict = judge(found)
    return found, verdict


def damaged_file(path: Path, verdict: Verdict) -> Damaged:
    """The error for a damaged file; a person decides with both digests before them."""
    return Damaged(
        "file_damaged",
        f"{path} is damaged: {verdict.what}",
        next=f"loopx repair file {path}",
        path=str(path),
        expected_digest=verdict.expected_digest,
        found_digest=verdict.found_digest,
    )


class RecordFile(Value):
    """A file that holds one record as JSON, for example a statement."""

    path: Path
    files: Files

    def read(self) -> Record | None:
        """The record as it stands, ``None`` where the file is missing.

        Raises ``Damaged`` ``file_damaged`` when it is no record with a fitting digest.
        """

        def judge(data: bytes | None) -> Verdict:
            return MISSING if data is None else compare(_parsed(data), None)

        data, verdict = look_twice(self._read, judge)
        if verdict.level is Level.DAMAGED:
            raise damaged_file(self.path, verdict)
        return None if data is None else _parsed(data)

    def level(self, expected: Mapping[str, Any]) -> Verdict:
        """How the file stands to the record the journal gives; changes nothing."""
        return self._look(expected)[1]

    def bring_level(self, expected: Mapping[str, Any]) -> Level:
        """Writes the record where it is missing or behind; durable on return.

        Returns how it stood before. Raises ``Damaged`` ``file_damaged`` and ``Storage``.
        """
        _, verdict = self._look(expected)
        if verdict.level is Level.DAMAGED:
            raise damaged_file(self.path, verdict)
        if verdict.level in (Level.MISSING, Level.BEHIND):
            self.write(expected)
        return verdict.level

    def write(self, record: Mapping[str, Any]) -> None:
        """Puts the record there, whatever stood in the file; durable on return."""
        make_folder(self.path.parent, files=self.files)
        atomic_write(self.path, rendered(sealed(record)), files=self.files)

    def _look(self, expected: Mapping[str, Any]) -> tuple[bytes | None, Verdict]:
        def judge(data: bytes | None) -> Verdict:
            return MISSING if data is None else compare(_parsed(data), expected)

        return look_twice(self._read, judge)

    def _read(self) -> bytes | None:
        return read_regular(self.path, FILE_LIMIT, files=self.files)


def rendered(value: Any) -> bytes:
    """JSON as people read it: two spaces, one final newline."""
    return (json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False) + "\n").encode()


def _check(found: Any, seq_key: str) -> tuple[str | None, str]:
    """The record's own digest, and what is wrong with it by itself."""
    if not isinstance(found, dict):
        return None, "it is no record"
    try:
        actual = digest(found)
    except (ValueError, RecursionError):
        return None, "it holds what cannot be written as JSON"
    fits = type(found.get(seq_key)) is int and found.get("sha256") == actual
    return actual, "" if fits else "its digest does not fit it"


def _parsed(data: bytes) -> Any:
    try:
        return parse_json(data)
    except ValueError:
        return None


def _object(pairs: list[tuple[str, Any]]) -> Record:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("an object has a key twice")
    return found


def _constant(text: str) -> float:
    raise ValueError(f"{text} is not JSON")
