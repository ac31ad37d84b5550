"""States kept on the way through a long journal, so that any moment of it is soon folded."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from loopx_kernel.domain import fold
from loopx_kernel.domain.records import Todo
from loopx_kernel.domain.records_of_work import Turn
from loopx_kernel.domain.state import GoalState
from loopx_kernel.domain.steps import Step
from loopx_kernel.errors import Storage
from loopx_kernel.store.line import Position
from loopx_kernel.workspace import resume

if TYPE_CHECKING:
    from loopx_kernel.workspace.ledger import Ledger, Progress

EVERY = 4_096
"""How many lines lie between two kept states."""
NOTED = 64
"""How many lines lie between two states that are noted in memory."""
FOLDER = "snapshots"
T = TypeVar("T")
Kept = tuple[GoalState, Position]
"""A state and the place in its journal right after which it stands."""


class Near:
    """States of the stretch of one journal that was replayed last, in memory: the next line, and
    the one before, cost almost nothing then. No authority: each is tested before it is used."""

    def __init__(self) -> None:
        self._of: tuple[str, str] | None = None
        self._states: dict[int, Kept] = {}

    def at_or_before(self, ledger: Ledger, seq: int) -> Kept | None:
        """The last state at or before line ``seq`` that the journal still has the line of.

        What is noted from now on is of this journal, by those whose decisions count now.
        """
        of = (ledger.name, ledger.rests_on())
        if self._of != of:
            self._of, self._states = of, {}
        last = max((kept for kept in self._states if seq - EVERY < kept <= seq), default=None)
        found = None if last is None else self._states[last]
        return found if found and ledger.journal.holds(found[1]) else None

    def note(self, state: GoalState, position: Position) -> None:
        """Notes the state right after a line; what is far from it is let go."""
        self._states[position.seq] = state, position
        if len(self._states) > 2 * EVERY // NOTED:
            close = sorted(self._states, key=lambda kept: abs(kept - position.seq))
            self._states = {kept: self._states[kept] for kept in close[: EVERY // NOTED]}


def state_at(
    ledger: Ledger, seq: int, progress: Progress | None = None, near: Near | None = None
) -> GoalState:
    """The state right after line ``seq``, or the last good line before it.

    States on the way are kept in the ledger's cache, so that the next replay is short, and
    noted in ``near``, where one is given.
    """
    known = near.at_or_before(ledger, seq) if near else None
    if known is None or known[1].seq < min(seq, ledger.position.seq) // EVERY * EVERY:
        known = _nearest(ledger, seq)
    last = known[0]
    for step in _replayed(ledger, known, seq, progress, near):
        last = step.after
    return last


def steps(
    ledger: Ledger, after: int, upto: int, progress: Progress | None = None
) -> Iterator[Step]:
    """The lines after ``after`` up to ``upto``, each with the states around it."""
    for step in _replayed(ledger, _nearest(ledger, after), upto, progress):
        if step.event.seq > after:
            yield step


def finished_earlier(
    ledger: Ledger, most: int | None = None, progress: Progress | None = None
) -> list[Todo]:
    """The todos that left the hot state, as they left it, in that order: the last ``most``."""
    return _earlier(ledger, _todos_leaving, most, progress)


def closed_earlier(
    ledger: Ledger, most: int | None = None, progress: Progress | None = None
) -> list[Turn]:
    """The closed turns that left the hot state, likewise."""
    return _earlier(ledger, _turns_leaving, most, progress)


def _earlier(
    ledger: Ledger,
    leaving: Callable[[GoalState, GoalState], list[T]],
    most: int | None,
    progress: Progress | None,
) -> list[T]:
    found: list[T] = []
    end = ledger.position.seq
    while end > 0 and (most is None or len(found) < most):
        start = _nearest(ledger, 0 if most is None else end - 1)
        replayed = _replayed(ledger, start, end, progress)
        left = (one for step in replayed for one in leaving(step.before, step.after))
        found = [*left, *found]
        end = start[1].seq
    return found if most is None else found[-most:]


def _todos_leaving(before: GoalState, after: GoalState) -> list[Todo]:
    if before.left is after.left:
        return []
    return [before.todos[ref] for ref in before.recent if ref not in after.todos]


def _turns_leaving(before: GoalState, after: GoalState) -> list[Turn]:
    if before.turns is after.turns:
        return []
    return [turn for ref, turn in before.turns.items() if ref not in after.turns]


def _replayed(
    ledger: Ledger,
    start: Kept,
    upto: int,
    progress: Progress | None,
    near: Near | None = None,
) -> Iterator[Step]:
    """Each line from ``start`` up to ``upto``; the states after some are noted in ``near``."""
    state, position = start
    if upto <= position.seq:
        return
    for result in ledger.journal.batches(position, upto - position.seq):
        for line in result.lines:
            event = ledger.event_of(line)
            verdict = ledger.verdict(event)
            before, state = state, fold.evolve(state, event, verdict)
            keep(ledger, state, line.position)
            if near is not None and (line.seq % NOTED == 0 or line.seq == upto):
                near.note(state, line.position)
            yield Step(event, verdict, before, state)
        if progress is not None:
            progress(result.position.seq, upto)


def _nearest(ledger: Ledger, seq: int) -> Kept:
    """The last kept state at or before line ``seq``, if the journal still has its line."""
    folder = _folder(ledger)
    # A number that somebody typed may be any.
    last = min(seq, ledger.position.seq)
    for kept in range(last // EVERY * EVERY, 0, -EVERY) if folder else ():
        assert folder is not None
        path = folder / f"{kept}.json"
        found = resume.load(path, ledger.rests_on(), files=ledger.journal.files)
        state = found and resume.state_of(found, GoalState)
        fits = found and found.seq == kept and ledger.journal.holds(found.position)
        if found and state and fits and ledger.is_own(state):
            return state, found.position
    return GoalState(goal_id=ledger.name), ledger.start


def keep(ledger: Ledger, state: GoalState, position: Position) -> None:
    """Keeps the state right after the line that ends at ``position``, if that is one of those
    that are kept."""
    folder = None if position.seq % EVERY else _folder(ledger)
    if folder is None:
        return
    with contextlib.suppress(Storage):
        ledger.journal.flush()
        path = folder / f"{position.seq}.json"
        resume.save(path, state, position, ledger.rests_on(), files=ledger.journal.files)


def _folder(ledger: Ledger) -> Path | None:
    return ledger.cache / FOLDER if ledger.cache else None
