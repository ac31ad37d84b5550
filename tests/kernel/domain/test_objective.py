"""The objective in its versions: a person's words, with their reason and facts."""

from __future__ import annotations

from typing import Any

import pytest
from loopx_kernel.domain.brief import brief_for
from loopx_kernel.domain.objective import PatchObjective
from loopx_kernel.errors import Denied, UsageError

from tests.kernel.domain.build import CLAUDE, KERNEL, OWNER, dark_mode, refused

PATCH = PatchObjective(text="Dark mode,\nfor the shop alone", reason="scope", facts=("mail 7",))


def test_a_new_version_counts_on_and_the_brief_shows_it() -> None:
    book = dark_mode()
    book.do(PATCH, OWNER)
    state = book.state
    assert state.objective is not None
    assert (state.objective.text, state.objective.version) == (PATCH.text, 2)
    assert (state.registry_seq, state.goal_seq) == (state.seq, state.seq)
    assert brief_for(state, book.todo("T3")).objective == PATCH.text
    payload = book.lines[-1][0].payload
    assert (payload["reason"], payload["facts"], payload["version"]) == ("scope", ["mail 7"], 2)
    assert book.replay() == state


@pytest.mark.parametrize(
    "change",
    [
        {"text": ""},
        {"text": " \n"},
        {"text": "x" * 20_001},
        {"text": "Add a dark mode to the shop"},
        {"reason": ""},
        {"reason": "two\nlines"},
        {"facts": ("",)},
        {"facts": ("x",) * 21},
    ],
)
def test_a_version_that_says_nothing_new_or_not_why_is_refused(change: dict[str, Any]) -> None:
    values = {"text": "Other", "reason": "why", **change}
    refused(dark_mode(), PatchObjective(**values), UsageError, "invalid_value", actor=OWNER)


@pytest.mark.parametrize("actor", [CLAUDE, KERNEL])
def test_only_a_person_changes_it(actor: Any) -> None:
    refused(dark_mode(), PATCH, Denied, "unsigned", actor=actor)


@pytest.mark.parametrize("version", [1, 2, 4])
def test_a_version_is_the_kernels_to_give(version: int) -> None:
    book = dark_mode()
    book.do(PATCH, OWNER)
    done = dark_mode()
    done.do(PATCH, OWNER)
    done.do(PatchObjective(text="Third", reason="why"), OWNER)
    event, verdict = done.lines[-1]
    book.take(event.model_copy(update={"payload": event.payload | {"version": version}}), verdict)
    assert book.state.objective is not None
    assert book.state.objective.version == 2
    assert book.state.alert_count == 1
