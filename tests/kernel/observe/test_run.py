"""Running a command: whatever it does, it ends in time, alone, and with nothing of ours."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loopx_kernel.observe.run import SYSTEM_FOLDERS, Run, run_command, split_command

SOON = 0.3
GENEROUS = 60


def _python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


@contextmanager
def _held(tmp_path: Path) -> Iterator[Path]:
    """A pipe with a name; leaving the block waits until nobody has it open for writing."""
    pipe = tmp_path / "held"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        yield pipe
        assert select.select([reader], [], [], GENEROUS)[0], "nothing ever held the pipe"
        while os.read(reader, 1):
            pass
    except BlockingIOError:
        pytest.fail("something the command started is still alive")
    finally:
        os.close(reader)


def test_status_and_both_outputs_come_back(tmp_path: Path) -> None:
    code = "import sys; print('out', flush=True); print('err', file=sys.stderr); sys.exit(3)"
    assert run_command(_python(code), tmp_path) == Run(3, b"out\nerr\n")
    assert run_command(["true"], tmp_path) == Run(0)


def test_it_runs_in_the_folder_that_was_named(tmp_path: Path) -> None:
    (tmp_path / "tool").write_text("#!/bin/sh\npwd -P\n")
    (tmp_path / "tool").chmod(0o755)
    run = run_command(["./tool"], tmp_path)
    assert run == Run(0, f"{tmp_path.resolve()}\n".encode())


def test_no_shell_reads_the_words(tmp_path: Path) -> None:
    words = ["$HOME", "*", "a;b", "", "`x`", "> f"]
    code = "import sys; print(sys.argv[1:])"
    assert run_command([*_python(code), *words], tmp_path).output == f"{words}\n".encode()


@pytest.mark.parametrize(
    "argv",
    [[], [""], ["no-such-program-anywhere"], ["./absent"], ["./plain"], ["./folder"], ["a\0b"]],
    ids=repr,
)
def test_what_cannot_be_started_is_said_to_be(tmp_path: Path, argv: list[str]) -> None:
    (tmp_path / "plain").write_text("not executable")
    (tmp_path / "folder").mkdir()
    assert run_command(argv, tmp_path) == Run(None, problem="not_started")


def test_neither_does_it_start_from_a_bad_interpreter_or_in_a_folder_that_is_gone(
    tmp_path: Path,
) -> None:
    for name, content in (("bad", b"#!/no/such/interpreter\n"), ("binary", b"\x7fELF\0garbage")):
        (tmp_path / name).write_bytes(content)
        (tmp_path / name).chmod(0o755)
        assert run_command([f"./{name}"], tmp_path).problem == "not_started"
    assert run_command(["true"], tmp_path / "gone").problem == "not_started"
    assert run_command(["true"], tmp_path / "bad").problem == "not_started"
    assert run_command(["half\ud800"], tmp_path).problem == "not_started"


def test_a_command_that_hangs_is_stopped(tmp_path: Path) -> None:
    code = "import time; print('here', flush=True); time.sleep(1000)"
    run = run_command(["sh", "-c", "echo here; exec sleep 1000"], tmp_path, seconds=SOON)
    assert run == Run(None, b"here\n", "timed_out")
    ignoring = "import signal; [signal.signal(s, signal.SIG_IGN) for s in (1, 2, 15)]; " + code
    assert run_command(_python(ignoring), tmp_path, seconds=SOON).problem == "timed_out"
    stopped = ["sh", "-c", "kill -STOP $$"]
    assert run_command(stopped, tmp_path, seconds=SOON).problem == "timed_out"


def test_one_that_reads_what_nobody_types_sees_the_end(tmp_path: Path) -> None:
    assert run_command(["cat"], tmp_path) == Run(0)
    assert run_command(["sh", "-c", "read x </dev/tty"], tmp_path).status not in (0, None)


def test_its_children_are_killed_with_it_when_time_is_up(tmp_path: Path) -> None:
    with _held(tmp_path) as pipe:
        family = f"exec 3>{pipe}; (sleep 1000 & sleep 1000) & sleep 1000 & wait"
        assert run_command(["sh", "-c", family], tmp_path, seconds=SOON).problem == "timed_out"


def test_its_children_are_killed_when_it_ends_before_them(tmp_path: Path) -> None:
    with _held(tmp_path) as pipe:
        family = f"exec 3>{pipe}; sleep 1000 & sleep 1000 & echo done"
        assert run_command(["sh", "-c", family], tmp_path) == Run(0, b"done\n")


def test_children_that_fork_without_end_are_killed(tmp_path: Path) -> None:
    """Each child makes the next and ends, so that no process lives long: forty at a time."""
    code = f"""
import os
os.open({str(tmp_path / "held")!r}, os.O_WRONLY)
for _ in range(40):
    if os.fork() == 0:
        break
while True:
    if os.fork():
        os._exit(0) if os.getpid() != os.getpgrp() else os.wait()
"""
    with _held(tmp_path):
        run = run_command(_python(code), tmp_path, seconds=SOON * 3)
        assert run.problem == "timed_out"


def test_a_child_that_left_the_group_keeps_nobody_waiting(tmp_path: Path) -> None:
    """It holds the output open, and goes once the pipe with the name was opened and closed."""
    pipe = tmp_path / "go"
    os.mkfifo(pipe)
    code = f"""
import os
told, tell = os.pipe()
if os.fork() == 0:
    os.setsid()
    os.write(tell, b"x")
    open({str(pipe)!r}).read()
    os._exit(0)
os.read(told, 1)
"""
    letting_go = threading.Thread(target=lambda: os.close(os.open(pipe, os.O_WRONLY)), daemon=True)
    run = run_command(_python(code), tmp_path)
    letting_go.start()
    letting_go.join(GENEROUS)
    assert run == Run(0)


def test_output_is_kept_up_to_its_limit_and_the_rest_read(tmp_path: Path) -> None:
    code = "import sys; sys.stdout.write('ab' * 500_000); sys.exit(5)"
    assert run_command(_python(code), tmp_path, limit=5) == Run(None, b"ababa", "too_much")
    assert run_command(_python(code), tmp_path, limit=5_000) == Run(5, b"ab" * 2_500)
    assert run_command(_python(code), tmp_path).output == b"ab" * 32 * 1024


def test_output_without_end_is_stopped(tmp_path: Path) -> None:
    assert run_command(["yes"], tmp_path, limit=4) == Run(None, b"y\ny\n", "too_much")


def test_bytes_come_back_as_they_are(tmp_path: Path) -> None:
    every = bytes(range(256))
    code = "import os; os.write(1, bytes(range(256)))"
    assert run_command(_python(code), tmp_path).output == every
    assert run_command(["cat"], tmp_path, stdin=every).output == every


def test_what_is_said_to_it_may_be_large_or_ignored(tmp_path: Path) -> None:
    much = b"0123456789" * 300_000
    assert run_command(["wc", "-c"], tmp_path, stdin=much).output.strip() == b"3000000"
    echoed = run_command(["cat"], tmp_path, stdin=much, limit=len(much))
    assert echoed.output == much
    assert run_command(["true"], tmp_path, stdin=much) == Run(0)
    assert run_command(["sleep", "1000"], tmp_path, stdin=much, seconds=SOON).status is None


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL, signal.SIGSEGV])
def test_a_signal_is_told_from_a_status(tmp_path: Path, number: signal.Signals) -> None:
    run = run_command(["sh", "-c", f"kill -{number.value} $$"], tmp_path)
    assert run == Run(-number.value)


@pytest.fixture(autouse=True)
def _interrupts() -> Iterator[None]:
    """Whoever starts the tests in the background may have had interrupts ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_an_interrupt_leaves_nothing_behind(tmp_path: Path) -> None:
    with _held(tmp_path) as pipe:
        told = threading.Thread(target=_interrupt_once_open, args=(pipe,))
        told.start()
        with pytest.raises(KeyboardInterrupt):
            run_command(["sh", "-c", f"exec 3>{pipe}; echo >&3; sleep 1000"], tmp_path)
        told.join()


def test_an_interrupt_while_it_is_being_started_leaves_nothing_either(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = subprocess.Popen

    def slow(*arguments: Any, **values: Any) -> Any:
        process = real(*arguments, **values)
        _interrupt_once_open(tmp_path / "held")
        return process

    monkeypatch.setattr(subprocess, "Popen", slow)
    with _held(tmp_path) as pipe, pytest.raises(KeyboardInterrupt):
        run_command(["sh", "-c", f"exec 3>{pipe}; echo >&3; sleep 1000"], tmp_path)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_one_that_cannot_be_started_leaves_interrupts_as_they_were(tmp_path: Path) -> None:
    assert run_command(["no-such-program-anywhere"], tmp_path).problem == "not_started"
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_it_runs_in_another_thread_too(tmp_path: Path) -> None:
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(run_command, ["true"], tmp_path).result(GENEROUS) == Run(0)


def test_it_has_no_terminal_of_ours(tmp_path: Path) -> None:
    code = "import os; assert os.getsid(0) == os.getpgrp() == os.getpid()"
    assert run_command(_python(code), tmp_path) == Run(0)


def _interrupt_once_open(pipe: Path) -> None:
    reader = os.open(pipe, os.O_RDONLY)
    os.read(reader, 1)
    os.close(reader)
    os.kill(os.getpid(), signal.SIGINT)


def test_its_environment_holds_nothing_of_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("LOOPX_KEY", "LOOPX_AGENT", "SSH_AUTH_SOCK", "API_TOKEN", "PYTHONPATH", "LD_X"):
        monkeypatch.setenv(name, "secret")
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setenv("TERM", "xterm")
    code = "import os; print(sorted(os.environ.items()))"
    shown = dict(eval(run_command(_python(code), tmp_path).output))
    assert set(shown) <= {"PATH", "HOME", "LANG", "TERM", "TMPDIR", "LC_CTYPE"}
    assert (shown["TERM"], shown["TMPDIR"]) == ("dumb", str(tmp_path))
    assert "secret" not in str(shown)


def test_it_needs_no_environment_of_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        monkeypatch.delenv(name)
    run = run_command(["sh", "-c", "echo $LANG $PATH"], tmp_path)
    assert run == Run(0, f"C.UTF-8 {os.pathsep.join(SYSTEM_FOLDERS)}\n".encode())


def test_no_open_file_of_ours_is_handed_on(tmp_path: Path) -> None:
    ours = os.open(tmp_path, os.O_RDONLY)
    os.set_inheritable(ours, True)
    try:
        code = f"import os; os.fstat({ours})"
        assert run_command(_python(code), tmp_path).status == 1
    finally:
        os.close(ours)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("pytest -q", ["pytest", "-q"]),
        ("sh -c 'a && b'", ["sh", "-c", "a && b"]),
        ("a && b", ["a", "&&", "b"]),
        ("", []),
        ("  \n", []),
        ("don't", []),
        ("a\\", []),
    ],
)
def test_a_command_is_split_as_a_shell_quotes(text: str, words: list[str]) -> None:
    assert split_command(text) == words


@given(st.text())
def test_any_text_can_be_split(text: str) -> None:
    assert all(isinstance(word, str) for word in split_command(text))


def _program(folder: Path, name: str = "surely-no-program", code: str = "exit 0") -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{code}\n")
    (folder / name).chmod(0o755)


@pytest.mark.parametrize("folder", [".", "", "bin", "./bin", "absolute"])
def test_the_caller_does_not_say_what_passes_for_a_program(
    folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _program(tmp_path / folder)
    _program(tmp_path / folder, "true", "exit 3")
    place = str(tmp_path / folder) if folder == "absolute" else folder
    monkeypatch.setenv("PATH", os.pathsep.join([place, os.environ["PATH"]]))
    monkeypatch.setenv("HOME", str(tmp_path))
    assert run_command(["surely-no-program"], tmp_path) == Run(None, problem="not_started")
    assert run_command(["sh", "-c", "surely-no-program"], tmp_path).status == 127
    assert run_command(["true"], tmp_path) == Run(0)
    said = run_command(["sh", "-c", "echo $HOME $PATH"], tmp_path).output
    assert str(tmp_path).encode() not in said


@pytest.mark.parametrize("folder", [".venv/bin", "absolute"])
def test_programs_are_looked_for_first_where_the_rules_say(folder: str, tmp_path: Path) -> None:
    repo = tmp_path / "repo"
    _program(repo / folder, "true", "exit 3")
    named = str(repo / folder) if folder == "absolute" else folder
    assert run_command(["true"], repo, search=(named,)).status == 3
    (repo / "below").mkdir()
    assert run_command(["sh", "-c", "cd below && env true"], repo, search=(named,)).status == 3
    assert run_command(["true"], repo) == Run(0)
