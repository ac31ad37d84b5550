"""Telling a person: once per item, in words that are safe for any terminal, or not at all."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from loopx_kernel.views.workspace import Unread, WorkspaceView
from loopx_kernel.workspace import person

from loopx_tui import notices
from loopx_tui.notices import News, Notices, run_command, sequences, title, wish
from loopx_tui.telling import Telling
from tests.tui import fixtures

XTERM = {"TERM": "xterm-256color"}
TMUX = {"TERM": "tmux-256color", "TMUX": "/tmp/tmux-1000/default,1,0"}
HOSTILE = "a\x1b]52;c;aGk=\x07b\x9c\u202e\nc"


def space(*names: str, unread: Sequence[Unread] = ()) -> WorkspaceView:
    """The goals of these names, of all four."""
    return fixtures.workspace([g for g in fixtures.goals() if g.goal_id in names], unread)


def ids(news: News) -> list[str]:
    return [item["id"] for item in news.items]


def test_an_item_is_new_once_and_not_again_after_a_restart(tmp_path: Path) -> None:
    folder = tmp_path / "state"
    first = Notices("w", folder=folder)
    assert ids(first.news(space("dark-mode"))) == ["G4"]
    assert ids(first.news(space("dark-mode"))) == []
    again = Notices("w", folder=folder)
    assert ids(again.news(space("dark-mode", "fix-checkout"))) == ["drift:fix-checkout"]
    assert ids(Notices("another", folder=folder).news(space("dark-mode"))) == ["G4"]


def test_what_waits_no_longer_is_forgotten_and_new_when_it_comes_back(tmp_path: Path) -> None:
    told = Notices("w", folder=tmp_path)
    told.news(space("dark-mode"))
    assert told.news(space("docs-refresh")).waiting == 0
    assert list(tmp_path.iterdir()) == []
    assert ids(told.news(space("dark-mode"))) == ["G4"]


def test_a_goal_that_cannot_be_read_is_news_and_its_items_are_not_forgotten() -> None:
    told = Notices("w", folder=None)
    told.news(space("dark-mode"))
    lost = Unread("dark-mode", "unreachable", "Its journal is gone", "loopx doctor")
    assert ids(told.news(space(unread=[lost]))) == ["damage"]
    assert ids(told.news(space("dark-mode"))) == []


@pytest.mark.parametrize("content", ["", "{", "[1, null]", "{}", "\0" * 99, "[" * 100_000])
def test_a_spoilt_memory_only_tells_again(tmp_path: Path, content: str) -> None:
    Notices("w", folder=tmp_path).news(space("dark-mode"))
    (memory,) = tmp_path.iterdir()
    memory.write_text(content)
    assert ids(Notices("w", folder=tmp_path).news(space("dark-mode"))) == ["G4"]
    assert ids(Notices("w", folder=tmp_path).news(space("dark-mode"))) == []


def test_a_folder_that_cannot_be_written_does_no_harm(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    told = Notices("w", folder=tmp_path / "file" / "state")
    assert ids(told.news(space("dark-mode"))) == ["G4"]
    assert ids(told.news(space("dark-mode"))) == []


def item(question: str = "Publish?") -> dict[str, Any]:
    return {"goal_id": "dark-mode", "id": "G4", "kind": "gate", "question": question, "next": ""}


def test_bell_and_notice_say_what_waits() -> None:
    assert sequences(News(1, ()), XTERM) == ""
    assert sequences(News(1, (item(),)), XTERM) == "\a\x1b]9;loopx: G4 Publish? (dark-mode)\a"
    assert sequences(News(2, (item(), item())), XTERM) == "\a\x1b]9;loopx: 2 need you\a"
    wrapped = "\x1bPtmux;\x1b\x1b]9;loopx: G4 Publish? (dark-mode)\a\x1b\\"
    assert sequences(News(1, (item(),)), TMUX) == "\a" + wrapped


def test_a_notice_names_the_workspace_and_takes_the_form_its_terminal_knows() -> None:
    news = News(1, (item("a;b"),))
    named = "\a\x1b]9;loopx PRODUCTION: G4 a;b (dark-mode)\a"
    assert sequences(news, XTERM, "PRODUCTION") == named
    for environ in (
        {"TERM": "foot"},
        {"TERM": "rxvt-unicode-256color"},
        XTERM | {"VTE_VERSION": "7"},
    ):
        said = sequences(news, environ, "PROD;x")
        assert said == "\a\x1b]777;notify;loopx PROD,x;G4 a;b (dark-mode)\a"


@pytest.mark.parametrize("term", ["", "dumb", "linux", "vt100", "vt220", "screen.xterm"])
def test_terminals_without_such_sequences_get_the_bell_alone(term: str) -> None:
    assert sequences(News(1, (item(),)), {"TERM": term}) == "\a"
    assert title(1, "w", {"TERM": term}) == ""


def test_text_from_outside_cannot_end_or_begin_a_sequence() -> None:
    for text in (sequences(News(1, (item(HOSTILE),)), XTERM), title(2, HOSTILE, XTERM)):
        inside = text.lstrip("\a").removeprefix("\x1b]").removesuffix("\a")
        assert not set("\x1b\x07\x9c\u202e\n") & set(inside)
    assert len(title(1, "x" * 5000, XTERM)) < 200


def test_the_title_counts_and_says_where() -> None:
    assert title(0, "mall", XTERM) == "\x1b]2;loopx - mall\a"
    assert title(1, "mall", XTERM) == "\x1b]2;loopx - 1 needs you - mall\a"
    assert title(2, "mall", TMUX) == "\x1b]2;loopx - 2 need you - mall\a"


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    place = person.config_file()
    place.parent.mkdir(parents=True)
    return place


@pytest.mark.parametrize(
    ("text", "silent", "command"),
    [
        ("", False, ()),
        ("key: k\n", False, ()),
        ("notify: none\n", True, ()),
        ("notify: off\n", False, None),
        ("notify: false\n", True, ()),
        ("notify: {command: \"notify-send 'Loop X'\"}\n", False, ("notify-send", "Loop X")),
        ("notify: {command: [a, b c]}\n", False, ("a", "b c")),
        ('notify: {command: "\'"}\n', False, None),
        ("notify: {command: 5}\n", False, None),
        ("notify: {command: [1]}\n", False, None),
        ("notify: [x]\n", False, None),
        ("notify: {}\n", False, None),
    ],
)
def test_the_persons_own_configuration_says_how(
    config: Path, text: str, silent: bool, command: tuple[str, ...] | None
) -> None:
    config.write_text(text)
    wished, problem = wish()
    assert (wished.silent, wished.command) == (silent, command or ())
    assert bool(problem) == (command is None)


def test_a_configuration_that_cannot_be_read_is_a_sentence(config: Path) -> None:
    config.write_text("notify: {")
    assert "is not YAML" in wish()[1]


def test_the_command_gets_the_item_on_its_input_and_cannot_draw(tmp_path: Path) -> None:
    place = tmp_path / "got"
    script = (
        "import os, sys; print('noise'); print('noise', file=sys.stderr)\n"
        f"open({str(place)!r}, 'w').write(sys.stdin.read() + str(os.getsid(0) == os.getpid()))"
    )
    assert run_command((sys.executable, "-c", script), item("漢 \ud800")) == ""
    line, own_session = place.read_text().splitlines()
    assert json.loads(line) | {"question": ""} == item("")
    assert own_session == "True"


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("/nowhere/at-all",), "No such file"),
        ((sys.executable, "-c", "raise SystemExit(3)"), "exit status 3"),
        (("a\0b",), "not a command"),
    ],
)
def test_a_command_that_does_not_work_is_a_sentence(words: tuple[str, ...], why: str) -> None:
    assert why in run_command(words, item())


def test_a_command_that_does_not_end_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notices, "COMMAND_SECONDS", 0.05)
    words = (sys.executable, "-c", "import time; time.sleep(60)")
    assert "took more than 0.05 s" in run_command(words, item())


class Heard:
    """A terminal and a person."""

    def __init__(self, folder: Path | None) -> None:
        self.written: list[str] = []
        self.complaints: list[str] = []
        self.telling = Telling(
            write=self.written.append,
            complain=self.complaints.append,
            environ=XTERM,
            folder=folder,
        )


async def test_one_bell_for_a_reading_and_none_for_the_next(config: Path, tmp_path: Path) -> None:
    heard = Heard(tmp_path / "state")
    for view in (space("dark-mode"), space("dark-mode"), space("dark-mode", "docs-refresh")):
        await heard.telling.tell(view)
    await heard.telling.tell(space("dark-mode", "fix-checkout"))
    heard.telling.end()
    said = "".join(heard.written)
    assert said.count("\a\x1b]9;") == 2
    assert said.startswith("\x1b[22;2t\x1b]2;loopx - 1 needs you")
    assert said.count("\x1b[22;2t") == 1 and said.endswith("\x1b[23;2t")


async def test_none_is_quiet(config: Path) -> None:
    config.write_text("notify: none\n")
    heard = Heard(None)
    await heard.telling.tell(space("dark-mode"))
    heard.telling.end()
    assert (heard.written, heard.complaints) == ([], [])


async def test_the_command_runs_once_per_item_and_its_failure_is_said(
    config: Path, tmp_path: Path
) -> None:
    place = tmp_path / "got"
    script = f"import sys; open({str(place)!r}, 'a').write(sys.stdin.read()); sys.exit(1)"
    command = json.dumps([sys.executable, "-c", script])
    config.write_text(f"notify: {{command: {command}}}\n")
    heard = Heard(None)
    await heard.telling.tell(space("dark-mode", "fix-checkout"))
    async with asyncio.timeout(10):
        while len(heard.complaints) < 2:
            await asyncio.sleep(0.01)
    given = [json.loads(line)["id"] for line in place.read_text().splitlines()]
    assert sorted(given) == ["G4", "drift:fix-checkout"]
    assert set(heard.complaints) == {"Your notify.command did not work: exit status 1"}
