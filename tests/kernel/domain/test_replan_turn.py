"""A turn of replanning: what verifies it is the duty itself, fulfilled."""

from __future__ import annotations

from typing import Any

import pytest
from loopx_kernel.errors import Denied

from tests.kernel.domain.build import CODEX, Book, begin, complete, evidence, refused, settle
from tests.kernel.domain.test_replan import FULFIL, requested


def begun() -> Book:
    book = requested()
    book.do(begin("T4"), CODEX)
    return book


@pytest.mark.parametrize("files", [(), (evidence("plan.md"),)])
def test_it_is_not_done_while_its_duty_is_open(files: Any) -> None:
    book = begun()
    done = settle("turn-0002", evidence=files)
    refused(book, done, Denied, "not_verified", actor=CODEX)
    with pytest.raises(Denied) as caught:
        book.do(done, CODEX)
    assert "O1" in caught.value.message
    assert caught.value.next == "loopx replan fulfil O1 --goal dark-mode --supersede T3:T5"
    # That work was done towards it, a file may show as for other work.
    book.do(settle("turn-0002", "progress", evidence=files, handoff="next"), CODEX)
    assert book.state.turns["turn-0002"].progress is bool(files)


@pytest.mark.parametrize("outcome", ["done", "progress"])
def test_the_fulfilled_duty_is_its_evidence(outcome: Any) -> None:
    book = begun()
    book.do(FULFIL, CODEX)
    book.do(settle("turn-0002", outcome, handoff="T5 next"), CODEX)
    turn = book.state.turns["turn-0002"]
    assert (turn.outcome, turn.progress, turn.unproven) == (outcome, True, False)
    assert book.todo("T4").status == ("done" if outcome == "done" else "open")


def test_one_by_one_too() -> None:
    book = begun()
    hand_in = complete("T4", turn_id="turn-0002")
    refused(book, hand_in, Denied, "not_verified", actor=CODEX)
    book.do(FULFIL, CODEX)
    book.do(hand_in, CODEX)
    assert book.state.turns["turn-0002"].verified


def test_fulfilled_before_it_ends_the_replanning_and_is_no_progress_of_a_later_turn() -> None:
    book = requested()
    book.do(FULFIL, CODEX)
    book.do(begin("T4"), CODEX)
    book.do(settle("turn-0002", "progress", handoff="next"), CODEX)
    assert not book.state.turns["turn-0002"].progress
    book.do(begin("T4"), CODEX)
    book.do(settle("turn-0003", handoff="next"), CODEX)
    assert book.todo("T4").status == "done"
