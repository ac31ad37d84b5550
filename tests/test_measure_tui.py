"""The tool that measures terminal programs, measured on programs whose cost is known."""

from __future__ import annotations

import os
import sys
from functools import partial
from pathlib import Path

import pytest

from bench.measure_tui import measure, medians
from bench.terminal import UNFINISHED

PROGRAM = """
import os, select, sys, tty
tty.setraw(0)
size = os.get_terminal_size()
text = f"{size.columns}x{size.lines}".encode() * 10
os.write(1, b"\\x1b[?1049h\\x1b[?2026h\\x1b[31m" + text + b"\\x1b[?2026$p")
assert os.read(0, 20) == b"\\x1b[?2026;2$y"
fifo = os.open(sys.argv[1], os.O_RDWR)
while True:
    for fd in select.select([0, fifo], [], [])[0]:
        data = os.read(fd, 1)
        if data in (b"q", b""): sys.exit()
        if data == b"j": os.write(1, b"\\x1b[?2026hmoved")
        if data == b"p": os.write(1, b"\\x1b[?2026h" + b"poked" * 20)
"""


@pytest.fixture
def program(tmp_path: Path) -> list[str]:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "program.py").write_text(PROGRAM)
    return [sys.executable, str(tmp_path / "program.py"), str(tmp_path / "fifo")]


def test_the_cost_of_start_idle_keys_and_changes_is_measured(program: list[str]) -> None:
    poke = partial(Path(program[2]).write_bytes, b"p")

    facts = measure(
        program,
        size=(90, 30),
        idle_seconds=0.5,
        pokes=[poke, poke],
        keys=[b"j", b"x", b"j"],
        gap_seconds=0.4,
        quiet_seconds=0.3,
        quit_keys=b"q",
    )

    assert facts["startup_bytes"] == 8 + 8 + 5 + 10 * len("90x30") + 9
    assert 0 < (facts["first_paint_ms"] or 0) <= (facts["settle_ms"] or 0)
    assert (facts["startup_frames"], facts["exited"]) == (1, False)
    assert (facts["idle_bytes_s"], facts["idle_frames_s"], facts["processes"]) == (0, 0, 1)
    assert (facts["idle_cpu_pct"] or 0) < 5 < (facts["rss_mb"] or 0)
    assert (facts["poke_n"], facts["poke_silent"], facts["poke_bytes"]) == (2, 0, 108)
    assert (facts["key_n"], facts["key_silent"], facts["key_bytes"]) == (3, 1, 13)
    assert (facts["key_frames"], facts["startup_cpu_ms"] or 0) > (1, 0)


def test_a_program_that_outlives_its_terminal_is_told_from_one_that_does_not(
    program: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bench.measure_tui.GONE_SECONDS", 1.0)
    stays = [sys.executable, "-c", "import signal; signal.signal(1, 1); print('x'); signal.pause()"]

    assert 0 < (measure(program, quiet_seconds=0.2, hang_up=True)["gone_ms"] or 0) < 1000
    assert measure(stays, quiet_seconds=0.2, hang_up=True)["gone_ms"] is None


@pytest.mark.parametrize(
    "whole", [b"\x1b[?2026$p", b"\x1b]11;?\x1b\\", b"\x1bP>|x\x1b\\", b"\x1b7"]
)
def test_a_sequence_cut_anywhere_waits_for_its_rest(whole: bytes) -> None:
    for cut in range(1, len(whole)):
        found = UNFINISHED.search(b"text" + whole[:cut])
        assert found is not None
        assert found[0] == whole[:cut]
    assert UNFINISHED.search(b"text" + whole) is None


def test_the_middle_run_is_reported_and_what_never_happened_stays_unknown() -> None:
    runs = [{"a": 1.0, "b": None}, {"a": 9.0, "b": None}, {"a": 2.0, "b": None}]

    assert medians(runs) == {"a": 2.0, "b": None}
