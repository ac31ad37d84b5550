"""Whoever may write in the workspace puts a link in the place of a folder the kernel writes in."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.cli.governing import AGENT
from tests.cli.helpers import bytes_of, loopx, ok, start

RUNTIME = ".loopx/runtime/shop"
FOLDERS = [
    ".loopx/goals",
    ".loopx/goals/shop",
    ".loopx/runtime",
    ".loopx/runtime/_workspace",
    RUNTIME,
    f"{RUNTIME}/task-leases",
    f"{RUNTIME}/statements",
    f"{RUNTIME}/objects",
    f"{RUNTIME}/quarantine",
]


def put_elsewhere(folder: Path, elsewhere: Path) -> None:
    """The folder's content stands elsewhere, and a link in its place."""
    if folder.exists():
        shutil.copytree(folder, elsewhere)
        shutil.rmtree(folder)
    elsewhere.mkdir(exist_ok=True)
    folder.symlink_to(elsewhere)


def work() -> list[int]:
    """A turn with all that it writes; the exit statuses."""
    Path("notes.md").write_text("what was found", "utf-8")
    with Path(f"{RUNTIME}/events.jsonl").open("ab") as journal:
        journal.write(b'{"torn')
    settle = ("turn", "settle", "--turn", "turn-0001", "--outcome", "done", "--handoff", "h")
    return [
        loopx("turn", "begin", *AGENT).status,
        loopx(*settle, "--evidence", "notes.md", *AGENT).status,
        loopx("agent", "add", "codex").status,
    ]


@pytest.mark.parametrize("name", FOLDERS)
def test_nothing_is_written_through_a_link_and_the_link_is_named(
    name: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    start(None, "shop")
    ok("todo", "add", "Work", *AGENT)
    away = tmp_path_factory.mktemp("away") / "elsewhere"
    put_elsewhere(Path(name), away)
    torn = away / Path(RUNTIME).relative_to(name) if RUNTIME.startswith(name) else None
    before = bytes_of(away)
    work()
    after = bytes_of(away)
    if torn is not None:  # The torn line was put there by the test.
        journal = str((torn / "events.jsonl").relative_to(away))
        assert after.pop(journal).removesuffix(b'{"torn') == before.pop(journal)
    assert after == before
    checks = ok("status")["needs_you"]
    (told,) = [one for one in checks if one["kind"] == "damage"]
    assert name in told["question"]
    assert "a link" in told["question"]


def test_nor_through_one_on_the_way_to_the_todo_list_in_the_repo(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    place = ".codex/goals/shop/STATE.md"
    start(None, "shop", "--state-file", place)
    away = tmp_path_factory.mktemp("away") / "elsewhere"
    put_elsewhere(Path(".codex"), away)
    before = bytes_of(away)
    loopx("todo", "add", "Work", *AGENT)
    assert bytes_of(away) == before
    assert ".codex" in ok("status")["needs_you"][0]["question"]
    Path(".codex").unlink()
    ok("refresh-state", *AGENT)
    assert "Work" in Path(place).read_text("utf-8")


def test_a_repo_that_is_reached_through_a_link_of_the_owner_s_is_written_in() -> None:
    Path("real").mkdir()
    Path("repo").symlink_to("real")
    start(None, "shop", "--repo", "repo", "--state-file", ".codex/STATE.md")
    start(None, "other", "--repo", ".", "--state-file", "notes/STATE.md")
    for goal in ("shop", "other"):
        ok("todo", "add", "Work", "--goal", goal, *AGENT)
    assert "Work" in Path("real/.codex/STATE.md").read_text("utf-8")
    assert ok("status", "--goal", "shop")["needs_you"] == []
