"""Damaged journals cut by a signature: what is lost is named, and the goal is written again."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from loopx_kernel.domain.lease import ClaimTodo
from loopx_kernel.domain.todo import AddTodo
from loopx_kernel.errors import Damaged, LoopxError
from loopx_kernel.store.files import Files
from loopx_kernel.workspace import Done, Workspace

from tests.kernel.workspace.build import (
    CLAUDE,
    CODEX,
    GOAL,
    OWNER,
    PUSH,
    SECOND,
    Place,
    copied,
    enrol,
    ledger_tree,
    new_key,
    open_goal,
    refused,
    with_files,
)
from tests.kernel.workspace.forge import append_raw, records, rewrite

HOUSE = "_workspace"


def cut(place: Place, goal_id: str = GOAL, owner: str = OWNER) -> Done[Any]:
    return place.sign(place.ws.repairs.journal(goal_id, owner))


def quarantined(place: Place, goal_id: str = GOAL) -> bytes:
    folder = place.runtime.parent / goal_id / "quarantine"
    (path,) = folder.glob("*-repair")
    return path.read_bytes()


def fix_files(place: Place) -> None:
    """Every damaged file that is left, one signature each."""
    for row in place.ws.repairs.list():
        place.sign(place.ws.repairs.file(Path(row.damage.path), OWNER))


def assert_writable(place: Place) -> None:
    """Nobody sees damage, and agents and people write again."""
    for ws in (place.ws, place.again(), place.again()):
        assert ws.repairs.list() == ()
        assert not ws.view(GOAL).reads.damage
        assert ws.events.verify(GOAL).problems == ()
    done = place.ws.todos.add(GOAL, CODEX, AddTodo(title="Write the docs"))
    place.ws.todos.claim(GOAL, CODEX, ClaimTodo(todo_id=done.object_id))
    gate_id = place.ask(PUSH)
    assert place.decide(gate_id).state.gates[gate_id].status == "approved"
    assert place.again().repairs.list() == ()
    assert "Write the docs" in place.state_file.read_text("utf-8")


def break_line(place: Place, number: int) -> bytes:
    """A bit of that line falls over; what stands from there on is returned."""
    lines = place.journal.read_bytes().splitlines(keepends=True)
    at = len(b"".join(lines[: number - 1]))
    lines[number - 1] = lines[number - 1].replace(b"agent", b"owner", 1)
    place.journal.write_bytes(b"".join(lines))
    return b"".join(lines)[at:]


def bit(place: Place) -> int:
    break_line(place, 11)
    return 10


def hole(place: Place) -> int:
    lines = place.journal.read_bytes().splitlines(keepends=True)
    place.journal.write_bytes(b"".join(lines[:8] + lines[9:]))
    return 8


def glued(place: Place) -> int:
    place.journal.write_bytes(place.journal.read_bytes() + b"{}\n")
    return len(place.lines()) - 1


def nuls(place: Place) -> int:
    data = place.journal.read_bytes()
    place.journal.write_bytes(data[:-100] + bytes(99) + b"\n")
    return len(data.splitlines()) - 1


def first_line(place: Place) -> int:
    break_line(place, 1)
    return 1


def before_any_statement(place: Place) -> int:
    """Of T4 nothing is known any more, T1 to T3 are work again."""
    place.ws.todos.update(
        GOAL, CLAUDE, "T3", complete=True, evidence=["docs/theme-vars.md"], epoch=2
    )
    done = place.ws.todos.add(GOAL, CODEX, AddTodo(title="Write the docs"))
    place.ws.todos.claim(GOAL, CODEX, ClaimTodo(todo_id=done.object_id))
    notes = ["dark-mode-notes.md"]
    place.ws.todos.update(GOAL, CODEX, done.object_id, complete=True, evidence=notes)
    break_line(place, 5)
    return 4


def rubbish(place: Place) -> int:
    place.journal.write_bytes(b"rubbish\n" * 3)
    return 1


def carriage_returns(place: Place) -> int:
    place.journal.write_bytes(place.journal.read_bytes().replace(b"\n", b"\r\n"))
    return 1


def missing(place: Place) -> int:
    place.journal.unlink()
    return 1


def empty(place: Place) -> int:
    place.journal.write_bytes(b"")
    return 1


def shorter(place: Place) -> int:
    lines = place.journal.read_bytes().splitlines(keepends=True)
    place.journal.write_bytes(b"".join(lines[:-3]))
    return len(lines) - 3


def rewritten(place: Place) -> int:
    lines = records(place.journal)
    lines[-1]["payload"]["reason"] = "another"
    lines[2]["payload"]["title"] = "Another title"
    rewrite(place.journal, lines)
    return len(lines)


DAMAGES: list[Callable[[Place], int]] = [
    bit,
    hole,
    glued,
    nuls,
    first_line,
    before_any_statement,
    rubbish,
    carriage_returns,
    missing,
    empty,
    shorter,
    rewritten,
]
EACH = pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)


@EACH
def test_a_damaged_journal_is_cut_by_a_signature_and_goes_on(
    place: Place, damage: Callable[[Place], int]
) -> None:
    place.ws.view(GOAL)
    place.again().view(GOAL)
    last_good = damage(place)
    rest = (
        b"".join(place.journal.read_bytes().splitlines(True)[last_good:])
        if place.journal.exists()
        else b""
    )
    rows = [row for row in place.again().repairs.list() if row.goal_id == GOAL]
    assert "loopx repair journal --goal dark-mode" in rows[0].damage.command
    before = ledger_tree(place)
    unsigned = place.ws.repairs.journal(GOAL, OWNER)
    assert ledger_tree(place) == before

    done = place.sign(unsigned)
    assert done.receipt.seq == last_good + 1
    (event,) = [e for e in records(place.journal) if e["event_type"] == "damage.repaired"]
    assert event["payload"]["cut"]["after"]["seq"] == last_good
    if damage in (bit, hole, glued, nuls):
        assert quarantined(place) == rest
        assert event["payload"]["cut"]["sha256"] == hashlib.sha256(rest).hexdigest()
        assert event["payload"]["cut"]["lines"] == rest.count(b"\n")
    fix_files(place)
    assert_writable(place)


def test_each_decision_among_the_lines_cut_off_is_named_and_counts_no_more(place: Place) -> None:
    place.decide(place.ask(PUSH))
    gate = records(place.journal)[-1]
    rest = break_line(place, 11)
    unsigned = place.ws.repairs.journal(GOAL, OWNER)
    lost = unsigned.statement["payload"]["cut"]["decisions"]
    assert [(d["event_type"], d["by"]) for d in lost] == [
        ("spend.voided", OWNER),
        ("gate.approved", OWNER),
    ]
    assert gate["event_id"] in unsigned.preview
    state = place.sign(unsigned).state
    assert state.gates == {}
    assert [spend.voided_at for spend in state.spends.values()] == [None, None]
    assert quarantined(place) == rest
    assert b"voided" not in place.spend.read_bytes()
    assert_writable(place)


def test_files_that_tell_of_lines_cut_off_are_rendered_again_with_it(place: Place) -> None:
    place.ws.todos.add(GOAL, CODEX, AddTodo(title="Lost"))
    place.ws.todos.claim(GOAL, CODEX, ClaimTodo(todo_id="T4"))
    stale = {
        path: path.read_bytes() for path in (place.lease("T3"), place.lease("T4"), place.spend)
    }
    break_line(place, 12)
    unsigned = place.ws.repairs.journal(GOAL, OWNER)
    named = {file["path"] for file in unsigned.statement["payload"]["files"]}
    assert named == {str(path.relative_to(place.root)) for path in stale}
    place.sign(unsigned)
    assert not place.lease("T4").exists()
    assert place.lease("T3").read_bytes() != stale[place.lease("T3")]
    folder = place.runtime / "quarantine"
    kept = [path.read_bytes() for path in folder.glob("*-repair-*")]
    assert sorted(kept) == sorted(stale.values())
    assert "Lost" not in place.state_file.read_text("utf-8")
    assert_writable(place)


def test_whoever_saw_the_lines_cut_off_accepts_the_repair_and_nothing_else(place: Place) -> None:
    watcher, later = place.again(), place.again()
    watcher.view(GOAL)
    break_line(place, 14)
    watcher.view(GOAL)
    cut(place)
    assert not watcher.view(GOAL).reads.damage
    assert watcher.view(GOAL).seq == 14
    assert not later.view(GOAL).reads.damage

    # The same repair explains no line that was removed after it.
    for number in range(4):
        place.ws.todos.add(GOAL, CODEX, AddTodo(title=f"More {number}"))
    for ws in (watcher, later, place.ws):
        ws.view(GOAL)
    lines = place.journal.read_bytes().splitlines(keepends=True)
    place.journal.write_bytes(b"".join(lines[:15]))
    for ws in (watcher, later, place.ws):
        assert [item.reason for item in ws.view(GOAL).reads.damage if "events.jsonl" in item.path]
    with refused(place, "rolled_back"):
        place.ws.todos.add(GOAL, CODEX, AddTodo(title="More"))


def test_a_line_seen_only_by_others_is_explained_by_a_cut_before_it_alone(place: Place) -> None:
    place.ws.view(GOAL)
    rewritten(place)
    cut(place)
    assert not place.ws.view(GOAL).reads.damage
    assert not place.again().view(GOAL).reads.damage


def test_what_changes_after_the_cut_was_looked_at_makes_it_stale(place: Place) -> None:
    break_line(place, 14)
    unsigned = place.ws.repairs.journal(GOAL, OWNER)
    break_line(place, 9)
    with refused(place, "stale_decision"):
        place.sign(unsigned)
    cut(place)
    fix_files(place)
    assert_writable(place)


def test_a_torn_tail_beside_the_damage_is_kept_too(place: Place) -> None:
    rest = break_line(place, 14)
    with place.journal.open("ab") as file:
        file.write(b'{"torn":')
    cut(place)
    assert quarantined(place) == rest
    (torn,) = (place.runtime / "quarantine").glob("*-torn")
    assert torn.read_bytes() == b'{"torn":'
    fix_files(place)
    assert_writable(place)


def test_a_whole_journal_is_not_cut(place: Place) -> None:
    for goal_id in (GOAL, HOUSE):
        with refused(place, "invalid_value"):
            place.ws.repairs.journal(goal_id, OWNER)


def test_a_goal_that_was_only_just_opened_is_not_called_damaged(place: Place) -> None:
    open_goal(place, "shop")
    folder = place.runtime.parent / "shop"
    for path in (folder / "events.jsonl", place.registry):
        path.unlink()
    assert place.again().repairs.list() == ()
    with refused(place, "invalid_value"):
        place.again().repairs.journal("shop", OWNER)


def test_a_journal_of_a_newer_format_is_never_cut(place: Place) -> None:
    from loopx_kernel.store.line import seal

    body = place.lines()[-1].split(b',"sha256"')[0].replace(b"event_v1", b"event_v2")
    line = body + seal(hashlib.sha256(body).hexdigest())
    lines = place.journal.read_bytes().splitlines(keepends=True)
    place.journal.write_bytes(b"".join(lines[:-1]) + line)
    with refused(place, "format_too_new"):
        place.ws.repairs.journal(GOAL, OWNER)
    (row,) = [r for r in place.again().repairs.list() if "events.jsonl" in r.damage.path]
    assert row.damage.command == "install a newer loopx"


def test_the_same_cut_sent_again_is_its_first_receipt(place: Place) -> None:
    break_line(place, 14)
    first = place.sign(place.ws.repairs.journal(GOAL, OWNER, event_id="cut-1"))
    again = place.ws.repairs.journal(GOAL, OWNER, event_id="cut-1")
    assert again.done is not None and again.done.receipt.seq == first.receipt.seq


class DyingFiles(Files):
    """A machine that stops at the k-th changing call."""

    def __init__(self, at: int) -> None:
        self.left = at

    def _step(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise KeyboardInterrupt

    def write(self, fd: int, data: bytes) -> int:
        self._step()
        return super().write(fd, data)

    def replace(self, source: Path, target: Path) -> None:
        self._step()
        super().replace(source, target)

    def fsync(self, fd: int) -> None:
        self._step()
        super().fsync(fd)


@pytest.mark.parametrize("at", range(14))
def test_a_crash_at_any_call_leaves_the_damage_or_the_repair(place: Place, at: int) -> None:
    rest = break_line(place, 14)
    damaged = place.journal.read_bytes()
    dying = with_files(place.root, DyingFiles(at), place.clock)
    unsigned = place.ws.repairs.journal(GOAL, OWNER)
    try:
        dying.append(unsigned, place.keys[OWNER])
    except KeyboardInterrupt:
        pass
    except LoopxError as error:
        pytest.fail(str(error))
    now = place.journal.read_bytes()
    if now == damaged:
        place.sign(place.ws.repairs.journal(GOAL, OWNER))
    else:
        assert records(place.journal)[-1]["event_type"] == "damage.repaired"
    folder = place.runtime / "quarantine"
    assert rest in [path.read_bytes() for path in folder.glob("*-repair*")]
    place.ws.todos.add(GOAL, CODEX, AddTodo(title="More"))
    fix_files(place)
    assert_writable(place)


def test_only_an_owner_may_cut_and_only_where_the_line_stands(place: Place) -> None:
    break_line(place, 14)
    cut(place)
    line = records(place.journal)[-1]
    stranger = new_key(place.root.parent, "stranger")
    place.ws.todos.add(GOAL, CODEX, AddTodo(title="More"))
    append_raw(place.journal, line)
    bare = {key: value for key, value in line.items() if key != "signed"}
    append_raw(place.journal, bare)
    assert place.again().state(GOAL).alert_count == 2
    break_line(place, 12)
    unsigned = place.ws.repairs.journal(GOAL, OWNER)
    with refused(place, "unknown_signer"):
        place.ws.append(unsigned, stranger)


def test_an_owner_enrolled_after_the_lines_cut_off_may_sign_the_cut(place: Place) -> None:
    enrol(place, "wu", new_key(place.root.parent, "wu"), by=OWNER)
    gate_id = place.ask(PUSH)
    place.sign(place.ws.gates.decide(GOAL, "wu", decision(gate_id)))
    break_line(place, 9)
    cut(place, owner="wu")
    gate_id = place.ask(PUSH)
    done = place.sign(place.ws.gates.decide(GOAL, "wu", decision(gate_id)))
    assert done.state.gates[gate_id].status == "approved"
    assert place.again().state(GOAL).alert_count == 0


def decision(gate_id: str) -> Any:
    from loopx_kernel.domain.gate import DecideGate

    return DecideGate(gate_id=gate_id, outcome="approved")


@given(at=st.floats(0, 1), change=st.sampled_from(["flip", "cut", "insert", "drop line"]))
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_happens_to_the_bytes_there_is_a_way_back(
    tmp_path_factory: pytest.TempPathFactory, _template: Place, at: float, change: str
) -> None:
    folder = tmp_path_factory.mktemp("bytes")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LOOPX_CACHE_DIR", str(folder / "cache"))
        place = copied(_template, folder)
        place.ws.view(GOAL)
        whole = place.journal.read_bytes()
        place.journal.write_bytes(changed(whole, int(at * (len(whole) - 1)), change))
        good = prefix_of(whole, place.journal.read_bytes())
        try:
            cut(place)
        except LoopxError as error:
            assert error.code == "invalid_value"
        after = place.journal.read_bytes()
        assert after.startswith(good)
        fix_files(place)
        assert_writable(place)


@pytest.mark.parametrize("number", [3, 6, -1])
@pytest.mark.parametrize("broken", [False, True])
def test_a_record_that_lacks_only_its_newline_is_counted_before_it_is_signed(
    place: Place, number: int, broken: bool
) -> None:
    place.ws.view(GOAL)
    lines = place.journal.read_bytes().splitlines(keepends=True)[:number]
    if broken:
        lines[1] = lines[1].replace(b"2026", b"2027", 1)
    place.journal.write_bytes(b"".join(lines)[:-1])
    unsigned = place.ws.repairs.journal(GOAL, OWNER)
    assert unsigned.statement["payload"]["cut"]["after"]["seq"] == (1 if broken else len(lines))
    # After a broken line nobody can tell whether a last one is whole: it is torn, and set aside.
    counted = len(lines) - 1 - (number == 3)
    assert unsigned.statement["payload"]["cut"]["lines"] == (counted if broken else 0)
    place.sign(unsigned)
    fix_files(place)
    assert_writable(place)


def changed(data: bytes, at: int, change: str) -> bytes:
    if change == "flip":
        return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]
    if change == "cut":
        return data[:at]
    if change == "insert":
        return data[:at] + b"\n{}" + data[at:]
    lines = data.splitlines(keepends=True)
    del lines[at * len(lines) // len(data)]
    return b"".join(lines)


def prefix_of(whole: bytes, now: bytes) -> bytes:
    """The lines of ``whole`` that still stand at the beginning."""
    kept = b""
    for line in whole.splitlines(keepends=True):
        if not now.startswith(kept + line):
            break
        kept += line
    return kept


def test_the_workspace_s_journal_is_cut_the_same_way(place: Place) -> None:
    open_goal(place, "shop")
    place.ws.agents.add("third")
    lines = place.house_journal.read_bytes().splitlines(keepends=True)
    broken = lines[-2].replace(b"shop", b"shed", 1)
    place.house_journal.write_bytes(b"".join([*lines[:-2], broken, lines[-1]]))
    rows = place.again().repairs.list()
    assert rows[0].goal_id == HOUSE and rows[0].stops == "every goal"
    assert rows[0].damage.command == "loopx repair journal --goal _workspace"
    unsigned = place.ws.repairs.journal(HOUSE, OWNER)
    place.sign(unsigned)
    for ws in (place.ws, place.again()):
        assert ws.goal_ids == (GOAL,)
        assert [agent.id for agent in ws.agents.list()] == [CLAUDE, CODEX]
    place.ws.agents.add("third")
    fix_files(place)
    assert_writable(place)


def test_a_workspace_journal_that_was_shortened_is_accepted_by_a_signature(place: Place) -> None:
    place.ws.agents.add("third")
    place.again().view(GOAL)
    lines = place.house_journal.read_bytes().splitlines(keepends=True)
    place.house_journal.write_bytes(b"".join(lines[:-1]))
    with refused(place, "rolled_back"):
        place.ws.todos.add(GOAL, CODEX, AddTodo(title="More"))
    unsigned = place.ws.repairs.journal(HOUSE, SECOND)
    assert unsigned.statement["payload"]["cut"]["missed"]["seq"] == len(lines)
    place.sign(unsigned)
    place.ws.agents.add("third")
    assert_writable(place)


def test_a_goal_whose_opening_was_cut_off_is_opened_again_and_keeps_its_old_lines_aside(
    place: Place,
) -> None:
    open_goal(place, "shop")
    place.ws.todos.add("shop", CODEX, AddTodo(title="Old work"))
    old = (place.runtime.parent / "shop" / "events.jsonl").read_bytes()
    lines = place.house_journal.read_bytes().splitlines(keepends=True)
    place.house_journal.write_bytes(b"".join(lines[:-1]) + b"{}\n")
    cut(place, HOUSE)
    fix_files(place)
    open_goal(place, "shop")
    (row,) = [r for r in place.again().repairs.list() if r.goal_id == "shop"]
    assert row.damage.command == "loopx repair journal --goal shop"
    cut(place, "shop")
    assert quarantined(place, "shop") == old
    assert place.ws.todos.add("shop", CODEX, AddTodo(title="New work")).object_id == "T1"
    assert place.again().repairs.list() == ()


def test_without_an_owner_in_the_good_part_nobody_can_repair(place: Place) -> None:
    lines = place.house_journal.read_bytes().splitlines(keepends=True)
    place.house_journal.write_bytes(lines[0] + b"{}\n" + b"".join(lines[1:]))
    fresh: Workspace = place.again()
    with pytest.raises(LoopxError) as caught:
        fresh.append(fresh.repairs.journal(HOUSE, OWNER), place.keys[OWNER])
    assert caught.value.code == "unknown_signer"
    assert isinstance(fresh._core.house.damage, Damaged)
    assert "from a backup" in fresh.repairs.list()[0].damage.command


def test_a_workspace_journal_without_its_first_line_is_for_a_backup(place: Place) -> None:
    whole = place.house_journal.read_bytes()
    place.house_journal.write_bytes(b"x" + whole)
    with pytest.raises(Damaged) as caught:
        place.again()
    assert "from a backup" in str(caught.value.next)
    place.house_journal.write_bytes(whole)
    assert_writable(place)


def test_an_event_that_was_cut_off_is_found_no_more_and_its_id_is_free(place: Place) -> None:
    place.ws.todos.add(GOAL, CODEX, AddTodo(title="Lost"), event_id="e-lost")
    assert place.again().events.show(GOAL, "e-lost").event.seq == 16
    break_line(place, 14)
    cut(place)
    for ws in (place.ws, place.again()):
        with pytest.raises(LoopxError) as caught:
            ws.events.show(GOAL, "e-lost")
        assert caught.value.code == "unknown_event"
    done = place.ws.todos.add(GOAL, CODEX, AddTodo(title="Lost"), event_id="e-lost")
    assert not done.receipt.replayed
    assert place.again().events.show(GOAL, "e-lost").event.seq == done.receipt.seq == 15
    assert [row.event.seq for row in place.again().events.list(GOAL, since=12)] == [13, 14, 15]


def test_while_the_workspace_is_damaged_no_goal_is_cut(place: Place) -> None:
    break_line(place, 14)
    with place.house_journal.open("ab") as file:
        file.write(b"{}\n")
    with refused(place, "journal_damaged") as error:
        place.ws.repairs.journal(GOAL, OWNER)
    assert "_workspace" in str(place.ws._core.house.damage and place.ws._core.house.damage.next)
    assert error.facts


def test_a_full_disk_leaves_the_damage_as_it_was(place: Place) -> None:
    class Full(Files):
        def write(self, fd: int, data: bytes) -> int:
            raise OSError(28, "No space left on device")

    break_line(place, 14)
    unsigned = place.ws.repairs.journal(GOAL, OWNER)
    with refused(place, "no_space"):
        with_files(place.root, Full(), place.clock).append(unsigned, place.keys[OWNER])
    place.sign(unsigned)
    fix_files(place)
    assert_writable(place)


def test_no_statement_of_cut_lines_is_taken_for_one_of_later_work(place: Place) -> None:
    before_any_statement(place)
    statements = place.runtime / "statements"
    assert len(list(statements.iterdir())) == 4
    cut(place)
    assert list(statements.iterdir()) == []
    assert place.again().evidence.kept(GOAL).orphans == 2
    done = place.ws.todos.add(GOAL, CODEX, AddTodo(title="Something else"))
    assert place.ws.state(GOAL).todo(done.object_id).status == "open"
    place.ws.todos.claim(GOAL, CODEX, ClaimTodo(todo_id=done.object_id))
    assert place.again().repairs.list() == ()
    assert place.again().events.audit(GOAL).status == "whole"
