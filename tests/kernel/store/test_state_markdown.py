"""What people and their editors do to the state file: no phantom todo, none hidden, none lost."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loopx_kernel.store.state_file import drift, is_own_rendering, render
from loopx_kernel.store.state_parse import parse
from loopx_kernel.store.state_text import (
    Header,
    Row,
    own_lines,
    render_top,
    rest_of,
    to_bytes,
    to_text,
    untouched_seq,
)

HEADER = Header("dark-mode", "hard_lease", "2026-09-16T22:40:00Z", 142)
LATER = replace(HEADER, updated_at="2026-09-16T23:05:00Z", seq=143)
AT = "2026-09-16T23:05:00Z"
ROWS = (
    Row("T1", "Research styles", True, evidence=("dark-mode-notes.md",)),
    Row("T2", "CSS-variable plan", True, evidence=("docs/theme-vars.md",)),
    Row("T3", "Convert components", False, "claude-code", "2026-09-16T22:55:00Z"),
    Row("T4", "Ask for review", False, note="waiting for ci"),
)
AFTER = (*ROWS[:2], replace(ROWS[2], holder=None, ticked=True), *ROWS[3:], Row("T5", "New", False))
TOP = render_top(HEADER, ROWS)
OURS = own_lines(TOP, render_top(LATER, AFTER))
TEXT = TOP + "\n## Handoff\n\n> next: T3\n\n## Notes\n\nmine\n"
Edit = Callable[[str], str]


def at(old: str, new: str) -> Edit:
    """One place of the file changed, as an editor does."""

    def edit(text: str) -> str:
        assert text.count(old) == 1, old
        return text.replace(old, new)

    return edit


def whole(change: Edit) -> Edit:
    return change


T3 = "- [ ] **T3** Convert components\n"
HELD = "  - *held by* claude-code until 2026-09-16T22:55:00Z\n"
NOTE = "  - *note* waiting for ci\n"
FRONT = TOP[: TOP.index("## Todos")]

NO_DRIFT: dict[str, Edit] = {
    # what editors do by themselves
    "crlf": whole(lambda text: text.replace("\n", "\r\n")),
    "cr": whole(lambda text: text.replace("\n", "\r")),
    "bom": whole(lambda text: "\ufeff" + text),
    "two boms": whole(lambda text: "\ufeff\ufeff" + text),
    "no final newline": whole(lambda text: text.rstrip("\n")),
    "many final newlines": whole(lambda text: text + "\n" * 9),
    "blank lines on top": whole(lambda text: "\n \n" + text),
    "trailing spaces": whole(lambda text: text.replace("\n", "  \n")),
    "tabs for indentation": whole(lambda text: text.replace("  - *", "\t- *")),
    "other bullets": whole(lambda text: text.replace("\n- [", "\n* [")),
    "numbered": whole(lambda text: text.replace("\n- [", "\n1. [").replace("  - *", "   - *")),
    "loose list": whole(lambda text: text.replace("\n- [", "\n\n- [")),
    "wrapped title": at("Convert components", "Convert\n  components"),
    "wrapped detail": at("until 2026", "until\n    2026"),
    "capital x": whole(lambda text: text.replace("[x]", "[X]")),
    "aligned by tabs": at("- [ ] **T3** Convert", "-\t[ ] **T3** Convert"),
    # sections and prose around the list
    "moved below": whole(
        lambda text: FRONT + text[text.index("## Handoff") :] + "\n" + TOP[len(FRONT) :]
    ),
    "moved to the end by hand": whole(
        lambda text: text[text.index("## Handoff") :] + "\n" + TOP[len(FRONT) :]
    ),
    "an introduction": at("## Todos", "# Dark mode\n\nWhy we do it.\n\n## Todos"),
    "own section with a list": whole(lambda text: text + "\n- [ ] buy milk\n- [x] **T3** mine\n"),
    "own section between": at("## Handoff", "## Ideas\n\n- [ ] **T9** later\n\n## Handoff"),
    "smaller heading in notes": whole(lambda text: text + "\n### Todos\n\n- [ ] not one\n"),
    "bigger heading in notes": whole(lambda text: text + "\n# Appendix\n\n- [ ] not one\n"),
    "heading in bold": whole(lambda text: text + "\n## **Todos**\n\n- [ ] not one\n"),
    "heading with more words": whole(lambda text: text + "\n## Todos of mine\n\n- [ ] not one\n"),
    "heading by reference": whole(lambda text: text + "\n## T&#111;dos\n\n- [ ] not one\n"),
    "underlined heading": whole(lambda text: text + "\nMine\n----\n\n- [ ] not one\n"),
    "rule in notes": whole(lambda text: text + "\n---\n\ngoal_id: other\n\n---\n"),
    # what looks like structure and is none
    "fence with a heading": whole(lambda text: text + "\n```md\n## Todos\n- [ ] **T9** x\n```\n"),
    "open fence at the end": whole(lambda text: text + "\n```\n## Todos\n- [ ] **T9** x\n"),
    "tilde fence": whole(lambda text: text + "\n~~~\n## Todos\n- [x] **T4** x\n~~~\n"),
    "comment": whole(lambda text: text + "\n<!--\n## Todos\n- [ ] x\n-->\n"),
    "open comment": whole(lambda text: text + "\n<!--\n## Todos\n- [ ] x\n"),
    "quoted list": whole(lambda text: text + "\n> ## Todos\n> - [ ] **T9** x\n"),
    "indented code": whole(lambda text: text + "\n    ## Todos\n    - [ ] x\n"),
    "html": whole(lambda text: text + "\n<details>\n## Todos\n- [ ] x\n</details>\n"),
    "code in the introduction": at("## Todos", "```\n## Todos\n- [ ] x\n```\n\n## Todos"),
    "comment in the introduction": at("## Todos", "<!-- ## Todos\n- [ ] x -->\n\n## Todos"),
    "a paragraph in the list": at(T3, f"A thought\n{T3}"),
    "a bare item in the list": at(T3, f"- call Bo\n{T3}"),
    "a step below a row": at(NOTE, NOTE + "  - ask Bo first\n"),
    "a second paragraph of a row": at(NOTE, NOTE + "\n  more about it\n"),
    "text right below a detail": at(NOTE, NOTE + "and call Bo\n"),
    "a fence in the list": at(T3, f"```\n- [ ] **T9** x\n```\n{T3}"),
    "a comment in the list": at(T3, f"<!-- - [ ] **T9** x -->\n\n{T3}"),
    "a quote in the list": at(T3, f"> - [ ] **T9** x\n\n{T3}"),
    "a table in the list": at(T3, f"| a | b |\n|---|---|\n\n{T3}"),
    "a smaller heading in the list": at(T3, f"### Now\n\n{T3}"),
    "a link definition in the list": at(T3, f"[docs]: https://example.org\n\n{T3}"),
    # the kernel's own words changed
    "holder changed": at("claude-code until", "me, really, until"),
    "note changed": at("waiting for ci", "waiting for Bo"),
    "evidence added": at(T3, "  - *evidence* trust me\n" + T3),
    "holder taken out": at(HELD, ""),
    "a key of one's own": at("seq: 142\n", "seq: 142\nmood: good\n"),
    "a comment on a key": at("seq: 142\n", "seq: 142  # remember this\n"),
    "a comment in the front matter": at("seq: 142\n", "# my comment\nseq: 142\n"),
    "other mode": at("hard_lease", "whatever"),
    "digest changed": whole(lambda text: re.sub("todos_digest: .*", "todos_digest: mine", text)),
    "digest taken out": whole(lambda text: re.sub("todos_digest: .*\n", "", text)),
    "front matter taken out": whole(lambda text: text.removeprefix(FRONT)),
    "front matter broken": at("goal_id: dark-mode", "goal_id: [dark-mode"),
    "front matter not closed": at("---\n\n## Todos", "\n## Todos"),
    "not utf-8": whole(lambda text: text + to_text(b"\ncaf\xe9\n")),
    "nul": whole(lambda text: text + "\nnul \x00 byte\n"),
    "odd line ends": whole(lambda text: text + "\nsep\u2028arator\x85 \x0b \x0c end\n"),
}


@pytest.mark.parametrize("name", NO_DRIFT)
def test_what_is_no_change_of_the_list_survives_every_rendering(name: str) -> None:
    typed = NO_DRIFT[name](TEXT)
    text = to_text(to_bytes(typed))
    parsed = parse(text)
    assert drift(parsed, ROWS) == ()
    rendered = render(
        text, LATER, AFTER, handoff=None, last_handoff=None, at=AT, ours=own_lines(TOP)
    )
    assert drift(parse(rendered), AFTER) == ()
    assert is_own_rendering(parse(rendered))
    assert parse(rendered).header == LATER
    lost = words(text) - words(rendered) - words(TOP)
    assert not {word for word in lost if word not in rendered}
    for section in parsed.sections:
        assert section.text.strip() in rendered
    again = render(
        rendered, LATER, AFTER, handoff=None, last_handoff=None, at=AT, ours=own_lines(rendered)
    )
    assert again == rendered


def words(text: str) -> set[str]:
    """The words of a text, without what only gives it its form."""
    return set(re.findall(r"[^\s\ufeff>|-]+", text)) - {"[X]", "*", "1."}


DRIFT: dict[str, tuple[Edit, list[tuple[str, str | None]]]] = {
    "tick": (at("[ ] **T3**", "[x] **T3**"), [("ticked", "T3")]),
    "tick taken back": (at("[x] **T1**", "[ ] **T1**"), [("unticked", "T1")]),
    "title": (at("Convert components", "Convert it all"), [("retitled", "T3")]),
    "title goes on below": (at(T3 + HELD, T3 + "really\n"), [("retitled", "T3")]),
    "title underlined": (at(T3 + HELD, T3 + "===\n"), [("retitled", "T3")]),
    "row out": (at(T3 + HELD, ""), [("removed", "T3")]),
    "row in": (at(T3, "- [ ] Ask Bo\n" + T3), [("added", None)]),
    "ticked row in": (at(T3, "- [x] Ask Bo\n" + T3), [("added", None), ("ticked", None)]),
    "row in, nested": (at(HELD, HELD + "  - [ ] a step\n"), [("added", None)]),
    "row in, numbered": (at(NOTE, NOTE + "\n7. [ ] Ask Bo\n"), [("added", None)]),
    "row in, below the list": (
        at("\n## Handoff", "\n- [ ] Ask Bo\n\n## Handoff"),
        [("added", None)],
    ),
    "row copied": (at(T3, T3 + HELD + T3), [("added", "T3")]),
    "an id nobody gave": (at(T3, "- [ ] **T9** Ask Bo\n" + T3), [("added", "T9")]),
    "id taken off": (at("**T3** ", ""), [("added", None), ("removed", "T3")]),
    "id changed": (at("**T3**", "**T33**"), [("added", "T33"), ("removed", "T3")]),
    "id joined": (at("**T3** C", "**T3**C"), [("added", None), ("removed", "T3")]),
    "box broken": (at("[ ] **T3**", "[] **T3**"), [("removed", "T3")]),
    "box of another kind": (at("[ ] **T3**", "[-] **T3**"), [("removed", "T3")]),
    "bullet taken off": (at("- [ ] **T3**", "\n[ ] **T3**"), [("removed", "T3")]),
    "row quoted": (at("- [ ] **T3**", "\n> - [ ] **T3**"), [("removed", "T3")]),
    "row commented out": (at(T3 + HELD, f"<!--\n{T3}-->\n"), [("removed", "T3")]),
    "row in a fence": (at(T3 + HELD, f"```\n{T3}```\n"), [("removed", "T3")]),
    "rest fenced off": (at(T3, f"```\n{T3}"), [("removed", "T3"), ("removed", "T4")]),
    "rest commented out": (at(T3, f"<!--\n{T3}"), [("removed", "T3"), ("removed", "T4")]),
    "two lists": (
        lambda text: text + "\n## Todos\n\n- [ ] Ask Bo\n",
        [("added", None)],
    ),
    "two lists, one shouted": (
        lambda text: text + "\n##  TODOS ##\n\n- [ ] Ask Bo\n",
        [("added", None)],
    ),
    "two lists, one after an em space": (
        lambda text: text + "\n## \u2003Todos\n\n- [ ] Ask Bo\n",
        [("added", None)],
    ),
    "two lists, one after a bare cr": (
        lambda text: text + "\nnote\r## Todos\r- [ ] Ask Bo\n",
        [("added", None)],
    ),
    "two lists, one underlined": (
        lambda text: text + "\nTodos\n---\n\n- [ ] Ask Bo\n",
        [("added", None)],
    ),
    "heading gone": (at("## Todos\n", ""), [("removed", f"T{n}") for n in (1, 2, 3, 4)]),
    "heading smaller": (at("## Todos", "### Todos"), [("removed", f"T{n}") for n in (1, 2, 3, 4)]),
    "heading renamed": (at("## Todos", "## Work"), [("removed", f"T{n}") for n in (1, 2, 3, 4)]),
    "fenced off from above": (
        at("## Todos", "```\n## Todos"),
        [("removed", f"T{n}") for n in (1, 2, 3, 4)],
    ),
    "emptied": (lambda text: "", [("removed", f"T{n}") for n in (1, 2, 3, 4)]),
    "blanked": (lambda text: "\n\n\n", [("removed", f"T{n}") for n in (1, 2, 3, 4)]),
    "utf-16": (
        lambda text: to_text(text.encode("utf-16")),
        [("removed", f"T{n}") for n in (1, 2, 3, 4)],
    ),
}


@pytest.mark.parametrize("name", DRIFT)
def test_a_change_of_the_list_is_named_with_its_line_and_no_other_is(name: str) -> None:
    edit, expected = DRIFT[name]
    text = edit(TEXT)
    found = drift(parse(text), ROWS)
    assert [(one.kind, one.todo_id) for one in found] == expected
    assert rest_of(text, TOP) is None
    for one in found:
        assert (one.line is None) == (one.kind == "removed")
        if one.line is not None:
            assert one.text.split()[0] in text.splitlines()[one.line - 1]
    rendered = render(text, LATER, AFTER, handoff=None, last_handoff=None, at=AT, ours=OURS)
    assert drift(parse(rendered), AFTER) == ()


def test_the_table_is_not_read_by_a_parser_that_says_no_to_everything() -> None:
    """Every row of the tables does change the file."""
    for edit in [*NO_DRIFT.values(), *(edit for edit, _ in DRIFT.values())]:
        assert edit(TEXT) != TEXT


LINES = st.lists(
    st.sampled_from(
        [
            *("## Todos\n", "## Notes\n", "# Top\n", "### Sub\n", "Todos\n", "---\n", "===\n"),
            *("- [ ] row\n", "  - [x] nested\n", "1. [ ] **T9** odd\n", "- bare\n", "    code\n"),
            *("```\n", "~~~\n", "<!--\n", "-->\n", "<div>\n", "> - [ ] quoted\n", "\n", "\t\n"),
            *("para\n", "[a]: b\n", "## T&#111;dos\n", "## \u2003Todos\n", "x\r", "y\r\n"),
            *("x\r## Todos\r- [ ] row\n", "## todo\u017f\n", "\x0c## Todos\n"),
        ]
    ),
    max_size=14,
)


@given(LINES)
def test_reading_without_a_parser_never_hides_what_the_parser_sees(lines: list[str]) -> None:
    text = TOP + "\n## Mine\n" + "".join(lines)
    if rest_of(text, TOP) is not None:
        assert drift(parse(text), ROWS) == ()
        assert is_own_rendering(parse(text))
        assert untouched_seq(text) == HEADER.seq


PIECES = st.sampled_from(
    [
        *("- [ ] row\n", "- [x] **T3** Ask for review\n", "  - *note* mine\n", "  para\n", "\n"),
        *("- *earlier* 3\n", "x", " ", "\t", "\r", "\x00", "\ufeff", "&#120;", "\\", "*", "#", "1"),
        *("```\n", "<!--", "    ", "> ", "\n## Todos\n", "---\n", "seq: 7\n", "&nbsp;", "\u2028"),
    ]
)
EDITS = st.lists(
    st.tuples(st.integers(0, 10_000), st.integers(0, 3), st.just("") | PIECES),
    min_size=1,
    max_size=3,
)


@given(EDITS)
def test_what_passes_for_untouched_without_a_parser_is_so_to_the_parser(
    edits: list[tuple[int, int, str]],
) -> None:
    text = TOP + "\n## Mine\n\nA note.\n"
    for place, cut, piece in edits:
        at = place % (len(text) + 1)
        text = text[:at] + piece + text[at + cut :]
    seq = untouched_seq(text)
    if seq:
        parsed = parse(text)
        assert is_own_rendering(parsed)
        assert parsed.header is not None and parsed.header.seq == seq
