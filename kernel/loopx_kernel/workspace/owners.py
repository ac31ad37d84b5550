"""People and their keys."""

from __future__ import annotations

from loopx_kernel.domain import roster
from loopx_kernel.domain.event import WORKSPACE_JOURNAL, Context, Draft
from loopx_kernel.domain.roster import EnrollOwner
from loopx_kernel.domain.roster_state import Owner, WorkspaceState
from loopx_kernel.errors import Conflict
from loopx_kernel.workspace.core import Core
from loopx_kernel.workspace.orders import Order, named
from loopx_kernel.workspace.signing import Unsigned, prepare


class Owners:
    """The owners of a workspace."""

    def __init__(self, core: Core) -> None:
        self._core = core

    def enroll_first(
        self,
        name: str,
        public_key_line: str,
        allow_unattended: bool = False,
        *,
        event_id: str | None = None,
    ) -> Unsigned:
        """Prepares the enrolment of the first owner, who signs for themselves."""
        from loopx_kernel.trust.keys import PublicKey, parse_public_line

        key = parse_public_line(public_key_line)
        command = EnrollOwner(
            name=name,
            key=PublicKey(key.kind, key.blob).line,
            fingerprint=key.fingerprint,
            allow_unattended=allow_unattended,
        )
        actor = named("owner", name)
        order = Order(WORKSPACE_JOURNAL, command, _decide_first, actor, event_id, house=True)
        return prepare(self._core, order, f"enrol {name} as the first owner")

    def list(self) -> tuple[Owner, ...]:
        """All owners, revoked ones too, in the order they came."""
        with self._core.lock:
            self._core.house.refresh()
            return tuple(self._core.house.state.owners)


def _decide_first(state: WorkspaceState, command: EnrollOwner, context: Context) -> Draft:
    if state.owners and not any(owner.name == command.name for owner in state.owners):
        raise Conflict(
            "exists",
            f"This workspace has an owner already: {state.owners[0].name}",
            next="loopx owner list",
        )
    return roster.decide(state, command, context)
