"""A goal that is complete, and each thing that keeps it from being so, alone and in pairs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from itertools import combinations

import pytest
from loopx_kernel.domain import completion
from loopx_kernel.domain.aside import SetAside
from loopx_kernel.domain.completion import Completion, ListSource
from loopx_kernel.domain.contract import should_run
from loopx_kernel.domain.freshness import judge
from loopx_kernel.domain.gate import RequestGate
from loopx_kernel.domain.needs_you import Damage, Difference, Reads
from loopx_kernel.domain.permission import Action
from loopx_kernel.domain.records import WaitingOn
from loopx_kernel.domain.records_of_work import (
    AcceptedByHand,
    Escalation,
    ItemResult,
    Obligation,
    Observation,
    Turn,
)
from loopx_kernel.domain.rules import SourceRule, parse_acceptance
from loopx_kernel.domain.source import BindSource, ReadSource
from loopx_kernel.domain.state import GoalState

from tests.kernel.domain.build import (
    AGENTS,
    CLAUDE,
    HASH,
    KERNEL,
    NOW,
    Book,
    add,
    claim,
    complete,
    opened,
    reading,
)

DAY = timedelta(days=1)
REQUIRED = SourceRule(id="chat", provider="slack", required=True, window_seconds=3600)
OTHER = SourceRule(id="tickets", provider="jira")
ITEM = parse_acceptance("tests=cmd:npm test", 1)
OPTIONAL = parse_acceptance("?lint=cmd:npm run lint", 2)
GOOD = ReadSource(source_id="chat", status="read", items=3, unreadable=0)


@dataclass(frozen=True)
class Case:
    """A goal, what was read beside its journal, and where the list comes from."""

    book: Book
    reads: Reads = field(default_factory=Reads)
    list_source: ListSource = "journal"

    def changed(self, **update: object) -> Case:
        return replace(self, book=Book(self.book.state.model_copy(update=update)))


Flip = Callable[[Case], Case]


def closed() -> Case:
    """Three todos done, the source read and every item passed after the last of them."""
    book = opened(sources=(REQUIRED, OTHER), acceptance=(ITEM, OPTIONAL))
    book.do(BindSource(source_id="chat"), KERNEL)
    for number in (1, 2, 3):
        book.do(add(f"Work {number}"))
        book.do(claim(f"T{number}"))
        book.do(complete(f"T{number}"))
    return settled(Case(book))


def settled(case: Case) -> Case:
    """The same with the source read again and the item passed again."""
    case.book.do(GOOD, KERNEL)
    return ran("passed")(case)


def ran(result: str) -> Flip:
    """The required item, run now."""

    def flip(case: Case) -> Case:
        seq = case.book.state.seq
        values = {"item_id": "tests", "result": result, "repo_state": HASH, "digest": HASH}
        one = ItemResult.model_validate({**values, "at": NOW, "seq": seq})
        return case.changed(results={"tests": one})

    return flip


def derive(case: Case, at: timedelta = timedelta(0)) -> Completion:
    state, now = case.book.state, NOW + at
    readings = [judge(source, now) for source in state.sources.values()]
    return completion.derive(state, case.reads, readings, now, case.list_source)


def with_todo(
    status: str, wait: WaitingOn | None = None, **values: object
) -> Callable[[Case], Case]:
    """One more todo, so; what was checked is checked again after it."""

    def flip(case: Case) -> Case:
        book = case.book
        book.do(add("One more", **values))
        todo_id = f"T{book.state.next_todo - 1}"
        if status == "claimed":
            book.do(claim(todo_id))
        elif status not in ("open", "deferred"):
            aside = SetAside(todo_id=todo_id, status=status, reason="x", waiting_on=wait)  # type: ignore[arg-type]
            book.do(aside)
        return settled(case)

    return flip


def seen(kind: str, status: str, basis: str) -> Callable[[Case], Case]:
    """A fact that work waited for, as it was last seen."""

    def flip(case: Case) -> Case:
        fact = Observation.model_validate(
            {
                "kind": kind,
                "ref": f"{status}-{basis}",
                "status": status,
                "basis": basis,
                "by": "codex",
                "at": NOW,
                "event_id": "e-1",
                "todo_id": "T1",
                "seq": case.book.state.seq,
            }
        )
        return case.changed(observations={**case.book.state.observations, fact.key: fact})

    return flip


def gate(case: Case) -> Case:
    case.book.do(RequestGate(action=Action(action="publish", command="npm publish")))
    return case


def unchecked(case: Case) -> Case:
    return case.changed(results={})


def unread(case: Case) -> Case:
    case.book.do(ReadSource(source_id="chat", status="failed"), KERNEL, NOW + timedelta(minutes=1))
    return case


def a_bad_line(case: Case) -> Case:
    case.book.write("goal.completed", {"complete": True})
    return case


def obligation(case: Case) -> Case:
    duty = Obligation(
        id="O1", reason="x", todo_ids=("T1",), replan_todo="T3", by="huang", at=NOW, seq=1
    )
    return case.changed(obligations={"O1": duty})


def escalation(case: Case) -> Case:
    one = Escalation(id="E1", cause="capped", todo_id="T1", detail="x", at=NOW, seq=1)
    return case.changed(escalations={"E1": one})


def open_turn(case: Case) -> Case:
    turn = Turn(
        id="turn-0001",
        todo_id="T1",
        agent_id="codex",
        contract_id="c-1",
        lease_epoch=1,
        opened_at=NOW,
        opened_seq=1,
        seq=1,
    )
    return case.changed(turns={"turn-0001": turn})


def damaged(case: Case) -> Case:
    return replace(case, reads=replace(case.reads, damage=(Damage("registry.json", "edited"),)))


def drifted(case: Case) -> Case:
    return replace(case, reads=replace(case.reads, drift=(Difference("ticked", "T3", 1, ""),)))


def not_from_the_start(case: Case) -> Case:
    return replace(case, reads=replace(case.reads, verified_from=120))


def from_prose(case: Case) -> Case:
    return replace(case, list_source="prose")


CI, REVIEW = WaitingOn(kind="ci", ref="#8"), WaitingOn(kind="review", ref="#8")
SOURCE = WaitingOn(kind="source", ref="tickets")
OPEN = {"open_zero", "count_total"}
WAITING = {"waiting_zero", "count_total"}
FLIPS: dict[str, tuple[Callable[[Case], Case], set[str]]] = {
    "open": (with_todo("open"), OPEN),
    "claimed": (with_todo("claimed"), {"claimed_zero", "count_total"}),
    "deferred": (with_todo("deferred", resume_at=NOW + DAY), {"deferred_zero", "count_total"}),
    "due, not checked": (with_todo("open", next_check_at=NOW), {"due_checked", *OPEN}),
    "blocked": (with_todo("blocked"), {"blocked_zero", "count_total"}),
    "waiting for a source": (with_todo("waiting", SOURCE), {"observations", *WAITING}),
    "waiting for CI": (with_todo("waiting", CI), {"ci", *WAITING}),
    "waiting for review": (with_todo("waiting", REVIEW), {"review", *WAITING}),
    "a successor to run": (with_todo("open", lineage=("T1",)), {"runnable_successor", *OPEN}),
    "a successor blocked": (
        with_todo("blocked", lineage=("T1",)),
        {"blocked_successor", "blocked_zero", "count_total"},
    ),
    "CI pending": (seen("ci", "pending", "ran"), {"ci"}),
    "CI failed": (seen("ci", "fail", "ran"), {"ci"}),
    "CI only told": (seen("ci", "pass", "told"), {"ci"}),
    "review only read": (seen("review", "pass", "read"), {"review"}),
    "acceptance not run": (unchecked, {"acceptance"}),
    "acceptance failed": (ran("failed"), {"acceptance"}),
    "acceptance inconclusive": (ran("inconclusive"), {"acceptance"}),
    "a gate": (gate, {"gates"}),
    "an obligation": (obligation, {"obligations"}),
    "an escalation": (escalation, {"escalations"}),
    "an open turn": (open_turn, {"turns_closed"}),
    "damage": (damaged, {"integrity"}),
    "drift": (drifted, {"integrity"}),
    "a bad line": (a_bad_line, {"integrity"}),
    "only the tail verified": (not_from_the_start, {"integrity"}),
    "a source unread": (unread, {"sources"}),
    "prose": (from_prose, {"list_source"}),
}
_LAST = ("acceptance", "damage", "drift", "only", "prose", "a source unread", "CI", "review only")
"""What is put on top, so that nothing checks it again."""


def flipped(*names: str) -> Case:
    case = closed()
    for name in sorted(names, key=lambda name: name.startswith(_LAST)):
        case = FLIPS[name][0](case)
    return case


def names_of(found: Completion) -> set[str]:
    return {check.check for check in found.failing}


def test_the_clean_case_is_complete_and_says_how_it_was_derived() -> None:
    found = derive(closed())
    assert found.complete, found.failing
    assert (found.derived, found.source) == (True, "validated_goal_closure")


def test_the_checks_are_those_of_the_contract() -> None:
    checks = derive(closed()).checks
    assert [c.check for c in checks if c.gate == 1] == (
        "list_source list_declared count_total open_zero claimed_zero waiting_zero blocked_zero "
        "deferred_zero due_checked".split()
    )
    assert {c.check for c in checks if c.gate == 2} == set(
        "observations ci review runnable_successor blocked_successor acceptance obligations gates "
        "escalations turns_closed integrity sources".split()
    )


@pytest.mark.parametrize("name", FLIPS)
def test_each_alone_blocks_and_names_itself(name: str) -> None:
    found = derive(flipped(name))
    assert not found.complete
    assert names_of(found) == FLIPS[name][1]
    assert all(check.count == len(check.ids) > 0 for check in found.failing)


@pytest.mark.parametrize(("one", "other"), combinations(FLIPS, 2))
def test_any_two_are_both_named(one: str, other: str) -> None:
    found = derive(flipped(one, other))
    assert not found.complete
    assert names_of(found) == FLIPS[one][1] | FLIPS[other][1]


def test_an_absent_list_is_not_an_empty_one() -> None:
    absent = completion.derive(GoalState(goal_id="dark-mode"), Reads(), (), NOW)
    assert "list_declared" in names_of(absent)


def by_hand(case: Case, after: int) -> Case:
    word = AcceptedByHand(
        by="huang",
        at=NOW,
        reason="looked at it",
        repo_state=HASH,
        level="passphrase",
        seq=case.book.state.seq + after,
    )
    return case.changed(accepted=word)


@pytest.mark.parametrize("name", ["acceptance failed", "acceptance not run", "CI only told"])
def test_a_persons_word_accepts_what_no_machine_did(name: str) -> None:
    assert derive(by_hand(flipped(name), 1)).complete


@pytest.mark.parametrize("name", ["open", "a gate", "an open turn", "damage", "a source unread"])
def test_a_persons_word_settles_nothing_else(name: str) -> None:
    assert names_of(derive(by_hand(flipped(name), 1))) == FLIPS[name][1]


def test_a_word_given_before_the_last_work_is_worth_nothing() -> None:
    case = by_hand(flipped("acceptance not run"), 0)
    case.book.do(add("More"))
    case.book.do(claim("T4"))
    case.book.do(complete("T4"))
    case.book.do(GOOD, KERNEL)
    assert names_of(derive(case)) == {"acceptance"}


def test_it_stays_closed_over_a_year() -> None:
    case = closed()
    for days in range(0, 366, 7):
        assert derive(case, days * DAY).complete
        answer = should_run(
            case.book.state, Reads(), reading(NOW + days * DAY), CLAUDE.id, agents=AGENTS
        )
        assert (answer.answer, answer.reasons[0].code) == ("quiet", "closed")
        assert answer.scheduler_hint.next_wake_at is None
