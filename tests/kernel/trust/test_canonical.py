"""The byte form that is hashed and signed."""

from __future__ import annotations

import hashlib
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from loopx_kernel.domain.canonical import canonical, digest
from loopx_kernel.errors import UsageError

_CHARACTERS = st.characters(exclude_categories=["Cs"])
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.text(_CHARACTERS),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(_CHARACTERS), inner),
    max_leaves=10,
)


def _nested(levels: int) -> object:
    value: object = 1
    for _ in range(levels):
        value = [value]
    return value


def test_keys_are_sorted_by_utf16_and_nothing_is_added() -> None:
    value = {"\ufb33": 1, "\U0001f600": [True, None, "é\n\u2028"], "a": {"z": -1, "b": ()}}
    expected = '{"a":{"b":[],"z":-1},"\U0001f600":[true,null,"é\\n\u2028"],"\ufb33":1}'
    assert canonical(value) == expected.encode()


def test_the_digest_is_over_those_bytes() -> None:
    assert digest({"b": 1, "a": 2}) == hashlib.sha256(b'{"a":2,"b":1}').hexdigest()


@given(_VALUES)
@settings(max_examples=100)
def test_it_reads_back_as_the_same_value(value: object) -> None:
    assert json.loads(canonical(value)) == value


@pytest.mark.parametrize(
    ("value", "word"),
    [
        (1.0, "integers"),
        ({"a": [0.5]}, "integers"),
        (float("nan"), "integers"),
        (2**53, "larger"),
        (-(2**53), "larger"),
        ("half \ud800", "Unicode"),
        ({"\ud800": 1}, "Unicode"),
        ({1: "a"}, "key"),
        (b"bytes", "bytes"),
        ({"a": {1, 2}}, "set"),
        (_nested(65), "deeper"),
        (_nested(100_000), "deeper"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_has_no_single_form_is_refused(value: object, word: str) -> None:
    with pytest.raises(UsageError) as refusal:
        canonical(value)
    assert refusal.value.code == "invalid_event"
    assert word in refusal.value.facts["reason"]
    assert refusal.value.facts["reason"] in refusal.value.message


def test_sixty_four_levels_are_allowed() -> None:
    assert canonical(_nested(64)) == b"[" * 64 + b"1" + b"]" * 64
