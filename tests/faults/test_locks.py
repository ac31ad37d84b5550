"""Locks between processes: named, waited for with a limit, never broken, never shared."""

from __future__ import annotations

import json
import os
import platform
import signal
from collections.abc import Callable
from dataclasses import asdict, replace
from multiprocessing.connection import Connection
from pathlib import Path

import pytest
from loopx_kernel.domain.todo import AddTodo
from loopx_kernel.errors import Busy, Storage
from loopx_kernel.store import locks
from loopx_kernel.store.files import Files
from loopx_kernel.store.locks import Holder
from loopx_kernel.workspace import Workspace

from tests.faults.forks import FORK, heard, killed, started
from tests.kernel.workspace.build import CODEX, GOAL, Place, ledger_tree, refused

MORE = AddTodo(title="More")


def keep_lock(pipe: Connection, place: Place, name: str = GOAL) -> None:
    """Holds a goal's lock, or the workspace's, until it is told to let go."""
    path = place.root / ".loopx" / "runtime" / name / "lock"
    with locks.hold(
        path,
        purpose="a long look",
        actor=CODEX,
        timeout_seconds=5,
        files=Files(),
        clock=place.clock,
    ):
        pipe.send("held")
        pipe.recv()
    pipe.send("let go")


def note_of(place: Place) -> Path:
    return place.runtime / "lock.holder.json"


def impatient(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(locks, "CHANGE_SECONDS", 0.1)
    patch.setattr(locks, "CHECK_SECONDS", 0.1)


def test_a_lock_held_by_another_process_is_named_and_not_broken(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    process, pipe = started(keep_lock, place)
    assert heard(pipe) == "held"
    impatient(monkeypatch)
    before = place.lines()
    with pytest.raises(Busy) as caught:
        place.ws.todos.add(GOAL, CODEX, MORE)
    assert caught.value.code == "lock_timeout"
    holder = caught.value.facts["holder"]
    assert (holder["pid"], holder["running"]) == (process.pid, True)
    assert (holder["purpose"], holder["actor"]) == ("a long look", CODEX)
    assert place.lines() == before
    # Reading takes no lock.
    assert place.again().view(GOAL).seq == len(before)
    killed(process)
    monkeypatch.undo()
    place.ws.todos.add(GOAL, CODEX, MORE)


@pytest.mark.parametrize(
    ("name", "act", "seconds"),
    [
        ("change", lambda ws: ws.todos.add(GOAL, CODEX, MORE), 10),
        ("check", lambda ws: ws.handoff.bring_level(GOAL, CODEX), 2),
        ("workspace", lambda ws: ws.agents.add("gemini"), 10),
    ],
)
def test_each_kind_of_work_waits_for_its_own_time(
    place: Place,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    act: Callable[[Workspace], object],
    seconds: int,
) -> None:
    _, pipe = started(keep_lock, place, "_workspace" if name == "workspace" else GOAL)
    assert heard(pipe) == "held"
    # A clock that is told what time it is: no test waits for ten seconds.
    now = [1000.0]
    monkeypatch.setattr(locks.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(locks.time, "sleep", lambda _: now.__setitem__(0, now[0] + 0.5))
    with pytest.raises(Busy) as caught:
        act(place.ws)
    assert now[0] - 1000 == seconds
    assert f"(waited {seconds} s)" in caught.value.message
    pipe.send("let go")
    assert heard(pipe) == "let go"


def test_a_stopped_holder_keeps_its_lock_until_it_goes_on(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    process, pipe = started(keep_lock, place)
    assert heard(pipe) == "held"
    assert process.pid is not None
    os.kill(process.pid, signal.SIGSTOP)
    with monkeypatch.context() as patch:
        impatient(patch)
        with refused(place, "lock_timeout") as error:
            place.ws.todos.add(GOAL, CODEX, MORE)
    assert error.facts["holder"]["running"] is True
    os.kill(process.pid, signal.SIGCONT)
    pipe.send("let go")
    assert heard(pipe) == "let go"
    place.ws.todos.add(GOAL, CODEX, MORE)


MINE = Holder(1, platform.node(), "2026-09-16T22:40:00Z", "claim T3", CODEX)


def dead(_: int) -> Holder:
    process = FORK.Process(target=os.getpid)
    process.start()
    process.join()
    assert process.pid is not None
    return replace(MINE, pid=process.pid)


@pytest.mark.parametrize(
    ("note", "running", "words"),
    [
        (dead, False, "(not running)"),
        (lambda pid: replace(MINE, pid=pid), True, "(running)"),
        # The number belongs to another program by now.
        (lambda pid: replace(MINE, pid=pid, started="1"), False, "(not running)"),
        (lambda pid: replace(MINE, pid=pid, host="otherhost"), None, "(on another host)"),
        (lambda pid: replace(MINE, pid=10**30), False, "(not running)"),
    ],
    ids=["dead", "alive", "number used again", "another host", "no number of a process"],
)
def test_who_holds_it_is_told_and_nothing_is_ever_taken_away(
    place: Place,
    monkeypatch: pytest.MonkeyPatch,
    note: Callable[[int], Holder],
    running: bool | None,
    words: str,
) -> None:
    process, pipe = started(keep_lock, place)
    assert heard(pipe) == "held"
    assert process.pid is not None
    note_of(place).write_text(json.dumps(asdict(note(process.pid))), "utf-8")
    impatient(monkeypatch)
    with refused(place, "lock_timeout") as error:
        place.ws.todos.add(GOAL, CODEX, MORE)
    assert error.facts["holder"]["running"] is running
    assert words in error.message
    pipe.send("let go")
    assert heard(pipe) == "let go"


@pytest.mark.parametrize(
    "note", [b"", b"{", b"[]", b"\xff", b'{"pid": -1}', b'{"pid": 1, "host": 2}', b"[" * 9000]
)
def test_a_note_that_makes_no_sense_is_not_believed(
    place: Place, monkeypatch: pytest.MonkeyPatch, note: bytes
) -> None:
    _, pipe = started(keep_lock, place)
    assert heard(pipe) == "held"
    note_of(place).write_bytes(note)
    impatient(monkeypatch)
    with refused(place, "lock_timeout") as error:
        place.ws.todos.add(GOAL, CODEX, MORE)
    assert error.facts["holder"] is None
    pipe.send("let go")
    assert heard(pipe) == "let go"
    # Without a holder no note stops anybody.
    note_of(place).write_bytes(note)
    place.ws.todos.add(GOAL, CODEX, MORE)


@pytest.mark.parametrize("name", [GOAL, "_workspace"])
def test_a_lock_file_that_is_a_link_is_refused(place: Place, tmp_path: Path, name: str) -> None:
    path = place.root / ".loopx" / "runtime" / name / "lock"
    path.unlink(missing_ok=True)
    path.symlink_to(tmp_path / "elsewhere")
    before = ledger_tree(place)
    with pytest.raises(Storage) as caught:
        if name == GOAL:
            place.ws.todos.add(GOAL, CODEX, MORE)
        else:
            place.ws.agents.add("gemini")
    assert caught.value.code == "not_regular"
    assert ledger_tree(place) == before
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize("also", [False, True])
def test_a_lock_file_deleted_while_it_is_held_lets_no_two_write(
    place: Place, monkeypatch: pytest.MonkeyPatch, also: bool
) -> None:
    """``also``: somebody who made the lock file anew writes meanwhile."""
    core = place.ws._core
    real, others = core.require_unfenced, []

    def deleted() -> None:
        real()
        (place.runtime / "lock").unlink()
        if also:
            others.append(place.again().todos.add(GOAL, CODEX, MORE).receipt.event_id)

    with monkeypatch.context() as patch:
        # By then the lock is held, and nothing was read under it.
        patch.setattr(core, "require_unfenced", deleted)
        with pytest.raises(Busy) as caught:
            place.ws.todos.add(GOAL, CODEX, AddTodo(title="Mine"), event_id="e-0900")
    assert "deleted or replaced" in caught.value.message
    fresh = place.again()
    assert fresh.events.verify(GOAL).ok
    stored = [row.event.event_id for row in fresh.events.list(GOAL)]
    assert set(others) <= set(stored) and "e-0900" not in stored
    # The same command may be sent again.
    done = place.ws.todos.add(GOAL, CODEX, AddTodo(title="Mine"), event_id="e-0900")
    assert not done.receipt.replayed
    assert place.again().events.verify(GOAL).ok
