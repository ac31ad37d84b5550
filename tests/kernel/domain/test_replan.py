"""Replanning: a duty opened by a person, closed by successors or withdrawn."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from loopx_kernel.domain.brief import brief_for
from loopx_kernel.domain.cancel import CancelTodo, SupersedeTodo
from loopx_kernel.domain.contract import should_run
from loopx_kernel.domain.gate import RequestGate
from loopx_kernel.domain.hot import KEPT
from loopx_kernel.domain.needs_you import Reads
from loopx_kernel.domain.permission import Action
from loopx_kernel.domain.replan import FulfilReplan, RequestReplan, WithdrawReplan
from loopx_kernel.domain.state import open_obligations
from loopx_kernel.errors import Conflict, Denied, Fenced, LoopxError, UsageError

from tests.kernel.domain.build import (
    AGENTS,
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
    reading,
    refused,
)

REQUEST = RequestReplan(reason="tests unstable", facts=("run 12 failed",), todo_ids=("T3",))
FULFIL = FulfilReplan(obligation_id="O1", supersede=(("T3", "T5"),))
WITHDRAW = WithdrawReplan(obligation_id="O1", reason="good after all")


def requested() -> Book:
    """T3 is to be replanned by T4; T5 comes from it, T6 does not."""
    book = dark_mode()
    book.do(REQUEST, OWNER)
    book.do(add("Convert with variables", lineage=("T3",)))
    book.do(add("Of nothing"))
    return book


def test_a_request_opens_a_duty_and_the_todo_in_which_it_is_done() -> None:
    book = requested()
    duty = book.state.obligations["O1"]
    assert (duty.status, duty.by, duty.reason) == ("open", "huang", "tests unstable")
    assert (duty.facts, duty.todo_ids) == (("run 12 failed",), ("T3",))
    todo = book.todo(duty.replan_todo)
    assert (todo.id, todo.kind, todo.priority) == ("T4", "replan", "P0")
    assert (todo.title, todo.lineage_todo_ids) == ("Replan T3: tests unstable", ("T3",))
    assert (todo.origin.actor_kind, todo.origin.actor_agent_id) == ("owner", "huang")
    assert book.replay() == book.state


def test_the_replanning_comes_first_and_named_todos_are_not_begun() -> None:
    book = requested()
    book.do(add("Urgent", priority="P0"))
    contract = should_run(
        book.state, Reads(repo="/r"), reading(NOW), "codex", agents=AGENTS, owners=("huang",)
    )
    assert contract.todo is not None
    assert (contract.answer, contract.todo.id) == ("run", "T4")
    assert contract.reasons[0].code == "replan_due"
    later = NOW + timedelta(hours=1)
    refused(book, claim("T3"), UsageError, "illegal_transition", actor=CODEX, at=later)
    assert book.replay() == book.state


def test_work_under_way_may_still_be_handed_in_and_needs_no_successor_then() -> None:
    book = requested()
    book.do(complete("T3", evidence("a.txt")))
    book.do(FulfilReplan(obligation_id="O1"))
    assert book.state.obligations["O1"].status == "fulfilled"
    assert book.todo("T3").status == "done"


def test_successors_close_the_duty_and_the_old_work_stays_readable() -> None:
    book = requested()
    before = book.todo("T3")
    book.do(FULFIL, CODEX)
    old, duty = book.todo("T3"), book.state.obligations["O1"]
    assert (old.status, old.superseded_by, old.reason) == ("superseded", "T5", "tests unstable")
    assert (old.title, old.evidence, old.origin) == (before.title, before.evidence, before.origin)
    assert old.lease is not None
    assert old.lease.status == "ended"
    assert (duty.status, duty.closed_by, duty.closed_at) == ("fulfilled", "codex", NOW)
    assert open_obligations(book.state) == []
    assert book.todo("T4").status == "open"
    assert book.replay() == book.state


def test_withdrawing_cancels_the_replanning_and_frees_the_todos() -> None:
    book = requested()
    book.do(WITHDRAW, OWNER)
    duty = book.state.obligations["O1"]
    assert (duty.status, duty.closed_by) == ("withdrawn", "huang")
    assert (book.todo("T4").status, book.todo("T4").reason) == ("cancelled", WITHDRAW.reason)
    book.do(claim("T3"), CODEX, NOW + timedelta(hours=1))
    assert book.replay() == book.state


def test_a_duty_that_names_no_todo_needs_new_work_from_its_replanning() -> None:
    book = opened()
    book.do(RequestReplan(reason="another way"), OWNER)
    refused(book, FulfilReplan(obligation_id="O1"), UsageError, "illegal_transition")
    book.do(add("The other way", lineage=("T1",)))
    book.do(FulfilReplan(obligation_id="O1"))
    assert book.state.obligations["O1"].status == "fulfilled"


def test_one_successor_may_take_several_places_and_all_must_be_taken() -> None:
    book = opened()
    for _ in range(3):
        book.do(add("Work"))
    book.do(RequestReplan(reason="x", todo_ids=("T1", "T2", "T3")), OWNER)
    book.do(add("One for two", lineage=("T1", "T2")))
    book.do(add("The third", lineage=("T3",)))
    pairs = (("T1", "T5"), ("T2", "T5"), ("T3", "T6"))
    for some in (pairs[:2], pairs[1:], ()):
        command = FulfilReplan(obligation_id="O1", supersede=some)
        refused(book, command, UsageError, "illegal_transition")
    book.do(FulfilReplan(obligation_id="O1", supersede=pairs))
    assert [book.todo(f"T{n}").superseded_by for n in (1, 2, 3)] == ["T5", "T5", "T6"]


def test_a_gate_that_blocks_all_of_them_ends_with_the_last() -> None:
    book = opened()
    for _ in range(2):
        book.do(add("Work"))
    book.do(RequestGate(action=Action(action="publish", command="a"), blocks=("T1", "T2")))
    book.do(RequestReplan(reason="x", todo_ids=("T1", "T2")), OWNER)
    book.do(add("One for two", lineage=("T1", "T2")))
    book.do(FulfilReplan(obligation_id="O1", supersede=(("T1", "T4"), ("T2", "T4"))))
    assert book.state.gate("G1").status == "mooted"
    first, second = book.lines[-1][0].payload["parts"]
    assert (first["parts"], len(second["parts"])) == ([], 1)


def test_a_replanning_is_not_done_before_its_duty_is_fulfilled() -> None:
    book = requested()
    book.do(claim("T4"), CODEX)
    refused(book, complete("T4", evidence("plan.md")), Denied, "not_verified", actor=CODEX)
    book.do(FULFIL, CODEX)
    book.do(complete("T4", evidence("plan.md")), CODEX)
    assert book.todo("T4").status == "done"


def test_the_brief_of_a_replanning_leads_to_its_end() -> None:
    book = dark_mode()
    book.do(add("Other", "docs/"))
    book.do(RequestReplan(reason="x", facts=("run 12",), todo_ids=("T3", "T4")), OWNER)
    book.do(begin("T5"), CODEX)

    def told() -> tuple[tuple[str, ...], tuple[str, ...]]:
        brief = brief_for(book.state, book.todo("T5"), "codex")
        return brief.verification, brief.commands

    who = "--goal dark-mode --agent codex"
    checks, commands = told()
    assert checks[0] == "O1 is fulfilled: each of T3, T4 has a successor or is finished (run 12)"
    adding = f"loopx todo add 'Another way' {who} --lineage"
    assert commands[:2] == (f"{adding} T3", f"{adding} T4")
    book.do(add("One", lineage=("T3",)))
    assert told()[1][0] == f"{adding} T4"
    book.do(add("Two", lineage=("T4",)))
    assert told()[1][0] == f"loopx replan fulfil O1 {who} --supersede T3:T6 --supersede T4:T7"
    book.do(FulfilReplan(obligation_id="O1", supersede=(("T3", "T6"), ("T4", "T7"))), CODEX)
    assert "O1" not in "".join(sum(told(), ()))
    done = next(command for command in told()[1] if "--outcome done" in command)
    assert "--evidence" not in done


def test_the_brief_of_a_replanning_of_the_goal() -> None:
    book = opened()
    book.do(RequestReplan(reason="x"), OWNER)
    book.do(begin("T1"), CODEX)
    who = "--goal dark-mode --agent codex"
    brief = brief_for(book.state, book.todo("T1"), "codex")
    assert brief.verification[0].startswith("O1 is fulfilled: there is work with T1")
    assert brief.commands[0] == f"loopx todo add 'Another way' {who} --lineage T1"
    book.do(add("New", lineage=("T1",)))
    commands = brief_for(book.state, book.todo("T1"), "codex").commands
    assert commands[0] == f"loopx replan fulfil O1 {who}"


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (RequestReplan(reason=""), "invalid_value"),
        (RequestReplan(reason="x", facts=("a\nb",)), "invalid_value"),
        (RequestReplan(reason="x", todo_ids=("T9",)), "unknown_todo"),
        (RequestReplan(reason="x", todo_ids=("T1",)), "illegal_transition"),
        (RequestReplan(reason="x", todo_ids=("T3", "T3")), "invalid_value"),
        (RequestReplan(reason="x", todo_ids=("T4",)), "illegal_transition"),
        (WithdrawReplan(obligation_id="O2"), "unknown_obligation"),
        (WithdrawReplan(obligation_id="O0"), "unknown_obligation"),
        (WithdrawReplan(obligation_id="O1", reason="a\nb"), "invalid_value"),
        (CancelTodo(todo_id="T4", reason="x"), "illegal_transition"),
        (SupersedeTodo(todo_id="T4", by="T5", reason="x"), "illegal_transition"),
    ],
)
def test_what_a_person_cannot_ask(command: Any, code: str) -> None:
    refused(requested(), command, UsageError, code, actor=OWNER)


@pytest.mark.parametrize(
    ("pairs", "code"),
    [
        ((), "illegal_transition"),
        ((("T3", "T9"),), "unknown_todo"),
        ((("T3", "T3"),), "lineage_invalid"),
        ((("T3", "T6"),), "lineage_invalid"),
        ((("T3", "T4"),), "lineage_invalid"),
        ((("T3", "T1"),), "illegal_transition"),
        ((("T3", "T5"), ("T3", "T5")), "invalid_value"),
        ((("T3", "T5"), ("T6", "T5")), "invalid_value"),
        ((("T9", "T5"),), "unknown_todo"),
    ],
)
def test_what_is_no_new_route(pairs: Any, code: str) -> None:
    command = FulfilReplan(obligation_id="O1", supersede=pairs)
    refused(requested(), command, UsageError, code)


def test_who_may_do_which_half() -> None:
    for actor in (CLAUDE, KERNEL):
        refused(requested(), REQUEST, Denied, "unsigned", actor=actor)
        refused(requested(), WITHDRAW, Denied, "unsigned", actor=actor)
    refused(requested(), FULFIL, Denied, "not_a_person", actor=OWNER)
    book = requested()
    book.do(claim("T4"), CODEX)
    refused(book, FULFIL, Fenced, "not_holder", actor=CLAUDE)
    book.do(FULFIL, CLAUDE, NOW + timedelta(hours=1))


def test_what_is_closed_is_not_closed_again() -> None:
    for first in ((FULFIL, CLAUDE), (WITHDRAW, OWNER)):
        book = requested()
        book.do(*first)
        refused(book, FULFIL, Conflict, "already_decided")
        refused(book, WITHDRAW, Conflict, "already_decided", actor=OWNER)


def test_closed_duties_leave_the_hot_state() -> None:
    book = opened()
    for number in range(1, KEPT + 4):
        book.do(RequestReplan(reason="x"), OWNER)
        book.do(WithdrawReplan(obligation_id=f"O{number}"), OWNER)
    assert len(book.state.obligations) == KEPT
    refused(book, WithdrawReplan(obligation_id="O1"), Conflict, "already_decided", actor=OWNER)
    assert book.replay() == book.state


@pytest.mark.parametrize(
    ("command", "actor", "change"),
    [
        (FULFIL, CLAUDE, {"parts": []}),
        (FULFIL, CLAUDE, {"supersede": []}),
        (FULFIL, CLAUDE, {"supersede": [{"todo_id": "T3", "by": "T6"}]}),
        (WITHDRAW, OWNER, {"parts": []}),
        (RequestReplan(reason="y", todo_ids=("T6",)), OWNER, {"parts": []}),
        (RequestReplan(reason="y", todo_ids=("T6",)), OWNER, {"obligation_id": "O3"}),
        (RequestReplan(reason="y", todo_ids=("T6",)), OWNER, {"todo_ids": ["T5"]}),
    ],
)
def test_a_line_by_hand_can_do_no_more_than_the_command(
    command: Any, actor: Any, change: dict[str, Any]
) -> None:
    book, done = requested(), requested()
    done.do(command, actor)
    event, verdict = done.lines[-1]
    before = book.state
    book.take(event.model_copy(update={"payload": event.payload | change}), verdict)
    assert book.state.alert_count == before.alert_count + 1
    assert (book.state.todos, book.state.obligations) == (before.todos, before.obligations)


def test_a_signed_request_asks_once_whatever_numbers_a_copy_bears() -> None:
    book = dark_mode()
    book.do(REQUEST, OWNER)
    event, verdict = book.lines[-1]
    (part,) = event.payload["parts"]
    again = {"obligation_id": "O2", "parts": [part | {"todo_id": "T5"}]}
    update = {"seq": event.seq + 1, "payload": event.payload | again, "sha256": HASH}
    book.take(event.model_copy(update=update), verdict)
    assert [*book.state.obligations] == ["O1"]
    assert book.state.alert_count == 1


def test_a_todo_superseded_alone_as_an_agents_line_does_nothing() -> None:
    book, done = requested(), requested()
    done.do(FULFIL)
    (part,) = done.lines[-1][0].payload["parts"]
    rest = {key: value for key, value in part.items() if key != "type"}
    book.write(part["type"], rest)
    assert book.todo("T3").status == "claimed"
    assert book.state.alert_count == 1


STEPS = st.lists(
    st.tuples(st.sampled_from("acsrfw"), st.integers(1, 9), st.integers(1, 9)), max_size=30
)


@settings(max_examples=60, deadline=None)
@given(STEPS)
def test_nothing_ever_added_vanishes_and_every_line_leads_back_to_an_origin(steps: Any) -> None:
    book = opened()
    for kind, one, two in steps:
        first, second, duty = f"T{one}", f"T{two}", f"O{one}"
        command, actor = {
            "a": (add("Work", lineage=(first,) if one < two else ()), CLAUDE),
            "c": (CancelTodo(todo_id=first, reason="x"), OWNER),
            "s": (SupersedeTodo(todo_id=first, by=second, reason="x"), OWNER),
            "r": (RequestReplan(reason="x", todo_ids=(first,)), OWNER),
            "f": (FulfilReplan(obligation_id=duty, supersede=((first, second),)), CLAUDE),
            "w": (WithdrawReplan(obligation_id=duty), OWNER),
        }[kind]
        try:
            book.do(command, actor)
        except LoopxError:
            continue
    state = book.replay()
    assert state == book.state
    assert [*state.todos] == [f"T{n}" for n in range(1, state.next_todo)]
    for todo in state.todos.values():
        older = [int(ref[1:]) < int(todo.id[1:]) for ref in todo.lineage_todo_ids]
        assert all(older)
        if todo.superseded_by is not None:
            assert todo.id in state.todos[todo.superseded_by].lineage_todo_ids
        assert (todo.status == "superseded") is (todo.superseded_by is not None)
