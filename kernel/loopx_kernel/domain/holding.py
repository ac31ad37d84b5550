"""Holding a todo: the guards that every write by its holder must pass."""

from __future__ import annotations

from collections.abc import Iterable

from loopx_kernel.clock import Reading
from loopx_kernel.domain.event import Abroad, Context, LiveLease
from loopx_kernel.domain.records import Lease, Todo
from loopx_kernel.domain.scope import overlap
from loopx_kernel.domain.state import GoalState, is_live
from loopx_kernel.errors import Conflict, Fenced


def must_hold(todo: Todo, agent_id: str, version: int | None, epoch: int | None) -> Lease:
    """The lease, if the caller is its holder in this epoch and read this version.

    A lease that has run out still counts while nobody else took the todo.
    """
    lease = todo.lease
    if epoch is not None:
        check_epoch(todo, epoch)
    if lease is None or lease.status != "active":
        raise Conflict(
            "lease_required",
            f"{agent_id} holds no lease on {todo.id}",
            next=f"loopx todo claim {todo.id}",
            todo_id=todo.id,
        )
    if lease.owner != agent_id:
        raise Fenced(
            "not_holder",
            f"{todo.id} is held by {lease.owner}, not by {agent_id}",
            next="loopx lease list",
            todo_id=todo.id,
            holder=lease.owner,
        )
    if version is not None and version != todo.version:
        raise version_mismatch(todo, version)
    return lease


def check_epoch(todo: Todo, epoch: int) -> None:
    """``stale_epoch`` unless this is the todo's present epoch."""
    if epoch != todo.lease_epoch:
        raise Fenced(
            "stale_epoch",
            f"{todo.id} changed hands: epoch {epoch} ended, it is {todo.lease_epoch} now; "
            "stop working on it",
            next="loopx quota should-run",
            todo_id=todo.id,
            epoch=epoch,
            lease_epoch=todo.lease_epoch,
        )


def version_mismatch(todo: Todo, version: int) -> Conflict:
    """The error for a caller that read an older (or a made-up) version."""
    return Conflict(
        "version_mismatch",
        f"{todo.id} is at version {todo.version}, not {version}",
        next=f"loopx todo show {todo.id}",
        todo_id=todo.id,
        expected=version,
        version=todo.version,
    )


def check_next_version(todo: Todo, version: int) -> None:
    """A write carries the version after the todo's present one."""
    if version != todo.version + 1:
        raise version_mismatch(todo, version - 1)


def ended(lease: Lease | None, status: str, version: int, seq: int) -> Lease | None:
    """The same lease, no longer active; ``status`` is why."""
    if lease is None:
        return None
    return lease.model_copy(update={"status": status, "version": version, "seq": seq})


def live_leases(state: GoalState, reading: Reading, repo: str) -> tuple[LiveLease, ...]:
    """The leases of this goal that hold at this reading; ``repo`` is its real path."""
    return tuple(
        LiveLease(
            goal_id=state.goal_id,
            todo_id=todo.id,
            owner=todo.lease.owner,
            repo=repo,
            write_scopes=todo.lease.write_scopes,
            acquired_at=todo.lease.acquired_at,
            expires_at=todo.lease.expires_at,
            abroad=_abroad(todo.lease, reading),
        )
        for todo in state.todos.values()
        if todo.lease is not None and is_live(todo.lease, reading)
    )


def _abroad(lease: Lease, reading: Reading) -> Abroad | None:
    if not lease.host_id or lease.host_id == reading.host_id:
        return None
    return Abroad(lease.host_id, lease.boot_id, lease.renewed_at)


def holder_of_scope(
    goal_id: str, todo: Todo, repo: str, leases: Iterable[LiveLease]
) -> tuple[LiveLease, tuple[str, str]] | None:
    """The first lease of another todo that may touch the same files, and the two scopes."""
    for lease in leases:
        if (lease.goal_id, lease.todo_id) == (goal_id, todo.id):
            continue
        clash = overlap(repo, todo.write_scope, lease.repo, lease.write_scopes)
        if clash:
            return lease, clash
    return None


def no_foreign_overlap(state: GoalState, todo: Todo, context: Context) -> None:
    """``scope_overlap`` if a live lease may touch the same files on disk; of another goal, or
    of this one by way of a link."""
    on_disk = todo.model_copy(update={"write_scope": context.real_scopes or todo.write_scope})
    _refuse_overlap(state, on_disk, context.repo, context.neighbours)


def no_overlap(state: GoalState, todo: Todo, reading: Reading) -> None:
    """``scope_overlap`` if another live lease of this goal may touch the same files."""
    if todo.write_scope:
        repo = state.the_rules.repo
        _refuse_overlap(state, todo, repo, live_leases(state, reading, repo))


def _refuse_overlap(state: GoalState, todo: Todo, repo: str, leases: Iterable[LiveLease]) -> None:
    found = holder_of_scope(state.goal_id, todo, repo, leases)
    if found is None:
        return
    lease, clash = found
    own = lease.goal_id == state.goal_id
    raise _clash(clash, lease.owner, lease.todo_id if own else lease.place)


def _clash(clash: tuple[str, str], holder: str, where: str) -> Conflict:
    return Conflict(
        "scope_overlap",
        f"{clash[0]} overlaps {clash[1]}, which {holder} holds for {where}",
        next="loopx quota should-run",
        scope=clash[0],
        held_scope=clash[1],
        holder=holder,
        held_by=where,
    )
