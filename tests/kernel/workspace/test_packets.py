"""A review packet looks up what a decision rests on, and into it; it changes nothing."""

from __future__ import annotations

import hashlib

import pytest
from loopx_kernel.domain.gate import RequestGate, WithdrawGate
from loopx_kernel.domain.lease import ClaimTodo
from loopx_kernel.domain.permission import Action
from loopx_kernel.domain.todo import AddTodo
from loopx_kernel.errors import LoopxError

from tests.kernel.workspace.build import CLAUDE, CODEX, GOAL, OWNER, PUSH, Place, ledger_tree


def test_a_gate_lists_every_piece_of_evidence_with_its_digest(place: Place) -> None:
    gate = place.ask(PUSH, "T3")
    before = ledger_tree(place)
    found = place.again().packet(GOAL, gate)

    assert ledger_tree(place) == before
    files = {"T1": "dark-mode-notes.md", "T2": "docs/theme-vars.md"}
    assert {row.todo_id: row.path for row in found.evidence} == files
    for row in found.evidence:
        content = (place.root / "mall-frontend" / row.path).read_bytes()
        assert row.sha256 == hashlib.sha256(content).hexdigest()
        assert (row.since, row.copy, row.excerpt) == ("same", "kept", content.decode().strip())
    assert found.envelope.projection == "review-packet"


def test_what_was_handed_in_is_shown_and_not_what_stands_there_now(place: Place) -> None:
    gate = place.ask()
    file = place.root / "mall-frontend" / "dark-mode-notes.md"
    file.write_text("something else\n")
    row = next(r for r in place.again().packet(GOAL, gate).evidence if r.todo_id == "T1")
    assert (row.since, row.copy, row.excerpt) == ("changed", "kept", "notes")
    file.unlink()
    row = next(r for r in place.again().packet(GOAL, gate).evidence if r.todo_id == "T1")
    assert (row.since, row.excerpt) == ("gone", "notes")
    copy = place.runtime / "objects" / row.sha256
    copy.chmod(0o644)
    copy.write_text("forged\n")
    row = next(r for r in place.again().packet(GOAL, gate).evidence if r.todo_id == "T1")
    assert (row.copy, row.excerpt) == ("damaged", "")
    assert row.told == "what was handed in is not there any more"


def test_work_is_followed_to_where_it_came_from_however_long_ago(place: Place) -> None:
    ws = place.ws
    last = "T1"
    for number in range(4, 44):
        title = f"Work {number}"
        command = AddTodo(title=title, lineage=(last,) if number == 43 else ())
        ref = ws.todos.add(GOAL, CODEX, command).object_id
        ws.todos.claim(GOAL, CODEX, ClaimTodo(todo_id=ref))
        if number != 43:
            ws.todos.update(GOAL, CODEX, ref, complete=True, evidence=["dark-mode-notes.md"])
    assert "T1" not in ws.state(GOAL).todos
    gate = place.ask(PUSH, "T43")
    found = place.again().packet(GOAL, gate)

    assert [todo.id for todo in found.todos][:2] == ["T43", "T1"]
    assert found.evidence[0].todo_id == "T1"
    assert len(found.todos) <= 32
    assert found.left_out == ()


def test_drift_is_shown_as_a_diff_with_what_was_decided_about_it_before(place: Place) -> None:
    for word in ("First", "Second"):
        text = place.state_file.read_text("utf-8")
        place.state_file.write_text(text.replace("Convert components", f"{word} title"), "utf-8")
        found = place.again().packet(GOAL, "drift")
        assert found.subject.open
        assert found.change is not None and f"{word} title" in found.change.text
        place.sign(place.ws.drift.restore(GOAL, OWNER))
        place.ws.todos.add(GOAL, CODEX, AddTodo(title=f"Work after {word}"))
    settled = place.again().packet(GOAL, "drift")
    assert not settled.subject.open
    assert [(row.outcome, row.by, row.level) for row in settled.before] == [
        ("restored", OWNER, "software"),
        ("restored", OWNER, "software"),
    ]


def test_damage_names_the_file_and_the_command(place: Place) -> None:
    place.registry.write_bytes(place.registry.read_bytes().replace(b"frontend", b"frontenD"))
    found = place.again().packet(GOAL, "damage")

    assert dict(found.subject.action)["file"] == ".loopx/registry.json"
    assert found.ways[0].command == "loopx repair file .loopx/registry.json"
    assert found.alerts[0].startswith("integrity: ")


def test_a_gate_that_left_the_state_was_decided(place: Place) -> None:
    for number in range(40):
        action = Action(action="publish", command=f"git push {number}")
        ref = place.ws.gates.request(GOAL, CLAUDE, RequestGate(action=action)).object_id
        place.ws.gates.withdraw(GOAL, CLAUDE, WithdrawGate(gate_id=ref))
    with pytest.raises(LoopxError) as caught:
        place.again().packet(GOAL, "G1")

    assert caught.value.code == "already_decided"
    assert caught.value.next == "loopx event list --about G1"


def test_the_cost_is_of_the_work_it_is_about(place: Place) -> None:
    gate = place.ask(PUSH, "T3")
    cost = place.again().packet(GOAL, gate).cost

    # Two turns of codex were booked, one was voided; the third is under way.
    assert (cost.turns, cost.failed, cost.slots) == (2, 0, 1)
    assert (cost.quota.used, cost.quota.allowed, cost.quota.reserved) == (1, 576, 1)
