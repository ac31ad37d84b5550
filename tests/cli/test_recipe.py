"""The lines of docs/trust.md that check a decision without us, typed into a real shell."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.cli.helpers import PROGRAM, ok, start
from tests.patience import PATIENCE

DOCS = Path(__file__).parents[2] / "docs"
AGENT = ("--agent", "claude-code")


def recipe() -> str:
    """The lines as they stand in the page."""
    page = (DOCS / "trust.md").read_text("utf-8")
    found = re.search(r"<!-- recipe -->\n```sh\n(.*?)```\n<!-- /recipe -->", page, re.S)
    assert found is not None
    return found[1]


def shell(lines: str, goal: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "LOOPX_GOAL": goal, "PATH": f"{PROGRAM.parent}:{os.environ['PATH']}"}
    return subprocess.run(
        ["sh", "-euc", lines],
        env=env,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


@pytest.fixture
def events() -> dict[str, tuple[str, str]]:
    """An event of each kind that a person signs: its id, and the journal it stands in."""
    start(None, "shop", "--requires-approval", "publish")
    asked = ("--action", "publish", "--command", "git push", *AGENT)
    ok("gate", "request", *asked)
    decided = ok("gate", "approve", "G1", "--reason", "read it")["receipt"]["event_id"]
    key = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", "lin"]
    subprocess.run(key, check=True)
    enrol = ("owner", "enroll", "--name", "lin", "--public-key", "lin.pub")
    enrolled = ok(*enrol, "--allow-unattended")["receipt"]["event_id"]
    by_lin = ok("goal", "pause", "--reason", "r", "--key", "lin")["receipt"]["event_id"]
    ok("owner", "revoke", "--name", "lin")
    house = ok("event", "list", "--goal", "_workspace")["events"]
    opened = next(one for one in house if one["event_type"] == "goal.opened")["event_id"]
    first = next(one for one in house if one["event_type"] == "owner.enrolled")["event_id"]
    return {
        "gate": (decided, "shop"),
        "goal.opened": (opened, "_workspace"),
        "goal.opened in the goal": (opened, "shop"),
        "first owner": (first, "_workspace"),
        "second owner": (enrolled, "_workspace"),
        "by an owner who was revoked": (by_lin, "shop"),
    }


def test_three_lines_check_any_decision(events: dict[str, tuple[str, str]]) -> None:
    assert len(recipe().strip().splitlines()) == 3
    for name, (event_id, goal) in events.items():
        owner = "lin" if "revoked" in name else "huang"
        lines = recipe().replace("EVENT", event_id).replace("OWNER", owner)
        done = shell(lines, goal)
        assert done.returncode == 0, (name, done.stderr)
        assert f'Good "loopx" signature for {owner}' in done.stdout, name

        check = lines.splitlines()[-1]
        wrong = "huang" if owner == "lin" else "lin"
        assert shell(check, goal).returncode == 0, name
        assert shell(check.replace(f"-I {owner}", f"-I {wrong}"), goal).returncode != 0, name
        Path("statement.json").write_text(Path("statement.json").read_text() + " ")
        assert shell(check, goal).returncode != 0, name


def test_every_owner_there_ever_was_is_exported(events: dict[str, tuple[str, str]]) -> None:
    text = ok("event", "export-owners")["allowed_signers"]
    owners = [line.split(" ")[0] for line in text.splitlines() if not line.startswith("#")]
    assert owners == ["huang", "lin"]
    assert "revoked at #" in text
    fingerprints = {one["fingerprint"] for one in ok("owner", "list")["owners"]}
    Path("owners").write_text(text)
    listed = subprocess.run(["ssh-keygen", "-lf", "owners"], capture_output=True, check=False)
    keys = re.findall(r"(?m)^\w\S* namespaces=\S+ (\S+ \S+)", text)
    Path("keys").write_text("\n".join(keys) + "\n")
    listed = subprocess.run(["ssh-keygen", "-lf", "keys"], capture_output=True, check=True)
    assert {line.split()[1] for line in listed.stdout.decode().splitlines()} == fingerprints
