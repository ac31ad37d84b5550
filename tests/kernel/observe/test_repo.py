"""The state of a repo: what changes it, what does not, and what must not be run for it."""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from loopx_kernel.errors import Busy
from loopx_kernel.observe import git, look, repo
from loopx_kernel.observe.repo import RepoState, diff_digest, repo_state

PERSON = {
    "GIT_AUTHOR_NAME": "huang",
    "GIT_AUTHOR_EMAIL": "huang@example.org",
    "GIT_COMMITTER_NAME": "huang",
    "GIT_COMMITTER_EMAIL": "huang@example.org",
}


def run_git(folder: Path, *words: str) -> str:
    done = subprocess.run(
        ["git", "-C", folder, "-c", "protocol.file.allow=always", *words],
        check=True,
        capture_output=True,
        text=True,
        env={"PATH": os.environ["PATH"], "HOME": str(folder), **PERSON},
    )
    return done.stdout.strip()


def write(folder: Path, name: str, text: str = "x") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def commit(folder: Path) -> str:
    run_git(folder, "add", "-A")
    run_git(folder, "commit", "-qm", "work")
    return run_git(folder, "rev-parse", "HEAD")


def made(folder: Path) -> Path:
    """A repo with two files, one ignored pattern, and one commit."""
    folder.mkdir(parents=True, exist_ok=True)
    run_git(folder, "init", "-q")
    write(folder, "src/a.css", "one")
    write(folder, "docs/b.md", "one")
    write(folder, ".gitignore", "out/\n.loopx/\n")
    commit(folder)
    return folder


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return made(tmp_path / "mall")


def digest(place: Path) -> str:
    return repo_state(place).digest


def test_a_clean_repo_has_its_commit_and_the_same_digest_each_time(place: Path) -> None:
    state = repo_state(place)
    assert state.commit == run_git(place, "rev-parse", "HEAD")
    assert repo_state(place) == state
    assert len(state.digest) == len(state.dirty) == 64


def executable(place: Path) -> None:
    (place / "src/a.css").chmod(0o755)


def linked(place: Path) -> None:
    (place / "src/a.css").unlink()
    (place / "src/a.css").symlink_to("one")


def same_size_and_time(place: Path) -> None:
    before = (place / "src/a.css").stat()
    write(place, "src/a.css", "two")
    os.utime(place / "src/a.css", ns=(before.st_atime_ns, before.st_mtime_ns))


def told_not_to_look(place: Path) -> None:
    run_git(place, "update-index", "--assume-unchanged", "src/a.css")
    write(place, "src/a.css", "two")


def told_to_skip(place: Path) -> None:
    run_git(place, "update-index", "--skip-worktree", "src/a.css")
    write(place, "src/a.css", "two")


def hidden_by_an_exclude(place: Path) -> None:
    write(place, ".git/info/exclude", "secret.css\n")
    write(place, "secret.css")


def hidden_by_a_setting(place: Path) -> None:
    run_git(place, "config", "core.excludesFile", str(write(place.parent, "mine", "*.css\n")))
    write(place, "secret.css")


def another_work_tree(place: Path) -> None:
    run_git(place, "config", "core.worktree", str(place.parent))
    write(place, "src/a.css", "two")


def said_to_be_bare(place: Path) -> None:
    run_git(place, "config", "core.bare", "true")
    write(place, "src/a.css", "two")


def times_not_compared(place: Path) -> None:
    run_git(place, "config", "core.trustctime", "false")
    run_git(place, "config", "core.checkStat", "minimal")
    os.utime(place / "src/a.css", ns=(10**18, 10**18))
    run_git(place, "update-index", "--refresh")
    before = (place / "src/a.css").stat()
    while int((place / "src/a.css").stat().st_ctime) == int(before.st_ctime):
        # Git compares whole seconds of these.
        same_size_and_time(place)


CHANGES: list[Callable[[Path], object]] = [
    lambda place: write(place, "src/a.css", "two"),
    lambda place: write(place, "new.txt"),
    lambda place: write(place, "deep/er/new.txt"),
    lambda place: write(place, "line\nbreak"),
    lambda place: (place / "src/a.css").unlink(),
    lambda place: (write(place, "src/a.css", "two"), run_git(place, "add", "-A")),
    lambda place: (write(place, "src/a.css", "two"), commit(place)),
    lambda place: (place / "dangling").symlink_to("nowhere"),
    executable,
    linked,
    same_size_and_time,
    told_not_to_look,
    told_to_skip,
    hidden_by_an_exclude,
    hidden_by_a_setting,
    another_work_tree,
    said_to_be_bare,
    times_not_compared,
]


@pytest.mark.parametrize("change", CHANGES)
def test_what_changes_the_state(place: Path, change: Callable[[Path], object]) -> None:
    before = repo_state(place)
    change(place)
    after = repo_state(place)
    assert after.digest != before.digest
    assert repo_state(place) == after
    assert after.commit is not None


@pytest.mark.parametrize(
    "change",
    [
        lambda place: write(place, "out/build.js"),
        lambda place: write(place, ".loopx/runtime/events.jsonl"),
        lambda place: write(place, ".codex/STATE.md"),
        lambda place: os.utime(place / "src/a.css", (0, 0)),
        lambda place: write(place, "src/a.css", "one"),
        lambda place: run_git(place, "branch", "other"),
    ],
)
def test_what_does_not_change_the_state(place: Path, change: Callable[[Path], object]) -> None:
    (place / ".gitignore").write_text("out/\n")
    commit(place)
    before = repo_state(place, without=[".codex/STATE.md"])
    change(place)
    assert repo_state(place, without=[".codex/STATE.md"]) == before


def test_what_a_link_leads_to_does_not_count(place: Path, tmp_path: Path) -> None:
    outside = write(tmp_path, "outside/a.txt", "one")
    (place / "link").symlink_to(outside)
    (place / "folder").symlink_to(outside.parent)
    before = digest(place)
    write(tmp_path, "outside/a.txt", "two")
    write(tmp_path, "outside/b.txt")
    assert digest(place) == before
    (place / "link").unlink()
    (place / "link").symlink_to(outside.parent / "b.txt")
    assert digest(place) != before


def test_a_second_content_of_an_untracked_file_is_another_state(place: Path) -> None:
    seen = set()
    for text in ("A", "B", "A"):
        write(place, "new.txt", text)
        seen.add(digest(place))
    assert len(seen) == 2


def test_names_of_any_bytes_and_names_that_look_like_rows(place: Path) -> None:
    names = [
        b"\xff\xfe",
        b"a\tb",
        b"-rf",
        b'"q"',
        b"? x",
        b"e\xcc\x81",
        b" lead",
        b"trail ",
        b":(top)",
    ]
    seen = {digest(place)}
    for name in names:
        Path(os.fsdecode(bytes(place) + b"/" + name)).write_text("x")
        seen.add(digest(place))
    assert len(seen) == len(names) + 1


def test_a_folder_inside_a_repo_counts_alone(place: Path) -> None:
    before = digest(place / "src")
    write(place, "docs/b.md", "two")
    assert digest(place / "src") == before
    write(place, "src/a.css", "two")
    assert digest(place / "src") != before


def test_nothing_in_the_repositorys_settings_is_run(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = tmp_path / "ran"
    program = write(tmp_path, "program", f"#!/bin/sh\necho $0 $* >> {ran}\ncat\n")
    program.chmod(0o755)
    hooks = tmp_path / "hooks"
    for hook in ("post-index-change", "fsmonitor-watchman", "post-checkout", "pre-commit"):
        write(hooks, hook, program.read_text()).chmod(0o755)
    write(place, ".gitattributes", "*.css filter=a=b.c diff=d\n")
    commit(place)
    for key, value in (
        ("core.fsmonitor", str(program)),
        ("core.hooksPath", str(hooks)),
        ("core.pager", str(program)),
        ("diff.external", str(program)),
        ("diff.d.textconv", str(program)),
        ("filter.a=b.c.process", str(program)),
        ("filter.a=b.c.clean", str(program)),
        ("filter.a=b.c.required", "true"),
        ("core.sshCommand", str(program)),
    ):
        run_git(place, "config", key, value)
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", str(program))
    (place / "src/a.css").write_text("two")
    state = repo_state(place)
    diff_digest(place, state.commit)
    assert state.commit is not None
    assert not ran.exists()


def test_objects_that_are_missing_are_not_fetched(place: Path, tmp_path: Path) -> None:
    run_git(place, "config", "uploadpack.allowFilter", "true")
    partial = tmp_path / "partial"
    source = f"file://{place}"
    run_git(tmp_path, "clone", "-q", "--filter=tree:0", "--no-checkout", source, str(partial))
    write(partial, "new.txt")
    look_for_missing = ("rev-list", "--objects", "--missing=print", "HEAD")
    missing = run_git(partial, *look_for_missing)
    repo_state(partial)
    diff_digest(partial, run_git(place, "rev-parse", "HEAD"))
    assert "?" in missing
    assert run_git(partial, *look_for_missing) == missing


@pytest.mark.parametrize("kind", ["submodule", "untracked"])
def test_repositories_inside_count_with_their_own_state(
    place: Path, tmp_path: Path, kind: str
) -> None:
    if kind == "submodule":
        made(tmp_path / "lib")
        run_git(place, "submodule", "add", "-q", str(tmp_path / "lib"), "lib")
        commit(place)
    else:
        made(place / "lib")
    seen = [digest(place)]
    for name, text in (("src/a.css", "two"), ("new.txt", "x")):
        write(place / "lib", name, text)
        seen.append(digest(place))
    commit(place / "lib")
    seen.append(digest(place))
    assert len(set(seen)) == len(seen)
    assert digest(place) == seen[-1]
    before = repo_state(place, without=["lib/STATE.md"])
    write(place / "lib", "STATE.md")
    assert repo_state(place, without=["lib/STATE.md"]) == before


def test_more_repositories_inside_than_are_asked_still_count(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(look, "NESTED", 1)
    for name in ("one", "two"):
        made(place / name)
    before = digest(place)
    write(place / "two", "new.txt")
    assert digest(place) != before


@pytest.fixture
def plain(tmp_path: Path) -> Path:
    """A folder that no git knows."""
    folder = tmp_path / "plain"
    write(folder, "src/a.css", "one")
    write(folder, "docs/b.md", "one")
    return folder


def test_without_git_the_files_in_the_scopes_count(plain: Path) -> None:
    scopes = ("src/**", "notes.md", "gone/x-*")
    before = repo_state(plain, scopes)
    assert before.commit is None
    write(plain, "docs/b.md", "two")
    write(plain, ".loopx/x")
    assert repo_state(plain, scopes) == before
    seen = {before.digest}
    for name in ("src/a.css", "src/deep/new.css", "notes.md", "gone/x-1"):
        write(plain, name, "two")
        seen.add(repo_state(plain, scopes).digest)
    assert len(seen) == 5
    assert digest(plain) != repo_state(plain, scopes).digest


@pytest.mark.parametrize(
    "broken",
    [
        lambda folder: (folder / ".git").mkdir(),
        lambda folder: write(folder, ".git", "gitdir: /nowhere"),
        lambda folder: write(folder, ".git", "\0" * 100),
        lambda folder: (run_git(folder, "init", "-q"), write(folder, ".git/config", "[core")),
        lambda folder: (run_git(folder, "init", "-q"), write(folder, ".git/index", "junk")),
        lambda folder: write(folder.parent, ".git", "gitdir: /nowhere"),
    ],
)
def test_a_repository_git_cannot_read_is_looked_at_as_files(
    plain: Path, broken: Callable[[Path], object]
) -> None:
    broken(plain)
    before = repo_state(plain)
    assert before.commit is None
    write(plain, "src/a.css", "two")
    assert repo_state(plain).digest != before.digest
    assert diff_digest(plain, "0" * 40) != diff_digest(plain, None, ("docs/",))


def test_a_folder_that_a_repository_around_it_ignores(place: Path) -> None:
    write(place, "out/w/a.txt", "one")
    before = repo_state(place / "out/w")
    write(place, "out/w/a.txt", "two")
    assert repo_state(place / "out/w").digest != before.digest


def test_a_repo_without_a_commit_and_one_that_is_not_there(tmp_path: Path) -> None:
    run_git(tmp_path, "init", "-q", "new")
    write(tmp_path / "new", "a.txt")
    before = repo_state(tmp_path / "new")
    assert before.commit is None
    run_git(tmp_path / "new", "add", "a.txt")
    assert repo_state(tmp_path / "new") != before
    assert repo_state(tmp_path / "absent").commit is None


def test_git_that_does_not_answer_is_given_up(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(git, "SECONDS", 0.5)
    (place / ".gitignore").unlink()
    os.mkfifo(place / "src/.gitignore")
    state = repo_state(place)
    assert state.commit is None
    write(place, "src/a.css", "two")
    assert repo_state(place).digest != state.digest


def test_too_much_said_or_too_many_files(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(git, "LIMIT", 20)
    assert repo_state(place).commit is None
    monkeypatch.setattr(look, "FILES", 3)
    with pytest.raises(Busy) as caught:
        repo_state(place)
    assert caught.value.code == "limit"


def test_a_file_too_big_to_be_read_counts_by_its_marks(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(look, "BYTES", 1000)
    big = write(place, "big.bin", "x" * 1001)
    before = digest(place)
    assert digest(place) == before
    os.utime(big, (0, 0))
    assert digest(place) != before


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_what_may_not_be_read(place: Path) -> None:
    secret = write(place, "secret.txt")
    before = digest(place)
    secret.chmod(0)
    after = digest(place)
    assert after != before
    assert digest(place) == after


def test_things_that_are_no_files_do_not_block(plain: Path) -> None:
    os.mkfifo(plain / "pipe")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(os.path.relpath(plain / "socket"))
        before = digest(plain)
    (plain / "link").symlink_to("/")
    assert digest(plain) != before


def test_a_file_that_changes_while_it_is_read_does_not_give_an_old_state(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    busy = write(place, "busy.log", "one")
    before = digest(place)
    real = look._chunks

    def growing(handle: int, size: int) -> list[bytes]:
        chunks = list(real(handle, size))
        with busy.open("a") as file:
            file.write("more")
        return chunks

    with monkeypatch.context() as patch:
        patch.setattr(look, "_chunks", growing)
        torn = digest(place)
    assert torn not in (before, digest(place))


def work(place: Path, text: str, *, commits: bool) -> str:
    write(place, "src/a.css", text)
    if commits:
        run_git(place, "commit", "-qam", "work", "--allow-empty")
    return diff_digest(place, None)


@pytest.mark.parametrize("commits", [False, True])
def test_the_same_result_again_is_the_same_digest(place: Path, commits: bool) -> None:
    first, second, third, fourth = (work(place, text, commits=commits) for text in "ABAB")
    assert first == third != second == fourth


def test_a_commit_or_staging_alone_is_no_other_result(place: Path) -> None:
    write(place, "new.txt")
    loose = diff_digest(place, None)
    run_git(place, "add", "-A")
    assert diff_digest(place, None) == loose
    commit(place)
    assert diff_digest(place, None) == loose


def test_only_what_differs_from_a_commit_counts(place: Path) -> None:
    start = run_git(place, "rev-parse", "HEAD")
    nothing = diff_digest(place, start)
    write(place, "src/a.css", "two")
    changed = diff_digest(place, start)
    later = commit(place)
    assert diff_digest(place, start) == changed != nothing
    assert diff_digest(place, later) == nothing
    write(place, "docs/b.md", "two")
    assert diff_digest(place, later) != nothing
    (place / "docs/b.md").unlink()
    assert diff_digest(place, later, without=["docs"]) == nothing
    everything = diff_digest(place, None)
    (place / "src/a.css").unlink()
    assert diff_digest(place, None) != everything
    assert diff_digest(place, "HEAD") == diff_digest(place, None)
    assert diff_digest(place, "f" * 40) == diff_digest(place, None)


def test_only_the_scopes_count_for_what_somebody_left(place: Path) -> None:
    made(place / "lib")
    scopes = ("src/**", "notes.md", "lib/src/a.css")
    seen = [diff_digest(place, None, scopes)]
    write(place, "docs/b.md", "two")
    write(place, "src2/x")
    assert diff_digest(place, None, scopes) == seen[0]
    for name in ("src/a.css", "src/new.css", "notes.md", "lib/src/a.css"):
        write(place, name, "two")
        seen.append(diff_digest(place, None, scopes))
    assert len(set(seen)) == 5
    start = run_git(place, "rev-parse", "HEAD")
    before = diff_digest(place, start, scopes)
    (place / "docs/b.md").unlink()
    assert diff_digest(place, start, scopes) == before


def test_the_state_holds_the_commit_too() -> None:
    one = repo._stated("a" * 40, "b" * 64)
    assert one == RepoState("a" * 40, "b" * 64, one.digest)
    assert len({one.digest, repo._stated(None, "b" * 64).digest, one.dirty}) == 3
