"""Materialised files: missing is rebuilt, behind is caught up, damaged is an error."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from loopx_kernel.errors import Damaged, Storage
from loopx_kernel.store.files import Files
from loopx_kernel.store.lease_file import LeaseFile
from loopx_kernel.store.owners_file import OwnersFile
from loopx_kernel.store.records import Level, RecordFile, compare, digest, sealed
from loopx_kernel.store.registry_file import RegistryFile

from tests.kernel.store.faults import FailingFiles, names_in

LEASE: dict[str, Any] = {
    "goal_id": "dark-mode",
    "todo_id": "T3",
    "owner": "claude-code",
    "write_scopes": ["src/漢/"],
    "version": 1,
    "lease_epoch": 2,
    "status": "active",
    "seq": 142,
}
KEYS = ("alice ssh-ed25519 AAAA", "bob ssh-ed25519 BBBB")
BAD_BYTES = [b"", b"\0" * 800, b'{"goals": [', b"[]", b"3", b"\xff\xfe{\0}\0", b"[" * 100_000]


def lease_file(folder: Path, files: Files | None = None) -> LeaseFile:
    return LeaseFile(folder / "T3.json", files or Files())


def registry(folder: Path, files: Files | None = None) -> RegistryFile:
    return RegistryFile(folder / "registry.json", files or Files())


def entry(goal_id: str, revision: int, **more: Any) -> dict[str, Any]:
    return {"id": goal_id, "status": "active", "quota": {"compute": 0.4}, **more} | {
        "revision": revision
    }


def test_a_record_is_told_missing_behind_same_ahead() -> None:
    found = sealed(LEASE)
    assert compare(found, LEASE).level is Level.SAME
    assert compare(found, {**LEASE, "seq": 143}).level is Level.BEHIND
    assert compare(found, {**LEASE, "seq": 141}).level is Level.AHEAD
    assert compare(found, {**LEASE, "owner": "codex"}).level is Level.DAMAGED
    assert compare({**found, "owner": "codex"}, {**LEASE, "seq": 143}).level is Level.DAMAGED
    assert digest(found) == digest(dict(reversed(found.items())))


def test_a_lease_is_rebuilt_caught_up_and_left_alone(tmp_path: Path) -> None:
    file = lease_file(tmp_path)
    assert file.read() is None
    assert file.level(LEASE).level is Level.MISSING
    assert names_in(tmp_path) == []
    assert file.bring_level(LEASE) is Level.MISSING
    found = file.read()
    assert found is not None
    assert found["schema_version"] == "task_lease_v0"
    assert {key: found[key] for key in LEASE} == LEASE
    later = {**LEASE, "seq": 150, "status": "released"}
    assert file.bring_level(later) is Level.BEHIND
    before = (file.path.read_bytes(), file.path.stat().st_ino)
    assert file.bring_level(later) is Level.SAME
    assert file.bring_level(LEASE) is Level.AHEAD
    assert (file.path.read_bytes(), file.path.stat().st_ino) == before


@pytest.mark.parametrize("content", [*BAD_BYTES, b'{"seq":142}', b'{"seq":"\\ud800"}'])
def test_a_damaged_lease_is_an_error_with_both_digests_and_keeps_its_bytes(
    tmp_path: Path, content: bytes
) -> None:
    file = lease_file(tmp_path)
    file.path.write_bytes(content)
    assert file.level(LEASE).level is Level.DAMAGED
    with pytest.raises(Damaged) as caught:
        file.bring_level(LEASE)
    assert caught.value.code == "file_damaged"
    assert caught.value.next == f"loopx repair file {file.path}"
    assert caught.value.facts["expected_digest"]
    assert "found_digest" in caught.value.facts
    with pytest.raises(Damaged):
        file.read()
    assert file.path.read_bytes() == content


def test_a_hand_edited_lease_is_damage_until_it_is_written_again(tmp_path: Path) -> None:
    file = lease_file(tmp_path)
    file.bring_level(LEASE)
    file.path.write_bytes(file.path.read_bytes().replace(b"claude-code", b"codex"))
    with pytest.raises(Damaged):
        file.bring_level(LEASE)
    file.write(LEASE)
    assert file.bring_level(LEASE) is Level.SAME


def test_damage_is_believed_only_after_a_second_look(tmp_path: Path) -> None:
    class Settling(Files):
        looks = 0

        def open_read(self, path: Path) -> int:
            self.looks += 1
            if self.looks == 2:
                LeaseFile(path, Files()).write(LEASE)
            return super().open_read(path)

    file = lease_file(tmp_path, Settling())
    file.path.write_bytes(b'{"half')
    assert file.level(LEASE).level is Level.SAME


@pytest.mark.parametrize("at", range(5))
def test_a_failed_write_leaves_the_old_record_or_the_new(tmp_path: Path, at: int) -> None:
    lease_file(tmp_path).bring_level(LEASE)
    later = {**LEASE, "seq": 150}
    with pytest.raises(Storage):
        lease_file(tmp_path, FailingFiles(at)).bring_level(later)
    assert lease_file(tmp_path).level(later).level in (Level.BEHIND, Level.SAME)
    assert names_in(tmp_path) == ["T3.json"]


def test_a_statement_is_a_record_file_of_its_own(tmp_path: Path) -> None:
    file = RecordFile(tmp_path / "T3.json", Files())
    statement = {"schema_version": "loopx_statement_v0", "todo_id": "T3", "seq": 9}
    assert file.bring_level(statement) is Level.MISSING
    assert file.read() == sealed(statement)


def test_writing_one_goal_keeps_every_other_entry(tmp_path: Path) -> None:
    file = registry(tmp_path)
    file.bring_level(entry("a", 1, objective="漢"))
    file.bring_level(entry("b", 2))
    document = json.loads(file.path.read_bytes())
    document["goals"][0]["objective"] = "edited by hand"
    file.path.write_text(json.dumps(document))
    edited = document["goals"][0]
    file.bring_level(entry("b", 5, status="paused"))
    file.bring_level(entry("c", 6))
    found = file.read()
    assert found is not None
    assert [one["id"] for one in found] == ["a", "b", "c"]
    assert found[0] == edited
    assert found[1] == sealed(entry("b", 5, status="paused"))


def test_a_hand_edited_entry_is_damage_for_that_goal_alone(tmp_path: Path) -> None:
    file = registry(tmp_path)
    file.bring_level(entry("a", 1))
    file.bring_level(entry("b", 2))
    file.path.write_bytes(file.path.read_bytes().replace(b"0.4", b"0.9", 1))
    assert file.level(entry("a", 1)).level is Level.DAMAGED
    assert file.level(entry("b", 2)).level is Level.SAME
    with pytest.raises(Damaged):
        file.bring_level(entry("a", 3))
    file.write_entry(entry("a", 1))
    assert file.level(entry("a", 1)).level is Level.SAME


@pytest.mark.parametrize(
    "content",
    [
        *BAD_BYTES,
        b'{"schema_version":"0.1","goals":[],"evil":1}',
        b'{"schema_version":"9","goals":[]}',
        b'{"schema_version":"0.1","goals":{}}',
        b'{"schema_version":"0.1","goals":[{"id":3}]}',
        b'{"schema_version":"0.1","goals":[{"id":"a"},{"id":"a"}]}',
        b'{"schema_version":"0.1","goals":[],"goals":[]}',
    ],
)
def test_an_unreadable_registry_is_never_taken_for_an_empty_one(
    tmp_path: Path, content: bytes
) -> None:
    file = registry(tmp_path)
    file.path.write_bytes(content)
    for act in (
        file.read,
        lambda: file.bring_level(entry("a", 1)),
        lambda: file.write_entry(entry("a", 1)),
    ):
        with pytest.raises(Damaged) as caught:
            act()
        assert str(file.path) in caught.value.message
    assert file.path.read_bytes() == content
    file.write_all([entry("a", 1)])
    assert file.read() == [sealed(entry("a", 1))]


def test_an_unreadable_registry_says_where(tmp_path: Path) -> None:
    file = registry(tmp_path)
    file.path.write_bytes(b'{"goals": [')
    with pytest.raises(Damaged, match="line 1 col 12"):
        file.read()
    file.path.write_text('{"goals": []}', encoding="utf-16")
    with pytest.raises(Damaged, match="not UTF-8"):
        file.read()


def test_a_registry_with_bom_and_crlf_reads_normally(tmp_path: Path) -> None:
    file = registry(tmp_path)
    file.bring_level(entry("a", 1))
    content = file.path.read_bytes().replace(b"\n", b"\r\n")
    file.path.write_bytes(b"\xef\xbb\xbf" + content)
    assert file.level(entry("a", 1)).level is Level.SAME


def test_owners_are_rebuilt_caught_up_and_compared_as_bytes(tmp_path: Path) -> None:
    file = OwnersFile(tmp_path / "owners", Files())
    assert file.read() is None
    assert file.bring_level(KEYS[:1], 1) is Level.MISSING
    assert file.bring_level(KEYS, 4) is Level.BEHIND
    assert file.read() == KEYS
    assert file.bring_level(KEYS, 4) is Level.SAME
    assert file.bring_level(KEYS[:1], 1) is Level.AHEAD
    assert file.path.read_text().split("\n")[1:] == [*KEYS, ""]
    assert file.level(KEYS[:1], 4).level is Level.DAMAGED


@pytest.mark.parametrize(
    "change",
    [
        lambda data: b"",
        lambda data: data.replace(b"AAAA", b"EEEE"),
        lambda data: data + b"mallory ssh-ed25519 CCCC\n",
        lambda data: data.replace(b"seq=4", b"seq=x"),
        lambda data: data.replace(b"\n", b"\r\n"),
        lambda data: data[:-1],
    ],
)
def test_a_key_stuffed_into_owners_is_damage(tmp_path: Path, change: Any) -> None:
    file = OwnersFile(tmp_path / "owners", Files())
    file.bring_level(KEYS, 4)
    changed = change(file.path.read_bytes())
    file.path.write_bytes(changed)
    for seq in (4, 9):
        with pytest.raises(Damaged):
            file.bring_level(KEYS, seq)
    with pytest.raises(Damaged):
        file.read()
    assert file.path.read_bytes() == changed
