"""should-run: eight rules in order, each with its code, its wake-up and its question."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from loopx_kernel.clock import Reading
from loopx_kernel.domain.aside import ReopenTodo, SetAside
from loopx_kernel.domain.contract import EXIT_STATUS, Contract, should_run
from loopx_kernel.domain.event import Actor, LiveLease
from loopx_kernel.domain.gate import DecideGate, RequestGate
from loopx_kernel.domain.goal import ChangeGoalStatus
from loopx_kernel.domain.handin import FinishHumanTodo
from loopx_kernel.domain.handoff import WriteHandoff
from loopx_kernel.domain.needs_you import Damage, Difference, Reads
from loopx_kernel.domain.observation import Observe
from loopx_kernel.domain.permission import Action
from loopx_kernel.domain.quota import is_exhausted
from loopx_kernel.domain.records import WaitingOn
from loopx_kernel.domain.rules import QuotaRule, SourceRule, parse_acceptance, parse_gate_rule
from loopx_kernel.domain.source import BindSource, ReadSource

from tests.kernel.domain.build import (
    AGENTS,
    CLAIMED,
    CLAUDE,
    CODEX,
    KERNEL,
    NOW,
    OWNER,
    Book,
    add,
    claim,
    complete,
    dark_mode,
    opened,
    reading,
    rules,
    spend,
)

MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)
EXPIRES = CLAIMED + 15 * MINUTE
NOTHING = Reads()
DRIFT = Reads(drift=(Difference("ticked", "T3", 7, "Convert components"),))
DAMAGE = Damage(
    path="events.jsonl",
    reason="broken chain",
    expected_digest="ab" * 32,
    found_digest="cd" * 32,
    command="loopx repair journal",
)
LEASE_DAMAGE = replace(DAMAGE, path="task-leases/T1.json", blocks_goal=False, todo_id="T1")
PUBLISH = Action(action="publish", command="npm publish")


def ask(
    book: Book,
    agent: Actor | None = CLAUDE,
    at: datetime = NOW,
    *,
    reads: Reads = NOTHING,
    clock: Reading | None = None,
) -> Contract:
    return should_run(
        book.state,
        reads,
        clock or reading(at),
        agent.id if agent else None,
        agents=AGENTS,
        owners=("huang",),
    )


def codes(contract: Contract) -> list[str]:
    return [reason.code for reason in contract.reasons]


def one(title: str = "A", **values: Any) -> Book:
    book = opened()
    book.do(add(title, **values))
    return book


def gated(**decision: Any) -> Book:
    book = one()
    book.do(RequestGate(action=PUBLISH, blocks=("T1",)))
    if decision:
        book.do(DecideGate(gate_id="G1", **decision), OWNER)
    return book


def waiting(kind: str = "ci", ref: str = "#812", every: int = 600) -> Book:
    book = one("Open the pull request")
    wait = WaitingOn(kind=kind, ref=ref, every_seconds=every)  # type: ignore[arg-type]
    book.do(SetAside(todo_id="T1", status="waiting", waiting_on=wait))
    return book


def test_scenario_19_run_twice_with_one_todo() -> None:
    book = dark_mode(
        acceptance=(parse_acceptance("tests=cmd:npm test", 1),),
        gates=(parse_gate_rule("publish:git push*"),),
    )
    book.do(add("Add tests", "tests/theme/**", acceptance=("tests",)))
    book.do(WriteHandoff(text="next: the switch"))
    first, second = ask(book, CODEX), ask(book, CODEX)
    assert first == second
    assert first.answer == "run"
    assert first.seq == book.state.seq
    brief = first.brief
    assert brief is not None
    assert (brief.todo_id, brief.title) == ("T4", "Add tests")
    assert brief.write_scope == ("tests/theme/**",)
    assert brief.objective == "Add a dark mode to the shop"
    assert brief.ask_before == ("write", "publish", "production-action", "publish:git push*")
    assert brief.verification[0] == "tests: cmd npm test"
    assert brief.spawn_policy.max_children == 2
    assert brief.handoff == "next: the switch"
    assert brief.commands == ("loopx turn begin --goal dark-mode --agent codex",)
    assert (first.scheduler_hint.interval_seconds, first.scheduler_hint.basis) == (60, "work_ready")


def test_a_brief_allows_no_more_than_a_claim_holds() -> None:
    book = one()
    brief = ask(book).brief
    assert brief is not None
    book.do(claim("T1"))
    lease = book.todo("T1").lease
    assert lease is not None
    assert brief.write_scope == lease.write_scopes == ()


def test_rule_1_damage_comes_before_everything() -> None:
    reads = Reads(damage=(DAMAGE,), drift=DRIFT.drift)
    book = dark_mode()
    book.do(ChangeGoalStatus(to="paused", reason="x"), OWNER)
    contract = ask(book, reads=reads)
    assert (contract.answer, codes(contract)) == ("ask", ["damaged"])
    assert contract.question is not None
    for words in ("ab" * 32, "cd" * 32, "loopx repair journal"):
        assert words in contract.question
    assert contract.ask == "huang"
    assert [need.kind for need in contract.needs_you] == ["damage", "tick"]


@pytest.mark.parametrize("to", ["paused", "retired"])
def test_rule_2_a_stopped_goal_is_quiet_and_never_rings(to: Any) -> None:
    book = dark_mode()
    book.do(ChangeGoalStatus(to=to, reason="x"), OWNER)
    contract = ask(book, reads=DRIFT)
    assert (contract.answer, codes(contract)) == ("quiet", [to])
    assert contract.scheduler_hint.next_wake_at is None


def test_rule_3_drift_is_for_a_person() -> None:
    contract = ask(dark_mode(), reads=DRIFT)
    assert (contract.answer, codes(contract)) == ("repair", ["drift"])
    assert contract.repair is not None
    assert contract.repair.by == "person"
    assert contract.reasons[0].message == "T3 was ticked by hand"


def test_rule_4_own_work_goes_on_without_a_slot() -> None:
    book = dark_mode()
    book.do(add("Urgent", priority="P0"))
    one_slot = rules(quota=QuotaRule(compute="0.1", window_hours=1, slot_minutes=6))
    book.state = book.state.model_copy(update={"rules": one_slot})
    spend(book, "turn-0002")
    assert is_exhausted(book.state, NOW)
    contract = ask(book)
    assert (contract.answer, codes(contract)) == ("run", ["continue_own"])
    assert contract.todo is not None
    assert contract.todo.id == "T3"


def test_rule_4_for_anyone_who_is_registered() -> None:
    assert codes(ask(dark_mode(), None)) == ["continue_own"]


def test_rule_4_not_while_a_gate_blocks_it() -> None:
    book = dark_mode()
    book.do(RequestGate(action=PUBLISH, blocks=("T3",)))
    assert (ask(book).answer, codes(ask(book))) == ("ask", ["gate_pending"])


def test_rule_5_priority_then_age() -> None:
    book = opened()
    for priority in ("P2", "P1", "P1", "P3"):
        book.do(add("A", priority=priority))
    order = []
    for _ in range(4):
        contract = ask(book)
        assert contract.todo is not None
        order.append(contract.todo.id)
        book.do(claim(contract.todo.id))
        book.do(complete(contract.todo.id))
    assert order == ["T2", "T3", "T1", "T4"]
    assert (ask(book).answer, codes(ask(book))) == ("quiet", ["nothing_to_do"])


def test_rule_5_not_without_its_dependencies_its_files_or_its_repo() -> None:
    book = opened()
    book.do(add("First", "src/theme/**"))
    book.do(add("Second", depends_on=("T1",), priority="P0"))
    book.do(add("Third", "src/theme/a.css", priority="P0"))
    contract = ask(book)
    assert contract.todo is not None
    assert contract.todo.id == "T3"
    book.do(claim("T3"), CODEX)
    blocked = ask(book)
    assert (blocked.answer, set(codes(blocked))) == ("wait", {"lease_held"})
    contract = ask(opened_with_work(), reads=Reads(repo_present=False))
    assert contract.answer == "quiet"
    assert "the repo mall-frontend is not there" in contract.reasons[0].message


def opened_with_work() -> Book:
    return one()


def test_a_refusal_stands_in_the_brief() -> None:
    book = gated(outcome="rejected")
    contract = ask(book)
    assert contract.answer == "run"
    assert contract.brief is not None
    assert contract.brief.refusals == ("G1 was rejected: Allow publish: npm publish?",)


def test_scenario_29_a_used_up_window_waits_for_the_first_slot_to_free() -> None:
    book = one()
    spend(book, "turn-0001", 500, at=NOW)
    spend(book, "turn-0002", 76, at=NOW + MINUTE)
    now = NOW + 2 * MINUTE
    contract = ask(book, at=now)
    assert (contract.answer, codes(contract)) == ("wait", ["quota_exhausted"])
    hint = contract.scheduler_hint
    assert (hint.basis, hint.next_wake_at) == ("slot_frees", NOW + timedelta(hours=24))
    later = ask(book, at=now + timedelta(hours=24))
    assert (later.answer, later.quota.used) == ("run", 0)


def test_rule_6_a_gate_asks_its_question() -> None:
    contract = ask(gated())
    assert (contract.answer, codes(contract)) == ("ask", ["gate_pending"])
    assert contract.question == "Allow publish: npm publish?"
    assert contract.ask == "huang"


def test_a_gate_put_off_to_a_date_waits_for_it_and_asks_then() -> None:
    book = gated(outcome="deferred", until=NOW + HOUR)
    contract = ask(book)
    assert (contract.answer, codes(contract)) == ("wait", ["gate_pending"])
    hint = contract.scheduler_hint
    assert (hint.basis, hint.next_wake_at) == ("date", NOW + HOUR)
    assert ask(book, at=NOW + HOUR).answer == "ask"


def test_rule_6_a_persons_todo_asks_when_it_is_due() -> None:
    book = one("Choose a colour", role="human", resume_at=NOW + HOUR)
    early = ask(book)
    assert (early.answer, codes(early), early.needs_you) == ("wait", ["not_due"], ())
    due = ask(book, at=NOW + HOUR)
    assert (due.answer, codes(due)) == ("ask", ["human_todo"])
    assert [need.id for need in due.needs_you] == ["T1"]
    book.do(FinishHumanTodo(todo_id="T1", reason="blue"), OWNER, NOW + HOUR)
    assert ask(book, at=NOW + HOUR).answer == "quiet"


def test_a_persons_todo_asks_only_after_what_it_needs() -> None:
    book = waiting()
    book.do(add("Review", role="human", depends_on=("T1",)))
    assert (ask(book).answer, ask(book).needs_you) == ("wait", ())
    book.do(ReopenTodo(todo_id="T1", reason="CI is gone"), OWNER)
    book.do(claim("T1"))
    book.do(complete("T1"))
    assert codes(ask(book)) == ["human_todo"]


def test_rule_6_damage_to_one_lease_stops_that_todo_only() -> None:
    book = one()
    reads = Reads(damage=(LEASE_DAMAGE,))
    assert (ask(book, reads=reads).answer, codes(ask(book, reads=reads))) == ("ask", ["damaged"])
    book.do(add("B"))
    contract = ask(book, reads=reads)
    assert contract.todo is not None
    assert (contract.answer, contract.todo.id) == ("run", "T2")


def test_scenario_21_a_date_is_waited_for() -> None:
    nine = datetime(2026, 9, 17, 9, 0, tzinfo=UTC)
    ten_past_eight = nine - 50 * MINUTE
    book = one("Take in the review", resume_at=nine)
    contract = ask(book, at=ten_past_eight)
    assert (contract.answer, codes(contract)) == ("wait", ["not_due"])
    hint = contract.scheduler_hint
    assert (hint.basis, hint.next_wake_at, hint.interval_seconds) == ("date", nine, 3000)
    assert contract.quota.used == 0
    assert ask(book, at=nine).answer == "run"


def test_a_monitor_runs_when_it_is_due() -> None:
    book = one("Watch the error rate", kind="monitor", next_check_at=NOW + HOUR)
    assert codes(ask(book)) == ["not_due"]
    assert ask(book, at=NOW + HOUR).answer == "run"


def test_scenario_24_a_wait_is_frozen_and_keeps_its_rhythm() -> None:
    book = waiting()
    for minutes, wake in ((1, 10), (10, 20), (25, 30)):
        contract = ask(book, at=NOW + minutes * MINUTE)
        assert (contract.answer, codes(contract)) == ("wait", ["quota_frozen"])
        assert contract.scheduler_hint.basis == "fact_rhythm"
        assert contract.scheduler_hint.next_wake_at == NOW + wake * MINUTE
        assert contract.quota.used == 0
    book.do(ReopenTodo(todo_id="T1", reason="CI is gone"), OWNER)
    assert ask(book).answer == "run"


def test_a_wait_freezes_its_todo_and_no_other() -> None:
    book = waiting()
    book.do(add("B"))
    contract = ask(book)
    assert contract.todo is not None
    assert (contract.answer, contract.todo.id) == ("run", "T2")


def test_a_wait_without_a_look_for_12_rhythms_asks() -> None:
    book = waiting(every=60)
    assert ask(book, at=NOW + 12 * MINUTE - timedelta(seconds=1)).answer == "wait"
    contract = ask(book, at=NOW + 12 * MINUTE)
    assert (contract.answer, codes(contract)) == ("ask", ["quota_frozen"])
    assert contract.question == "T1 has waited for ci #812 through 12 of its rhythms"


def test_a_look_at_a_source_keeps_a_wait_patient_and_a_failed_read_is_none() -> None:
    book = opened(sources=(SourceRule(id="chat", provider="slack"),))
    book.do(BindSource(source_id="chat"), KERNEL)
    book.do(add("Wait for a word"))
    wait = WaitingOn(kind="source", ref="chat", every_seconds=60)
    book.do(SetAside(todo_id="T1", status="waiting", waiting_on=wait))
    look = NOW + 11 * MINUTE
    book.do(Observe(kind="source", ref="chat", status="pending", basis="told"), KERNEL, look)
    contract = ask(book, at=NOW + 15 * MINUTE)
    assert contract.answer == "wait"
    assert contract.scheduler_hint.next_wake_at == NOW + 16 * MINUTE
    book.do(ReadSource(source_id="chat", status="failed"), KERNEL, NOW + 20 * MINUTE)
    assert ask(book, at=look + 12 * MINUTE).answer == "ask"
    book.do(ReadSource(source_id="chat", status="no_change"), KERNEL, NOW + 21 * MINUTE)
    assert ask(book, at=look + 12 * MINUTE).answer == "run"


def test_rule_7_anothers_lease_is_waited_for() -> None:
    contract = ask(dark_mode(), CODEX)
    assert (contract.answer, codes(contract)) == ("wait", ["lease_held"])
    hint = contract.scheduler_hint
    assert (hint.basis, hint.next_wake_at) == ("lease_end", EXPIRES)
    assert ask(dark_mode(), CODEX, EXPIRES).answer == "run"


def test_files_held_for_another_goal_are_waited_for_and_nothing_else_is() -> None:
    book = opened()
    book.do(add("Convert components", "src/theme/**"))
    held = LiveLease("shop", "T7", "codex", "/repo", ("src/**",), NOW, NOW + 5 * MINUTE)
    reads = Reads(repo="/repo", neighbours=(held,))
    contract = ask(book, reads=reads)
    assert (contract.answer, contract.reasons[0].code) == ("wait", "lease_held")
    assert contract.scheduler_hint.next_wake_at == NOW + 5 * MINUTE
    assert "shop/T7" in contract.reasons[0].message
    assert ask(book, reads=replace(reads, repo="/elsewhere")).answer == "run"
    book.do(add("Write the guide", "docs/**"))
    contract = ask(book, reads=reads)
    assert contract.todo is not None
    assert (contract.answer, contract.todo.title) == ("run", "Write the guide")


def test_a_lease_in_its_grace_does_not_ring_at_once() -> None:
    clock = Reading(EXPIRES + timedelta(seconds=30), "host-2", "boot-9", 5.0)
    hint = ask(dark_mode(), CODEX, clock=clock).scheduler_hint
    assert hint.next_wake_at == clock.now + MINUTE


def test_the_soonest_of_several_waits_rings() -> None:
    book = waiting()
    book.do(add("Later", resume_at=NOW + 5 * MINUTE))
    contract = ask(book)
    assert codes(contract) == ["quota_frozen", "not_due"]
    assert contract.scheduler_hint.next_wake_at == NOW + 5 * MINUTE


def test_scenario_23_nothing_to_do_is_quiet_and_climbs() -> None:
    book = one()
    book.do(SetAside(todo_id="T1", status="blocked", reason="no design"))
    contract = ask(book, at=NOW + 40 * MINUTE)
    assert (contract.answer, codes(contract)) == ("quiet", ["nothing_to_do"])
    assert "T1" in contract.reasons[0].message
    hint = contract.scheduler_hint
    assert (hint.basis, hint.next_wake_at) == ("ladder", NOW + 90 * MINUTE)
    assert contract.quota.used == 0


def test_needs_you_is_there_whatever_the_answer_oldest_first() -> None:
    book = opened()
    book.do(add("Choose a colour", role="human"), at=NOW - 2 * MINUTE)
    book.do(add("Work"), at=NOW)
    book.do(RequestGate(action=PUBLISH), at=NOW - MINUTE)
    contract = ask(book)
    assert contract.answer == "run"
    assert [need.id for need in contract.needs_you] == ["T1", "G1"]


def test_asking_changes_nothing() -> None:
    book = dark_mode()
    before = book.state.model_dump_json()
    ask(book, CODEX)
    assert book.state.model_dump_json() == before


def test_exit_statuses() -> None:
    assert EXIT_STATUS == {"run": 0, "ask": 10, "wait": 11, "repair": 12, "quiet": 13}
