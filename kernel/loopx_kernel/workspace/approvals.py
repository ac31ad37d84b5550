"""What an answer about a gate rests on, looked up in the journals themselves.

A kept state only makes reading quick; nobody's leave to act comes from one. The owners, the
opening, the rules laid since and the approval with its signature are read again on their lines,
and where they are not what the state says, it is worth nothing and all is read from line 1.
Which lines are about rules or a gate the index tells, or the cost would grow with the journal.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from loopx_kernel.domain.event import Event
from loopx_kernel.domain.goal import Opened
from loopx_kernel.domain.patched_rules import Patched
from loopx_kernel.domain.records import Gate
from loopx_kernel.domain.state import GoalState
from loopx_kernel.store.seek import line_with_seq
from loopx_kernel.workspace.ledgers import GoalLedger, RosterLedger
from loopx_kernel.workspace.paging import Wanted, first_to_last

if TYPE_CHECKING:
    from loopx_kernel.domain.permission import Action
    from loopx_kernel.workspace.core import Core


def confirmed(core: Core, goal_id: str, action: Action) -> GoalState:
    """The state of a goal, level with its journal, of which the rules and an approval of
    ``action`` stand in the journals. The caller holds ``core.lock``.

    Raises ``journal_damaged``, ``unknown_goal``.
    """
    core.house.refresh()
    ledger = core.fresh_goal(goal_id)
    if not (_is_house_so(core) and _are_rules_so(ledger) and _is_approved_so(ledger, action)):
        core.house.read_again()
        core.goal(goal_id).read_again()
        ledger = core.fresh_goal(goal_id)
    ledger.require_whole()
    state: GoalState = ledger.state
    return state


def real_paths(repo: str, action: Action) -> tuple[str, ...]:
    """Where the paths of an action lead on disk, relative to the real path ``repo``: links
    followed, folders with a slash at their end. A place outside begins with ``../``."""
    found: list[str] = []
    for path in action.paths:
        real = os.path.realpath(Path(repo, path))
        slash = "/" if os.path.isdir(real) else ""  # noqa: PTH112  # asked without raising
        found.append(os.path.relpath(real, repo) + slash)
    return tuple(found)


def _is_house_so(core: Core) -> bool:
    read = RosterLedger(core.layout, core.files, cached=False)
    read.refresh()
    told = core.house.state
    return (read.state.owners, read.state.goals) == (told.owners, told.goals)


def _are_rules_so(ledger: GoalLedger) -> bool:
    line = line_with_seq(ledger.journal, 1)
    if line is None:
        # Then the state was read from the workspace's own line a moment ago.
        return not ledger.has_begun
    event = ledger.event_of(line)
    if line.prev != ledger.opened.sha256 or not ledger.verdict(event).ok:
        return False
    laid = _laid_since(ledger)
    if laid is None:
        rules = Opened.model_validate(event.payload).rules
    else:
        rules = Patched.model_validate(laid.payload).rules
    return bool(rules == ledger.state.rules and (laid or event).seq == ledger.state.rules_seq)


def _laid_since(ledger: GoalLedger) -> Event | None:
    """The last line that laid the rules anew. One that nobody signed lays none, nor does one that
    was signed and stands there a second time."""
    seen: set[str] = set()
    last = None
    for line in first_to_last(ledger, Wanted(types=("rules.patched",))):
        event = ledger.event_of(line)
        if event.event_id in seen or not ledger.verdict(event).ok:
            continue
        seen.add(event.event_id)
        last = event
    return last


def _is_approved_so(ledger: GoalLedger, action: Action) -> bool:
    gates = [gate for gate in ledger.state.gates.values() if gate.digest == action.digest]
    return all(_is_signed(ledger, gate) for gate in gates if gate.status == "approved")


def _is_signed(ledger: GoalLedger, gate: Gate) -> bool:
    line = line_with_seq(ledger.journal, gate.seq)
    if line is None or line.record["event_type"] != "gate.approved":
        return False
    event = ledger.event_of(line)
    verdict = ledger.verdict(event)
    if event.signed is None or not verdict.ok:
        return False
    if gate.decision is None or gate.decision.level != verdict.level:
        return False
    told = gate.model_dump(mode="json", include={"digest", "expires_at"}) | {"gate_id": gate.id}
    if any(event.payload.get(key) != value for key, value in told.items()):
        return False
    # The same line once more does nothing, and one use is all there is.
    since = Wanted(since=event.signed.object.version, about=gate.id)
    return [one.seq for one in first_to_last(ledger, since)] == [gate.seq]
