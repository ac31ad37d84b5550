"""Reading a journal: places, damage, tails, pages and looking up an event."""

from __future__ import annotations

from pathlib import Path

import pytest
from loopx_kernel.errors import Damaged, Storage
from loopx_kernel.store.files import Files
from loopx_kernel.store.journal import Journal
from loopx_kernel.store.line import GENESIS, MAX_LINE, START, Position, encode
from loopx_kernel.store.writer import Writer

from tests.kernel.store.ledger import append, event, journal_in, seqs


def kind(damage: Damaged | None) -> str:
    assert damage is not None
    return str(damage.facts["kind"])


def test_a_missing_an_empty_and_a_filled_journal_differ(tmp_path: Path) -> None:
    journal = journal_in(tmp_path)
    assert not journal.read().exists
    journal.path.touch()
    empty = journal.read()
    assert (empty.exists, empty.lines, empty.damage, empty.position) == (True, (), None, START)
    append(journal, 1)
    assert seqs(journal) == [1]


def test_reading_goes_on_from_where_it_stopped(tmp_path: Path) -> None:
    journal = journal_in(tmp_path, 3)
    first = journal.read()
    assert journal.read(first.position).lines == ()
    append(journal, 4)
    rest = journal.read(first.position)
    assert [line.seq for line in rest.lines] == [4]
    assert rest.position.offset == rest.size == journal.path.stat().st_size


def test_a_limit_reads_in_pieces_that_join(tmp_path: Path) -> None:
    journal = journal_in(tmp_path, 5)
    piece = journal.read(limit=2)
    found = list(piece.lines)
    while piece.more:
        assert piece.position.offset < piece.size
        piece = journal.read(piece.position, limit=2)
        found += piece.lines
    assert tuple(found) == journal.read().lines


def test_a_goals_journal_begins_with_the_line_of_the_workspace(tmp_path: Path) -> None:
    journal = journal_in(tmp_path)
    origin = Position(0, 0, "c" * 64)
    with Writer(journal, tmp_path / "q") as writer:
        writer.append(event(), origin)
    assert journal.read(origin).damage is None
    assert kind(journal.read(START).damage) == "broken_chain"


def test_half_a_line_is_no_row_and_is_read_once_when_the_rest_arrives(tmp_path: Path) -> None:
    journal = journal_in(tmp_path, 2)
    position = journal.read().position
    raw, _ = encode(event(3), seq=3, prev=position.head)
    inside_a_character = raw.index("漢".encode()) + 1
    with journal.path.open("ab") as file:
        file.write(raw[:inside_a_character])
    half = journal.read(position)
    assert (half.lines, half.damage, half.position) == ((), None, position)
    assert half.tail == raw[:inside_a_character]
    with journal.path.open("ab") as file:
        file.write(raw[inside_a_character:])
    assert [line.event_id for line in journal.read(half.position).lines] == ["e-3"]


@pytest.mark.parametrize("size", [1, 80_000, 3 * MAX_LINE])
def test_nul_bytes_at_the_end_are_a_tail(tmp_path: Path, size: int) -> None:
    journal = journal_in(tmp_path, 2)
    with journal.path.open("ab") as file:
        file.write(bytes(size))
    result = journal.read()
    assert (len(result.lines), result.damage) == (2, None)
    assert result.tail == bytes(min(size, MAX_LINE + 1))


def test_an_over_long_line_is_damage_with_everything_good_before_it(tmp_path: Path) -> None:
    journal = journal_in(tmp_path, 2)
    with journal.path.open("ab") as file:
        file.write(b"x" * (5 * MAX_LINE) + b"\n")
    result = journal.read()
    assert [line.seq for line in result.lines] == [1, 2]
    assert kind(result.damage) == "too_long"
    assert kind(journal.scan_backwards(1).damage) == "too_long"


def test_damage_names_file_line_offset_and_kind(tmp_path: Path) -> None:
    journal = journal_in(tmp_path, 3)
    second = journal.read().lines[1]
    data = journal.path.read_bytes()
    journal.path.write_bytes(data.replace(b'"T2"', b'"T9"'))
    result = journal.read()
    assert [line.seq for line in result.lines] == [1]
    assert result.damage is not None
    assert result.damage.facts == {
        "kind": "bad_hash",
        "file": str(journal.path),
        "line": 2,
        "offset": second.offset,
    }
    assert str(journal.path) in result.damage.message


def test_line_ends_changed_by_an_editor_have_their_own_kind(tmp_path: Path) -> None:
    journal = journal_in(tmp_path, 2)
    journal.path.write_bytes(journal.path.read_bytes().replace(b"\n", b"\r\n"))
    assert kind(journal.read().damage) == "line_ends_changed"


@pytest.mark.parametrize(
    ("order", "expected"), [((0, 2), "hole"), ((1, 0, 2), "hole"), ((0, 0), "hole"), ((2,), "hole")]
)
def test_lines_left_out_or_moved_are_damage(
    tmp_path: Path, order: tuple[int, ...], expected: str
) -> None:
    journal = journal_in(tmp_path, 3)
    raws = [line.raw + b"\n" for line in journal.read().lines]
    journal.path.write_bytes(b"".join(raws[number] for number in order))
    assert kind(journal.read().damage) == expected


def test_a_line_with_a_fitting_seq_from_another_chain_is_damage(tmp_path: Path) -> None:
    journal = journal_in(tmp_path, 1)
    raw, _ = encode(event(2), seq=2, prev="d" * 64)
    with journal.path.open("ab") as file:
        file.write(raw)
    assert kind(journal.read().damage) == "broken_chain"


def test_a_journal_shorter_than_what_was_seen_was_rolled_back(tmp_path: Path) -> None:
    journal = journal_in(tmp_path, 3)
    seen = journal.read().position
    data = journal.path.read_bytes()
    journal.path.write_bytes(data[: journal.read().lines[2].offset])
    damage = journal.read(seen).damage
    assert damage is not None
    assert damage.code == "rolled_back"
    append(journal, 9)
    assert kind(journal.read(seen).damage) in ("broken_chain", "shorter")
    journal.path.unlink()
    gone = journal.read(seen)
    assert gone.damage is not None
    assert (gone.damage.code, gone.exists) == ("rolled_back", False)


def test_another_line_in_the_seen_place_is_a_broken_chain(tmp_path: Path) -> None:
    journal = journal_in(tmp_path, 2)
    seen = journal.read().position
    first = journal.read().lines[0]
    raw, _ = encode(event(7), seq=2, prev=first.sha256)
    journal.path.write_bytes(first.raw + b"\n" + raw)
    assert journal.path.stat().st_size == seen.offset
    assert kind(journal.read(seen).damage) == "broken_chain"
    append(journal, 3)
    assert kind(journal.read(seen).damage) == "broken_chain"


def test_the_line_before_the_place_is_proved_again(tmp_path: Path) -> None:
    journal = journal_in(tmp_path, 2)
    seen = journal.read().position
    journal.path.write_bytes(journal.path.read_bytes().replace(b'"T2"', b'"T9"'))
    assert kind(journal.read(seen).damage) == "bad_hash"


def test_a_bad_last_line_is_read_again_before_it_is_called_damage(tmp_path: Path) -> None:
    journal = journal_in(tmp_path, 3)
    good = journal.path.read_bytes()
    journal.path.write_bytes(good.replace(b'"T3"', b'"T9"'))

    class Mending(Files):
        looks = 0

        def open_read(self, path: Path) -> int:
            self.looks += 1
            if self.looks == 2:
                path.write_bytes(good)
            return super().open_read(path)

    files = Mending()
    result = Journal(journal.path, files).read()
    assert ([line.seq for line in result.lines], result.damage) == ([1, 2, 3], None)
    assert files.looks == 2


def test_pages_backwards_join_to_the_whole(tmp_path: Path) -> None:
    journal = journal_in(tmp_path, 200)
    with journal.path.open("ab") as file:
        file.write(b'{"torn":')
    everything = list(journal.read().lines)
    page = journal.scan_backwards(7)
    found = list(page.lines)
    assert found == everything[-7:]
    while page.start > 0:
        page = journal.scan_backwards(50, page.start)
        found = [*page.lines, *found]
    assert found == everything
    assert journal.scan_backwards(5, 0).lines == ()


def test_a_page_stops_at_damage_and_says_so(tmp_path: Path) -> None:
    journal = journal_in(tmp_path, 5)
    journal.path.write_bytes(journal.path.read_bytes().replace(b'"T3"', b'"T9"'))
    page = journal.scan_backwards(10)
    assert [line.seq for line in page.lines] == [4, 5]
    assert kind(page.damage) == "bad_hash"
    raws = [line.raw + b"\n" for line in (*journal.read().lines, *page.lines)]
    journal.path.write_bytes(raws[0] + raws[2] + raws[3])
    page = journal.scan_backwards(10)
    assert [line.seq for line in page.lines] == [4, 5]
    assert kind(page.damage) == "hole"


def test_the_last_lines_of_a_long_journal_are_read_without_the_rest(tmp_path: Path) -> None:
    class Counting(Files):
        read = 0

        def read_at(self, fd: int, size: int, offset: int) -> bytes:
            data = super().read_at(fd, size, offset)
            self.read += len(data)
            return data

    journal = journal_in(tmp_path, 600)
    files = Counting()
    assert len(Journal(journal.path, files).scan_backwards(3).lines) == 3
    assert files.read < journal.path.stat().st_size / 2


@pytest.mark.parametrize("event_id", ['quo"te', "漢\u2028", "back\\slash", "e-1", 'x","goal_id":"'])
def test_an_event_is_found_by_its_id(tmp_path: Path, event_id: str) -> None:
    journal = journal_in(tmp_path)
    position = START
    decoy = '\n{"event_id":"' + event_id + '","goal_id":"'
    with Writer(journal, tmp_path / "q") as writer:
        for number in range(20):
            fields = event(number + 100, payload={"text": decoy, "pad": "x" * number * 7919})
            position = writer.append(fields, position).position
        assert journal.find_event_id(event_id) is None
        wanted = writer.append(event(event_id=event_id), position)
        writer.append(event(999), wanted.position)
    assert journal.find_event_id(event_id) == wanted


def test_an_event_is_found_across_the_edges_of_what_is_read_at_once(tmp_path: Path) -> None:
    journal = journal_in(tmp_path)
    edge = 1024 * 1024
    size = len(encode(event(1, payload={"pad": ""}), seq=1, prev=GENESIS)[0])
    for shift in range(-30, 31, 6):
        journal.path.unlink(missing_ok=True)
        with Writer(journal, tmp_path / "q") as writer:
            half = edge // 2
            first = writer.append(event(1, payload={"pad": "x" * (half - size)}), START)
            fields = event(2, payload={"pad": "x" * (half - size + shift)})
            second = writer.append(fields, first.position)
            third = writer.append(event(3), second.position)
        assert abs(third.offset - edge) <= 30
        assert journal.find_event_id("e-3") == third
        assert journal.find_event_id("e-1") == first


def test_an_uncommitted_event_is_not_found(tmp_path: Path) -> None:
    journal = journal_in(tmp_path, 1)
    raw, _ = encode(event(2), seq=2, prev=journal.read().position.head)
    with journal.path.open("ab") as file:
        file.write(raw[:-1])
    assert journal.find_event_id("e-2") is None


def test_a_journal_that_is_a_link_is_refused(tmp_path: Path) -> None:
    journal = journal_in(tmp_path, 1)
    link = tmp_path / "link.jsonl"
    link.symlink_to(journal.path)
    for act in (Journal(link, Files()).read, Journal(link, Files()).flush):
        with pytest.raises(Storage):
            act()
    with pytest.raises(Storage), Writer(Journal(link, Files()), tmp_path / "q") as writer:
        writer.append(event(2), journal.read().position)
    assert seqs(journal) == [1]
