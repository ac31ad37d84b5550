"""Appending: one commit point, torn tails, and every call that can fail."""

from __future__ import annotations

import errno
import resource
import subprocess
import sys
from pathlib import Path

import pytest
from loopx_kernel.errors import Conflict, Storage, UsageError
from loopx_kernel.store.journal import Journal
from loopx_kernel.store.line import MAX_LINE, START, Position, encode
from loopx_kernel.store.writer import Writer

from tests.kernel.store.faults import FailingFiles, names_in
from tests.kernel.store.ledger import AT, append, event, journal_in, seqs
from tests.patience import PATIENCE


def writer_of(journal: Journal, files: FailingFiles | None = None) -> Writer:
    through = Journal(journal.path, files or journal.files)
    return Writer(through, journal.path.parent / "quarantine")


def test_an_append_is_one_write_and_one_flush(tmp_path: Path) -> None:
    files = FailingFiles()
    journal = journal_in(tmp_path)
    with writer_of(journal, files) as writer:
        first = writer.append(event(1), START)
        assert files.calls == ["open_append", "write", "fsync", "fsync_dir"]
        files.calls.clear()
        second = writer.append(event(2), first.position)
        assert files.calls == ["write", "fsync"]
    assert journal.read().lines == (first, second)


@pytest.mark.parametrize(
    ("tail", "reason"),
    [
        (b'{"torn":', "torn"),
        (b"\0" * 80_000, "nul"),
        (b"x" * (MAX_LINE + 5), "torn"),
        ("漢".encode()[:2], "torn"),
    ],
)
@pytest.mark.parametrize("lines", [0, 2])
def test_a_torn_tail_is_kept_aside_and_the_append_readable(
    tmp_path: Path, lines: int, tail: bytes, reason: str
) -> None:
    journal = journal_in(tmp_path, lines)
    with journal.path.open("ab") as file:
        file.write(tail)
    append(journal, 9)
    assert [line.event_id for line in journal.read().lines][-1] == "e-9"
    assert len(seqs(journal)) == lines + 1
    (kept,) = (tmp_path / "quarantine").iterdir()
    assert kept.name == f"20260916T224000Z-{reason}"
    assert kept.read_bytes() == tail


@pytest.mark.parametrize("lines", [0, 2])
def test_a_whole_line_that_lacks_only_its_newline_is_kept(tmp_path: Path, lines: int) -> None:
    journal = journal_in(tmp_path, lines)
    read = journal.read()
    raw, _ = encode(event(7), seq=lines + 1, prev=read.position.head)
    with journal.path.open("ab") as file:
        file.write(raw[:-1])
    with writer_of(journal) as writer:
        settled = writer.settle_tail(AT)
    assert settled.kept is not None
    assert (settled.kept.event_id, settled.set_aside) == ("e-7", None)
    assert journal.read().lines[-1] == settled.kept
    assert not (tmp_path / "quarantine").exists()


def test_an_append_that_did_not_see_the_kept_line_is_refused(tmp_path: Path) -> None:
    journal = journal_in(tmp_path, 1)
    position = journal.read().position
    raw, _ = encode(event(2), seq=2, prev=position.head)
    with journal.path.open("ab") as file:
        file.write(raw[:-1])
    with writer_of(journal) as writer:
        with pytest.raises(Conflict) as caught:
            writer.append(event(3), position)
        assert caught.value.code == "version_mismatch"
        writer.append(event(3), journal.read().position)
    assert [line.event_id for line in journal.read().lines] == ["e-1", "e-2", "e-3"]


def test_a_whole_line_that_does_not_fit_the_chain_is_set_aside(tmp_path: Path) -> None:
    journal = journal_in(tmp_path, 1)
    for number, (seq, prev) in enumerate([(3, journal.read().position.head), (2, "e" * 64)], 1):
        raw, _ = encode(event(7), seq=seq, prev=prev)
        with journal.path.open("ab") as file:
            file.write(raw[:-1])
        with writer_of(journal) as writer:
            assert writer.settle_tail(AT).set_aside is not None
        assert seqs(journal) == [1]
        assert len(names_in(tmp_path / "quarantine")) == number


def test_an_append_at_another_place_changes_nothing(tmp_path: Path) -> None:
    journal = journal_in(tmp_path, 2)
    before = journal.path.read_bytes()
    end = journal.read().position
    places = [START, journal.read().lines[0].position, Position(end.offset, 2, "f" * 64)]
    with writer_of(journal) as writer:
        for place in places:
            with pytest.raises(Conflict):
                writer.append(event(3), place)
    assert journal.path.read_bytes() == before


def test_an_event_that_cannot_be_written_changes_nothing(tmp_path: Path) -> None:
    journal = journal_in(tmp_path)
    with writer_of(journal) as writer, pytest.raises(UsageError):
        writer.append(event(payload={"x": "\ud800"}), START)
    assert not journal.path.exists()


CODES = {errno.EIO: "io_error", errno.ENOSPC: "no_space", errno.EDQUOT: "no_space"}


@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("lines", [0, 1])
@pytest.mark.parametrize("at", range(4))
def test_a_failing_call_commits_nothing_and_the_command_can_be_sent_again(
    tmp_path: Path, lines: int, at: int, code: int
) -> None:
    journal = journal_in(tmp_path, lines)
    position = journal.read().position
    if not lines:
        journal.path.touch()
    before = journal.path.read_bytes()
    files = FailingFiles(at, code)
    expected = "durability_unknown" if at >= 2 else CODES[code]
    with writer_of(journal, files) as writer:
        if at >= 3 and lines:
            writer.append(event(5), position)
            assert files.calls == ["open_append", "write", "fsync"]
            return
        with pytest.raises(Storage) as caught:
            writer.append(event(5), position)
        assert caught.value.code == expected
        assert journal.path.read_bytes() == before
        if at > 0:
            with pytest.raises(Storage):
                writer.append(event(5), position)
            assert journal.path.read_bytes() == before
    append(journal, 5)
    assert [line.event_id for line in journal.read().lines][-1] == "e-5"


def test_an_unknown_outcome_names_the_event_to_send_again(tmp_path: Path) -> None:
    with (
        writer_of(journal_in(tmp_path), FailingFiles(2)) as writer,
        pytest.raises(Storage) as caught,
    ):
        writer.append(event(1), START)
    assert caught.value.code == "durability_unknown"
    assert caught.value.next is not None
    assert "e-1" in caught.value.next


def test_a_short_write_is_taken_back(tmp_path: Path) -> None:
    journal = journal_in(tmp_path, 1)
    before = journal.path.read_bytes()
    with writer_of(journal, FailingFiles(1, code=0)) as writer:
        with pytest.raises(Storage) as caught:
            writer.append(event(2), journal.read().position)
        assert caught.value.code == "no_space"
    assert journal.path.read_bytes() == before


def test_a_short_write_that_cannot_be_taken_back_is_not_committed(tmp_path: Path) -> None:
    class Stuck(FailingFiles):
        def truncate(self, fd: int, size: int) -> None:
            raise OSError(errno.EIO, "I/O error")

    journal = journal_in(tmp_path, 1)
    with writer_of(journal, Stuck(1, code=0)) as writer, pytest.raises(Storage):
        writer.append(event(2), journal.read().position)
    assert seqs(journal) == [1]
    assert journal.read().damage is None
    append(journal, 3)
    assert [line.event_id for line in journal.read().lines] == ["e-1", "e-3"]


def test_an_interrupted_append_is_taken_back(tmp_path: Path) -> None:
    class Interrupted(FailingFiles):
        def fsync(self, fd: int) -> None:
            raise KeyboardInterrupt

    journal = journal_in(tmp_path, 1)
    before = journal.path.read_bytes()
    with writer_of(journal, Interrupted()) as writer, pytest.raises(KeyboardInterrupt):
        writer.append(event(2), journal.read().position)
    assert journal.path.read_bytes() == before


@pytest.mark.parametrize("at", range(1, 8))
def test_a_failing_call_while_a_tail_is_set_aside_loses_none_of_its_bytes(
    tmp_path: Path, at: int
) -> None:
    journal = journal_in(tmp_path, 1)
    good = journal.path.read_bytes()
    journal.path.write_bytes(good + b'{"torn":')
    files = FailingFiles(at)
    with writer_of(journal, files) as writer, pytest.raises(Storage):
        writer.settle_tail(AT)
    folder = tmp_path / "quarantine"
    kept = [path.read_bytes() for path in folder.iterdir()] if folder.exists() else []
    left = journal.path.read_bytes()
    assert left == good + b'{"torn":' or (left == good and kept == [b'{"torn":'])
    append(journal, 2)
    assert seqs(journal) == [1, 2]


def test_a_repair_cuts_after_the_last_good_line_and_keeps_the_rest(tmp_path: Path) -> None:
    journal = journal_in(tmp_path, 3)
    data = journal.path.read_bytes().replace(b'"T2"', b'"T9"')
    journal.path.write_bytes(data)
    good = journal.read().position
    with writer_of(journal) as writer:
        with pytest.raises(Conflict):
            writer.mend(event(4), Position(good.offset - 1, 1, good.head))
        assert journal.path.read_bytes() == data
        line = writer.mend(event(4), good)
    assert (line.seq, line.offset) == (2, good.offset)
    (copy,) = (tmp_path / "quarantine").iterdir()
    assert copy.read_bytes() == data[good.offset :]
    assert [line.event_id for line in journal.read().lines] == ["e-1", "e-4"]
    append(journal, 5)
    assert seqs(journal) == [1, 2, 3]


@pytest.mark.parametrize("at", range(1, 14))
def test_a_failing_call_leaves_the_journal_cut_and_repaired_or_as_it_was(
    tmp_path: Path, at: int
) -> None:
    journal = journal_in(tmp_path, 3)
    data = journal.path.read_bytes().replace(b'"T2"', b'"T9"')
    journal.path.write_bytes(data)
    good = journal.read().position
    with writer_of(journal, FailingFiles(at)) as writer:
        try:
            writer.mend(event(4), good)
        except Storage as error:
            recorded = error.code == "durability_unknown"
        else:
            recorded = True
    ids = [line.event_id for line in journal.read().lines]
    assert ids == (["e-1", "e-4"] if recorded else ["e-1"])
    if recorded:
        (copy,) = (tmp_path / "quarantine").iterdir()
        assert copy.read_bytes() == data[good.offset :]
    else:
        assert journal.path.read_bytes() == data
    assert not list(tmp_path.glob(".events*"))


def test_a_journal_without_a_good_line_begins_anew(tmp_path: Path) -> None:
    journal = journal_in(tmp_path, 2)
    opening = journal.path.read_bytes().splitlines(keepends=True)[0]
    head = journal.read(limit=1).position
    for content in (b"rubbish\n", None):
        journal.path.unlink()
        if content is not None:
            journal.path.write_bytes(content)
        with writer_of(journal) as writer:
            writer.mend(event(4), head, opening=opening)
        assert [line.event_id for line in journal.read().lines] == ["e-1", "e-4"]
    (copy,) = (tmp_path / "quarantine").iterdir()
    assert copy.read_bytes() == b"rubbish\n"


LIMITED = """
import resource, sys
from pathlib import Path
from loopx_kernel.errors import Storage
from tests.kernel.store.ledger import append, journal_in
journal = journal_in(Path(sys.argv[1]), 2)
size = journal.path.stat().st_size
resource.setrlimit(resource.RLIMIT_FSIZE, (size + 40, resource.RLIM_INFINITY))
try:
    append(journal, 3)
except Storage as error:
    print(error.code, journal.path.stat().st_size - size)
"""


def test_a_real_file_size_limit_leaves_nothing_behind(tmp_path: Path) -> None:
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[1] == resource.RLIM_INFINITY
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=True,
    )
    assert done.stdout.split() == ["no_space", "0"]
    journal = Journal(tmp_path / "events.jsonl", FailingFiles())
    assert seqs(journal) == [1, 2]
