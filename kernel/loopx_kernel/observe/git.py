"""Asking git what is in a folder, without letting the repository's own settings run anything."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from loopx_kernel.observe.run import run_command
from loopx_kernel.value import Value

SECONDS = 30
"""How long one question to git may take; a link or pipe in its way would keep it for ever."""
LIMIT = 64 * 1024 * 1024
"""Bytes of one answer; about half a million files."""

_SETTINGS = {
    "core.fsmonitor": "false",
    "core.hooksPath": "/dev/null",
    "core.untrackedCache": "false",
    "core.attributesFile": "/dev/null",
    # A file put back to its old size and time is looked into all the same.
    "core.checkStat": "default",
    "core.trustctime": "true",
    # Objects that are missing are not fetched: that would start a program of the repository.
    "protocol.allow": "never",
}
_ENVIRONMENT = ("GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1", "GIT_TERMINAL_PROMPT=0")
_FILTER = re.compile(rb"filter\.(.+)\.[a-z]+", re.S)
_OWN_SCOPES = (b"local", b"worktree")
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


class Listing(Value):
    """What git knows of a folder; paths are bytes, relative to it.

    ``index`` are its tracked files with mode and blob id, as in ``git ls-files --stage``.
    ``look`` are those whose content on disk may be another, and files that are neither tracked
    nor ignored. ``nested`` are repositories inside; ``excluded`` is what is ignored without
    standing in a tracked file.
    """

    commit: str | None
    index: dict[bytes, bytes]
    look: frozenset[bytes]
    nested: frozenset[bytes]
    excluded: bytes


class Git(Value):
    """The repository a folder lies in, with what was found at its top."""

    folder: Path
    top: Path
    settings: tuple[tuple[str, str], ...]

    def ask(self, *question: str) -> bytes | None:
        """Git's answer, or None where it refused, took too long or said too much."""
        return _ask(self.folder, self.top, self.settings, question)


def find(folder: Path) -> Git | None:
    """The repository of a folder, or None where there is none that git can read."""
    real = Path(os.path.realpath(folder))
    top = next((one for one in (real, *real.parents) if _holds_git(one)), None)
    if top is None:
        return None
    settings = tuple(_SETTINGS.items())
    told = _ask(real, top, settings, ("config", "-z", "--list", "--show-scope"))
    return None if told is None else Git(real, top, settings + _overruled(told))


def listing(git: Git) -> Listing | None:
    """What git knows of the folder now, or None where it cannot tell."""
    exclude = git.ask("rev-parse", "--git-path", "info/exclude")
    tracked = exclude and git.ask("ls-files", "-z", "-s", "-v")
    if exclude is None or tracked is None:
        return None
    others = git.ask("ls-files", "-z", "-m", "-o", "--exclude-standard")
    if others is None:
        return None
    head = git.ask("rev-parse", "--verify", "-q", "HEAD^{commit}")
    index: dict[bytes, bytes] = {}
    look, nested = set(), set()
    for row in _records(tracked):
        about, _, path = row.partition(b"\t")
        tag, mode, blob, stage = about.split(b" ")
        index[path] = mode + b" " + blob
        if mode == b"160000":
            nested.add(path)
        elif tag != b"H" or stage != b"0":
            # Somebody asked git not to look, or the file is in conflict.
            look.add(path)
    for path in _records(others):
        (nested if path.endswith(b"/") else look).add(path.rstrip(b"/"))
    commit = head.decode().strip() if head else None
    place = Path(os.fsdecode(exclude.rstrip(b"\n")))
    return Listing(
        commit, index, frozenset(look - nested), frozenset(nested), _bytes_of(git.folder / place)
    )


def tree_of(git: Git, commit: str) -> dict[bytes, bytes] | None:
    """The files below the folder in a commit, with mode and blob id; None for an unknown one."""
    if not _COMMIT.fullmatch(commit):
        return None
    told = git.ask("ls-tree", "-r", "-z", commit)
    if told is None:
        return None
    files: dict[bytes, bytes] = {}
    for row in _records(told):
        about, _, path = row.partition(b"\t")
        mode, _, blob = about.split(b" ")
        files[path] = mode + b" " + blob
    return files


def _ask(
    folder: Path, top: Path, settings: Sequence[tuple[str, str]], question: Sequence[str]
) -> bytes | None:
    given = [f"GIT_CONFIG_COUNT={len(settings)}", *_ENVIRONMENT]
    for number, (key, value) in enumerate(settings):
        given += [f"GIT_CONFIG_KEY_{number}={key}", f"GIT_CONFIG_VALUE_{number}={value}"]
    # Only the answer is wanted, not the complaints beside it.
    quiet = ("sh", "-c", 'exec "$@" 2>/dev/null', "sh")
    where = (f"--git-dir={top / '.git'}", f"--work-tree={top}")
    argv = ("env", *given, *quiet, "git", *where, *question)
    run = run_command(argv, folder, seconds=SECONDS, limit=LIMIT)
    return run.output if run.status == 0 and len(run.output) < LIMIT else None


def _overruled(told: bytes) -> tuple[tuple[str, str], ...]:
    """What the settings of this repository make necessary: no filter runs, and it does not
    name a file of its own of what is to be ignored."""
    settings: dict[str, str] = {}
    fields = told.split(b"\0")
    for scope, row in zip(fields[::2], fields[1::2], strict=False):
        key = row.partition(b"\n")[0]
        if match := _FILTER.fullmatch(key):
            name = os.fsdecode(match[1])
            settings |= {f"filter.{name}.{verb}": "" for verb in ("clean", "smudge", "process")}
            settings[f"filter.{name}.required"] = "false"
        if key == b"core.excludesfile" and scope in _OWN_SCOPES:
            settings["core.excludesFile"] = "/dev/null"
    return tuple(settings.items())


def _holds_git(folder: Path) -> bool:
    return os.path.exists(folder / ".git")  # noqa: PTH110  # asked without raising


def _records(told: bytes) -> list[bytes]:
    return told.split(b"\0")[:-1]


def _bytes_of(path: Path) -> bytes:
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        return os.read(handle, LIMIT)
    except OSError:
        return b""
    finally:
        os.close(handle)
