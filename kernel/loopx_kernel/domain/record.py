"""The base of every model, and the value types that models share."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    WithJsonSchema,
)

from loopx_kernel.clock import format_time, parse_time
from loopx_kernel.errors import LoopxError


class Record(BaseModel):
    """An immutable value: unknown keys are refused, nothing is coerced."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """The same value with some fields replaced, unchecked, as in pydantic's own.

        A fold makes several for each line; without private and extra fields this is quicker.
        """
        if deep:
            return super().model_copy(update=update, deep=True)
        changes = update or {}
        copied = type(self).__new__(type(self))
        object.__setattr__(copied, "__dict__", {**self.__dict__, **changes})
        fields = self.__pydantic_fields_set__
        if not fields.issuperset(changes):
            fields = fields | changes.keys()
        object.__setattr__(copied, "__pydantic_fields_set__", fields)
        object.__setattr__(copied, "__pydantic_extra__", None)
        object.__setattr__(copied, "__pydantic_private__", None)
        return copied


_WRITTEN = re.compile(
    "[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:[.][0-9]{3})?Z", re.ASCII
)


def _to_time(value: Any) -> datetime:
    if isinstance(value, datetime):
        if value.tzinfo is None:
            raise ValueError("a time needs a zone")
        return _as_written(value.astimezone(UTC))
    if isinstance(value, str):
        try:
            # As the kernel writes it: a state holds thousands of them.
            if _WRITTEN.fullmatch(value):
                return datetime.fromisoformat(value)
            return _as_written(parse_time(value))
        except LoopxError as error:
            raise ValueError(error.message) from None
    raise ValueError("a time is RFC 3339 text")


def _as_written(moment: datetime) -> datetime:
    """Cut to what the text form holds, so that a value equals its own replay."""
    if moment.microsecond % 1000 == 0:
        return moment
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)


Time = Annotated[
    datetime,
    BeforeValidator(_to_time),
    PlainSerializer(format_time, return_type=str, when_used="json"),
]
"""An aware UTC time; RFC 3339 with ``Z`` in JSON."""


def _to_spelled(value: Any) -> str:
    if isinstance(value, str):
        _to_time(value)
        return value
    return format_time(_to_time(value))


SpelledTime = Annotated[
    str, BeforeValidator(_to_spelled), WithJsonSchema({"type": "string", "format": "date-time"})
]
"""A time in the very spelling in which it stands, for what is signed as it is written."""

Int = Annotated[int, Field(strict=True, ge=-(2**53), le=2**53)]
Count = Annotated[int, Field(strict=True, ge=0, le=2**53)]
Seconds = Annotated[int, Field(strict=True, ge=1, le=10 * 365 * 86400)]
"""A length of time, from a second to ten years."""
Flag = Annotated[bool, Field(strict=True)]
Hex = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Name = Annotated[str, Field(min_length=1, max_length=128)]
Line = Annotated[str, Field(max_length=4000)]
