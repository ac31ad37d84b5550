"""Layer 9: hazards 01 to 04, 08, 11 and scenarios 8 to 10; hazard 05 is layer 5."""

from __future__ import annotations

import os
import random
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from loopx_kernel.domain.lease import ClaimTodo, RenewLease
from loopx_kernel.domain.todo import AddTodo
from loopx_kernel.errors import Damaged
from loopx_kernel.store.line import MAX_LINE, encode
from loopx_kernel.workspace.history import state_at

from tests.faults.commands import assert_level
from tests.kernel.workspace.build import (
    CLAUDE,
    CODEX,
    GOAL,
    PUSH,
    Place,
    rebuilt,
    refused,
)
from tests.kernel.workspace.forge import records
from tests.patience import PATIENCE

BOM = b"\xef\xbb\xbf"


def next_line(place: Place, event_id: str, text: str) -> bytes:
    """A hand-over as the next line of the goal's journal."""
    last = records(place.journal)[-1]
    fields = {
        "event_id": event_id,
        "goal_id": GOAL,
        "event_type": "handoff.written",
        "recorded_at": "2026-09-16T22:50:00Z",
        "actor_kind": "agent",
        "actor_agent_id": CLAUDE,
        "payload": {"text": text},
        "request": "0" * 64,
    }
    return encode(fields, seq=last["seq"] + 1, prev=last["sha256"])[0]


def add(place: Place, data: bytes) -> None:
    with place.journal.open("ab") as file:
        file.write(data)


@pytest.mark.parametrize("inside", [b'"event_id":"g9","go', "漢".encode()[:2]])
def test_hazard_01_half_a_last_line_is_no_row_until_it_is_whole(
    place: Place, inside: bytes
) -> None:
    seq, raw = place.ws.view(GOAL).seq, next_line(place, "g9", "漢 Ship?")
    at = raw.index(inside) + len(inside)
    add(place, raw[:at])
    for ws in (place.ws, place.again()):
        view = ws.view(GOAL)
        assert (view.seq, view.reads.incomplete_tail, view.alerts) == (seq, True, ())
    add(place, raw[at:])
    for ws in (place.ws, place.again()):
        assert [row.event.event_id for row in ws.events.list(GOAL)].count("g9") == 1
        assert not ws.view(GOAL).reads.incomplete_tail


def test_hazard_02_an_approval_is_never_glued_to_a_torn_tail(place: Place) -> None:
    gate_id = place.ask()
    add(place, b'{"torn":')
    place.decide(gate_id)
    assert place.again().gates.check(GOAL, PUSH).allowed
    (kept,) = (place.runtime / "quarantine").iterdir()
    assert kept.read_bytes() == b'{"torn":'
    assert_level(place)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b'{"goals": [', "line 1 col 12"),
        (b"", "it is empty"),
        (bytes(80_000), "NULs"),
        ('{"goals": []}'.encode("utf-16"), "not UTF-8"),
    ],
)
def test_hazards_03_and_04_an_unreadable_registry_is_named_and_never_saved_over(
    place: Place, content: bytes, words: str
) -> None:
    good = place.registry.read_bytes()
    place.registry.write_bytes(content)
    for _ in range(2):
        damage = place.again().view(GOAL).reads.damage
        assert [item.path for item in damage] == [".loopx/registry.json"]
        assert words in damage[0].reason
    with refused(place, "file_damaged"):
        place.ws.todos.add(GOAL, CODEX, AddTodo(title="More"))
    assert place.registry.read_bytes() == content
    place.registry.unlink()
    assert place.again().view(GOAL).reads.missing_files == (".loopx/registry.json",)
    place.registry.write_bytes(good)
    assert not place.ws.view(GOAL).reads.damage
    assert_level(place)


def test_hazard_08_byte_order_marks_and_line_ends(place: Place) -> None:
    for path in (place.registry, place.state_file):
        path.write_bytes(BOM + path.read_bytes().replace(b"\n", b"\r\n"))
    reads = place.again().view(GOAL).reads
    assert not (reads.damage or reads.drift or reads.missing_files)
    assert_level(place)
    good = place.journal.read_bytes()
    for content, kind in (
        (good.replace(b"\n", b"\r\n"), "line_ends_changed"),
        (BOM + good, "line_ends_changed"),
        (good.decode().encode("utf-16"), "not_utf8"),
    ):
        place.journal.write_bytes(content)
        with pytest.raises(Damaged) as caught:
            place.again().handoff.write(GOAL, CLAUDE, "Next: buttons")
        assert caught.value.facts["kind"] == kind
        assert place.journal.read_bytes() == content


def test_hazard_11_a_line_of_50_mb_is_damage_and_is_not_held_in_memory(place: Place) -> None:
    seq = len(place.lines())
    with place.journal.open("ab") as file:
        for _ in range(50):
            file.write(b"x" * MAX_LINE)
        file.write(b"\n")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    ledger = place.ws._core.goal(GOAL)
    result = ledger.journal.read(ledger.start)
    assert result.damage is not None
    assert result.damage.facts["kind"] == "too_long"
    assert len(result.lines) == seq
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20_000
    reads = place.again().view(GOAL).reads
    assert any(f"line {seq + 1}" in damage.reason for damage in reads.damage)


def test_scenario_08_the_claim_e_0142_counts_once_and_another_content_is_a_conflict(
    place: Place,
) -> None:
    before = place.lines()
    claim = ClaimTodo(todo_id="T3", expect_version=4)
    again = place.ws.todos.claim(GOAL, CLAUDE, claim, event_id="e-0142")
    assert again.receipt.replayed
    assert place.lines() == before
    other = RenewLease(todo_id="T3", version=5, epoch=3)
    with refused(place, "event_conflict"):
        place.ws.todos.renew(GOAL, CLAUDE, other, event_id="e-0142")
    assert place.lines() == before


def test_scenario_09_a_list_deleted_after_200_events_is_as_it_was(place: Place) -> None:
    while len(place.lines()) < 200:
        place.ws.handoff.write(GOAL, CLAUDE, f"Next: {len(place.lines())}")
        if len(place.lines()) == 100:
            then = place.ws.state(GOAL)
    earlier = place.state_file.read_text("utf-8")
    place.state_file.unlink()
    place.again().handoff.bring_level(GOAL, CLAUDE)
    assert rebuilt(place) == [str(place.state_file.relative_to(place.root))]

    def parts(text: str) -> list[str]:
        return [line for line in text.splitlines() if not line.startswith(("updated_at", "seq:"))]

    assert parts(place.state_file.read_text("utf-8")) == parts(earlier)
    assert state_at(place.again()._core.fresh_goal(GOAL), 100) == then


REPLACER = """
import sys
from pathlib import Path
from loopx_kernel.store.disk import atomic_write
from loopx_kernel.store.files import Files
path = Path(sys.argv[1])
print("ready", flush=True)
while True:
    for letter in (b"a", b"b"):
        atomic_write(path, letter * 30_000, files=Files())
"""


def test_scenario_10_a_file_is_whole_old_or_whole_new_at_50_random_points(tmp_path: Path) -> None:
    path, chance = tmp_path / "registry.json", random.Random(10)
    for _ in range(50):
        child = subprocess.Popen(
            [sys.executable, "-S", "-c", REPLACER, str(path)],
            stdout=subprocess.PIPE,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        )
        assert child.stdout is not None and child.stdout.readline() == b"ready\n"
        deadline = time.monotonic() + 60
        seen = set[int]()
        # Some replacements later, wherever it is then.
        while len(seen) < chance.randrange(1, 5) and time.monotonic() < deadline:
            if path.exists():
                seen.add(path.stat().st_ino)
        child.send_signal(signal.SIGKILL)
        child.wait(PATIENCE)
        child.stdout.close()
        content = path.read_bytes()
        assert content in (b"a" * 30_000, b"b" * 30_000)
