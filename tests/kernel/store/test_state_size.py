"""Long lists, long rows and titles of every script: read in time, and back as they were."""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Callable

import pytest
from loopx_kernel.store.state_file import drift, render
from loopx_kernel.store.state_parse import parse
from loopx_kernel.store.state_text import Row, render_top, to_bytes, to_text

from tests.kernel.store.test_state_markdown import AT, HEADER, LATER, OURS, ROWS, TEXT


def steps_of(act: Callable[[], object]) -> int:
    """How many calls a piece of work makes, in Python and below it."""
    count = 0

    def counted(*_: object) -> None:
        nonlocal count
        count += 1

    before = sys.getprofile()
    sys.setprofile(counted)
    try:
        act()
    finally:
        sys.setprofile(before)
    return count


def test_the_work_grows_with_the_list_and_not_faster() -> None:
    def work(size: int) -> int:
        rows = [Row(f"T{n}", f"Work *{n}*", n % 2 == 0, note="a note") for n in range(1, size + 1)]
        text = render_top(HEADER, rows).replace("- *note*", "- stray\n  - *note*")

        def read() -> None:
            parsed = parse(text, OURS)
            assert drift(parsed, rows) == ()
            assert len(parsed.problems) == size
            render(text, LATER, rows, handoff=None, last_handoff=None, at=AT, ours=OURS)

        return steps_of(read)

    small, large = work(500), work(5_000)
    assert large < small * 10 * 1.1


def test_a_row_of_blanks_without_end_is_read_as_well() -> None:
    """Trying each blank in turn for the end of a line would take hours."""
    text = TEXT.replace("Convert components", "Convert" + " " * 1_000_000 + "components")
    assert drift(parse(text), ROWS) == ()


TITLES = {
    "composed": "Größe é",
    "decomposed": "Gro\u0308ße e\u0301",
    "right to left": "עברית و العربية",
    "marks of direction": "a\u202eb\u202cc \u2066d\u2069",
    "zero width": "stag\u200bing\u200d\u2060",
    "family": "👩‍👩‍👧 ⚠️ 🇵🇱",
    "cjk": "漢字、「引用」",
    "look-alike": "stаging",
    "tags": "x\U000e0041\U000e0100",
    "markup": "[x] **T9** `a` <b> &amp; \\* ~~no~~ # - + 1.",
    "separators": "a\u2028b\u2029c\u0085d",
}


@pytest.mark.parametrize("name", TITLES)
def test_a_title_of_any_script_comes_back_code_point_by_code_point(name: str) -> None:
    rows = (Row("T1", TITLES[name], False), Row("T2", "after it", True))
    text = to_text(to_bytes(render_top(HEADER, rows)))
    for saved in (text, text.replace("\n", "\r\n"), "\ufeff" + text):
        parsed = parse(to_text(to_bytes(saved)))
        assert [row.title for row in parsed.rows] == [TITLES[name], "after it"]
        assert drift(parsed, rows) == ()
    other = unicodedata.normalize("NFD" if name == "composed" else "NFC", TITLES[name])
    if other != TITLES[name]:
        changed = parse(render_top(HEADER, (Row("T1", other, False), rows[1])))
        assert [one.kind for one in drift(changed, rows)] == ["retitled"]
