"""``registry.json``: who each goal is and what it may do; an entry per goal.

Whoever writes holds the workspace lock. Every entry carries ``revision`` (the ``seq`` it shows)
and ``sha256``; another goal's entry is kept as it stands, even a damaged one.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from loopx_kernel.store.disk import atomic_write, read_regular
from loopx_kernel.store.files import Files
from loopx_kernel.store.records import (
    FILE_LIMIT,
    MISSING,
    Level,
    Record,
    Verdict,
    compare,
    damaged_file,
    look_twice,
    parse_json,
    rendered,
    sealed,
)
from loopx_kernel.value import Value

SCHEMA_VERSION = "0.1"


class RegistryFile(Value):
    """The registry at ``path``. ``expected`` is a goal's entry with ``id`` and ``revision``."""

    path: Path
    files: Files

    def read(self) -> list[Record] | None:
        """All entries as they stand, ``None`` where the file is missing.

        Raises ``Damaged`` ``file_damaged``, saying where, when the file is no registry.
        """

        def judge(data: bytes | None) -> Verdict:
            what = "" if data is None else _fault(data)
            return Verdict(Level.DAMAGED if what else Level.SAME, what=what)

        data, verdict = look_twice(self._read, judge)
        if verdict.level is Level.DAMAGED:
            raise damaged_file(self.path, verdict)
        return None if data is None else _entries(data)

    def level(self, expected: Mapping[str, Any]) -> Verdict:
        """How the goal's entry stands to the one the journal gives; changes nothing."""
        return self._look(expected)[1]

    def bring_level(self, expected: Mapping[str, Any]) -> Level:
        """Writes the goal's entry where it is missing or behind; durable on return.

        Returns how it stood before. Raises ``Damaged`` ``file_damaged`` and ``Storage``.
        """
        data, verdict = self._look(expected)
        if verdict.level is Level.DAMAGED:
            raise damaged_file(self.path, verdict)
        if verdict.level in (Level.MISSING, Level.BEHIND):
            self._replace(_entries(data) if data is not None else [], [expected])
        return verdict.level

    def write_entry(self, entry: Mapping[str, Any]) -> None:
        """Puts one goal's entry there, whatever stood in its place (a repair); durable on return.

        Raises ``Damaged`` when the file as a whole is no registry: then ``write_all``.
        """
        self._replace(self.read() or [], [entry])

    def write_all(self, entries: list[Mapping[str, Any]]) -> None:
        """Puts a whole registry there, whatever stood in the file (a repair); durable on return."""
        self._replace([], entries)

    def _look(self, expected: Mapping[str, Any]) -> tuple[bytes | None, Verdict]:
        def judge(data: bytes | None) -> Verdict:
            if data is None:
                return MISSING
            what = _fault(data)
            if what:
                return Verdict(Level.DAMAGED, what=what)
            for entry in _entries(data):
                if entry["id"] == expected["id"]:
                    return compare(entry, expected, seq_key="revision")
            return MISSING

        return look_twice(self._read, judge)

    def _replace(self, old: list[Record], entries: list[Mapping[str, Any]]) -> None:
        new = {entry["id"]: sealed(entry) for entry in entries}
        goals = [new.pop(entry["id"], entry) for entry in old] + list(new.values())
        content = rendered({"schema_version": SCHEMA_VERSION, "goals": goals})
        atomic_write(self.path, content, files=self.files)

    def _read(self) -> bytes | None:
        return read_regular(self.path, FILE_LIMIT, files=self.files)


@lru_cache(maxsize=1)
def _parsed(data: bytes) -> Any:
    """What the bytes hold; nobody changes it. All goals ask for the same, one after the other."""
    return parse_json(data)


def _entries(data: bytes) -> list[Record]:
    goals: list[Record] = _parsed(data)["goals"]
    return goals


def _fault(data: bytes) -> str:
    """What keeps the bytes from being a registry; empty where nothing does."""
    if not data.strip(b"\0 \t\r\n"):
        return "it is empty" if not data else "it holds nothing but blanks or NULs"
    try:
        found = _parsed(data)
    except ValueError as error:
        return f"unreadable, {error}"
    if not isinstance(found, dict) or set(found) != {"schema_version", "goals"}:
        return "it is no object of schema_version and goals alone"
    if found["schema_version"] != SCHEMA_VERSION:
        return f"its schema_version is not {SCHEMA_VERSION}"
    goals = found["goals"]
    if not isinstance(goals, list) or not all(_is_entry(entry) for entry in goals):
        return "goals is no list of entries with an id"
    ids = [entry["id"] for entry in goals]
    return "" if len(set(ids)) == len(ids) else "a goal is entered twice"


def _is_entry(entry: Any) -> bool:
    return isinstance(entry, dict) and isinstance(entry.get("id"), str)
