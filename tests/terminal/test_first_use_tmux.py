"""First use in a real tmux: from an empty folder to a goal, the demo, another workspace; and what
belongs to the person: their editor, their themes, their notices."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
from contextlib import suppress
from pathlib import Path

import pexpect
import pytest
from loopx_kernel.workspace.listed import add

from loopx_tui import first_words as words
from loopx_tui import strings
from tests.terminal.stage import TUI, Place, Tmux, app_pid, is_gone, tmux, wait
from tests.tui.gates import PASSPHRASE, build
from tests.tui.test_themes import write

pytestmark = [
    pytest.mark.terminal,
    pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed"),
]
QUESTION = "Publish one point zero?"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    build(folder / "w", folder / "key").request(question=QUESTION)
    return folder


@pytest.fixture
def place(made: Path, tmp_path: Path) -> Place:
    return Place.copy_of(made, tmp_path)


@pytest.fixture
def empty(place: Place, tmp_path: Path) -> Place:
    """A person without a key in a folder without a workspace."""
    folder = tmp_path / "shop"
    folder.mkdir()
    environ = {name: value for name, value in place.environ.items() if name != "LOOPX_KEY"}
    return Place(tmp_path, folder, environ)


def own(place: Place) -> Path:
    return Path(place.environ["XDG_CONFIG_HOME"], "loopx")


def sign(server: Tmux) -> None:
    """The second deliberate key, once it counts."""
    server.sees(words.SIGN_ENROLMENT)
    server.sees_no(strings.KEYS_WAIT)
    server.keys("C-s")


def new_passphrase(server: Tmux) -> None:
    """Types it twice; each has to arrive before what is typed next."""
    server.sees(words.NEW_PASSPHRASE)
    for times in (1, 2):
        server.type(PASSPHRASE)
        wait(lambda times=times: server.screen.count("•") == times * len(PASSPHRASE))
        server.keys("Enter")
        server.still()


def answer(server: Tmux, step: str, text: str) -> None:
    server.sees(step)
    server.type(text)
    server.sees(text)
    server.keys("C-o")


def test_from_an_empty_folder_to_a_goal(empty: Place) -> None:
    with tmux(empty) as server:
        server.sees(words.WELCOME, "no workspace")
        server.keys("Enter")
        server.sees("Connect shop")
        server.keys("C-o")
        new_passphrase(server)
        sign(server)
        server.sees(words.CONNECTED_TITLE, words.GOAL_NEXT)
        server.keys("Enter")
        answer(server, "1 of 6", "Dark mode for the shop")
        answer(server, "2 of 6", "src/theme/**")
        answer(server, "3 of 6", "publish:git push*")
        answer(server, "4 of 6", "cmd:pytest -q")
        server.sees("5 of 6", "576 slots")
        server.keys("C-o")
        server.sees("6 of 6")
        server.keys("C-o")
        server.sees("Opens the goal dark-mode-for-the-shop")
        server.sees_no(strings.KEYS_WAIT)
        server.keys("G")
        server.sees_no(strings.READ_ON)
        server.sees_no(strings.KEYS_WAIT)
        server.keys("A")
        server.sees(strings.SIGN_BY_PASSPHRASE)
        server.type(PASSPHRASE)
        server.keys("Enter")
        server.sees("loopx agent add claude-code")
        server.keys("Escape")
        server.sees("nothing needs you", "1/1 goal")
        server.keys("q")
        server.sees("status=0")
    assert "dark-mode-for-the-shop" in empty.must("goal", "list")
    assert "passphrase" in empty.must("owner", "list")
    empty.must("event", "verify", "--deep")
    assert (own(empty) / "loopx_ed25519").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("at", ["form", "passphrase", "signature"])
def test_leaving_on_the_way_owns_nothing_and_it_can_be_begun_again(empty: Place, at: str) -> None:
    with tmux(empty) as server:
        server.sees(words.WELCOME)
        server.keys("C")
        server.sees("Connect shop")
        if at != "form":
            server.keys("C-o")
            server.sees(words.NEW_PASSPHRASE)
        if at == "signature":
            new_passphrase(server)
            server.sees(words.SIGN_ENROLMENT)
        server.keys("Escape")
        server.sees("Nothing was signed")
        server.sees(words.WELCOME)
        if at == "signature":
            server.sees(words.NO_OWNER)
        else:
            assert not (empty.root / ".loopx").exists()
            assert not (own(empty) / "loopx_ed25519").exists()
        server.keys("C")
        server.sees("Connect shop")


def test_in_an_agents_shell_nobody_connects(empty: Place) -> None:
    with tmux(empty, LOOPX_AGENT="codex") as server:
        server.sees(words.WELCOME)
        server.keys("C")
        server.sees("LOOPX_AGENT is set")
        assert not (empty.root / ".loopx").exists()


def test_the_demo_is_one_key_away(empty: Place) -> None:
    with tmux(empty) as server:
        server.sees(words.WELCOME)
        pid = app_pid(server)
        server.keys("M")
        server.sees("demo", "as of")
        assert app_pid(server) == pid
        server.keys("W")
        server.sees("This is the demo")
        server.keys("q")
        server.sees("status=0")
    assert not (empty.root / ".loopx").exists()


def test_another_workspace_is_opened_in_place_of_this_one(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", place.environ["XDG_CONFIG_HOME"])
    other = tmp_path / "production"
    build(other, tmp_path / "other-key").request("npm publish other", question="And the other?")
    for root in (place.root, other):
        add(root)
    (own(place) / "config.yaml").write_text(
        f"workspaces: {{{other}: {{label: PRODUCTION, colour: alert}}}}\n"
    )
    with tmux(place, "--read-only") as server:
        server.sees(QUESTION)
        pid = app_pid(server)
        server.keys("W")
        server.sees(words.PLACES, words.HERE)
        server.type("production")
        server.sees_no(words.HERE)
        server.keys("Enter")
        server.sees("And the other?", "read-only", " PRODUCTION ")
        assert app_pid(server) == pid
        server.keys("W")
        server.sees(words.PLACES)
        server.type(f"{place.root}")
        server.keys("Enter")
        server.sees(QUESTION, "read-only")
        server.keys("q")
        server.sees("status=0", "icanon")


# -- what belongs to the person -----------------------------------------------------------------


def an_editor(place: Place, line: str) -> str:
    """A program that draws, waits for a line, and does what a test says with the file."""
    script = place.folder / "editor"
    script.write_text(f"#!/bin/sh\nprintf '\\033[2JMY EDITOR'\nread answer\n{line}\n")
    script.chmod(0o755)
    return str(script)


def open_form(server: Tmux) -> None:
    server.sees(QUESTION)
    server.keys("O")
    server.sees("objective · dark-mode", "$EDITOR")
    server.keys("C-g")
    server.sees("MY EDITOR")


def test_an_editor_has_the_terminal_and_gives_it_back(place: Place) -> None:
    words_ = an_editor(place, 'printf "%s\\nin the editor" "$answer" > "$1"')
    with tmux(place, EDITOR=words_) as server:
        open_form(server)
        place.house.request("npm publish b", question="Meanwhile?")
        assert "Meanwhile?" not in server.still()
        server.type("written")
        server.keys("Enter")
        server.sees("objective · dark-mode", "in the editor")
        server.keys("Escape")
        server.sees_no("objective · dark-mode")
        server.keys("Escape")
        server.sees("Meanwhile?", QUESTION)
        server.keys("q")
        server.sees("status=0")
    assert b"objective" not in place.journal.splitlines()[-1]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_an_end_meanwhile_takes_the_editor_along(place: Place, number: signal.Signals) -> None:
    pids = place.folder / "pid"
    words_ = an_editor(place, "")
    Path(words_).write_text(
        f"#!/bin/sh\ntrap '' HUP TERM\necho $$ > {pids}\nprintf 'MY EDITOR'\nexec sleep 600\n"
    )
    with tmux(place, EDITOR=words_) as server:
        open_form(server)
        pid = app_pid(server)
        os.kill(pid, number)
        wait(lambda: is_gone(pid))
        server.sees("status=", "icanon")
        wait(lambda: is_gone(int(pids.read_text())))


def test_a_theme_is_seen_as_it_is_saved(place: Place) -> None:
    write(own(place) / "themes", "mine", label="Mine")
    with tmux(place, "--theme", "mine", COLORTERM="truecolor") as server:
        server.sees(QUESTION, "live")
        write(own(place) / "themes", "mine", label="Mine", surface="#123456")
        wait(lambda: "48;2;18;52;86" in server.run("capture-pane", "-p", "-e"))
        (own(place) / "themes" / "mine.yaml").write_text("accent: blurple\n")
        server.sees("the screen stays as it was")
        assert "48;2;18;52;86" in server.run("capture-pane", "-p", "-e")


@pytest.mark.parametrize("passes", ["on", "off"])
def test_a_desktop_notice_goes_through_tmux_where_that_lets_it(place: Place, passes: str) -> None:
    server = Tmux(place.environ | {"TERM": "tmux-256color"})
    client = None
    try:
        server.start("sh", "-c", "exec sleep 600")
        server.run("set-option", "-g", "allow-passthrough", passes)
        client = pexpect.spawn(
            "tmux",
            ["-L", server.socket, "attach"],
            env=place.environ,
            dimensions=(36, 120),
            encoding=None,
        )
        log = bytearray()

        def read() -> bytes:
            with suppress(pexpect.TIMEOUT):
                log.extend(client.read_nonblocking(1 << 16, timeout=0.05))
            return bytes(log)

        tui = shlex.join((*TUI, str(place.root)))
        server.run("respawn-pane", "-k", "sh", "-c", f"exec {tui}")
        wait(lambda: read() and QUESTION in server.screen and "live" in server.screen)
        wait(lambda: b"\a" in read() or passes == "on")
        if passes == "on":
            wait(lambda: b"\x1b]9;loopx: G1 Publish one point zero? (dark-mode)" in read())
        else:
            server.still()
            assert b"\x1b]9;" not in read()
        assert server.format("#{pane_title}") == "loopx - 1 needs you - w"
        server.keys("q")
        wait(lambda: server.format("#{pane_dead}") == "1")
        assert server.format("#{pane_title}") != "loopx - 1 needs you - w"
    finally:
        if client is not None:
            client.close(force=True)
        server.run("kill-server", check=False)
