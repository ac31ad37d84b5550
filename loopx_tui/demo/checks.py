"""Running tests for real: in the worker's tree, and in the demo's small CI."""

from __future__ import annotations

import subprocess
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path

from loopx_tui.demo import repo
from loopx_tui.demo.jobs import TESTS
from loopx_tui.demo.place import Place

LONGEST_SECONDS = 120
_MODULES = ("-m", "pytest", "--quiet", "-p", "no:cacheprovider")


@dataclass(frozen=True, slots=True)
class Result:
    """A test run: its JUnit report, and the first line that says what went wrong."""

    passed: bool
    report: Path
    problem: str


def run_tests(place: Place, tree: Path, tests: str, name: str) -> Result:
    """Runs pytest on ``tests`` in ``tree``; the report lies in the repo, as evidence must."""
    place.reports.mkdir(parents=True, exist_ok=True)
    report = place.reports / f"{name}.xml"
    report.unlink(missing_ok=True)
    done = subprocess.run(
        (sys.executable, *_MODULES, f"--junitxml={report}", tests),
        cwd=tree,
        # Plugins of the surrounding installation are not part of the small repository.
        env=place.environment()
        | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONDONTWRITEBYTECODE": "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=LONGEST_SECONDS,
        check=False,
    )
    return Result(done.returncode == 0 and report.exists(), report, _problem(done.stdout))


def _problem(output: str) -> str:
    lines = (line[1:].strip() for line in output.splitlines() if line.startswith("E  "))
    return next(lines, "no test ran")[:200]


@dataclass(frozen=True, slots=True)
class Ci:
    """Runs the tests of its goal on a separate checkout of the last commit, some time after it
    was asked.

    A ticket is a file named after the todo, so that any worker of the goal, even one that
    was started again, can take it; taking is a rename, so only one does.
    """

    place: Place
    goal: str

    def enqueue(self, todo_id: str) -> None:
        """Asks for a run for this todo."""
        self._ticket(todo_id).touch()

    def take(self, older_than: float) -> str | None:
        """The todo of a ticket that is at least so many seconds old, now this worker's."""
        for ticket in sorted(self.place.checks.glob(f"{self.goal}.*.queued")):
            try:
                if time.time() - ticket.stat().st_mtime < older_than:
                    continue
                ticket.rename(ticket.with_suffix(".taken"))
            except FileNotFoundError:
                continue
            return ticket.name.split(".")[1]
        return None

    def run(self, todo_id: str) -> Result:
        """The run itself, seconds long. The report of one that failed is put aside."""
        tree = self.place.checks / f"{self.goal}-{todo_id}"
        repo.checkout(self.place, tree)
        try:
            result = run_tests(self.place, tree, TESTS[self.goal], self._name(todo_id))
        finally:
            repo.drop_checkout(self.place, tree)
        if result.passed:
            return result
        red = result.report.with_stem(f"{result.report.stem}-red")
        return replace(result, report=result.report.replace(red))

    def report(self, todo_id: str) -> Path | None:
        """The report of a run that passed."""
        path = self.place.reports / f"{self._name(todo_id)}.xml"
        return path if path.exists() else None

    def _name(self, todo_id: str) -> str:
        return f"{self.goal}-{todo_id}-ci"

    def _ticket(self, todo_id: str) -> Path:
        return self.place.checks / f"{self.goal}.{todo_id}.queued"
