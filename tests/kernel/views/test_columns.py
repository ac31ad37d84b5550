"""Documents on a terminal: nothing is wider than it, nothing is lost, commands stay whole."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loopx_kernel.views.columns import cells_of, stacked, wrapped
from loopx_kernel.views.document import Facts, Lines, Section, table
from loopx_kernel.views.render_plain import section_lines

WORDS = st.text(st.sampled_from("ab 漢字é-x"), max_size=120)
SHA = "0ae1e58d5484b7178ac17d15fc1e84bdc49a69cb4fe778529b21bc04fc605423"


def squeezed(text: str) -> str:
    return "".join(text.split())


def lines(section: Section, width: int) -> list[str]:
    return [line.text for line in section_lines(section, width)]


@given(WORDS, st.integers(4, 90))
def test_what_is_wrapped_is_all_there_and_fits(text: str, room: int) -> None:
    found = wrapped(text, room)

    assert all(cells_of(line) <= room for line in found)
    assert squeezed("".join(found)) == squeezed(text)


@pytest.mark.parametrize("width", [46, 60, 80, 100, 120, 200])
def test_a_table_fits_at_every_width_and_loses_nothing(width: int) -> None:
    long = "Convert the components of the cart to CSS variables, and 深色模式 too"
    rows = [
        ("T1", long, "done", SHA, "2026-09-14T10:05:00Z"),
        ("T2", "x", "", SHA, "2026-09-14T10:06:00Z"),
    ]
    section = Section("Evidence", (table(("todo", "title", "outcome", "sha256", "at"), rows),))

    found = lines(section, width)
    # The digest of 64 characters is broken only where the terminal is narrower than it is.
    assert all(cells_of(line) <= width for line in found)
    text = squeezed("".join(found))
    for row in rows:
        assert all(squeezed(word) in text for cell in row for word in cell.split(" "))


def test_without_an_end_of_line_a_row_is_a_line() -> None:
    rows = [("T1", "word " * 60)]
    (_, row) = [line.text for line in section_lines(Section("x", (table(("a", "b"), rows),)))]
    assert row.startswith("  T1  word word") and row.count("word") == 60


def test_a_row_that_is_too_wide_names_what_it_tells() -> None:
    names = ("of", "what", "basis", "sha256")
    found = list(stacked(names, ("T1", "report.xml", "read", SHA), 80))

    assert found == ["T1  report.xml", "    basis read", f"    sha256 {SHA}"]


def test_a_command_stays_in_one_line_and_what_it_does_stands_below() -> None:
    command = "loopx gate approve G2 --goal shop --reason 'why'"
    section = Section("To decide", (Facts(((command, "allows exactly this, once"),)),))

    assert lines(section, 80) == [f"  {command}", "    allows exactly this, once"]


def test_a_sentence_goes_on_below_its_beginning() -> None:
    found = lines(Section("First", (Lines(("word " * 30,), "alert"),)), 46)
    assert len(found) > 3 and all(line.startswith("    word") for line in found[1:-1])


def test_a_column_without_content_is_left_out() -> None:
    found = table(("todo", "reason", "by"), [("T1", None, "codex"), ("T2", "", "codex")])
    assert (found.columns, found.rows) == (("todo", "by"), (("T1", "codex"), ("T2", "codex")))
