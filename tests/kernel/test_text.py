"""Text from elsewhere: nothing that hides or moves may reach a screen."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from loopx_kernel.errors import UsageError
from loopx_kernel.text import check_line, hidden_count, safe, safe_block

_NASTY = st.sampled_from(
    "\x1b\x07\r\n\t\x9b\u200b\u200d\ufe0f\ufe0e\u20e3\u202e\u2028\x85\u0301\u0e34 \u3000\ud800"
    "\U000e0041\U000e0100\u2800\u3164\u00ada1漢👩❤⚠\U0001f3fd\U0001f1e9"
)
_TEXT = st.text(st.one_of(_NASTY, st.characters()), max_size=60)


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("A\x1b]52;c;aGk=\x07", "A␛]52;c;aGk=␇"),
        ("\x1b[2J", "␛[2J"),
        ("\x9b31m", "⟨U+009B⟩31m"),
        ("one\ntwo\r\tthree\x7f", "one␤two␍␉three␡"),
        ("stag\u200bing", "stag⟨U+200B⟩ing"),
        ("pay \u202e001", "pay ⟨U+202E⟩001"),
        ("a\u2028b\u2029c\x85d", "a⟨U+2028⟩b⟨U+2029⟩c⟨U+0085⟩d"),
        ("x\U000e0100\U000e0041", "x⟨U+E0100⟩⟨U+E0041⟩"),
        ("half \ud800", "half ⟨U+D800⟩"),
        ("soft\u00adhyphen \ufeff", "soft⟨U+00AD⟩hyphen ⟨U+FEFF⟩"),
        ("blank \u2800\u3164", "blank ⟨U+2800⟩⟨U+3164⟩"),
        ("a\u200db", "a⟨U+200D⟩b"),
        ("a\ufe0f", "a⟨U+FE0F⟩"),
        ("ok" + " " * 300 + "&& rm -rf", "ok␣×300&& rm -rf"),
        ("ok" + "\u00a0\u3000" * 15 + "x", "ok␣×30x"),
        ("e" + "\u0301" * 6, "e" + "\u0301" * 4 + "⟨U+0301⟩⟨U+0301⟩"),
        ("\u0301start", "⟨U+0301⟩start"),
        ("a\u200b\u0301", "a⟨U+200B⟩⟨U+0301⟩"),
        ("⚠\u0301\ufe0f", "⚠\u0301⟨U+FE0F⟩"),
        ("👩\u200dx", "👩⟨U+200D⟩x"),
        ("x\u200d👩", "x⟨U+200D⟩👩"),
        ("1\ufe0fx", "1⟨U+FE0F⟩x"),
    ],
)
def test_what_hides_is_shown(raw: str, shown: str) -> None:
    assert safe(raw) == shown


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Ship the dark mode, v2 [/x] [@click=app.boom]x[/]",
        "200×漢字かな, naïve cafe\u0301, עִברית, हिन्दी, ไทยที่นี่",
        "family 👩‍👩‍👧, heart ❤️‍🔥, flag 🇩🇪, keycap 1️⃣, warning ⚠️, wave 👋🏽, pride 🏳️‍🌈",
        "exactly" + " " * 20 + "twenty spaces",
    ],
)
def test_readable_text_stays_as_it_is(text: str) -> None:
    assert safe(text) == text
    assert hidden_count(text) == 0


def test_a_block_keeps_its_lines_and_opens_its_tabs() -> None:
    raw = "first\r\n\tsecond\x1b[2J\n" + " " * 30 + "third"
    assert safe_block(raw) == "first\n    second␛[2J\n␣×30third"
    assert hidden_count(raw, block=True) == 31


def test_hidden_characters_are_counted() -> None:
    assert hidden_count("stag\u200bing\u202e") == 2
    assert hidden_count("two\nlines") == 1
    assert hidden_count("two\nlines", block=True) == 0
    assert hidden_count("a" + " " * 25) == 25


@given(_TEXT)
@settings(max_examples=100)
def test_nothing_invisible_survives(raw: str) -> None:
    for shown, allowed in ((safe(raw), {"\u200d"}), (safe_block(raw), {"\u200d", "\n"})):
        left = {c for c in shown if unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp", "Cs")}
        assert left <= allowed
        assert not any("\ufe00" <= c <= "\ufe0e" or c >= "\U000e0000" for c in shown)
        assert " " * 21 not in shown


@given(_TEXT)
@settings(max_examples=100)
def test_showing_twice_is_showing_once(raw: str) -> None:
    assert safe(safe(raw)) == safe(raw)
    assert safe_block(safe_block(raw)) == safe_block(raw)
    assert hidden_count(safe(raw)) == 0
    assert (hidden_count(raw) == 0) == (safe(raw) == raw)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("", "blank"),
        (" \u3000", "blank"),
        ("\u200b\u2060", "blank"),
        ("two\nlines", "one line"),
        ("two\u2028lines", "one line"),
        ("bell\x07", "control"),
        ("tab\there", "control"),
        ("next\x85line", "control"),
        ("half \ud800", "surrogate"),
        ("x" * 501, "500"),
    ],
)
def test_a_title_that_is_no_line_is_refused(text: str, word: str) -> None:
    with pytest.raises(UsageError) as refusal:
        check_line(text, "title")
    assert refusal.value.code == "invalid_value"
    assert refusal.value.facts["field"] == "title"
    assert word in refusal.value.message
    assert text not in refusal.value.message or text == ""


def test_a_good_title_is_kept_to_the_character() -> None:
    for title in ("cafe\u0301 ", "👩‍👩‍👧", "x" * 500):
        assert check_line(title, "title") == title
    assert check_line("x" * 9, "note", limit=9) == "x" * 9
