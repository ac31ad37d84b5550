"""A person's own editor: what it saves is taken over, and whatever it does, nothing is lost."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from textual.app import App
from textual.widgets import Static, TextArea

from loopx_tui import editor, strings
from loopx_tui.cases.case import Field
from loopx_tui.screens.form import FormScreen
from loopx_tui.themes import DEFAULT, to_textual
from tests.tui.gates import until

FIELDS = (Field("text", "text", "text"), Field("reason", "reason"))


class Lender(App[None]):
    """An app that lends a terminal it has not."""

    lent = 0

    def __init__(self) -> None:
        super().__init__()
        self.register_theme(to_textual(DEFAULT))
        self.theme = "loopx-dark"

    @contextmanager
    def suspend(self) -> Iterator[None]:
        self.lent += 1
        yield
        self.lent -= 1


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An editor that a test writes: a shell script whose last word is the file."""
    place = tmp_path / "my editor"
    place.write_text("#!/bin/sh\n")
    place.chmod(0o755)
    monkeypatch.setenv("EDITOR", f"'{place}' --wait")
    return place


def says(script: Path, line: str) -> None:
    script.write_text(f"#!/bin/sh\nfor file; do :; done\n{line}\n")


async def test_what_is_saved_is_the_text(script: Path, tmp_path: Path) -> None:
    says(script, f'cp "$file" {tmp_path}/seen; ls -ld "$(dirname "$file")" > {tmp_path}/mode;'
                 ' printf "one\\r\\ntwo\\n" > "$file"')  # fmt: skip
    app = Lender()
    assert await editor.edit(app, "before: 深色\n", ".yaml") == ("one\ntwo\n", "")
    assert (tmp_path / "seen").read_text("utf-8") == "before: 深色\n"
    assert (tmp_path / "mode").read_text().startswith("drwx------")
    assert await editor.edit(app, "without an end", ".md") == ("one\ntwo", "")
    assert app.lent == 0


@pytest.mark.parametrize(
    ("line", "part"),
    [
        ("exit 3", "exit status 3"),
        ("kill -9 $$", "exit status -9"),
        ('printf "\\377" > "$file"', strings.EDITED_UNREADABLE),
        ('rm "$file"', strings.EDITED_UNREADABLE),
        ('head -c 1100000 /dev/zero > "$file"', strings.EDITED_TOO_LARGE),
        ('rm "$file"; mkdir "$file"', strings.EDITED_UNREADABLE),
    ],
)
async def test_an_editor_that_ends_badly_changes_nothing(
    script: Path, line: str, part: str
) -> None:
    says(script, line)
    text, problem = await editor.edit(Lender(), "before", ".md")
    assert text == "before" and part in problem


async def test_an_editor_that_is_not_there_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VISUAL", "/nowhere/vim -f")
    text, problem = await editor.edit(Lender(), "before", ".md")
    assert text == "before" and "/nowhere/vim did not end well (No such file" in problem


def test_the_editor_is_visual_then_editor_then_a_usual_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert editor.editor({"VISUAL": "a -b 'c d'", "EDITOR": "e"}) == ("a", "-b", "c d")
    assert editor.editor({"VISUAL": "'", "EDITOR": "e"}) == ("e",)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert editor.editor({}) == ()
    (tmp_path / "nano").write_text("")
    (tmp_path / "nano").chmod(0o755)
    assert editor.editor({"EDITOR": " "}) == ("nano",)


async def test_no_file_is_left_and_interrupts_are_ours_again(
    script: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.setattr("tempfile.tempdir", None)
    (tmp_path / "tmp").mkdir()
    before = signal.getsignal(signal.SIGINT)
    says(script, "exit 1")
    await editor.edit(Lender(), "x", ".md")
    assert list((tmp_path / "tmp").iterdir()) == []
    assert signal.getsignal(signal.SIGINT) is before


async def test_an_interrupt_is_the_editors_alone(script: Path) -> None:
    says(script, 'trap "" INT; kill -INT $PPID; printf "went on" > "$file"')
    assert await editor.edit(Lender(), "before", ".md") == ("went on", "")


async def test_an_app_that_ends_takes_the_editor_along(script: Path, tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    says(script, f"echo $$ > {pid}.part; mv {pid}.part {pid}; exec sleep 600")
    task = asyncio.create_task(editor.edit(Lender(), "x", ".md"))
    while not pid.exists():
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    with pytest.raises(ProcessLookupError):
        while True:
            os.kill(int(pid.read_text()), 0)
            await asyncio.sleep(0.01)


async def test_a_form_gives_its_text_to_the_editor_and_says_what_went_wrong(script: Path) -> None:
    says(script, 'printf "written there" > "$file"')
    app = Lender()
    async with app.run_test() as pilot:
        form = FormScreen("A form", FIELDS, {"text": "before"}, {})
        app.push_screen(form)
        await until(pilot, lambda: app.screen is form and bool(form.query("#dialog-hint")))
        area = form.widgets["text"]
        assert isinstance(area, TextArea)
        await pilot.press("tab", "ctrl+g")
        await until(pilot, lambda: area.text == "written there")
        says(script, "exit 5")
        await pilot.press("ctrl+g")
        note = form.query_one("#dialog-note", Static)
        await until(pilot, lambda: "exit status 5" in str(note.content))
        assert area.text == "written there"


async def test_a_form_without_a_text_offers_no_editor() -> None:
    app = Lender()
    async with app.run_test() as pilot:
        form = FormScreen("A form", FIELDS[1:], {}, {})
        app.push_screen(form)
        await until(pilot, lambda: app.screen is form and bool(form.query("#dialog-hint")))
        assert "$EDITOR" not in str(form.query_one("#dialog-hint", Static).content)
        await pilot.press("ctrl+g")
        note = form.query_one("#dialog-note", Static)
        await until(pilot, lambda: strings.NOTHING_TO_EDIT in str(note.content))
