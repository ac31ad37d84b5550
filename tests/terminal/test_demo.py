"""The demo: its scripted jobs, its workers as real processes, and that nothing is left."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pexpect
import pyte
import pytest
from hypothesis import given
from hypothesis import strategies as st
from loopx_kernel.domain.scope import check_scope
from loopx_kernel.text import check_line

from loopx_tui.demo import jobs, repo
from loopx_tui.demo.checks import Ci, run_tests
from loopx_tui.demo.command import Loopx
from loopx_tui.demo.place import PREFIX, Place
from tests.patience import PATIENCE

DEMO = "import sys; from loopx_tui.demo import run; sys.exit(run(sys.argv[1:]))"
SPEED = "10"


def until(holds: Callable[[], bool], seconds: float) -> bool:
    """Whether the condition came true in time."""
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


# -- the script ---------------------------------------------------------------------------------


@pytest.mark.parametrize("goal", jobs.GOALS)
def test_no_two_jobs_of_a_goal_share_a_title(goal: str) -> None:
    assert len({jobs.job(goal, number).title for number in range(200)}) == 200
    assert len({jobs.job(goal, number, asks=False).title for number in range(200)}) == 200


@given(st.sampled_from(jobs.GOALS), st.integers(0, 150), st.booleans())
def test_a_worker_finds_the_job_by_the_title_of_its_todo(
    goal: str, number: int, asks: bool
) -> None:
    job = jobs.job(goal, number, asks=asks)
    assert jobs.find(goal, job.title, number + 1) == job
    assert jobs.find(goal, job.title + "!", number + 1) is None


@given(st.sampled_from(jobs.GOALS), st.integers(0, 500))
def test_what_a_job_says_is_legal_in_a_ledger(goal: str, number: int) -> None:
    job = jobs.job(goal, number)
    check_line(job.title, "title")
    assert all(check_scope(path) for path in job.scope)
    if job.action is not None:
        check_line(job.action.question, "question")
        assert bool(job.action.command) != bool(job.action.path)


@pytest.mark.parametrize("goal", jobs.GOALS)
def test_no_two_jobs_ask_for_the_same_action(goal: str) -> None:
    actions = [job.action for n in range(200) if (job := jobs.job(goal, n)).action is not None]
    assert len({(a.kind, a.command, a.path) for a in actions}) == len(actions) > 0


# -- the small repository -----------------------------------------------------------------------


@pytest.fixture
def place(tmp_path: Path) -> Place:
    place = Place(tmp_path)
    for folder in (tmp_path / "home", place.checks):
        folder.mkdir()
    repo.make(place)
    return place


@pytest.mark.parametrize("goal", jobs.GOALS)
def test_a_draft_fails_its_test_and_the_job_passes_it(place: Place, goal: str) -> None:
    failing = (job for n in itertools.count() if (job := jobs.job(goal, n)).draft is not None)
    for job in itertools.islice(failing, 2):
        repo.write(place.repo, {**job.files, **(job.draft or {})})
        draft = run_tests(place, place.repo, job.test, "draft")
        repo.write(place.repo, dict(job.files))
        final = run_tests(place, place.repo, job.test, "final")
        assert (draft.passed, final.passed) == (False, True), job.title
        assert b"<failure" in draft.report.read_bytes()
        assert "assert" in draft.problem


def test_only_an_approved_push_reaches_the_origin(place: Place) -> None:
    before = repo.branches(place)
    repo.push(place, "git push origin dark-mode-1")
    assert (before, repo.branches(place)) == (1, 2)


def test_the_ci_judges_the_commit_and_not_what_lies_around(place: Place) -> None:
    ci = Ci(place, "dark-mode")
    done, unfinished = "tests/theme/test_done.py", "tests/theme/test_unfinished.py"
    repo.write(place.repo, {done: "def test_it():\n    assert True\n"})
    repo.commit(place, "done", (done,))
    repo.write(place.repo, {unfinished: "def test_it():\n    assert False\n"})
    ci.enqueue("T5")
    assert ci.take(older_than=3600) is None
    assert ci.take(older_than=0) == "T5"
    assert ci.take(older_than=0) is None
    assert ci.run("T5").passed
    green = ci.report("T5")
    assert green is not None
    repo.commit(place, "unfinished", (unfinished,))
    red = ci.run("T5")
    assert not red.passed
    assert (red.report.exists(), ci.report("T5")) == (True, None)
    assert list(place.checks.glob("dark-mode-T5")) == []


# -- the whole of it, as processes --------------------------------------------------------------


@contextmanager
def demo(folder: Path, *options: str) -> Iterator[tuple[subprocess.Popen[str], Place]]:
    """A running demo without a screen, whose temporary folder is made below ``folder``."""
    process = subprocess.Popen(
        (sys.executable, "-c", DEMO, "--headless", "--speed", SPEED, *options),
        env=os.environ | {"TMPDIR": str(folder)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None and process.stderr is not None
        line = process.stdout.readline()
        assert line, process.stderr.read()
        yield process, Place(Path(line.strip()).parent)
    finally:
        process.kill()
        process.communicate()


def events(place: Place, goal: str) -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = Loopx(place, goal=goal).must("event", "list")["events"]
    return listed


def find_event(place: Place, goal: str, kind: str, **payload: Any) -> dict[str, Any] | None:
    """The first event of this kind, by itself or as a part of another, which then has the
    part as its payload."""
    for event in events(place, goal):
        lone = {"type": event["event_type"], **event["payload"]}
        for one in (lone, *event["payload"].get("parts", ())):
            if one["type"] == kind and payload.items() <= one.items():
                return event | {"payload": one}
    return None


def await_event(place: Place, goal: str, kind: str, **payload: Any) -> dict[str, Any]:
    found: list[dict[str, Any]] = []

    def look() -> bool:
        event = find_event(place, goal, kind, **payload)
        found.extend([event] if event else [])
        return bool(found)

    assert until(look, PATIENCE), f"no {kind} {payload} in {goal}"
    return found[0]


def processes_of(folder: Path) -> list[str]:
    listed = subprocess.run(
        ("ps", "-ww", "-eo", "args"), capture_output=True, text=True, check=True
    )
    return [line for line in listed.stdout.splitlines() if f"{folder}/{PREFIX}" in line]


def nothing_left(folder: Path) -> bool:
    return not list(folder.glob(f"{PREFIX}*")) and not processes_of(folder)


@pytest.fixture(scope="class")
def running() -> Iterator[Place]:
    with tempfile.TemporaryDirectory() as folder, demo(Path(folder)) as (_, place):
        yield place


class TestLive:
    """One demo, watched from outside."""

    def test_workers_fail_a_real_test_and_then_pass_it(self, running: Place) -> None:
        failed = await_event(running, "dark-mode", "todo.updated", tests="failed")
        todo = failed["payload"]["todo_id"]
        done = await_event(running, "dark-mode", "todo.completed", todo_id=todo, tests="passed")
        first, last = failed["payload"]["evidence"][0], done["payload"]["evidence"][-1]
        assert (first["result"], last["result"]) == ("failed", "passed")
        assert await_event(running, "dark-mode", "spend.booked")["payload"]["slots"] == 1

    def test_an_approved_gate_is_used_once_and_the_branch_is_pushed(self, running: Place) -> None:
        asked = await_event(running, "dark-mode", "gate.requested")["payload"]
        branch = asked["command"].split()[-1]
        listed = ("git", "ls-remote", "--heads", str(running.origin), branch)
        before = subprocess.run(listed, capture_output=True, text=True, check=True)
        Loopx(running, goal="dark-mode").must("gate", "approve", asked["gate_id"])
        await_event(running, "dark-mode", "gate.used", gate_id=asked["gate_id"])
        await_event(running, "dark-mode", "todo.completed", todo_id=asked["blocks"][0])
        after = subprocess.run(listed, capture_output=True, text=True, check=True)
        assert not before.stdout
        assert after.stdout.strip().endswith(branch)

    def test_after_a_rejection_the_worker_takes_another_way(self, running: Place) -> None:
        asked = await_event(running, "fix-checkout", "gate.requested")["payload"]
        Loopx(running, goal="fix-checkout").must("gate", "reject", asked["gate_id"])
        done = await_event(running, "fix-checkout", "todo.completed", todo_id=asked["blocks"][0])
        assert "as the owner decided" in done["payload"]["note"]
        assert not (running.repo / asked["paths"][0]).exists()

    def test_the_todo_of_a_worker_that_died_is_taken_over(self, running: Place) -> None:
        taken = await_event(running, "dark-mode", "todo.claimed", todo_id="T4", lease_epoch=2)
        first = find_event(running, "dark-mode", "todo.renewed", todo_id="T4", lease_epoch=1)
        assert first is not None
        assert taken["recorded_at"] >= first["payload"]["expires_at"]
        lost = await_event(running, "dark-mode", "turn.recovered", todo_id="T4")
        assert lost["seq"] <= taken["seq"]
        await_event(running, "dark-mode", "todo.completed", todo_id="T4")

    def test_work_waits_for_the_ci_and_goes_on(self, running: Place) -> None:
        waiting = await_event(running, "dark-mode", "todo.waiting")["payload"]["todo_id"]
        red = await_event(running, "dark-mode", "observation.recorded", status="fail")
        thawed, fix = red["payload"]["parts"]
        assert (thawed["todo_id"], fix["lineage_todo_ids"]) == (waiting, [waiting])
        green = await_event(running, "dark-mode", "observation.recorded", status="pass")
        assert green["payload"]["todo_id"] == waiting
        shown = Loopx(running, goal="dark-mode").must("todo", "show", fix["todo_id"])
        assert shown["todo"]["status"] == "done"

    def test_every_line_the_demo_wrote_counts(self, running: Place) -> None:
        for goal in jobs.GOALS:
            assert all(event["effective"] for event in events(running, goal))
            assert Loopx(running, goal=goal).ask("event", "verify").status == 0


SHOWN: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("dark-mode", "objective.patched", {}),
    ("dark-mode", "todo.waiting", {}),
    ("dark-mode", "observation.recorded", {"basis": "read", "status": "fail"}),
    ("dark-mode", "gate.used", {}),
    ("dark-mode", "acceptance.ran", {}),
    ("fix-checkout", "replan.proposed", {}),
    ("fix-checkout", "gate.approved", {}),
    ("fix-checkout", "objective.patched", {}),
    ("fix-checkout", "observation.recorded", {"basis": "ran", "status": "pass"}),
    ("fix-checkout", "acceptance.ran", {}),
    ("docs-refresh", "gate.used", {"basis": "judge"}),
    ("docs-refresh", "escalation.raised", {"cause": "no_progress"}),
    ("docs-refresh", "escalation.answered", {"answer": "replan"}),
    ("docs-refresh", "replan.requested", {}),
    ("docs-refresh", "replan.fulfilled", {}),
    ("docs-refresh", "todo.superseded", {}),
    ("docs-refresh", "observation.recorded", {"basis": "told"}),
    ("docs-refresh", "acceptance.ran", {}),
    ("dark-mode", "turn.recovered", {}),
)
"""What of the kernel the demo shows, and in which goal."""
ITEMS = {
    "dark-mode": {"tests": "cmd"},
    "fix-checkout": {"tests": "junit", "rounds": "json", "steps": "regex"},
    "docs-refresh": {"links": "cmd", "home": "rubric"},
}


@pytest.fixture(scope="class")
def decided() -> Iterator[Place]:
    """A demo whose owner is scripted too."""
    with tempfile.TemporaryDirectory() as folder, demo(Path(folder), "--owner") as (_, place):
        yield place


class TestWithAnOwner:
    """A demo that nobody watches uses all that the kernel has."""

    @pytest.mark.parametrize(("goal", "kind", "payload"), SHOWN)
    def test_it_happens(
        self, decided: Place, goal: str, kind: str, payload: dict[str, Any]
    ) -> None:
        await_event(decided, goal, kind, **payload)

    @pytest.mark.parametrize("goal", jobs.GOALS)
    def test_every_kind_of_acceptance_is_run_and_passes(self, decided: Place, goal: str) -> None:
        """Before the first draft that fails, and after it was put right."""

        def passed() -> bool:
            runs = [e for e in events(decided, goal) if e["event_type"] == "acceptance.ran"]
            seen = [one for run in runs for one in run["payload"]["results"]]
            return {one["item_id"] for one in seen if one["result"] == "passed"} >= set(ITEMS[goal])

        assert until(passed, PATIENCE)
        rules = Loopx(decided, goal=goal).must("goal", "show")["goal"]["rules"]["acceptance"]
        assert {item["id"]: item["kind"] for item in rules} == ITEMS[goal]

    def test_there_are_statements_and_the_ledger_is_whole(self, decided: Place) -> None:
        statements = list(decided.repo.glob(".loopx/runtime/*/statements/*.json"))
        assert statements
        for goal in jobs.GOALS:
            assert all(event["effective"] for event in events(decided, goal))
            assert Loopx(decided, goal=goal).ask("event", "verify").status == 0


def test_the_demo_ends_by_itself_and_leaves_nothing(tmp_path: Path) -> None:
    with demo(tmp_path, "--seconds", "0.1") as (process, place):
        assert place.top.parent == tmp_path
        assert process.wait(PATIENCE) == 0
        assert nothing_left(tmp_path)


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGINT, signal.SIGKILL])
def test_nothing_is_left_however_the_demo_dies(tmp_path: Path, number: signal.Signals) -> None:
    with demo(tmp_path) as (process, _):
        assert until(lambda: len(processes_of(tmp_path)) >= len(jobs.GOALS), PATIENCE)
        process.send_signal(number)
        process.wait(PATIENCE)
        assert until(lambda: nothing_left(tmp_path), PATIENCE), processes_of(tmp_path)


def test_nothing_is_left_when_it_is_killed_while_it_sets_up(tmp_path: Path) -> None:
    process = subprocess.Popen(
        (sys.executable, "-c", DEMO, "--headless"),
        env=os.environ | {"TMPDIR": str(tmp_path)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    assert until(lambda: any(tmp_path.glob(f"{PREFIX}*/mall-frontend/.loopx")), PATIENCE)
    process.kill()
    process.wait()
    assert until(lambda: nothing_left(tmp_path), PATIENCE), processes_of(tmp_path)


def test_workers_stop_when_the_one_that_tends_them_is_killed(tmp_path: Path) -> None:
    with demo(tmp_path) as (process, _):
        stage = [line for line in _children(process.pid) if "loopx_tui.demo.stage" in line]
        os.kill(int(stage[0].split()[0]), signal.SIGKILL)
        assert until(lambda: not processes_of(tmp_path), PATIENCE)
        process.send_signal(signal.SIGINT)
        process.wait(PATIENCE)
        assert nothing_left(tmp_path)


def test_a_failure_of_the_setting_up_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    failed = subprocess.run(
        (sys.executable, "-c", DEMO, "--headless"), capture_output=True, text=True, check=False
    )
    assert failed.returncode == 1
    assert failed.stderr.splitlines()[-1] == (
        "The demo could not be set up: it needs git, which is not installed"
    )
    assert list(tmp_path.glob(f"{PREFIX}*")) == []


@pytest.mark.parametrize("speed", ["0", "-1", "nan", "fast", "1000"])
def test_a_pace_that_cannot_be_is_refused(speed: str) -> None:
    refused = subprocess.run(
        (sys.executable, "-c", DEMO, "--headless", f"--speed={speed}"),
        capture_output=True,
        text=True,
        check=False,
    )
    assert refused.returncode == 2
    assert "a number from 0.1 to 20" in refused.stderr


def test_without_a_terminal_the_screen_says_so_at_once(tmp_path: Path) -> None:
    refused = subprocess.run(
        (sys.executable, "-c", DEMO),
        env=os.environ | {"TMPDIR": str(tmp_path)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert refused.returncode == 2
    assert len(refused.stderr.splitlines()) == 1
    assert not refused.stdout


@pytest.mark.parametrize("ending", ["quit", "close"])
def test_the_screen_shows_the_demo_and_takes_it_along(tmp_path: Path, ending: str) -> None:
    program = pexpect.spawn(
        sys.executable,
        ["-c", DEMO, "--speed", SPEED],
        env=os.environ | {"TMPDIR": str(tmp_path), "TERM": "xterm-256color"},
        dimensions=(36, 120),
    )
    screen = pyte.Screen(120, 36)
    stream = pyte.ByteStream(screen)

    def shows(*words: str) -> bool:
        with suppress(pexpect.TIMEOUT):
            stream.feed(program.read_nonblocking(65536, timeout=0.1))
        text = "\n".join(screen.display)
        return all(word in text for word in words)

    assert until(lambda: shows("demo: making a small repository"), PATIENCE)
    assert until(lambda: shows("demo", "Needs you", "dark-mode", "turn.opened"), PATIENCE), (
        "\n".join(screen.display)
    )
    if ending == "quit":
        program.send("q")
        program.expect(pexpect.EOF)
    program.close()
    assert program.exitstatus == 0 or ending == "close"
    assert until(lambda: nothing_left(tmp_path), PATIENCE), processes_of(tmp_path)


def _children(pid: int) -> list[str]:
    listed = subprocess.run(
        ("ps", "-ww", "-eo", "pid,ppid,args"), capture_output=True, text=True, check=True
    )
    return [line for line in listed.stdout.splitlines() if line.split()[1] == str(pid)]
