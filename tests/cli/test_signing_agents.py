"""People whose keys are in an ssh-agent, through the installed command."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pexpect
import pytest

from tests.agents import Askpass, FakeAgent, add, real_agent, short_folder, until
from tests.cli.helpers import PROGRAM, loopx, ok, process, unchanged
from tests.cli.people import finish, terminal
from tests.hardware import ECDSA, ED25519, TOUCHED, UNTOUCHED, VERIFIED, SoftHardwareKey
from tests.patience import PATIENCE
from tests.sshd import sshd

AGENT = ("--agent", "claude-code")
READ = "Enter when you have read it"
PUSH = ("--action", "publish", "--command", "git push origin main")


def made(name: str, passphrase: str = "") -> Path:
    """A key of the person's own."""
    path = Path(name).absolute()
    rounds = ("-a", "1") if passphrase else ()
    make = ["ssh-keygen", "-q", "-t", "ed25519", *rounds, "-N", passphrase, "-f", str(path)]
    subprocess.run(make, check=True)
    return path


def at_terminal(*arguments: str, says: str = "") -> tuple[int, str]:
    """A command whose statement the person reads, and goes on; its status and output."""
    with terminal(*arguments) as child:
        child.expect(READ)
        child.sendline("")
        if says:
            child.expect(says)
        return finish(child)


def gate() -> None:
    ok("agent", "add", "claude-code")
    ok("todo", "add", "Ship it", *AGENT)
    ok("gate", "request", *PUSH, "--blocks", "T1", *AGENT)


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Askpass]:
    """A workspace whose owner's key is in an agent that asks at each use, and a gate."""
    askpass = Askpass(tmp_path)
    askpass.answers(True)
    with real_agent(askpass.path) as agent:
        monkeypatch.setenv("SSH_AUTH_SOCK", str(agent))
        key = made("id")
        add(agent, "-c", key)
        key.unlink()
        connect = ("connect", "--owner", "huang", "--key", f"{key}.pub", "--confirmed")
        assert at_terminal(*connect, says="Confirm it in the window")[0] == 0
        start = ("start-goal", "--id", "shop", "--objective", "Sell")
        assert at_terminal(*start, "--requires-approval", "publish")[0] == 0
        gate()
        yield askpass


def test_an_agent_that_asks_signs_after_a_yes_and_records_nothing_after_a_no(
    asked: Askpass,
) -> None:
    before = len(asked.asked)
    asked.answers(False)
    with unchanged():
        status, said = at_terminal("gate", "approve", "G1")
    assert (status, "[agent_refused]" in said) == (6, True)
    asked.answers(True)
    assert at_terminal("gate", "approve", "G1")[0] == 0

    assert len(asked.asked) == before + 2
    decision = ok("gate", "show", "G1")["gate"]["decision"]
    assert (decision["level"], decision["signature_ok"]) == ("confirmed", True)
    (owner,) = ok("owner", "list")["owners"]
    assert (owner["level"], owner["confirmed"], owner["allow_unattended"]) == (
        *("confirmed", True),
        False,
    )
    assert ok("doctor")["level"] == "confirmed"
    assert "as its owner claims" in loopx("event", "show", decision["event_id"]).out


def test_leaving_before_it_is_read_asks_no_agent(asked: Askpass) -> None:
    before = asked.asked
    with unchanged(), terminal("gate", "approve", "G1") as child:
        child.expect(READ)
        child.send("\x03")
        assert finish(child)[0] == 130
    assert asked.asked == before


@pytest.mark.parametrize("env", [{}, {"LOOPX_AGENT": "claude-code"}], ids=str)
def test_from_an_agents_shell_nothing_is_even_asked(asked: Askpass, env: dict[str, str]) -> None:
    """The socket stands in the worker's environment; the person is not bothered with it."""
    before = asked.asked
    with unchanged():
        for command in (
            ("gate", "approve", "G1"),
            ("goal", "pause", "--reason", "r"),
            ("owner", "enroll", "--name", "eve", "--public-key", "id.pub"),
        ):
            done = process(*command, "--json", **env)
            assert done.returncode == 6
            assert json.loads(done.stderr)["error"]["code"] == "not_a_person"
    assert asked.asked == before


@pytest.fixture
def touched(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[Any]:
    """A workspace whose owner has a hardware key in an agent, and a gate that asks for it."""
    key = SoftHardwareKey(request.param)
    Path("id_sk.pub").write_text(f"{key.public.line}\n")
    with FakeAgent(key).listening() as agent:
        monkeypatch.setenv("SSH_AUTH_SOCK", str(agent))
        connect = ("connect", "--owner", "huang", "--key", "id_sk.pub")
        assert at_terminal(*connect, says="Touch your hardware key now")[0] == 0
        rule = ("--gate", "publish:git push* level:presence")
        assert at_terminal("start-goal", "--id", "shop", "--objective", "Sell", *rule)[0] == 0
        gate()
        yield key


@pytest.mark.parametrize("touched", [ED25519, ECDSA], indirect=True)
def test_a_hardware_key_decides_only_if_it_is_touched(touched: SoftHardwareKey) -> None:
    assert "at level presence or above" in loopx("gate", "show", "G1").out
    touched.flags = UNTOUCHED
    with unchanged():
        status, said = at_terminal("gate", "approve", "G1")
    assert (status, "[presence_required]" in said) == (6, True)
    assert "was not touched" in said
    touched.flags = VERIFIED
    assert at_terminal("gate", "approve", "G1")[0] == 0

    decision = ok("gate", "show", "G1")["gate"]["decision"]
    assert decision["level"] == "presence"
    event = ok("event", "show", decision["event_id"])["event"]
    assert (event["level"], event["user_verified"]) == ("presence", True)
    assert "after its PIN or a finger" in loopx("event", "show", decision["event_id"]).out
    assert ok("gate", "use", *PUSH, *AGENT)["gate"]["status"] == "used"


@pytest.mark.parametrize("touched", [ED25519], indirect=True)
def test_a_weaker_owner_cannot_approve_what_asks_for_a_touch(touched: SoftHardwareKey) -> None:
    touched.flags = TOUCHED
    plain = made("plain")
    enroll = ("owner", "enroll", "--name", "li", "--public-key", "plain.pub")
    assert at_terminal(*enroll, "--allow-unattended")[0] == 0
    with unchanged():
        weak = loopx("gate", "approve", "G1", "--key", plain, "--json")
    assert (weak.status, weak.code) == (6, "presence_required")
    assert weak.json["error"]["at_least"] == "presence"
    assert ok("doctor")["level"] == "software"
    rejected = ok("gate", "reject", "G1", "--key", plain, "--reason", "not now")
    assert rejected["gate"]["status"] == "rejected"


def test_a_plain_agent_signs_only_what_was_enrolled_for_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    key = made("id")
    with real_agent() as agent:
        monkeypatch.setenv("SSH_AUTH_SOCK", str(agent))
        add(agent, key)
        key.unlink()
        refused = loopx("connect", "--key", f"{key}.pub", "--json")
        assert refused.code == "no_key"
        assert "unasked" in refused.json["error"]["message"]
        assert "--confirmed" in refused.json["error"]["next"]
        assert not Path(".loopx").exists()
        made_ = ok("connect", "--key", f"{key}.pub", "--allow-unattended", "--owner", "huang")
        assert made_["owner"]["level"] == "software"
        ok("start-goal", "--id", "shop", "--objective", "Sell")
        monkeypatch.setenv("SSH_AUTH_SOCK", f"{agent}.gone")
        with unchanged():
            dead = loopx("goal", "pause", "--reason", "r", "--json")
        assert (dead.status, dead.code) == (6, "no_agent")
        assert "ssh-add -l" in dead.json["error"]["next"]


def test_the_doctor_finds_a_passphrase_that_an_agent_makes_worthless(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    key = made("id", "correct horse")
    with terminal("connect", "--owner", "huang", "--key", str(key)) as child:
        child.expect("Passphrase of")
        child.sendline("correct horse")
        assert finish(child)[0] == 0
    bare = Path("bare")
    shutil.copy(key, bare)
    change = ["ssh-keygen", "-q", "-p", "-P", "correct horse", "-N", "", "-f", str(bare)]
    subprocess.run(change, check=True, capture_output=True)
    with real_agent() as agent:
        monkeypatch.setenv("SSH_AUTH_SOCK", str(agent))
        assert _row("ssh-agent")["ok"]
        add(agent, bare)
        found = _row("ssh-agent")
        assert (found["ok"], found["fix"]) == (False, f"ssh-add -d {key}")
        assert "no passphrase is asked for" in found["detail"]
        subprocess.run(found["fix"].split(), check=True, capture_output=True)
        assert _row("ssh-agent")["ok"]


def _row(name: str) -> Any:
    checks = loopx("doctor", "--json").json["checks"]
    return next(check for check in checks if check["name"] == name)


def test_the_doctor_says_the_level_and_how_to_raise_it() -> None:
    key = made("plain")
    ok("connect", "--key", key, "--allow-unattended", "--owner", "li")
    row = _row("level")
    assert row["detail"].startswith("software; to raise it: enrol a key with a passphrase")
    assert loopx("doctor", "--json").json["level"] == "software"


@pytest.mark.terminal
def test_a_forwarded_agent_asks_at_home_and_signs_over_there(asked: Askpass) -> None:
    """The key never leaves the person's machine; the decision is made on the other one."""
    here = Path.cwd()
    names = ("HOME", "XDG_CONFIG_HOME", "LOOPX_CACHE_DIR", "PYTHONPATH", "PATH")
    env = " ".join(f"{name}='{os.environ[name]}'" for name in names if name in os.environ)
    command = f"cd '{here}' && exec env {env} '{PROGRAM}' gate approve G1"
    before = len(asked.asked)
    with short_folder() as folder, sshd(folder) as (client, log):
        until(lambda: b"listening" in log.read_bytes())
        without = subprocess.run(
            [*client[:-1], "-A", client[-1], command],
            capture_output=True,
            stdin=subprocess.DEVNULL,
            check=False,
        )
        assert b"not_a_person" in without.stderr, without
        assert len(asked.asked) == before
        child = pexpect.spawn(
            client[0],
            [*client[1:-1], "-A", "-tt", client[-1], command],
            encoding="utf-8",
            timeout=PATIENCE,
            dimensions=(40, 200),
        )
        try:
            child.expect(READ)
            child.sendline("")
            status, said = finish(child)
        finally:
            child.close(force=True)
    assert status == 0, said
    assert len(asked.asked) == before + 1
    decision = ok("gate", "show", "G1")["gate"]["decision"]
    assert (decision["by"], decision["level"]) == ("huang", "confirmed")
