"""Types that are like another one but for some of their keys."""

from __future__ import annotations

import sys
from typing import Any, ClassVar, NotRequired, get_origin, get_type_hints

from pydantic import BaseModel
from typing_extensions import TypedDict


def names_of(kind: type) -> dict[str, Any]:
    """What annotations may name that are written for type checkers alone: every public class of
    the kernel, and before those what the module of ``kind`` names."""
    found: dict[str, Any] = {}
    for name, module in sorted(sys.modules.items()):
        if name.startswith("loopx_kernel."):
            found |= {
                key: value
                for key, value in vars(module).items()
                if not key.startswith("_") and getattr(value, "__module__", "") == name
            }
    return found | vars(sys.modules[kind.__module__])


def shape(
    name: str, kind: Any, *, without: tuple[str, ...] = (), also: Any = None, **keys: Any
) -> Any:
    """The JSON object of a record, dataclass or typed dictionary, without some of its keys, and
    with those of ``also`` and other ones."""
    hints = hints_of(kind) | (hints_of(also) if also is not None else {}) | keys
    return TypedDict(  # type: ignore[operator]
        name, {key: value for key, value in hints.items() if key not in without}
    )


def hints_of(kind: Any) -> dict[str, Any]:
    """The types of all keys of a type."""
    hints = get_type_hints(kind, localns=names_of(kind), include_extras=True)
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return {key: hints[key] for key in kind.model_fields}
    optional = getattr(kind, "__optional_keys__", ())
    return {
        key: NotRequired[value]
        if key in optional and get_origin(value) is not NotRequired
        else value
        for key, value in hints.items()
        if get_origin(value) is not ClassVar
    }
