"""The small repository the demo's workers change: a storefront, its tests, its docs."""

from __future__ import annotations

import subprocess
from pathlib import Path
from textwrap import dedent

from loopx_tui.demo import jobs
from loopx_tui.demo.place import DemoError, Place

_AUTHOR = ("-c", "user.name=loopx demo", "-c", "user.email=demo@localhost")
_TRIES = 20
_LONGEST_SECONDS = 30

_FILES = {
    ".gitignore": "build/\n__pycache__/\n",
    "pyproject.toml": '[tool.pytest.ini_options]\npythonpath = ["."]\n'
    'addopts = "--import-mode=importlib"\n',
    "mall/__init__.py": "",
    "mall/theme/__init__.py": "",
    "mall/theme/contrast.py": dedent('''\
        """Contrast as the Web Content Accessibility Guidelines compute it."""

        from dataclasses import dataclass


        def luminance(colour):
            """Relative luminance of "#rrggbb", 0 to 1."""
            parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
            linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
            return sum(w * p for w, p in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


        @dataclass(frozen=True)
        class Pair:
            text: str
            ground: str

            @property
            def contrast(self):
                low, high = sorted((luminance(self.text), luminance(self.ground)))
                return (high + 0.05) / (low + 0.05)
        '''),
    "mall/checkout/__init__.py": "",
    "mall/checkout/totals.py": dedent('''\
        """Totals, rounded as their currency does."""

        import json
        from decimal import ROUND_HALF_UP, Decimal
        from pathlib import Path


        def round_total(total, step):
            """The multiple of ``step`` nearest to ``total``."""
            return (total / step).quantize(Decimal(1), ROUND_HALF_UP) * step


        if __name__ == "__main__":
            shown = {text: int(round_total(Decimal(text), 1)) for text in ("100.4", "100.5")}
            Path("build/rounds.json").write_text(json.dumps(shown))
        '''),
    "tests/test_contrast.py": dedent("""\
        from mall.theme.contrast import Pair


        def test_black_on_white():
            assert round(Pair("#000000", "#ffffff").contrast, 1) == 21.0
        """),
    "docs/index.md": "# Mall storefront\n\nStart with the [themes](themes.md).\n",
    "infra/limits/README.md": "Limits that production reads. Changes need the owner.\n",
}


def make(place: Place) -> None:
    """The repository with its first commit, and the bare one it pushes to."""
    place.repo.mkdir()
    _git(place.repo, place, "init", "--quiet", "--initial-branch=main")
    write(place.repo, _FILES | jobs.first_pages())
    commit(place, "Storefront before the demo", tuple(_FILES) + tuple(jobs.first_pages()))
    _git(place.top, place, "init", "--quiet", "--bare", str(place.origin))
    _git(place.repo, place, "remote", "add", "origin", str(place.origin))
    _git(place.repo, place, "push", "--quiet", "origin", "main")


def write(repo: Path, files: dict[str, str]) -> None:
    """Writes each file, relative to the repo."""
    for name, content in files.items():
        path = repo / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")


def commit(place: Place, message: str, paths: tuple[str, ...]) -> None:
    """Commits these paths alone; nothing happens where they did not change."""
    _patient(place, "add", "--all", "--", *paths)
    if _git(place.repo, place, "status", "--porcelain", "--", *paths).stdout:
        _patient(place, "commit", "--quiet", "--message", message, "--", *paths)


def push(place: Place, command: str) -> None:
    """Runs the approved ``git push origin BRANCH``, with BRANCH at the last commit."""
    _, _, remote, branch = command.split()
    _patient(place, "branch", "--force", branch)
    _patient(place, "push", "--quiet", remote, branch)


def branches(place: Place) -> int:
    """How many branches the origin has: asked from it, not from memory."""
    listed = _git(place.repo, place, "ls-remote", "--heads", "origin")
    return len(listed.stdout.splitlines())


def head(place: Place) -> str:
    """The last commit, as it is called for short."""
    return _git(place.repo, place, "rev-parse", "--short", "HEAD").stdout.strip()


def checkout(place: Place, folder: Path) -> None:
    """A separate tree at the last commit, as a CI would take it."""
    _patient(place, "worktree", "add", "--quiet", "--force", "--detach", str(folder))


def drop_checkout(place: Place, folder: Path) -> None:
    """Removes what ``checkout`` made."""
    _patient(place, "worktree", "remove", "--force", str(folder))


def _patient(place: Place, *arguments: str) -> None:
    """A git command that several workers may give at once: git's lock has no queue."""
    for _ in range(_TRIES):
        done = _run(place.repo, place, *arguments)
        if done.returncode == 0:
            return
        if ".lock" not in done.stderr:
            break
    raise _refused(arguments, done.stderr)


def _git(folder: Path, place: Place, *arguments: str) -> subprocess.CompletedProcess[str]:
    done = _run(folder, place, *arguments)
    if done.returncode != 0:
        raise _refused(arguments, done.stderr)
    return done


def _run(folder: Path, place: Place, *arguments: str) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            ("git", *_AUTHOR, *arguments),
            cwd=folder,
            env=place.environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_LONGEST_SECONDS,
            check=False,
        )
    except FileNotFoundError:
        raise DemoError("it needs git, which is not installed") from None


def _refused(arguments: tuple[str, ...], reason: str) -> DemoError:
    return DemoError(f"git {arguments[0]}: {reason.strip()}")
