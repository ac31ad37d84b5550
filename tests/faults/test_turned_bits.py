"""Layer 2: any bit turned, any range stomped: the same state, or damage that is named."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from loopx_kernel.errors import Damaged, LoopxError
from loopx_kernel.store.files import Files
from loopx_kernel.store.lease_file import LeaseFile
from loopx_kernel.store.line import encode
from loopx_kernel.store.owners_file import OwnersFile
from loopx_kernel.store.records import Level, Verdict
from loopx_kernel.store.spend_file import SpendFile
from loopx_kernel.views.records import lease_record, spend_lines
from loopx_kernel.workspace.pieces import Pieces

from tests.faults.test_truncation import small
from tests.kernel.store.ledger import append, event
from tests.kernel.workspace.build import CODEX, GOAL, Place, refused

ROUNDS = 40


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
        damage = journal.read(last.position).damage
        assert damage is not None
        assert damage.facts["line"] == last.seq


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


def registry(place: Place) -> tuple[Path, Callable[[], Verdict]]:
    piece, _ = Pieces(place.ws._core).of_house()
    return place.registry, piece.audited


def lease(place: Place) -> tuple[Path, Callable[[], Verdict]]:
    state = place.ws.state(GOAL)
    path = place.lease("T3")
    return path, partial(LeaseFile(path, Files()).level, lease_record(state, state.todos["T3"]))


def spend(place: Place) -> tuple[Path, Callable[[], Verdict]]:
    since = partial(spend_lines, place.ws.state(GOAL))
    return place.spend, partial(SpendFile(place.spend, Files()).audit, since)


def owners(place: Place) -> tuple[Path, Callable[[], Verdict]]:
    lines, seq = Pieces(place.ws._core).owner_lines(), place.ws._core.house.state.owners_seq
    return place.owners, partial(OwnersFile(place.owners, Files()).level, lines, seq)


@pytest.mark.parametrize("file", [registry, lease, spend, owners])
def test_a_turned_bit_of_a_file_is_damage_or_changes_no_value(
    place: Place, file: Callable[[Place], tuple[Path, Callable[[], Verdict]]]
) -> None:
    path, judge = file(place)
    data = path.read_bytes()
    assert judge().level is Level.SAME
    for at in range(len(data)):
        for bit in (at % 8, (at + 5) % 8):
            changed = bytearray(data)
            changed[at] ^= 1 << bit
            path.write_bytes(changed)
            level = judge().level
            # A blank for another, or a last newline, is no value of JSON.
            assert level is Level.DAMAGED or is_blank(data[at]) or is_revision(data, at), (at, bit)


def is_blank(byte: int) -> bool:
    return chr(byte).isspace()


def is_revision(data: bytes, at: int) -> bool:
    """The ``seq`` of the owners file stands outside its digest; another one is behind or ahead."""
    return data.startswith(b"# loopx owners seq=") and at < data.index(b" sha256=")


def stomped(data: bytes, chance: random.Random) -> bytes:
    """A range overwritten, put in, taken out, or swapped with another."""
    start = chance.randrange(len(data))
    end = min(len(data), start + chance.randrange(1, 200))
    kind = chance.choice(["overwrite", "insert", "delete", "swap"])
    filler = chance.choice(
        [bytes(end - start), b"\n" * (end - start), chance.randbytes(end - start)]
    )
    if kind == "overwrite":
        return data[:start] + filler + data[end:]
    if kind == "insert":
        return data[:start] + filler + data[start:]
    if kind == "delete":
        return data[:start] + data[end:]
    middle = (start + end) // 2
    return data[:start] + data[middle:end] + data[start:middle] + data[end:]


FILES: dict[str, Callable[[Place], Path]] = {
    "journal": lambda place: place.journal,
    "workspace journal": lambda place: place.house_journal,
    "registry": lambda place: place.registry,
    "owners": lambda place: place.owners,
    "lease": lambda place: place.lease("T3"),
    "spend": lambda place: place.spend,
    "state file": lambda place: place.state_file,
}


def reordered(data: bytes, chance: random.Random) -> bytes:
    """One whole line taken out, doubled, or put elsewhere."""
    lines = data.splitlines(keepends=True)
    line = lines.pop(chance.randrange(len(lines)))
    for _ in range(chance.randrange(3)):
        lines.insert(chance.randrange(len(lines) + 1), line)
    return b"".join(lines)


@pytest.mark.parametrize("change", [stomped, reordered])
@pytest.mark.parametrize("name", FILES)
def test_a_stomped_file_never_gives_another_state_in_silence(
    place: Place, name: str, change: Callable[[bytes, random.Random], bytes]
) -> None:
    path = FILES[name](place)
    data, whole = path.read_bytes(), place.ws.state(GOAL)
    chance = random.Random(name)
    for _ in range(ROUNDS):
        path.write_bytes(change(data, chance))
        try:
            ws = place.again()
            reads, state = ws.view(GOAL).reads, ws.state(GOAL)
        except LoopxError as error:
            hidden = error.code == "unknown_goal" and place.again().repairs.list()
            assert hidden or isinstance(error, Damaged), error
            continue
        if state != whole:
            assert reads.damage
            # What is left is what the good lines before the damage say.
            assert state.seq < whole.seq
    path.write_bytes(data)
    assert place.again().state(GOAL) == whole


@pytest.mark.parametrize("name", ["journal", "workspace journal"])
def test_nothing_is_written_behind_a_damaged_journal(
    place: Place, name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = FILES[name](place)
    lines = path.read_bytes().splitlines(keepends=True)
    for number, line in enumerate(lines):
        changed = line.replace(b"recorded_at", b"recorded_et", 1)
        path.write_bytes(b"".join([*lines[:number], changed, *lines[number + 1 :]]))
        # Whoever goes on from a checkpoint does not read old lines again.
        monkeypatch.setenv("LOOPX_CACHE_DIR", str(tmp_path / f"cache{number}"))
        # Behind a damaged opening, but not behind a damaged first line, no goal is known.
        opening = b'"goal.opened"' in b"".join(lines[number:])
        hidden = path == place.house_journal and opening and number > 0
        with refused(place, "unknown_goal" if hidden else "journal_damaged"):
            place.again().handoff.write(GOAL, CODEX, "Next: buttons")
