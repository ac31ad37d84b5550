"""The fence: it rises, is never lowered, and says what helps."""

from __future__ import annotations

import pytest
from loopx_kernel.domain import fence, roster
from loopx_kernel.domain.contract import should_run
from loopx_kernel.domain.event import UNSIGNED, Actor, Context, Facts
from loopx_kernel.domain.fence import FenceWriters
from loopx_kernel.domain.needs_you import Reads
from loopx_kernel.domain.roster_state import WorkspaceState
from loopx_kernel.errors import Fenced
from loopx_kernel.views.goal import goal_view

from tests.kernel.domain.build import (
    CLAUDE,
    KERNEL,
    NOW,
    OWNER,
    dark_mode,
    line,
    reading,
)

CREATED = WorkspaceState(workspace_id="ab" * 16)


def fenced(state: WorkspaceState, generation: object, actor: Actor = KERNEL) -> WorkspaceState:
    event = line(
        dark_mode().state,
        "writer.fenced",
        {"generation": generation},
        actor,
        goal_id="_workspace",
        seq=state.seq + 1,
    )
    return roster.evolve(state, event, UNSIGNED)


def test_a_new_workspace_is_open_to_the_first_generation() -> None:
    assert (CREATED.fence, CREATED.fence_seq) == (1, 0)
    assert fence.obstacle(CREATED, fence.WRITER_GENERATION) is None


def test_it_rises_and_the_line_is_known() -> None:
    state = fenced(CREATED, 2)
    assert (state.fence, state.fence_seq, state.alerts) == (2, 1, ())
    state = fenced(state, 9)
    assert (state.fence, state.fence_seq, state.alerts) == (9, 2, ())


@pytest.mark.parametrize(
    ("generation", "actor", "code"),
    [
        (2, KERNEL, "stale_decision"),
        (1, KERNEL, "stale_decision"),
        (0, KERNEL, "stale_decision"),
        (-1, KERNEL, "invalid_event"),
        ("3", KERNEL, "invalid_event"),
        (True, KERNEL, "invalid_event"),
        (None, KERNEL, "invalid_event"),
        (3, CLAUDE, "not_a_person"),
        (3, OWNER, "not_a_person"),
    ],
)
def test_a_line_that_would_lower_it_or_is_not_the_kernels_does_nothing(
    generation: object, actor: Actor, code: str
) -> None:
    before = fenced(CREATED, 2)
    after = fenced(before, generation, actor)
    assert (after.fence, after.fence_seq) == (2, 1)
    assert [alert.code for alert in after.alerts] == [code]


@pytest.mark.parametrize("generation", [2, 3, 10**12])
def test_a_writer_below_it_is_refused_and_told_what_to_do(generation: int) -> None:
    state = fenced(CREATED, generation)
    with pytest.raises(Fenced) as caught:
        fence.require_unfenced(state, 1)
    assert (caught.value.code, caught.value.exit_status) == ("writer_fenced", 4)
    assert f"generation {generation}" in caught.value.message and "#1" in caught.value.message
    assert caught.value.next is not None and "install a newer loopx" in caught.value.next
    fence.require_unfenced(state, generation)
    fence.require_unfenced(state, generation + 1)


def test_the_command_passes_its_own_check() -> None:
    context = Context(KERNEL, reading(NOW))
    draft = fence.decide(CREATED, FenceWriters(generation=2), context)
    facts = Facts(actor=KERNEL, at=NOW, seq=1, event_id="e-1")
    roster.check(CREATED, draft.event_type, "_workspace", draft.payload, facts)


def test_who_cannot_record_work_is_not_told_to_begin_it() -> None:
    book = dark_mode()
    why = fence.obstacle(fenced(CREATED, 2), 1)
    assert why is not None
    told = should_run(book.state, Reads(fenced=why), reading(NOW), CLAUDE.id, agents=[CLAUDE.id])
    assert (told.answer, told.reasons[0].code) == ("ask", "writer_fenced")
    assert told.question is not None and "install a newer loopx" in told.question
    view = goal_view(book.state, Reads(fenced=why), reading(NOW))
    assert [warned.id for warned in view.warnings] == ["fence"]
