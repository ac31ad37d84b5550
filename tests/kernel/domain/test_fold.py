"""The fold trusts no line: what a command could not do, a line written by hand cannot do."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from importlib import import_module
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loopx_kernel.domain import fold
from loopx_kernel.domain.alerts import MAX_ALERTS, fault_at
from loopx_kernel.domain.aside import ReopenTodo, SetAside
from loopx_kernel.domain.event import UNSIGNED, Event, EventType, Verdict, asked
from loopx_kernel.domain.gate import DecideGate, RequestGate, UseGate, WithdrawGate
from loopx_kernel.domain.goal import ChangeGoalStatus
from loopx_kernel.domain.handin import FinishHumanTodo, UpdateTodo
from loopx_kernel.domain.handoff import WriteHandoff
from loopx_kernel.domain.lease import ReleaseLease, RenewLease
from loopx_kernel.domain.permission import Action
from loopx_kernel.domain.quota import SpendSlot, VoidSlot
from loopx_kernel.domain.rebuilt import NoteRebuilt
from loopx_kernel.domain.records import WaitingOn
from loopx_kernel.domain.rules import SourceRule
from loopx_kernel.domain.source import (
    AddSource,
    BindSource,
    PauseSource,
    ReadSource,
    SettleSource,
)
from loopx_kernel.domain.source_host import ReportHost
from loopx_kernel.domain.state import GoalState
from loopx_kernel.domain.turn import RecoverTurn
from loopx_kernel.errors import UsageError

from tests.kernel.domain.build import (
    CLAUDE,
    CODEX,
    GOOD,
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
    line,
    opened,
    settle,
    signed_for,
)

HOUR = timedelta(hours=1)
PUBLISH = Action(action="publish", command="npm publish")
ASK = RequestGate(action=PUBLISH, blocks=("T3",))
CHAT = SourceRule(id="chat", provider="slack")

Step = tuple[Any, ...]
BLOCK = SetAside(todo_id="T3", status="blocked", reason="no design")
READ_CHAT: tuple[Step, ...] = (
    (AddSource(rule=CHAT), KERNEL),
    (BindSource(source_id="chat"), KERNEL),
    (ReadSource(source_id="chat", status="read", items=2, unreadable=0, pending=3), KERNEL),
)
LEGAL: dict[str, tuple[Step, ...]] = {
    "goal.paused": ((ChangeGoalStatus(to="paused", reason="x"), OWNER),),
    "goal.resumed": (
        (ChangeGoalStatus(to="paused", reason="x"), OWNER),
        (ChangeGoalStatus(to="resumed", reason="x"), OWNER),
    ),
    "goal.retired": ((ChangeGoalStatus(to="retired", reason="x"), OWNER),),
    "todo.added": ((add("More"),),),
    "todo.claimed": ((add("More"),), (claim("T4"), CODEX)),
    "todo.renewed": ((RenewLease(todo_id="T3", version=5, epoch=2),),),
    "todo.released": ((ReleaseLease(todo_id="T3", version=5, epoch=2),),),
    "todo.updated": ((UpdateTodo(todo_id="T3", evidence=(evidence("a.txt"),)),),),
    "todo.completed": ((ASK,), (complete("T3", evidence("a.txt")),)),
    "todo.blocked": ((BLOCK,),),
    "todo.waiting": ((SetAside(todo_id="T3", status="waiting", waiting_on=WaitingOn(kind="ci")),),),
    "todo.deferred": ((SetAside(todo_id="T3", status="deferred", until=NOW + HOUR),),),
    "todo.reopened": ((BLOCK,), (ReopenTodo(todo_id="T3"),)),
    "gate.requested": ((ASK,),),
    "gate.approved": ((ASK,), (DecideGate(gate_id="G1", outcome="approved"), OWNER)),
    "gate.rejected": ((ASK,), (DecideGate(gate_id="G1", outcome="rejected"), OWNER)),
    "gate.deferred": (
        (ASK,),
        (DecideGate(gate_id="G1", outcome="deferred", until=NOW + HOUR), OWNER),
    ),
    "gate.used": (
        (ASK,),
        (DecideGate(gate_id="G1", outcome="approved"), OWNER),
        (UseGate(action=PUBLISH),),
    ),
    "gate.withdrawn": ((ASK,), (WithdrawGate(gate_id="G1"),)),
    "spend.booked": ((begin("T3"),), (SpendSlot(turn="turn-0002"),)),
    "spend.voided": ((VoidSlot(turn="turn-0001", reason="x"), OWNER),),
    "turn.opened": ((add("More"),), (begin("T4"), CODEX)),
    "turn.settled": (
        (begin("T3"),),
        (ASK,),
        (settle("turn-0002", evidence=(evidence("a.txt"),), handoff="next: T4"),),
    ),
    "turn.recovered": (
        (begin("T3"),),
        (SpendSlot(turn="turn-0002"),),
        (RecoverTurn(turn_id="turn-0002"), KERNEL, NOW + HOUR),
    ),
    "source.added": ((AddSource(rule=CHAT), KERNEL),),
    "source.bound": ((AddSource(rule=CHAT), KERNEL), (BindSource(source_id="chat"), KERNEL)),
    "source.read": (
        (AddSource(rule=CHAT), KERNEL),
        (BindSource(source_id="chat"), KERNEL),
        (ReadSource(source_id="chat", status="read", items=2, unreadable=0), KERNEL),
    ),
    "source.settled": (
        *READ_CHAT,
        (SettleSource(source_id="chat", cursor="batch-7", pending=1), KERNEL),
    ),
    "source.paused": (*READ_CHAT, (PauseSource(source_id="chat", paused=True), KERNEL)),
    "source.scanned": (
        *READ_CHAT,
        (ReportHost(provider="slack", status="ok", scanned=("chat",), expires_seconds=60), KERNEL),
    ),
    "handoff.written": ((WriteHandoff(text="next: T3"),),),
    "file.rebuilt": ((NoteRebuilt(path="goals/dark-mode/x.md"), KERNEL),),
}
NOUNS = (
    *("goal", "todo", "handin", "lease", "aside", "gate", "quota", "source", "handoff"),
    "source_host",
    *("rebuilt", "turn", "turn_settle", "turn_end"),
)
REPEATABLE = {"handoff.written", "file.rebuilt", "source.read", "source.scanned"}
"""Events that may happen again word for word; every other copied line must do nothing."""

Case = tuple[GoalState, Event, Verdict]


def legal(name: str) -> Case:
    """The state before a legal line of this type, the line, and its verdict."""
    book = dark_mode()
    for step in LEGAL[name]:
        before = book.state
        book.do(*step)
    event, verdict = book.lines[-1]
    assert event.event_type == name
    return before, event, verdict


def kinds() -> Iterator[EventType[GoalState, Any]]:
    for noun in NOUNS:
        yield from import_module(f"loopx_kernel.domain.{noun}").EVENTS


every_type = pytest.mark.parametrize("name", LEGAL)
signed_types = pytest.mark.parametrize(
    "name", [name for name, steps in LEGAL.items() if steps[-1][-1] == OWNER]
)


def refused(before: GoalState, event: Event, verdict: Verdict = UNSIGNED) -> str:
    """Asserts that a line did nothing but raise the alert and move the head; its code."""
    after = fold.evolve(before, event, verdict)
    assert (after.seq, after.head, after.last_at) == (event.seq, event.sha256, event.recorded_at)
    assert after.alert_count == before.alert_count + 1
    alert = after.alerts[-1]
    assert (alert.seq, alert.event_id) == (event.seq, event.event_id)
    moved = {"seq", "head", "last_at", "alerts", "alert_count", "idle"}
    assert after.model_dump(exclude=moved) == before.model_dump(exclude=moved)
    return alert.code


def changed(event: Event, **payload: Any) -> Event:
    return event.model_copy(update={"payload": event.payload | payload})


def test_every_type_of_the_table_is_tried_here() -> None:
    lone = {kind.name for kind in kinds() if not kind.part_only}
    assert set(LEGAL) | {"goal.opened"} == lone


@every_type
def test_a_legal_line_has_its_effect(name: str) -> None:
    before, event, verdict = legal(name)
    after = fold.evolve(before, event, verdict)
    assert after.alert_count == 0
    kept = {"seq", "head", "last_at", "times", "floor", "changed_at"}
    same = after.model_dump(exclude=kept) == before.model_dump(exclude=kept)
    assert same is (name == "file.rebuilt")


@every_type
def test_the_wrong_author(name: str) -> None:
    before, event, verdict = legal(name)
    allowed = fold.event_type(name).by
    for actor in (CLAUDE, OWNER, KERNEL):
        if actor.kind not in allowed:
            other = event.model_copy(update={"actor_kind": actor.kind, "actor_agent_id": actor.id})
            code = refused(before, other, verdict)
            assert code == ("unsigned" if allowed == {"owner"} else "not_a_person")


@signed_types
def test_a_persons_line_without_a_signature_that_counts(name: str) -> None:
    before, event, _ = legal(name)
    assert refused(before, event) == "unsigned"
    assert refused(before, event.model_copy(update={"signed": None}), GOOD) == "unsigned"
    forged = Verdict(ok=False, problem="bad_signature")
    assert refused(before, event, forged) == "bad_signature"
    somebody = Verdict(ok=True, signer="mallory", level="passphrase")
    assert refused(before, event, somebody) == "unknown_signer"


@signed_types
def test_a_decision_on_something_that_changed_meanwhile(name: str) -> None:
    before, event, _ = legal(name)
    assert event.signed is not None
    ref = event.signed.object
    for other in (
        ref.model_copy(update={"version": ref.version + 1}),
        ref.model_copy(update={"id": "T1", "version": before.object_version("T1")}),
        ref.model_copy(update={"id": "nothing", "version": 0}),
    ):
        signed = event.signed.model_copy(update={"object": other})
        assert refused(before, event.model_copy(update={"signed": signed}), GOOD) == (
            "stale_decision"
        )


@every_type
def test_keys_too_many_and_too_few(name: str) -> None:
    before, event, verdict = legal(name)
    assert refused(before, changed(event, surprise=1), verdict) == "invalid_event"
    for key, field in fold.event_type(name).payload.model_fields.items():
        if field.is_required():
            payload = {k: v for k, v in event.payload.items() if k != key}
            fewer = event.model_copy(update={"payload": payload})
            refused(before, fewer, verdict)


@every_type
def test_values_of_another_type(name: str) -> None:
    before, event, verdict = legal(name)
    for key in event.payload:
        for value in ({"a": 1}, [[1]], 1.5):
            assert refused(before, changed(event, **{key: value}), verdict) in (
                "invalid_event",
                "stale_decision",
            )


@every_type
def test_versions_epochs_and_ids_that_are_not_the_next(name: str) -> None:
    before, event, verdict = legal(name)
    for key in ("version", "lease_epoch"):
        if key in event.payload:
            for step in (-1, 1):
                wrong = changed(event, **{key: event.payload[key] + step})
                assert refused(before, wrong, verdict) in ("version_mismatch", "stale_epoch")
    for key in ("todo_id", "gate_id", "source_id"):
        if key in event.payload and name != "source.added":
            for ident in ("T9", "G9", "", "T1\n"):
                refused(before, changed(event, **{key: ident}), verdict)


@every_type
def test_a_line_copied_to_a_later_place(name: str) -> None:
    before, event, verdict = legal(name)
    after = fold.evolve(before, event, verdict)
    again = event.model_copy(update={"seq": event.seq + 1, "sha256": HASH})
    if name not in REPEATABLE:
        refused(after, again, verdict)


@every_type
def test_a_line_of_another_goal(name: str) -> None:
    before, event, verdict = legal(name)
    other = event.model_copy(update={"goal_id": "fix-checkout"})
    assert refused(before, other, verdict) == "invalid_event"


@every_type
def test_a_line_before_the_goal_was_opened(name: str) -> None:
    _, event, verdict = legal(name)
    refused(GoalState(goal_id="dark-mode"), event, verdict)


@every_type
@pytest.mark.parametrize("year", [1, 1969, 9001, 9999])
def test_a_line_from_the_ends_of_the_calendar(name: str, year: int) -> None:
    before, event, verdict = legal(name)
    far = event.model_copy(update={"recorded_at": datetime(year, 1, 1, tzinfo=UTC)})
    assert refused(before, far, verdict) == "invalid_event"


@every_type
def test_parts_that_do_not_follow(name: str) -> None:
    before, event, verdict = legal(name)
    parts = event.payload.get("parts", [])
    extra: list[dict[str, Any]] = [
        {"type": "gate.approved", "gate_id": "G1", "digest": HASH},
        {"type": "lease.ended", "todo_id": "T1"},
        {"type": ["lease.ended"]},
        {"todo_id": "T3"},
    ]
    for part in extra:
        refused(before, changed(event, parts=[*parts, part]), verdict)
    for number in range(len(parts)):
        fewer = [part for index, part in enumerate(parts) if index != number]
        assert refused(before, changed(event, parts=fewer), verdict) == "invalid_event"
        renamed = [*fewer, parts[number] | {"todo_id": "T1"}]
        assert refused(before, changed(event, parts=renamed), verdict) == "invalid_event"


def test_completing_carries_what_ends_with_it() -> None:
    _, event, _ = legal("todo.completed")
    assert event.payload["parts"] == [
        {"type": "lease.ended", "todo_id": "T3"},
        {"type": "gate.mooted", "gate_id": "G1"},
    ]


@pytest.mark.parametrize(
    ("name", "payload"),
    [
        ("lease.ended", {"todo_id": "T3"}),
        ("gate.mooted", {"gate_id": "G1"}),
        ("goal.completed", {}),
        ("todo.done", {"todo_id": "T3"}),
        ("__class__", {}),
        ("owner.enrolled", {"name": "mallory"}),
        ("goal.opened", {"objective": "x", "rules": {}}),
    ],
)
def test_types_that_may_not_stand_here(name: str, payload: dict[str, Any]) -> None:
    book = dark_mode()
    book.do(ASK)
    for actor in (CLAUDE, OWNER, KERNEL):
        signed = signed_for(book.state, "dark-mode", NOW)
        refused(book.state, line(book.state, name, payload, actor, signed=signed), GOOD)


def test_a_goal_is_opened_once() -> None:
    book = opened()
    event, verdict = book.lines[0]
    again = event.model_copy(update={"seq": 2, "sha256": HASH})
    assert refused(book.state, again, verdict) == "exists"


@pytest.mark.parametrize(
    ("signed_part", "name"),
    [
        ({"todo_id": "T4", "reason": "blue"}, "todo.completed"),
        ({"gate_id": "G1", "reason": "go"}, "gate.approved"),
    ],
)
def test_what_is_signed_is_what_was_asked(signed_part: dict[str, Any], name: str) -> None:
    kind = fold.event_type(name)
    given = dict.fromkeys(kind.kernel_fields, 1)
    assert asked(kind, signed_part | given | {"parts": [1]}) == signed_part


def test_fields_outside_the_signature_cannot_be_altered() -> None:
    book = dark_mode()
    book.do(add("Choose a colour", role="human"))
    before = book.state
    book.do(FinishHumanTodo(todo_id="T4", reason="blue"), OWNER)
    event, verdict = book.lines[-1]
    kind = fold.event_type("todo.completed")
    for key, value in (("lease_epoch", 7), ("version", 9), ("result_hash", HASH)):
        altered = changed(event, **{key: value})
        assert asked(kind, altered.payload) == asked(kind, event.payload)
        refused(before, altered, verdict)


def test_the_ladder_starts_at_the_last_real_change() -> None:
    book = dark_mode()
    book.do(AddSource(rule=CHAT), KERNEL)
    book.do(BindSource(source_id="chat"), KERNEL)
    start = book.state.changed_at
    later = NOW + HOUR
    quiet: tuple[Step, ...] = (
        (RenewLease(todo_id="T3", version=5, epoch=2), CLAUDE, later),
        (WriteHandoff(text="next: T3"), CLAUDE, later),
        (NoteRebuilt(path="x"), KERNEL, later),
        (ReadSource(source_id="chat", status="no_change"), KERNEL, later),
        (ReadSource(source_id="chat", status="failed"), KERNEL, later),
    )
    for step in quiet:
        book.do(*step)
        assert book.state.changed_at == start
    book.write("todo.claimed", {"todo_id": "T3"}, at=later)
    assert book.state.changed_at == start
    book.do(ReadSource(source_id="chat", status="read", items=1, unreadable=0), KERNEL, later)
    assert book.state.changed_at == later


def test_alerts_are_counted_beyond_those_kept() -> None:
    book = dark_mode()
    for _ in range(MAX_ALERTS + 5):
        book.write("goal.completed", {})
    assert len(book.state.alerts) == MAX_ALERTS
    assert book.state.alert_count == MAX_ALERTS + 5
    assert book.state.alerts[-1].seq == book.state.seq


def test_that_a_line_did_nothing_is_known_when_its_reason_is_not_kept_any_more() -> None:
    book = dark_mode()
    good = book.state.seq
    book.write("goal.completed", {})
    book.do(add("More"))
    for _ in range(MAX_ALERTS):
        book.write("goal.completed", {})
    state = book.state
    faults = {seq: fault_at(state.alerts, state.idle, seq) for seq in range(good, state.seq + 1)}
    fine = [seq for seq, fault in faults.items() if fault is None]
    assert fine == [good, good + 2]
    assert "is not kept" in str(faults[good + 1])
    assert "is not an event of a goal" in str(faults[good + 3])
    assert GoalState.model_validate_json(state.model_dump_json()).idle == state.idle


def test_a_payload_is_written_without_empty_keys_and_read_back_the_same() -> None:
    payload = fold.normalise("spend.booked", {"effect_ref": "turn-0001", "slots": 1})
    assert payload == {"effect_ref": "turn-0001", "slots": 1}
    with pytest.raises(UsageError) as caught:
        fold.normalise("spend.booked", {"effect_ref": "turn-0001", "slots": "1"})
    assert caught.value.code == "invalid_event"
    assert "slots" in caught.value.message


@given(st.datetimes(datetime(2000, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC)))
def test_the_state_of_a_live_kernel_is_that_of_a_replay(at: datetime) -> None:
    book = opened()
    book.do(add("A"), at=at)
    book.do(claim("T1"), at=at)
    assert book.replay() == book.state


_LEAVES = st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.just("T3")
_JSON = st.recursive(
    _LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=8,
)


def _payloads(name: str) -> st.SearchStrategy[dict[str, Any]]:
    keys = st.sampled_from([*fold.event_type(name).payload.model_fields, "parts", "x"])
    return st.dictionaries(keys, _JSON, max_size=6)


@given(st.data())
def test_no_line_makes_the_fold_raise(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted(LEGAL)))
    before, event, verdict = _CASES(name)
    payload = data.draw(_payloads(name))
    if data.draw(st.booleans()):
        payload = event.payload | payload
    after = fold.evolve(before, event.model_copy(update={"payload": payload}), verdict)
    assert after.seq == event.seq


def _remembered() -> Callable[[str], Case]:
    cases: dict[str, Case] = {}

    def case(name: str) -> Case:
        if name not in cases:
            cases[name] = legal(name)
        return cases[name]

    return case


_CASES = _remembered()


def test_the_book_replays_to_the_same_state() -> None:
    book: Book = dark_mode()
    assert book.replay() == book.state
