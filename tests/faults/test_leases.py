"""Lines past every command: writers whose time is over, and leases slipped in beside others."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from typing import Any

import pytest
from loopx_kernel.clock import format_time
from loopx_kernel.domain.lease import ClaimTodo, ReleaseLease, RenewLease
from loopx_kernel.domain.todo import AddTodo
from loopx_kernel.errors import LoopxError
from loopx_kernel.store import locks
from loopx_kernel.store.files import Files

from tests.cli.helpers import loopx
from tests.kernel.workspace.build import CLAUDE, CODEX, GOAL, Place, open_goal, refused, with_files
from tests.kernel.workspace.forge import append_raw, records


def raw(
    place: Place,
    event_type: str,
    payload: dict[str, Any],
    agent: str = CLAUDE,
    *,
    goal_id: str = GOAL,
    at: datetime | None = None,
) -> int:
    """A line as an old program would append it, whatever it says; its ``seq``."""
    journal = place.root / ".loopx" / "runtime" / goal_id / "events.jsonl"
    lines = records(journal)
    record = {
        "event_id": f"raw-{len(lines)}",
        "goal_id": goal_id,
        "event_type": event_type,
        "recorded_at": format_time(at or place.clock.now),
        "actor_kind": "agent",
        "actor_agent_id": agent,
        "payload": payload,
        "request": "0" * 64,
    }
    append_raw(journal, record)
    return len(lines) + 1


def taken_over(place: Place) -> None:
    """T3 of claude-code ran out and is codex's now: version 6, epoch 3."""
    place.clock.advance(minutes=20)
    place.ws.todos.claim(GOAL, CODEX, ClaimTodo(todo_id="T3", expect_version=5))


ZOMBIES = {
    "renewal with the old epoch": ("todo.renewed", {"lease_epoch": 2}, "stale_epoch"),
    "renewal with the new epoch": ("todo.renewed", {"lease_epoch": 3}, "not_holder"),
    "renewal with an epoch to come": ("todo.renewed", {"lease_epoch": 4}, "stale_epoch"),
    "release with the old epoch": ("todo.released", {"lease_epoch": 2}, "stale_epoch"),
    "release by somebody else": ("todo.released", {"lease_epoch": 3}, "not_holder"),
    "hand-in with the old epoch": ("todo.updated", {"lease_epoch": 2}, "stale_epoch"),
    "end with the old epoch": ("todo.completed", {"lease_epoch": 2}, "stale_epoch"),
    "end by somebody else": ("todo.completed", {"lease_epoch": 3}, "not_holder"),
}


@pytest.mark.parametrize("name", ZOMBIES)
def test_a_line_by_a_former_holder_does_nothing_and_is_listed(
    place: Place, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Even with the right version, and from a program that asks nobody."""
    taken_over(place)
    event_type, epoch, code = ZOMBIES[name]
    payload: dict[str, Any] = {"todo_id": "T3", "version": 7, **epoch}
    if event_type == "todo.renewed":
        payload["expires_at"] = format_time(place.clock.now + timedelta(minutes=15))
    before = place.ws.state(GOAL).todos["T3"]
    seq = raw(place, event_type, payload)
    state = place.again().state(GOAL)
    assert state.todos["T3"] == before
    assert [(alert.seq, alert.code) for alert in state.alerts] == [(seq, code)]
    place.ws.todos.renew(GOAL, CODEX, RenewLease(todo_id="T3", version=6, epoch=3))
    monkeypatch.chdir(place.root)
    listed = loopx("lease", "list", "--json", clock=place.clock).json
    assert listed["refused"] == [
        {
            "seq": seq,
            "event_id": f"raw-{seq - 1}",
            "event_type": event_type,
            "actor_agent_id": CLAUDE,
            "code": code,
            "message": state.alerts[0].message,
        }
    ]
    text = loopx("lease", "list", clock=place.clock).out
    assert f"refused: #{seq} {event_type} by {CLAUDE}: {code}: " in text
    doctor = loopx("doctor", clock=place.clock)
    assert doctor.status == 1 and f"#{seq} {event_type} has no effect" in doctor.out
    reasons = listed["projection_envelope"]["alert_reasons"]
    assert {"code": "integrity", "ids": [f"#{seq}"]} in reasons


@pytest.mark.parametrize("right_version", [True, False])
def test_a_command_of_a_former_holder_is_refused_and_changes_no_byte(
    place: Place, right_version: bool
) -> None:
    taken_over(place)
    version = 6 if right_version else 5
    todos = place.ws.todos
    renew = RenewLease(todo_id="T3", version=version, epoch=2)
    release = ReleaseLease(todo_id="T3", version=version, epoch=2)
    with refused(place, "stale_epoch"):
        todos.renew(GOAL, CLAUDE, renew)
    with refused(place, "stale_epoch"):
        todos.release(GOAL, CLAUDE, release)
    with refused(place, "stale_epoch"):
        todos.update(GOAL, CLAUDE, "T3", complete=True, version=version, epoch=2)
    with refused(place, "not_holder"):
        todos.release(GOAL, CLAUDE, ReleaseLease(todo_id="T3", version=6, epoch=3))


@pytest.mark.parametrize("harm", ["deleted", "rolled back"])
def test_the_epoch_outlives_its_file(place: Place, harm: str) -> None:
    old = place.lease("T3").read_bytes()
    taken_over(place)
    if harm == "deleted":
        place.lease("T3").unlink()
    else:
        place.lease("T3").write_bytes(old)
    ws = place.again()
    with refused_and_level(place, "stale_epoch"):
        ws.todos.renew(GOAL, CLAUDE, RenewLease(todo_id="T3", version=6, epoch=2))
    place.clock.advance(minutes=20)
    done = ws.todos.claim(GOAL, CLAUDE, ClaimTodo(todo_id="T3"))
    assert done.state.todos["T3"].lease_epoch == 4
    assert json.loads(place.lease("T3").read_text())["lease_epoch"] == 4


class refused_and_level:
    """A refusal may bring files level; the only new line says which one was missing."""

    def __init__(self, place: Place, code: str) -> None:
        self.place, self.code = place, code

    def __enter__(self) -> None:
        self.lines = len(self.place.lines())

    def __exit__(self, kind: Any, error: Any, trace: Any) -> bool:
        assert error is not None and error.code == self.code
        new = [json.loads(line)["event_type"] for line in self.place.lines()[self.lines :]]
        assert set(new) <= {"file.rebuilt"}
        assert json.loads(self.place.lease("T3").read_text())["lease_epoch"] == 3
        return True


@pytest.mark.parametrize("minutes", [16, 60, 24 * 60 * 30])
def test_a_late_renewal_is_taken_while_nobody_took_over(place: Place, minutes: int) -> None:
    place.clock.advance(minutes=minutes)
    renew = RenewLease(todo_id="T3", version=5, epoch=2)
    done = place.ws.todos.renew(GOAL, CLAUDE, renew)
    assert done.state.todos["T3"].lease_epoch == 2
    assert place.again().view(GOAL).leases[-1].status == "active"


def slip_in(place: Place, scope: str = "src/theme/a.css", goal_id: str = "shop") -> None:
    """A claim in another goal that no command would allow: T3 of dark-mode has these files."""
    open_goal(place, goal_id)
    place.ws.todos.add(goal_id, CODEX, AddTodo(title="Same files", write_scope=(scope,)))
    claim = {
        "todo_id": "T1",
        "lease_epoch": 1,
        "version": 1,
        "write_scopes": [scope],
        "expires_at": format_time(place.clock.now + timedelta(minutes=15)),
        "clock": {},
    }
    raw(place, "todo.claimed", claim, CODEX, goal_id=goal_id)


def test_a_lease_slipped_in_beside_anothers_is_named_and_not_worked_on(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    slip_in(place)
    ws = place.again()
    place_of_both = "dark-mode/T3+shop/T1"
    whole = ws.workspace_view()
    reasons = {reason.code: reason.ids for reason in whole.envelope.alert_reasons}
    assert reasons["integrity"] == (f"{GOAL}: {place_of_both}", f"shop: {place_of_both}")
    for goal_id in (GOAL, "shop"):
        assert [warned.id for warned in ws.view(goal_id).warnings] == [place_of_both]
    assert ws.view(GOAL, CLAUDE).contract.answer == "run"
    later = ws.view("shop", CODEX).contract
    assert (later.answer, later.reasons[0].code) == ("wait", "lease_held")
    assert ws.view("shop").contract.answer == "wait"
    monkeypatch.chdir(place.root)
    for command in (
        ("status", "--goal", GOAL),
        ("status", "--goal", "shop"),
        ("status", "--scope", "workspace"),
        ("doctor",),
        ("lease", "list", "--goal", "shop"),
    ):
        out = loopx(*command, clock=place.clock).out
        assert f"dark-mode/T3 of {CLAUDE}" in out and f"shop/T1 of {CODEX}" in out, command
    assert loopx("doctor", clock=place.clock).status == 1
    # Once one of them ended, nothing is said any more.
    place.ws.todos.release(GOAL, CLAUDE, ReleaseLease(todo_id="T3", version=5, epoch=2))
    assert not place.again().view("shop").warnings
    assert place.again().view("shop", CODEX).contract.answer == "run"


def test_the_way_a_link_leads_counts(place: Place) -> None:
    (place.root / "mall-frontend" / "src" / "theme").mkdir(parents=True)
    (place.root / "mall-frontend" / "styles").symlink_to("src")
    slip_in(place, "styles/theme/**")
    assert [warned.id for warned in place.again().view(GOAL).warnings] == ["dark-mode/T3+shop/T1"]


def test_leases_of_other_files_are_no_clash(place: Place) -> None:
    slip_in(place, "docs/**")
    assert not place.again().view(GOAL).warnings
    assert place.again().view("shop", CODEX).contract.answer == "run"


def test_a_lease_that_ran_out_clashes_with_nobody(place: Place) -> None:
    place.clock.advance(minutes=20)
    slip_in(place)
    assert not place.again().view(GOAL).warnings


class ClaimMeanwhile(Files):
    """Somebody claims in another goal just when the line of a claim is about to be written."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.outcome = ""

    def write(self, fd: int, data: bytes) -> int:
        if b'"todo.claimed"' in data and not self.outcome:
            self.outcome = "claimed"
            try:
                self.place.again().todos.claim("shop", CODEX, ClaimTodo(todo_id="T1"))
            except LoopxError as error:
                self.outcome = error.code
        return super().write(fd, data)


def test_claims_of_two_goals_are_made_one_after_the_other(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.ws.todos.release(GOAL, CLAUDE, ReleaseLease(todo_id="T3", version=5, epoch=2))
    open_goal(place, "shop")
    place.ws.todos.add("shop", CODEX, AddTodo(title="Same files", write_scope=("src/**",)))
    files = ClaimMeanwhile(place)
    ws = with_files(place.root, files, place.clock)
    monkeypatch.setattr(locks, "CHANGE_SECONDS", 0.1)
    ws.todos.claim(GOAL, CLAUDE, ClaimTodo(todo_id="T3"))
    assert files.outcome == "lock_timeout"
    with refused(place, "scope_overlap"):
        place.ws.todos.claim("shop", CODEX, ClaimTodo(todo_id="T1"))
    assert not place.again().view("shop").warnings
