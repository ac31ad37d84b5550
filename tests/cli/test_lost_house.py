"""A workspace whose own journal is lost is not one that never was."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from loopx_kernel.workspace.person import config_folder

from tests.cli.governing import AGENT
from tests.cli.helpers import connect, loopx, ok, start, unchanged

HOUSE = Path(".loopx/runtime/_workspace/events.jsonl")
COMMANDS = [
    ("status",),
    ("status", "--scope", "workspace"),
    ("doctor",),
    ("repair", "list"),
    ("event", "verify"),
    ("quota", "should-run", *AGENT),
    ("todo", "add", "More", *AGENT),
    ("repair", "journal", "--goal", "_workspace"),
    ("connect", "--owner", "huang", "--key", "key"),
    ("start-goal", "--id", "mine", "--objective", "Mine now"),
]
LOSSES: dict[str, Callable[[], object]] = {
    "missing": HOUSE.unlink,
    "empty": lambda: HOUSE.write_bytes(b""),
    "of NULs": lambda: HOUSE.write_bytes(bytes(4096)),
    "torn in its first line": lambda: HOUSE.write_bytes(HOUSE.read_bytes()[:40]),
}


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
@pytest.mark.parametrize("loss", LOSSES)
def test_a_lost_journal_of_the_workspace_is_told_by_every_command(
    loss: str, command: tuple[str, ...]
) -> None:
    start(None, "shop")
    ok("todo", "add", "Work", *AGENT)
    LOSSES[loss]()
    with unchanged():
        result = loopx(*command, "--json")
    assert (result.status, result.code) == (7, "owners_changed")
    assert "huang" in result.json["error"]["message"]


@pytest.mark.parametrize("loss", LOSSES)
def test_also_to_somebody_who_never_saw_it(loss: str) -> None:
    start(None, "shop")
    LOSSES[loss]()
    shutil.rmtree(config_folder())
    for command in (("status",), ("connect", "--owner", "eve", "--new-key")):
        with unchanged():
            result = loopx(*command, "--json")
        assert (result.status, result.code) == (7, "rolled_back")
        assert "connect --replaces" in result.json["error"]["next"]


def test_a_folder_that_was_only_begun_is_connected() -> None:
    Path(".loopx/runtime/_workspace").mkdir(parents=True)
    Path(".loopx/goals").mkdir()
    Path(".loopx/.gitignore").write_text("*", "utf-8")
    assert loopx("status", "--json").code == "not_initialised"
    connect()


def test_goals_that_are_cut_off_are_not_goals_that_never_were() -> None:
    start(None, "shop")
    ok("status")
    lines = HOUSE.read_bytes().splitlines(keepends=True)
    HOUSE.write_bytes(b"".join(lines[:-1]))
    for command in (("status",), ("todo", "add", "More", *AGENT)):
        result = loopx(*command, "--json")
        assert (result.status, result.code) == (7, "rolled_back")
        assert result.json["error"]["next"].startswith("loopx repair journal --goal _workspace")


def test_an_older_copy_of_a_journal_is_no_whole_one() -> None:
    start(None, "shop")
    journal = Path(".loopx/runtime/shop/events.jsonl")
    for title in ("Old", "Older"):
        ok("todo", "add", title, *AGENT)
    older = journal.read_bytes()
    for number in range(70):
        ok("todo", "add", f"Todo {number}", *AGENT)
    ok("status")
    journal.write_bytes(older)
    found = loopx("event", "verify", "--json")
    assert found.status == 1
    assert "seen earlier" in found.out
    told = loopx("doctor", "--json").json["checks"]
    (check,) = [one for one in told if one["name"] == "shop: journal"]
    assert not check["ok"]
