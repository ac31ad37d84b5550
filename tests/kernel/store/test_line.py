"""The journal line: what is written comes back, and nothing else is taken."""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loopx_kernel.errors import Damaged, UsageError
from loopx_kernel.store import line
from loopx_kernel.store.line import GENESIS, MAX_LINE, SCHEMA_VERSION, decode, encode, seal
from loopx_kernel.store.strict_json import Bad

from tests.kernel.store.ledger import event

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT.filter(lambda text: "\0" not in text),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=20,
)


def sealed(body: bytes) -> bytes:
    """A line with a hash that fits ``body``, whatever that is; without newline."""
    return body + seal(hashlib.sha256(body).hexdigest())[:-1]


def body(**changes: Any) -> bytes:
    """The hashed bytes of an event, with keys changed; ``None`` drops a key."""
    fields = {key: value for key, value in event().items() if key != "request"} | {
        "request": "a" * 64,
        "seq": 1,
        "schema_version": SCHEMA_VERSION,
        "prev": GENESIS,
    }
    for key, value in changes.items():
        fields[key] = value
        if value is None:
            del fields[key]
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode()[:-1]


def outcome(work: Callable[[bytes], Any], raw: bytes) -> Any:
    """What ``work`` gives, or the kind of what it finds wrong."""
    try:
        return work(raw)
    except Bad as bad:
        return bad.kind


def kind_of(raw: bytes) -> str:
    with pytest.raises(Damaged) as caught:
        decode(raw, 7, number=3)
    assert (caught.value.facts["offset"], caught.value.facts["line"]) == (7, 3)
    return str(caught.value.facts["kind"])


@given(st.dictionaries(TEXT, VALUES, max_size=5), TEXT.filter(bool))
def test_what_is_written_comes_back(payload: dict[str, Any], event_id: str) -> None:
    if "\0" in json.dumps(payload, ensure_ascii=False):
        return
    raw, digest = encode(event(payload=payload, event_id=event_id), seq=5, prev="b" * 64)
    assert raw.count(b"\n") == 1
    found = decode(raw[:-1], 100)
    assert found.record["payload"] == payload
    assert (found.event_id, found.seq, found.prev, found.sha256) == (event_id, 5, "b" * 64, digest)
    assert found.position.offset == 100 + len(raw)


def test_the_bytes_are_those_of_the_format() -> None:
    fields = event(payload={"b": 1, "a": "é"}, signed={"signature": "s"})
    raw, digest = encode(dict(reversed(fields.items())), seq=1, prev=GENESIS)
    expected = (
        '{"event_id":"e-1","goal_id":"dark-mode","event_type":"todo.claimed",'
        '"recorded_at":"2026-09-16T22:40:00Z","actor_kind":"agent",'
        '"actor_agent_id":"claude-code","payload":{"b":1,"a":"é"},'
        '"signed":{"signature":"s"},"request":"' + "a" * 64 + '","seq":1,'
        '"schema_version":"loopx_event_v1","prev":"' + "0" * 64 + '"'
    ).encode()
    assert digest == hashlib.sha256(expected).hexdigest()
    assert raw == expected + b',"sha256":"' + digest.encode() + b'"}\n'


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({"payload": {"x": "\ud800"}}, "bad_json"),
        ({"event_id": "\udc00"}, "bad_json"),
        ({"payload": {"x": float("nan")}}, "bad_json"),
        ({"payload": {"x": float("-inf")}}, "bad_json"),
        ({"payload": {"x": 2**53}}, "bad_number"),
        ({"payload": {"x": -(10**5000 - 1)}}, "bad_json"),
        ({"payload": {"x": {1, 2}}}, "bad_json"),
        ({"payload": {"x": 1, 1: 2, "1": 3}}, "duplicate_key"),
        ({"payload": {"x": nested(31)}}, "too_deep"),
        ({"payload": {"x": nested(100_000)}}, "bad_json"),
        ({"payload": {"x": "y" * MAX_LINE}}, "too_long"),
        ({"payload": []}, "bad_record"),
        ({"event_id": ""}, "bad_record"),
        ({"event_id": 3}, "bad_record"),
        ({"extra": 3}, "bad_record"),
        ({"seq": 3}, "bad_record"),
    ],
)
def test_what_could_not_be_read_back_is_refused_on_writing(
    changes: dict[str, Any], kind: str
) -> None:
    with pytest.raises(UsageError) as caught:
        encode(event(**changes), seq=1, prev=GENESIS)
    assert (caught.value.code, caught.value.facts["kind"]) == ("invalid_event", kind)


def test_a_missing_key_is_refused_on_writing() -> None:
    fields = event()
    del fields["request"]
    with pytest.raises(UsageError):
        encode(fields, seq=1, prev=GENESIS)


def test_the_deepest_allowed_nesting_is_taken() -> None:
    raw, _ = encode(event(payload={"x": nested(30), "y": "[" * 100}), seq=1, prev=GENESIS)
    assert decode(raw[:-1], 0).record["payload"]["x"] == nested(30)


@pytest.mark.parametrize(
    ("raw", "kind"),
    [
        (b"", "bad_json"),
        (b"{}", "bad_hash"),
        (b'{"torn":', "bad_json"),
        (b"\0" * 500, "nul"),
        (b"\xef\xbb\xbf" + sealed(body()), "line_ends_changed"),
        (sealed(body()) + b"\r", "line_ends_changed"),
        ("\ufeff{}".encode("utf-16-le"), "not_utf8"),
        (sealed(body()).replace(b"T1", b"T2"), "bad_hash"),
        (sealed(body(payload={"x": "y"}).replace(b'"y"', b'"\xff"')), "not_utf8"),
        (sealed(b"[" * 100_000), "too_deep"),
        (sealed(body(payload={"x": 1}).replace(b":1}", b":NaN}")), "bad_number"),
        (sealed(body(payload={"x": 1}).replace(b":1}", b":1e999}")), "bad_number"),
        (sealed(body(payload={"x": 1}).replace(b":1}", b":" + b"9" * 5000 + b"}")), "bad_number"),
        (sealed(body(payload={"x": 1}).replace(b":1}", b':1,"x":2}')), "duplicate_key"),
        (sealed(body(payload={"x": "y"}).replace(b'"y"', b'"\\ud800"')), "lone_surrogate"),
        (sealed(body(payload={"x": "y"}).replace(b'"y"', b'"\\u00')), "bad_json"),
        (sealed(b'["a"'), "bad_json"),
        (b"x" * (MAX_LINE + 1), "too_long"),
        (sealed(body(goal_id=None)), "bad_record"),
        (sealed(body(extra=1)), "bad_record"),
        (sealed(body(seq=0)), "bad_record"),
        (sealed(body(seq=True)), "bad_record"),
        (sealed(body(seq="1")), "bad_record"),
        (sealed(body(prev="A" * 64)), "bad_record"),
        (sealed(body(payload=[])), "bad_record"),
        (sealed(body(schema_version="other")), "bad_record"),
        (sealed(body(schema_version=1)), "bad_record"),
        (sealed(body().replace(b'"e-1"', b'"e\\u002d1"')), "bad_record"),
        (sealed(body().replace(b'{"event_id"', b'{ "event_id"')), "bad_record"),
    ],
)
def test_every_kind_of_bad_line_is_named(raw: bytes, kind: str) -> None:
    assert kind_of(raw) == kind


def test_a_newer_format_is_told_apart_from_damage() -> None:
    with pytest.raises(Damaged) as caught:
        decode(sealed(body(schema_version="loopx_event_v2")), 0)
    assert caught.value.code == "format_too_new"


def test_a_surrogate_pair_written_as_escapes_is_one_character() -> None:
    raw = sealed(body(payload={"x": "y"}).replace(b'"y"', b'"\\ud83d\\ude00"'))
    assert decode(raw, 0).record["payload"] == {"x": "😀"}


@given(st.data())
def test_the_quick_way_takes_nothing_that_the_strict_way_refuses(data: st.DataObject) -> None:
    changes = data.draw(
        st.dictionaries(
            st.sampled_from(["event_id", "payload", "seq", "prev", "extra", "schema_version"]),
            VALUES | st.sampled_from([0, 1, True, "", 'a"b', "b" * 64, "loopx_event_v1", {"n": 1}]),
            max_size=2,
        )
    )
    whole = body(**changes)
    at = data.draw(st.integers(0, len(whole)))
    put = data.draw(st.sampled_from([b"", b"", b" ", b"\\u0041", b"\xff", b"9" * 20, b"[" * 40]))
    raw = sealed(whole[:at] + put + whole[at:])
    with contextlib.suppress(Bad):
        quick = line._plainly_good(raw)
        assert quick is None or quick == outcome(line._checked, raw)


def test_nearly_every_line_goes_the_quick_way() -> None:
    for text in ("plain", "漢 \u2028", 'quoted " and \\ and \n', ""):
        raw, _ = encode(event(payload={"note": text}), seq=3, prev="b" * 64)
        assert line._plainly_good(raw[:-1]) is not None
