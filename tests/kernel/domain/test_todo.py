"""Todos: what may be handed in, by whom, and what ends with it."""

from __future__ import annotations

from datetime import timedelta

import pytest
from loopx_kernel.domain.aside import ReopenTodo, SetAside
from loopx_kernel.domain.cancel import CancelTodo
from loopx_kernel.domain.gate import DecideGate, RequestGate
from loopx_kernel.domain.handin import FinishHumanTodo, UpdateTodo
from loopx_kernel.domain.observation import Observe
from loopx_kernel.domain.permission import Action
from loopx_kernel.domain.records import WaitingOn
from loopx_kernel.domain.rules import Limits, parse_acceptance
from loopx_kernel.errors import Busy, Conflict, Denied, Fenced, LoopxError, UsageError

from tests.kernel.domain.build import (
    CLAUDE,
    CODEX,
    HASH,
    KERNEL,
    NOW,
    OWNER,
    Book,
    add,
    begin,
    claim,
    complete,
    dark_mode,
    evidence,
    opened,
    refused,
    settle,
)

HOUR = timedelta(hours=1)


def test_new_work_has_its_origin() -> None:
    book = opened(acceptance=(parse_acceptance("tests=cmd:npm test", 1),))
    book.do(add("First", "src/**", priority="P0"), CODEX)
    book.do(add("Second", depends_on=("T1",), lineage=("T1",), acceptance=("tests",)))
    second = book.todo("T2")
    assert (second.status, second.version, second.lease_epoch) == ("open", 0, 0)
    assert second.lineage_todo_ids == ("T1",)
    assert second.origin.actor_agent_id == CLAUDE.id
    assert second.origin.event_id == book.lines[-1][0].event_id


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (add(""), "invalid_value"),
        (add("two\nlines"), "invalid_value"),
        (add("\x1b[2J"), "invalid_value"),
        (add("A", "/etc"), "invalid_scope"),
        (add("A", "../x"), "invalid_scope"),
        (add("A", depends_on=("T9",)), "unknown_todo"),
        (add("A", depends_on=("T1",)), "unknown_todo"),
        (add("A", lineage=("T9",)), "lineage_invalid"),
        (add("A", acceptance=("nope",)), "invalid_value"),
    ],
)
def test_work_that_is_not_added(command: object, code: str) -> None:
    refused(opened(), command, UsageError, code)


def test_work_for_later_is_put_off_from_the_start() -> None:
    book = opened()
    book.do(add("Later", resume_at=NOW + HOUR))
    assert (book.todo("T1").status, book.todo("T1").resume_at) == ("deferred", NOW + HOUR)


def test_a_hand_in_is_kept_with_its_digest() -> None:
    book = dark_mode()
    book.do(complete("T3", evidence("a.xml", "passed"), tests="passed", proven=True, note="ok"))
    todo = book.todo("T3")
    assert (todo.status, todo.version, todo.claimed_tests, todo.proven) == (
        "done",
        6,
        "passed",
        True,
    )
    assert todo.result_hash is not None
    assert [item.path for item in todo.evidence] == ["a.xml"]
    assert todo.lease is not None
    assert todo.lease.status == "ended"
    assert todo.reason == "ok"


def test_a_proof_lasts_until_the_next_claim_of_a_result() -> None:
    book = dark_mode()
    book.do(
        UpdateTodo(
            todo_id="T3", evidence=(evidence("a.xml", "passed"),), tests="passed", proven=True
        )
    )
    book.do(UpdateTodo(todo_id="T3", note="a word"))
    assert book.todo("T3").proven
    book.do(UpdateTodo(todo_id="T3", tests="passed"))
    assert not book.todo("T3").proven


@pytest.mark.parametrize(
    ("command", "kind", "code"),
    [
        (complete("T9"), UsageError, "unknown_todo"),
        (complete("T1"), UsageError, "illegal_transition"),
        (complete("T3", version=4), Conflict, "version_mismatch"),
        (complete("T3", epoch=1), Fenced, "stale_epoch"),
        (complete("T3", tests="failed"), Denied, "not_verified"),
        (
            complete("T3", evidence("a.xml", "failed"), tests="passed"),
            Denied,
            "evidence_mismatch",
        ),
        (complete("T3", note="two\nlines"), UsageError, "invalid_value"),
        (complete("T3", tests="passed", proven=True), UsageError, "invalid_event"),
    ],
)
def test_hand_ins_that_are_refused(command: UpdateTodo, kind: type[LoopxError], code: str) -> None:
    refused(dark_mode(), command, kind, code)


@pytest.mark.parametrize("turn_id", [None, "turn-0002"])
def test_nothing_is_no_hand_in(turn_id: str | None) -> None:
    """Or a word about nothing would make what was accepted unchecked, and wake everybody."""
    book = dark_mode()
    book.do(begin("T3"))
    nothing = UpdateTodo(todo_id="T3", turn_id=turn_id)
    refused(book, nothing, UsageError, "nothing_to_do")
    before = book.state
    payload = {"todo_id": "T3", "lease_epoch": 2, "version": 6}
    book.write("todo.updated", payload | ({"turn_id": turn_id} if turn_id else {}))
    assert book.state.alerts[-1].code == "nothing_to_do"
    assert (book.state.todos, book.state.turns) == (before.todos, before.turns)
    assert book.state.changed_at == before.changed_at
    for said in ({"note": "half"}, {"tests": "failed"}, {"evidence": (evidence("a.txt"),)}):
        book.do(UpdateTodo(todo_id="T3", **said))  # type: ignore[arg-type]
    # The receipt of a turn says something even so: how the turn ended.
    book.do(settle("turn-0002", "failed"))


def test_only_the_holder_hands_in() -> None:
    refused(dark_mode(), complete("T3"), Fenced, "not_holder", actor=CODEX)
    book = opened()
    book.do(add("A"))
    refused(book, complete("T1"), Conflict, "lease_required")


def test_a_failure_needs_no_proof_and_keeps_the_work_open() -> None:
    book = dark_mode()
    book.do(UpdateTodo(todo_id="T3", tests="failed"))
    assert (book.todo("T3").status, book.todo("T3").claimed_tests) == ("claimed", "failed")


def test_a_todo_can_ask_for_a_report_a_machine_reads() -> None:
    book = opened()
    book.do(add("A", requires_statement=True))
    book.do(claim("T1"))
    for hand_in in (complete("T1"), complete("T1", evidence("a.txt"), tests="passed")):
        refused(book, hand_in, Denied, "missing_evidence")
    book.do(complete("T1", evidence("a.xml", "passed"), tests="passed", proven=True))
    assert book.todo("T1").status == "done"


def test_a_report_that_says_failed_needs_no_claim_to_count() -> None:
    book = dark_mode()
    red, green = evidence("a.xml", "failed"), evidence("a.xml", "passed")
    refused(book, complete("T3", red), Denied, "not_verified")
    book.do(UpdateTodo(todo_id="T3", evidence=(red,)))
    assert (book.todo("T3").claimed_tests, book.todo("T3").proven) == ("failed", False)
    for command in (complete("T3"), complete("T3", evidence("notes.md"))):
        refused(book, command, Denied, "not_verified")
    book.do(complete("T3", green, tests="passed", proven=True))
    todo = book.todo("T3")
    assert (todo.status, todo.claimed_tests, todo.proven) == ("done", "passed", True)
    assert (todo.done_at, todo.done_seq) == (todo.changed_at, todo.seq)


def test_what_failed_after_it_passed_is_proven_no_more() -> None:
    book = dark_mode()
    book.do(
        UpdateTodo(
            todo_id="T3", evidence=(evidence("a.xml", "passed"),), tests="passed", proven=True
        )
    )
    assert book.todo("T3").proven
    book.do(UpdateTodo(todo_id="T3", evidence=(evidence("notes.md"),)))
    assert book.todo("T3").proven
    book.do(UpdateTodo(todo_id="T3", evidence=(evidence("b.xml", "failed"),)))
    assert not book.todo("T3").proven
    refused(book, complete("T3"), Denied, "not_verified")


def human() -> Book:
    book = opened()
    book.do(add("Choose a colour", role="human"))
    return book


def test_a_person_finishes_their_own_todo() -> None:
    book = human()
    refused(book, complete("T1"), Conflict, "lease_required")
    refused(
        book, FinishHumanTodo(todo_id="T1", reason=" "), UsageError, "invalid_value", actor=OWNER
    )
    book.do(FinishHumanTodo(todo_id="T1", reason="blue"), OWNER)
    assert (book.todo("T1").status, book.todo("T1").reason) == ("done", "blue")
    again = FinishHumanTodo(todo_id="T1", reason="red")
    refused(book, again, UsageError, "illegal_transition", actor=OWNER)


def test_a_person_does_not_finish_an_agents_todo() -> None:
    command = FinishHumanTodo(todo_id="T3", reason="done enough")
    refused(dark_mode(), command, UsageError, "illegal_transition", actor=OWNER)


WAIT = WaitingOn(kind="ci", ref="#812")


@pytest.mark.parametrize(
    "command",
    [
        SetAside(todo_id="T3", status="blocked", reason="no design"),
        SetAside(todo_id="T3", status="waiting", waiting_on=WAIT),
        SetAside(todo_id="T3", status="deferred", until=NOW + HOUR),
    ],
)
def test_setting_aside_ends_the_lease_and_reopening_clears_it(command: SetAside) -> None:
    book = dark_mode()
    refused(book, command, Fenced, "not_holder", actor=CODEX)
    book.do(command)
    todo = book.todo("T3")
    assert (todo.status, todo.version, todo.lease_epoch) == (command.status, 6, 2)
    assert todo.lease is not None
    assert todo.lease.status == "ended"
    if command.status == "waiting":
        look = Observe(kind="ci", ref="#812", status="pending", basis="told")
        book.do(look, KERNEL)
    book.do(ReopenTodo(todo_id="T3"), CODEX)
    todo = book.todo("T3")
    assert (todo.status, todo.version) == ("open", 7)
    assert todo.waiting_on is None
    assert todo.resume_at is None
    book.do(claim("T3"), CODEX)
    assert book.todo("T3").lease_epoch == 3


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (SetAside(todo_id="T3", status="blocked"), "invalid_value"),
        (SetAside(todo_id="T3", status="blocked", reason="a\nb"), "invalid_value"),
        (SetAside(todo_id="T3", status="waiting"), "invalid_event"),
        (
            SetAside(
                todo_id="T3", status="waiting", waiting_on=WaitingOn(kind="source", ref="none")
            ),
            "unknown_source",
        ),
        (SetAside(todo_id="T3", status="deferred"), "invalid_value"),
        (SetAside(todo_id="T3", status="deferred", until=NOW), "invalid_value"),
        (SetAside(todo_id="T1", status="blocked", reason="x"), "illegal_transition"),
        (ReopenTodo(todo_id="T3"), "illegal_transition"),
        (ReopenTodo(todo_id="T1"), "illegal_transition"),
        (ReopenTodo(todo_id="T9"), "unknown_todo"),
    ],
)
def test_setting_aside_that_is_refused(command: object, code: str) -> None:
    refused(dark_mode(), command, UsageError, code)


def test_gates_that_block_nothing_any_more_are_closed_with_the_todo() -> None:
    book = dark_mode()
    book.do(add("Publish"))
    for number, blocks in enumerate((("T3",), ("T3", "T4"), ("T3",), ("T4",)), 1):
        action = Action(action="publish", command=f"npm publish {number}")
        book.do(RequestGate(action=action, blocks=blocks))
    later = DecideGate(gate_id="G3", outcome="deferred", until=NOW + HOUR)
    book.do(later, OWNER)
    book.do(complete("T3"))
    statuses = {ident: gate.status for ident, gate in book.state.gates.items()}
    assert statuses == {"G1": "mooted", "G2": "pending", "G3": "mooted", "G4": "pending"}


def test_result_and_proof_must_follow_from_the_evidence() -> None:
    payload = {
        "todo_id": "T3",
        "lease_epoch": 2,
        "version": 6,
        "evidence": [evidence("a.txt").model_dump(mode="json", exclude_none=True)],
        "result_hash": HASH,
    }
    book = dark_mode()
    book.write("todo.updated", payload)
    assert book.state.alerts[-1].code == "invalid_event"
    assert book.todo("T3").version == 5


def test_what_an_agent_lays_before_people_has_the_limit_of_its_questions() -> None:
    book = opened(limits=Limits(pending_gates_per_agent=1))
    book.do(add("One"))
    book.do(add("Two"))
    book.do(add("Choose", role="human"))
    refused(book, add("Choose again", role="human"), Busy, "limit")
    book.do(add("Choose", role="human"), CODEX)
    book.do(FinishHumanTodo(todo_id="T3", reason="x"), OWNER)
    book.do(add("Choose again", role="human"))


def test_what_an_agent_added_and_nobody_finished_has_a_limit() -> None:
    book = opened(limits=Limits(unfinished_todos_per_agent=2))
    for title in ("One", "Two"):
        book.do(add(title))
    refused(book, add("Three"), Busy, "limit")
    book.do(add("Four"), CODEX)
    book.do(CancelTodo(todo_id="T1", reason="x"), OWNER)
    book.do(add("Five"))
    refused(book, add("Six"), Busy, "limit")
    assert book.replay() == book.state
