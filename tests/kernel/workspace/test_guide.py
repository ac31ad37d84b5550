"""The block for agents in a repo's own page: replaced as a whole, nothing else touched."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loopx_kernel.errors import LoopxError, UsageError
from loopx_kernel.workspace.guide import BEGIN, END, GUIDE, LARGEST, put_guide, with_guide

from tests.cli.command_lines import parse

DOCS = Path(__file__).parents[3] / "docs" / "agents.md"
BLOCK = f"{BEGIN}\n{GUIDE}{END}"
prose = st.text(st.characters(exclude_characters="\r<")).map(lambda text: text.rstrip())


@given(prose, prose, st.sampled_from(["", "old words\n", GUIDE]))
def test_only_what_is_inside_the_fence_is_replaced(before: str, after: str, old: str) -> None:
    page = f"{before}\n{BEGIN}\n{old}{END}\n{after}\n"

    written = with_guide(page)

    assert written == f"{before}\n{BLOCK}\n{after}\n"
    assert with_guide(written) == written


@pytest.mark.parametrize("page", ["", "# Rules\n", "# Rules", "# Rules\r\n\r\nBe kind.\r\n"])
def test_a_page_without_it_gets_it_at_its_end(page: str) -> None:
    written = with_guide(page)

    assert written.startswith(page)
    assert written.replace("\r\n", "\n").endswith(f"{BLOCK}\n")
    assert ("\r\n" in page) == ("\r\n" in written) and written.count("\r\n") in (
        0,
        written.count("\n"),
    )


@pytest.mark.parametrize(
    "page", [BEGIN, END, f"{END}\n{BEGIN}", f"{BLOCK}\n{BLOCK}", f"{BEGIN}\n{BLOCK}"]
)
def test_broken_marks_are_left_to_a_person(page: str) -> None:
    with pytest.raises(UsageError) as refused:
        with_guide(page)

    assert refused.value.code == "invalid_value"


def test_it_is_added_replaced_and_left_alone(tmp_path: Path) -> None:
    page = tmp_path / "AGENTS.md"

    assert put_guide(tmp_path, "AGENTS.md") == "added"
    first = page.stat()
    assert put_guide(tmp_path, "AGENTS.md") == "unchanged"
    assert page.stat() == first
    page.write_text(page.read_text().replace("Every beat", "Each beat"))
    assert put_guide(tmp_path, "AGENTS.md") == "replaced"
    assert page.read_text() == f"{BLOCK}\n"


def test_a_link_inside_the_repo_is_followed(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_text("# Rules\n")
    (tmp_path / "CLAUDE.md").symlink_to("AGENTS.md")

    put_guide(tmp_path, "CLAUDE.md")

    assert (tmp_path / "CLAUDE.md").is_symlink()
    assert BLOCK in (tmp_path / "AGENTS.md").read_text()


def _outside(root: Path) -> str:
    (root / "AGENTS.md").symlink_to(root.parent / "else.md")
    return "AGENTS.md"


def _file(name: str, content: bytes) -> object:
    def make(root: Path) -> str:
        (root / name).write_bytes(content)
        return name

    return make


def _folder(root: Path) -> str:
    (root / "AGENTS.md").mkdir()
    return "AGENTS.md"


@pytest.mark.parametrize(
    ("make", "code"),
    [
        (_outside, "invalid_value"),
        (lambda _: "../AGENTS.md", "invalid_value"),
        (lambda _: "Makefile", "invalid_value"),
        (lambda _: ".loopx/goals/a/ACTIVE_GOAL_STATE.md", "invalid_value"),
        (_file("AGENTS.md", b"\xff\xfe"), "invalid_value"),
        (_file("AGENTS.md", b"x" * (LARGEST + 1)), "too_large"),
        (_file("AGENTS.md", END.encode()), "invalid_value"),
        (_folder, "not_regular"),
    ],
)
def test_other_places_are_refused_and_nothing_changes(tmp_path: Path, make, code: str) -> None:  # type: ignore[no-untyped-def]
    root = tmp_path / "repo"
    root.mkdir()
    name = make(root)
    before = {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()}

    with pytest.raises(LoopxError) as refused:
        put_guide(root, name)

    assert refused.value.code == code
    assert {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()} == before


def test_the_page_about_agents_holds_the_same_block() -> None:
    assert BLOCK in DOCS.read_text("utf-8")


def test_it_is_short_enough_for_a_context_window() -> None:
    assert len(GUIDE) < 3000


def test_every_command_it_names_exists() -> None:
    named = re.findall(r"`(loopx [^`]+)`", re.sub(r"\s+", " ", GUIDE))

    assert len(named) > 8
    for line in named:
        parse(line)
