"""Bad input through the public command, whoever hands it in and as what: each has its code, changes
nothing, and names the next command."""

from __future__ import annotations

import os
import shlex
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from loopx_kernel.observe import files

from tests.cli.helpers import Result, loopx, ok, start, unchanged

AGENT = ("--agent", "claude-code")
GREEN = '<testsuite tests="2" failures="0"><testcase/><testcase/></testsuite>'
MIB = 1024 * 1024


@pytest.fixture(autouse=True)
def work(folder: Path) -> None:
    """A repo in which claude-code has a turn on T1."""
    Path("repo").mkdir()
    start(None, "shop", "--repo", "repo")
    ok("todo", "add", "Convert", *AGENT)
    ok("turn", "begin", *AGENT)


def write(name: str, content: str | bytes = "notes\n") -> str:
    path = Path("repo", name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return name


SETTLE = ("turn", "settle", "--turn", "turn-0001", "--outcome", "done")
WAYS: dict[str, Callable[[str], tuple[str, ...]]] = {
    "complete": lambda name: ("todo", "complete", "T1", "--evidence", name),
    "update": lambda name: ("todo", "update", "T1", "--evidence", name),
    "settle": lambda name: (*SETTLE, "--evidence", name),
    "junit": lambda name: ("observe", "junit", name, "--ref", "pr-7"),
}
every_way = pytest.mark.parametrize("way", WAYS)


def hand_in(way: str, name: str, *more: str) -> Result:
    return loopx(*WAYS[way](name), *more, *AGENT, "--json")


def refusal(way: str, name: str, *more: str) -> tuple[str, str]:
    """Code and reason with which it is refused; nothing changes, and the next step is named."""
    with unchanged():
        result = hand_in(way, name, *more)
    error = result.json["error"]
    assert result.status == 6 and error["next"]
    return error["code"], error["reason"]


def outside() -> str:
    Path("secret").write_text("s")
    return str(Path("secret").absolute())


def above() -> str:
    Path("secret").write_text("s")
    return "../secret"


def through_and_above() -> str:
    write("out/a")
    return "out/../../secret"


def pipe() -> str:
    os.mkfifo("repo/pipe")
    return "pipe"


def folder_of_files() -> str:
    write("out/a")
    return "out"


def link() -> str:
    write("real")
    Path("repo/alias").symlink_to("real")
    return "alias"


def link_outside() -> str:
    Path("secret").write_text("s")
    Path("repo/alias").symlink_to("../secret")
    return "alias"


def linked_folder() -> str:
    write("out/a")
    Path("repo/alias").symlink_to("out")
    return "alias/a"


def endless_link() -> str:
    Path("repo/loop").symlink_to("loop")
    return "loop"


def device() -> str:
    return "/dev/zero"


def sparse() -> str:
    with Path("repo/huge").open("wb") as file:
        file.truncate(1024 * MIB)
    return "huge"


REFUSED: list[tuple[Callable[[], str], str]] = [
    (lambda: "none.xml", "absent"),
    (lambda: "none/of/it.xml", "absent"),
    (lambda: f"{write('a')}/b", "absent"),
    (lambda: "x" * 300, "unreadable"),
    (outside, "outside"),
    (above, "outside"),
    (through_and_above, "outside"),
    (lambda: "..", "outside"),
    (device, "outside"),
    (lambda: "", "not_a_file"),
    (lambda: ".", "not_a_file"),
    (folder_of_files, "not_a_file"),
    (pipe, "not_a_file"),
    (link, "link"),
    (link_outside, "link"),
    (linked_folder, "link"),
    (endless_link, "link"),
    (lambda: write("empty", b""), "empty"),
    (lambda: write("over", b"x" * (16 * MIB + 1)), "too_big"),
    (sparse, "too_big"),
]


@every_way
@pytest.mark.parametrize("row", range(len(REFUSED)))
def test_what_is_no_file_to_hand_in_is_refused(row: int, way: str) -> None:
    make, reason = REFUSED[row]
    assert refusal(way, make()) == ("missing_evidence", reason)


@pytest.mark.parametrize("way", ["complete", "update", "settle"])
def test_one_bad_file_among_good_ones_is_enough(way: str) -> None:
    more = ("--evidence", "none.xml")
    assert refusal(way, write("good"), *more) == ("missing_evidence", "absent")
    assert refusal(way, "none.xml", "--evidence", "good") == ("missing_evidence", "absent")


@every_way
def test_a_socket_is_refused(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch, socket.socket(socket.AF_UNIX) as listener:
        patch.chdir("repo")
        listener.bind("sock")
    assert refusal(way, "sock") == ("missing_evidence", "not_a_file")


@every_way
def test_a_file_that_may_not_be_read_is_refused(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    write("shut")
    plain = os.open

    def shut(path: Any, flags: int, *more: Any, **options: Any) -> int:
        if path == "shut":
            raise PermissionError(13, "Permission denied")
        return plain(path, flags, *more, **options)

    monkeypatch.setattr(os, "open", shut)
    assert refusal(way, "shut") == ("missing_evidence", "unreadable")


@every_way
def test_of_a_file_that_is_too_large_nothing_is_read(
    way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = sparse()
    monkeypatch.setattr("builtins.open", lambda *_, **__: pytest.fail("it was read"))
    result = hand_in(way, name)
    assert (result.code, result.json["error"]["reason"]) == ("missing_evidence", "too_big")


class Growing:
    """A file that somebody goes on writing to while it is read."""

    def __init__(self, handle: int, *_: Any, **__: Any) -> None:
        self.handle = handle

    def __enter__(self) -> Growing:
        return self

    def __exit__(self, *_: object) -> None:
        """The descriptor belongs to whoever opened it."""

    def read(self, size: int) -> bytes:
        parts: list[bytes] = []
        while sum(map(len, parts)) < size:
            with Path("repo/growing").open("ab", buffering=0) as file:
                os.write(file.fileno(), b"x" * MIB)
            parts.append(os.read(self.handle, size - sum(map(len, parts))))
        return b"".join(parts)


@every_way
def test_a_file_that_never_ends_is_not_read_for_ever(
    way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("growing", "x")
    monkeypatch.setattr(files, "open", Growing, raising=False)
    assert refusal(way, "growing") == ("missing_evidence", "too_big")
    assert Path("repo/growing").stat().st_size < 64 * MIB


BOMB = (
    '<!DOCTYPE lolz [<!ENTITY a "ha">'
    + "".join(f'<!ENTITY {chr(98 + n)} "{f"&{chr(97 + n)};" * 10}">' for n in range(9))
    + ']><testsuite tests="1"><testcase name="&j;"/></testsuite>'
)
REPORTS: dict[str, tuple[str | bytes, str]] = {
    "a bomb": (BOMB, "unreadable"),
    "an outer entity": (
        f'<!DOCTYPE t [<!ENTITY e SYSTEM "file:///etc/passwd">]>{GREEN}',
        "unreadable",
    ),
    "an outer type": (f'<!DOCTYPE t SYSTEM "http://localhost/">{GREEN}', "unreadable"),
    "10,000 deep": ("<testsuite>" + "<x>" * 10_000, "unreadable"),
    "cut off": (GREEN[:-4], "unreadable"),
    "two roots": (GREEN + GREEN, "unreadable"),
    "not closed": ("<testsuite", "unreadable"),
    "binary": (bytes(range(256)), "unreadable"),
    "nothing ran": ('<testsuite tests="0"/>', "no_tests"),
}
NO_REPORTS: dict[str, str] = {
    "a page": "<html/>",
    "notes": "12 passed",
    "a record": '{"command":"make","exit_status":0}',
    "a deep record": '{"exit_status":0,"command":' + "[" * 99_999,
    "two statuses": '{"command":"x","exit_status":1,"exit_status":0}',
}


@pytest.mark.parametrize("way", ["complete", "update", "junit"])
@pytest.mark.parametrize("name", REPORTS)
def test_a_report_that_says_nothing_proves_nothing(name: str, way: str) -> None:
    content, reason = REPORTS[name]
    claim = () if way == "junit" else ("--tests", "passed")
    assert refusal(way, write("a.xml", content), *claim) == ("evidence_mismatch", reason)


@pytest.mark.parametrize("name", REPORTS)
def test_a_turn_that_claims_it_failed(name: str) -> None:
    hand_in("settle", write("a.xml", REPORTS[name][0]), "--tests", "passed")
    turn = ok("turn", "show", "turn-0001")["turn"]
    assert (turn["outcome"], turn["verified"], turn["slots_booked"]) == ("failed", False, 0)
    assert ok("todo", "show", "T1")["todo"]["status"] == "open"


@pytest.mark.parametrize("name", NO_REPORTS)
def test_what_is_no_report_is_no_result_of_ci(name: str) -> None:
    code, reason = refusal("junit", write("out.txt", NO_REPORTS[name]))
    assert code == "evidence_mismatch"
    assert reason == ("unreadable" if name in ("a deep record", "two statuses") else "not_junit")


def python(code: str) -> str:
    return shlex.join([sys.executable, "-I", "-c", code])


COMMANDS = {
    "hangs": ("sleep 1000", "did not end within 1 s"),
    "forks": ("sh -c 'sleep 1000 & sleep 1000 & wait'", "did not end within 1 s"),
    "says passed and hangs": ("sh -c 'echo passed; exec sleep 1000'", "did not end within 1 s"),
    "ignores signals": (
        python("import signal, time; signal.signal(15, signal.SIG_IGN); time.sleep(1000)"),
        "did not end within 1 s",
    ),
    "prints without end": ("yes passed", "printed without end"),
    "is not there": ("no-such-program-anywhere", "could not be started"),
    "is no command": ("don't", "could not be started"),
    "is a folder": ("./src", "could not be started"),
}


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("kind", ["cmd", "junit", "rubric"])
def test_a_command_of_the_rules_that_comes_to_no_end_passes_nothing(name: str, kind: str) -> None:
    command, says = COMMANDS[name]
    item = {
        "cmd": f"a=cmd:{command}",
        "junit": f"a=junit:a.xml <- {command}",
        "rubric": "a=rubric:good>=5",
    }[kind]
    write("a.xml", GREEN)
    write("src/x")
    rules = "id: next\nobjective: x\nrepo: repo\nlimits: {acceptance_seconds: 1}\n"
    Path("goal.yaml").write_text(rules + f"acceptance: [{item!r}]\njudge: {command!r}\n")
    ok("start-goal", "--from", "goal.yaml")
    result = loopx("accept", "run", "--goal", "next", "--json")
    (found,) = result.json["acceptance"]["items"]
    assert (result.status, found["result"]) == (1, "inconclusive")
    assert says in found["detail"]
    assert loopx("completion", "--goal", "next").status == 1
