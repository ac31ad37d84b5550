"""The list of workspaces is kept as it was typed, and nothing on it is left out unsaid."""

from __future__ import annotations

import multiprocessing
import os
import shutil
from pathlib import Path

import pytest
from loopx_kernel.clock import ManualClock
from loopx_kernel.errors import LoopxError
from loopx_kernel.workspace import Workspace, listed
from loopx_kernel.workspace.everywhere import everywhere

from tests.kernel.workspace.build import OPENED, Place, ledger_tree
from tests.patience import PATIENCE

CLOCK = ManualClock(OPENED)


def folder(base: Path, name: str) -> Path:
    root = base / name
    root.mkdir(parents=True)
    Workspace.connect(root, clock=CLOCK)
    return root


def test_a_workspace_is_put_on_the_list_once_and_taken_off(tmp_path: Path) -> None:
    shop, docs = folder(tmp_path, "shop"), folder(tmp_path, "docs and more")

    assert [listed.add(shop), listed.add(docs), listed.add(shop / ".." / "shop")] == [
        *(True, True, False),
    ]
    assert listed.listed() == (shop, docs)
    shutil.rmtree(shop)
    assert listed.remove(shop)
    assert not listed.remove(shop)
    assert listed.listed() == (docs,)


def test_what_a_person_wrote_into_the_list_stays(tmp_path: Path) -> None:
    place = listed.list_file()
    place.parent.mkdir(parents=True)
    place.write_text("# mine\n\n/srv/one\n# /srv/two", "utf-8")
    listed.add(folder(tmp_path, "shop"))

    shown = place.read_text("utf-8")
    assert shown == f"# mine\n\n/srv/one\n# /srv/two\n{tmp_path / 'shop'}\n"
    assert listed.listed() == (Path("/srv/one"), tmp_path / "shop")


def test_names_of_any_bytes_can_be_listed_but_for_line_ends(tmp_path: Path) -> None:
    odd = folder(tmp_path, os.fsdecode(b"caf\xe9 \xff"))
    listed.add(odd)
    assert listed.listed() == (odd,)
    with pytest.raises(LoopxError) as caught:
        listed.add(folder(tmp_path, "two\nlines"))
    assert caught.value.code == "invalid_value"
    with pytest.raises(LoopxError) as caught:
        listed.add(tmp_path / "nothing")
    assert caught.value.code == "not_initialised"
    assert listed.listed() == (odd,)


def _add(root: Path) -> None:
    listed.add(root)


def test_many_at_once_are_all_on_it(tmp_path: Path) -> None:
    roots = [folder(tmp_path, f"w{number}") for number in range(8)]
    runs = [multiprocessing.get_context("fork").Process(target=_add, args=(r,)) for r in roots]
    for run in runs:
        run.start()
    for run in runs:
        run.join(PATIENCE)
        assert run.exitcode == 0

    assert sorted(listed.listed()) == sorted(roots)


def test_an_empty_list_is_no_summary() -> None:
    with pytest.raises(LoopxError) as caught:
        everywhere(CLOCK)

    assert caught.value.code == "not_initialised"
    assert caught.value.next == "loopx workspace add ."


def test_every_way_of_not_being_read_has_its_own_word(place: Place, tmp_path: Path) -> None:
    gone, torn = folder(tmp_path, "gone"), folder(tmp_path, "torn")
    for root in (place.root, gone, torn):
        listed.add(root)
    shutil.rmtree(gone)
    journal = torn / ".loopx" / "runtime" / "_workspace" / "events.jsonl"
    journal.write_bytes(b"x" * 40 + b"\n" + journal.read_bytes())
    before = ledger_tree(place)

    found = everywhere(place.clock).view

    assert ledger_tree(place) == before
    assert {Path(one.path).name: one.reason for one in found.unread} == {
        "gone": "unreachable",
        "torn": "quarantined",
    }
    assert all(one.next for one in found.unread)
    coverage = found.envelope.coverage
    assert (coverage.included_count, coverage.expected_count) == (1, 3)
    assert [(goal.goal_id, root) for root, goal in found.goals] == [("dark-mode", str(place.root))]
    assert found.envelope.alert


def test_one_that_may_not_be_read_is_not_permitted(place: Place, tmp_path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root reads everything")
    shut = folder(tmp_path, "shut")
    listed.add(shut)
    (shut / ".loopx").chmod(0)
    found = everywhere(place.clock).view
    (shut / ".loopx").chmod(0o755)

    assert [one.reason for one in found.unread] == ["not_permitted"]


def test_only_one_is_one_of_many(place: Place, tmp_path: Path) -> None:
    for number in range(3):
        listed.add(folder(tmp_path, f"w{number}"))
    found = everywhere(place.clock, only=place.root).view

    coverage = found.envelope.coverage
    assert (coverage.included_count, coverage.expected_count) == (1, 4)
    assert {one.reason for one in found.unread} == {"outside_current_registry"}
