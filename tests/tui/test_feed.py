"""The feed on a real workspace: what the disk says reaches the screen, whatever happens to it."""

from __future__ import annotations

import asyncio
import queue
import shutil
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loopx_kernel.clock import ManualClock
from loopx_kernel.domain.gate import Action, RequestGate
from loopx_kernel.domain.goal import OpenGoal
from loopx_kernel.domain.lease import ClaimTodo
from loopx_kernel.domain.rules import GoalRules, SourceRule
from loopx_kernel.domain.source import AddSource, BindSource, ReadSource
from loopx_kernel.domain.todo import AddTodo
from loopx_kernel.trust.keys import load_private
from loopx_kernel.trust.new_key import generate
from loopx_kernel.workspace import EventRow, Workspace
from loopx_kernel.workspace.events import Events

from loopx_tui import reading
from loopx_tui.feed import Feed, Snapshot, Told
from loopx_tui.presentation.goals import NOT_LOADED
from loopx_tui.reading import Reader, next_deadline
from loopx_tui.watching import Change
from tests.patience import PATIENCE
from tests.tui import fixtures

AGENT = "claude-code"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A workspace with two goals, an agent, and two todos in the first goal."""
    folder = tmp_path / "shop"
    folder.mkdir()
    workspace = Workspace.connect(folder)
    public = generate(tmp_path / "key", "huang", None)
    signing = load_private(tmp_path / "key", None)
    enrolled = workspace.owners.enroll_first("huang", public.line, True)
    workspace.append(enrolled, signing)
    for goal in ("alpha", "beta"):
        rules = GoalRules(display_name=goal, state_file=f".loopx/goals/{goal}/ACTIVE_GOAL_STATE.md")
        opening = OpenGoal(goal_id=goal, objective=f"The {goal} goal", rules=rules)
        workspace.append(workspace.goals.open("huang", opening), signing)
    workspace.agents.add(AGENT)
    for title in ("First", "Second"):
        workspace.todos.add("alpha", AGENT, AddTodo(title=title))
    return folder


class Screen:
    """Collects snapshots as the app would, and waits for one by condition."""

    def __init__(self) -> None:
        self.told: queue.Queue[Snapshot] = queue.Queue()
        self.all: list[Snapshot] = []

    def post(self, snapshot: Snapshot) -> None:
        self.told.put(snapshot)

    async def until(self, wanted: Callable[[Snapshot], bool]) -> Snapshot:
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            with suppress(queue.Empty):
                snapshot = await asyncio.to_thread(self.told.get, True, 0.2)
                self.all.append(snapshot)
                if wanted(snapshot):
                    return snapshot
        raise AssertionError(f"not told within {PATIENCE} s; the last was {self.all[-1:]}")


@asynccontextmanager
async def feeding(start: Path, goal_id: str | None = None) -> AsyncIterator[tuple[Feed, Screen]]:
    feed, screen = Feed(start, goal_id=goal_id, read_only=False), Screen()
    feed.start(screen.post)
    await screen.until(lambda snapshot: True)
    watching = asyncio.create_task(feed.watch())
    try:
        yield feed, screen
    finally:
        feed.stop()
        watching.cancel()
        with suppress(asyncio.CancelledError):
            await watching


def is_live(snapshot: Snapshot) -> bool:
    view = snapshot.told.view
    return snapshot.mode == "live" and view is not None and not view.unread


def titles(snapshot: Snapshot, goal: str = "alpha") -> set[str]:
    view = snapshot.told.view
    goals = view.goals if view else ()
    return {row.todo.title for one in goals if one.goal_id == goal for row in one.todos}


async def test_what_another_process_appends_is_told_with_its_event(root: Path) -> None:
    async with feeding(root) as (_, screen):
        await screen.until(is_live)
        Workspace.open(root).todos.add("alpha", AGENT, AddTodo(title="Third"))
        snapshot = await screen.until(lambda one: "Third" in titles(one))
        assert snapshot.told.goal_id == "alpha"
        assert snapshot.told.events[-1].event.event_type == "todo.added"


async def test_after_a_sleep_it_catches_up_at_once_and_with_one_reading(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asleep = 0.0
    monkeypatch.setattr("loopx_tui.feed._LOOK_SECONDS", 0.05)
    monkeypatch.setattr("loopx_tui.feed._ahead", lambda: asleep)
    async with feeding(root) as (_, screen):
        await screen.until(is_live)
        asleep = 7200.0
        await screen.until(is_live)
        Workspace.open(root).todos.add("alpha", AGENT, AddTodo(title="Third"))
        await screen.until(lambda one: "Third" in titles(one))
        before = len(screen.all)
        asleep = 14400.0
        await screen.until(is_live)
        assert len(screen.all) == before + 1


async def test_a_selected_goal_brings_its_events(root: Path) -> None:
    async with feeding(root) as (feed, screen):
        await screen.until(is_live)
        feed.select("beta")
        snapshot = await screen.until(lambda one: one.told.goal_id == "beta")
        assert [row.event.event_type for row in snapshot.told.events] == ["goal.opened"]


async def test_the_folder_may_go_and_come_back(root: Path, tmp_path: Path) -> None:
    backup = tmp_path / "backup"
    async with feeding(root) as (_, screen):
        await screen.until(is_live)
        shutil.copytree(root / ".loopx", backup)
        shutil.rmtree(root / ".loopx")
        gone = await screen.until(lambda one: one.told.view is None)
        assert "is gone" in gone.told.missing
        shutil.copytree(backup, root / ".loopx")
        back = await screen.until(is_live)
        assert titles(back) == {"First", "Second"}
        Workspace.open(root).todos.add("alpha", AGENT, AddTodo(title="After"))
        await screen.until(lambda one: "After" in titles(one))


async def test_a_workspace_made_later_opens_by_itself(tmp_path: Path, root: Path) -> None:
    empty = tmp_path / "later"
    empty.mkdir()
    async with feeding(empty) as (_, screen):
        await screen.until(lambda one: one.told.view is None and one.mode == "down")
        shutil.copytree(root / ".loopx", empty / ".loopx")
        await screen.until(is_live)


async def test_a_goal_that_is_damaged_costs_that_goal_only(root: Path) -> None:
    journal = root / ".loopx/runtime/beta/events.jsonl"
    whole = journal.read_bytes()
    async with feeding(root) as (_, screen):
        await screen.until(is_live)
        journal.write_bytes(whole[: len(whole) // 2])
        snapshot = await screen.until(lambda one: "beta" in damaged_goals(one))
        assert damaged_goals(snapshot) == {"beta"}
        assert titles(snapshot) == {"First", "Second"}
        journal.write_bytes(whole)
        await screen.until(lambda one: is_live(one) and not damaged_goals(one))


def damaged_goals(snapshot: Snapshot) -> set[str]:
    view = snapshot.told.view
    if view is None:
        return set()
    needs = {item.goal_id for item in view.needs_you if item.kind == "damage"}
    return needs | {item.goal_id for item in view.unread}


def test_a_goal_that_cannot_be_read_is_named_with_its_reason(root: Path) -> None:
    (root / ".loopx/runtime/beta/events.jsonl").write_bytes(b"not a journal\n")
    told = read(Reader(root, read_only=True))
    assert told.view is not None
    assert [one.goal_id for one in told.view.goals] == ["alpha"]
    assert [one.goal_id for one in told.view.unread] == ["beta"]
    assert "events.jsonl" in told.view.unread[0].message


def test_even_a_defect_costs_one_goal_only(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = Workspace.view

    def broken(self: Workspace, goal_id: str) -> object:
        if goal_id == "beta":
            raise ZeroDivisionError("oops")
        return real(self, goal_id)

    monkeypatch.setattr(Workspace, "view", broken)
    told = read(Reader(root, read_only=True))
    assert told.view is not None
    assert [one.goal_id for one in told.view.goals] == ["alpha"]
    assert told.view.unread[0].message == "ZeroDivisionError: oops"


async def test_after_stop_nothing_is_told(root: Path) -> None:
    async with feeding(root) as (feed, screen):
        await screen.until(is_live)
        feed.stop()
        feed.changed(Change("polling", "said after the end", frozenset()))
        ended = [t for t in threading.enumerate() if t.name == "loopx-feed"]
        for thread in ended:
            thread.join(PATIENCE)
            assert not thread.is_alive()
        while not screen.told.empty():
            assert screen.told.get().reason != "said after the end"


async def test_a_defect_while_reading_is_said_on_the_screen(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with feeding(root) as (feed, screen):
        await screen.until(is_live)

        def broken(*_: object, **__: object) -> Iterator[Told]:
            raise ZeroDivisionError("oops")

        monkeypatch.setattr(reading.Reader, "read", broken)
        feed.changed(Change("live", "", frozenset({root / ".loopx/registry.json"})))
        snapshot = await screen.until(lambda one: one.mode == "down")
        assert "ZeroDivisionError: oops" in snapshot.reason


# Reading, without threads


def read(reader: Reader, goal_id: str | None = None, *goals: str, everything: bool = True) -> Told:
    """What is told after a whole reading."""
    for more in reader.read(goals, everything=everything, goal_id=goal_id):
        assert more in (True, False)
    return reader.told(goal_id)


def test_while_goals_load_the_rest_counts_as_not_covered(root: Path) -> None:
    reader = Reader(root, read_only=True)
    steps = reader.read((), everything=True, goal_id="beta")
    assert next(steps)
    first = reader.told("beta")
    assert not next(steps)
    last = reader.told("beta")
    assert first.view is not None and last.view is not None
    assert [one.goal_id for one in first.view.goals] == ["beta"]
    assert [(one.goal_id, one.reason) for one in first.view.unread] == [("alpha", NOT_LOADED)]
    assert last.view.envelope.coverage.complete


def test_a_long_first_reading_says_how_much_of_it_is_done_and_a_later_one_does_not(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "_LONG_SECONDS", 0.0)
    monkeypatch.setattr(reading, "_PART_SECONDS", 0.0)
    monkeypatch.setattr("loopx_kernel.store.journal.BATCH", 1)
    for title in ("Third", "Fourth"):
        Workspace.open(root).todos.add("alpha", AGENT, AddTodo(title=title))
    parts: list[Told] = []
    reader = Reader(root, read_only=True, meanwhile=lambda: parts.append(reader.told("alpha")))
    whole = read(reader, "alpha")
    views = [part.view for part in parts if part.view is not None]
    first = [one.message for view in views for one in view.unread if one.goal_id == "alpha"]
    shares = [int(one.removeprefix("loading ").removesuffix("%")) for one in first if "%" in one]
    assert shares == sorted(shares) and 0 < shares[0] < shares[-1] < 100
    assert not any(view.envelope.coverage.complete for view in views)
    assert whole.view is not None and whole.view.envelope.coverage.complete
    parts.clear()
    Workspace.open(root).todos.add("alpha", AGENT, AddTodo(title="Fifth"))
    read(reader, "alpha")
    assert parts == []


def test_the_goal_opened_first_is_read_and_shown_first(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    order: list[str] = []
    real = Workspace.view

    def noted(self: Workspace, goal_id: str) -> object:
        order.append(goal_id)
        return real(self, goal_id)

    monkeypatch.setattr(Workspace, "view", noted)
    workspace = Workspace.open(root)
    told = read(Reader(root, read_only=True))
    assert order == list(workspace.goal_ids)
    assert told.goal_id == "alpha"


def test_only_the_goals_that_changed_are_read_again(root: Path) -> None:
    reader = Reader(root, read_only=True)
    before = read(reader)
    after = read(reader, None, "alpha", everything=False)
    assert before.view is not None and after.view is not None
    assert after.view.goals[0] is not before.view.goals[0]
    assert after.view.goals[1] is before.view.goals[1]


def test_the_time_of_the_last_difference_stands_while_nothing_differs(root: Path) -> None:
    clock = ManualClock(datetime.now(UTC))
    reader = Reader(root, read_only=True, clock=clock)
    first = read(reader)
    clock.advance(minutes=5)
    same = read(reader)
    assert same.observed == first.observed
    Workspace.open(root).todos.add("alpha", AGENT, AddTodo(title="Third"))
    other = read(reader)
    assert other.observed == clock.now


def test_a_lease_runs_out_on_the_screen_at_its_second_without_any_file(root: Path) -> None:
    clock = ManualClock(datetime.now(UTC))
    workspace = Workspace.open(root, clock=clock)
    workspace.todos.claim("alpha", AGENT, ClaimTodo(todo_id="T1", ttl_seconds=900))
    reader = Reader(root, read_only=True, clock=clock)
    read(reader)
    wait = reader.seconds_to_deadline()
    assert wait is not None and wait <= 15 * 60 + 1
    clock.advance(minutes=15, seconds=1)
    assert reader.seconds_to_deadline() == 0.0
    told = read(reader, everything=False)
    assert told.view is not None
    assert told.view.goals[0].todos[0].display_status == "expired"


async def test_a_lease_that_runs_out_is_told_though_nothing_changes_on_disk(root: Path) -> None:
    def lease(snapshot: Snapshot) -> str:
        return snapshot.told.view.goals[0].leases[0].status if snapshot.told.view else ""

    claim = ClaimTodo(todo_id="T1", ttl_seconds=10)
    Workspace.open(root).todos.claim("alpha", AGENT, claim)
    async with feeding(root) as (_, screen):
        await screen.until(lambda one: lease(one) == "active")
        await screen.until(lambda one: lease(one) == "expired")


def test_a_source_goes_stale_by_the_clock(root: Path) -> None:
    clock = ManualClock(datetime.now(UTC))
    workspace = Workspace.open(root, clock=clock)
    rule = SourceRule(id="github", provider="github", window_seconds=60)
    workspace.sources.add("alpha", AddSource(rule=rule))
    workspace.sources.bind("alpha", BindSource(source_id="github"))
    workspace.sources.read(
        "alpha", ReadSource(source_id="github", status="read", items=1, unreadable=0)
    )
    reader = Reader(root, read_only=True, clock=clock)
    told = read(reader)
    assert told.view is not None and told.view.goals[0].sources[0].status == "fresh"
    wait = reader.seconds_to_deadline()
    assert wait is not None and wait < 62
    clock.advance(seconds=wait)
    told = read(reader, everything=False)
    assert told.view is not None and told.view.goals[0].sources[0].status == "stale"


def test_reading_changes_nothing_on_disk(root: Path) -> None:
    def picture() -> dict[Path, tuple[int, bytes]]:
        files = [path for path in (root / ".loopx").rglob("*") if path.is_file()]
        return {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in files}

    action = Action(action="publish", command="npm publish")
    workspace = Workspace.open(root)
    workspace.gates.request("alpha", AGENT, RequestGate(action=action, question="Publish?"))
    before = picture()
    read(Reader(root, read_only=False))
    assert picture() == before


def test_only_events_that_are_new_are_read(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    real = Events.tail

    def noted(self: Events, goal_id: str, count: int) -> tuple[EventRow, ...]:
        asked.append(count)
        return real(self, goal_id, count)

    monkeypatch.setattr(Events, "tail", noted)
    reader = Reader(root, read_only=True)
    before = read(reader).events
    workspace = Workspace.open(root)
    for title in ("Third", "Fourth"):
        workspace.todos.add("alpha", AGENT, AddTodo(title=title))
    after = read(reader, None, "alpha", everything=False).events
    assert asked == [reading.EVENTS_SHOWN, 2]
    assert after == real(workspace.events, "alpha", reading.EVENTS_SHOWN)
    assert all(one is other for one, other in zip(before, after, strict=False))
    assert read(reader, None, "alpha", everything=False).events == after


def test_events_of_a_journal_that_was_put_in_anothers_place_are_read_anew(root: Path) -> None:
    reader = Reader(root, read_only=True)
    journal = root / ".loopx/runtime/alpha/events.jsonl"
    whole = journal.read_bytes()
    workspace = Workspace.open(root)
    workspace.todos.add("alpha", AGENT, AddTodo(title="Once"))
    assert read(reader).events[-1].event.payload["title"] == "Once"
    journal.write_bytes(whole)
    other = Workspace.open(root)
    other.todos.add("alpha", AGENT, AddTodo(title="Instead"))
    other.todos.add("alpha", AGENT, AddTodo(title="After"))
    found = read(reader, None, "alpha", everything=False).events
    assert found == Workspace.open(root).events.tail("alpha", reading.EVENTS_SHOWN)


def test_no_workspace_is_a_sentence(tmp_path: Path) -> None:
    told = read(Reader(tmp_path, read_only=True))
    assert told.view is None
    assert ".loopx" in told.missing
    (tmp_path / ".loopx").write_text("a file")
    told = read(Reader(tmp_path, read_only=True))
    assert told.view is None and told.missing


@given(st.integers(min_value=1, max_value=10**6))
def test_a_deadline_is_never_in_the_past(seconds: int) -> None:
    now = fixtures.NOW + timedelta(seconds=seconds)
    for view in fixtures.goals():
        deadline = next_deadline(view, now)
        assert deadline is None or deadline > now
