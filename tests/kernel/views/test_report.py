"""A report says what the lines of its period did: all of it, and nothing else."""

from __future__ import annotations

from datetime import timedelta
from itertools import pairwise

import pytest
from loopx_kernel.domain.acceptance import RecordRun
from loopx_kernel.domain.cancel import CancelTodo
from loopx_kernel.domain.escalation import AnswerEscalation
from loopx_kernel.domain.event import Verdict
from loopx_kernel.domain.gate import DecideGate, RequestGate
from loopx_kernel.domain.objective import PatchObjective
from loopx_kernel.domain.observation import Observe
from loopx_kernel.domain.permission import Action
from loopx_kernel.domain.quota import VoidSlot
from loopx_kernel.domain.replan import FulfilReplan, RequestReplan
from loopx_kernel.domain.rules import parse_acceptance
from loopx_kernel.domain.standing import worked_seq
from loopx_kernel.views import report_rows
from loopx_kernel.views.plain import to_json
from loopx_kernel.views.report import Period, Report
from loopx_kernel.views.report_document import document

from tests.kernel.domain.build import (
    CLAUDE,
    CODEX,
    HASH,
    KERNEL,
    NOW,
    OPENED,
    OWNER,
    Book,
    add,
    begin,
    dark_mode,
    line,
    opened,
    settle,
    signed_for,
)
from tests.kernel.views.told import ALL, report_of

MINUTE = timedelta(minutes=1)
PUSH = Action(action="publish", command="git push")


def busy() -> Book:
    """A goal in which everything a report tells of happened."""
    book = dark_mode()
    book.do(RequestGate(action=PUSH, question="Push it?", blocks=("T3",)), CLAUDE)
    book.do(DecideGate(gate_id="G1", outcome="approved", reason="fine"), OWNER)
    book.do(VoidSlot(turn="turn-0001", reason="turn failed validation"), OWNER)
    book.do(add("Ship"), CODEX)
    book.do(begin("T4"), CODEX)
    book.do(settle("turn-0002", "failed", note="it broke"), CODEX)
    book.do(Observe(kind="ci", ref="pr-7", status="fail", basis="told", by=CODEX.id), KERNEL)
    book.do(PatchObjective(text="Dark mode, and light", reason="asked for", facts=("mail",)), OWNER)
    book.do(RequestReplan(reason="unstable", facts=("CI red",), todo_ids=("T4",)), OWNER)
    book.do(add("Ship otherwise", lineage=("T4",)), CODEX)
    book.do(FulfilReplan(obligation_id="O1", supersede=(("T4", "T6"),)), CODEX)
    book.do(CancelTodo(todo_id="T6", reason="nobody needs it"), OWNER)
    return book


def kinds(found: Report) -> list[str]:
    return [incident.kind for incident in found.incidents.rows]


def test_what_was_done_and_on_which_evidence() -> None:
    found = report_of(dark_mode())

    assert [(r.todo_id, r.outcome, r.place.by) for r in found.ended.rows] == [
        ("T1", "done", "codex"),
        ("T2", "done", "codex"),
    ]
    assert [(r.todo_id, r.title) for r in found.added.rows][-1] == ("T3", "Convert components")
    assert [(r.of, r.what, r.basis, r.sha256) for r in found.evidence.rows] == [
        ("T1", "dark-mode-notes.md", "told", HASH),
        ("T2", "docs/theme-vars.md", "told", HASH),
    ]
    assert [(r.turn_id, r.outcome, r.progress, r.slots) for r in found.turns.rows] == [
        ("turn-0001", "done", False, 1)
    ]
    assert (found.turns_opened, found.turn_outcomes) == (1, {"done": 1})
    assert (found.counts_before["total"], found.counts_after["done"]) == (0, 2)
    assert (found.first_seq, found.last_seq, found.lines) == (1, 13, 13)


def test_what_it_cost_and_what_was_given_back() -> None:
    found = report_of(busy())

    spending = found.spending
    assert (spending.booked, spending.voided, spending.net, spending.voided_earlier) == (1, 1, 0, 0)
    assert (spending.spends, spending.voids, spending.by_agent) == (1, 1, {"codex": 1})
    assert spending.allowed_per_window == 576
    assert [(r.effect_ref, r.voided, r.reason) for r in found.bookings.rows] == [
        ("turn-0001", False, ""),
        ("turn-0001", True, "turn failed validation"),
    ]


def test_a_void_of_an_earlier_booking_takes_nothing_from_this_period() -> None:
    book = busy()
    later = report_of(book, Period(NOW - MINUTE, NOW + MINUTE)).spending

    assert (later.booked, later.voided, later.net, later.voided_earlier) == (0, 0, 0, 1)


def test_who_decided_what_and_what_the_signature_is_worth() -> None:
    found = report_of(busy())

    by_type = {row.event_type: row for row in found.decisions.rows}
    approved = by_type["gate.approved"]
    assert (approved.about, approved.what, approved.reason) == ("G1", "git push", "fine")
    assert (approved.signature_ok, approved.level, approved.effective) == (True, "passphrase", True)
    assert approved.fingerprint == "SHA256:abc"
    assert {"goal.opened", "spend.voided", "objective.patched", "replan.requested"} <= set(by_type)
    assert [(row.gate_id, row.status) for row in found.gates.rows] == [("G1", "approved")]


def test_a_decision_whose_signature_does_not_hold_is_listed_as_worth_nothing() -> None:
    book = dark_mode()
    book.do(RequestGate(action=PUSH, question="Push it?"), CLAUDE)
    payload = {"gate_id": "G1", "digest": book.state.gates["G1"].digest}
    signed = signed_for(book.state, "G1", NOW)
    bad = Verdict(ok=False, problem="bad_signature")
    book.lines.append((line(book.state, "gate.approved", payload, OWNER, NOW, signed=signed), bad))

    found = report_of(book)

    forged = found.decisions.rows[-1]
    assert (forged.event_type, forged.signature_ok, forged.effective) == (
        *("gate.approved", False, False),
    )
    assert "signature" in str(forged.problem)
    assert found.incidents.rows[-1].kind == "no_effect"
    assert "does NOT hold" in str(document(found))


def test_changes_of_plan_keep_who_why_and_on_which_facts() -> None:
    found = report_of(busy())

    assert [(r.event_type, r.reason, r.facts, r.place.by) for r in found.changes.rows] == [
        ("objective.patched", "asked for", ("mail",), "huang"),
        ("replan.requested", "unstable", ("CI red",), "huang"),
        ("replan.fulfilled", "", (), "codex"),
        ("todo.superseded", "unstable", (), "codex"),
        ("todo.cancelled", "nobody needs it", (), "huang"),
    ]


def test_what_went_wrong_is_named() -> None:
    book = busy()
    book.write("todo.claimed", {"todo_id": "T3", "lease_epoch": 1, "version": 1}, CODEX)
    book.write("handoff.written", {"text": "late"}, CLAUDE, at=OPENED)

    found = report_of(book, Period(OPENED, ALL.until))

    assert kinds(found) == ["turn_failed", "observation.recorded", "no_effect", "clock"]
    assert "it broke" in found.incidents.rows[0].what


def test_an_escalation_is_an_incident_and_its_answer_a_decision() -> None:
    book = opened()
    book.do(add("Convert"))
    for number in range(1, 4):
        book.do(begin("T1"))
        book.do(settle(f"turn-{number:04}", "failed"))
    assert "E1" in book.state.escalations
    book.do(AnswerEscalation(escalation_id="E1", answer="go_on", reason="it is new"), OWNER)

    found = report_of(book)

    assert "escalation.raised" in kinds(found)
    decided = found.decisions.rows[-1]
    assert (decided.event_type, decided.about, decided.reason) == (
        *("escalation.answered", "E1", "it is new"),
    )


def test_what_is_still_open_is_told_of_the_end_of_the_period() -> None:
    book = dark_mode()
    before = report_of(book, Period(OPENED - MINUTE, OPENED + 5 * MINUTE))

    assert [row.todo.id for row in before.still_open.todos] == ["T1", "T2", "T3"]
    assert before.counts_after["done"] == 0
    assert any("later" in text for text in before.not_covered)
    now = report_of(book)
    assert [row.todo.id for row in now.still_open.todos] == ["T3"]
    assert not now.still_open.complete
    assert now.still_open.failing


def test_periods_that_follow_one_another_add_up_to_the_whole() -> None:
    book = busy()
    whole = report_of(book, Period(OPENED, ALL.until))
    edges = [*(OPENED + n * 7 * MINUTE for n in range(30)), ALL.until]
    parts = [report_of(book, Period(a, b)) for a, b in pairwise(edges)]

    for name in ("added", "ended", "evidence", "turns", "bookings", "decisions", "changes"):
        rows = [row for part in parts for row in getattr(part, name).rows]
        assert rows == list(getattr(whole, name).rows), name
    assert sum(part.lines for part in parts) == whole.lines
    assert sum(part.spending.booked for part in parts) == whole.spending.booked
    given_back = (p.spending.voided + p.spending.voided_earlier for p in parts)
    assert sum(given_back) == whole.spending.voided
    for earlier, later in pairwise(parts):
        assert earlier.counts_after == later.counts_before


def test_the_parts_of_a_period_cover_it_and_add_up() -> None:
    found = report_of(busy())

    assert found.parts[0].start == found.period.since
    length = found.part_seconds * len(found.parts)
    assert length >= (found.period.until - found.period.since).total_seconds()
    assert length - found.part_seconds < (found.period.until - found.period.since).total_seconds()
    assert sum(part.booked for part in found.parts) == found.spending.booked
    last = found.parts[-1]
    after = found.counts_after
    assert last.ended == after["done"] + after["superseded"] + after["cancelled"]
    assert last.total == after["total"]


@pytest.mark.parametrize(
    ("length", "parts", "seconds"),
    [
        (timedelta(hours=1), 4, 900),
        (timedelta(days=1), 24, 3600),
        (timedelta(days=7), 28, 21600),
        (timedelta(days=30), 30, 86400),
        (timedelta(days=3650), 10, 365 * 86400),
        (timedelta(seconds=1), 1, 900),
    ],
)
def test_parts_are_of_a_length_people_know(length: timedelta, parts: int, seconds: int) -> None:
    found = report_of(dark_mode(), Period(NOW - length, NOW))

    assert (len(found.parts), found.part_seconds) == (parts, seconds)


def test_long_lists_are_counted_in_full_and_what_is_left_out_is_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(report_rows, "MOST", 2)
    found = report_of(dark_mode())

    assert (found.added.total, [r.todo_id for r in found.added.rows]) == (3, ["T2", "T3"])
    assert found.added.left_out == 1
    assert any("1 earlier rows of added" in text for text in found.not_covered)


def test_acceptance_is_evidence_and_what_did_not_pass_an_incident_too() -> None:
    items = (parse_acceptance("ok=cmd:true", 1), parse_acceptance("bad=cmd:false", 2))
    book = dark_mode(acceptance=items)
    results = tuple(
        {"item_id": name, "result": said, "detail": f"exit status {n}", "digest": HASH}
        | {"repo_state": HASH, "worked_seq": worked_seq(book.state)}
        for n, (name, said) in enumerate((("ok", "passed"), ("bad", "failed")))
    )
    book.do(RecordRun(results=results), KERNEL)

    found = report_of(book)

    assert [(r.of, r.result, r.basis) for r in found.evidence.rows][-2:] == [
        ("acceptance:ok", "passed", "ran"),
        ("acceptance:bad", "failed", "ran"),
    ]
    assert [(i.kind, i.what) for i in found.incidents.rows] == [
        ("acceptance.ran", "bad failed: exit status 1")
    ]


def test_a_report_is_json() -> None:
    value = to_json(report_of(busy()))

    assert value["spending"]["booked"] == 1
    assert value["period"]["since"].endswith("Z")
