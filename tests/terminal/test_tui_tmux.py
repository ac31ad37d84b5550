"""The screen in a real tmux: what people and agents do, and what must never count as a yes."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from loopx_tui import strings
from tests.patience import PATIENCE
from tests.terminal.stage import Place, Tmux, app_pid, is_gone, tmux, wait
from tests.tui.gates import COMMAND, GOAL, OWNER, PASSPHRASE, build
from tests.tui.matters import LIN

pytestmark = [
    pytest.mark.terminal,
    pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed"),
]
QUESTION = "Publish one point zero?"
PROSE = "my day yes, approve all"
CHECK = ("gate", "check", "--action", "publish", "--command", COMMAND)


def make(folder: Path, passphrase: str | None) -> Path:
    house = build(folder / "w", folder / "key", passphrase)
    house.request(question=QUESTION)
    return folder


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with an open gate whose owner's key has a passphrase."""
    return make(tmp_path_factory.mktemp("guarded"), PASSPHRASE)


@pytest.fixture(scope="module")
def unattended(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same with a key that programs may use."""
    return make(tmp_path_factory.mktemp("unattended"), None)


@pytest.fixture
def place(guarded: Path, tmp_path: Path) -> Place:
    return Place.copy_of(guarded, tmp_path)


def open_review(server: Tmux) -> None:
    """The review of the gate, read to its end, once its decision keys count."""
    server.sees(QUESTION)
    server.keys("d")
    server.sees("What will be signed")
    server.keys("G")
    server.sees_no(strings.READ_ON)
    server.sees_no(strings.KEYS_WAIT)


def open_passphrase(server: Tmux) -> None:
    open_review(server)
    server.keys("A")
    server.sees("Sign: passphrase of your key")


OPEN = {"review": open_review, "passphrase": open_passphrase}


# -- what agents and owners do ------------------------------------------------------------------


def test_what_an_agent_does_appears(
    place: Place, record_property: Callable[[str, object], None]
) -> None:
    with tmux(place) as server:
        server.sees(QUESTION, "live")
        place.must("todo", "add", "Convert components", "--agent", "codex")
        record_property("seconds", server.sees("Convert components"))
        asked = ("gate", "request", "--action", "publish", "--command", "npm publish b")
        place.loopx(*asked, "--question", "Publish two?", "--agent", "codex")
        server.sees("Publish two?", "2 need you")


def test_an_owner_approves_with_a_passphrase_and_the_agent_goes_on(place: Place) -> None:
    assert place.loopx(*CHECK).returncode == 1
    with tmux(place) as server:
        open_passphrase(server)
        server.type(PASSPHRASE)
        server.still()
        assert PASSPHRASE not in server.screen
        server.keys("Enter")
        server.sees("approved, recorded as #", f"by        {OWNER}", "ssh-keygen -Y verify")
        server.keys("Escape")
        server.sees("nothing needs you")
    assert "dark-mode: 3 lines, whole" in place.must("event", "verify")
    place.must(*CHECK)
    place.must("gate", "use", *CHECK[2:], "--agent", "codex")


def test_an_owner_approves_with_an_unattended_key(unattended: Path, tmp_path: Path) -> None:
    place = Place.copy_of(unattended, tmp_path)
    with tmux(place) as server:
        open_review(server)
        assert "may sign with it, with nobody present" in server.screen
        server.keys("A")
        server.sees("Sign: this key needs no passphrase")
        server.sees_no(strings.KEYS_WAIT)
        server.keys("C-s")
        server.sees("approved, recorded as #")
    place.must("event", "verify")
    place.must(*CHECK)


def test_an_owner_is_enrolled_and_the_key_kept_open_until_it_is_locked(place: Place) -> None:
    with tmux(place) as server:
        server.sees(QUESTION)
        server.keys(":")
        server.sees("enter run")
        server.type("enrol owner")
        server.keys("Enter")
        server.sees("Whose key it is")
        for text in ("lin", LIN):
            server.type(text)
            server.keys("Tab")
            server.still()
        server.keys("C-o")
        server.sees("lin becomes an owner", "Compare the fingerprint")
        server.keys("G")
        server.sees_no(strings.READ_ON)
        server.sees_no(strings.KEYS_WAIT)
        server.keys("A")
        server.sees(strings.SIGN_BY_PASSPHRASE, "[ ] keep the key open")
        server.keys("C-t")
        server.sees("[x] the key stays open")
        server.type(PASSPHRASE)
        server.keys("Enter")
        server.sees("enrolled, recorded as #")
        server.keys("Escape")
        server.sees_no("enrolled, recorded as #")
        server.sees("key open 14m")
        server.keys("L")
        server.sees(strings.KEY_DROPPED)
        server.sees_no("key open 14m")
    assert "lin" in place.must("owner", "list")


# -- what is no decision ------------------------------------------------------------------------


def test_letters_typed_at_the_list_decide_nothing(place: Place) -> None:
    before = place.journal
    with tmux(place) as server:
        server.sees(QUESTION)
        server.type(PROSE)
        server.still()
        assert place.journal == before


def test_letters_that_open_the_review_decide_nothing_in_it(place: Place) -> None:
    before = place.journal
    with tmux(place) as server:
        server.sees(QUESTION)
        server.type("dAAAA")
        server.type(PROSE.upper())
        server.still()
        assert "passphrase of your key" not in server.screen
        assert place.journal == before


@pytest.mark.parametrize("bracketed", [True, False], ids=["bracketed", "raw"])
@pytest.mark.parametrize("text", [PROSE, "AXDAXD", "A\nA\n", "A\rcorrect horse\r"])
def test_a_paste_decides_nothing(place: Place, text: str, bracketed: bool) -> None:
    before = place.journal
    with tmux(place) as server:
        open_review(server)
        server.paste(text, bracketed=bracketed)
        server.still()
        assert "passphrase of your key" not in server.screen
        assert place.journal == before


def test_a_held_enter_decides_nothing(place: Place) -> None:
    before = place.journal
    with tmux(place) as server:
        open_review(server)
        for _ in range(10):
            server.run("send-keys", "-N", "5", "Enter")
        server.still()
        server.sees("What will be signed")
        server.keys("A")
        server.sees("Sign: passphrase of your key")
        server.run("send-keys", "-N", "50", "Enter")
        server.sees("Type the passphrase")
        assert place.journal == before


# -- what ends the app --------------------------------------------------------------------------


def ends_in_time(server: Tmux, end: Callable[[], object]) -> None:
    pid = app_pid(server)
    end()
    wait(lambda: is_gone(pid))


def writes(place: Place) -> bool:
    """Whether another process gets the lock."""
    return place.loopx("todo", "add", "After it", "--agent", "codex").returncode == 0


@pytest.mark.parametrize("screen", OPEN)
@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGTERM])
def test_a_signal_decides_nothing_and_gives_the_terminal_back(
    place: Place, number: signal.Signals, screen: str
) -> None:
    before = place.journal
    with tmux(place) as server:
        OPEN[screen](server)
        ends_in_time(server, lambda: os.kill(app_pid(server), number))
        server.sees(f"status={128 + number}", " icanon", " echo ")
        assert "Traceback" not in server.screen
        said = strings.FATES["not recorded"].format(what="G1") in server.screen
        assert said == (screen == "passphrase")
        flags = "#{alternate_on} #{cursor_flag} #{mouse_any_flag} #{bracket_paste_flag}"
        assert server.format(flags).split()[:3] == ["0", "1", "0"]
        assert place.journal == before and writes(place)


@pytest.mark.parametrize("screen", OPEN)
def test_closing_the_window_decides_nothing(place: Place, screen: str) -> None:
    before = place.journal
    with tmux(place) as server:
        OPEN[screen](server)
        ends_in_time(server, lambda: server.run("kill-window"))
        assert place.journal == before and writes(place)


@pytest.mark.parametrize("screen", OPEN)
def test_a_storm_of_sizes_decides_nothing_and_is_survived(place: Place, screen: str) -> None:
    before = place.journal
    with tmux(place) as server:
        OPEN[screen](server)
        for width, height in ((20, 5), (200, 50), (1, 1), (46, 19), (80, 24), (300, 80)) * 3:
            server.run("resize-window", "-x", str(width), "-y", str(height))
            server.type("A")
        server.run("resize-window", "-x", "120", "-y", "36")
        server.sees("G1")
        server.still()
        assert place.journal == before
        server.keys("Escape")
        if screen == "passphrase":
            server.sees("nothing was written")
            server.still()
            server.keys("Escape")
        server.sees("Needs you")
        server.still()
        server.keys("q")
        server.sees("status=0", " icanon")


def test_suspending_and_going_on_decides_nothing(place: Place) -> None:
    before = place.journal
    with tmux(place) as server:
        open_review(server)
        pid = app_pid(server)
        for number in (signal.SIGSTOP, signal.SIGCONT, signal.SIGCONT):
            os.kill(pid, number)
        server.keys("C-l")
        server.sees("What will be signed")
        assert place.journal == before
        server.keys("Escape")
        server.sees("Needs you")
        server.keys("q")
        server.sees("status=0", " icanon")


# -- terminals of every kind --------------------------------------------------------------------


@pytest.mark.parametrize("size", [(20, 5), (46, 19), (80, 24), (200, 60)])
def test_it_starts_at_any_size_and_q_ends_it(place: Place, size: tuple[int, int]) -> None:
    with tmux(place, size=size) as server:
        server.sees("1 needs you" if size[1] == 5 else "Publish")
        assert "Traceback" not in server.screen
        server.keys("q")
        server.run("resize-window", "-x", "100", "-y", "30")
        server.sees("status=0")


@pytest.mark.parametrize(
    "environ",
    [
        {"TERM": "dumb"},
        {"TERM": "vt100"},
        {"TERM": "linux"},
        {"TERM": "screen-256color"},
        {"TERM": "tmux-256color", "COLORTERM": "truecolor"},
        {"NO_COLOR": "1"},
        {"LC_ALL": "C", "LANG": "C"},
        {"TERM": ""},
        {"TZ": "bogus"},
        {"TZ": "Asia/Kathmandu"},
    ],
    ids=lambda environ: "-".join(environ) + "-" + next(iter(environ.values())),
)
def test_it_starts_in_any_terminal(place: Place, environ: dict[str, str]) -> None:
    with tmux(place, **environ) as server:
        server.sees("Needs you", "Publish")
        assert "Traceback" not in server.screen
        server.keys("q")
        server.sees("status=0", " icanon")


def test_read_only_greys_deciding_with_the_reason(place: Place) -> None:
    before = place.journal
    with tmux(place, "--read-only") as server:
        server.sees(QUESTION, "read-only")
        server.keys("d")
        server.sees("What will be signed", "This workspace is open read-only")
        server.keys("A")
        server.still()
        assert "passphrase of your key" not in server.screen
        assert place.journal == before


# -- a workspace that is not there, or not whole ------------------------------------------------


def test_without_a_workspace_it_explains_and_opens_one_that_comes(
    place: Place, tmp_path: Path
) -> None:
    aside = tmp_path / "aside"
    (place.root / ".loopx").rename(aside)
    with tmux(place) as server:
        server.sees(strings.NO_WORKSPACE, "loopx connect")
        aside.rename(place.root / ".loopx")
        server.sees(QUESTION)


def test_a_file_where_the_workspace_should_be_is_explained(place: Place, tmp_path: Path) -> None:
    (place.root / ".loopx").rename(tmp_path / "aside")
    (place.root / ".loopx").write_text("not a folder")
    with tmux(place) as server:
        server.sees(strings.NO_WORKSPACE)
        assert "Traceback" not in server.still()
        server.keys("q")
        server.sees("status=0")
    assert (place.root / ".loopx").read_text() == "not a folder"


# -- what editors and people do to the files ----------------------------------------------------


def test_the_folder_made_again_from_a_copy_is_seen(place: Place, tmp_path: Path) -> None:
    backup = tmp_path / "backup"
    shutil.copytree(place.root / ".loopx", backup, copy_function=shutil.copy2)
    place.must("todo", "add", "Only in the newer one", "--agent", "codex")
    with tmux(place) as server:
        server.sees("Only in the newer one", "live")
        shutil.rmtree(place.root / ".loopx")
        subprocess.run(["cp", "-a", str(backup), str(place.root / ".loopx")], check=True)
        server.sees_no("Only in the newer one")
        server.sees(QUESTION, "live")
        place.must("todo", "add", "Written into the copy", "--agent", "codex")
        server.sees("Written into the copy")


@pytest.mark.skipif(shutil.which("vim") is None, reason="vim is not installed")
def test_a_tick_saved_in_vim_outside_the_folder_is_seen_each_time(tmp_path: Path) -> None:
    page = f".codex/goals/{GOAL}/ACTIVE_GOAL_STATE.md"
    (tmp_path / "made").mkdir()
    build(tmp_path / "made" / "w", tmp_path / "made" / "key", PASSPHRASE, page)
    place = Place.copy_of(tmp_path / "made", tmp_path)
    place.must("todo", "add", "Convert components", "--agent", "codex")
    with tmux(place) as server:
        server.sees("Convert components", "live")
        for edit, ticked in (("s/- \\[ \\]/- [x]/", True), ("s/- \\[x\\]/- [ ]/", False)) * 3:
            words = ("vim", "-u", "NONE", "-es", "-c", f"g/Convert/{edit}", "-c", "wq", page)
            subprocess.run(words, check=True, env=place.environ, cwd=place.root, timeout=PATIENCE)
            if ticked:
                server.sees("was ticked by hand")
            else:
                server.sees_no("was ticked by hand")
    assert "dark-mode: 2 lines, whole" in place.must("event", "verify")
