"""The samples in the kernel's README are what the kernel reads and writes."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from pathlib import Path

from loopx_kernel import errors
from loopx_kernel.domain.contract import EXIT_STATUS
from loopx_kernel.domain.event import Event
from loopx_kernel.domain.records import EvidenceRef, Lease, Origin, Todo
from loopx_kernel.domain.state import GoalState
from loopx_kernel.store.line import decode
from loopx_kernel.views.records import lease_record
from loopx_kernel.views.statement import statement_record

from tests.kernel.test_statement import SHA, finished

README = Path(__file__).parents[2] / "kernel" / "README.md"


def sample(name: str) -> str:
    found = re.search(
        rf"<!-- sample: {name} -->\n```json\n(.*?)```", README.read_text("utf-8"), re.S
    )
    assert found, f"no sample {name}"
    return found[1]


def test_the_journal_line_proves_itself_and_is_an_event() -> None:
    line = decode(sample("journal-line").strip().encode(), 0)
    event = Event.model_validate(line.record)
    assert (event.event_type, event.seq) == ("spend.booked", 7)


def test_the_lease_sample_is_what_a_lease_file_says() -> None:
    at = datetime(2026, 9, 16, 22, 40, tzinfo=UTC)
    lease = Lease(
        owner="claude-code",
        write_scopes=("src/theme/**",),
        version=1,
        lease_epoch=1,
        acquired_at=at,
        renewed_at=at,
        expires_at=at.replace(minute=55),
        status="active",
        seq=3,
        host_id="host-1",
        boot_id="boot-1",
        boot_deadline_ms=1_900_000,
    )
    origin = Origin(actor_kind="agent", actor_agent_id="claude-code", event_id="e")
    todo = Todo(id="T1", title="t", origin=origin, lease=lease, added_at=at, changed_at=at, seq=3)
    assert json.loads(sample("lease")) == lease_record(GoalState(goal_id="dark-mode"), todo)


def test_the_statement_sample_is_what_a_statement_says() -> None:
    report = EvidenceRef(
        path="out/report.xml", sha256=SHA, size=5, kind="junit", result="passed", kept=True
    )
    notes = EvidenceRef(path="docs/theme-vars.md", sha256=SHA, size=5, kept=True)
    todo = finished(report, notes, proven=True)
    assert json.loads(sample("statement")) == statement_record("dark-mode", todo)


def test_the_exit_statuses_are_those_of_the_error_classes() -> None:
    text = README.read_text("utf-8")
    classes = (
        errors.UsageError,
        errors.Conflict,
        errors.Fenced,
        errors.Busy,
        errors.Denied,
        errors.Damaged,
        errors.Storage,
    )
    for kind in classes:
        word = kind.__name__.removesuffix("Error").lower()
        assert f"{kind.exit_status} {word}" in text
    answers = ", ".join(f"{status} {answer}" for answer, status in EXIT_STATUS.items())
    assert answers in text
