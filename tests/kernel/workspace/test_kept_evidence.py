"""Evidence bytes: kept before the event, never changed, and told apart from the file they were."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from loopx_kernel.domain.canonical import digest
from loopx_kernel.domain.lease import ClaimTodo
from loopx_kernel.domain.todo import AddTodo
from loopx_kernel.errors import Storage
from loopx_kernel.observe import evidence as bound
from loopx_kernel.store.objects import KEPT_LIMIT, Objects
from loopx_kernel.store.writer import Writer
from loopx_kernel.workspace.evidence import Kept, Proof

from tests.kernel.workspace.build import (
    CLAUDE,
    CODEX,
    GOAL,
    Place,
    ledger_tree,
    rebuilt,
    refused,
)
from tests.kernel.workspace.forge import append_raw, records
from tests.kernel.workspace.test_repair import assert_whole_and_working, fix, kept
from tests.kernel.workspace.test_statements import long_goal, note

VARS = hashlib.sha256(b"vars\n").hexdigest()
NOTES = hashlib.sha256(b"notes\n").hexdigest()


def folder(place: Place) -> Path:
    return place.runtime / "objects"


def evidence(place: Place, name: str = "docs/theme-vars.md") -> Path:
    return place.root / "mall-frontend" / name


def put(path: Path, content: bytes) -> None:
    """What the kernel keeps may only be read; whoever owns it can change that."""
    path.chmod(0o644)
    path.write_bytes(content)


def proof(place: Place, todo_id: str = "T2") -> Proof:
    before = ledger_tree(place)
    fresh = place.again()
    found = fresh.evidence.of(GOAL, fresh.state(GOAL).todos[todo_id])
    assert ledger_tree(place) == before
    return found


def hand_in(place: Place, *paths: str, **values: Any) -> Any:
    return place.ws.todos.update(GOAL, CLAUDE, "T3", evidence=paths, epoch=2, **values)


def test_what_is_handed_in_is_kept_under_its_digest(place: Place) -> None:
    assert {path.name for path in folder(place).iterdir()} == {VARS, NOTES}
    assert (folder(place) / VARS).read_bytes() == b"vars\n"
    line = next(
        one
        for one in records(place.journal)
        if one["payload"].get("todo_id") == "T2" and one["event_type"] == "turn.settled"
    )
    assert line["payload"]["parts"][0]["evidence"][0]["kept"] is True


@pytest.mark.parametrize(("size", "is_kept"), [(KEPT_LIMIT, True), (KEPT_LIMIT + 1, False)])
def test_up_to_a_mebibyte_is_kept_and_of_more_only_the_digest(
    place: Place, size: int, is_kept: bool
) -> None:
    content = b"x" * size
    evidence(place, "big.log").write_bytes(content)
    hand_in(place, "big.log")
    (row,) = proof(place, "T3").evidence
    name = hashlib.sha256(content).hexdigest()
    assert (row.evidence.sha256, row.evidence.kept) == (name, is_kept)
    assert (row.since, row.copy) == ("same", "kept" if is_kept else "not_kept")
    assert (folder(place) / name).exists() == is_kept
    assert not place.again().view(GOAL).reads.missing_evidence


def test_the_bytes_are_durable_before_the_event_is_appended(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    there: list[bool] = []
    plain = Writer.append

    def watched(self: Writer, *args: Any, **values: Any) -> Any:
        there.append((folder(place) / name).exists())
        return plain(self, *args, **values)

    name = hashlib.sha256(b"fresh\n").hexdigest()
    evidence(place, "fresh.md").write_bytes(b"fresh\n")
    monkeypatch.setattr(Writer, "append", watched)
    hand_in(place, "fresh.md")
    assert there == [True]


def test_what_cannot_be_kept_is_not_recorded(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise Storage("no_space", "full")

    evidence(place, "fresh.md").write_bytes(b"fresh\n")
    with monkeypatch.context() as patch:
        patch.setattr(Objects, "put", full)
        with refused(place, "no_space"):
            hand_in(place, "fresh.md", event_id="e-0900")
    assert not hand_in(place, "fresh.md", event_id="e-0900").receipt.replayed


def test_a_refused_hand_in_keeps_nothing(place: Place) -> None:
    evidence(place, "fresh.md").write_bytes(b"fresh\n")
    with refused(place, "version_mismatch"):
        hand_in(place, "fresh.md", version=3)
    with refused(place, "stale_epoch"):
        place.ws.todos.update(GOAL, CLAUDE, "T3", evidence=["fresh.md"], epoch=1)
    with refused(place, "not_holder"):
        place.ws.todos.update(GOAL, CODEX, "T3", evidence=["fresh.md"])


def test_what_was_kept_before_an_append_that_failed_is_counted_and_harmless(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise Storage("no_space", "full")

    evidence(place, "fresh.md").write_bytes(b"fresh\n")
    with monkeypatch.context() as patch:
        patch.setattr(Writer, "append", full)
        with pytest.raises(Storage):
            hand_in(place, "fresh.md")
    fresh = place.again()
    assert fresh.evidence.kept(GOAL) == Kept(copies=3, orphans=1)
    assert not fresh.view(GOAL).reads.damage and fresh.events.audit(GOAL).status == "whole"
    assert fresh.repairs.list() == ()
    hand_in(place, "fresh.md")
    assert place.again().evidence.kept(GOAL) == Kept(copies=3, orphans=0)


def test_the_same_file_twice_is_one_copy(place: Place) -> None:
    before = (folder(place) / VARS).stat()
    hand_in(place, "docs/theme-vars.md")
    after = (folder(place) / VARS).stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert place.again().evidence.kept(GOAL) == Kept(copies=2, orphans=0)


CHANGES: dict[str, Callable[[Path], Any]] = {
    "longer": lambda path: path.write_bytes(b"vars and more\n"),
    "same size": lambda path: path.write_bytes(b"VARS\n"),
    "empty": lambda path: path.write_bytes(b""),
    "link": lambda path: (path.unlink(), path.symlink_to("../dark-mode-notes.md")),
    "folder": lambda path: (path.unlink(), path.mkdir()),
    "gone": lambda path: path.unlink(),
    "folder gone": lambda path: (path.unlink(), path.parent.rmdir()),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_file_changed_since_is_said_to_be_and_is_no_damage(place: Place, name: str) -> None:
    CHANGES[name](evidence(place))
    (row,) = proof(place).evidence
    assert (row.since, row.copy) == ("gone" if "gone" in name else "changed", "kept")
    view = place.again().view(GOAL)
    assert not (view.reads.damage or view.reads.missing_evidence or view.envelope.alert)
    assert place.again().events.audit(GOAL).status == "whole"
    note(place)


def test_a_file_of_another_size_is_not_read_to_see_that_it_changed(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    with evidence(place).open("r+b") as file:
        file.truncate(2**20)
    monkeypatch.setattr("builtins.open", lambda *_, **__: pytest.fail("it was read"))
    fresh = place.ws
    (row,) = fresh.evidence.of(GOAL, fresh.state(GOAL).todos["T2"]).evidence
    assert row.since == "changed"


def test_a_lost_copy_is_taken_again_from_the_file_that_was_handed_in(place: Place) -> None:
    (folder(place) / VARS).unlink()
    reads = place.again().view(GOAL).reads
    (lost,) = reads.missing_evidence
    shown = f".loopx/runtime/dark-mode/objects/{VARS}"
    assert (lost.todo_id, lost.evidence, lost.path) == ("T2", "docs/theme-vars.md", shown)
    assert not reads.damage and not reads.missing_files
    assert proof(place).evidence[0].copy == "missing"
    note(place)
    assert (folder(place) / VARS).read_bytes() == b"vars\n"
    assert rebuilt(place) == [shown]
    assert not place.again().view(GOAL).reads.missing_evidence


@pytest.mark.parametrize("name", CHANGES)
def test_a_lost_copy_of_a_file_that_changed_stays_missing_by_name(place: Place, name: str) -> None:
    CHANGES[name](evidence(place))
    for path in folder(place).iterdir():
        path.unlink()
    folder(place).rmdir()
    for _ in range(2):
        note(place)
    assert rebuilt(place) == [f".loopx/runtime/dark-mode/objects/{NOTES}"]
    (lost,) = place.again().view(GOAL).reads.missing_evidence
    assert lost.evidence == "docs/theme-vars.md"
    (finding,) = place.again().events.audit(GOAL).findings
    assert (finding.status, finding.command) == ("missing", "loopx todo show T2")
    assert place.again().view(GOAL, CLAUDE).contract.answer == "run"


@pytest.mark.parametrize("content", [b"", b"VARS\n", b"vars and more\n"])
@pytest.mark.parametrize("file_is_same", [True, False])
def test_a_changed_copy_is_damage_until_a_person_has_it_set_aside(
    place: Place, content: bytes, file_is_same: bool
) -> None:
    path = folder(place) / VARS
    put(path, content)
    if not file_is_same:
        evidence(place).write_bytes(b"newer\n")
    (row,) = place.again().repairs.list()
    assert (row.stops, row.damage.expected_digest) == ("T2 of dark-mode", VARS)
    assert row.damage.found_digest == hashlib.sha256(content).hexdigest()
    assert proof(place).evidence[0].copy == "damaged"
    assert place.again().events.audit(GOAL).status == "damaged"
    view = place.again().view(GOAL, CLAUDE)
    seen = [damage.todo_id for damage in view.reads.damage]
    assert seen == ([] if len(content) == len(b"vars\n") else ["T2"])
    assert view.contract.answer == "run"
    with refused(place, "file_damaged"):
        place.ws.todos.update(GOAL, CODEX, "T2", note="more")
    note(place)
    assert path.read_bytes() == content
    fix(place, path)
    assert kept(place) == [content]
    assert path.exists() == file_is_same
    assert not path.exists() or path.read_bytes() == b"vars\n"
    assert_whole_and_working(place)


def test_the_same_bytes_are_not_handed_in_over_a_changed_copy(place: Place) -> None:
    put(folder(place) / VARS, b"VARS\n")
    with refused(place, "file_damaged") as error:
        hand_in(place, "docs/theme-vars.md")
    assert error.facts["expected_digest"] == VARS
    fix(place, folder(place) / VARS)
    hand_in(place, "docs/theme-vars.md")


def test_changed_bytes_that_no_hand_in_speaks_of_stop_nobody_and_can_be_set_aside(
    place: Place,
) -> None:
    stray = folder(place) / hashlib.sha256(b"fresh\n").hexdigest()
    stray.write_bytes(b"something else\n")
    assert not place.again().view(GOAL).reads.damage
    (finding,) = place.again().events.audit(GOAL).findings
    assert (finding.status, finding.path) == ("damaged", str(stray.relative_to(place.root)))
    evidence(place, "fresh.md").write_bytes(b"fresh\n")
    with refused(place, "file_damaged"):
        hand_in(place, "fresh.md")
    fix(place, stray)
    assert kept(place) == [b"something else\n"]
    hand_in(place, "fresh.md")
    assert stray.read_bytes() == b"fresh\n"


def test_the_copy_of_a_todo_long_finished_is_compared_by_the_deep_check(place: Place) -> None:
    long_goal(place)
    path = folder(place) / NOTES
    put(path, b"NOTES\n")
    assert not place.again().view(GOAL).reads.damage
    (finding,) = place.again().events.audit(GOAL).findings
    assert (finding.status, Path(finding.path).name) == ("damaged", NOTES)
    assert [row.stops for row in place.again().repairs.list()] == ["T1 of dark-mode"]
    fix(place, path)
    assert path.read_bytes() == b"notes\n"
    assert place.again().events.audit(GOAL).status == "whole"
    assert place.again().evidence.kept(GOAL) == Kept(copies=2, orphans=0)


def test_a_file_that_grows_while_it_is_read_is_bound_as_it_was_read(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = evidence(place, "growing.log")
    path.write_bytes(b"one\n")
    plain = bound.read_inside

    def growing(*args: Any, **values: Any) -> tuple[str, bytes]:
        shown, content = plain(*args, **values)
        with path.open("ab") as file:
            file.write(b"more\n")
        return shown, content

    with monkeypatch.context() as patch:
        patch.setattr(bound, "read_inside", growing)
        hand_in(place, "growing.log")
    (row,) = proof(place, "T3").evidence
    assert (row.evidence.size, row.since, row.copy) == (4, "changed", "kept")
    assert (folder(place) / row.evidence.sha256).read_bytes() == b"one\n"


def test_evidence_of_journals_that_kept_nothing_is_not_missed(place: Place) -> None:
    ref = {"path": "old.md", "sha256": "0" * 64}
    payload = {
        "todo_id": "T3",
        "lease_epoch": 2,
        "version": 6,
        "evidence": [ref | {"size": 5}],
        "result_hash": digest([ref]),
    }
    by = {"event_id": "e-old", "actor_kind": "agent", "actor_agent_id": CLAUDE}
    last = {key: value for key, value in records(place.journal)[-1].items() if key != "signed"}
    append_raw(place.journal, last | by | {"event_type": "todo.updated", "payload": payload})
    fresh = place.again()
    assert fresh.state(GOAL).todos["T3"].evidence[0].path == "old.md"
    assert not fresh.view(GOAL).reads.missing_evidence
    assert proof(place, "T3").evidence[0].copy == "not_kept"


def test_a_copy_of_two_todos_is_the_business_of_both(place: Place) -> None:
    place.ws.todos.add(GOAL, CODEX, AddTodo(title="Write the docs"))
    place.ws.todos.claim(GOAL, CODEX, ClaimTodo(todo_id="T4"))
    place.ws.todos.update(GOAL, CODEX, "T4", evidence=["docs/theme-vars.md"])
    put(folder(place) / VARS, b"")
    view = place.again().view(GOAL)
    assert [damage.todo_id for damage in view.reads.damage] == ["T2", "T4"]
    with refused(place, "file_damaged"):
        place.ws.todos.update(GOAL, CODEX, "T4", complete=True)
    fix(place, folder(place) / VARS)
    place.ws.todos.update(GOAL, CODEX, "T4", complete=True)
    assert place.again().repairs.list() == ()
