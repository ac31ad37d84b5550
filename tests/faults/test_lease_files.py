"""Lease files that are corrupt, vanish or are old: one alert, none, none; and one todo stops."""

from __future__ import annotations

from pathlib import Path

import pytest
from loopx_kernel.domain.lease import ClaimTodo, RenewLease
from loopx_kernel.domain.todo import AddTodo
from loopx_kernel.errors import Conflict
from loopx_kernel.store.files import Files

from tests.kernel.workspace.build import (
    CLAUDE,
    CODEX,
    GOAL,
    Place,
    rebuilt,
    refused,
    with_files,
)

RENEW = RenewLease(todo_id="T3", version=5, epoch=2)


@pytest.mark.parametrize("content", [b"", b"{", b"\0" * 200, b"[]", b"half", b"\xff\xfe{}"])
def test_a_corrupt_lease_file_is_one_alert_and_stops_one_todo(place: Place, content: bytes) -> None:
    whole = place.lease("T3").read_bytes()
    place.lease("T3").write_bytes(whole[: len(whole) // 2] if content == b"half" else content)
    place.ws.todos.add(GOAL, CODEX, AddTodo(title="Docs", write_scope=("docs/**",)))
    ws = place.again()
    view = ws.view(GOAL, CLAUDE)
    assert [item.todo_id for item in view.reads.damage] == ["T3"]
    assert not (view.alerts or view.warnings)
    assert [item.kind for item in view.needs_you] == ["damage"]
    # Its holder is sent elsewhere, everybody else goes on.
    assert (view.contract.answer, view.contract.todo and view.contract.todo.id) == ("run", "T4")
    with refused(place, "file_damaged"):
        ws.todos.renew(GOAL, CLAUDE, RENEW)
    ws.todos.claim(GOAL, CODEX, ClaimTodo(todo_id="T4"))
    assert len(ws.view(GOAL).reads.damage) == 1


class Vanishing(Files):
    """A file that is there when its folder is listed and gone when it is opened."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def open_read(self, path: Path) -> int:
        if path == self.path:
            path.unlink(missing_ok=True)
        return super().open_read(path)


def test_a_lease_file_that_vanishes_while_it_is_read_is_no_alarm(place: Place) -> None:
    ws = with_files(place.root, Vanishing(place.lease("T3")), place.clock)
    view = ws.view(GOAL, CLAUDE)
    assert not view.reads.damage
    assert view.reads.missing_files == (str(place.lease("T3").relative_to(place.root)),)
    assert (view.contract.answer, view.contract.reasons[0].code) == ("run", "continue_own")
    place.ws.todos.renew(GOAL, CLAUDE, RENEW)
    assert rebuilt(place) == list(view.reads.missing_files)
    assert not place.again().view(GOAL).reads.missing_files


def test_a_lease_file_older_than_the_journal_is_caught_up(place: Place) -> None:
    old = place.lease("T3").read_bytes()
    place.ws.todos.renew(GOAL, CLAUDE, RENEW)
    new = place.lease("T3").read_bytes()
    place.lease("T3").write_bytes(old)
    ws = place.again()
    view = ws.view(GOAL, CLAUDE)
    assert not (view.reads.damage or view.reads.missing_files)
    assert view.reads.behind_files == (str(place.lease("T3").relative_to(place.root)),)
    assert view.leases[-1].version == 6
    with pytest.raises(Conflict) as caught:
        ws.todos.renew(GOAL, CLAUDE, RENEW)
    assert caught.value.code == "version_mismatch"
    assert place.lease("T3").read_bytes() == new
    assert rebuilt(place) == []
