"""Every way in which one value of a line can be another."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from loopx_kernel.domain import fold
from loopx_kernel.domain.event import Event

from tests.kernel.domain.raw_lines import Line

OTHER_HASH = "b" * 64
WORDS = (
    *("passed", "failed", "inconclusive", "pass", "fail", "pending", "ran", "read", "told"),
    *("done", "progress", "blocked", "approved", "ci", "review", "source", "judge", "go_on"),
    *("replan", "cancel", "agent", "human", "work", "fix", "P0", "P3", "high_risk", "capped"),
    *("T1", "T3", "T4", "T9", "G1", "G9", "O1", "O2", "E1", "E9", "turn-0001", "turn-0009"),
    *("claude-code", "codex", "huang", "tests", "taste", "gh", "0.1", "1", "x", "", "y" * 200),
    *(OTHER_HASH, "2027-01-01T00:00:00Z"),
)
Path = tuple[str | int, ...]


def places(payload: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every value of a payload with its place; lists and objects too, as wholes."""
    if path:
        yield path, payload
    if isinstance(payload, dict):
        for key, inner in payload.items():
            yield from places(inner, (*path, key))
    elif isinstance(payload, list):
        for number, inner in enumerate(payload):
            yield from places(inner, (*path, number))


def left_out(name: str, payload: dict[str, Any], path: Path = ()) -> Iterator[Path]:
    """The places of the keys that a type has and this payload, or a part of it, has not."""
    for key in fold.event_type(name).payload.model_fields.keys() - payload.keys():
        yield (*path, key)
    for number, part in enumerate(payload.get("parts", ())):
        inner = {key: value for key, value in part.items() if key != "type"}
        yield from left_out(part["type"], inner, (*path, "parts", number))


def in_words(payload: Any, path: Path) -> str:
    """A place with the types of parts for their numbers."""
    words = []
    for key in path:
        payload = payload.get(key) if isinstance(payload, dict) else payload[key]
        kind = payload.get("type", "*") if isinstance(payload, dict) else "*"
        words.append(kind if isinstance(key, int) else key)
    return "/".join(words)


def others(value: Any) -> Iterator[Any]:
    """Other values of the kind; ``None`` is for none at all."""
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int):
        yield from (value + 1, value - 1, 0, 7, 2**53)
    elif isinstance(value, str):
        yield from (word for word in WORDS if word != value)
    elif isinstance(value, list):
        yield from ([], value[1:], value[:-1], [*value, *value[:1]], value[::-1])
        yield from (["T1"], ["T9"], ["x"], ["src/**"], ["tests"])
    yield None


def added() -> Iterator[Any]:
    """Values for keys that were left out."""
    yield from (*WORDS, 1, 8, True, ["T1"], ["x"], {"kind": "ci"})
    yield {"action": "publish", "command": "npm publish"}
    yield [{"type": "lease.ended", "todo_id": "T3"}]


def placed(payload: Any, path: Path, value: Any) -> Any:
    """The payload with another value there; ``None`` takes it out."""
    key, *rest = path
    copy = payload.copy()
    if rest:
        copy[key] = placed(payload[key], tuple(rest), value)
    elif value is None:
        del copy[key]
    else:
        copy[key] = value
    return copy


def altered(line: Line) -> Iterator[tuple[str, Event]]:
    """The line with one thing in its payload changed, taken out or put in, and where."""
    payload = line.event.payload
    for path, value in places(payload):
        for other in others(value):
            yield in_words(payload, path), line.with_payload(placed(payload, path, other))
    for path in left_out(line.event.event_type, payload):
        for other in added():
            yield in_words(payload, path), line.with_payload(placed(payload, path, other))
