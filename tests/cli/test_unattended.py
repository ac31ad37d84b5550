"""Runs that nobody watches, through the public command."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from tests.cli.helpers import Result, connect, loopx, ok, start, unchanged
from tests.patience import PATIENCE

AGENT = ("--agent", "claude-code")
NOTIFY = ("--action", "notify", "--command", "send-digest --to owner")
PUBLISH = ("--action", "publish", "--command", "git push origin main")
GOAL = """\
id: shop
objective: Dark mode for the shop
requires_approval: [publish]
gates: ['notify:send-digest* admit:judge']
judge: {command: "sh judge.sh"}
"""


@pytest.fixture
def unattended(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A goal whose judge is a script, and a run that nobody watches."""
    connect()
    Path("goal.yaml").write_text(GOAL, "utf-8")
    ok("agent", "add", "claude-code")
    ok("start-goal", "--from", "goal.yaml")
    ok("todo", "add", "Ship it", *AGENT)
    monkeypatch.setenv("LOOPX_UNATTENDED", "1")
    return home


def judge(script: str) -> None:
    """The judge notes each question it gets and answers."""
    Path("judge.sh").write_text(f"cat >> questions; echo >> questions; {script}\n", "utf-8")


def questions() -> list[str]:
    return Path("questions").read_text("utf-8").splitlines() if Path("questions").exists() else []


def use(*action: str) -> Result:
    return loopx("gate", "use", *action, *AGENT, "--json")


def gates() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = ok("gate", "list")["gates"]
    return found


@pytest.mark.parametrize("script", ["echo low", "echo medium", "echo gibberish", "exit 1"])
def test_publishing_is_for_a_person_whatever_a_judge_says(unattended: Path, script: str) -> None:
    judge(script)
    with unchanged():
        assert use(*PUBLISH).code == "gate_required"
    assert questions() == []
    ok("gate", "request", *PUBLISH, *AGENT)
    with unchanged():
        assert use(*PUBLISH).code == "gate_required"
    assert [gate["status"] for gate in gates()] == ["pending"]


def test_low_passes_once_and_is_asked_for_each_time(unattended: Path) -> None:
    judge("echo low")
    first = ok("gate", "use", *NOTIFY, *AGENT, "--event-id", "use-1")
    assert (first["gate"]["status"], first["gate"]["basis"]) == ("used", "judge")
    again = ok("gate", "use", *NOTIFY, *AGENT, "--event-id", "use-1")
    assert again["receipt"]["event_id"] == "use-1"
    assert len(questions()) == 1
    assert '"command": "send-digest --to owner"' in questions()[0]
    assert "admitted by the judge" in loopx("gate", "show", "G1").out
    judge("echo medium")
    assert use(*NOTIFY).code == "gate_required"
    assert [(gate["id"], gate["status"]) for gate in gates()] == [("G1", "used"), ("G2", "pending")]


@pytest.mark.parametrize(
    "script",
    [
        "echo medium",
        "echo high",
        "echo LOW",
        "echo ' low'",
        "printf 'low\\nbut'",
        "echo low risk",
        "echo not low",
        "printf 'low%070d'",
        "printf '\\377\\376'",
        "true",
        "echo low; exit 1",
        "echo low >&2; echo low",
        "yes low",
        None,
    ],
)
def test_anything_else_is_denied_and_asked_of_a_person_once(
    unattended: Path, script: str | None
) -> None:
    if script is not None:
        judge(script)
    denied = use(*NOTIFY)
    assert (denied.status, denied.code) == (6, "gate_required")
    assert denied.json["error"]["gate_id"] == "G1"
    (need,) = ok("status")["needs_you"]
    assert (need["kind"], need["id"]) == ("gate", "G1")
    judge("echo low")
    asked = len(questions())
    with unchanged():
        assert use(*NOTIFY).code == "gate_required"
    assert len(questions()) == asked
    ok("gate", "approve", "G1")
    assert ok("gate", "use", *NOTIFY, *AGENT)["gate"]["status"] == "used"


def test_a_judge_that_never_answers_is_given_up(
    unattended: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from loopx_kernel.observe import admission

    monkeypatch.setattr(admission, "SECONDS", 0.3)
    judge("sleep 600")
    assert use(*NOTIFY).code == "gate_required"
    assert [gate["status"] for gate in gates()] == ["pending"]


def test_a_payload_like_a_secret_is_shown_to_no_judge(unattended: Path) -> None:
    judge("echo low")
    denied = use("--action", "notify", "--command", "send-digest --api key 1234")
    assert denied.code == "gate_required"
    assert questions() == []
    assert [gate["status"] for gate in gates()] == ["pending"]


def test_where_somebody_watches_a_person_is_asked(
    unattended: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge("echo low")
    for value in ("", "0"):
        monkeypatch.setenv("LOOPX_UNATTENDED", value)
        with unchanged():
            assert use(*NOTIFY).code == "gate_required"
    assert questions() == []


def test_without_a_judge_in_the_rules_a_person_is_asked(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start(None, "shop", "--gate", "notify:send-digest* admit:judge")
    monkeypatch.setenv("LOOPX_UNATTENDED", "1")
    assert use(*NOTIFY).code == "gate_required"
    assert [gate["status"] for gate in gates()] == ["pending"]


def test_no_worker_is_its_own_judge(unattended: Path) -> None:
    judge("echo low")
    ok("agent", "add", "judge.sh")
    assert use(*NOTIFY).code == "gate_required"
    assert questions() == []


@pytest.mark.parametrize("kind", ["self-schedule", "self-upgrade"])
def test_it_may_not_ask_to_change_its_own_loop(
    unattended: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    asked = ("gate", "request", "--action", kind, "--command", "crontab -e", *AGENT)
    with unchanged():
        refused = loopx(*asked, "--json")
    assert (refused.status, refused.code) == (6, "not_a_person")
    assert kind in refused.json["error"]["message"]
    monkeypatch.delenv("LOOPX_UNATTENDED")
    assert ok(*asked)["gate"]["status"] == "pending"


@pytest.mark.parametrize("kind", ["publish", "production-action", "delete", "secret"])
def test_a_goal_whose_rule_leaves_what_is_for_people_to_a_judge_is_not_opened(
    home: Path, kind: str
) -> None:
    connect()
    opening = ("start-goal", "--id", "shop", "--objective", "x")
    refused = loopx(*opening, "--gate", f"{kind}:git* admit:judge", "--json")
    assert (refused.status, refused.code) == (2, "invalid_value")
    assert ok("goal", "list")["goals"] == []


def test_two_at_once_take_one_approval_once(unattended: Path) -> None:
    ok("gate", "request", *PUBLISH, *AGENT)
    ok("gate", "approve", "G1")
    ok("agent", "add", "codex")
    from loopx_kernel.domain.gate import UseGate
    from loopx_kernel.domain.permission import Action
    from loopx_kernel.errors import Denied
    from loopx_kernel.workspace import Workspace

    action = Action(action="publish", command="git push origin main")
    got: list[str] = []

    def take(agent: str) -> None:
        try:
            Workspace.open(Path.cwd()).gates.use("shop", agent, UseGate(action=action))
            got.append(agent)
        except Denied as error:
            got.append(error.code)

    both = [threading.Thread(target=take, args=(agent,)) for agent in ("claude-code", "codex")]
    for one in both:
        one.start()
    for one in both:
        one.join(PATIENCE)
    assert sorted(word == "gate_required" for word in got) == [False, True]
