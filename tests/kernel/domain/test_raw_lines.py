"""Lines written by hand, of every type: whatever is changed in one has the effect of a command,
or none."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest
from loopx_kernel.domain import fold
from loopx_kernel.domain.acceptance import AcceptByHand, RecordRun
from loopx_kernel.domain.cancel import CancelTodo
from loopx_kernel.domain.event import UNSIGNED, Event, Verdict
from loopx_kernel.domain.standing import gaps
from loopx_kernel.domain.state import GoalState

from tests.kernel.domain.alterations import altered
from tests.kernel.domain.build import CLAUDE, CODEX, GOOD, HASH, KERNEL, NOW, OWNER, add, dark_mode
from tests.kernel.domain.build import line as raw
from tests.kernel.domain.raw_lines import (
    END_ALL,
    FAILED,
    PASSED,
    RULES,
    VOTED,
    Line,
    lines,
)

FILES = {"evidence/*/size", "evidence/*/kept", "evidence/*/kind", "evidence/*/result"}
CLOCK = {"clock", "clock/host_id", "clock/boot_id", "clock/boot_ms"}
RESULT = {f"results/*/{name}" for name in ("repo_state", "digest", "score", "left", "written")}
DECISION = {"reason", "until", "expires_at"}


def below(place: str, names: set[str]) -> set[str]:
    return {f"{place}/{name}" for name in names}


SAID: dict[str, set[str]] = {
    "acceptance.ran": {"results", "results/*", "results/*/result", "results/*/detail", *RESULT},
    "damage.repaired": {"files/*/path", "files/*/sha256"},
    "drift.adopted": {"path", "digest"},
    "drift.restored": {"path", "digest"},
    "escalation.answered": {"reason"},
    "file.rebuilt": set(),
    "gate.approved": DECISION,
    "gate.deferred": DECISION,
    "gate.rejected": DECISION,
    "gate.requested": {"question", "blocks", "blocks/*", "irreversible", "judged"},
    "handoff.written": {"text", "turn_id"},
    "objective.patched": {"text"},
    "observation.recorded": {"by", "ref", "path", "sha256", "size", "kept"},
    "replan.requested": {"facts", "facts/*"},
    "rules.patched": {"rules/**"},
    "source.added": {"source_id", "provider", "required", "on_demand", "window_seconds"},
    "source.read": {"status", "items", "unreadable", "pending"},
    "source.paused": set(),
    "source.scanned": {"status", "scanned", "scanned/*", "expires_seconds"},
    "source.settled": {"cursor", "pending"},
    "spend.booked": {"slots"},
    "spend.voided": {"reason"},
    "todo.added": {
        *("title", "role", "kind", "priority", "write_scope", "write_scope/*", "depends_on"),
        *("acceptance", "acceptance/*", "lineage_todo_ids", "lineage_todo_ids/*"),
        *("requires_statement", "next_check_at", "resume_at"),
    },
    "todo.blocked": {"reason"},
    "todo.cancelled": {"reason"},
    "todo.claimed": CLOCK,
    "todo.completed": {
        *("note", "reason", "tests", "proven", "result_digest"),
        *(FILES - {"evidence/*/result"}),
        *below("parts/acceptance.ran", RESULT - {"results/*/score"}),
    },
    "todo.deferred": {"reason", "resume_at"},
    "todo.renewed": CLOCK,
    "todo.reopened": {"reason"},
    "todo.superseded": {"reason"},
    "todo.updated": {"note", "tests", "turn_id", "result_digest", *FILES},
    "todo.waiting": {"reason", "waiting_on/kind", "waiting_on/ref", "waiting_on/every_seconds"},
    "turn.opened": {"contract_id", *below("parts/todo.claimed", CLOCK)},
    "turn.settled": {
        *("parts/handoff.written/text", "result_digest", "parts/todo.completed/proven"),
        *below("parts/acceptance.ran", RESULT),
        *below("parts/todo.completed", {"evidence/*/size", "evidence/*/kept"}),
        *below("parts/todo.updated", FILES - {"evidence/*/kind"}),
    },
    "work.accepted": {"reason", "repo_state"},
}
"""What the author of a line says in it, or code saw, so that a command could have made it with
another value. Every other value follows from these and the state."""

BY_ANY_AGENT = {
    *("gate.requested", "gate.used", "gate.used admitted", "handoff.written", "replan.fulfilled"),
    *("todo.added", "todo.added with everything", "todo.claimed", "todo.reopened", "turn.opened"),
    "todo.reopened after a look",
    *(f"replan.proposed {kind}" for kind in ("cancel", "supersede", "route", "objective")),
}
AGAIN = {"acceptance.ran", "file.rebuilt", "handoff.written", "source.read", "source.scanned"}
"""Types whose lines may happen again word for word, as they record what is seen or said anew."""

every_line = pytest.mark.parametrize("name", lines())


def read(before: GoalState, event: Event, verdict: Verdict) -> GoalState | None:
    """The state after a line that had an effect; ``None`` for one that had none and raised the
    alert with its number."""
    after = fold.evolve(before, event, verdict)
    if after.alert_count == before.alert_count:
        return after
    assert after.alerts[-1].seq == event.seq
    moved = {"seq", "head", "last_at", "alerts", "alert_count", "idle"}
    assert after.model_dump(exclude=moved) == before.model_dump(exclude=moved)
    return None


def may_be_said(event_type: str, place: str) -> bool:
    said = SAID.get(event_type, set())
    return place in said or any(one.endswith("/**") and place.startswith(one[:-2]) for one in said)


def other_effects(line: Line) -> set[str]:
    """Where the line can be altered and have another effect than as it was."""
    found = set()
    for place, event in altered(line):
        after = read(line.before, event, line.verdict)
        if after is not None and after != line.after:
            found.add(place)
    return found


_EFFECTS: dict[str, set[str]] = {}


def effects_of(name: str) -> set[str]:
    if name not in _EFFECTS:
        _EFFECTS[name] = other_effects(lines()[name])
    return _EFFECTS[name]


def test_every_type_has_a_line_here() -> None:
    names = dict.fromkeys(name for names in fold._MODULES.values() for name in names)
    rows = [row for name in names for row in import_module(f"loopx_kernel.domain.{name}").EVENTS]
    lone = {row.name for row in rows if not row.part_only}
    assert {line.event.event_type for line in lines().values()} | {"goal.opened"} == lone
    carried = {part for name in lines() for part in parts_of(lines()[name].event.payload)}
    assert {row.name for row in rows if row.part_only} <= carried


def parts_of(payload: dict[str, Any]) -> list[str]:
    return [name for part in payload.get("parts", ()) for name in (part["type"], *parts_of(part))]


@every_line
def test_only_what_its_author_may_say_can_be_another(name: str) -> None:
    line = lines()[name]
    assert read(line.before, line.event, line.verdict) == line.after
    event_type = line.event.event_type
    assert {place for place in effects_of(name) if not may_be_said(event_type, place)} == set()


@pytest.mark.parametrize("event_type", SAID)
def test_nothing_is_called_said_that_follows_from_the_rest(event_type: str) -> None:
    mine = [name for name, line in lines().items() if line.event.event_type == event_type]
    found = set().union(*(effects_of(name) for name in mine))
    unneeded = {one for one in SAID[event_type] if not one.endswith("/**")} - found
    assert unneeded == set()


@every_line
def test_nobody_writes_a_line_in_the_place_of_another(name: str) -> None:
    line = lines()[name]
    unsigned = [UNSIGNED, Verdict(ok=False, problem="bad_signature"), Verdict(True, "mallory")]
    attempts = [(actor, UNSIGNED) for actor in (CLAUDE, CODEX, KERNEL)]
    attempts += [(OWNER, verdict) for verdict in unsigned]
    for actor, verdict in attempts:
        if actor == line.event.actor and verdict == line.verdict:
            continue
        if actor.kind == line.event.actor_kind == "agent" and name in BY_ANY_AGENT:
            continue
        update = {"actor_kind": actor.kind, "actor_agent_id": actor.id}
        assert read(line.before, line.event.model_copy(update=update), verdict) is None


@every_line
def test_a_copy_at_a_later_place_does_nothing(name: str) -> None:
    line = lines()[name]
    if line.event.event_type in AGAIN:
        return
    copy = line.event.model_copy(update={"seq": line.event.seq + 1, "sha256": HASH})
    assert read(line.after, copy, line.verdict) is None


@every_line
def test_parts_of_other_lines_are_no_parts_of_this(name: str) -> None:
    line = lines()[name]
    parts = line.event.payload.get("parts", [])
    pool = [part for other in lines().values() for part in other.event.payload.get("parts", ())]
    pool += [{"type": one.event.event_type, **one.event.payload} for one in lines().values()]
    for part in {part["type"]: part for part in pool}.values():
        for more in ([*parts, part], [part, *parts]):
            event = line.with_payload(line.event.payload | {"parts": more})
            assert read(line.before, event, line.verdict) is None


@every_line
def test_of_work_that_ended_nothing_is_said_any_more(name: str) -> None:
    line = lines()[name]
    if line.event.payload.get("todo_id") != "T3":
        return
    book = dark_mode(**RULES)
    book.state = line.before
    if book.state.todos["T3"].finished:
        return
    book.do(*END_ALL[0])
    late = line.event.model_copy(update={"seq": book.state.seq + 1})
    assert read(book.state, late, line.verdict) is None


@pytest.mark.parametrize(
    "wrong",
    [
        VOTED | {"score": 6},
        VOTED | {"result": "failed"},
        VOTED | {"result": "inconclusive"},
        {key: value for key, value in VOTED.items() if key != "score"},
        PASSED | {"score": 10},
        PASSED | {"confidence": "1"},
        PASSED | {"item_id": "nothing"},
        PASSED | {"worked_seq": 10**6},
    ],
)
def test_what_no_run_gives_is_no_result(wrong: dict[str, Any]) -> None:
    book = dark_mode(**RULES)
    event = raw(book.state, "acceptance.ran", {"results": [wrong]}, KERNEL)
    assert read(book.state, event, UNSIGNED) is None


@pytest.mark.parametrize("shape", [1, "tests", [], {}, {"item_id": 1}, {**VOTED, "score": "8"}])
@pytest.mark.parametrize("name", ["turn.settled with acceptance", "todo.completed with acceptance"])
def test_a_result_of_no_shape_is_no_result(name: str, shape: Any) -> None:
    line = lines()[name]
    ran, *rest = line.event.payload["parts"]
    event = line.with_payload(line.event.payload | {"parts": [ran | {"results": [shape]}, *rest]})
    assert read(line.before, event, line.verdict) is None


def test_a_worker_gives_no_reason_in_the_words_of_a_person() -> None:
    line = lines()["todo.completed"]
    event = line.with_payload(line.event.payload | {"reason": "the owner wants it so"})
    assert read(line.before, event, UNSIGNED) is None


@pytest.mark.parametrize("todo_id", [None, "T4"])
def test_a_word_given_before_the_last_run_is_none_after_it(todo_id: str | None) -> None:
    """The signature on a line holds wherever the line stands, so its place must not."""
    book = dark_mode(**RULES)
    book.do(add("More", acceptance=("tests",)))
    open_work = () if todo_id else ("T3",)
    for ref in ("T4", *open_work):
        book.do(CancelTodo(todo_id=ref, reason="x"), OWNER)
    before = book.state
    book.do(AcceptByHand(reason="x", repo_state=HASH, todo_id=todo_id), OWNER)
    word, verdict = book.lines[-1]
    assert todo_id is not None or gaps(book.state) == ()
    failed = {key: value for key, value in FAILED.items() if key != "detail"}
    if todo_id is not None:
        book.do(RecordRun(results=(failed,)), KERNEL, NOW)
        late = word.model_copy(update={"seq": book.state.seq + 1, "sha256": HASH})
        assert read(book.state, late, verdict) is None
        assert book.state.results["tests"].result == "failed"
    seen = raw(before, "acceptance.ran", {"results": [PASSED]}, KERNEL)
    after = fold.evolve(before, seen)
    late = word.model_copy(update={"seq": after.seq + 1, "sha256": HASH})
    assert read(after, late, GOOD) is None
