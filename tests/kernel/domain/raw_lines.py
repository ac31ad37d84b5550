"""Legal lines of every type, in a goal that has everything a line can be about."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from loopx_kernel.domain.acceptance import AcceptByHand, RecordRun
from loopx_kernel.domain.aside import ReopenTodo, SetAside
from loopx_kernel.domain.cancel import CancelTodo, SupersedeTodo
from loopx_kernel.domain.drift import AdoptDrift, Edit, RestoreDrift
from loopx_kernel.domain.escalation import AnswerEscalation
from loopx_kernel.domain.event import Event, Verdict
from loopx_kernel.domain.gate import DecideGate, UseGate
from loopx_kernel.domain.goal import ChangeGoalStatus
from loopx_kernel.domain.handin import FinishHumanTodo, UpdateTodo
from loopx_kernel.domain.handoff import WriteHandoff
from loopx_kernel.domain.objective import PatchObjective
from loopx_kernel.domain.observation import Observe
from loopx_kernel.domain.patched_rules import PatchRules
from loopx_kernel.domain.permission import Action
from loopx_kernel.domain.propose import ProposeChange
from loopx_kernel.domain.quota import SpendSlot
from loopx_kernel.domain.records import WaitingOn
from loopx_kernel.domain.records_of_work import Proposal
from loopx_kernel.domain.repair import FoundFile, RepairFile
from loopx_kernel.domain.replan import FulfilReplan, RequestReplan, WithdrawReplan
from loopx_kernel.domain.rules import (
    JudgeRule,
    Probe,
    SourceRule,
    parse_acceptance,
    parse_gate_rule,
)
from loopx_kernel.domain.source import AddSource, BindSource, ReadSource
from loopx_kernel.domain.state import GoalState

from tests.kernel.domain.build import (
    CODEX,
    HASH,
    KERNEL,
    OWNER,
    add,
    begin,
    complete,
    dark_mode,
    evidence,
    rules,
    settle,
)
from tests.kernel.domain.test_fold import ASK, LEGAL, Step

RULES: dict[str, Any] = {
    "acceptance": (
        parse_acceptance("tests=cmd:npm test", 1),
        parse_acceptance("taste=rubric:looks good >= 7", 2),
    ),
    "probes": (Probe(id="gh", command="gh run view"), Probe(id="pr", command="x", kind="review")),
    "gates": (parse_gate_rule("notify:send-digest* admit:judge"),),
    "judge": JudgeRule(command="judge --risk", min_confidence="0.5"),
}
DIGEST = Action(action="notify", command="send-digest --to owner")
REPORT = evidence("report.xml", "passed")
FILES = {"repo_state": HASH, "left": "b7" + HASH[2:], "written": HASH}
PASSED = {"item_id": "tests", "result": "passed", "digest": HASH, **FILES}
VOTED = {**PASSED, "item_id": "taste", "score": 8, "confidence": "1"}
FAILED = {**PASSED, "result": "failed", "detail": "exit status 1"}
RAN = Observe(
    kind="ci",
    ref="gh",
    status="fail",
    basis="ran",
    probe="gh",
    command="gh run view",
    exit_status=1,
)
READ = Observe(
    kind="ci", ref="main", status="pass", basis="read", path="r.xml", sha256=HASH, size=9, kept=True
)
WAIT = SetAside(todo_id="T3", status="waiting", waiting_on=WaitingOn(kind="ci"))
ON_CHAT = WaitingOn(kind="source", ref="chat")
RAN_LATER = replace(RAN, status="pending", exit_status=75)
END_ALL = ((CancelTodo(todo_id="T3", reason="x"), OWNER),)
FOLLOWS = add("Other way", lineage=("T3",))
FAIL_TWICE: tuple[Step, ...] = (
    (begin("T3"),),
    (settle("turn-0002", "failed"),),
    (begin("T3"),),
    (settle("turn-0003", "failed"),),
    (begin("T3"),),
)
RAISE: tuple[Step, ...] = (*FAIL_TWICE, (settle("turn-0004", "failed"),))
REPLAN = RequestReplan(reason="blocked", facts=("CI is gone",), todo_ids=("T3",))
EDITS = (
    Edit(kind="added", line=7, title="Ask the designers"),
    Edit(kind="retitled", todo_id="T3", line=6, title="Convert all components"),
)


def proposed(kind: Any, *todo_ids: str, **values: Any) -> ProposeChange:
    """A proposal by claude-code."""
    return ProposeChange(proposal=Proposal(kind=kind, reason="x", todo_ids=todo_ids, **values))


def _approve(*steps: Step) -> tuple[Step, ...]:
    return (*steps, (DecideGate(gate_id="G1", outcome="approved"), OWNER))


STEPS: dict[str, dict[str, tuple[Step, ...]]] = {
    "todo.added": {
        "with everything": ((add("More", "src/**", lineage=("T3",), acceptance=("tests",)),),)
    },
    "todo.updated": {
        "for a turn": (
            (begin("T3"),),
            (UpdateTodo(todo_id="T3", evidence=(REPORT,), turn_id="turn-0002"),),
        ),
        "last of three": (
            (begin("T3"),),
            (WriteHandoff(text="next", turn="turn-0002"),),
            (SpendSlot(turn="turn-0002"),),
            (UpdateTodo(todo_id="T3", evidence=(REPORT,), turn_id="turn-0002"),),
        ),
        "shows a risk": ((complete("T3", REPORT, high_risk=(("write", "infra/x"),)),),),
    },
    "todo.completed": {
        "by a person": (
            (add("Choose", role="human"),),
            (FinishHumanTodo(todo_id="T4", reason="x"), OWNER),
        ),
        "with acceptance": (
            (add("More", acceptance=("tests",)),),
            (begin("T4"), CODEX),
            (WriteHandoff(text="next", turn="turn-0002"), CODEX),
            (SpendSlot(turn="turn-0002"), CODEX),
            (
                complete(
                    "T4",
                    REPORT,
                    turn_id="turn-0002",
                    results=(PASSED,),
                    tests="passed",
                    proven=True,
                ),
                CODEX,
            ),
        ),
    },
    "goal.retired": {
        "with a turn": ((begin("T3"),), (ChangeGoalStatus(to="retired", reason="x"), OWNER)),
    },
    "todo.cancelled": {
        "": END_ALL,
        "with a turn": ((begin("T3"),), *END_ALL),
        "asked about": (*RAISE, (ASK,), *END_ALL),
    },
    "todo.superseded": {
        "": ((FOLLOWS,), (SupersedeTodo(todo_id="T3", by="T4", reason="x"), OWNER))
    },
    "todo.reopened": {
        "after a look": ((WAIT,), (RAN_LATER, KERNEL), (ReopenTodo(todo_id="T3"),)),
        "by a person": ((WAIT,), (ReopenTodo(todo_id="T3", reason="CI is gone"), OWNER)),
    },
    "source.read": {
        "lands": (
            (AddSource(rule=SourceRule(id="chat", provider="slack")), KERNEL),
            (BindSource(source_id="chat"), KERNEL),
            (SetAside(todo_id="T3", status="waiting", waiting_on=ON_CHAT),),
            (ReadSource(source_id="chat", status="no_change"), KERNEL),
        ),
    },
    "turn.settled": {
        "failed": (
            (begin("T3"),),
            (SpendSlot(turn="turn-0002"),),
            (settle("turn-0002", "failed"),),
        ),
        "blocked": ((begin("T3"),), (settle("turn-0002", "blocked", note="no design"),)),
        "progress": (
            (begin("T3"),),
            (settle("turn-0002", "progress", evidence=(REPORT,), handoff="next"),),
        ),
        "raises": RAISE,
        "shows a risk": (
            (begin("T3"),),
            (settle("turn-0002", evidence=(REPORT,), high_risk=(("write", "infra/x"),)),),
        ),
        "with acceptance": (
            (add("More", acceptance=("tests", "taste")),),
            (begin("T4"), CODEX),
            (
                settle(
                    "turn-0002",
                    evidence=(REPORT,),
                    results=(PASSED, VOTED),
                    tests="passed",
                    proven=True,
                    result_digest=HASH,
                ),
                CODEX,
            ),
        ),
    },
    "handoff.written": {
        "for a turn": ((begin("T3"),), (WriteHandoff(text="next", turn="turn-0002"),))
    },
    "spend.booked": {
        "last of three": (
            (begin("T3"),),
            (WriteHandoff(text="next", turn="turn-0002"),),
            (UpdateTodo(todo_id="T3", evidence=(REPORT,), turn_id="turn-0002"),),
            (SpendSlot(turn="turn-0002"),),
        )
    },
    "gate.used": {"admitted": ((UseGate(action=DIGEST, admitted=True),),)},
    "gate.approved": {
        "cancels": _approve((proposed("cancel", "T3"),)),
        "supersedes": _approve((FOLLOWS,), (proposed("supersede", "T3", successor="T4"),)),
        "another route": _approve((proposed("route", "T3", facts=("CI is gone",)),)),
        "rewords": _approve((proposed("objective", text="Add a light mode"),)),
    },
    "replan.proposed": {
        "cancel": ((proposed("cancel", "T3"),),),
        "supersede": ((FOLLOWS,), (proposed("supersede", "T3", successor="T4"),)),
        "route": ((proposed("route", "T3", facts=("CI is gone",)),),),
        "objective": ((proposed("objective", text="Add a light mode"),),),
    },
    "replan.requested": {"": ((REPLAN, OWNER),)},
    "replan.withdrawn": {"": ((REPLAN, OWNER), (WithdrawReplan(obligation_id="O1"), OWNER))},
    "replan.fulfilled": {
        "": (
            (REPLAN, OWNER),
            (FOLLOWS,),
            (FulfilReplan(obligation_id="O1", supersede=(("T3", "T5"),)),),
        )
    },
    "objective.patched": {
        "": ((PatchObjective(text="Add a light mode", reason="x", facts=("y",)), OWNER),)
    },
    "escalation.answered": {
        how: (*RAISE, (AnswerEscalation(escalation_id="E1", answer=how, reason="x"), OWNER))  # type: ignore[arg-type]
        for how in ("go_on", "replan", "cancel")
    },
    "rules.patched": {"": ((PatchRules(rules=rules(**RULES, domain="shop"), reason="x"), OWNER),)},
    "damage.repaired": {"a file": ((RepairFile(file=FoundFile(path="x", sha256=HASH)), OWNER),)},
    "drift.adopted": {"": ((AdoptDrift(path="s.md", digest=HASH, edits=EDITS), OWNER),)},
    "drift.restored": {"": ((RestoreDrift(path="s.md", digest=HASH, edits=EDITS), OWNER),)},
    "observation.recorded": {
        "ran": ((WAIT,), (RAN, KERNEL)),
        "read": ((WAIT,), (READ, KERNEL)),
        "told": (
            (WAIT,),
            (Observe(kind="ci", ref="x", status="fail", basis="told", by="codex"), KERNEL),
        ),
    },
    "acceptance.ran": {
        "passed": ((RecordRun(results=(PASSED, VOTED)), KERNEL),),
        "a fix": (*END_ALL, (RecordRun(results=(FAILED,)), KERNEL)),
        "for a todo": (
            (add("More", acceptance=("tests",)),),
            (RecordRun(results=(PASSED,), todo_id="T4"), KERNEL),
        ),
    },
    "work.accepted": {
        "": (*END_ALL, (AcceptByHand(reason="x", repo_state=HASH), OWNER)),
        "a todo": (
            (add("More", acceptance=("tests",)),),
            (CancelTodo(todo_id="T4", reason="x"), OWNER),
            (AcceptByHand(reason="x", repo_state=HASH, todo_id="T4"), OWNER),
        ),
    },
}


@dataclass(frozen=True)
class Line:
    """A legal line, the state before it and after it, and its verdict."""

    name: str
    before: GoalState
    event: Event
    verdict: Verdict
    after: GoalState

    def with_payload(self, payload: dict[str, Any]) -> Event:
        """The line with another payload."""
        return self.event.model_copy(update={"payload": payload})


def _line(name: str, steps: tuple[Step, ...]) -> Line:
    book = dark_mode(**RULES)
    for step in steps:
        before = book.state
        book.do(*step)
    return Line(name, before, *book.lines[-1], book.state)


@cache
def lines() -> dict[str, Line]:
    """A line of every type, of some in several shapes, each in a goal with acceptance, probes
    and a judge; by type and shape."""
    named = dict(LEGAL)
    for event_type, shapes in STEPS.items():
        named |= {f"{event_type} {shape}".strip(): steps for shape, steps in shapes.items()}
    return {name: _line(name, steps) for name, steps in named.items()}
