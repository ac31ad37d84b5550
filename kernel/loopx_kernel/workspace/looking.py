"""The goal's files as they are now, which acceptance is bound to."""

from __future__ import annotations

from loopx_kernel.domain.items import file_of
from loopx_kernel.domain.standing import RepoSeen, hinges_on_files
from loopx_kernel.domain.state import GoalState
from loopx_kernel.errors import LoopxError
from loopx_kernel.workspace.core import Core


def look_at_work(core: Core, state: GoalState) -> RepoSeen:
    """The goal's files now, without the todo list the kernel itself renders there. Raises
    ``limit``."""
    from loopx_kernel.observe.work import look_at_files

    scopes, without = state.the_rules.coordination.write_scope, core.rendered_in_repo(state)
    return look_at_files(core.repo(state), scopes, written=files_of(state), without=without)


def files_of(state: GoalState) -> tuple[str, ...]:
    """The files that acceptance items are about."""
    return tuple(file_of(item) for item in state.the_rules.acceptance if item.path)


def look_where_it_matters(core: Core, state: GoalState) -> RepoSeen | None:
    """The same, where something hinges on them: looking costs a run of git."""
    if not hinges_on_files(state):
        return None
    try:
        return look_at_work(core, state)
    except LoopxError:
        # What cannot be looked at is not what was accepted.
        return RepoSeen("", "")
