"""Taking a todo, holding on to it, giving it back: one holder, who is told when it ends."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
from loopx_kernel.domain.lease import ClaimTodo, ReleaseLease, RenewLease
from loopx_kernel.domain.todo import AddTodo
from loopx_kernel.errors import Fenced

from tests.kernel.workspace.build import (
    CLAUDE,
    CODEX,
    GOAL,
    Place,
    open_goal,
    refused,
)


def test_a_renewal_keeps_the_epoch_and_moves_the_end(place: Place) -> None:
    before = place.ws.state(GOAL).todos["T3"].lease
    place.clock.advance(minutes=9)
    done = place.ws.todos.renew(GOAL, CLAUDE, RenewLease(todo_id="T3", version=5, epoch=2))
    lease = done.state.todos["T3"].lease
    assert lease is not None
    assert (lease.version, lease.lease_epoch) == (6, 2)
    assert before is not None and lease.expires_at == before.expires_at + timedelta(minutes=10)
    shown = json.loads(place.lease("T3").read_text())
    assert (shown["version"], shown["lease_epoch"], shown["status"]) == (6, 2, "active")
    assert shown["schema_version"] == "task_lease_v0"


def test_a_holder_that_lost_its_todo_is_told_to_stop(place: Place) -> None:
    place.clock.advance(minutes=20)
    place.ws.todos.claim(GOAL, CODEX, ClaimTodo(todo_id="T3", expect_version=5))
    todos = place.ws.todos
    with refused(place, "stale_epoch"):
        todos.renew(GOAL, CLAUDE, RenewLease(todo_id="T3", version=6, epoch=2))
    with refused(place, "stale_epoch"):
        todos.update(GOAL, CLAUDE, "T3", complete=True, version=6, epoch=2)
    with refused(place, "stale_epoch"):
        todos.release(GOAL, CLAUDE, ReleaseLease(todo_id="T3", version=6, epoch=2))
    with refused(place, "not_holder"):
        place.ws.todos.update(GOAL, CLAUDE, "T3", complete=True)


def test_a_late_renewal_is_taken_while_nobody_took_over(place: Place) -> None:
    place.clock.advance(minutes=20)
    assert place.ws.view(GOAL).leases[-1].status == "expired"
    done = place.ws.todos.renew(GOAL, CLAUDE, RenewLease(todo_id="T3", version=5, epoch=2))
    assert done.state.todos["T3"].lease_epoch == 2


def test_a_deleted_lease_file_does_not_reset_the_epoch(place: Place) -> None:
    place.lease("T3").unlink()
    with pytest.raises(Fenced) as caught:
        place.ws.todos.renew(GOAL, CLAUDE, RenewLease(todo_id="T3", version=5, epoch=1))
    assert caught.value.code == "stale_epoch"
    assert json.loads(place.lease("T3").read_text())["lease_epoch"] == 2


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (ClaimTodo(todo_id="T9"), "unknown_todo"),
        (ClaimTodo(todo_id="T1"), "illegal_transition"),
        (ClaimTodo(todo_id="T3"), "lease_held"),
        (ClaimTodo(todo_id="T3", expect_version=4), "version_mismatch"),
        (ClaimTodo(todo_id="T3", ttl_seconds=0), "invalid_value"),
    ],
)
def test_claims_that_may_not_be(place: Place, command: ClaimTodo, code: str) -> None:
    with refused(place, code):
        place.ws.todos.claim(GOAL, CODEX, command)


def test_work_on_the_same_files_is_refused_even_in_another_goal(place: Place) -> None:
    place.ws.todos.add(GOAL, CODEX, AddTodo(title="Buttons", write_scope=("src/theme/b.css",)))
    with refused(place, "scope_overlap"):
        place.ws.todos.claim(GOAL, CODEX, ClaimTodo(todo_id="T4"))
    open_goal(place, "shop")
    place.ws.todos.add("shop", CODEX, AddTodo(title="Same files", write_scope=("src/theme/**",)))
    with refused(place, "scope_overlap") as error:
        place.ws.todos.claim("shop", CODEX, ClaimTodo(todo_id="T1"))
    assert error.facts["held_by"] == "dark-mode/T3"


def test_a_late_hand_in_is_refused_while_another_goal_works_on_the_same_files(
    place: Place,
) -> None:
    open_goal(place, "shop")
    place.ws.todos.add("shop", CODEX, AddTodo(title="Same files", write_scope=("src/theme/**",)))
    place.clock.advance(minutes=20)
    place.ws.todos.claim("shop", CODEX, ClaimTodo(todo_id="T1"))
    with refused(place, "scope_overlap"):
        place.ws.todos.update(GOAL, CLAUDE, "T3", complete=True, version=5, epoch=2)
