"""A review packet holds what one decision needs, whatever the decision is about."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from loopx_kernel.domain.escalation import AnswerEscalation
from loopx_kernel.domain.gate import DecideGate, RequestGate
from loopx_kernel.domain.needs_you import Damage, Difference, Reads
from loopx_kernel.domain.permission import Action
from loopx_kernel.domain.propose import ProposeChange
from loopx_kernel.domain.records_of_work import Proposal
from loopx_kernel.domain.rules import parse_acceptance
from loopx_kernel.errors import LoopxError
from loopx_kernel.text import safe
from loopx_kernel.views.packet import Change, Packet, looked, packet
from loopx_kernel.views.packet_document import document
from loopx_kernel.views.packet_subject import followed, subject_of
from loopx_kernel.views.plain import to_json
from loopx_kernel.views.render_plain import plain_text

from tests.kernel.domain.build import (
    CLAUDE,
    HASH,
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
    settle,
)
from tests.kernel.views.told import HOSTILE, view_of

PUSH = Action(action="publish", command="git push origin main", paths=("src/theme/x.css",))


def of(book: Book, ref: str, reads: Reads | None = None, **values: object) -> Packet:
    view = view_of(book.state, reads=reads)
    subject = subject_of(view, book.state, ref)
    todos = [book.state.todos[ref] for ref in followed(subject, ()) if ref in book.state.todos]
    return packet(view, book.state, subject, todos, **values)  # type: ignore[arg-type]


def asked(question: str = "Push it?", **values: object) -> Book:
    book = dark_mode()
    command = RequestGate(action=PUSH, question=question, blocks=("T3",), **values)  # type: ignore[arg-type]
    book.do(command, CLAUDE)
    return book


def test_a_gate_is_shown_exactly_as_it_would_be_signed() -> None:
    found = of(asked(irreversible=True), "G1")

    subject = found.subject
    assert (subject.kind, subject.status, subject.asked_by, subject.open) == (
        *("gate", "pending", "claude-code", True),
    )
    assert subject.action == (
        ("action", "publish"),
        ("command", "git push origin main"),
        ("path", "src/theme/x.css"),
        ("digest", asked(irreversible=True).state.gates["G1"].digest),
    )
    assert subject.blocks == ("T3",)
    assert [todo.title for todo in found.todos] == ["Convert components"]
    assert "irreversible" in found.alerts[0]
    commands = [way.command for way in found.ways]
    assert [command.split()[2] for command in commands] == ["approve", "reject", "defer"]
    assert all(" G1 --goal dark-mode" in command for command in commands)


def test_what_is_stale_stands_before_the_question() -> None:
    found = of(asked(), "G1", reads=Reads(damage=(Damage("x", "torn"),)))

    assert found.alerts == ("integrity: x",)
    shown = plain_text(document(found))
    assert shown.index("integrity: x") < shown.index("THE QUESTION")


def test_similar_decisions_tell_who_when_and_how_it_ended() -> None:
    book = asked()
    book.do(DecideGate(gate_id="G1", outcome="rejected", reason="not before the audit"), OWNER)
    other = Action(action="publish", command="npm publish")
    book.do(RequestGate(action=other, question="And this?"), CLAUDE)
    book.do(RequestGate(action=Action(action="delete", command="rm x"), question="?"), CLAUDE)

    (before,) = of(book, "G2").before

    assert (before.id, before.outcome, before.by, before.at, before.level) == (
        *("G1", "rejected", "huang", NOW, "passphrase"),
    )
    assert (before.reason, before.same) == ("not before the audit", False)
    assert of(book, "G3").before == ()


def test_a_decided_gate_leaves_nothing_to_decide() -> None:
    book = asked()
    book.do(DecideGate(gate_id="G1", outcome="approved"), OWNER)
    found = of(book, "G1")

    assert (found.subject.status, found.subject.open, found.ways) == ("approved", False, ())
    assert "nothing is left to decide" in found.alerts[-1]
    assert "nothing is left to decide" in plain_text(document(found))


def test_a_proposal_is_told_line_by_line_with_the_work_it_is_about() -> None:
    book = dark_mode()
    wish = Proposal(kind="cancel", todo_ids=("T3",), reason="nobody needs it", facts=())
    book.do(ProposeChange(proposal=wish), CLAUDE)
    found = of(book, "G1")

    assert ("change", "a todo is cancelled") in found.subject.action
    assert ("reason", "nobody needs it") in found.subject.action
    assert found.subject.about == ("T3",)
    assert [todo.id for todo in found.todos] == ["T3"]


def escalated() -> Book:
    book = opened()
    book.do(add("Convert"))
    for number in range(1, 4):
        book.do(begin("T1"))
        book.do(settle(f"turn-{number:04}", "failed"))
    return book


def test_an_escalation_tells_what_it_cost_and_what_it_takes_out_of_the_loop() -> None:
    found = of(escalated(), "E1")

    assert (found.subject.kind, found.subject.blocks, found.subject.open) == (
        *("escalation", ("T1",), True),
    )
    assert dict(found.subject.action)["cause"] == "no_progress"
    assert (found.cost.turns, found.cost.failed, found.cost.without_progress) == (3, 3, 3)
    assert [way.command.split()[6] for way in found.ways] == ["--go-on", "--replan", "--cancel"]


def test_an_earlier_escalation_of_the_same_kind_is_a_precedent() -> None:
    book = escalated()
    book.do(AnswerEscalation(escalation_id="E1", answer="go_on", reason="it is new"), OWNER)
    for number in range(4, 7):
        book.do(begin("T1"))
        book.do(settle(f"turn-{number:04}", "failed"))
    found = of(book, "E2")

    (before,) = found.before
    assert (before.id, before.outcome, before.by, before.reason, before.same) == (
        *("E1", "go_on", "huang", "it is new", True),
    )
    assert not of(book, "E1").subject.open


def test_a_persons_todo_tells_what_waits_for_it() -> None:
    book = dark_mode()
    book.do(add("Ask legal", role="human"))
    book.do(add("Ship", depends_on=("T4",)))
    found = of(book, "T4")

    assert (found.subject.kind, found.subject.blocks) == ("human_todo", ("T5",))
    assert found.ways[0].command.startswith("loopx todo complete T4 --goal dark-mode --reason ")


def test_drift_and_damage_tell_the_files_and_both_digests() -> None:
    drift = (Difference("ticked", "T3", 7, ""),)
    damage = Damage(".loopx/registry.json", "altered", HASH, "b" * 64, "loopx repair file x")
    reads = Reads(damage=(damage,), drift=drift, drift_since=NOW)

    edited = of(dark_mode(), "drift", reads)
    assert edited.subject.open
    assert ("edit", "T3 was ticked by hand") in edited.subject.action
    assert [way.command.split()[2] for way in edited.ways] == ["adopt", "restore"]
    damaged = of(dark_mode(), "damage:dark-mode", reads)
    assert damaged.subject.action == (
        *(("file", ".loopx/registry.json"), ("damage", "altered")),
        *(("expected sha256", HASH), ("found sha256", "b" * 64)),
    )
    assert [way.command for way in damaged.ways] == ["loopx repair file x"]
    assert not of(dark_mode(), "drift").subject.open


def test_acceptance_tells_each_item_and_what_only_a_person_can_do() -> None:
    book = opened(acceptance=(parse_acceptance("?lint=cmd:npm run lint", 1),))
    book.do(add("Convert"))
    assert not of(book, "accept").subject.open
    book.do(claim("T1"))
    book.do(complete("T1", evidence("notes.md")))
    found = of(book, "accept:dark-mode")

    assert (found.subject.kind, found.subject.open) == ("acceptance", True)
    assert ("item lint (optional)", "unchecked") in found.subject.action
    assert found.ways[0].command.startswith("loopx accept by-hand --goal dark-mode --reason ")


@pytest.mark.parametrize(
    ("ref", "code"),
    [
        ("G9", "unknown_gate"),
        ("E9", "unknown_escalation"),
        ("T9", "unknown_todo"),
        ("drift:other", "unknown_todo"),
        ("T3", "invalid_value"),
    ],
)
def test_what_nobody_waits_for_is_refused_with_a_next_step(ref: str, code: str) -> None:
    with pytest.raises(LoopxError) as caught:
        of(dark_mode(), ref)

    assert caught.value.code == code
    assert caught.value.next


@pytest.mark.parametrize("text", [text for text in HOSTILE if "\n" not in text])
def test_nothing_of_what_is_signed_is_cut_or_hidden(text: str) -> None:
    book = asked()
    gate = book.state.gates["G1"].model_copy(update={"question": text, "command": text * 30})
    book.state = book.state.with_gate(gate)
    found = of(book, "G1")

    shown = plain_text(document(found))
    assert safe(text * 30) in shown
    if safe(text) != text:
        assert any("hidden characters" in alert for alert in found.alerts)


def test_evidence_is_shown_with_its_digest_its_basis_and_what_became_of_it() -> None:
    inside = Change("test report, passed: 3 tests", "a\nb", "1 more line")
    row = looked("T2", evidence("report.xml", "passed"), "changed", "kept", inside)
    found = of(asked(), "G1", evidence=(row,))

    shown = plain_text(document(found))
    for words in (HASH, "read, passed", "CHANGED since", "copy kept", "3 tests", "| b"):
        assert words in shown
    assert to_json(found)["evidence"][0]["sha256"] == HASH


def test_an_empty_packet_is_told_too() -> None:
    later = NOW + timedelta(days=1)
    view = view_of(dark_mode().state, later)
    subject = replace(subject_of(view, dark_mode().state, "drift"), action=())

    shown = plain_text(document(packet(view, dark_mode().state, subject, ())))

    assert "nothing is left to decide" in shown
