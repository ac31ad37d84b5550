"""What people and programs do to the folders, in places that watchers pass over or cannot have."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from loopx_kernel.domain.todo import AddTodo

from tests.patience import PATIENCE
from tests.terminal.ptys import Screen, on_a_pty
from tests.terminal.stage import Place
from tests.tui.gates import AGENT, GOAL, build

pytestmark = pytest.mark.terminal

PAGE = f".loopx/goals/{GOAL}/ACTIVE_GOAL_STATE.md"
SHIFT_TAB = "\x1b[Z"
TITLE = "Convert components"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    house = build(folder / "w", folder / "key")
    house.open().todos.add(GOAL, AGENT, AddTodo(title=TITLE))
    return folder


@pytest.fixture
def place(made: Path, tmp_path: Path) -> Place:
    return Place.copy_of(made, tmp_path)


def run(*words: str | Path) -> None:
    subprocess.run([*map(str, words)], check=True, timeout=PATIENCE)


def moved_to(place: Place, folder: str) -> Place:
    """The same workspace in a folder below."""
    root = place.root.parent / folder / "y"
    root.parent.mkdir()
    place.root.rename(root)
    return Place(place.folder, root, place.environ)


@pytest.mark.parametrize("folder", ["node_modules", ".git"])
def test_every_way_of_saving_is_seen_in_folders_that_watchers_pass_over(
    place: Place, folder: str
) -> None:
    place = moved_to(place, folder)
    page, backup = place.root / PAGE, place.folder / "backup"
    with on_a_pty(place) as screen:
        screen.sees(TITLE, "live")
        for _ in range(2):
            run("sed", "-i", "/Convert/s/- \\[ \\]/- [x]/", page)
            screen.sees("was ticked by hand")
            new = page.with_name("new")
            new.write_text(page.read_text().replace("- [x]", "- [ ]"))
            run("mv", new, page)
            screen.sees_no("was ticked by hand")
        run("cp", "-a", place.root / ".loopx", backup)
        place.must("todo", "add", "Only in the newer one", "--agent", AGENT)
        screen.sees("Only in the newer one")
        run("rm", "-rf", place.root / ".loopx")
        run("cp", "-a", backup, place.root / ".loopx")
        screen.sees_no("Only in the newer one")
        screen.sees(TITLE, "live")
        place.must("todo", "add", "Written into the copy", "--agent", AGENT)
        screen.sees("Written into the copy")


@contextmanager
def with_instances(count: int, place: Place) -> Iterator[tuple[Screen, Path]]:
    """The app where it may make so many inotify instances, and where another number is written."""
    told = place.folder / "limit"
    told.write_text(f"{count}\n")
    script = (
        f"limit=/proc/sys/user/max_inotify_instances; cat {told} > $limit || exit 7; "
        f'(while sleep 0.2; do cat {told} > $limit; done) & "$@"; kill $!'
    )
    with on_a_pty(place, before=("unshare", "-Ur", "sh", "-c", script, "sh")) as screen:
        yield screen, told


@pytest.fixture(scope="module")
def _namespaces() -> None:
    limit = "cat /proc/sys/user/max_inotify_instances > /proc/sys/user/max_inotify_instances"
    if shutil.which("unshare") is None:
        pytest.skip("may not make user namespaces")
    if subprocess.run(("unshare", "-Ur", "sh", "-c", limit), check=False).returncode != 0:
        pytest.skip("may not make user namespaces")


@pytest.mark.usefixtures("_namespaces")
def test_without_an_instance_to_watch_with_it_polls_and_says_what_helps(place: Place) -> None:
    with with_instances(0, place) as (screen, _):
        screen.sees(TITLE, "polling", "The system's limit")
        screen.child.send(SHIFT_TAB)
        screen.quiet()
        screen.child.send("\r")
        screen.sees("sysctl", "fs.inotify.max_user_instances")
        place.must("todo", "add", "Seen by looking", "--agent", AGENT)
        screen.sees("Seen by looking", "polling")
        screen.child.send("q")
        assert b"Traceback" not in screen.rest()


@pytest.mark.usefixtures("_namespaces")
def test_where_the_instances_run_out_under_it_it_goes_on_by_polling(place: Place) -> None:
    with with_instances(8, place) as (screen, limit):
        screen.sees(TITLE, "live")
        limit.write_text("0\n")
        backup = place.folder / "backup"
        run("cp", "-a", place.root / ".loopx", backup)
        run("rm", "-rf", place.root / ".loopx")
        screen.sees("No LoopX workspace")
        run("cp", "-a", backup, place.root / ".loopx")
        screen.sees(TITLE, "polling", "The system's limit")
        place.must("todo", "add", "Seen by looking", "--agent", AGENT)
        screen.sees("Seen by looking")
