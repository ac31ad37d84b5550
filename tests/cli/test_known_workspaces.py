"""A person's own known_workspaces: pinned by looking and signing, trusted by typing."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.cli.helpers import connect, loopx, ok, process, start, unchanged
from tests.cli.people import finish, terminal


@pytest.fixture
def file(home: Path) -> Path:
    return home / ".config" / "loopx" / "known_workspaces"


def swapped(file: Path) -> None:
    """As if other owners had been here when this person looked."""
    row = json.loads(file.read_bytes()) | {"owners": {"SHA256:x": "anna"}}
    file.write_text(json.dumps(row) + "\n", "utf-8")


def test_looking_on_a_terminal_pins_and_an_agent_s_look_does_not(file: Path) -> None:
    start()
    file.unlink()
    ok("status")
    assert process("status").returncode == 0
    with terminal("status", "--agent", "claude-code") as child:
        finish(child)
    assert not file.exists()
    with terminal("status") as child:
        finish(child)
    assert json.loads(file.read_bytes())["owners"]


def test_other_owners_are_told_first_by_every_projection_and_nothing_is_signed(
    file: Path,
) -> None:
    start()
    ok("todo", "add", "Ship it", "--agent", "claude-code")
    swapped(file)
    for command in (("status",), ("board",), ("report",), ("doctor",), ("owner", "list")):
        result = loopx(*command)
        lines = [line for line in result.out.splitlines() if not line.startswith("projection:")]
        assert "owners_changed" in lines[0], (command, lines[:2])
    assert loopx("doctor").status == 1
    answer = loopx("quota", "should-run", "--agent", "claude-code", "--json")
    assert (answer.status, answer.json["needs_you"][0]["next"]) == (10, "loopx owner trust")
    assert loopx("status", "--line").out.partition("!")[0].endswith("integrity")
    with unchanged():
        for decision in (
            ("goal", "pause", "--reason", "r"),
            ("owner", "revoke", "--name", "huang"),
            ("start-goal", "--objective", "x", "--id", "x"),
        ):
            result = loopx(*decision, "--json")
            assert (result.status, result.code) == (7, "owners_changed")
            assert result.json["error"]["known"] == {"SHA256:x": "anna"}


def test_a_person_trusts_them_by_typing_and_an_agent_cannot(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start()
    swapped(file)
    before = file.read_bytes()
    wanted = ok("connect")["workspace_id"][:8]
    assert process("owner", "trust", "--json").returncode == 6
    with terminal("owner", "trust") as child:
        child.expect("anna; now huang")
        child.expect("SHA256:")
        child.expect(f"Type {wanted}")
        child.sendline("yes")
        assert finish(child)[0] == 2
    monkeypatch.setenv("LOOPX_AGENT", "claude-code")
    with terminal("owner", "trust") as child:
        assert finish(child)[0] == 6
    assert file.read_bytes() == before
    monkeypatch.delenv("LOOPX_AGENT")
    with unchanged(), terminal("owner", "trust") as child:
        child.expect(f"Type {wanted}")
        child.sendline(wanted)
        status, shown = finish(child)
    assert (status, "owners_changed" in shown) == (0, False)
    ok("goal", "pause", "--reason", "r")


def test_doctor_says_what_is_pinned(file: Path) -> None:
    def told() -> Any:
        checks = json.loads(loopx("doctor", "--json").out)["checks"]
        return next(check for check in checks if check["name"] == "known workspace")

    start()
    assert "that of huang" in told()["detail"]
    file.unlink()
    assert "nothing is pinned" in told()["detail"] and told()["ok"]


ANEW = ("connect", "--owner", "wang", "--new-key", "--no-passphrase", "--allow-unattended")


def test_whoever_lost_the_last_key_begins_anew_in_sight_of_everybody(
    file: Path, home: Path
) -> None:
    start()
    old = ok("connect")["workspace_id"]
    shutil.rmtree(home / ".config" / "loopx" / "keys", ignore_errors=True)
    for path in (home / ".config" / "loopx").glob("loopx_ed25519*"):
        path.unlink()
    (home / ".config" / "loopx" / "config.yaml").unlink(missing_ok=True)
    with unchanged():
        assert process(*ANEW, "--replaces", "--json").returncode == 6
        with terminal(*ANEW, "--replaces") as child:
            child.expect("Type yes")
            child.sendline("y")
            assert finish(child)[0] == 2
    with terminal(*ANEW, "--replaces") as child:
        child.expect("Nothing decided there counts any more")
        child.expect("Type yes")
        child.sendline("yes")
        assert finish(child)[0] == 0
    assert Path(f".loopx-{old}").is_dir()
    (first, *_) = ok("event", "list", "--goal", "_workspace")["events"]
    assert first["payload"]["replaces"]["workspace_id"] == old
    checks = json.loads(loopx("doctor", "--json").out)["checks"]
    assert any(check["name"] == "begun in place of" for check in checks)
    ok("start-goal", "--id", "shop", "--objective", "Dark mode for the shop")


def test_a_workspace_that_is_gone_is_owners_changed() -> None:
    connect()
    shutil.rmtree(".loopx")
    result = loopx("connect", "--owner", "huang", "--allow-unattended", "--json")
    assert (result.status, result.code) == (7, "owners_changed")
    assert not Path(".loopx").exists()
