"""Every fault is tried on a dark-mode goal of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.kernel.workspace.build import Place, copied, dark_mode


@pytest.fixture(scope="session")
def _template(tmp_path_factory: pytest.TempPathFactory) -> Place:
    folder = tmp_path_factory.mktemp("template")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LOOPX_CACHE_DIR", str(folder / "cache"))
        return dark_mode(folder)


@pytest.fixture
def place(_template: Place, tmp_path: Path) -> Place:
    """The dark-mode fixture, a copy for each test."""
    return copied(_template, tmp_path)
