"""JSON as a journal has it: no key twice, no number a program might read differently."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

MAX_INTEGER = 2**53 - 1


class Bad(Exception):
    """What is wrong with bytes that should be a line: a ``kind`` for programs, and words."""

    def __init__(self, kind: str, what: str) -> None:
        super().__init__(what)
        self.kind = kind
        self.what = what


def parse(text: str) -> Any:
    """The value of a whole text. Raises ``Bad`` or ``ValueError``."""
    return _DECODER.decode(text)


def dumps(value: Any) -> bytes:
    """The one way a value is written: compact, UTF-8, keys in their order."""
    return _ENCODER.encode(value).encode("utf-8")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise Bad("duplicate_key", "an object has a key twice")
    return found


def _integer(text: str) -> int:
    # The length first: turning thousands of digits into a number is slow, then an error.
    if len(text) < 16:
        return int(text)
    if len(text) > 17 or abs(int(text)) > MAX_INTEGER:
        raise Bad("bad_number", "an integer is out of range")
    return int(text)


def _fraction(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise Bad("bad_number", "a number is out of range")
    return number


def _constant(text: str) -> float:
    raise Bad("bad_number", f"{text} is not JSON")


_DECODER = json.JSONDecoder(
    object_pairs_hook=_object,
    parse_int=_integer,
    parse_float=_fraction,
    parse_constant=_constant,
)
scan: Callable[[str, int], tuple[Any, int]] = _DECODER.scan_once  # type: ignore[attr-defined]
"""The value that begins right at a place, and the place after it; raises ``StopIteration``
too. Without ``parse``'s search for white space it is quicker."""
_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)
