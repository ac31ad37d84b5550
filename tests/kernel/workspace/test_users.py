"""People and agents as users of their own: they share the ledger, and nobody's key."""

from __future__ import annotations

import importlib
import os
import pkgutil
import stat
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import loopx_kernel
import pytest
from loopx_kernel.cli.main import main

from tests.agents import add, real_agent, short_folder
from tests.cli.helpers import loopx
from tests.faults.forks import heard, started
from tests.kernel.workspace.build import dark_mode
from tests.patience import PATIENCE

OWNER, AGENT, GROUP = 61001, 61002, 61000
"""Numbers that no account has."""
WORK = ("--agent", "claude-code")
PUBLISH = ("--action", "publish", "--command", "npm publish")


@pytest.mark.parametrize("umask", [0o022, 0o002, 0o077])
def test_who_may_read_and_write_is_for_the_umask_to_say(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        place = dark_mode(tmp_path)
    finally:
        os.umask(before)
    for path in (place.root / ".loopx").rglob("*"):
        mode = stat.S_IMODE(path.stat().st_mode)
        if path.parent.name == "objects":
            assert mode == 0o444, path  # read only, and as closed as its folder
        else:
            assert mode == (0o777 if path.is_dir() else 0o666) & ~umask, path


class Users:
    """A folder that the owner and the agents share through a group, and their homes."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.homes = folder / "project", folder / "homes"
        self.folder.mkdir()
        os.chown(self.folder, OWNER, GROUP)
        self.folder.chmod(0o2775)
        for user in (OWNER, AGENT):
            home = self.home(user)
            home.mkdir(parents=True)
            os.chown(home, user, user)
            home.chmod(0o700)
        folder.chmod(0o755)

    def home(self, user: int) -> Path:
        return self.homes / str(user)

    @property
    def key(self) -> Path:
        """The owner's key."""
        return self.home(OWNER) / ".config" / "loopx" / "loopx_ed25519"

    def run(self, user: int, *arguments: str | Path, **env: str) -> dict[str, Any]:
        """A command of that user; its object, with ``status``."""
        return self.do(user, lambda: _answer(*arguments), **env)

    def do(self, user: int, work: Callable[[], Any], **env: str) -> Any:
        """Something done as that user, in the shared folder; what it gave."""
        process, pipe = started(self._as, user, work, env)
        answer = heard(pipe)
        process.join(PATIENCE)
        return answer

    def _as(
        self, pipe: Connection, user: int, work: Callable[[], Any], env: dict[str, str]
    ) -> None:
        os.setgroups([GROUP])
        os.setgid(user)
        os.setuid(user)
        os.umask(0o002)
        home = str(self.home(user))
        places = {
            "HOME": home,
            "XDG_CONFIG_HOME": f"{home}/.config",
            "LOOPX_CACHE_DIR": f"{home}/c",
        }
        os.environ.update(places | env)
        os.chdir(self.folder)
        pipe.send(work())


def _answer(*arguments: str | Path) -> dict[str, Any]:
    result = loopx(*arguments, "--json")
    return {**result.json, "status": result.status}


@pytest.fixture
def users(tmp_path: Path) -> Iterator[Users]:
    """Two users, a goal of the first's and a worker of the second's."""
    for module in pkgutil.walk_packages(loopx_kernel.__path__, "loopx_kernel."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    made = ("connect", "--owner", "li", "--new-key", "--no-passphrase", "--allow-unattended")
    opened = ("start-goal", "--id", "shop", "--objective", "Sell", "--requires-approval", "publish")
    # What a command imports it must find: the other user may not read this Python's folder.
    here = Path.cwd()
    os.chdir(tmp_path)
    for command in (made, opened, ("agent", "add", "claude-code"), ("status",), ("doctor",)):
        main([*command, "--json"])
    os.chdir(here)
    with short_folder() as folder:
        users = Users(folder)
        for command in (made, opened, ("agent", "add", "claude-code")):
            assert users.run(OWNER, *command)["status"] == 0
        yield users


@pytest.mark.root
def test_agents_of_another_user_work_and_ask_and_a_person_decides(users: Users) -> None:
    assert users.run(AGENT, "todo", "add", "Ship it", *WORK)["status"] == 0
    assert users.run(AGENT, "turn", "begin", *WORK)["status"] == 0
    assert users.run(AGENT, "gate", "request", *PUBLISH, *WORK)["status"] == 0
    assert users.run(AGENT, "gate", "use", *PUBLISH, *WORK)["error"]["code"] == "gate_required"
    assert users.run(OWNER, "gate", "approve", "G1")["status"] == 0
    assert users.run(AGENT, "gate", "use", *PUBLISH, *WORK)["status"] == 0
    assert users.run(OWNER, "todo", "list")["status"] == 0
    assert users.run(OWNER, "event", "verify")["verified"] is True


@pytest.mark.root
def test_agents_of_another_user_have_no_way_to_the_key(users: Users) -> None:
    users.run(AGENT, "todo", "add", "Ship it", *WORK)
    users.run(AGENT, "gate", "request", *PUBLISH, *WORK)
    approve = ("gate", "approve", "G1")

    def peek() -> str:
        try:
            return users.key.read_text()
        except PermissionError:
            return "denied"

    assert users.do(AGENT, peek) == "denied"
    assert users.run(AGENT, *approve)["error"]["code"] == "no_key"
    named = users.run(AGENT, *approve, "--key", users.key)
    assert (named["error"]["code"], named["status"]) == ("no_key", 6)
    assert "permission denied" in named["error"]["message"]
    with real_agent() as socket:
        add(socket, users.key)
        os.chown(socket.parent, OWNER, OWNER)
        os.chown(socket, OWNER, OWNER)
        public = f"{users.key}.pub"
        copied = users.home(AGENT) / "stolen.pub"
        copied.write_text(Path(public).read_text())
        copied.chmod(0o644)
        through = users.run(AGENT, *approve, "--key", copied, SSH_AUTH_SOCK=str(socket))
    assert through["error"]["code"] == "no_agent"
    assert "permission denied" in through["error"]["message"]
    assert users.run(OWNER, "gate", "show", "G1")["gate"]["status"] == "pending"


@pytest.mark.root
def test_a_key_that_another_user_could_read_is_not_used(users: Users) -> None:
    users.key.chmod(0o640)
    refused = users.run(OWNER, "goal", "pause", "--reason", "r")
    assert refused["error"]["code"] == "no_key"
    assert refused["error"]["next"] == f"chmod 600 {users.key}"
    users.key.chmod(0o600)
    assert users.run(OWNER, "goal", "pause", "--reason", "r")["status"] == 0
