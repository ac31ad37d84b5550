"""The command as a process of its own, on a machine whose clock says another day."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.patience import PATIENCE

LOOPX = (sys.executable, "-P", "-m", "loopx_kernel.cli")
pytestmark = pytest.mark.skipif(shutil.which("faketime") is None, reason="faketime is missing")


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace with one goal, a source read today, and a todo that an agent holds."""
    monkeypatch.chdir(tmp_path)
    words = ("connect", "--owner", "li", "--new-key", "--no-passphrase", "--allow-unattended")
    on(0, *words)
    on(0, "start-goal", "--id", "shop", "--objective", "Sell more in the shop")
    on(0, "agent", "add", "claude-code")
    on(0, "todo", "add", "Convert the buttons", "--agent", "claude-code")
    on(0, "todo", "claim", "T1", "--expect-version", "0", "--agent", "claude-code")
    on(0, "source", "add", "tickets", "--provider", "jira", "--required", "--window", "3d")
    on(0, "source", "bind", "tickets")
    on(0, "source", "read", "tickets", "--status", "read", "--items", "12", "--unreadable", "0")
    return tmp_path


def on(days: int, *words: str) -> str:
    """What the command prints on the day that many days from now."""
    fake = ("faketime", "-f", f"{days:+}d") if days else ()
    environ = {**os.environ, "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
    result = subprocess.run(
        [*fake, *LOOPX, *words],
        env=environ,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
    assert "Traceback" not in result.stderr
    assert result.returncode == 0, result.stderr
    return result.stdout


def envelope(days: int) -> Any:
    return json.loads(on(days, "status", "--json"))["projection_envelope"]


def reasons(found: Any) -> dict[str, list[str]]:
    return {one["code"]: one["ids"] for one in found["alert_reasons"]}


def test_a_source_is_stale_once_its_window_is_over(root: Path) -> None:
    assert envelope(0)["alert"] is False
    assert envelope(2)["fresh"] is True
    found = envelope(9)
    assert found["fresh"] is False
    assert reasons(found)["stale_sources"] == ["tickets"]
    assert "stale_sources=tickets" in on(9, "status").splitlines()[1]
    assert envelope(0)["fresh"] is True


def test_a_machine_whose_clock_went_back_is_named_and_nothing_lapses(root: Path) -> None:
    on(9, "todo", "add", "Test the buttons", "--agent", "claude-code")
    assert reasons(envelope(0))["integrity"] == ["clock"]
    assert "T1" in on(0, "lease", "list")
