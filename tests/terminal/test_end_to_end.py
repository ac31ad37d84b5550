"""Two agents and an owner as real processes on one workspace; then the journal is replayed."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from loopx_kernel.store.layout import Layout
from loopx_kernel.workspace import Workspace

from tests.patience import PATIENCE
from tests.terminal.worker import loopx

TODOS = ("Research styles", "Plan the variables", "Convert components", "Add theme tests")


def until(found: Callable[[], bool], seconds: float = PATIENCE) -> None:
    deadline = time.monotonic() + seconds
    while not found():
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.05)


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "mall-frontend"
    root.mkdir()
    key = tmp_path / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
    monkeypatch.chdir(root)
    monkeypatch.setenv("LOOPX_KEY", str(key))
    assert loopx("connect", "--owner", "huang", "--key", str(key), "--allow-unattended")[0] == 0
    opened = loopx(
        *("start-goal", "--id", "dark-mode", "--objective", "Add dark mode"),
        *("--gate", "publish:git push*"),
    )
    assert opened[0] == 0, opened[1]
    for agent in ("claude-code", "codex"):
        assert loopx("agent", "add", agent)[0] == 0
    for number, title in enumerate(TODOS):
        scope = f"src/{number}/**"
        words = ("todo", "add", title, "--write-scope", scope, "--agent", "codex")
        assert loopx(*words)[0] == 0
    publish = ("todo", "add", "Publish the package", "--depends-on", "T4", "--agent", "codex")
    assert loopx(*publish)[0] == 0
    return root


@pytest.mark.terminal
def test_two_agents_and_an_owner_end_with_a_journal_that_replays(repo: Path) -> None:
    workers = [
        subprocess.Popen([sys.executable, "-m", "tests.terminal.worker", str(repo), agent],
                         cwd=repo, env=_environment())
        for agent in ("claude-code", "codex")
    ]  # fmt: skip
    ws = Workspace.open(repo)
    until(lambda: any(g.status == "pending" for g in ws.state("dark-mode").gates.values()))
    status, answer = loopx("gate", "approve", "G1", "--reason", "looks right")
    assert status == 0, answer
    assert [worker.wait(PATIENCE) for worker in workers] == [0, 0]

    lived = ws.state("dark-mode")
    assert {todo.status for todo in lived.todos.values()} == {"done"}
    assert lived.gates["G1"].status == "used"
    assert not lived.alerts
    assert sum(spend.slots for spend in lived.spends.values()) == len(TODOS) + 1

    verification = ws.events.verify("dark-mode")
    assert (verification.ok, verification.head) == (True, lived.head)
    assert Workspace.open(repo).state("dark-mode") == lived
    _files_say_what_the_journal_says(repo, ws)


def _files_say_what_the_journal_says(repo: Path, ws: Workspace) -> None:
    layout = Layout(repo)
    reads = ws.view("dark-mode").reads
    assert (reads.damage, reads.drift, reads.missing_files, reads.behind_files) == ((), (), (), ())
    spent = [json.loads(line) for line in layout.spend("dark-mode").read_text().splitlines()]
    assert {line["effect_ref"] for line in spent} == set(ws.state("dark-mode").spends)
    page = layout.state_file("dark-mode").read_text()
    assert page.count("- [x]") == len(TODOS) + 1


def _environment() -> dict[str, str]:
    import os

    return os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
