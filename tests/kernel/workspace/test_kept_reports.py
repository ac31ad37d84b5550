"""The bytes of reports that were read as facts from outside: kept, and told apart like evidence."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from loopx_kernel.domain.aside import SetAside
from loopx_kernel.domain.hot import LOOKS
from loopx_kernel.domain.observation import Observe
from loopx_kernel.domain.records import WaitingOn
from loopx_kernel.domain.todo import AddTodo
from loopx_kernel.errors import Storage
from loopx_kernel.store.objects import KEPT_LIMIT, Objects
from loopx_kernel.workspace.evidence import Kept
from loopx_kernel.workspace.orders import Done

from tests.kernel.workspace.build import CLAUDE, GOAL, Place, connected, open_goal, refused

GREEN = b'<testsuite tests="1"><testcase/></testsuite>'
NAME = hashlib.sha256(GREEN).hexdigest()


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A goal with a report in its repo; T1 waits for pr-7."""
    place = connected(tmp_path)
    open_goal(place)
    place.ws.todos.add(GOAL, CLAUDE, AddTodo(title="Open PR", write_scope=("src/**",)))
    on = WaitingOn(kind="ci", ref="pr-7", every_seconds=600)
    place.ws.todos.set_aside(GOAL, CLAUDE, SetAside(todo_id="T1", status="waiting", waiting_on=on))
    report(place).write_bytes(GREEN)
    return place


def report(place: Place) -> Path:
    return place.root / "mall-frontend" / "report.xml"


def copy(place: Place) -> Path:
    return place.runtime / "objects" / NAME


def read(place: Place, ref: str = "pr-7", event_id: str | None = None) -> Done:
    return place.ws.observations.read(GOAL, "report.xml", ref, event_id=event_id)


def write(place: Place) -> None:
    """Any command that writes, by somebody who opens the workspace anew."""
    place.again().todos.add(GOAL, CLAUDE, AddTodo(title="More"))


def many_looks(place: Place) -> None:
    for number in range(LOOKS * 2):
        told = Observe(kind="ci", ref=f"other-{number}", status="pass", basis="told")
        place.ws.observations.record(GOAL, told)


def test_a_report_is_kept_under_its_digest_which_the_event_names(place: Place) -> None:
    done = read(place)
    assert copy(place).read_bytes() == GREEN
    payload = place.ws.events.show(GOAL, done.receipt.event_id).event.payload
    named = {key: payload[key] for key in ("path", "sha256", "size", "kept")}
    assert named == {"path": "report.xml", "sha256": NAME, "size": len(GREEN), "kept": True}
    assert place.ws.evidence.copies(GOAL, payload) == {NAME: "kept"}
    assert place.again().evidence.kept(GOAL) == Kept(copies=1, orphans=0)
    assert place.again().events.audit(GOAL).status == "whole"


def test_of_a_large_one_only_the_digest_is(place: Place) -> None:
    large = GREEN + b" " * KEPT_LIMIT
    report(place).write_bytes(large)
    payload = place.ws.events.show(GOAL, read(place).receipt.event_id).event.payload
    assert (payload["kept"], payload["size"]) == (False, len(large))
    assert place.ws.evidence.copies(GOAL, payload) == {}
    assert list(copy(place).parent.iterdir()) == []
    assert not place.again().view(GOAL).reads.missing_evidence


def test_what_cannot_be_kept_is_not_recorded(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise Storage("no_space", "full")

    with monkeypatch.context() as patch:
        patch.setattr(Objects, "put", full)
        with refused(place, "no_space"):
            read(place, event_id="e-1")
    assert not read(place, event_id="e-1").receipt.replayed


def test_a_lost_copy_is_taken_again_from_the_file_while_that_is_the_same(place: Place) -> None:
    payload = place.ws.events.show(GOAL, read(place).receipt.event_id).event.payload
    copy(place).unlink()
    (lost,) = place.again().view(GOAL).reads.missing_evidence
    assert (lost.todo_id, lost.of) == ("T1", "report.xml, evidence of T1")
    assert place.ws.evidence.copies(GOAL, payload) == {NAME: "missing"}
    write(place)
    assert copy(place).read_bytes() == GREEN
    copy(place).unlink()
    report(place).write_bytes(b"another")
    write(place)
    (finding,) = place.again().events.audit(GOAL).findings
    assert (finding.status, finding.command) == ("missing", "loopx todo show T1")


@pytest.mark.parametrize(
    ("ref", "stops"), [("pr-7", "T1 of dark-mode"), ("nobody-waits", "nothing")]
)
@pytest.mark.parametrize("gone", [False, True])
def test_a_changed_copy_is_damage_and_stops_no_more_than_the_todo_that_waited(
    place: Place, ref: str, stops: str, gone: bool
) -> None:
    payload = place.ws.events.show(GOAL, read(place, ref).receipt.event_id).event.payload
    if gone:
        many_looks(place)
    copy(place).chmod(0o644)
    copy(place).write_bytes(b"x")
    assert place.ws.evidence.copies(GOAL, payload) == {NAME: "damaged"}
    still_here = f"ci:{ref}" in place.again().state(GOAL).observations
    assert still_here is (not gone or ref == "pr-7")
    assert len(place.again().view(GOAL).reads.damage) == still_here
    assert not place.again().view(GOAL).reads.goal_damage
    (row,) = place.again().repairs.list()
    assert row.stops == stops
    (finding,) = place.again().events.audit(GOAL).findings
    assert (finding.status, Path(finding.path).name) == ("damaged", NAME)
    write(place)
    place.sign(place.ws.repairs.file(copy(place), "huang"))
    assert copy(place).read_bytes() == GREEN
    assert place.again().events.audit(GOAL).status == "whole"
    assert place.again().evidence.kept(GOAL) == Kept(copies=1, orphans=0)
