"""People: asked on their own terminal, never through stdin, and what they decide is signed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pexpect
import pytest

from tests.cli.helpers import PROGRAM, bytes_of, connect, loopx, ok, process, start, unchanged
from tests.cli.people import finish, terminal
from tests.patience import PATIENCE

AGENT = ("--agent", "claude-code")
PASSPHRASE = "correct horse"


def connect_with_passphrase() -> None:
    with terminal("connect", "--owner", "huang") as child:
        child.expect("New passphrase:")
        child.sendline(PASSPHRASE)
        child.expect("same again:")
        child.sendline(PASSPHRASE)
        status, shown = finish(child)
    assert status == 0
    assert "not initialised: loopx start-goal --guided" in shown
    assert PASSPHRASE not in shown


def gate() -> None:
    ok("todo", "add", "Ship it", *AGENT)
    asked = ("--action", "publish", "--command", "git push origin main", "--blocks", "T1")
    ok("gate", "request", *asked, *AGENT)


def test_a_person_connects_opens_a_goal_and_decides_with_their_passphrase(home: Path) -> None:
    connect_with_passphrase()
    (owner,) = ok("owner", "list")["owners"]
    assert (owner["name"], owner["allow_unattended"]) == ("huang", False)
    assert loopx("doctor").status == 1

    with terminal("start-goal", "--guided") as child:
        child.expect("objective:")
        child.sendline("Dark mode for the shop")
        child.expect("write in:")
        child.sendline("src/theme/**")
        child.expect("write in:")
        child.sendline("")
        child.expect("ask me before:")
        child.sendline("ask me if unsure")
        child.expect("names no concrete action")
        child.expect("ask me before:")
        child.sendline("publish:git push*")
        child.expect("ask me before:")
        child.sendline("")
        child.expect("done when:")
        child.sendline("")
        child.expect("share:")
        child.sendline("")
        child.expect("To sign: open the goal dark-mode-for-the-shop")
        child.expect("Passphrase of")
        child.sendline("wrong")
        child.expect("not the passphrase")
        child.expect("Passphrase of")
        child.sendline(PASSPHRASE)
        status, _ = finish(child)
    assert status == 0
    goal = ok("goal", "show")["goal"]
    assert goal["rules"]["gates"] == ["publish:git push*"]
    assert goal["rules"]["coordination"]["write_scope"] == ["src/theme/**"]

    ok("agent", "add", "claude-code")
    gate()
    with terminal("gate", "approve", "G1", "--reason", "reviewed") as child:
        child.expect("approve G1")
        child.expect("Passphrase of")
        child.sendline(PASSPHRASE)
        assert finish(child)[0] == 0
    decision = ok("gate", "show", "G1")["gate"]["decision"]
    assert decision["outcome"] == "approved"
    assert decision["by"] == "huang"
    assert decision["signature_ok"] is True
    assert decision["level"] == "passphrase"
    assert decision["key"] == owner["fingerprint"]


def test_leaving_the_question_or_three_wrong_passphrases_decide_nothing() -> None:
    connect_with_passphrase()
    with terminal("start-goal", "--objective", "Shop", "--id", "shop") as child:
        child.expect("Passphrase of")
        child.sendline(PASSPHRASE)
        assert finish(child)[0] == 0
    ok("agent", "add", "claude-code")
    gate()

    with unchanged():
        for key in ("\x03", "\x04", "\r"):
            with terminal("gate", "approve", "G1") as child:
                child.expect("Passphrase of")
                child.send(key)
                status, shown = finish(child)
                assert status == 130
                assert ("nothing was signed" in shown) == (key == "\r")
        with terminal("gate", "approve", "G1") as child:
            for _ in range(3):
                child.expect("Passphrase of")
                child.sendline("guess")
            status, shown = finish(child)
    assert status == 6
    assert "wrong_passphrase" in shown


def test_without_a_terminal_nobody_is_a_person_and_stdin_is_not_read() -> None:
    connect_with_passphrase()
    with terminal("start-goal", "--objective", "Shop") as child:
        child.expect("Passphrase of")
        child.sendline(PASSPHRASE)
        finish(child)

    with unchanged():
        result = subprocess.run(
            [PROGRAM, "goal", "pause", "--reason", "r", "--json"],
            input=f"yes\n{PASSPHRASE}\n",
            capture_output=True,
            text=True,
            start_new_session=True,
            timeout=PATIENCE,
            check=False,
        )

    assert result.returncode == 6
    assert json.loads(result.stderr)["error"]["code"] == "not_a_person"


@pytest.mark.parametrize(
    "command",
    [("connect",), ("connect", "--new-key"), ("start-goal", "--guided")],
    ids=" ".join,
)
def test_a_refused_connect_makes_nothing(command: tuple[str, ...], folder: Path) -> None:
    result = process(*command, "--json")

    assert result.returncode in (2, 6)
    assert bytes_of(folder) == {}


def test_an_agent_is_refused_whatever_its_key(monkeypatch: pytest.MonkeyPatch) -> None:
    start(None, "shop", "--requires-approval", "publish")
    gate()
    monkeypatch.setenv("LOOPX_AGENT", "claude-code")

    with unchanged():
        for decision in (
            ("gate", "approve", "G1"),
            ("gate", "approve", "G1", "--dry-run"),
            ("gate", "reject", "G1"),
            ("gate", "defer", "G1", "--until", "2099-01-01T00:00:00Z"),
            ("goal", "pause", "--reason", "r"),
            ("goal", "retire", "--reason", "r"),
            ("quota", "void-slot", "--turn", "turn-0001", "--reason", "r"),
            ("todo", "complete", "T1", "--reason", "r"),
            ("start-goal", "--objective", "mine"),
        ):
            result = loopx(*decision, "--json")
            assert (result.status, result.code) == (6, "not_a_person"), decision


def test_a_dry_run_shows_the_statement_and_writes_nothing() -> None:
    start(None, "shop", "--requires-approval", "publish")
    gate()

    with unchanged():
        shown = ok("gate", "approve", "G1", "--reason", "reviewed", "--dry-run")
        text = loopx("gate", "approve", "G1", "--dry-run").out

    statement = shown["statement"]
    assert statement["event_type"] == "gate.approved"
    assert statement["actor_agent_id"] == "huang"
    assert statement["object"]["id"] == "G1"
    assert statement["payload"]["reason"] == "reviewed"
    assert '"gate_id":"G1"' in text
    assert "nothing was signed" in text
    assert ok("gate", "show", "G1")["gate"]["status"] == "pending"


def test_a_decision_can_be_checked_with_ssh_keygen_alone(folder: Path) -> None:
    start(None, "shop", "--requires-approval", "publish")
    gate()
    receipt = ok("gate", "reject", "G1", "--reason", "not before the audit")["receipt"]
    statement = process("event", "show", receipt["event_id"], "--statement").stdout
    signature = folder / "statement.sig"
    signature.write_text(process("event", "show", receipt["event_id"], "--signature").stdout)

    allowed = ("-f", ".loopx/owners", "-I", "huang", "-n", "loopx", "-s", signature)
    verify = ["ssh-keygen", "-Y", "verify", *allowed]
    good = subprocess.run(verify, input=statement.encode(), capture_output=True, check=False)
    forged = statement.replace("not before", "only before").encode()
    bad = subprocess.run(verify, input=forged, capture_output=True, check=False)

    assert good.returncode == 0, good.stderr
    assert bad.returncode != 0


def test_somebody_decided_meanwhile_is_said_with_who() -> None:
    start(None, "shop", "--requires-approval", "publish")
    gate()
    first = ok("gate", "approve", "G1", "--event-id", "mine")

    again = ok("gate", "approve", "G1", "--event-id", "mine")
    other = loopx("gate", "reject", "G1", "--json")

    assert again["receipt"] == first["receipt"] | {"replayed": True}
    assert (other.status, other.code) == (3, "already_decided")
    assert other.json["error"]["by"] == "huang"


def test_a_key_that_is_nobodys_here_cannot_sign(folder: Path, home: Path) -> None:
    start()
    stranger = folder / "stranger"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", stranger], check=True)

    with unchanged():
        result = loopx("goal", "pause", "--reason", "r", "--key", stranger, "--json")

    assert (result.status, result.code) == (6, "no_key")
    assert "not enrolled" in result.json["error"]["message"]
    own = home / ".config" / "loopx" / "loopx_ed25519"
    assert ok("goal", "pause", "--reason", "r", "--key", own)["goal"]["status"] == "paused"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("--new-key", "--no-passphrase"), "invalid_value"),
        (("--no-passphrase",), "invalid_value"),
        (("--new-key", "--key", "k"), "invalid_value"),
        (("--key", "missing"), "no_key"),
        (("--new-key", "--owner", "not a name!"), "invalid_value"),
    ],
    ids=str,
)
def test_wrong_wishes_at_connect_are_refused(
    arguments: tuple[str, ...], code: str, folder: Path, home: Path
) -> None:
    unattended = ("--no-passphrase", "--allow-unattended") if "--owner" in arguments else ()

    result = loopx("connect", *arguments, *unattended, "--json")

    assert result.code == code
    assert bytes_of(folder) == {}
    assert not (home / ".config" / "loopx").exists()


def test_a_key_without_a_passphrase_needs_its_owners_leave(folder: Path) -> None:
    key = folder / "plain"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)

    refused = loopx("connect", "--key", key, "--json")
    assert refused.code == "invalid_value"
    assert not (folder / ".loopx").exists()
    assert (
        ok("connect", "--key", key, "--allow-unattended", "--owner", "li")["owner"]["name"] == "li"
    )
    assert "UNATTENDED" in loopx("owner", "list").out
    assert "UNATTENDED" in loopx("doctor").out


def test_a_key_that_cannot_be_read_leaves_no_workspace_behind(folder: Path) -> None:
    (folder / "garbage").write_text("no key")

    refused = loopx("connect", "--key", str(folder / "garbage"), "--allow-unattended", "--json")

    assert refused.code == "no_key"
    assert not (folder / ".loopx").exists()


def test_the_key_of_connect_is_remembered_beside_what_stands_there(
    folder: Path, home: Path
) -> None:
    config = home / ".config" / "loopx" / "config.yaml"
    config.parent.mkdir(parents=True)
    config.write_text("# mine\ntheme: light\n")
    key = folder / f"a long folder {'name ' * 20}" / "plain"
    key.parent.mkdir()
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)

    ok("connect", "--key", str(key), "--allow-unattended", "--owner", "li")

    assert config.read_text() == f"# mine\ntheme: light\nkey: {key}\n"
    assert ok("start-goal", "--id", "shop", "--objective", "Sell")["goal"]["id"] == "shop"


def test_a_second_workspace_uses_the_same_key(folder: Path) -> None:
    connect()
    (folder / "other").mkdir()

    made = ok("--root", str(folder / "other"), "connect", "--allow-unattended", "--owner", "huang")

    assert made["owner"]["fingerprint"] == ok("owner", "list")["owners"][0]["fingerprint"]
    again = loopx("--root", str(folder / "third"), "connect", "--new-key", "--json")
    assert (again.status, again.code) == (3, "exists")


def test_what_was_typed_before_a_question_does_not_answer_it(folder: Path) -> None:
    ready = folder / "ready"
    program = (
        "from loopx_kernel.cli.person import Terminal\n"
        "import pathlib, select\n"
        "t = Terminal()\n"
        f"pathlib.Path({str(ready)!r}).touch()\n"
        "select.select([t._in], [], [], 20)\n"
        "print('GOT', repr(t.ask('name:')))\n"
    )
    child = pexpect.spawn(sys.executable, ["-c", program], encoding="utf-8", timeout=PATIENCE)
    try:
        while not ready.exists():
            os.sched_yield()
        child.sendline("type-ahead")
        child.expect("name:")
        child.sendline("huang")
        child.expect("GOT 'huang'")
    finally:
        child.close(force=True)
