"""The parsers of keys and signatures, on what becomes of good input."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fuzz_trust import TARGETS, samples

CHANGES = st.lists(
    st.tuples(
        st.sampled_from(["flip", "cut", "put", "double", "swap"]),
        st.integers(0, 10_000),
        st.binary(min_size=1, max_size=8),
    ),
    max_size=6,
)


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[bytes]]:
    return samples(tmp_path_factory.mktemp("good"))


def changed(data: bytes, changes: list[tuple[str, int, bytes]]) -> bytes:
    """The input after some accidents."""
    for kind, place, extra in changes:
        at = place % (len(data) + 1)
        size = len(extra)
        match kind:
            case "flip" if at < len(data):
                data = data[:at] + bytes([data[at] ^ (extra[0] or 1)]) + data[at + 1 :]
            case "cut":
                data = data[:at] + data[at + size :]
            case "put":
                data = data[:at] + extra + data[at:]
            case "double":
                data = data[:at] + data[at : at + 40] * 2 + data[at + 40 :]
            case "swap":
                data = data[at:] + data[:at]
    return data


@pytest.mark.parametrize("name", TARGETS)
@given(which=st.integers(0, 10), changes=CHANGES)
@settings(max_examples=300)
def test_whatever_becomes_of_it(
    good: dict[str, list[bytes]], name: str, which: int, changes: list[tuple[str, int, bytes]]
) -> None:
    TARGETS[name](changed(good[name][which % len(good[name])], changes))


@pytest.mark.parametrize("name", TARGETS)
@given(data=st.binary(max_size=400))
@settings(max_examples=150)
def test_any_bytes(name: str, data: bytes) -> None:
    TARGETS[name](data)


@pytest.mark.parametrize("name", TARGETS)
def test_good_samples_are_good(good: dict[str, list[bytes]], name: str, tmp_path: Path) -> None:
    for sample in good[name]:
        TARGETS[name](sample)
    assert changed(good[name][0], [("put", 3, b"x")]) != good[name][0]
