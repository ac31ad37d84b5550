"""The state file: rows survive Markdown, people's text survives the kernel, drift is by meaning."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loopx_kernel.store.state_file import Difference, drift, is_own_rendering, render
from loopx_kernel.store.state_parse import Parsed, parse
from loopx_kernel.store.state_text import (
    Header,
    Row,
    escape,
    render_front,
    render_todos,
    to_bytes,
    to_text,
    todos_digest,
    unchanged,
    unescape,
    untouched_seq,
)

from tests.patience import PATIENCE

HEADER = Header("dark-mode", "hard_lease", "2026-09-16T22:40:00Z", 142)
ROWS = (
    Row("T1", "Write the schema", True, evidence=("out/junit.xml", "a_b*c.txt")),
    Row("T2", "Switch *all* colours [漢] 😀", False, "claude-code", "2026-09-16T22:55:00Z"),
    Row("T3", "Ask for review", False, note="waiting for ci"),
)
AT = "2026-09-16T22:41:00Z"
TRICKY = st.sampled_from(
    [
        "",
        " ",
        "- [ ] fake",
        "## Todos",
        "```",
        "<!--",
        "---",
        "**T9** not an id",
        "a\\",
        "\\*",
        "&amp; &#42; &copy R&D",
        "[x]: y",
        "1. one",
        "> quote",
        "    code",
        "tail \u3000",
        "\u2028 \u2029",
        "<b>x</b> https://x.y/?a=1&b=2",
        "__init__ snake_case _x_",
        "~~gone~~ | a | b |",
    ]
)

ANYTHING = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=60)
MARKUP = st.text("\\`*_[]<>&#;:~|-+ x1T.\u3000", max_size=20)
TITLES = ANYTHING | MARKUP | TRICKY


def text_of(
    rows: tuple[Row, ...] = ROWS, old: str | None = None, handoff: str | None = None
) -> str:
    return render(old, HEADER, rows, handoff=handoff, last_handoff=None, at=AT)


def meaning(parsed: Parsed) -> list[tuple[str | None, str, bool]]:
    return [(row.todo_id, row.title, row.ticked) for row in parsed.rows]


def again(text: str, handoff: str | None = None, last: str | None = None) -> str:
    return render(text, HEADER, ROWS, handoff=handoff, last_handoff=last, at=AT)


def sections(text: str) -> list[str]:
    return [section.name for section in parse(text).sections]


@given(st.lists(st.tuples(TITLES, st.booleans(), TITLES, TITLES), max_size=4), TITLES)
def test_every_title_comes_back_from_markdown(
    drawn: list[tuple[str, bool, str, str]], handoff: str
) -> None:
    rows = tuple(
        Row(f"T{number}", title, ticked, holder, None, (note,), note)
        for number, (title, ticked, holder, note) in enumerate(drawn, 1)
    )
    text = text_of(rows, handoff=handoff)
    parsed = parse(text)
    assert meaning(parsed) == [(row.todo_id, row.title, row.ticked) for row in rows]
    assert (parsed.header, parsed.problems, parsed.stray) == (HEADER, (), "")
    assert parsed.todos_digest == todos_digest(rows)
    assert is_own_rendering(parsed)
    assert drift(parsed, rows) == ()
    assert unchanged(text, HEADER, rows)
    assert untouched_seq(text) == HEADER.seq or not rows
    assert render(text, HEADER, rows, handoff=handoff, last_handoff=handoff, at=AT) == text


@given(TITLES)
def test_escaping_is_undone(title: str) -> None:
    assert unescape(escape(title)) == title
    assert len(escape(title).splitlines()) <= 1


def test_the_rendering_is_what_people_expect() -> None:
    assert text_of(handoff="chose A\n\ndropped B") == (
        "---\n"
        "goal_id: dark-mode\n"
        "handoff_mode: hard_lease\n"
        "updated_at: 2026-09-16T22:40:00Z\n"
        "seq: 142\n"
        f"todos_digest: {todos_digest(ROWS)}\n"
        "---\n"
        "\n"
        "## Todos\n"
        "\n"
        "- [x] **T1** Write the schema\n"
        "  - *evidence* out/junit.xml\n"
        "  - *evidence* a_b\\*c.txt\n"
        "- [ ] **T2** Switch \\*all\\* colours \\[漢\\] 😀\n"
        "  - *held by* claude-code until 2026-09-16T22:55:00Z\n"
        "- [ ] **T3** Ask for review\n"
        "  - *note* waiting for ci\n"
        "\n"
        "## Handoff\n"
        "\n"
        "> chose A\n"
        ">\n"
        "> dropped B\n"
        "\n"
    )


def test_the_fast_path_needs_neither_parser() -> None:
    code = (
        "import sys\n"
        "from tests.kernel.store.test_state_file import HEADER, ROWS, text_of\n"
        "from loopx_kernel.store import state_text\n"
        "names = {'markdown_it', 'ruamel.yaml'}\n"
        "for name in [n for n in sys.modules if n.split('.')[0] in ('markdown_it', 'ruamel')]:\n"
        "    del sys.modules[name]\n"
        "top = state_text.render_front(HEADER, ROWS) + state_text.render_todos(ROWS)\n"
        "assert state_text.unchanged(top + '\\n## Notes\\n', HEADER, ROWS)\n"
        "assert not names & set(sys.modules), sorted(names & set(sys.modules))\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=PATIENCE)


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("[ ] **T2**", "[x] **T2**"),
        lambda text: text.replace("Ask for", "Beg for"),
        lambda text: text + "- [ ] one more\n",
        lambda text: text + "\n- [ ] one more\n",
        lambda text: text + "\n## Notes\n\n## Todos\n\n- [ ] one more\n",
        lambda text: text + "\n## Notes\n\nTodos\n-----\n\n- [ ] one more\n",
        lambda text: text.replace("seq: 142", "seq: 141"),
        lambda text: "\n" + text,
    ],
)
def test_the_fast_path_never_hides_a_change(change: object) -> None:
    assert callable(change)
    assert not unchanged(change(text_of()), HEADER, ROWS)


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.replace("\n", "\r"),
        lambda text: to_text(b"\xef\xbb\xbf" + text.encode()),
        lambda text: text.rstrip("\n"),
        lambda text: text.replace("- [", "* ["),
        lambda text: text.replace("- [", "-   ["),
        lambda text: text.replace("  - *", "\t- *"),
        lambda text: text.replace("[x]", "[X]"),
        lambda text: text.replace("\n- [", "\n\n- ["),
        lambda text: text.replace("Write the", "Write   the"),
        lambda text: text.replace("Write the schema", "Write the\n  schema"),
        lambda text: text.replace("  - *held by* claude-code until 2026-09-16T22:55:00Z\n", ""),
        lambda text: text.replace("## Todos", "## todos ##"),
        lambda text: text.replace("## Todos\n", "Todos\n-----\n"),
        lambda text: text.replace("## Todos", "# Dark mode\n\nIntro.\n\n## Notes\n\nx\n\n## Todos"),
        lambda text: text.replace("seq: 142", "seq:   142   # mine"),
    ],
)
def test_what_editors_and_people_do_to_the_form_is_no_drift(change: object) -> None:
    assert callable(change)
    parsed = parse(change(text_of()))
    assert drift(parsed, ROWS) == ()
    assert parsed.header == HEADER
    assert parsed.problems == ()
    assert is_own_rendering(parsed)


def test_rows_in_another_order_are_no_drift() -> None:
    text = render_front(HEADER, ROWS) + render_todos(tuple(reversed(ROWS)))
    assert drift(parse(text), ROWS) == ()
    assert is_own_rendering(parse(text))


def test_a_tick_on_a_new_row_is_a_change_of_its_own() -> None:
    text = text_of().replace("## Todos\n\n", "## Todos\n\n- [x] **T9** odd\n\n", 1)
    assert drift(parse(text), ROWS) == (
        Difference("added", "T9", 11, "odd"),
        Difference("ticked", None, 11, "odd"),
    )


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("[ ] **T2**", "[x] **T2**", ("ticked", "T2", 14, "Switch *all* colours [漢] 😀")),
        ("[x] **T1**", "[ ] **T1**", ("unticked", "T1", 11, "Write the schema")),
        ("Ask for review", "Ask *Bo*", ("retitled", "T3", 16, "Ask *Bo*")),
        ("- [ ] **T3** Ask for review\n", "", ("removed", "T3", None, "Ask for review")),
        ("## Todos\n\n", "## Todos\n\n- [ ] new thing\n", ("added", None, 11, "new thing")),
        ("## Todos\n\n", "## Todos\n\n1. [ ] **T9** odd\n\n", ("added", "T9", 11, "odd")),
        ("## Todos\n\n", "## Todos\n\n- [x] **T1** again\n", ("unticked", "T1", 0, "")),
    ],
)
def test_what_a_person_changed_is_named_with_its_line(
    old: str, new: str, expected: tuple[str, str | None, int | None, str]
) -> None:
    found = drift(parse(text_of().replace(old, new, 1)), ROWS)
    if new.endswith("again\n"):
        kinds = {(one.kind, one.todo_id) for one in found}
        assert kinds == {("retitled", "T1"), ("added", "T1"), ("ticked", None)}
        return
    assert found == (Difference(*expected),)  # type: ignore[arg-type]


def test_an_indented_new_row_is_seen() -> None:
    text = text_of().replace("  - *note* waiting for ci\n", "  - [ ] a step\n  - *note* x\n")
    assert drift(parse(text), ROWS) == (Difference("added", None, 17, "a step"),)


@pytest.mark.parametrize(
    "hidden",
    [
        "```\n- [ ] fake\n## Todos\n```\n",
        "~~~\n- [x] **T2** fake\n~~~\n",
        "<!--\n- [ ] fake\n## Todos\n-->\n",
        "> - [ ] fake\n> ## Todos\n",
        "    - [ ] fake\n",
        "<div>\n- [ ] fake\n</div>\n",
    ],
)
@pytest.mark.parametrize("place", ["\n## Notes\n\n", "\n", "before"])
def test_code_comments_and_quotes_never_make_phantom_rows(hidden: str, place: str) -> None:
    text = text_of()
    if place == "before":
        text = text.replace("## Todos", f"Intro\n\n{hidden}\n## Todos")
    else:
        text += place + "para\n\n" + hidden
    assert drift(parse(text), ROWS) == ()
    assert is_own_rendering(parse(again(text)))
    for line in hidden.splitlines():
        assert line in again(text)


@pytest.mark.parametrize("opening", ["```\n", "<!--\n", "~~~~\n", "<div>\n", "> ", "- [ ] ", "* "])
def test_no_hand_over_can_hide_or_invent_todos(opening: str) -> None:
    handoff = f"{opening}## Todos\n- [ ] fake\n---\nx: y\n## Notes\n\r## Todos\r- [ ] fake"
    text = text_of(old=text_of() + "\n## Mine\n\nkeep\n", handoff=handoff)
    parsed = parse(text)
    assert drift(parsed, ROWS) == ()
    assert sections(text) == ["Handoff", "Mine"]
    assert parsed.problems == ()


OTHERS = (
    "## Notes  \r\n\r\n* a\tb  \r\n\r\n\r\n"
    "Setext\n------\ntext without blank line after\n"
    "# A chapter\n\n\n"
    "   ## Indented ##\n```python\n## Todos\n```\n"
    "## Last without newline"
)


def test_other_sections_are_preserved_to_the_byte() -> None:
    text = text_of() + "\n" + OTHERS
    rows = (*ROWS, Row("T4", "another", False))
    rendered = render(text, HEADER, rows, handoff=None, last_handoff=None, at=AT)
    for section in parse(text).sections:
        assert section.text.strip(" ") in rendered
    assert [s.text.strip() for s in parse(rendered).sections] == [
        s.text.strip() for s in parse(text).sections
    ]
    assert len(parse(rendered).rows) == 4
    assert render(rendered, HEADER, rows, handoff=None, last_handoff=None, at=AT) == rendered


@pytest.mark.parametrize(
    "text",
    [
        f"{render_todos(ROWS)}\n# Part\n\n  ## Notes\n\nmine\n",
        f"   ## Notes\n\nmine\n\n{render_todos(ROWS)}",
        "## A\npara\n## Todos\n- [ ] **T2** x\n\nNotes\n-----\n\nmine\n",
        f"{render_todos(ROWS)}\nNotes\n-----\n\nmine\n",
    ],
    ids=["chapter", "indented", "underlined-after-text", "underlined"],
)
def test_a_section_never_becomes_part_of_what_now_stands_before_it(text: str) -> None:
    before = sections(text)
    assert before[-1] == "Notes"
    rendered = again(render_front(HEADER, ROWS) + text)
    assert sections(rendered) == before
    assert again(rendered) == rendered


@given(
    st.lists(
        st.sampled_from(
            [
                "## Notes\n",
                "  ## In\n",
                "Set\n---\n",
                "# Top\n",
                "para\n",
                "\n",
                "- item\n",
                "- [ ] row\n",
                "  deep\n",
                "```\n",
                "<!--\n",
                "-->\n",
                "<div>\n",
                "> q\n",
                "## Todos\n",
                "## Handoff\n",
                "x\r\n",
                "---\n",
                "\t- [x] **T1** z\n",
                "end",
            ]
        ),
        max_size=12,
    ),
    st.booleans(),
)
def test_nothing_a_person_typed_is_lost_and_todos_come_first(lines: list[str], top: bool) -> None:
    typed = "".join(lines)
    text = text_of() + "\n" + typed if top else typed
    rendered = again(text, handoff="next: T2", last=None)
    parsed = parse(rendered)
    assert drift(parsed, ROWS) == ()
    assert parsed.header == HEADER
    # Rows are told as drift, which stops the rendering until a person answers.
    told = " ".join(["Todos", *(row.title for row in parse(text).rows)])
    for word in re.findall(r"[A-Za-z]+", typed):
        assert word in rendered or word in told
    settled = again(rendered, handoff="next: T2", last="next: T2")
    assert again(settled, handoff="next: T2", last="next: T2") == settled


def test_prose_inside_the_list_is_kept_below_and_named() -> None:
    text = text_of().replace(
        "- [ ] **T3**", "  - remember: call Bo\n\n  more about it\n\nA paragraph\n- [ ] **T3**"
    )
    parsed = parse(text)
    assert drift(parsed, ROWS) == ()
    assert [problem.line for problem in parsed.problems] == [16, 18, 20]
    rendered = again(text)
    for typed in ("remember: call Bo", "more about it", "A paragraph"):
        assert typed in rendered
    assert sections(rendered) == [f"Kept from the to-do list {AT}"]
    assert parse(rendered).problems == ()
    assert again(rendered) == rendered


def test_keys_added_to_the_front_matter_are_kept_below() -> None:
    rendered = again(text_of().replace("seq: 142", "seq: 142\nmood: good"))
    assert "> mood: good" in rendered
    assert parse(rendered).problems == ()


@pytest.mark.parametrize(
    ("front", "line"),
    [
        ("", 1),
        ("---\nno end\n", 1),
        ("---\ngoal_id: [\n---\n", 1),
        ("---\na: 1\na: 2\n---\n", 1),
        ("---\n\tx: y\n---\n", 1),
        ("---\n---\n", 1),
        ("---\n" + "[" * 1500 + "\n---\n", 1),
        ("---\n" + "x: y\n" * 90_000 + "---\n", 1),
        ("---\ngoal_id: g\nhandoff_mode: h\nupdated_at: u\nseq: -1\ntodos_digest: d\n---\n", 1),
    ],
    ids=["none", "open", "broken", "twice", "tab", "empty", "deep", "huge", "negative"],
)
def test_an_unreadable_front_matter_is_named_and_the_rows_still_read(front: str, line: int) -> None:
    parsed = parse(front + "\n" + render_todos(ROWS))
    assert parsed.header is None
    assert line in [problem.line for problem in parsed.problems]
    assert [row.todo_id for row in parsed.rows] == ["T1", "T2", "T3"]


def test_a_missing_list_is_named() -> None:
    parsed = parse(render_front(HEADER, ROWS) + "## Notes\n")
    assert "## Todos" in parsed.problems[0].reason
    assert {one.kind for one in drift(parsed, ROWS)} == {"removed"}


def test_bytes_that_are_not_utf8_are_named_and_survive() -> None:
    data = text_of().encode() + b"\n## Notes\n\ncaf\xe9\n"
    parsed = parse(to_text(data))
    assert [(one.line, one.reason) for one in parsed.problems] == [(21, "is not UTF-8")]
    assert to_bytes(again(to_text(data))) == data


def test_crlf_stays_crlf() -> None:
    text = (text_of() + "\n## Notes\n\nx\n").replace("\n", "\r\n")
    assert again(text) == text


def test_a_hand_over_replaces_the_kernels_last_one() -> None:
    first = again(text_of() + "\n## Notes\n\nx\n", handoff="one")
    second = again(first, handoff="two", last="one")
    assert sections(second) == ["Handoff", "Notes"]
    assert "> two" in second
    assert "> one" not in second


def test_a_hand_over_a_person_edited_stays_and_the_next_goes_below_dated() -> None:
    first = again(text_of(), handoff="one").replace("> one", "> one, really")
    second = again(first, handoff="two", last="one")
    assert sections(second) == ["Handoff", f"Handoff {AT}"]
    assert "> one, really" in second
    third = render(
        second, HEADER, ROWS, handoff="three", last_handoff="two", at="2026-10-01T00:00:00Z"
    )
    assert sections(third) == ["Handoff", "Handoff 2026-10-01T00:00:00Z"]
    assert "> two" not in third


def test_a_hand_over_a_person_removed_does_not_come_back_by_itself() -> None:
    first = again(text_of(), handoff="one")
    removed = first[: first.index("## Handoff")]
    assert "one" not in again(removed, handoff="one", last="one")
    assert "> two" in again(removed, handoff="two", last="one")


def test_a_missing_file_is_made_with_the_last_hand_over() -> None:
    text = render(None, HEADER, ROWS, handoff="one", last_handoff="one", at=AT)
    assert "> one" in text
    assert drift(parse(text), ROWS) == ()


def test_a_file_that_merely_is_old_is_told_from_a_changed_one() -> None:
    old = text_of(ROWS[:2])
    assert is_own_rendering(parse(old))
    assert drift(parse(old), ROWS) != ()
    assert not is_own_rendering(parse(old.replace("[ ] **T2**", "[x] **T2**")))
