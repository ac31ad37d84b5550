"""Values of the kernel as JSON-ready values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from loopx_kernel.clock import format_time


def to_json(value: Any) -> Any:
    """Dataclasses and models become objects, times RFC 3339, tuples lists. Computed
    properties that a reader relies on are not fields and are added by whoever prints."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if is_dataclass(value) and not isinstance(value, type):
        return {item.name: to_json(getattr(value, item.name)) for item in fields(value)}
    if isinstance(value, datetime):
        return format_time(value)
    if isinstance(value, Mapping):
        return {str(key): to_json(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [to_json(item) for item in value]
    if isinstance(value, Path):
        return str(value)
    return value
