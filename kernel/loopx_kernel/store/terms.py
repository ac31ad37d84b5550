"""What a journal line can be found by: its event id, its type, the objects it is about."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from enum import IntEnum
from functools import lru_cache
from typing import Any

from loopx_kernel.errors import Damaged
from loopx_kernel.store.line import decode
from loopx_kernel.store.strict_json import dumps

OBJECT_KEYS = ("todo_id", "gate_id", "source_id", "effect_ref", "agent_id")
BUCKETS = 4096
"""How many terms there are of a kind; values that share one are told apart on the line."""

_HEAD = re.compile(rb'\{"event_id":"([^"\\]+)","goal_id":"[^"\\]+","event_type":"([^"\\]+)"')
_OBJECT = re.compile(b'"(?:' + "|".join(OBJECT_KEYS).encode() + b')":"([^"]*)"')


class Kind(IntEnum):
    """What a term is made of."""

    ID = 0
    TYPE = 1
    OBJECT = 2


def key_of(kind: Kind, value: str) -> int:
    """The term of a value."""
    return _key(kind, dumps(value)[1:-1])


def terms_of(raw: bytes) -> set[int]:
    """The terms of a line's bytes, perhaps more than it has; none where it is no good line."""
    head = _HEAD.match(raw)
    if head is None or b"\\" in raw:
        return _terms_of_escaped(raw)
    keys = {_key(Kind.OBJECT, value) for value in _OBJECT.findall(raw)}
    return keys | {_key(Kind.ID, head[1]), _key(Kind.TYPE, head[2])}


def objects_of(record: Mapping[str, Any]) -> set[str]:
    """The ids of what an event made or changed, its parts included."""
    return set(_objects(record["payload"]))


def _terms_of_escaped(raw: bytes) -> set[int]:
    # One text can be written in several ways here, so it is read for what it means.
    try:
        line = decode(raw, 0)
    except Damaged:
        return set()
    keys = {key_of(Kind.OBJECT, value) for value in objects_of(line.record)}
    event_type = line.record["event_type"]
    return keys | {key_of(Kind.ID, line.event_id), key_of(Kind.TYPE, event_type)}


def _objects(payload: Mapping[str, Any]) -> Iterator[str]:
    for key in OBJECT_KEYS:
        if isinstance(payload.get(key), str):
            yield payload[key]
    parts = payload.get("parts")
    for part in parts if isinstance(parts, list) else ():
        if isinstance(part, dict):
            yield from _objects(part)


@lru_cache(maxsize=BUCKETS)
def _key(kind: Kind, value: bytes) -> int:
    digest = hashlib.md5(value, usedforsecurity=False).digest()
    return kind * BUCKETS + int.from_bytes(digest[:4], "big") % BUCKETS
