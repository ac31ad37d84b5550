"""The statement about a finished todo: made of its record alone."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loopx_kernel.domain.records import EvidenceRef, Origin, Todo, TodoStatus
from loopx_kernel.store.records import Level, compare, sealed
from loopx_kernel.views.statement import statement_record

AT = datetime(2026, 9, 16, 22, 40, tzinfo=UTC)
SHA = "a3f2" + "0" * 60
NOTES = EvidenceRef(path="docs/theme-vars.md", sha256=SHA, size=5)


def finished(*evidence: EvidenceRef, **values: Any) -> Todo:
    origin = Origin(actor_kind="agent", actor_agent_id="codex", event_id="e-1")
    fields = {
        "id": "T2",
        "title": "CSS-variable plan",
        "status": "done",
        "evidence": evidence,
        "origin": origin,
        "added_at": AT,
        "changed_at": AT,
        "done_at": AT,
        "done_seq": 9,
        "seq": 9,
    }
    return Todo(**{**fields, **values})


def report(result: Any, kind: Any = "junit") -> EvidenceRef:
    return EvidenceRef(path="out/report.xml", sha256=SHA, size=5, kind=kind, result=result)


@pytest.mark.parametrize("status", get_args(TodoStatus))
def test_only_what_was_done_on_evidence_is_stated(status: TodoStatus) -> None:
    assert finished(NOTES, status=status).stated == (status == "done")
    assert not finished(status=status).stated


@pytest.mark.parametrize(
    ("ref", "basis", "result"),
    [
        (NOTES, "told", None),
        (report("passed"), "read", "passed"),
        (report("failed"), "read", "failed"),
        (report(None), "told", None),
        (report("passed", "exit_status"), "read", "passed"),
        (report(None, "exit_status"), "told", None),
    ],
)
def test_a_check_says_on_what_basis_it_is_known(
    ref: EvidenceRef, basis: str, result: str | None
) -> None:
    (check,) = statement_record("dark-mode", finished(ref))["checks"]
    assert check == {
        "name": ref.path.rpartition("/")[2],
        "kind": ref.kind,
        "basis": basis,
        "result": result,
        "path": ref.path,
        "sha256": SHA,
    }


@pytest.mark.parametrize(("proven", "result"), [(True, "passed"), (False, "unproven")])
def test_the_result_is_passed_only_where_a_machine_read_it(proven: bool, result: str) -> None:
    record = statement_record("dark-mode", finished(NOTES, proven=proven))
    assert record["result"] == result


@given(seconds=st.integers(1, 10**6), title=st.text(min_size=1, max_size=20))
def test_what_changes_after_the_todo_was_done_changes_no_statement(
    seconds: int, title: str
) -> None:
    done = finished(NOTES, report("passed"))
    later = {"title": title, "seq": done.seq + 1, "changed_at": AT + timedelta(seconds=seconds)}
    record = statement_record("dark-mode", done)
    assert statement_record("dark-mode", done.model_copy(update=later)) == record
    assert (record["made_at"], record["seq"]) == ("2026-09-16T22:40:00Z", 9)


@given(key=st.sampled_from(["result", "made_at", "checks", "todo_id", "goal_id"]), value=st.text())
def test_a_statement_altered_in_any_field_is_damaged(key: str, value: str) -> None:
    record = statement_record("dark-mode", finished(NOTES))
    assert compare(sealed(record), record).level is Level.SAME
    altered = sealed(record) | {key: value}
    assert compare(altered, record).level is Level.DAMAGED
    assert compare(sealed(altered), record).level is Level.DAMAGED
