"""A journal that was found whole and did not change since is not replayed for the doctor."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from loopx_kernel.domain.event import WORKSPACE_JOURNAL
from loopx_kernel.domain.todo import AddTodo
from loopx_kernel.store import checkpoint
from loopx_kernel.workspace import health, proven
from loopx_kernel.workspace.events import Events, Verification

from tests.kernel.workspace.build import CLAUDE, GOAL, Place
from tests.kernel.workspace.forge import append_raw, records


def told(place: Place, name: str = GOAL) -> tuple[bool, str]:
    """What the doctor says of a journal: whether it is whole, and in which words."""
    ws = place.again()
    found = {one.name: one for one in health.look(ws, ws.workspace_view())}
    return found[f"{name}: journal"].ok, found[f"{name}: journal"].detail


def kept(place: Place) -> Path:
    return checkpoint.cache_folder(place.ws.workspace_id, GOAL) / proven.FILE


def never(_: Events, goal_id: str) -> Verification:
    raise AssertionError(f"{goal_id} was replayed")


def test_the_second_look_replays_nothing_and_says_when_the_first_was(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "since" not in told(place)[1]
    first = place.clock.now
    place.clock.advance(hours=1)
    monkeypatch.setattr(Events, "verify", never)
    for name in (GOAL, WORKSPACE_JOURNAL):
        whole, words = told(place, name)
        assert whole
        assert f"seen at {first:%Y-%m-%dT%H:%M:%SZ}; the file is the same since" in words


def test_a_changed_byte_is_found_though_size_and_time_are_as_before(place: Place) -> None:
    told(place)
    status, data = place.journal.stat(), place.journal.read_bytes()
    place.journal.write_bytes(data.replace(b'"title"', b'"tit1e"', 1))
    os.utime(place.journal, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert place.journal.stat().st_size == status.st_size
    assert not told(place)[0]


def test_another_file_in_its_place_is_read_again(place: Place) -> None:
    told(place)
    copy = place.journal.with_name("copy")
    copy.write_bytes(place.journal.read_bytes())
    copy.replace(place.journal)
    assert told(place)[0]
    assert "since" in told(place)[1]


def test_more_lines_are_read_with_all_before_them(place: Place) -> None:
    told(place)
    place.ws.todos.add(GOAL, CLAUDE, AddTodo(title="More"))
    assert "since" not in told(place)[1]


def test_a_line_without_effect_is_told_every_time(place: Place) -> None:
    line = records(place.journal)[-1] | {"event_id": "e-x", "actor_agent_id": "nobody"}
    append_raw(place.journal, line)
    for _ in range(2):
        whole, words = told(place)
        assert not whole
        assert "no effect" in words


def test_an_unfinished_line_is_not_noted(place: Place) -> None:
    with place.journal.open("ab") as journal:
        journal.write(b'{"torn')
    told(place)
    assert not kept(place).exists()


@pytest.mark.parametrize(
    "change",
    [
        {"fingerprint": "0" * 64},
        {"rests_on": "other owners"},
        {"start": "0" * 64},
        {"root": "/elsewhere"},
        {"head": "0" * 64},
        {"at": "yesterday"},
        {"offset": "x"},
    ],
    ids=lambda change: next(iter(change)),
)
def test_a_note_that_does_not_fit_is_worth_nothing(place: Place, change: dict[str, str]) -> None:
    told(place)
    kept(place).write_text(json.dumps(json.loads(kept(place).read_text()) | change))
    assert "since" not in told(place)[1]


@pytest.mark.parametrize("data", [b"", b"[", b"[]", b"null", b"7", b'{"a":1}', b"[" * 9999])
def test_nor_is_what_is_no_note(place: Place, data: bytes) -> None:
    told(place)
    kept(place).write_bytes(data)
    assert told(place)[0]
    assert "since" in told(place)[1]


def test_who_asks_for_it_has_every_line_replayed(place: Place) -> None:
    told(place)
    lines = place.journal.read_bytes()
    place.journal.write_bytes(lines)
    assert place.again().events.verify(GOAL).ok
    assert place.again().events.audit(GOAL).status == "whole"
