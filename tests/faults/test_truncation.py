"""Layer 1: every file cut off at every byte gives the right state and the right word."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest
from loopx_kernel.domain.lease import RenewLease
from loopx_kernel.errors import Damaged
from loopx_kernel.store.checkpoint import cache_folder
from loopx_kernel.store.files import Files
from loopx_kernel.store.index import FILE as INDEX
from loopx_kernel.store.index import Index
from loopx_kernel.store.journal import Journal
from loopx_kernel.store.records import Level
from loopx_kernel.store.spend_file import SpendFile
from loopx_kernel.store.writer import Writer
from loopx_kernel.views.records import spend_lines
from loopx_kernel.workspace import resume

from tests.kernel.store.ledger import append, event, journal_in
from tests.kernel.workspace.build import CLAUDE, GOAL, Place, refused


def small(folder: Path) -> Journal:
    """Three short lines, so that every byte can be tried."""
    journal = journal_in(folder)
    position = journal.read().position
    with Writer(journal, folder / "quarantine") as writer:
        for number in range(1, 4):
            fields = event(number, payload={"t": "漢"}, request="")
            position = writer.append(fields, position).position
    return journal


def test_a_journal_keeps_its_whole_lines_and_takes_the_next_append(tmp_path: Path) -> None:
    journal = small(tmp_path)
    data = journal.path.read_bytes()
    ends = [line.position.offset for line in journal.read().lines]
    for size in range(len(data) + 1):
        journal.path.write_bytes(data[:size])
        result = journal.read()
        assert len(result.lines) == sum(end <= size for end in ends)
        assert result.damage is None
        assert result.position.offset + len(result.tail) == size
        append(journal, 9)
        # A line that lacks only its newline counts: it was whole.
        survivors = sum(end - 1 <= size for end in ends)
        after = journal.read()
        assert after.damage is None
        ids = [line.event_id for line in after.lines]
        assert ids == [f"e-{number}" for number in range(1, survivors + 1)] + ["e-9"]
        shutil.rmtree(tmp_path / "quarantine", ignore_errors=True)


def test_a_goal_s_journal_is_rolled_back_for_whoever_saw_more(
    place: Place, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The last line at every byte, the others at their ends and beside them."""
    seen = place.ws.view(GOAL).seq
    data = place.journal.read_bytes()
    ends = [0, *(at + 1 for at, byte in enumerate(data) if byte == ord("\n"))]
    beside = {size for end in ends[2:] for size in (end - 1, end, end + 1)}
    for size in sorted({*beside, *range(ends[-2], ends[-1])} & {*range(len(data))}):
        place.journal.write_bytes(data[:size])
        damage = place.ws.view(GOAL).reads.damage
        assert any(f"line {seen}" in found.reason for found in damage)
        if size not in beside and size % 5:
            continue
        monkeypatch.setenv("LOOPX_CACHE_DIR", str(tmp_path / f"cache{size}"))
        fresh = place.again().view(GOAL)
        assert fresh.seq == sum(end <= size for end in ends[1:])
        assert fresh.reads.incomplete_tail == (size not in ends)
        if size in beside:
            with refused(place, "rolled_back"):
                place.ws.handoff.write(GOAL, CLAUDE, "Next: buttons")
    place.journal.write_bytes(data)
    assert not place.ws.view(GOAL).reads.damage


@dataclass(frozen=True)
class Part:
    """A materialised file: where it is, and which cuts of it are nothing but behind."""

    path: Callable[[Place], Path]
    is_harmless: Callable[[bytes, int], bool] = lambda data, size: False


def _is_short_of_blanks(data: bytes, size: int) -> bool:
    return not data[size:].strip()


PARTS = {
    "registry": Part(lambda place: place.registry, _is_short_of_blanks),
    "lease": Part(lambda place: place.lease("T3"), _is_short_of_blanks),
    "owners": Part(lambda place: place.owners),
    "spend": Part(lambda place: place.spend, lambda data, size: True),
}


@pytest.mark.parametrize("name", PARTS)
def test_a_file_cut_off_is_damage_that_is_named_and_kept(place: Place, name: str) -> None:
    part = PARTS[name]
    path = part.path(place)
    whole, data = place.ws.state(GOAL), path.read_bytes()
    shown = str(path.relative_to(place.root))
    ws = place.again()
    for size in range(len(data)):
        path.write_bytes(data[:size])
        assert ws.state(GOAL) == whole
        reads = ws.view(GOAL).reads
        if part.is_harmless(data, size):
            assert not reads.damage
        else:
            assert [damage.path for damage in reads.damage] == [shown]
        assert not reads.missing_files
        assert path.read_bytes() == data[:size]


@pytest.mark.parametrize("name", ["registry", "lease"])
def test_a_file_cut_off_is_not_written_over(place: Place, name: str) -> None:
    path = PARTS[name].path(place)
    data = path.read_bytes()
    for size in range(0, len(data) - 1, 37):
        path.write_bytes(data[:size])
        with refused(place, "file_damaged") as error:
            place.ws.todos.renew(GOAL, CLAUDE, RenewLease(todo_id="T3", version=5, epoch=2))
        assert error.facts["path"] == str(path)


def test_a_quota_ledger_cut_off_is_made_whole_by_the_next_writer(place: Place) -> None:
    since = partial(spend_lines, place.ws.state(GOAL))
    data = place.spend.read_bytes()
    for size in range(len(data)):
        place.spend.write_bytes(data[:size])
        assert SpendFile(place.spend, Files()).bring_level(since) is Level.BEHIND
        assert place.spend.read_bytes() == data


def test_a_checkpoint_cut_off_costs_time_and_nothing_else(place: Place) -> None:
    place.decide(place.ask())
    whole = place.again().state(GOAL)
    path = cache_folder(place.ws.workspace_id, GOAL) / resume.FILE
    data = path.read_bytes()
    for size in range(0, len(data), 41):
        path.write_bytes(data[:size])
        fresh = place.again()
        assert fresh.state(GOAL) == whole
        assert not fresh.view(GOAL).reads.damage


def test_an_index_cut_off_finds_what_the_journal_holds(tmp_path: Path) -> None:
    journal = journal_in(tmp_path, 5)
    path, end = tmp_path / INDEX, journal.read().position
    Index(path, journal).catch_up(end)
    data = path.read_bytes()
    for size in [*range(120), *range(120, len(data), 509)]:
        path.write_bytes(data[:size])
        index = Index(path, journal)
        index.catch_up(end)
        for number in range(1, 6):
            line = index.find(f"e-{number}")
            assert line is not None and line.seq == number
        assert index.find("e-9") is None


def test_a_journal_cut_to_nothing_is_no_new_start(place: Place) -> None:
    place.journal.write_bytes(b"")
    with pytest.raises(Damaged) as caught:
        place.again().state(GOAL)
    assert caught.value.code == "rolled_back"
