"""Looking at a repository that somebody prepared: nothing of it runs, and no look is endless."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from loopx_kernel.errors import Busy
from loopx_kernel.observe import git, look
from loopx_kernel.observe.repo import diff_digest, repo_state
from loopx_kernel.observe.touched import touched

from tests.kernel.observe.test_repo import commit, digest, made, run_git, write
from tests.kernel.observe.test_touched import moment

HOOKS = ("post-index-change", "fsmonitor-watchman", "post-checkout", "pre-commit", "query-watchman")


class Trap:
    """A repo with a changed file, and a program that must never run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.repo = made(folder / "mall")
        self.ran = folder / "ran"
        text = f"#!/bin/sh\necho $0 $* >> {self.ran}\ncat\n"
        self.program = write(folder, "program", text)
        self.program.chmod(0o755)
        for hook in HOOKS:
            write(folder, f"hooks/{hook}", text).chmod(0o755)
        write(self.repo, ".gitattributes", "*.css filter=Ab=c.d diff=d merge=d ident\n")
        commit(self.repo)
        write(self.repo, "src/a.css", "two")

    @property
    def settings(self) -> str:
        """As many ways as git has to start a program."""
        it = self.program
        return (
            f"[core]\nfsmonitor = {it}\nhooksPath = {self.folder}/hooks\npager = {it}\n"
            f"sshCommand = {it}\neditor = {it}\ngitProxy = {it}\nalternateRefsCommand = {it}\n"
            f"askPass = {it}\n"
            f'[filter "Ab=c.d"]\nclean = {it}\nsmudge = {it}\nprocess = {it}\nrequired = true\n'
            f'[diff]\nexternal = {it}\n[diff "d"]\ncommand = {it}\ntextconv = {it}\n'
            f'[merge "d"]\ndriver = {it}\n[gpg]\nprogram = {it}\n[credential]\nhelper = {it}\n'
            f"[alias]\nls-files = !{it}\nrev-parse = !{it}\nconfig = !{it}\nls-tree = !{it}\n"
            f"[pager]\nls-files = {it}\nconfig = {it}\n[uploadpack]\npackObjectsHook = {it}\n"
        )

    def add_to(self, path: str) -> None:
        """The settings, at the end of a file of the repository."""
        place = self.repo / path
        place.parent.mkdir(parents=True, exist_ok=True)
        with place.open("a", encoding="utf-8") as file:
            file.write(self.settings)


def included(trap: Trap) -> None:
    write(trap.folder, "more", trap.settings)
    run_git(trap.repo, "config", "include.path", str(trap.folder / "more"))


def included_here_alone(trap: Trap) -> None:
    write(trap.folder, "more", trap.settings)
    for condition in (f"gitdir:{trap.repo}/", "onbranch:*", "gitdir/i:**"):
        run_git(trap.repo, "config", f"includeIf.{condition}.path", str(trap.folder / "more"))


def of_the_worktree(trap: Trap) -> None:
    run_git(trap.repo, "config", "extensions.worktreeConfig", "true")
    trap.add_to(".git/config.worktree")


def elsewhere(trap: Trap) -> None:
    trap.add_to(".git/config")
    (trap.repo / ".git").rename(trap.folder / "away")
    write(trap.repo, ".git", f"gitdir: {trap.folder}/away\n")


def inside(trap: Trap) -> None:
    nested = made(trap.repo / "lib")
    write(nested, ".gitattributes", "*.css filter=Ab=c.d\n")
    commit(nested)
    (nested / ".git/config").write_text((nested / ".git/config").read_text() + trap.settings)
    write(nested, "src/a.css", "two")


def attributes_nobody_tracks(trap: Trap) -> None:
    trap.add_to(".git/config")
    write(trap.repo, ".git/info/attributes", "* filter=Ab=c.d diff=d\n")


PLACES: list[Callable[[Trap], None]] = [
    lambda trap: trap.add_to(".git/config"),
    included,
    included_here_alone,
    of_the_worktree,
    elsewhere,
    inside,
    attributes_nobody_tracks,
]


@pytest.fixture
def trap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Trap:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return Trap(tmp_path)


@pytest.mark.parametrize("place", PLACES)
def test_no_program_is_run_wherever_it_is_named(
    trap: Trap, monkeypatch: pytest.MonkeyPatch, place: Callable[[Trap], None]
) -> None:
    place(trap)
    for name in ("GIT_EXTERNAL_DIFF", "GIT_SSH_COMMAND", "GIT_PAGER", "GIT_ASKPASS"):
        monkeypatch.setenv(name, str(trap.program))
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "core.fsmonitor")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", str(trap.program))
    state = repo_state(trap.repo)
    assert state.commit is not None
    diff_digest(trap.repo, state.commit)
    touched(trap.repo, moment(trap.repo))
    assert not trap.ran.exists(), trap.ran.read_text()


def test_settings_without_end_are_no_way_to_have_one_run(trap: Trap) -> None:
    many = "".join(f'[filter "f{n}"]\nclean = {trap.program}\n' for n in range(60_000))
    write(trap.repo, ".gitattributes", "*.css filter=f59999\n")
    (trap.repo / ".git/config").write_text(many + trap.settings)
    before = digest(trap.repo)
    write(trap.repo, "src/a.css", "three")
    assert digest(trap.repo) != before
    assert not trap.ran.exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_a_repository_of_another_user_is_looked_at_and_runs_nothing(trap: Trap) -> None:
    trap.add_to(".git/config")
    for path in (trap.repo, *trap.repo.rglob("*")):
        os.chown(path, 12345, 12345, follow_symlinks=False)
    assert repo_state(trap.repo).commit is not None
    assert not trap.ran.exists()


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return made(tmp_path / "mall")


@pytest.mark.parametrize("taken", ["lib", "src"])
def test_a_link_in_the_place_of_a_folder_leads_nowhere(
    place: Path, tmp_path: Path, taken: str
) -> None:
    run_git(place, "submodule", "add", "-q", str(made(tmp_path / "lib")), "lib")
    commit(place)
    outside = made(tmp_path / "outside")
    write(outside, "a.css", "another")
    (place / taken).rename(tmp_path / "taken")
    before = digest(place)
    (place / taken).symlink_to(outside)
    linked = digest(place), diff_digest(place, None)
    assert linked[0] != before
    write(outside, "a.css", "other")
    write(outside, "src/a.css", "other")
    assert (digest(place), diff_digest(place, None)) == linked


def test_a_repo_behind_a_link_is_that_repo(place: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(place)
    assert repo_state(tmp_path / "link") == repo_state(place)
    write(tmp_path, "plain/a.txt", "one")
    (tmp_path / "other").symlink_to(tmp_path / "plain")
    before = digest(tmp_path / "other")
    write(tmp_path, "plain/a.txt", "two")
    assert digest(tmp_path / "other") != before


def test_links_in_circles_end(place: Path) -> None:
    (place / "a").symlink_to("b")
    (place / "b").symlink_to("a")
    (place / "self").symlink_to(place)
    made(place / "lib")
    (place / "lib" / "up").symlink_to("..")
    before = digest(place)
    (place / ".git").rename(place.parent / "away")
    assert digest(place) != before


def asked_of(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The folders that git is asked about from now on."""
    found: list[Path] = []
    find = git.find

    def noted(folder: Path) -> Any:
        found.append(folder)
        return find(folder)

    monkeypatch.setattr(git, "find", noted)
    return found


def test_repositories_that_keep_git_waiting_do_not_add_up(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("one", "two", "three"):
        made(place / name)
    monkeypatch.setattr(look, "SECONDS", 0)
    asked = asked_of(monkeypatch)
    before = digest(place)
    assert asked == [place]
    write(place / "three", "src/a.css", "two")
    assert digest(place) != before
    touched(place, moment(place))
    assert set(asked) == {place}


def test_more_files_than_are_looked_at_is_said_and_not_waited_for(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(30):
        write(place, f"heap/{number}")
    monkeypatch.setattr(git, "LIMIT", 100)
    monkeypatch.setattr(look, "FILES", 20)
    with pytest.raises(Busy) as caught:
        repo_state(place)
    assert caught.value.code == "limit"
