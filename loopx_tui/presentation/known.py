"""What the ledger knows of an object beyond what the panes are drawn from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from loopx_kernel.domain.levels import MEANING
from loopx_kernel.text import counted

from loopx_tui.presentation.events import signature_cell
from loopx_tui.presentation.facts import Fact, Facts, plain, when
from loopx_tui.presentation.pen import Pen

if TYPE_CHECKING:
    from loopx_kernel.domain.records_of_work import Effort, Turn
    from loopx_kernel.domain.roster_state import Owner
    from loopx_kernel.workspace import EventRow
    from loopx_kernel.workspace.evidence import EvidenceRow, Proof
    from loopx_kernel.workspace.lineage import Made
    from loopx_kernel.workspace.narrowing import Narrowing
    from loopx_kernel.workspace.pins import Sight

_SINCE: Final = {
    "same": ("as handed in", "text"),
    "changed": ("changed since it was handed in", "stale"),
    "gone": ("gone since", "stale"),
    "unreadable": ("cannot be read now", "stale"),
}
_COPY: Final = {
    "kept": ("copy kept", "text"),
    "missing": ("COPY MISSING", "alert"),
    "damaged": ("COPY DAMAGED", "alert"),
    "not_kept": ("no copy: larger than 1 MiB", "text"),
}
_OUTCOMES: Final = {"done": "run", "progress": "run", "failed": "alert", "blocked": "stale"}
_SHOWN: Final = 12


def of_effort(spent: Effort) -> Facts:
    """What was put into a todo since its last allowance; nothing where nothing was."""
    if not (spent.turns or spent.failed or spent.recoveries):
        return []
    tried = f"{counted(spent.turns, 'turn')}, {spent.failed} failed"
    tried += f", {spent.streak} in a row without progress"
    facts = [plain("attempts", tried, "stale" if spent.streak else "text")]
    facts += [plain("score", spent.score)] if spent.score else []
    digests = "\n".join(f"{one[:_SHOWN]}…" for one in spent.digests[-3:])
    return facts + ([plain("results", digests, "text-dim")] if digests else [])


def of_proof(proof: Proof) -> Facts:
    """The files handed in as they are now, and the statement with its digest."""
    facts = [_file(row) for row in proof.evidence]
    if proof.statement is None:
        return facts
    record, file = proof.statement.record, proof.statement.file
    well = file.level == "same"
    checks = "\n".join(
        f"{check['name']}: {check['result'] or 'no result'} ({check['kind']}, {check['basis']})"
        for check in record["checks"]
    )
    text = f"{record['result']}, {record['made_at']}, file "
    text += "as recorded" if well else str(file.level).upper()
    return [
        *facts,
        plain("statement", f"{text}\n{checks}\n{record['sha256']}", "text" if well else "alert"),
    ]


def _file(row: EvidenceRow) -> Fact:
    since, style = _SINCE[row.since]
    copy, worse = _COPY[row.copy]
    style = "alert" if worse == "alert" else style
    return plain("file", f"{row.evidence.path}: {since}; {copy}", style)


def of_origin(made: Sequence[Made], pen: Pen) -> Facts:
    """The todo and each that it comes from, back to the first, with the event that made it."""
    facts: Facts = []
    for number, one in enumerate(made):
        event = one.event.event
        name = f"{one.todo.id} {one.todo.title}\n" if number else ""
        text = f"{name}#{event.seq} {event.event_type} by {event.actor_agent_id}, "
        text += pen.instant(event.recorded_at)
        text += f"\non {', '.join(one.facts)}" if one.facts else ""
        facts.append(plain("comes from" if number else "made by", text, "text-dim"))
    return facts


def of_owner(owner: Owner, signed: Mapping[int, EventRow], pen: Pen) -> Facts:
    """A person, their key, how strong it is, and the signed lines that made and ended that."""
    gone = owner.revoked_seq is not None
    weak = "alert" if owner.level == "software" else "text"
    use = "UNATTENDED, " if owner.allow_unattended else ""
    facts = [
        plain("", ""),
        plain(owner.name, "decides nothing any more" if gone else "decides here",
              "text-dim" if gone else "accent"),
        plain("key", f"{owner.key.partition(' ')[0]} {owner.fingerprint}"),
        plain("level", f"{use}{owner.level}: {MEANING[owner.level]}", "text-dim" if gone else weak),
    ]  # fmt: skip
    for label, seq, by in (
        ("enrolled", owner.enrolled_seq, owner.enrolled_by),
        ("revoked", owner.revoked_seq, owner.revoked_by),
    ):
        if seq is not None:
            facts += _signed_line(label, seq, by or "", signed.get(seq), pen)
    facts += when("counts from", owner.valid_after, pen)
    return facts + when("until", owner.valid_before, pen)


def _signed_line(label: str, seq: int, by: str, row: EventRow | None, pen: Pen) -> Facts:
    if row is None:
        return [plain(label, f"#{seq} by {by}", "text-dim")]
    words = f"#{seq} by {by}, {pen.instant(row.event.recorded_at)}"
    return [plain(label, words, "text-dim"), Fact("", signature_cell(row, pen))]


def of_pin(sight: Sight) -> Facts:
    """Whether the workspace is the one this person knew."""
    if sight.problem is not None or sight.change is not None:
        why = sight.problem.message if sight.problem is not None else sight.change
        return [plain("known", f"owners_changed: {why}\nnext: loopx owner trust", "alert")]
    if sight.known is None:
        return [plain("known", "nothing is pinned on this machine yet", "text-dim")]
    who = ", ".join(sorted(sight.known.owners.values()))
    return [plain("known", f"on this machine as that of {who}")]


def of_narrowing(narrowing: Narrowing | None) -> Facts:
    """The file beside which a key must stand to count, where one is named."""
    if narrowing is None:
        return []
    return [plain("narrowed", f"a key must stand in {narrowing.path}, too (LOOPX_OWNERS)", "stale")]


def of_turn(turn: Turn, pen: Pen) -> Facts:
    """A turn from its brief to its receipt."""
    parts = {
        "verified": turn.verified,
        "state written": turn.state_written,
        "slots booked": turn.slots_booked > 0,
    }
    held = ", ".join(name for name, there in parts.items() if there) or "nothing"
    lacks = ", ".join(name for name, there in parts.items() if not there)
    ended = "open" if turn.status == "open" else turn.outcome or turn.status
    progress = "yes" if turn.progress else f"no: {lacks or ended}"
    return [
        plain("turn", f"{turn.id} of {turn.agent_id} on {turn.todo_id}"),
        plain("brief", f"under contract {turn.contract_id}, epoch {turn.lease_epoch}", "text-dim"),
        *when("opened", turn.opened_at, pen),
        plain("receipt", ended, _OUTCOMES.get(ended, "text")),
        plain("holds", held),
        plain("progress", progress + (" (unproven)" if turn.unproven and turn.progress else "")),
        plain("slots", f"{counted(turn.slots_booked, 'slot')} booked"),
        *([plain("reason", turn.reason)] if turn.reason else []),
        *([plain("result", turn.result_digest, "text-dim")] if turn.result_digest else []),
        *when("closed", turn.closed_at, pen),
    ]
