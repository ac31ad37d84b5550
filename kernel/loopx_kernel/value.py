"""Frozen values whose definition costs next to nothing.

A dataclass compiles its methods one by one where it is defined. A command defines some eighty and
is done before it made half of them, so a tenth of its time went into that.
"""

from __future__ import annotations

from dataclasses import Field, dataclass
from functools import cache
from typing import Any, ClassVar, dataclass_transform


class _Fields:
    """What ``dataclasses`` asks a class for, made when it first asks."""

    def __get__(self, _: object, owner: type[Value]) -> dict[str, Field[Any]]:
        return _dataclass_fields(owner)  # type: ignore[arg-type]  # a class hashes as any other


@cache
def _dataclass_fields(owner: type[Value]) -> dict[str, Field[Any]]:
    defaults = {name: getattr(owner, name) for name in owner.__optional__}
    body = {"__annotations__": owner.__names__, **defaults}
    twin: Any = dataclass(kw_only=True, eq=False, repr=False)(type(owner.__name__, (), body))
    found: dict[str, Field[Any]] = twin.__dataclass_fields__
    return found


@dataclass_transform(frozen_default=True)
class Value:
    """A frozen dataclass to whoever uses it: annotations are fields, assignments their defaults.

    It is equal to a value of the same class with equal fields, and hashed by them.
    ``kw_only`` says that its fields are given by name. ``dataclasses`` takes it for one of its
    own. Raises ``TypeError`` for arguments that do not fit, ``AttributeError`` for a change.
    """

    __names__: ClassVar[dict[str, Any]] = {}
    __optional__: ClassVar[frozenset[str]] = frozenset()
    __match_args__: ClassVar[tuple[str, ...]] = ()

    __dataclass_fields__: ClassVar[Any] = _Fields()

    def __init_subclass__(cls, *, kw_only: bool = False, **more: Any) -> None:
        super().__init_subclass__(**more)
        own = cls.__annotations__
        cls.__names__ = {**cls.__names__, **own}
        cls.__optional__ = cls.__optional__ | (own.keys() & cls.__dict__.keys())
        places = cls.__match_args__ if kw_only else (*cls.__match_args__, *own)
        cls.__match_args__ = places  # type: ignore[misc]  # as a dataclass has them

    def __init__(self, *args: Any, **given: Any) -> None:
        held = self.__dict__
        if args:
            named = dict(zip(self.__match_args__, args, strict=False))
            if len(args) > len(named) or not given.keys().isdisjoint(named):
                raise TypeError(f"{type(self).__name__}: too many arguments")
            held.update(named)
        held.update(given)
        if held.keys() != self.__names__.keys():
            _complete(type(self), held)

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return _fields_of(self) == _fields_of(other)

    def __hash__(self) -> int:
        return hash(_fields_of(self))

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={self.__dict__[name]!r}" for name in self.__names__)
        return f"{type(self).__qualname__}({shown})"

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"cannot assign to {name!r}: a {type(self).__name__} is frozen")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"cannot delete {name!r}: a {type(self).__name__} is frozen")


def _complete(cls: type[Value], held: dict[str, Any]) -> None:
    for name in cls.__optional__ - held.keys():
        held[name] = getattr(cls, name)
    if held.keys() != cls.__names__.keys():
        wrong = ", ".join(sorted(held.keys() ^ cls.__names__.keys()))
        raise TypeError(f"{cls.__name__}: missing or unknown: {wrong}")


def _fields_of(value: Value) -> tuple[Any, ...]:
    return tuple(map(value.__dict__.__getitem__, value.__names__))
