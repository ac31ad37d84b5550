"""The goal itself: opened with all its first rules, paused, resumed, retired."""

from typing import Any, Literal

from loopx_kernel.domain.endings import check_parts
from loopx_kernel.domain.event import OWNER, Context, Draft, EventType, Facts
from loopx_kernel.domain.items import check_item, check_search_path
from loopx_kernel.domain.record import Line, Record
from loopx_kernel.domain.records import Objective, Source
from loopx_kernel.domain.rules import GoalRules, check_id, parse_gate_rule
from loopx_kernel.domain.scope import check_scope
from loopx_kernel.domain.state import GoalState
from loopx_kernel.domain.withdrawal import RETURNS, WITHDRAWS, returns, withdrawals
from loopx_kernel.errors import Conflict, UsageError
from loopx_kernel.text import check_line
from loopx_kernel.value import Value

LONGEST_OBJECTIVE = 20_000


class OpenGoal(Value, kw_only=True):
    """Open a goal with its objective and all first rules; signed."""

    goal_id: str
    objective: str
    rules: GoalRules


class ChangeGoalStatus(Value, kw_only=True):
    """Pause, resume or retire a goal; signed."""

    to: Literal["paused", "resumed", "retired"]
    reason: str


class Opened(Record):
    objective: str
    rules: GoalRules


class StatusChanged(Record):
    reason: Line


class Retired(StatusChanged):
    parts: tuple[dict[str, Any], ...] = ()


def decide_opened(roster: object, command: OpenGoal, context: Context) -> Draft:
    """The event that opens a goal; it goes to the workspace journal, which checks it."""
    payload = {"objective": command.objective, "rules": command.rules.model_dump(mode="json")}
    return Draft("goal.opened", payload, command.goal_id)


def decide(state: GoalState, command: ChangeGoalStatus, context: Context) -> Draft:
    """The event for a change of a goal's status; raises when ``check`` would."""
    payload: dict[str, Any] = {"reason": command.reason}
    if command.to == "retired":
        payload["parts"] = _taken_away(state)
    return Draft(f"goal.{command.to}", payload, state.goal_id)


def check_rules(goal_id: str, objective: str, rules: GoalRules) -> None:
    """All that can be wrong with the rules of a goal, each with its own code."""
    check_id(goal_id, "a goal")
    check_objective(objective)
    check_line(rules.display_name, "display_name")
    check_scope(rules.state_file)
    for scope in rules.coordination.write_scope:
        check_scope(scope)
    for kind in rules.coordination.requires_parent_approval:
        _check_kind(kind)
    for rule in rules.gates:
        parse_gate_rule(rule.text)
    for item in rules.acceptance:
        check_item(item)
    check_search_path(rules)
    for what, ids in (
        ("acceptance item", [item.id for item in rules.acceptance]),
        ("source", [source.id for source in rules.sources]),
        ("probe", [probe.id for probe in rules.probes]),
    ):
        twice = {ident for ident in ids if ids.count(ident) > 1}
        if twice:
            raise UsageError(
                "invalid_value",
                f"Two {what}s are called {sorted(twice)[0]}",
                next="give each its own id",
            )


def _check_kind(kind: str) -> None:
    """An entry that names more than a kind would cover nothing: it is a rule of its own."""
    if parse_gate_rule(kind).kind != kind:
        raise UsageError(
            "vague_gate",
            f"{kind!r} is more than a kind of action, so it would stop nothing here",
            next=f"write it as a gate rule: --gate {kind!r}",
            rule=kind,
        )


def check_objective(
    text: str,
    step: str = "loopx start-goal --objective 'One sentence that says what is wanted'",
) -> None:
    """``invalid_value`` unless this says what is wanted, in a length that can be shown; ``step``
    is the command that does."""
    if not text.strip() or len(text) > LONGEST_OBJECTIVE:
        raise UsageError(
            "invalid_value",
            f"An objective is a text of at most {LONGEST_OBJECTIVE} characters, not empty",
            next=step,
        )


def _check_opened(state: GoalState, payload: Opened, facts: Facts) -> None:
    if state.rules is not None:
        raise Conflict(
            "exists",
            f"There is a goal {state.goal_id} already",
            next="loopx goal list",
            goal_id=state.goal_id,
        )
    check_rules(state.goal_id, payload.objective, payload.rules)


def _evolve_opened(state: GoalState, payload: Opened, facts: Facts) -> GoalState:
    sources = {
        rule.id: Source(**rule.model_dump(), seq=facts.seq) for rule in payload.rules.sources
    }
    return state.model_copy(
        update={
            "rules": payload.rules,
            "objective": Objective(text=payload.objective, version=1),
            "opened_at": facts.at,
            "sources": sources,
            "goal_seq": facts.seq,
            "rules_seq": facts.seq,
            "registry_seq": facts.seq,
            "list_seq": facts.seq,
            "list_at": facts.at,
        }
    )


_LEGAL = {"paused": {"active"}, "active": {"paused"}, "retired": {"active", "paused"}}


def _check_status(to: str) -> Any:
    def check(state: GoalState, payload: StatusChanged, facts: Facts) -> None:
        check_line(payload.reason, "reason")
        if state.status not in _LEGAL[to]:
            raise UsageError(
                "illegal_transition",
                f"{state.goal_id} is {state.status} and cannot become {to}",
                next=f"loopx goal show --goal {state.goal_id}",
                status=state.status,
            )

    return check


def _check_retired(state: GoalState, payload: Retired, facts: Facts) -> None:
    _check_status("retired")(state, payload, facts)
    check_parts(payload.parts, _taken_away(state))


def _taken_away(state: GoalState) -> list[dict[str, Any]]:
    """The parts that end all work under way, so that it keeps nobody from other goals' files."""
    return [*withdrawals(state), *returns(state)]


def _evolve_status(to: str) -> Any:
    def evolve(state: GoalState, payload: StatusChanged, facts: Facts) -> GoalState:
        update = {"status": to, "goal_seq": facts.seq, "registry_seq": facts.seq}
        return state.model_copy(update=update)

    return evolve


EVENTS: tuple[EventType[GoalState, Any], ...] = (
    EventType("goal.opened", Opened, OWNER, _check_opened, _evolve_opened),
    *(
        EventType(f"goal.{name}", StatusChanged, OWNER, _check_status(to), _evolve_status(to))
        for name, to in (("paused", "paused"), ("resumed", "active"))
    ),
    EventType(
        "goal.retired",
        Retired,
        OWNER,
        _check_retired,
        _evolve_status("retired"),
        parts=WITHDRAWS | RETURNS,
    ),
)
