"""What a journal line can be found by: event id, type, the objects it is about, actor, time."""

from __future__ import annotations

import contextlib
import hashlib
import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from enum import IntEnum
from functools import lru_cache
from typing import Any

from loopx_kernel.clock import parse_time
from loopx_kernel.errors import Damaged, LoopxError
from loopx_kernel.store.line import decode
from loopx_kernel.store.strict_json import dumps

OBJECT_KEYS = (
    "todo_id",
    "gate_id",
    "source_id",
    "effect_ref",
    "escalation_id",
    "agent_id",
    "turn_id",
    "obligation_id",
)
BUCKETS = 4096
"""How many terms there are of a kind; values that share one are told apart on the line."""

TICK_SECONDS = 600
"""Times are told apart by so much; within it lines are looked at one by one."""
TIMES = 1 << 31
"""The terms of times begin here, far after those of the other kinds; the first is of those that
cannot be read."""
_EPOCH = 1 << 32

_HEAD = re.compile(
    rb'\{"event_id":"([^"\\]+)","goal_id":"[^"\\]+","event_type":"([^"\\]+)"'
    rb',"recorded_at":"([^"\\]+)","actor_kind":"[^"\\]+","actor_agent_id":"([^"\\]+)"'
)
_OBJECT = re.compile(b'"(?:' + "|".join(OBJECT_KEYS).encode() + b')":"([^"]*)"')


class Kind(IntEnum):
    """What a term is made of."""

    ID = 0
    TYPE = 1
    OBJECT = 2
    ACTOR = 3


def key_of(kind: Kind, value: str) -> int:
    """The term of a value."""
    return _key(kind, dumps(value)[1:-1])


def tick_of(moment: datetime) -> int:
    """The term of a time."""
    return _EPOCH + int(moment.timestamp()) // TICK_SECONDS


def terms_of(raw: bytes, tick: int) -> tuple[set[int], int]:
    """The terms of a line's bytes, perhaps more than it has; none where it is no good line.

    That of its time is among them only where it is another than that of the line before, which
    is ``tick``; it is given back for the next line.
    """
    head = _HEAD.match(raw)
    if head is None or b"\\" in raw:
        keys, now = _terms_of_escaped(raw, tick)
    else:
        keys = {_key(Kind.OBJECT, value) for value in _OBJECT.findall(raw)}
        keys |= {_key(Kind.ID, head[1]), _key(Kind.TYPE, head[2]), _key(Kind.ACTOR, head[4])}
        now = _tick(head[3])
    return (keys, tick) if now == tick else (keys | {now}, now)


def objects_of(record: Mapping[str, Any]) -> set[str]:
    """The ids of what an event made or changed, its parts included."""
    return set(_objects(record["payload"]))


def _terms_of_escaped(raw: bytes, tick: int) -> tuple[set[int], int]:
    # One text can be written in several ways here, so it is read for what it means.
    try:
        line = decode(raw, 0)
    except Damaged:
        return set(), tick
    keys = {key_of(Kind.OBJECT, value) for value in objects_of(line.record)}
    event_type, actor = line.record["event_type"], line.record["actor_agent_id"]
    keys |= {key_of(Kind.TYPE, event_type), key_of(Kind.ACTOR, actor)}
    return keys | {key_of(Kind.ID, line.event_id)}, _tick(line.record["recorded_at"].encode())


def _objects(payload: Mapping[str, Any]) -> Iterator[str]:
    for key in OBJECT_KEYS:
        if isinstance(payload.get(key), str):
            yield payload[key]
    parts = payload.get("parts")
    for part in parts if isinstance(parts, list) else ():
        if isinstance(part, dict):
            yield from _objects(part)


@lru_cache(maxsize=64)
def _tick(text: bytes) -> int:
    with contextlib.suppress(LoopxError, UnicodeDecodeError):
        return tick_of(parse_time(text.decode()))
    return TIMES


@lru_cache(maxsize=BUCKETS)
def _key(kind: Kind, value: bytes) -> int:
    digest = hashlib.md5(value, usedforsecurity=False).digest()
    return kind * BUCKETS + int.from_bytes(digest[:4], "big") % BUCKETS
