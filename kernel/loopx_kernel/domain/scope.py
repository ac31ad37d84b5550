"""Write scopes: which are legal, what they cover, and when two may overlap.

Overlap is sound: it may say yes too often, never too seldom. A glob counts as
its literal directory prefix and everything below.
"""

from __future__ import annotations

import posixpath
import re
import unicodedata
from fnmatch import fnmatchcase

from loopx_kernel.errors import UsageError

_GLOB = re.compile(r"[*?\[]")
_ANY_FOLDERS = re.compile(r"(?<![^/])\*\*/")


def check_scope(text: str) -> str:
    """A relative path, ``dir/`` or glob inside the repo; ``invalid_scope`` otherwise."""
    parts = text.split("/")
    if (
        not text.strip()
        or text != text.strip()
        or text.startswith("/")
        or "\\" in text
        or ".." in parts
        or any(ord(char) < 32 or ord(char) == 127 for char in text)
    ):
        raise UsageError(
            "invalid_scope",
            f"{text!r} is not a path or glob inside the repo",
            next="write it relative to the repo, for example src/theme/** or docs/plan.md",
            scope=text,
        )
    return text


def check_path(text: str) -> str:
    """One concrete file or ``dir/`` inside the repo; ``invalid_scope`` otherwise."""
    check_scope(text)
    if "*" in text or "?" in text:
        raise UsageError(
            "invalid_scope",
            f"{text!r} is a glob; an action names the very paths it touches",
            next="name each path, or a folder with a slash at its end",
            scope=text,
        )
    return text


def covers(pattern: str, path: str) -> bool:
    """Whether a scope covers one path; both relative to the repo."""
    path = posixpath.normpath(path)
    if path.startswith(("../", "/")) or path == "..":
        return False
    folder = pattern.endswith("/")
    pattern = posixpath.normpath(pattern)
    if folder:
        return pattern == "." or path.startswith(pattern + "/")
    if pattern in ("**", "."):
        return True
    if pattern.endswith("/**"):
        head = pattern[:-3]
        return _matches(head, path) or _matches(head + "/*", path)
    return _matches(pattern, path)


def within(scope: str, path: str) -> bool:
    """Whether ``path`` lies in a scope for sure, for what needs no leave there.

    Narrower than ``covers``: only ``**`` reaches into folders below.
    """
    if not covers(scope, path):
        return False
    names = [name for name in posixpath.normpath(scope).split("/") if name != "."]
    return (
        "**" in names
        or not _GLOB.search(scope)
        or len(names) == len(posixpath.normpath(path).split("/"))
    )


def touches(pattern: str, path: str) -> bool:
    """Whether an action on ``path`` may touch what a rule's pattern covers.

    Errs on the side of asking: letter case is ignored, and a folder counts with
    all that is below it, in the pattern too, where only the disk knows what is one.
    """
    # A `?` stands for a whole letter, however many code points a file system makes of it.
    whole = (unicodedata.normalize("NFC", text.casefold()) for text in (pattern, path))
    pattern, path = _folded(pattern), _folded(path)
    if covers(*whole) or covers(pattern, path):
        return True
    here, there = _literal("", path), _literal("", pattern)
    folder = path.endswith("/") or not _GLOB.search(pattern)
    return _below(there, here) or (folder and _below(here, there))


def overlap(
    repo_a: str, scopes_a: tuple[str, ...], repo_b: str, scopes_b: tuple[str, ...]
) -> tuple[str, str] | None:
    """The first pair of scopes that may touch the same file, or ``None``.

    Repos are real absolute paths, or both relative to the same folder. Compared
    case folded, so that a file system that ignores case cannot hide a clash.
    """
    for one in scopes_a:
        for two in scopes_b:
            a, b = _literal(repo_a, one), _literal(repo_b, two)
            if _below(a, b) or _below(b, a):
                return one, two
    return None


def _matches(pattern: str, path: str) -> bool:
    """As ``fnmatch``, where ``**/`` may also stand for no folder at all."""
    if not _GLOB.search(pattern):
        return pattern == path
    if fnmatchcase(path, pattern):
        return True
    return any(
        _matches(pattern[: mark.start()] + pattern[mark.end() :], path)
        for mark in _ANY_FOLDERS.finditer(pattern)
    )


def _below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def split_glob(scope: str) -> tuple[str, str]:
    """The folders of a scope before its first glob, and the rest; the whole where it has none."""
    glob = _GLOB.search(scope)
    if glob is None:
        return scope, ""
    folder = scope[: glob.start()].rpartition("/")[0]
    return folder, scope[len(folder) :].lstrip("/")


def _literal(repo: str, scope: str) -> str:
    scope, _ = split_glob(scope)
    return _folded(posixpath.normpath(posixpath.join("/", repo, scope)))


def _folded(text: str) -> str:
    """One form for all spellings that some file system takes for the same name."""
    return unicodedata.normalize("NFD", unicodedata.normalize("NFD", text).casefold())
