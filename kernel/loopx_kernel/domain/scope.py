"""Write scopes: which are legal, what they cover, and when two may overlap.

Overlap is sound: it may say yes too often, never too seldom. A glob counts as
its literal directory prefix and everything below.
"""

from __future__ import annotations

import posixpath
import re
from fnmatch import fnmatchcase

from loopx_kernel.errors import UsageError

_GLOB = re.compile(r"[*?\[]")


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


def covers(pattern: str, path: str) -> bool:
    """Whether a scope covers one path; both relative to the repo."""
    path = posixpath.normpath(path)
    if path.startswith(("../", "/")) or path == "..":
        return False
    if pattern.endswith("/"):
        return path.startswith(posixpath.normpath(pattern) + "/")
    if pattern in ("**", "."):
        return True
    if pattern.endswith("/**"):
        head = pattern[:-3]
        return path == head or _starts_below(head, path)
    if _GLOB.search(pattern):
        return fnmatchcase(path, pattern)
    return posixpath.normpath(pattern) == path


def overlap(
    repo_a: str, scopes_a: tuple[str, ...], repo_b: str, scopes_b: tuple[str, ...]
) -> tuple[str, str] | None:
    """The first pair of scopes that may touch the same file, or ``None``.

    Repos are real absolute paths. Compared case folded, so that a file system
    that ignores case cannot hide a clash.
    """
    for one in scopes_a:
        for two in scopes_b:
            a, b = _literal(repo_a, one), _literal(repo_b, two)
            if a == b or a.startswith(b.rstrip("/") + "/") or b.startswith(a.rstrip("/") + "/"):
                return one, two
    return None


def _starts_below(head: str, path: str) -> bool:
    if not _GLOB.search(head):
        return path.startswith(head + "/")
    return fnmatchcase(path, head + "/*")


def _literal(repo: str, scope: str) -> str:
    glob = _GLOB.search(scope)
    if glob:
        scope = scope[: glob.start()].rpartition("/")[0]
    return posixpath.normpath(posixpath.join(repo, scope)).casefold()
