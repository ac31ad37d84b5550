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
    body = {"__annotations__": owner.__names__, **owner.__optional__}
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
    __optional__: ClassVar[dict[str, Any]] = {}
    __match_args__: ClassVar[tuple[str, ...]] = ()

    __dataclass_fields__: ClassVar[Any] = _Fields()

    def __init_subclass__(cls, *, kw_only: bool = False, **more: Any) -> None:
        super().__init_subclass__(**more)
        own = cls.__annotations__
        cls.__names__ = {**cls.__names__, **own}
        given = {name: cls.__dict__[name] for name in own if name in cls.__dict__}
        cls.__optional__ = {**cls.__optional__, **given}
        places = cls.__match_args__ if kw_only else (*cls.__match_args__, *own)
        cls.__match_args__ = places  # type: ignore[misc]  # as a dataclass has them

    def __init__(self, *args: Any, **given: Any) -> None:
        held, names = self.__dict__, self.__names__
        if len(args) + len(given) < len(names):
            held.update(self.__optional__)
        if args:
            places = self.__match_args__[: len(args)]
            if len(args) > len(places) or (given and not given.keys().isdisjoint(places)):
                raise TypeError(f"{type(self).__name__}: too many arguments")
            held.update(zip(places, args, strict=True))
        held.update(given)
        if held.keys() != names.keys():
            wrong = ", ".join(sorted(held.keys() ^ names.keys()))
            raise TypeError(f"{type(self).__name__}: missing or unknown: {wrong}")

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        mine, theirs = self.__dict__, other.__dict__
        if len(mine) == len(theirs) == len(self.__names__):
            return mine == theirs
        # One of them keeps a cached property beside its fields.
        return all(mine[name] == theirs[name] for name in self.__names__)

    def __hash__(self) -> int:
        return hash(tuple(map(self.__dict__.__getitem__, self.__names__)))

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={self.__dict__[name]!r}" for name in self.__names__)
        return f"{type(self).__qualname__}({shown})"

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"cannot assign to {name!r}: a {type(self).__name__} is frozen")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"cannot delete {name!r}: a {type(self).__name__} is frozen")
