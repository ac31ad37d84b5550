"""Checkpoints: whole and fitting, or as good as missing."""

from __future__ import annotations

import errno
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from loopx_kernel.store.checkpoint import Checkpoint, cache_folder, load, save
from loopx_kernel.store.files import Files
from loopx_kernel.store.line import Position

from tests.kernel.store.faults import FailingFiles, names_in

CHECKPOINT = Checkpoint("code-1", 142, 9000, "a" * 64, "b" * 64, '{"todos":{"T1":"漢"}}')


def test_what_is_saved_is_loaded_and_private(tmp_path: Path) -> None:
    path = tmp_path / "w" / "g" / "checkpoint.json"
    assert load(path, "code-1", files=Files()) is None
    assert save(path, CHECKPOINT, files=Files())
    assert load(path, "code-1", files=Files()) == CHECKPOINT
    assert CHECKPOINT.position == Position(9000, 142, "a" * 64)
    assert path.parent.stat().st_mode & 0o777 == 0o700


def test_another_folding_code_starts_anew(tmp_path: Path) -> None:
    path = tmp_path / "checkpoint.json"
    save(path, CHECKPOINT, files=Files())
    assert load(path, "code-2", files=Files()) is None


@pytest.mark.parametrize(
    "content",
    [b"", b"\0" * 900, b"{", b"[]", b"null", b'{"digest":1}', b"\xff", b"[" * 100_000],
)
def test_senseless_content_is_as_good_as_missing(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "checkpoint.json"
    path.write_bytes(content)
    assert load(path, "code-1", files=Files()) is None


@pytest.mark.parametrize("key", ["seq", "offset", "head", "owners_head", "state", "digest", "new"])
def test_a_changed_value_is_seen(tmp_path: Path, key: str) -> None:
    path = tmp_path / "checkpoint.json"
    save(path, CHECKPOINT, files=Files())
    record: dict[str, Any] = json.loads(path.read_bytes())
    path.write_text(json.dumps({**record, key: 7}))
    assert load(path, "code-1", files=Files()) is None


def test_a_value_of_another_type_is_not_taken_even_with_a_fitting_digest(tmp_path: Path) -> None:
    path = tmp_path / "checkpoint.json"
    wrong: Any = "142"
    save(path, replace(CHECKPOINT, seq=wrong), files=Files())
    assert load(path, "code-1", files=Files()) is None


@pytest.mark.parametrize("at", range(3))
def test_a_full_disk_costs_only_the_checkpoint(tmp_path: Path, at: int) -> None:
    path = tmp_path / "checkpoint.json"
    save(path, CHECKPOINT, files=Files())
    later = replace(CHECKPOINT, seq=200)
    assert not save(path, later, files=FailingFiles(at, errno.ENOSPC))
    assert load(path, "code-1", files=Files()) == CHECKPOINT
    assert names_in(tmp_path) == ["checkpoint.json"]


def test_a_cache_that_is_no_folder_costs_nothing(tmp_path: Path) -> None:
    (tmp_path / "w").write_bytes(b"")
    assert not save(tmp_path / "w" / "g" / "checkpoint.json", CHECKPOINT, files=Files())
    assert load(tmp_path / "w" / "g" / "checkpoint.json", "code-1", files=Files()) is None


def test_the_cache_folder_is_the_readers_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOOPX_CACHE_DIR", str(tmp_path))
    assert cache_folder("w1", "dark-mode") == tmp_path / "w1" / "dark-mode"
    assert cache_folder("../w", "g").parent.parent == tmp_path
    assert cache_folder("w", "..").parent.parent == tmp_path
    monkeypatch.delenv("LOOPX_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_folder("w", "g").parts[-3:] == ("loopx", "w", "g")
