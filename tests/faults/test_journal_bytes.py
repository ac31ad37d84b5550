"""What happens to a journal's bytes: cut anywhere, any bit turned, any block stomped."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest
from loopx_kernel.store.journal import Journal
from loopx_kernel.store.line import encode
from loopx_kernel.store.writer import Writer

from tests.kernel.store.ledger import append, event, journal_in


def small(folder: Path) -> Journal:
    """Three short lines, so that every byte can be tried."""
    journal = journal_in(folder)
    position = journal.read().position
    with Writer(journal, folder / "quarantine") as writer:
        for number in range(1, 4):
            fields = event(number, payload={"t": "漢"}, request="")
            position = writer.append(fields, position).position
    return journal


def test_cut_at_every_byte_keeps_the_whole_lines_and_takes_the_next_append(
    tmp_path: Path,
) -> None:
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


@pytest.mark.parametrize("bits", [(0, 5), (1, 7), (2, 6), (3, 4)])
def test_a_turned_bit_is_never_taken_for_a_line(tmp_path: Path, bits: tuple[int, ...]) -> None:
    journal = small(tmp_path)
    data = journal.path.read_bytes()
    lines = journal.read().lines
    last = lines[-1]
    for at in range(len(data)):
        for bit in bits:
            changed = bytearray(data)
            changed[at] ^= 1 << bit
            journal.path.write_bytes(changed)
            result = journal.read()
            hit = next(n for n, line in enumerate(lines) if at < line.position.offset)
            assert result.lines == lines[:hit]
            # Turning the last newline makes a tail, which was not committed.
            lost_newline = at == last.position.offset - 1
            assert (result.damage is None) == lost_newline
            assert (result.tail != b"") == lost_newline or result.damage is not None


def test_a_turned_bit_before_the_place_read_from_is_seen(tmp_path: Path) -> None:
    journal = small(tmp_path)
    data = journal.path.read_bytes()
    last = journal.read().lines[-1]
    for at in range(last.offset, len(data)):
        changed = bytearray(data)
        changed[at] ^= 1
        journal.path.write_bytes(changed)
        assert journal.read(last.position).damage is not None


def test_stomped_blocks_never_make_a_reader_raise_or_invent_a_line(tmp_path: Path) -> None:
    journal = small(tmp_path)
    data = journal.path.read_bytes()
    genuine = {line.raw for line in journal.read().lines}
    chance = random.Random(7)
    for _ in range(300):
        changed = bytearray(data)
        start = chance.randrange(len(data))
        length = chance.randrange(1, 200)
        filler = chance.choice([bytes(length), b"\n" * length, chance.randbytes(length)])
        changed[start : start + length] = filler
        journal.path.write_bytes(changed)
        result = journal.read()
        assert {line.raw for line in result.lines} <= genuine
        page = journal.scan_backwards(5)
        assert {line.raw for line in page.lines} <= genuine


def test_an_append_never_joins_a_torn_line(tmp_path: Path) -> None:
    journal = small(tmp_path)
    raw, _ = encode(event(4), seq=4, prev=journal.read().position.head)
    with journal.path.open("ab") as file:
        file.write(raw[: len(raw) // 2])
    append(journal, 5)
    assert [line.event_id for line in journal.read().lines] == ["e-1", "e-2", "e-3", "e-5"]
    (kept,) = (tmp_path / "quarantine").iterdir()
    assert kept.read_bytes() == raw[: len(raw) // 2]
