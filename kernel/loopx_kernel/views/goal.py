"""Everything there is to see about one goal at one moment, as values."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from loopx_kernel.clock import Reading
from loopx_kernel.domain.completion import Completion
from loopx_kernel.domain.contract import Contract, should_run
from loopx_kernel.domain.freshness import HostReading, SourceReading, judge, judge_host
from loopx_kernel.domain.needs_you import NeedsYou, Reads
from loopx_kernel.domain.quota import burn
from loopx_kernel.domain.records import Alert, Gate, Todo
from loopx_kernel.domain.state import GoalState, is_live, waiting_gates
from loopx_kernel.value import Value
from loopx_kernel.views.envelope import (
    Coverage,
    Envelope,
    Omission,
    SourceRow,
    host_row,
    ledger_row,
    seal,
    source_row,
)
from loopx_kernel.views.warnings import Warned, warnings_of

BURN_BUCKETS = 48


class TodoRow(Value):
    """A todo with what the moment adds: who really holds it, what it is gated by."""

    todo: Todo
    display_status: str
    """open, claimed, expired, blocked, waiting, deferred, gated, done, superseded, cancelled."""
    holder: str | None
    gated_by: tuple[str, ...]
    needs: tuple[str, ...]
    damaged: bool = False


def row_of_finished(todo: Todo) -> TodoRow:
    """A todo finished long ago, to which no moment adds anything."""
    return TodoRow(todo, todo.status, holder=None, gated_by=(), needs=())


class LeaseRow(Value):
    """A lease as it stands: active, expired, released or ended."""

    todo_id: str
    owner: str
    status: str
    version: int
    lease_epoch: int
    write_scopes: tuple[str, ...]
    acquired_at: datetime
    renewed_at: datetime
    expires_at: datetime
    by_wall_clock: bool
    """It took over from a holder whose end no boot clock could tell."""


class GateRow(Value):
    """A gate with its status at the moment."""

    gate: Gate
    status: str


class Burn(Value):
    """Slots used per part of the window, oldest first, and the rate of the last hour."""

    buckets: tuple[int, ...]
    bucket_seconds: int
    last_hour: int
    lasts_until: datetime | None


class GoalView(Value):
    """One goal at one moment. Ages are computed by whoever shows it; times are UTC.

    ``todos`` are those not finished and the latest that are; ``counts`` counts all of them, and
    ``earlier`` those that finished before.
    """

    goal_id: str
    display_name: str
    domain: str
    objective: str
    objective_version: int
    status: str
    repo: str
    state_file: str
    seq: int
    head: str
    last_event_at: datetime | None
    verified: bool
    verified_from: int
    contract: Contract
    todos: tuple[TodoRow, ...]
    counts: dict[str, int]
    earlier: int
    leases: tuple[LeaseRow, ...]
    gates: tuple[GateRow, ...]
    sources: tuple[SourceReading, ...]
    hosts: tuple[HostReading, ...]
    burn: Burn
    completion: Completion
    reads: Reads
    alerts: tuple[str, ...]
    refused: tuple[Alert, ...]
    """Lines by somebody whose time on a todo was over."""
    warnings: tuple[Warned, ...]
    envelope: Envelope

    @property
    def needs_you(self) -> tuple[NeedsYou, ...]:
        """What waits for a person in this goal, oldest first."""
        return self.contract.needs_you

    @property
    def display_answer(self) -> str:
        """The contract's answer as a word for people; paused, retired and closed have their own."""
        if self.status != "active":
            return self.status
        return "closed" if self.completion.complete else self.contract.answer


def goal_view(
    state: GoalState,
    reads: Reads,
    reading: Reading,
    *,
    agent_id: str | None = None,
    agents: Sequence[str] = (),
    owners: Sequence[str] = (),
    observed_at: datetime | None = None,
    projection: str = "status",
) -> GoalView:
    """The view of one goal; pure."""
    now = reading.now
    rules = state.the_rules
    sources = tuple(judge(source, now) for source in state.sources.values())
    hosts = tuple(judge_host(host, state.sources.values(), now) for host in state.hosts.values())
    contract = should_run(state, reads, reading, agent_id, agents=agents, owners=owners)
    return GoalView(
        goal_id=state.goal_id,
        display_name=rules.display_name,
        domain=rules.domain,
        objective=state.objective.text if state.objective else "",
        objective_version=state.objective.version if state.objective else 0,
        status=state.status,
        repo=rules.repo,
        state_file=rules.state_file,
        seq=state.seq,
        head=state.head,
        last_event_at=state.last_at,
        verified=reads.verified_from == 1,
        verified_from=reads.verified_from,
        contract=contract,
        todos=_todo_rows(state, reading, reads),
        counts=counts_of(state),
        earlier=sum(state.left.values()),
        leases=_leases(state, reading),
        gates=tuple(GateRow(gate, state.gate_status(gate, now)) for gate in state.gates.values()),
        sources=sources,
        hosts=hosts,
        burn=_burn(state, now),
        completion=contract.completion,
        reads=reads,
        alerts=tuple(f"#{a.seq} {a.event_type} has no effect: {a.message}" for a in state.alerts),
        refused=tuple(alert for alert in state.alerts if alert.is_zombie),
        warnings=warnings_of(state.goal_id, state.latest, reads, now),
        envelope=goal_envelope(
            state,
            reads,
            [*map(source_row, sources), *map(host_row, hosts)],
            now=now,
            observed_at=observed_at or now,
            projection=projection,
        ),
    )


def goal_envelope(
    state: GoalState,
    reads: Reads,
    sources: Sequence[SourceRow],
    *,
    now: datetime,
    observed_at: datetime,
    projection: str,
) -> Envelope:
    """The envelope of any projection of one goal."""
    integrity = [item.path for item in reads.damage] + [f"#{a.seq}" for a in state.alerts]
    integrity += [w.id for w in warnings_of(state.goal_id, state.latest, reads, now)]
    rows = [ledger_row(observed_at, now, integrity), *sources]
    return seal(
        projection,
        observed_at=observed_at,
        served_at=now,
        sources=rows,
        coverage=coverage_of(state.seq, unreachable=reads.unread_lines),
        integrity=integrity,
        verified=reads.verified_from == 1,
    )


def coverage_of(lines: int, **omitted: int) -> Coverage:
    """What one goal's projection covers: the goal, or where lines of its journal are not in it,
    ``lines`` of them, with how many are left out for each reason."""
    missing = tuple(Omission(reason, count) for reason, count in omitted.items() if count)
    if not missing:
        return Coverage("goal", 1, 1)
    return Coverage("goal", lines + sum(item.count for item in missing), lines, missing)


def _todo_rows(state: GoalState, reading: Reading, reads: Reads) -> tuple[TodoRow, ...]:
    damaged = {item.todo_id for item in reads.damage}
    gates = list(waiting_gates(state))
    return tuple(
        _todo_row(state, todo, reading, gates, damaged=todo.id in damaged)
        for todo in state.todos.values()
    )


def _todo_row(
    state: GoalState, todo: Todo, reading: Reading, gates: Sequence[Gate], *, damaged: bool
) -> TodoRow:
    live = is_live(todo.lease, reading)
    gated = tuple(gate.id for gate in gates if todo.id in gate.blocks)
    needs = tuple(ref for ref in todo.depends_on if not state.has_ended(ref))
    status: str = todo.status
    if status == "claimed" and not live:
        status = "expired"
    elif status == "open" and gated:
        status = "gated"
    return TodoRow(
        todo=todo,
        display_status=status,
        holder=todo.lease.owner if todo.lease and live else None,
        gated_by=gated,
        needs=needs,
        damaged=damaged,
    )


def counts_of(state: GoalState) -> dict[str, int]:
    """How many todos there are and were, in all and by status."""
    names = "open claimed blocked waiting deferred done superseded cancelled".split()
    counts = {"total": len(state.todos) + sum(state.left.values())}
    counts |= {name: state.left.get(name, 0) for name in names}
    for todo in state.todos.values():
        counts[todo.status] += 1
    return counts


def _leases(state: GoalState, reading: Reading) -> tuple[LeaseRow, ...]:
    rows = []
    for todo in state.todos.values():
        lease = todo.lease
        if lease is None:
            continue
        expired = lease.status == "active" and not is_live(lease, reading)
        rows.append(
            LeaseRow(
                todo_id=todo.id,
                owner=lease.owner,
                status="expired" if expired else lease.status,
                version=lease.version,
                lease_epoch=lease.lease_epoch,
                write_scopes=lease.write_scopes,
                acquired_at=lease.acquired_at,
                renewed_at=lease.renewed_at,
                expires_at=lease.expires_at,
                by_wall_clock=lease.by_wall_clock,
            )
        )
    return tuple(rows)


MINIMUM_SPENDS_FOR_FORECAST = 10


def _burn(state: GoalState, now: datetime) -> Burn:
    hours = state.the_rules.quota.window_hours
    buckets = burn(state, now, BURN_BUCKETS)
    recent = [
        spend.slots
        for spend in state.spends.values()
        if spend.voided_at is None and spend.counted_at > now - timedelta(hours=1)
    ]
    used = sum(buckets)
    last_hour = sum(recent)
    lasts = None
    if last_hour and len(recent) >= MINIMUM_SPENDS_FOR_FORECAST:
        left = state.the_rules.quota.allowed - used
        until = now + timedelta(hours=left / last_hour)
        lasts = until if left > 0 and until < now + timedelta(hours=hours) else None
    return Burn(buckets, hours * 3600 // BURN_BUCKETS, last_hour, lasts)
