"""Facts from outside: what lands, on what basis, and what a line written by hand may not say."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from loopx_kernel.domain.acceptance import AcceptByHand
from loopx_kernel.domain.aside import ReopenTodo, SetAside
from loopx_kernel.domain.cancel import CancelTodo
from loopx_kernel.domain.completion import derive
from loopx_kernel.domain.hot import LOOKS
from loopx_kernel.domain.needs_you import Reads
from loopx_kernel.domain.observation import Observe
from loopx_kernel.domain.records import WaitingOn
from loopx_kernel.domain.rules import Probe, SourceRule
from loopx_kernel.domain.waits import last_look
from loopx_kernel.errors import LoopxError, UsageError

from tests.kernel.domain.build import (
    CLAUDE,
    CODEX,
    HASH,
    KERNEL,
    NOW,
    OWNER,
    Book,
    add,
    claim,
    complete,
    evidence,
    opened,
    refused,
)

PROBES = (
    Probe(id="tests", command="make test"),
    Probe(id="approved", command="./approved", kind="review"),
)
MINUTE = timedelta(minutes=1)


def goal() -> Book:
    """T1 to T3 are open; T1 and T2 have scopes."""
    book = opened(probes=PROBES, sources=(SourceRule(id="tickets", provider="jira"),))
    for title, *scope in (("Open PR", "src/**"), ("Ship", "src/**", "docs/"), ("Other",)):
        book.do(add(title, *scope))
    return book


def wait(book: Book, todo_id: str, kind: Any = "ci", ref: str = "", at: Any = NOW) -> None:
    on = WaitingOn(kind=kind, ref=ref, every_seconds=600)
    book.do(SetAside(todo_id=todo_id, status="waiting", waiting_on=on), at=at)


def told(status: Any, ref: str = "pr-7", kind: Any = "ci", **values: Any) -> Observe:
    return Observe(kind=kind, ref=ref, status=status, basis="told", **values)


def read(status: Any, ref: str = "pr-7", **values: Any) -> Observe:
    facts: dict[str, Any] = {"path": "out/report.xml", "sha256": HASH, "size": 12}
    return Observe(kind="ci", ref=ref, status=status, basis="read", **facts, **values)


def ran(code: int, of: Probe = PROBES[0], **values: Any) -> Observe:
    status: Any = {0: "pass", 75: "pending"}.get(code, "fail")
    facts: dict[str, Any] = {
        "kind": of.kind,
        "ref": of.id,
        "status": status,
        "basis": "ran",
        "probe": of.id,
        "command": of.command,
        "exit_status": code,
    }
    return Observe(**facts | values)


def look(book: Book, command: Observe, at: Any = NOW) -> None:
    book.do(command, KERNEL, at)


def statuses(book: Book) -> dict[str, str]:
    return {todo.id: todo.status for todo in book.state.todos.values()}


@pytest.mark.parametrize("status", ["pass", "fail"])
@pytest.mark.parametrize("make", [told, read], ids=["told", "read"])
@pytest.mark.parametrize("ref", ["", "pr-7"])
def test_a_result_good_or_bad_thaws_what_waits_for_it(status: str, make: Any, ref: str) -> None:
    book = goal()
    wait(book, "T1", ref=ref)
    wait(book, "T2", ref="pr-8")
    wait(book, "T3", "review", ref="pr-7")
    look(book, make(status))
    assert statuses(book)["T1"] == "open"
    assert (statuses(book)["T2"], statuses(book)["T3"]) == ("waiting", "waiting")
    assert book.todo("T1").waiting_on is None
    assert ("T4" in book.state.todos) is (status == "fail")


def test_one_that_is_pending_is_only_a_look() -> None:
    book = goal()
    wait(book, "T1")
    before = book.state
    later = NOW + 5 * MINUTE
    look(book, told("pending"), later)
    assert book.state.todos == before.todos
    assert book.state.changed_at == before.changed_at
    assert last_look(book.state, book.todo("T1"), later) == later
    assert last_look(before, book.todo("T1"), later) == NOW


def test_looks_at_other_facts_are_no_looks_at_this_one() -> None:
    book = goal()
    wait(book, "T1", ref="pr-7")
    look(book, told("pending", "pr-8"), NOW + MINUTE)
    look(book, told("pending", "pr-7", "review"), NOW + MINUTE)
    assert last_look(book.state, book.todo("T1"), NOW) == NOW


def test_a_failure_makes_one_todo_that_mends_it_where_the_work_was() -> None:
    book = goal()
    wait(book, "T1")
    wait(book, "T2", ref="pr-7")
    look(book, told("fail"))
    fix = book.todo("T4")
    assert (fix.kind, fix.priority, fix.status, fix.title) == ("fix", "P0", "open", "Fix ci pr-7")
    assert fix.lineage_todo_ids == ("T1", "T2")
    assert fix.write_scope == ("src/**", "docs/")
    assert (fix.origin.actor_kind, fix.origin.actor_agent_id) == ("code", "loopx")
    seen = book.state.observations["ci:pr-7"]
    assert fix.origin.event_id == seen.event_id == book.lines[-1][0].event_id
    assert (seen.fix, seen.todo_id) == ("T4", "T1")
    assert book.replay() == book.state


def _red(book: Book, ref: str = "pr-7", todo_id: str = "T1") -> int:
    """How many todos it adds that T1 waits for this fact and it fails."""
    before = book.state.next_todo
    wait(book, todo_id, ref=ref)
    look(book, told("fail", ref))
    return book.state.next_todo - before


def _drop(book: Book, todo_id: str) -> None:
    book.do(CancelTodo(todo_id=todo_id, reason="x"), OWNER)


PASSES = told("pass")
EPISODES: list[tuple[list[Any], int]] = [
    ([], 0),
    ([PASSES], 0),
    (["mended"], 0),
    (["mended", told("pending")], 0),
    (["mended", PASSES], 1),
    ([PASSES, "mended"], 1),
    (["mended", PASSES, told("pending")], 1),
    (["mended", PASSES, told("fail")], 1),
    (["mended", told("pass", "pr-8")], 0),
]


@pytest.mark.parametrize(("between", "more"), EPISODES)
def test_a_failure_has_one_todo_that_mends_it_until_it_passes(between: Any, more: int) -> None:
    book = goal()
    assert _red(book) == 1
    for step in between:
        if step == "mended":
            _drop(book, "T4")
        else:
            look(book, step)
    assert _red(book) == more
    assert _red(book) == 0
    assert book.replay() == book.state


def test_the_next_failure_is_mended_anew_as_often_as_it_comes() -> None:
    book = goal()
    for number in range(3):
        assert _red(book) == 1
        _drop(book, f"T{4 + number}")
        wait(book, "T1", ref="pr-7")
        look(book, PASSES)


def test_each_ref_has_its_own() -> None:
    book = goal()
    assert _red(book) == 1
    assert _red(book, "pr-8") == 1
    assert book.todo("T5").title == "Fix ci pr-8"


def test_a_review_is_mended_and_a_source_is_not() -> None:
    book = goal()
    wait(book, "T1", "review")
    wait(book, "T2", "source", "tickets")
    look(book, told("fail", kind="review"))
    assert book.todo("T4").title == "Fix review pr-7"
    look(book, told("fail", "tickets", "source"))
    assert statuses(book) == dict.fromkeys(("T1", "T2", "T3", "T4"), "open")


def test_only_the_todo_that_is_named_thaws() -> None:
    book = goal()
    wait(book, "T1")
    wait(book, "T2")
    look(book, told("fail", todo_id="T2"))
    assert (statuses(book)["T1"], statuses(book)["T2"]) == ("waiting", "open")
    assert book.todo("T4").lineage_todo_ids == ("T2",)


@pytest.mark.parametrize("status", ["pass", "fail", "pending"])
def test_what_nobody_waits_for_is_recorded_and_does_nothing(status: str) -> None:
    book = goal()
    book.do(SetAside(todo_id="T1", status="blocked", reason="x"))
    book.do(claim("T2"))
    before = book.state
    for todo_id in (None, "T1", "T2", "T3"):
        look(book, told(status, todo_id=todo_id), NOW + MINUTE)
    after = book.state
    assert after.observations["ci:pr-7"].todo_id is None
    ignored = {"seq", "head", "last_at", "times", "floor", "observations"}
    assert after.model_dump(exclude=ignored) == before.model_dump(exclude=ignored)


def test_a_finished_todo_may_be_named() -> None:
    book = goal()
    book.do(claim("T3"))
    book.do(complete("T3", evidence("a.txt")))
    look(book, told("fail", todo_id="T3"))
    assert statuses(book)["T3"] == "done"


def test_a_run_has_its_basis_and_lands_by_the_probes_own_name() -> None:
    book = goal()
    wait(book, "T1", ref="tests")
    wait(book, "T2", "review", ref="approved")
    look(book, ran(75))
    assert statuses(book)["T1"] == "waiting"
    look(book, ran(0))
    look(book, ran(-9, PROBES[1]))
    assert (statuses(book)["T1"], book.todo("T4").title) == ("open", "Fix review approved")
    assert book.state.observations["ci:tests"].proven
    assert not book.state.observations["review:approved"].proven


def test_a_word_nobody_asked_for_takes_no_proof_away() -> None:
    book = goal()
    wait(book, "T1", ref="tests")
    look(book, ran(0))
    look(book, told("pass", "tests"))
    assert book.state.observations["ci:tests"].proven
    look(book, told("fail", "tests"))
    assert not book.state.observations["ci:tests"].proven
    look(book, told("pass", "tests"))
    assert not book.state.observations["ci:tests"].proven
    assert book.state.observations["ci:tests"].todo_id == "T1"


def test_proof_of_before_counts_for_no_later_wait() -> None:
    book = goal()
    wait(book, "T1", ref="tests")
    look(book, ran(0))
    wait(book, "T1", ref="tests", at=NOW + MINUTE)
    look(book, told("pass", "tests"), NOW + 2 * MINUTE)
    assert not book.state.observations["ci:tests"].proven


def test_who_handed_it_in_is_registered_and_stands_beside_it() -> None:
    book = goal()
    look(book, told("pass", by="codex"))
    assert book.state.observations["ci:pr-7"].by == "codex"
    look(book, told("pass", "pr-8"))
    assert book.state.observations["ci:pr-8"].by == "loopx"
    refused(book, told("pass", by="stranger"), UsageError, "unknown_agent", actor=KERNEL)


def checks(book: Book) -> dict[str, tuple[int, int]]:
    """Count and number of ids of each check of completion that facts can fail."""
    found = derive(book.state, Reads(), (), NOW).checks
    facts = ("observations", "ci", "review")
    return {c.check: (c.count, len(c.ids)) for c in found if c.check in facts and not c.ok}


def test_what_a_probe_may_prove_or_a_todo_is_to_mend_stays() -> None:
    book = goal()
    wait(book, "T1", ref="tests")
    look(book, told("pass", "tests"))
    assert _red(book, "pr-1", "T2") == 1
    wait(book, "T2", ref="pr-2")
    look(book, told("pending", "pr-2"))
    many = LOOKS * 3
    for number in range(many):
        wait(book, "T3", ref=f"other-{number}")
        look(book, told("pass", f"other-{number}"))
    kept = book.state.observations
    assert LOOKS < len(kept) <= LOOKS + 32
    assert {"ci:tests", "ci:pr-1", "ci:pr-2"} <= kept.keys()
    assert "ci:other-0" not in kept
    assert f"ci:other-{many - 1}" in kept
    assert _red(book, "pr-1", "T3") == 0
    look(book, ran(0))
    assert checks(book)["ci"][0] == many + 3
    assert book.replay() == book.state


def test_facts_that_nothing_can_prove_any_more_leave_and_are_counted() -> None:
    book = goal()
    many = LOOKS * 3
    for number in range(many):
        for todo_id, kind in (("T1", "ci"), ("T2", "review")):
            wait(book, todo_id, kind, ref=f"pr-{number}")
            look(book, told("pass", f"pr-{number}", kind))
    assert len(book.state.observations) <= LOOKS + 32
    found = checks(book)
    assert [count for count, _ in found.values()] == [many, many]
    assert all(0 < named < many for _, named in found.values())
    for todo_id in ("T1", "T2", "T3"):
        _drop(book, todo_id)
    book.do(AcceptByHand(reason="seen", repo_state=HASH), OWNER)
    assert checks(book) == {}
    assert book.replay() == book.state


ILLEGAL: list[tuple[Observe, str]] = [
    (told("pass", ""), "invalid_value"),
    (told("pass", "  "), "invalid_value"),
    (told("pass", "a\nb"), "invalid_value"),
    (told("pass", "a\x1b[2J"), "invalid_value"),
    (told("pass", "a\u2028b"), "invalid_value"),
    (told("pass", "x" * 201), "invalid_value"),
    (told("pass", todo_id="T9"), "unknown_todo"),
    (told("pass", todo_id="x"), "unknown_todo"),
    (told("passed"), "invalid_event"),
    (told("pass", kind="weather"), "invalid_event"),
    (told("pass", exit_status=0), "invalid_event"),
    (told("pass", probe="tests"), "invalid_event"),
    (told("pass", command="make test"), "invalid_event"),
    (told("pass", sha256=HASH), "invalid_event"),
    (told("pass", size=1), "invalid_event"),
    (told("pass", kept=True), "invalid_event"),
    (
        Observe(kind="ci", ref="r", status="pass", basis="read", path="a", sha256=HASH),
        "invalid_event",
    ),
    (ran(0, size=1), "invalid_event"),
    (ran(0, kept=True), "invalid_event"),
    (told("pass", path="a"), "invalid_event"),
    (read("pending"), "invalid_event"),
    (Observe(kind="ci", ref="r", status="pass", basis="read", path="a"), "invalid_event"),
    (Observe(kind="ci", ref="r", status="pass", basis="read", sha256=HASH), "invalid_event"),
    (
        Observe(kind="review", ref="r", status="pass", basis="read", path="a", sha256=HASH, size=1),
        "invalid_event",
    ),
    (read("pass", probe="tests"), "invalid_event"),
    (ran(0, probe=None), "invalid_event"),
    (ran(0, exit_status=None), "invalid_event"),
    (ran(0, command=""), "invalid_event"),
    (ran(0, Probe(id="lint", command="make test")), "unknown_probe"),
    (ran(0, command="true"), "invalid_event"),
    (ran(0, ref="pr-7"), "invalid_event"),
    (ran(0, kind="review"), "invalid_event"),
    (ran(1, status="pass"), "invalid_event"),
    (ran(75, status="pass"), "invalid_event"),
    (ran(0, status="fail"), "invalid_event"),
    (ran(0, path="a", sha256=HASH), "invalid_event"),
]


@pytest.mark.parametrize(("command", "code"), ILLEGAL)
def test_a_look_that_does_not_fit_is_refused(command: Observe, code: str) -> None:
    book = goal()
    wait(book, "T1")
    refused(book, command, UsageError, code, actor=KERNEL)


def test_only_code_records_what_was_seen() -> None:
    for actor in (CLAUDE, OWNER):
        book = goal()
        with pytest.raises(LoopxError, match="for code only"):
            book.do(told("pass"), actor)


def _payload(**changed: Any) -> dict[str, Any]:
    payload = {"kind": "ci", "ref": "pr-7", "status": "fail", "basis": "told", "by": "loopx"}
    return payload | changed


REOPENED = {"type": "todo.reopened", "todo_id": "T1", "version": 2}
ADDED = {
    "type": "todo.added",
    "todo_id": "T4",
    "title": "Fix ci pr-7",
    "kind": "fix",
    "priority": "P0",
    "write_scope": ["src/**"],
    "lineage_todo_ids": ["T1"],
}
OF_TODO_2 = {"type": "todo.reopened", "todo_id": "T2", "version": 2}


def test_a_line_written_by_hand_with_what_follows_from_it_is_as_a_command() -> None:
    book = goal()
    wait(book, "T1")
    book.write("observation.recorded", _payload(parts=[REOPENED, ADDED]), KERNEL)
    assert book.state.alert_count == 0
    assert statuses(book)["T4"] == "open"


@pytest.mark.parametrize(
    "payload",
    [
        _payload(),
        _payload(parts=[REOPENED]),
        _payload(parts=[ADDED]),
        _payload(parts=[ADDED, REOPENED]),
        _payload(parts=[REOPENED, ADDED, ADDED | {"todo_id": "T5"}]),
        _payload(parts=[REOPENED, ADDED, OF_TODO_2]),
        _payload(parts=[REOPENED | {"version": 3}, ADDED]),
        _payload(parts=[REOPENED, ADDED | {"write_scope": ["**"]}]),
        _payload(parts=[REOPENED, ADDED | {"lineage_todo_ids": []}]),
        _payload(parts=[REOPENED, ADDED | {"title": "Do as I say"}]),
        _payload(parts=[REOPENED, {"type": "lease.ended", "todo_id": "T2"}]),
        _payload(status="pending", parts=[REOPENED]),
        _payload(status="pass", parts=[REOPENED, ADDED]),
        _payload(ref="pr-8", todo_id="T2", parts=[OF_TODO_2]),
        _payload(parts=[{"todo_id": "T1"}]),
        _payload(by=""),
        _payload(status="pending", ref="a\x1b[2J"),
        _payload(status="pending", todo_id="T9"),
    ],
)
def test_one_that_says_anything_else_has_no_effect(payload: dict[str, Any]) -> None:
    book = goal()
    wait(book, "T1")
    wait(book, "T2", "review")
    before = book.state
    book.write("observation.recorded", payload, KERNEL)
    assert book.state.alert_count == 1
    assert (book.state.todos, book.state.observations) == (before.todos, {})


def test_so_has_one_in_an_agents_name() -> None:
    book = goal()
    wait(book, "T1")
    book.write("observation.recorded", _payload(parts=[REOPENED, ADDED]), CODEX)
    assert book.state.alert_count == 1
    assert statuses(book)["T1"] == "waiting"


def test_a_wait_that_ended_with_its_todo_is_landed_on_no_more() -> None:
    book = goal()
    wait(book, "T1")
    book.do(CancelTodo(todo_id="T1", reason="no"), OWNER)
    look(book, told("fail"))
    assert set(book.state.todos) == {"T1", "T2", "T3"}
    assert book.todo("T1").status == "cancelled"


def test_what_is_waited_for_has_a_name_that_can_be_shown() -> None:
    book = goal()
    for ref in ("a\x1b[2J", "a\nb", "x" * 201, " "):
        on = WaitingOn(kind="ci", ref=ref)
        command = SetAside(todo_id="T1", status="waiting", waiting_on=on)
        refused(book, command, UsageError, "invalid_value")


def test_a_wait_given_up_by_hand_is_landed_on_no_more() -> None:
    book = goal()
    wait(book, "T1")
    book.do(ReopenTodo(todo_id="T1", reason="CI is gone"), OWNER)
    look(book, told("fail"))
    assert set(book.state.todos) == {"T1", "T2", "T3"}
