"""Frozen values are dataclasses to whoever uses them."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from dataclasses import asdict, fields, is_dataclass, replace
from functools import cached_property
from typing import Any, Generic, TypeVar

import pytest
from loopx_kernel.value import Value

T = TypeVar("T")


class Point(Value):
    x: int
    y: int = 0

    @property
    def sum(self) -> int:
        return self.x + self.y


class Named(Point, kw_only=True):
    name: str
    tags: tuple[str, ...] = ()


class Box(Value, Generic[T]):
    inside: T


class Empty(Value):
    """No fields at all."""


def test_fields_are_given_by_place_or_by_name() -> None:
    assert (Point(1, 2).x, Point(1, y=2).y, Point(x=3).y) == (1, 2, 0)
    assert Point(1, 2).sum == 3
    assert Named(1, name="a").tags == ()
    assert Box[int](3).inside == 3


@pytest.mark.parametrize(
    "wrong",
    [
        Point,
        lambda: Point(1, 2, 3),
        lambda: Point(1, x=1),
        lambda: Point(1, z=1),
        lambda: Point(y=1, z=1),
        lambda: Named(1, 2, "a"),
        lambda: Named(1),
        lambda: Empty(1),
    ],
)
def test_arguments_that_do_not_fit_are_refused(wrong: Callable[[], object]) -> None:
    with pytest.raises(TypeError):
        wrong()


def test_equal_values_of_one_class_are_equal_and_hash_alike() -> None:
    assert Point(1) == Point(1, 0)
    assert hash(Point(1)) == hash(Point(1, 0))
    assert Point(1) != Point(2)
    assert Named(1, name="a") != Point(1)
    assert Empty() == Empty()


def test_a_value_does_not_change() -> None:
    point = Point(1)
    with pytest.raises(AttributeError):
        point.x = 2  # type: ignore[misc]
    with pytest.raises(AttributeError):
        del point.x
    with pytest.raises(AttributeError):
        point.z = 2  # type: ignore[attr-defined]
    assert point == Point(1)


def test_it_matches_patterns_by_place_and_by_name() -> None:
    match Named(1, 2, name="a"):
        case Named(x, y, name=name):
            assert (x, y, name) == (1, 2, "a")


def test_it_can_be_read() -> None:
    assert repr(Named(1, name="a")) == "Named(x=1, y=0, name='a', tags=())"


def test_dataclasses_takes_it_for_its_own() -> None:
    named = Named(1, name="a")
    assert is_dataclass(Named) and is_dataclass(named)
    assert [field.name for field in fields(Named)] == ["x", "y", "name", "tags"]
    assert asdict(named) == {"x": 1, "y": 0, "name": "a", "tags": ()}
    assert replace(named, y=5) == Named(1, 5, name="a")
    assert [field.name for field in fields(Point)] == ["x", "y"]
    with pytest.raises(TypeError):
        replace(named, z=5)


@pytest.mark.parametrize(
    "again", [copy.copy, copy.deepcopy, lambda v: pickle.loads(pickle.dumps(v))]
)
def test_it_can_be_copied(again: Callable[[Any], Any]) -> None:
    assert again(Named(1, name="a")) == Named(1, name="a")


class Circle(Value):
    radius: int

    @cached_property
    def area(self) -> float:
        return 3.14 * self.radius**2


def test_what_is_remembered_beside_the_fields_makes_no_difference() -> None:
    one, two = Circle(1), Circle(1)
    assert one.area == pytest.approx(3.14)
    assert one == two and hash(one) == hash(two)
    assert one != Circle(2)
    assert repr(one) == "Circle(radius=1)"
