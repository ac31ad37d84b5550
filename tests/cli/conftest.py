"""Every test of the command line stands in an empty folder and has no terminal."""

from __future__ import annotations

from pathlib import Path

import pytest
from loopx_kernel.cli import person


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in; the terminal of whoever runs the tests is out of reach."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(person, "TERMINAL", tmp_path / "no" / "terminal")
    return tmp_path
