"""The quota ledger: grows by appending, mends its own torn tail, shows foreign changes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
from loopx_kernel.errors import Damaged, Storage
from loopx_kernel.store.files import Files
from loopx_kernel.store.records import Level, sealed
from loopx_kernel.store.spend_file import Since, SpendFile

from tests.kernel.store.faults import FailingFiles


def spend(seq: int, ref: str = "") -> dict[str, Any]:
    return {
        "goal_id": "dark-mode",
        "effect_ref": ref or f"turn-{seq:04}",
        "action": "spent",
        "slots": 1,
        "recorded_at": "2026-09-16T22:40:00Z",
        "seq": seq,
    }


def since_of(*records: dict[str, Any]) -> Since:
    def since(seq: int) -> Iterable[Mapping[str, Any]]:
        return [record for record in records if record["seq"] >= seq]

    return since


def ledger(folder: Path, *records: dict[str, Any], files: Files | None = None) -> SpendFile:
    file = SpendFile(folder / "spend.jsonl", Files())
    if records:
        file.bring_level(since_of(*records))
    return SpendFile(file.path, files or Files())


ABC = (spend(3), spend(7), spend(9))


def test_missing_is_rebuilt_and_behind_is_appended_to(tmp_path: Path) -> None:
    file = ledger(tmp_path)
    assert file.read() == []
    assert file.bring_level(since_of()) is Level.SAME
    assert not file.path.exists()
    assert file.bring_level(since_of(*ABC[:2])) is Level.MISSING
    start = file.path.read_bytes()
    assert file.bring_level(since_of(*ABC)) is Level.BEHIND
    assert file.path.read_bytes().startswith(start)
    assert file.read() == [sealed(record) for record in ABC]
    assert file.bring_level(since_of(*ABC)) is Level.SAME


def test_several_lines_of_one_event_are_completed(tmp_path: Path) -> None:
    records = (spend(3), spend(7, "a"), spend(7, "b"), spend(7, "c"), spend(8))
    file = ledger(tmp_path, *records[:2])
    assert file.bring_level(since_of(*records)) is Level.BEHIND
    assert file.read() == [sealed(record) for record in records]


def test_only_the_end_of_the_file_is_read(tmp_path: Path) -> None:
    class Counting(Files):
        read = 0

        def read_at(self, fd: int, size: int, offset: int) -> bytes:
            data = super().read_at(fd, size, offset)
            self.read += len(data)
            return data

    records = [spend(seq) for seq in range(1, 4001)]
    asked: list[int] = []

    def since(seq: int) -> Iterable[Mapping[str, Any]]:
        asked.append(seq)
        return since_of(*records)(seq)

    files = Counting()
    file = ledger(tmp_path, *records[:3999], files=files)
    assert file.bring_level(since) is Level.BEHIND
    assert asked == [3999]
    assert files.read < file.path.stat().st_size / 4


@pytest.mark.parametrize("nuls", [0, 1, 200])
@pytest.mark.parametrize("at", range(1, 900, 41))
def test_our_own_torn_tail_is_mended(tmp_path: Path, at: int, nuls: int) -> None:
    file = ledger(tmp_path, *ABC)
    data = file.path.read_bytes()
    file.path.write_bytes(data[: max(0, len(data) - at)] + bytes(nuls))
    assert file.bring_level(since_of(*ABC)) is Level.BEHIND
    assert file.path.read_bytes() == data


def test_an_append_under_way_is_no_damage_to_a_reader(tmp_path: Path) -> None:
    file = ledger(tmp_path, *ABC)
    file.path.write_bytes(file.path.read_bytes()[:-30])
    assert file.level(since_of(*ABC[:2])).level is Level.SAME
    assert file.level(since_of(*ABC)).level is Level.BEHIND
    assert len(file.read()) == 2


def test_nul_bytes_at_the_end_are_cut_off(tmp_path: Path) -> None:
    file = ledger(tmp_path, *ABC)
    data = file.path.read_bytes()
    file.path.write_bytes(data + bytes(80_000))
    assert file.bring_level(since_of(*ABC)) is Level.BEHIND
    assert file.path.read_bytes() == data


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data.replace(b'"slots":1,"recorded_at":"2026-09-16T22:40:00Z","seq":9', b"X"),
        lambda data: data + b"garbage\n",
        lambda data: data + b"garbage",
        lambda data: data + data[-150:],
        lambda data: data + b"x" * (3 * 1024 * 1024),
        lambda data: data + b"x" * (3 * 1024 * 1024) + b"\n",
        lambda data: data + bytes(3 * 1024 * 1024),
        lambda data: data + json.dumps(sealed(spend(8))).encode() + b"\n",
        lambda data: data + json.dumps(sealed(spend(9, "again"))).encode() + b"\n",
        lambda data: data + b'{"seq":12}\n',
    ],
)
def test_a_foreign_change_at_the_end_is_damage_and_stays(tmp_path: Path, change: Any) -> None:
    file = ledger(tmp_path, *ABC)
    changed = change(file.path.read_bytes())
    file.path.write_bytes(changed)
    for records in (ABC, (*ABC, spend(11))):
        with pytest.raises(Damaged) as caught:
            file.bring_level(since_of(*records))
        assert caught.value.next == f"loopx repair file {file.path}"
    assert file.path.read_bytes() == changed
    file.write_all(since_of(*ABC))
    assert file.audit(since_of(*ABC)).level is Level.SAME


def test_a_ledger_ahead_of_the_reader_is_left(tmp_path: Path) -> None:
    file = ledger(tmp_path, *ABC)
    before = file.path.read_bytes()
    assert file.bring_level(since_of(*ABC[:2])) is Level.AHEAD
    assert file.path.read_bytes() == before


@pytest.mark.parametrize(
    "change",
    [
        lambda lines: [lines[0].replace(b'"slots":1', b'"slots":0'), *lines[1:]],
        lambda lines: lines[1:],
        lambda lines: [lines[1], lines[0], lines[2]],
        lambda lines: [lines[0], lines[0], *lines[1:]],
        lambda lines: [b"\n", *lines],
        lambda lines: [*lines, b"half a line\n", lines[2]],
    ],
)
def test_an_audit_sees_what_the_end_does_not_show(tmp_path: Path, change: Any) -> None:
    file = ledger(tmp_path, *ABC)
    assert file.audit(since_of(*ABC)).level is Level.SAME
    lines = file.path.read_bytes().splitlines(keepends=True)
    file.path.write_bytes(b"".join(change(lines)))
    assert file.audit(since_of(*ABC)).level is Level.DAMAGED


def test_reading_a_damaged_ledger_says_so(tmp_path: Path) -> None:
    file = ledger(tmp_path, *ABC)
    file.path.write_bytes(file.path.read_bytes().replace(b'"slots":1', b'"slots":9', 1))
    with pytest.raises(Damaged):
        file.read()


@pytest.mark.parametrize("code", [28, 0])
@pytest.mark.parametrize("at", range(4))
def test_a_failing_call_is_made_good_by_the_next_writer(tmp_path: Path, at: int, code: int) -> None:
    files = FailingFiles(at, code)
    if code == 0:
        files.at = 1
    file = ledger(tmp_path, files=files)
    if code:
        with pytest.raises(Storage):
            file.bring_level(since_of(*ABC))
    else:
        file.bring_level(since_of(*ABC))
    ledger(tmp_path).bring_level(since_of(*ABC))
    assert ledger(tmp_path).read() == [sealed(record) for record in ABC]
