"""The deep check tells tampered, damaged, rolled back and what it could not look at apart."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from loopx_kernel.store import checkpoint
from loopx_kernel.store.files import Files
from loopx_kernel.workspace import resume, snapshots

from tests.kernel.workspace.build import CLAUDE, GOAL, Place, ledger_tree
from tests.kernel.workspace.forge import append_raw, records, rewrite
from tests.kernel.workspace.test_damage import edit_json, say_complete
from tests.kernel.workspace.test_drift import retitle, save
from tests.kernel.workspace.test_repair import (
    doubled_spend,
    lease_from_the_future,
    lease_of_nothing,
)

HOUSE = "_workspace"


def worst(place: Place, goal_id: str = GOAL) -> tuple[str, str]:
    """The status of a journal and the file the worst finding is about."""
    before = ledger_tree(place)
    found = place.again().events.audit(goal_id)
    assert ledger_tree(place) == before
    name = Path(found.findings[0].path).name if found.findings else ""
    assert all(finding.command and finding.detail for finding in found.findings)
    return found.status, name


def test_a_sound_ledger_is_whole_and_said_so_of_every_file(place: Place) -> None:
    for _ in range(3):
        place.again().view(GOAL)
    for goal_id in (GOAL, HOUSE):
        found = place.again().events.audit(goal_id)
        assert (found.status, found.findings) == ("whole", ())
    assert place.again().events.audit(GOAL).lines == len(place.lines())


def flip(place: Place) -> None:
    lines = place.journal.read_bytes().splitlines(keepends=True)
    lines[7] = lines[7].replace(b"agent", b"owner", 1)
    place.journal.write_bytes(b"".join(lines))


def drop_line(place: Place) -> None:
    lines = place.journal.read_bytes().splitlines(keepends=True)
    place.journal.write_bytes(b"".join(lines[:7] + lines[8:]))


def rewrite_one(place: Place) -> None:
    lines = records(place.journal)
    lines[-1]["payload"]["reason"] = "another"
    rewrite(place.journal, lines)


def forge_line(place: Place) -> None:
    append_raw(place.journal, records(place.journal)[-1] | {"event_id": "e-new"})


def shorten(place: Place) -> None:
    place.journal.write_bytes(b"".join(place.journal.read_bytes().splitlines(True)[:-2]))


def remove(place: Place) -> None:
    place.journal.unlink()


def newer(place: Place) -> None:
    import hashlib

    from loopx_kernel.store.line import seal

    body = place.lines()[-1].split(b',"sha256"')[0].replace(b"event_v1", b"event_v2")
    line = body + seal(hashlib.sha256(body).hexdigest())
    lines = place.journal.read_bytes().splitlines(keepends=True)
    place.journal.write_bytes(b"".join(lines[:-1]) + line)


@pytest.mark.parametrize(
    ("break_it", "status"),
    [
        (flip, "damaged"),
        (drop_line, "tampered"),
        (rewrite_one, "tampered"),
        (forge_line, "tampered"),
        (shorten, "rolled_back"),
        (remove, "rolled_back"),
        (newer, "could_not_check"),
    ],
    ids=lambda value: getattr(value, "__name__", value),
)
def test_a_journal_says_in_which_way_it_is_not_what_was_recorded(
    place: Place, break_it: Callable[[Place], None], status: str
) -> None:
    place.again().view(GOAL)
    break_it(place)
    statuses = {
        finding.status
        for finding in place.again().events.audit(GOAL).findings
        if finding.path.endswith("events.jsonl")
    }
    assert statuses == {status}


def sealed_entry(place: Place) -> None:
    from loopx_kernel.store.records import sealed

    def change(value: Any) -> None:
        value["goals"][0] = sealed(value["goals"][0] | {"status": "complete"})

    edit_json(place.registry, change)


@pytest.mark.parametrize(
    ("break_it", "status", "name"),
    [
        (lambda place: edit_json(place.registry, say_complete), "damaged", "registry.json"),
        (sealed_entry, "tampered", "registry.json"),
        (lease_from_the_future, "tampered", "T3.json"),
        (lease_of_nothing, "tampered", "T9.json"),
        (lambda place: place.lease("T3").write_bytes(b"{"), "damaged", "T3.json"),
        (doubled_spend, "tampered", "spend.jsonl"),
        (lambda place: place.spend.write_bytes(bytes(50)), "behind", "spend.jsonl"),
        (lambda place: place.spend.unlink(), "missing", "spend.jsonl"),
        (lambda place: save(place, retitle), "edited", "ACTIVE_GOAL_STATE.md"),
        (lambda place: place.state_file.unlink(), "missing", "ACTIVE_GOAL_STATE.md"),
    ],
    ids="entry sealed-entry ahead of-nothing lease spend nul-spend no-spend edit no-list".split(),
)
def test_a_file_says_in_which_way_it_is_not_what_the_journal_says(
    place: Place, break_it: Callable[[Place], object], status: str, name: str
) -> None:
    break_it(place)
    found = place.again().events.audit(GOAL)
    assert (found.findings[0].status, Path(found.findings[0].path).name) == (status, name)
    assert found.status == ("whole" if status == "behind" else status)


def test_the_owners_file_belongs_to_the_workspace_s_audit(place: Place) -> None:
    place.owners.write_text(place.owners.read_text().replace("huang ", "eve "))
    assert worst(place, HOUSE) == ("damaged", "owners")
    assert place.again().events.audit(GOAL).status == "whole"


def test_what_cannot_be_read_was_not_checked(place: Place) -> None:
    away = place.root / "elsewhere.json"
    place.lease("T3").rename(away)
    place.lease("T3").symlink_to(away)
    assert worst(place) == ("could_not_check", "T3.json")


def cache(place: Place) -> Path:
    return checkpoint.cache_folder(place.ws.workspace_id, GOAL)


def forge_state(path: Path) -> None:
    """T3 is done, says a kept state that fits in every other way."""
    files = Files()
    kept = checkpoint.load(path, resume.fingerprint(), files=files)
    assert kept is not None
    state = json.loads(kept.state)
    state["todos"]["T3"]["title"] = "Something else"
    assert checkpoint.save(path, replace(kept, state=json.dumps(state)), files=files)


def test_a_forged_checkpoint_is_found_out(place: Place) -> None:
    place.ws.view(GOAL)
    place.again().view(GOAL)
    path = cache(place) / resume.FILE
    forge_state(path)
    assert worst(place) == ("tampered", "checkpoint.json")
    path.unlink()
    assert worst(place) == ("whole", "")
    assert place.again().view(GOAL, CLAUDE).contract.answer == "run"


def test_a_forged_state_of_the_past_is_found_out(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshots, "EVERY", 4)
    place.again().history.at(GOAL, place.ws.state(GOAL).seq)
    assert worst(place) == ("whole", "")
    last = max((cache(place) / snapshots.FOLDER).iterdir(), key=lambda path: int(path.stem))
    forge_state(last)
    assert worst(place) == ("tampered", last.name)


@pytest.mark.parametrize(
    "change",
    [
        "DELETE FROM term WHERE seq = 3",
        "UPDATE term SET offset = offset + 1 WHERE seq = 3",
        "UPDATE tally SET rows = rows + 1",
        "DELETE FROM tally",
    ],
)
def test_a_forged_index_is_found_out(place: Place, change: str) -> None:
    assert place.ws.events.page(GOAL, 5, event_type="todo.added")
    assert worst(place) == ("whole", "")
    with closing(sqlite3.connect(cache(place) / "index.sqlite")) as db, db:
        db.execute(change)
    assert worst(place) == ("tampered", "index.sqlite")


def test_an_index_that_nobody_would_use_is_no_finding(place: Place) -> None:
    assert place.ws.events.page(GOAL, 5, event_type="todo.added")
    (cache(place) / "index.sqlite").write_bytes(b"not a database, but long enough to be one")
    assert worst(place) == ("whole", "")


def test_verifying_the_workspace_s_journal_trusts_no_cache(place: Place) -> None:
    place.again().view(GOAL)
    lines = place.house_journal.read_bytes().splitlines(keepends=True)
    lines[1] = lines[1].replace(b"huang", b"hwang", 1)
    place.house_journal.write_bytes(b"".join(lines))
    assert place.again().events.verify(HOUSE).problems
    assert place.again().events.audit(HOUSE).status == "damaged"
