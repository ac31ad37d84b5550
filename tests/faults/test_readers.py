"""Readers beside a busy writer: no damage where there is none, no wrong count, no lock."""

from __future__ import annotations

import json
import subprocess
from datetime import timedelta
from multiprocessing.connection import Connection
from pathlib import Path

from loopx_kernel.clock import format_time
from loopx_kernel.store import locks
from loopx_kernel.store.files import Files
from loopx_kernel.store.writer import Writer

from tests.cli.helpers import PROGRAM
from tests.faults.forks import heard, started
from tests.kernel.workspace.build import CLAUDE, GOAL, Place
from tests.patience import PATIENCE

LINES = 10_000
COMMANDS = 5


def write_fast(pipe: Connection, place: Place) -> None:
    """Renews the lease of T3 again and again, line by line, with a flush for each."""
    ws = place.again()
    ledger = ws._core.goal(GOAL)
    ledger.refresh()
    epoch, version = 2, ledger.state.todos["T3"].version
    position = ledger.position
    until = format_time(place.clock.now + timedelta(hours=1))
    at = format_time(place.clock.now)
    with (
        locks.hold(
            place.runtime / "lock",
            purpose="many",
            actor=CLAUDE,
            timeout_seconds=10,
            files=Files(),
        ),
        Writer(ledger.journal, ledger.quarantine) as writer,
    ):
        pipe.send(position.seq)
        for number in range(1, LINES + 1):
            payload = {
                "todo_id": "T3",
                "lease_epoch": epoch,
                "version": version + number,
                "expires_at": until,
                "clock": {},
            }
            values = {
                "event_id": f"renewal-{number}",
                "goal_id": GOAL,
                "event_type": "todo.renewed",
                "recorded_at": at,
                "actor_kind": "agent",
                "actor_agent_id": CLAUDE,
                "payload": payload,
                "request": "0" * 64,
            }
            position = writer.append(values, position).position
    pipe.send("done")


def test_readers_beside_ten_thousand_writes_see_no_damage_and_no_wrong_count(place: Place) -> None:
    reader, version = place.again(), 5
    _, pipe = started(write_fast, place)
    start = heard(pipe)
    commands: list[subprocess.Popen[str]] = []
    done = False
    while not done:
        done = pipe.poll(0)
        for ws in (reader, place.again()):
            view = ws.view(GOAL)
            assert not view.reads.damage
            assert not view.alerts
            held = next(lease for lease in view.leases if lease.todo_id == "T3")
            assert held.version == version + view.seq - start
            assert view.envelope.coverage.complete
        row = reader.events.tail(GOAL, 1)[0]
        assert row.effective and row.event.seq >= view.seq
        found = reader.events.show(GOAL, row.event.event_id)
        assert found.event == row.event
        page = reader.events.page(GOAL, 3, since=row.event.seq - 3, event_type="todo.renewed")
        assert all(one.effective for one in page.rows)
        if len(commands) < COMMANDS and (not commands or commands[-1].poll() is not None):
            commands.append(status_of(place.root))
    assert heard(pipe) == "done"
    assert commands
    for command in commands:
        check(command, version)
    last = place.again().view(GOAL)
    assert (last.seq, last.leases[-1].version) == (start + LINES, version + LINES)
    assert place.again().events.verify(GOAL).lines == start + LINES


def status_of(root: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [PROGRAM, "status", "--json"],
        cwd=root,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def check(process: subprocess.Popen[str], version: int) -> None:
    """The command's own picture of the goal was right, whenever it looked."""
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, err
    told = json.loads(out)
    lease = next(row for row in told["leases"] if row["todo_id"] == "T3")
    assert lease["version"] >= version
    reasons = [reason["code"] for reason in told["projection_envelope"]["alert_reasons"]]
    assert "integrity" not in reasons
