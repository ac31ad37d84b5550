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
    match value:
        case BaseModel():
            return value.model_dump(mode="json")
        case datetime():
            return format_time(value)
        case Mapping():
            return {str(key): to_json(item) for key, item in value.items()}
        case list() | tuple() | set() | frozenset():
            return [to_json(item) for item in value]
    if is_dataclass(value) and not isinstance(value, type):
        return {item.name: to_json(getattr(value, item.name)) for item in fields(value)}
    return str(value) if isinstance(value, Path) else value
