"""A worker of the end-to-end test: a process that knows nothing but the `loopx` command."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

LIMIT_SECONDS = 120
PUBLISH = ("--action", "publish", "--command", "git push origin main")


def loopx(*words: str) -> tuple[int, dict[str, Any]]:
    """Runs the command and gives its exit status and its one JSON object."""
    command = [sys.executable, "-m", "loopx_kernel.cli", *words, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    text = done.stdout if done.returncode in (0, 1, 10, 11, 12, 13) else done.stderr
    return done.returncode, json.loads(text)


def work(repo: Path, agent: str) -> None:
    """Beats until nothing is left to do; a gated todo waits for the owner's word."""
    deadline = time.monotonic() + LIMIT_SECONDS
    while time.monotonic() < deadline:
        status, contract = loopx("turn", "begin", "--agent", agent)
        if status == 13:
            return
        if status != 0:
            continue
        todo = contract["todo"]
        hand_in(repo, agent, todo, contract["turn_id"])
    raise SystemExit(f"{agent} did not finish in {LIMIT_SECONDS} s")


def hand_in(repo: Path, agent: str, todo: dict[str, Any], turn: str) -> None:
    """Does the work of one todo, asking before the one that publishes."""
    name = todo["id"]
    if todo["title"].startswith("Publish"):
        if loopx("gate", "check", *PUBLISH)[0] != 0:
            status, _ = loopx("gate", "request", *PUBLISH, "--blocks", name, "--agent", agent)
            assert status in (0, 3), status
            settle = ["turn", "settle", "--turn", turn, "--agent", agent]
            assert loopx(*settle, "--outcome", "progress", "--slots", "0")[0] == 0
            return
        assert loopx("gate", "use", *PUBLISH, "--agent", agent)[0] == 0
    folder = repo / "out" / name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "report.xml").write_text(
        f'<testsuite tests="1" failures="0" errors="0"><testcase name="{name}"/></testsuite>'
    )
    report = f"out/{name}/report.xml"
    words = ["turn", "settle", "--turn", turn, "--outcome", "done", "--evidence", report]
    status, answer = loopx(*words, "--tests", "passed", "--agent", agent)
    assert status == 0, answer


if __name__ == "__main__":
    work(Path(sys.argv[1]), sys.argv[2])
