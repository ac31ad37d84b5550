"""Copying: which way it went is said, and what cannot be copied is a message."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopx_tui.clipboard import LARGEST_BYTES, copy, pasteable


async def test_outside_tmux_the_terminal_gets_it_and_the_message_says_so() -> None:
    sent: list[str] = []
    said = await copy("G4 · 深色", sent.append, {})
    assert sent == ["G4 · 深色"]
    assert "OSC 52" in said and "12 bytes" in said


async def test_escapes_and_other_controls_are_left_out() -> None:
    sent: list[str] = []
    await copy("a\x1b]52;c;aGk=\x07b\tc\n\x9b31md\r", sent.append, {})
    assert sent == ["a]52;c;aGk=b\tc\n31md"]


@pytest.mark.parametrize(
    ("text", "part"),
    [("", "nothing to copy"), ("\x1b", "nothing to copy"), ("x" * 200_000, "most")],
)
async def test_what_is_not_copied_is_said(text: str, part: str) -> None:
    sent: list[str] = []
    assert part in await copy(text, sent.append, {})
    assert sent == []


async def test_largest_text_still_goes() -> None:
    sent: list[str] = []
    await copy("x" * LARGEST_BYTES, sent.append, {})
    assert len(sent[0]) == LARGEST_BYTES


async def test_lone_surrogates_do_not_stop_it() -> None:
    sent: list[str] = []
    await copy("a\ud800b", sent.append, {})
    assert sent == ["a?b"]


def tmux(folder: Path, script: str) -> dict[str, str]:
    """An environment inside a tmux that behaves like ``script``."""
    program = folder / "tmux"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return {"TMUX": "/tmp/x,1,0", "PATH": f"{folder}:/usr/bin:/bin"}


async def test_inside_tmux_the_buffer_gets_it(tmp_path: Path, monkeypatch) -> None:
    environ = tmux(tmp_path, f'echo "$@" > {tmp_path}/asked; cat > {tmp_path}/got')
    monkeypatch.setenv("PATH", environ["PATH"])
    sent: list[str] = []
    said = await copy("one\ntwo", sent.append, environ)
    assert (tmp_path / "got").read_text() == "one\ntwo"
    assert (tmp_path / "asked").read_text().split() == ["load-buffer", "-"]
    assert "tmux buffer" in said and sent == []


async def test_tmux_that_refuses_is_a_message(tmp_path: Path, monkeypatch) -> None:
    environ = tmux(tmp_path, "echo no server running >&2; exit 1")
    monkeypatch.setenv("PATH", environ["PATH"])
    assert "no server running" in await copy("x", pytest.fail, environ)
    monkeypatch.setenv("PATH", "/nowhere")
    missing = await copy("x", pytest.fail, {"TMUX": "x", "PATH": "/nowhere"})
    assert missing == "Not copied: tmux is not in PATH"


@pytest.mark.terminal
async def test_a_real_tmux_holds_what_was_copied(tmp_path: Path, monkeypatch) -> None:
    socket = tmp_path / "socket"
    run = ["tmux", "-S", str(socket)]
    subprocess.run([*run, "-f", "/dev/null", "new", "-d", "sleep 60"], check=True)
    try:
        import os

        environ = {**os.environ, "TMUX": f"{socket},1,0"}
        said = await copy("held by tmux", pytest.fail, environ)
        shown = subprocess.run([*run, "show-buffer"], capture_output=True, text=True, check=True)
    finally:
        subprocess.run([*run, "kill-server"], check=True)
    assert said.startswith("Copied") and shown.stdout == "held by tmux"


@given(st.text())
def test_pasteable_text_holds_no_control_but_line_ends_and_tabs(text: str) -> None:
    kept = pasteable(text)
    assert not any(ord(c) < 32 and c not in "\n\t" for c in kept)
    assert not any(0x7F <= ord(c) <= 0x9F for c in kept)
    assert pasteable(kept) == kept
