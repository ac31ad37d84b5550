"""Clocks: stepped, behind, of other hosts and boots, in other zones; order is position."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from loopx_kernel.clock import SystemClock
from loopx_kernel.domain.lease import ClaimTodo, RenewLease
from loopx_kernel.domain.todo import AddTodo
from loopx_kernel.errors import Conflict
from loopx_kernel.workspace import Workspace

from tests.cli.helpers import PROGRAM, loopx
from tests.faults.test_leases import raw
from tests.kernel.workspace.build import (
    CLAUDE,
    CODEX,
    GOAL,
    PUSH,
    Place,
    connected,
    open_goal,
)
from tests.patience import PATIENCE

DAY = timedelta(days=1)
MINUTE = timedelta(minutes=1)
FAR = datetime(8999, 1, 1, tzinfo=UTC)
TAKE = ClaimTodo(todo_id="T3")


def looking(place: Place, wall: timedelta, **clock: object) -> Workspace:
    """The workspace seen with a clock that shows ``wall`` more than the fixture's."""
    moved = replace(place.clock, now=place.clock.now + wall, **clock)  # type: ignore[arg-type]
    return Workspace.open(place.root, clock=moved)


# The lease of T3 was taken a minute ago for 15 minutes, when host-1 was up for 10,600 seconds
# or so; ``boot`` is how many minutes later by that clock, whatever the wall clock shows.
HELD, FREE, DOUBTFUL = "held", "free", "free by the wall clock"
CLOCKS = {
    "no time passed": (0 * MINUTE, 0, {}, HELD),
    "wall clock a day ahead": (DAY, 1, {}, HELD),
    "wall clock a day back": (-DAY, 1, {}, HELD),
    "wall clock years ahead": (4000 * DAY, 13.9, {}, HELD),
    "15 minutes by the boot clock": (0 * MINUTE, 14, {}, FREE),
    "15 minutes, wall clock a day back": (-DAY, 14, {}, FREE),
    "slept for two hours": (120 * MINUTE, 120, {}, FREE),
    "another boot": (0 * MINUTE, -100, {"boot_id": "boot-2"}, FREE),
    "another boot, wall clock back": (-DAY, -100, {"boot_id": "boot-2"}, FREE),
    "another host in time": (13 * MINUTE, 0, {"host_id": "host-2"}, HELD),
    "another host within a minute": (
        14 * MINUTE + timedelta(seconds=59),
        0,
        {"host_id": "host-2"},
        HELD,
    ),
    "another host after a minute": (15 * MINUTE, 0, {"host_id": "host-2"}, DOUBTFUL),
    "another host without a name": (15 * MINUTE, 0, {"host_id": ""}, DOUBTFUL),
    "no boot clock, in time": (13 * MINUTE, None, {}, HELD),
    "no boot clock, after it": (14 * MINUTE, None, {}, DOUBTFUL),
}


@pytest.mark.parametrize("name", CLOCKS)
def test_whose_clock_says_that_a_lease_is_over(place: Place, name: str) -> None:
    wall, boot, more, outcome = CLOCKS[name]
    up = place.clock.boot_seconds
    assert up is not None
    seconds = None if boot is None else up + boot * 60
    ws = looking(place, wall, boot_seconds=seconds, **more)
    seen = ws.view(GOAL).leases[-1]
    assert seen.status == ("active" if outcome == HELD else "expired")
    if outcome == HELD:
        with pytest.raises(Conflict) as caught:
            ws.todos.claim(GOAL, CODEX, TAKE)
        assert caught.value.code == "lease_held"
        return
    done = ws.todos.claim(GOAL, CODEX, TAKE)
    todo = done.state.todos["T3"]
    assert (todo.lease_epoch, todo.version) == (3, 6)
    taken = ws.view(GOAL).leases[-1]
    assert (taken.owner, taken.by_wall_clock) == (CODEX, outcome == DOUBTFUL)


def test_a_takeover_by_the_wall_clock_alone_is_listed_as_such(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = replace(place.clock, host_id="host-2", now=place.clock.now + 20 * MINUTE)
    Workspace.open(place.root, clock=clock).todos.claim(GOAL, CODEX, TAKE)
    monkeypatch.chdir(place.root)
    row = loopx("lease", "show", "T3", "--json", clock=clock).json["lease"]
    assert row["by_wall_clock"] is True
    assert "active, by the wall clock" in loopx("lease", "list", clock=clock).out


def test_a_clock_stepped_to_and_fro_keeps_the_holder_and_the_order(place: Place) -> None:
    for number, step in enumerate((DAY, -2 * DAY, 400 * DAY, -400 * DAY, DAY)):
        place.clock.now += step
        place.clock.boot_seconds = (place.clock.boot_seconds or 0) + 60
        renew = RenewLease(todo_id="T3", version=5 + number, epoch=2)
        lease = place.ws.todos.renew(GOAL, CLAUDE, renew).state.todos["T3"].lease
        assert lease is not None
        assert lease.expires_at == place.clock.now + 15 * MINUTE
        with pytest.raises(Conflict):
            place.again().todos.claim(GOAL, CODEX, TAKE)
    assert place.again().events.verify(GOAL).ok
    flags = [row.goes_back for row in place.again().events.list(GOAL, event_type="todo.renewed")]
    assert flags == [False, True, False, True, False]


def test_a_time_before_the_one_before_it_is_kept_and_flagged(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.clock.now -= timedelta(seconds=1)
    added = place.ws.todos.add(GOAL, CODEX, AddTodo(title="Earlier")).receipt
    place.clock.now += timedelta(seconds=1)
    place.ws.todos.add(GOAL, CODEX, AddTodo(title="Later"))
    ws = place.again()
    every = {row.event.seq: row.goes_back for row in ws.events.list(GOAL)}
    assert [seq for seq, back in every.items() if back] == [added.seq]
    ways = (
        ws.events.tail(GOAL, 2),
        ws.events.page(GOAL, 3).rows,
        ws.events.page(GOAL, 2, since=added.seq - 1).rows,
        tuple(ws.events.list(GOAL, event_type="todo.added")),
        tuple(ws.events.list(GOAL, since=added.seq - 1, before=added.seq + 1)),
        (ws.events.show(GOAL, added.event_id),),
    )
    for rows in ways:
        assert [row.event.seq for row in rows if row.goes_back] == [added.seq]
    monkeypatch.chdir(place.root)
    text = loopx("event", "list").out.splitlines()
    marked = [line for line in text if "EARLIER THAN THE LINE BEFORE IT" in line]
    assert [line.split()[0] for line in marked] == [f"#{added.seq}"]
    shown = loopx("event", "show", added.event_id, "--json").json["event"]
    assert (shown["goes_back"], shown["effective"]) == (True, True)


@pytest.mark.parametrize(("seconds", "told"), [(300, False), (301, True), (86400, True)])
@pytest.mark.parametrize("journal", [GOAL, "_workspace"])
def test_a_clock_too_far_behind_the_last_line_is_an_alert(
    place: Place, monkeypatch: pytest.MonkeyPatch, seconds: int, told: bool, journal: str
) -> None:
    place.clock.advance(days=30)
    if journal == GOAL:
        place.ws.todos.add(GOAL, CODEX, AddTodo(title="Last"))
    else:
        place.ws.agents.add("gemini")
    place.clock.now -= timedelta(seconds=seconds)
    monkeypatch.chdir(place.root)
    whole = place.again().workspace_view()
    reasons = {reason.code: reason.ids for reason in whole.envelope.alert_reasons}
    assert ("integrity" in reasons) is told
    warned = [one.sentence for goal in whole.goals for one in goal.warnings]
    told_by = warned if journal == GOAL else whole.alerts
    assert ["behind line #" in text and journal in text for text in told_by] == [True] * told
    if journal == GOAL:
        for command in (("status",), ("doctor",)):
            assert ("behind line #" in loopx(*command, clock=place.clock).out) is told
        assert loopx("doctor", clock=place.clock).status == (1 if told else 0)


def test_a_line_from_the_far_future_costs_one_approval_and_no_later_one(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(place.root)
    action = ("--action", "publish", "--command", str(PUSH.command))
    place.decide(place.ask(), expires_at=place.clock.now + 30 * MINUTE)
    assert loopx("gate", "check", *action, clock=place.clock).status == 0
    added = {"todo_id": "T4", "title": "From the future"}
    seq = raw(place, "todo.added", added, CODEX, at=FAR)
    checked = loopx("gate", "check", *action, clock=place.clock)
    assert checked.status == 1
    assert f"since line #{seq} " in checked.out and "8999-01-01" in checked.out
    used = loopx("gate", "use", *action, "--agent", CLAUDE, "--json", clock=place.clock)
    assert used.code == "gate_required"
    assert "clock" in [warned.id for warned in place.again().view(GOAL).warnings]
    # Asked, decided and used anew: the line is still there and spoils nothing.
    place.decide(place.ask(), expires_at=place.clock.now + 30 * MINUTE)
    assert loopx("gate", "check", *action, clock=place.clock).status == 0
    used = loopx("gate", "use", *action, "--agent", CLAUDE, "--json", clock=place.clock)
    assert used.status == 0
    assert not place.again().view(GOAL).warnings


STEPPED = """
import sys
import time_machine
from loopx_kernel.cli.main import main
with time_machine.travel(float(sys.argv[1]), tick=True):
    sys.exit(main(sys.argv[2:]))
"""


def at_wall_clock(place: Place, seconds: float, *command: str) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own, whose wall clock alone is elsewhere."""
    moment = str(time.time() + seconds)
    arguments = [sys.executable, "-c", STEPPED, moment, *command, "--json"]
    return subprocess.run(
        arguments, cwd=place.root, capture_output=True, text=True, timeout=PATIENCE, check=False
    )


@pytest.fixture
def real(tmp_path: Path) -> Place:
    """A workspace by the clocks of this machine; claude-code holds T1 for 15 minutes."""
    place = connected(tmp_path, SystemClock())
    open_goal(place)
    place.ws.todos.add(GOAL, CODEX, AddTodo(title="Work"))
    place.ws.todos.claim(GOAL, CLAUDE, ClaimTodo(todo_id="T1"))
    return place


CLAIM = ("todo", "claim", "T1", "--agent", CODEX)


@pytest.mark.skipif(SystemClock().read().boot_seconds is None, reason="needs a boot clock")
def test_a_process_with_a_stepped_wall_clock_does_not_take_a_lease(real: Place) -> None:
    for seconds in (86400, -86400, 3600 * 24 * 365):
        told = at_wall_clock(real, seconds, *CLAIM)
        assert told.returncode == 3, told
        assert json.loads(told.stderr)["error"]["code"] == "lease_held"


def in_namespace(*options: str) -> list[str]:
    return ["unshare", "--time", *options, "--"]


def may_move_clocks() -> bool:
    try:
        probe = subprocess.run(
            [*in_namespace("--boottime", "100"), "true"], capture_output=True, check=False
        )
    except OSError:
        return False
    return probe.returncode == 0


@pytest.mark.root
@pytest.mark.parametrize(("later", "status"), [(60, 3), (14 * 60, 3), (16 * 60, 0), (7 * 86400, 0)])
def test_a_process_whose_boot_clock_went_on_takes_it_once_it_is_over(
    real: Place, later: int, status: int
) -> None:
    """As after a sleep of the machine, with the wall clock where it was."""
    if not may_move_clocks():
        pytest.skip("may not make time namespaces")
    told = subprocess.run(
        [*in_namespace("--boottime", str(later)), PROGRAM, *CLAIM, "--json"],
        cwd=real.root,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert told.returncode == status, told
    epoch = Workspace.open(real.root).state(GOAL).todos["T1"].lease_epoch
    assert epoch == (2 if status == 0 else 1)
