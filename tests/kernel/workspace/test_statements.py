"""Statements on disk: made with the todo, rolled forward, rebuilt, and damaged apart."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from loopx_kernel.domain.goal import ChangeGoalStatus
from loopx_kernel.domain.lease import ClaimTodo, ReleaseLease
from loopx_kernel.domain.quota import SpendSlot
from loopx_kernel.domain.todo import AddTodo
from loopx_kernel.errors import Damaged, Storage
from loopx_kernel.store.files import Files
from loopx_kernel.store.quarantine import digest_of
from loopx_kernel.store.records import Level, digest, sealed
from loopx_kernel.workspace import proofs
from loopx_kernel.workspace.materials import Materials
from loopx_kernel.workspace.pieces import Pieces
from loopx_kernel.workspace.proofs import Proofs

from tests.kernel.store.faults import FailingFiles
from tests.kernel.workspace.build import (
    CLAUDE,
    CODEX,
    GOAL,
    OWNER,
    Place,
    copied,
    ledger_tree,
    rebuilt,
    refused,
    with_files,
)
from tests.kernel.workspace.forge import records
from tests.kernel.workspace.test_crash import Crash, crashing
from tests.kernel.workspace.test_damage import edit_json
from tests.kernel.workspace.test_repair import assert_whole_and_working, fix, kept

REPORT = '<testsuite tests="2" failures="0"><testcase/><testcase/></testsuite>'


def statement(place: Place, todo_id: str = "T2") -> Path:
    return place.runtime / "statements" / f"{todo_id}.json"


def said(place: Place, todo_id: str = "T2") -> Any:
    return json.loads(statement(place, todo_id).read_text("utf-8"))


def note(place: Place) -> object:
    """Any writing command."""
    return place.ws.handoff.write(GOAL, CLAUDE, "Next: buttons")


def complete(place: Place, **values: Any) -> object:
    """T3, the todo at hand, finished by its worker on two files."""
    (place.root / "mall-frontend" / "report.xml").write_text(REPORT, "utf-8")
    paths = ["report.xml", "docs/theme-vars.md"]
    values = {"evidence": paths, "tests": "passed", "epoch": 2} | values
    return place.ws.todos.update(GOAL, CLAUDE, "T3", complete=True, **values)


def test_a_statement_says_what_was_read_and_what_was_told(place: Place) -> None:
    complete(place)
    line = records(place.journal)[-1]
    found = said(place, "T3")
    assert (found["schema_version"], found["goal_id"], found["todo_id"]) == (
        "loopx_statement_v0",
        GOAL,
        "T3",
    )
    assert [(check["name"], check["basis"], check["result"]) for check in found["checks"]] == [
        ("report.xml", "read", "passed"),
        ("theme-vars.md", "told", None),
    ]
    assert (found["result"], found["seq"], found["made_at"]) == (
        "passed",
        line["seq"],
        line["recorded_at"],
    )
    assert found["sha256"] == digest(found)


def test_only_what_was_done_on_evidence_has_one(place: Place) -> None:
    assert {path.name for path in statement(place).parent.iterdir()} == {"T1.json", "T2.json"}
    place.ws.todos.update(GOAL, CLAUDE, "T3", evidence=["docs/theme-vars.md"], epoch=2)
    assert not statement(place, "T3").exists()
    place.ws.todos.add(GOAL, CODEX, AddTodo(title="Write the docs"))
    place.ws.todos.claim(GOAL, CODEX, ClaimTodo(todo_id="T4"))
    place.ws.todos.update(GOAL, CODEX, "T4", complete=True)
    assert not statement(place, "T4").exists()
    assert not place.ws.view(GOAL).reads.missing_files


def test_scenario_17_a_deleted_statement_is_missing_then_rebuilt_and_recorded_once(
    place: Place,
) -> None:
    before = statement(place).read_bytes()
    statement(place).unlink()
    tree = ledger_tree(place)
    view = place.again().view(GOAL)
    shown = ".loopx/runtime/dark-mode/statements/T2.json"
    assert view.reads.missing_files == (shown,)
    assert view.contract.answer == "run" and not view.envelope.alert
    assert ledger_tree(place) == tree
    note(place)
    assert statement(place).read_bytes() == before
    assert rebuilt(place) == [shown]
    note(place)
    assert rebuilt(place) == [shown]
    assert not place.again().view(GOAL).reads.missing_files


COMMANDS: dict[str, Callable[[Place], object]] = {
    "release": lambda p: p.ws.todos.release(
        GOAL, CLAUDE, ReleaseLease(todo_id="T3", version=5, epoch=2)
    ),
    "add": lambda p: p.ws.todos.add(GOAL, CODEX, AddTodo(title="Write the docs")),
    "spend": lambda p: p.ws.quota.spend(GOAL, CLAUDE, SpendSlot(turn="turn-0003")),
    "gate": lambda p: p.ask(),
    "signed": lambda p: p.sign(
        p.ws.goals.change_status(GOAL, OWNER, ChangeGoalStatus(to="paused", reason="why"))
    ),
    "refresh": lambda p: p.ws.handoff.bring_level(GOAL, CLAUDE),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_whoever_writes_next_rebuilds_it(place: Place, name: str) -> None:
    for path in statement(place).parent.iterdir():
        path.unlink()
    statement(place).parent.rmdir()
    COMMANDS[name](place)
    assert len(rebuilt(place)) == 2
    assert said(place)["sha256"] == digest(said(place))
    assert place.again().events.audit(GOAL).status == "whole"


ALTERED: dict[str, Callable[[Any], None]] = {
    "result": lambda value: value.update(result="passed"),
    "check": lambda value: value["checks"][0].update(basis="read", result="passed"),
    "time": lambda value: value.update(made_at="2026-09-16T20:00:00Z"),
    "future": lambda value: value.update(seq=999),
    "other todo": lambda value: value.update(todo_id="T1"),
}


@pytest.mark.parametrize("fitting", [False, True])
@pytest.mark.parametrize("name", ALTERED)
def test_an_altered_statement_is_damage_with_both_digests_and_stops_nothing_else(
    place: Place, name: str, fitting: bool
) -> None:
    right = said(place)["sha256"]
    edit_json(statement(place), ALTERED[name], seal=fitting)
    found = statement(place).read_bytes()
    view = place.again().view(GOAL, CLAUDE)
    (damage,) = view.reads.damage
    assert (damage.todo_id, damage.blocks_goal) == ("T2", False)
    assert damage.expected_digest == right
    assert damage.found_digest == digest(json.loads(found)) != right
    assert view.contract.answer == "run" and view.contract.todo is not None
    assert view.contract.todo.id == "T3"
    assert [item.kind for item in view.needs_you] == ["damage"]
    assert not view.completion.complete
    assert "integrity" in {check.check for check in view.completion.failing}
    complete(place)
    place.ws.todos.add(GOAL, CODEX, AddTodo(title="Write the docs"))
    place.ws.todos.claim(GOAL, CODEX, ClaimTodo(todo_id="T4"))
    assert statement(place).read_bytes() == found
    with refused(place, "file_damaged"):
        place.ws.todos.update(GOAL, CODEX, "T2", note="more")


@pytest.mark.parametrize("content", [b"", bytes(900), b'{"result": ', b"\xff\xfe", b"[]"])
def test_a_statement_that_cannot_be_read_is_damage(place: Place, content: bytes) -> None:
    statement(place).write_bytes(content)
    (damage,) = place.again().view(GOAL).reads.damage
    assert (damage.todo_id, damage.blocks_goal) == ("T2", False)
    note(place)
    assert statement(place).read_bytes() == content


def forge(place: Place, todo_id: str) -> Path:
    """A statement that proves itself, about what was not done."""
    forged = said(place) | {"todo_id": todo_id, "result": "passed", "seq": 999}
    statement(place, todo_id).write_text(json.dumps(sealed(forged)))
    return statement(place, todo_id)


@pytest.mark.parametrize("many", [100, 0])
def test_a_statement_about_what_was_not_done_is_damage(
    place: Place, monkeypatch: pytest.MonkeyPatch, many: int
) -> None:
    monkeypatch.setattr(proofs, "_MANY", many)
    path = forge(place, "T3")
    (damage,) = place.again().view(GOAL).reads.damage
    assert (damage.todo_id, damage.blocks_goal) == ("T3", False)
    fix(place, path)
    assert not path.exists()
    assert_whole_and_working(place)


@pytest.mark.parametrize("todo_id", ["T4", "T9", "anything", "T99999999999999999999"])
def test_a_statement_about_what_never_was_is_found_by_the_deep_check(
    place: Place, todo_id: str
) -> None:
    path = forge(place, todo_id)
    assert not place.again().view(GOAL).reads.damage
    (finding,) = place.again().events.audit(GOAL).findings
    assert (finding.status, finding.path) == ("tampered", str(path.relative_to(place.root)))
    fix(place, path)
    assert not path.exists()
    assert place.again().events.audit(GOAL).status == "whole"


@pytest.mark.parametrize("crashed", [False, True])
def test_a_folder_in_its_place_stops_nothing_but_that_todo(place: Place, crashed: bool) -> None:
    statement(place, "T3").mkdir()
    if crashed:
        crashing(lambda: complete(place), Materials, "follow")
    else:
        complete(place)
        assert "- [x] **T3** Convert components" in place.state_file.read_text("utf-8")
    for _ in range(2):
        note(place)
    view = place.again().view(GOAL)
    assert [damage.todo_id for damage in view.reads.damage] == ["T3"]
    assert not view.reads.behind_files


@pytest.mark.parametrize("name", ALTERED)
def test_a_damaged_statement_is_repaired_by_a_signature_and_kept(place: Place, name: str) -> None:
    before = statement(place).read_bytes()
    edit_json(statement(place), ALTERED[name])
    found = statement(place).read_bytes()
    (row,) = place.again().repairs.list()
    assert row.stops == "T2 of dark-mode"
    fix(place, statement(place))
    assert statement(place).read_bytes() == before
    assert kept(place) == [found]
    assert_whole_and_working(place)


def test_what_takes_the_place_of_a_repaired_statement_stops_nobody_else(place: Place) -> None:
    edit_json(statement(place), ALTERED["result"])
    fix(place, statement(place))
    statement(place).unlink()
    statement(place).mkdir()
    note(place)
    (damage,) = place.again().view(GOAL).reads.damage
    assert (damage.todo_id, damage.blocks_goal) == ("T2", False)


def test_a_repair_cut_short_is_finished_by_the_next_writer(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = statement(place).read_bytes()
    edit_json(statement(place), ALTERED["result"])

    def full(*_: object) -> None:
        raise Storage("no_space", "full")

    with monkeypatch.context() as patch:
        patch.setattr(Pieces, "renew", full)
        fix(place, statement(place))
    assert statement(place).read_bytes() != before
    note(place)
    assert statement(place).read_bytes() == before


@pytest.mark.parametrize(
    ("where", "name"),
    [(Materials, "follow"), (Proofs, "follow")],
    ids=["before all files", "before the statement"],
)
def test_a_statement_that_was_not_written_is_rolled_forward_and_not_called_lost(
    place: Place, where: object, name: str
) -> None:
    crashing(lambda: complete(place), where, name)
    assert not statement(place, "T3").exists()
    view = place.again().view(GOAL)
    assert not view.reads.damage
    place.again().handoff.write(GOAL, CODEX, "Next: buttons")
    assert said(place, "T3")["result"] == "passed"
    after = place.again().view(GOAL)
    assert not (after.reads.missing_files or after.reads.behind_files or after.reads.damage)
    assert rebuilt(place) == []


class CrashingFiles(FailingFiles):
    """The process ends at changing call number ``at``."""

    def _counted(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*args: Any) -> Any:
            self.calls.append(name)
            if len(self.calls) - 1 == self.at:
                raise Crash
            return call(*args)

        return counted


def _crashes(place: Place, at: int) -> bool:
    """Completes T3; whether that came as far as its changing call number ``at``."""
    place.ws = with_files(place.root, CrashingFiles(at), place.clock)
    try:
        complete(place, event_id="e-0900")
    except Crash:
        return True
    return False


def test_wherever_the_process_ends_the_next_writer_finds_all_or_nothing(
    place: Place, tmp_path: Path
) -> None:
    outcomes: list[bool] = []
    while _crashes(one := copied(place, tmp_path / str(len(outcomes))), len(outcomes)):
        one.ws = one.again()
        note(one)
        done = one.ws.state(GOAL).todos["T3"]
        outcomes.append(done.status == "done")
        assert outcomes[-1] == statement(one, "T3").exists()
        for ref in done.evidence:
            assert digest_of(one.runtime / "objects" / ref.sha256, files=Files()) == ref.sha256
        reads = one.ws.view(GOAL).reads
        assert not (reads.missing_files or reads.behind_files or reads.damage)
        assert not reads.missing_evidence
        assert rebuilt(one) == []
        complete(one, event_id="e-0900")
        assert one.ws.state(GOAL).todos["T3"].status == "done"
    assert outcomes == sorted(outcomes) and {False, True} == set(outcomes)


def long_goal(place: Place, more: int = 40) -> None:
    """So many todos finished that T1 and T2 are no longer among those at hand."""
    for number in range(4, 4 + more):
        place.ws.todos.add(GOAL, CODEX, AddTodo(title=f"Step {number}"))
        place.ws.todos.claim(GOAL, CODEX, ClaimTodo(todo_id=f"T{number}"))
        place.ws.todos.update(
            GOAL, CODEX, f"T{number}", complete=True, evidence=["docs/theme-vars.md"]
        )
    assert "T2" not in place.ws.state(GOAL).todos


def test_the_statement_of_a_todo_long_finished_is_compared_by_the_deep_check_alone(
    place: Place,
) -> None:
    long_goal(place)
    before = statement(place).read_bytes()
    assert place.again().events.audit(GOAL).status == "whole"
    assert place.again().repairs.list() == ()
    edit_json(statement(place), ALTERED["result"], seal=True)
    assert not place.again().view(GOAL).reads.damage
    (finding,) = place.again().events.audit(GOAL).findings
    assert (finding.status, finding.path) == (
        "tampered",
        ".loopx/runtime/dark-mode/statements/T2.json",
    )
    (row,) = place.again().repairs.list()
    assert row.stops == "T2 of dark-mode"
    fix(place, statement(place))
    assert statement(place).read_bytes() == before
    assert place.again().events.audit(GOAL).status == "whole"


def test_the_missing_statement_of_a_todo_long_finished_is_rebuilt_by_a_refresh(
    place: Place,
) -> None:
    long_goal(place)
    before = statement(place).read_bytes()
    statement(place).unlink()
    assert not place.again().view(GOAL).reads.missing_files
    (finding,) = place.again().events.audit(GOAL).findings
    assert (finding.status, finding.command) == (
        "missing",
        "loopx refresh-state --goal dark-mode --agent claude-code",
    )
    place.again().handoff.bring_level(GOAL, CLAUDE)
    assert statement(place).read_bytes() == before
    assert rebuilt(place) == [finding.path]
    assert place.again().events.audit(GOAL).status == "whole"


def test_readers_look_at_the_statements_of_the_todos_at_hand_alone(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    long_goal(place)
    read: list[Path] = []
    plain = Proofs.statement

    def counting(self: Proofs, goal_id: str, todo_id: str) -> Any:
        read.append(Path(todo_id))
        return plain(self, goal_id, todo_id)

    monkeypatch.setattr(Proofs, "statement", counting)
    place.again().view(GOAL)
    assert len(read) == 32


def test_a_statement_tells_of_a_goal_that_lost_its_journal(place: Place) -> None:
    for path in (place.journal, place.spend, place.registry, *place.lease("T1").parent.iterdir()):
        path.unlink()
    with pytest.raises(Damaged) as caught:
        place.again().view(GOAL)
    assert caught.value.code == "rolled_back"


def test_a_lost_and_found_level_is_told_apart(place: Place) -> None:
    pieces, state = Proofs(place.ws._core), place.ws.state(GOAL)
    assert {piece.level().level for piece in pieces.of_goal(state)} == {Level.SAME}
    statement(place).unlink()
    (missing,) = (one for one in pieces.of_goal(state) if one.level().level is Level.MISSING)
    assert missing.path == statement(place)
