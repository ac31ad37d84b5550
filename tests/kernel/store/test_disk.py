"""Whole files: atomic writes, refusals, and what a failing system call leaves behind."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from loopx_kernel.errors import Storage
from loopx_kernel.store import disk
from loopx_kernel.store.files import Files

from tests.kernel.store.faults import FailingFiles, names_in
from tests.patience import PATIENCE

REAL = Files()


def test_atomic_write_replaces_whole_content_and_keeps_the_mode(tmp_path: Path) -> None:
    path = tmp_path / "registry.json"
    disk.atomic_write(path, b"one", files=REAL)
    path.chmod(0o600)
    disk.atomic_write(path, b"two", files=REAL)
    assert path.read_bytes() == b"two"
    assert path.stat().st_mode & 0o777 == 0o600
    assert names_in(tmp_path) == ["registry.json"]


def test_atomic_write_flushes_the_file_before_its_name_and_then_the_folder(tmp_path: Path) -> None:
    files = FailingFiles()
    disk.atomic_write(tmp_path / "f", b"x", files=files)
    assert files.calls == ["open_new", "write", "fsync", "replace", "fsync_dir"]


def test_a_short_write_is_gone_on_with(tmp_path: Path) -> None:
    path = tmp_path / "f"
    disk.atomic_write(path, b"new content", files=FailingFiles(1, code=0))
    assert path.read_bytes() == b"new content"


@pytest.mark.parametrize("code", [errno.EIO, errno.ENOSPC, errno.EDQUOT, errno.EACCES])
@pytest.mark.parametrize("at", range(5))
def test_a_failing_call_leaves_old_or_new_and_no_temporary(
    tmp_path: Path, at: int, code: int
) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"old")
    files = FailingFiles(at, code)
    with pytest.raises(Storage) as caught:
        disk.atomic_write(path, b"new content", files=files)
    assert path.read_bytes() == (b"new content" if files.calls[at] == "fsync_dir" else b"old")
    assert names_in(tmp_path) == ["f"]
    assert caught.value.facts["path"] == str(path)
    assert caught.value.next


@pytest.mark.parametrize(
    ("number", "code"),
    [
        (errno.ENOSPC, "no_space"),
        (errno.EDQUOT, "no_space"),
        (errno.EFBIG, "no_space"),
        (errno.EROFS, "read_only"),
        (errno.EACCES, "permission"),
        (errno.EPERM, "permission"),
        (errno.ELOOP, "not_regular"),
        (errno.EIO, "io_error"),
        (errno.EMFILE, "io_error"),
    ],
)
def test_every_errno_has_its_code(number: int, code: str) -> None:
    error = disk.storage_error(OSError(number, os.strerror(number)), Path("/w/f"))
    assert error.code == code
    assert "/w/f" in error.message
    assert error.next


def test_a_link_at_the_target_is_refused_and_not_followed(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_bytes(b"keep")
    link = tmp_path / "registry.json"
    link.symlink_to(precious)
    with pytest.raises(Storage) as writing:
        disk.atomic_write(link, b"x", files=REAL)
    with pytest.raises(Storage) as reading:
        disk.read_regular(link, 10, files=REAL)
    assert writing.value.code == reading.value.code == "not_regular"
    assert precious.read_bytes() == b"keep"
    assert link.is_symlink()


def test_reading_refuses_pipes_and_folders_without_blocking(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path in (pipe, tmp_path):
        with pytest.raises(Storage) as caught:
            disk.read_regular(path, 10, files=REAL)
        assert caught.value.code == "not_regular"


def test_reading_tells_missing_from_empty_and_holds_the_limit(tmp_path: Path) -> None:
    path = tmp_path / "f"
    assert disk.read_regular(path, 4, files=REAL) is None
    path.write_bytes(b"")
    assert disk.read_regular(path, 4, files=REAL) == b""
    path.write_bytes(b"1234")
    assert disk.read_regular(path, 4, files=REAL) == b"1234"
    path.write_bytes(b"12345")
    with pytest.raises(Storage) as caught:
        disk.read_regular(path, 4, files=REAL)
    assert caught.value.code == "too_large"


def test_leftover_temporaries_of_a_dead_process_are_stepped_over(tmp_path: Path) -> None:
    leftover = tmp_path / f".f.{os.getpid()}-0.tmp"
    leftover.write_bytes(b"half")
    disk.atomic_write(tmp_path / "f", b"whole", files=REAL)
    assert (tmp_path / "f").read_bytes() == b"whole"
    assert leftover.read_bytes() == b"half"


def test_make_folder_names_what_stands_in_the_way(tmp_path: Path) -> None:
    (tmp_path / ".loopx").write_bytes(b"")
    with pytest.raises(Storage) as caught:
        disk.make_folder(tmp_path / ".loopx" / "goals", files=REAL)
    assert caught.value.code == "not_regular"
    assert str(tmp_path / ".loopx") in caught.value.message


MOUNTS = """\
21 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw
22 21 0:40 / /home rw - nfs4 server:/home rw
23 22 8:2 / /home/local rw shared:1 - xfs /dev/sdb rw
24 21 0:41 / /mnt/my\\040share rw - cifs //srv/x rw
25 21 0:42 / /over rw - ext4 /dev/sdc rw
26 25 0:43 / /over rw - nfs srv:/over rw
"""


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/srv/x", "ext4"),
        ("/home/me/x", "nfs4"),
        ("/home/local/x", "xfs"),
        ("/homestead", "ext4"),
        ("/mnt/my share/w", "cifs"),
        ("/over/w", "nfs"),
    ],
)
def test_the_file_system_is_that_of_the_nearest_mount(path: str, kind: str) -> None:
    assert disk.filesystem_type(Path(path), MOUNTS) == kind


def test_a_network_file_system_is_refused_for_writing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk.refuse_network_filesystem(tmp_path)
    monkeypatch.setattr(disk, "filesystem_type", lambda *_: "nfs4")
    with pytest.raises(Storage) as caught:
        disk.refuse_network_filesystem(tmp_path)
    assert caught.value.code == "unsupported_filesystem"
    assert "nfs4" in caught.value.message


KILLED_WRITER = """
import sys
from pathlib import Path
from loopx_kernel.store.disk import atomic_write
from loopx_kernel.store.files import Files
path = Path(sys.argv[1])
number = 0
print("ready", flush=True)
while True:
    number += 1
    atomic_write(path, (b"%d\\n" % (number % 10)) * 20000, files=Files())
"""


def test_a_killed_writer_leaves_one_whole_content(tmp_path: Path) -> None:
    path = tmp_path / "f"
    for _ in range(5):
        child = subprocess.Popen(
            [sys.executable, "-c", KILLED_WRITER, str(path)], stdout=subprocess.PIPE
        )
        assert child.stdout is not None
        assert child.stdout.readline() == b"ready\n"
        deadline = time.monotonic() + 10
        while not path.exists() and time.monotonic() < deadline:
            pass
        child.send_signal(signal.SIGKILL)
        child.wait(PATIENCE)
        child.stdout.close()
        content = path.read_bytes()
        assert content == content[:2] * 20000
