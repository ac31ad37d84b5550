"""Kept evidence: named by its digest, written once and whole, never changed."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from loopx_kernel.errors import Damaged, Storage
from loopx_kernel.store.files import Files
from loopx_kernel.store.objects import Objects
from loopx_kernel.store.records import Level

from tests.kernel.store.faults import FailingFiles, names_in

CONTENT = b"<testsuite tests='1'/>"
NAME = hashlib.sha256(CONTENT).hexdigest()


def objects(folder: Path, files: Files | None = None) -> Objects:
    return Objects(folder / "objects", files or Files())


def test_bytes_are_kept_under_their_digest_and_may_only_be_read(tmp_path: Path) -> None:
    kept = objects(tmp_path)
    kept.keep(CONTENT)
    assert kept.path(NAME).read_bytes() == CONTENT
    assert stat.S_IMODE(kept.path(NAME).stat().st_mode) == 0o444
    assert names_in(kept.folder) == [NAME]
    assert kept.level(NAME, len(CONTENT)).level is Level.SAME
    assert kept.audit(NAME).level is Level.SAME


def test_what_is_there_is_not_written_again_but_made_durable(tmp_path: Path) -> None:
    objects(tmp_path).keep(CONTENT)
    before = objects(tmp_path).path(NAME).stat()
    files = FailingFiles()
    objects(tmp_path, files).keep(CONTENT)
    assert files.calls == ["fsync_dir"]
    after = objects(tmp_path).path(NAME).stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


@given(content=st.binary(max_size=200))
@settings(max_examples=50)
def test_whatever_is_kept_proves_itself(
    tmp_path_factory: pytest.TempPathFactory, content: bytes
) -> None:
    kept = objects(tmp_path_factory.mktemp("o"))
    kept.keep(content)
    (name,) = names_in(kept.folder)
    assert name == hashlib.sha256(content).hexdigest()
    assert kept.path(name).read_bytes() == content


@pytest.mark.parametrize("found", [b"", CONTENT[:-1], CONTENT + b"\n", b"x" * len(CONTENT)])
def test_other_bytes_under_that_name_are_damage_and_stay(tmp_path: Path, found: bytes) -> None:
    kept = objects(tmp_path)
    kept.folder.mkdir()
    kept.path(NAME).write_bytes(found)
    verdict = kept.audit(NAME)
    digest = hashlib.sha256(found).hexdigest()
    assert (verdict.level, verdict.found_digest) == (Level.DAMAGED, digest)
    by_size = Level.SAME if len(found) == len(CONTENT) else Level.DAMAGED
    assert kept.level(NAME, len(CONTENT)).level is by_size
    with pytest.raises(Damaged) as caught:
        kept.keep(CONTENT)
    assert (caught.value.facts["expected_digest"], caught.value.facts["found_digest"]) == (
        NAME,
        digest,
    )
    assert kept.path(NAME).read_bytes() == found


def _folder(path: Path) -> None:
    path.mkdir()


def _link(path: Path) -> None:
    path.symlink_to("elsewhere")


@pytest.mark.parametrize("make", [_folder, _link, os.mkfifo])
def test_what_is_no_file_is_not_taken_for_a_copy(tmp_path: Path, make: object) -> None:
    kept = objects(tmp_path)
    kept.folder.mkdir()
    make(kept.path(NAME))  # type: ignore[operator]
    for look in (lambda: kept.level(NAME, 0), lambda: kept.keep(CONTENT)):
        with pytest.raises(Storage) as caught:
            look()
        assert caught.value.code == "not_regular"


def test_what_is_missing_is_missing(tmp_path: Path) -> None:
    kept = objects(tmp_path)
    assert kept.level(NAME, 5).level is kept.audit(NAME).level is Level.MISSING


def test_only_what_has_the_digest_is_read(tmp_path: Path) -> None:
    kept = objects(tmp_path)
    assert kept.read(NAME) == b""
    kept.keep(CONTENT)
    assert kept.read(NAME) == CONTENT
    kept.path(NAME).chmod(0o644)
    kept.path(NAME).write_bytes(b"forged")
    assert kept.read(NAME) == b""


@pytest.mark.parametrize("code", [errno.EIO, errno.ENOSPC, errno.EACCES])
def test_keeping_is_whole_or_not_at_all(tmp_path: Path, code: int) -> None:
    counting = FailingFiles()
    objects(tmp_path / "count", counting).keep(CONTENT)
    assert {"open_new", "write", "fsync", "replace", "fsync_dir"} <= set(counting.calls)
    for at in range(len(counting.calls)):
        folder = tmp_path / str(at)
        with pytest.raises(Storage):
            objects(folder, FailingFiles(at, code)).keep(CONTENT)
        kept = objects(folder)
        assert kept.audit(NAME).level in (Level.MISSING, Level.SAME)
        kept.keep(CONTENT)
        assert names_in(kept.folder) == [NAME]
