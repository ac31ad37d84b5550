"""What a hand-in shows without approval, rule by rule."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from loopx_kernel.domain.gate import DecideGate, RequestGate, UseGate
from loopx_kernel.domain.permission import Action
from loopx_kernel.domain.risk import MOST, risks, unseen_from
from loopx_kernel.domain.rules import Coordination, parse_gate_rule
from loopx_kernel.domain.turn import RecoverTurn

from tests.kernel.domain.build import (
    CLAUDE,
    CODEX,
    KERNEL,
    NOW,
    OWNER,
    Book,
    add,
    begin,
    opened,
    settle,
)

MINUTE = timedelta(minutes=1)
PATH = {"written": ["infra/x.tf"]}
PUSH = {"commands": ["git push origin main"]}


def goal(*rules: str) -> Book:
    texts = rules or ("write@infra/**", "delete@data/**", "publish:git push*", "network")
    kinds = Coordination(
        write_scope=("src/**",), requires_parent_approval=("write", "publish", "delete")
    )
    return opened(gates=tuple(map(parse_gate_rule, texts)), coordination=kinds)


def shown(book: Book, **seen: Any) -> tuple[tuple[str, str], ...]:
    return risks(book.state, NOW, NOW + 10 * MINUTE, **seen)


@pytest.mark.parametrize(
    ("seen", "expected"),
    [
        ({}, []),
        (PATH, [("write@infra/**", "write infra/x.tf")]),
        ({"written": ["INFRA/x.tf"]}, [("write@infra/**", "write INFRA/x.tf")]),
        ({"gone": ["infra/x.tf"]}, [("write@infra/**", "write infra/x.tf")]),
        ({"gone": ["data/x"]}, [("delete@data/**", "delete data/x")]),
        ({"written": ["data/x", "README.md", "src/a.css"]}, []),
        (PUSH, [("publish:git push*", "publish: git push origin main")]),
        ({"commands": ["cd x && git push"]}, [("publish:git push*", "publish: cd x && git push")]),
        ({"commands": ["pytest -q", "curl x", ""]}, []),
    ],
)
def test_what_is_a_risk(seen: dict[str, Any], expected: list[tuple[str, str]]) -> None:
    assert shown(goal(), **seen) == tuple(expected)


def approved(*, used: timedelta | None = None, **action: Any) -> Book:
    """A goal with an approval given before the turn began, and perhaps used."""
    book = goal()
    asked = Action(**action)
    book.do(RequestGate(action=asked), at=NOW - 10 * MINUTE)
    book.do(DecideGate(gate_id="G1", outcome="approved"), OWNER, NOW - 9 * MINUTE)
    if used is not None:
        book.do(UseGate(action=asked), at=NOW + used)
    return book


@pytest.mark.parametrize("used", [None, MINUTE])
@pytest.mark.parametrize("paths", [("infra/x.tf",), ("infra/",), ("docs/", "infra/x.tf")])
def test_an_approval_that_stands_or_was_used_in_the_turn_is_leave(
    paths: tuple[str, ...], used: timedelta | None
) -> None:
    assert shown(approved(action="write", paths=paths, used=used), **PATH) == ()


def test_an_approval_that_names_no_path_is_leave_for_what_its_command_writes() -> None:
    assert shown(approved(action="write", command="terraform fmt"), **PATH) == ()


def test_what_was_done_in_a_turn_without_a_receipt_is_looked_at_with_the_next() -> None:
    book = goal()
    for number in range(1, 5):
        book.do(add("Work"))
        book.do(begin(f"T{number}"), at=NOW + number * MINUTE)
        turn = f"turn-{number:04}"
        if number == 1:
            book.do(settle(turn, "failed"), at=NOW + number * MINUTE)
        elif number < 4:
            book.do(RecoverTurn(turn_id=turn), KERNEL, NOW + number * MINUTE + timedelta(hours=1))
    began = NOW + 4 * MINUTE
    assert unseen_from(book.state, CLAUDE.id, began) == NOW + 2 * MINUTE
    assert unseen_from(book.state, CODEX.id, began) == began


def test_a_rule_for_every_command_of_a_kind_tells_none_from_others() -> None:
    assert shown(goal("publish:*"), commands=["pytest -q", "git push"]) == ()
    assert len(shown(goal("write:*@infra/**"), **PATH)) == 1


def test_leave_to_delete_is_leave_for_what_went_alone() -> None:
    book = approved(action="delete", paths=("infra/",))
    assert shown(book, gone=["infra/x.tf"]) == ()
    assert len(shown(book, written=["infra/x.tf"])) == 1


def test_a_command_approved_under_another_kind_was_approved() -> None:
    book = approved(action="network", command="git push origin main")
    assert shown(book, **PUSH) == ()


@pytest.mark.parametrize(
    "book",
    [
        lambda: approved(action="write", paths=("infra/x.tf",), used=-MINUTE),
        lambda: approved(action="write", paths=("infra/y.tf",)),
        lambda: approved(action="delete", paths=("infra/x.tf",)),
    ],
)
def test_an_approval_of_something_else_or_used_before_is_none(book: Any) -> None:
    assert len(shown(book(), **PATH)) == 1


def test_an_approval_of_a_command_is_for_these_very_words() -> None:
    book = approved(action="publish", command="git push origin main")
    assert shown(book, **PUSH) == ()
    assert len(shown(book, commands=["git push origin main --force"])) == 1


def test_a_refusal_and_a_question_are_no_leave() -> None:
    book = goal()
    book.do(RequestGate(action=Action(action="write", paths=("infra/x.tf",))))
    assert len(shown(book, **PATH)) == 1
    book.do(DecideGate(gate_id="G1", outcome="rejected"), OWNER)
    assert len(shown(book, **PATH)) == 1


def test_what_is_told_is_bounded() -> None:
    found = shown(goal(), written=[f"infra/{'x' * 900}{number}" for number in range(500)])
    assert len(found) == MOST
    assert max(len(word) for pair in found for word in pair) <= 300
