"""The workspace's fold: who owns it, who works in it, which goals were opened."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from loopx_kernel.domain import goal, roster
from loopx_kernel.domain.canonical import digest
from loopx_kernel.domain.event import (
    EVENT_SCHEMA,
    UNSIGNED,
    WORKSPACE_JOURNAL,
    Actor,
    Context,
    Draft,
    Event,
    ObjectRef,
    Signed,
    Verdict,
    Witness,
)
from loopx_kernel.domain.owner import EnrollOwner
from loopx_kernel.domain.records import Head
from loopx_kernel.domain.roster import AddAgent, CreateWorkspace
from loopx_kernel.domain.roster_state import Owner, WorkspaceState

from tests.kernel.domain.build import CLAUDE, GOOD, HASH, KERNEL, NOW, OWNER, reading, rules

CREATE = CreateWorkspace(workspace_id="0f" * 16)
ENROLL = EnrollOwner(name=OWNER.id, key="ssh-ed25519 AAAA", fingerprint="SHA256:abc")
OPEN = goal.OpenGoal(goal_id="dark-mode", objective="Add a dark mode", rules=rules())


@dataclass
class House:
    """A workspace journal in memory."""

    state: WorkspaceState = field(default_factory=WorkspaceState)

    def do(self, command: Any, actor: Actor, verdict: Verdict = UNSIGNED, **changed: Any) -> str:
        """Appends the line of a command without asking first; the code of its alert, or ''."""
        context = Context(actor, reading(NOW))
        draft: Draft
        place = WORKSPACE_JOURNAL
        if isinstance(command, goal.OpenGoal):
            draft = goal.decide_opened(self.state, command, context)
            place = command.goal_id
        else:
            draft = roster.decide(self.state, command, context)
        payload = roster.normalise(draft.event_type, draft.payload)
        signed = Signed(
            signed_at=NOW,
            object=ObjectRef(
                id=draft.object_id, version=self.state.object_version(draft.object_id)
            ),
            witnessed=Witness(seq=self.state.seq, head=self.state.head),
            signature="x",
        )
        values = {
            "event_id": f"w-{self.state.seq + 1}",
            "goal_id": place,
            "event_type": draft.event_type,
            "recorded_at": NOW,
            "actor_kind": actor.kind,
            "actor_agent_id": actor.id,
            "payload": payload,
            "signed": signed if actor.kind == "owner" else None,
            "request": HASH,
            "seq": self.state.seq + 1,
            "schema_version": EVENT_SCHEMA,
            "prev": self.state.head,
            "sha256": digest({"seq": self.state.seq + 1}),
        }
        alerts = len(self.state.alerts)
        self.state = roster.evolve(self.state, Event.model_validate(values | changed), verdict)
        assert self.state.seq == values["seq"]
        return self.state.alerts[-1].code if len(self.state.alerts) > alerts else ""


def house() -> House:
    made = House()
    assert made.do(CREATE, KERNEL) == ""
    assert made.do(ENROLL, OWNER, GOOD) == ""
    assert made.do(AddAgent(agent_id="claude-code"), CLAUDE) == ""
    assert made.do(OPEN, OWNER, GOOD) == ""
    return made


def test_a_workspace_and_who_is_in_it() -> None:
    state = house().state
    assert state.workspace_id == CREATE.workspace_id
    assert [owner.name for owner in state.present_owners] == ["huang"]
    assert set(state.agents) == {"claude-code"}
    opened = state.goals["dark-mode"]
    assert (opened.seq, opened.opened_by) == (4, "huang")
    assert state.alerts == ()


def test_nothing_stands_before_the_creation() -> None:
    for command, actor, verdict in (
        (ENROLL, OWNER, GOOD),
        (AddAgent(agent_id="a"), CLAUDE, UNSIGNED),
        (OPEN, OWNER, GOOD),
    ):
        empty = House()
        assert empty.do(command, actor, verdict) == "not_initialised"
        assert empty.state.model_dump(include={"owners", "agents", "goals"}) == (
            WorkspaceState().model_dump(include={"owners", "agents", "goals"})
        )


@pytest.mark.parametrize(
    ("command", "actor", "verdict", "code"),
    [
        (CREATE, KERNEL, UNSIGNED, "exists"),
        (CREATE, CLAUDE, UNSIGNED, "not_a_person"),
        (ENROLL, OWNER, GOOD, "exists"),
        (ENROLL, CLAUDE, UNSIGNED, "unsigned"),
        (ENROLL, OWNER, UNSIGNED, "unsigned"),
        (OPEN, OWNER, GOOD, "exists"),
        (OPEN, CLAUDE, UNSIGNED, "unsigned"),
        (AddAgent(agent_id="claude-code"), CLAUDE, UNSIGNED, "exists"),
        (AddAgent(agent_id="Claude-Code"), CLAUDE, UNSIGNED, "exists"),
        (AddAgent(agent_id="cIaude-c0de"), CLAUDE, UNSIGNED, "exists"),
        (AddAgent(agent_id="1oopx"), CLAUDE, UNSIGNED, "exists"),
        (AddAgent(agent_id="no spaces"), CLAUDE, UNSIGNED, "invalid_value"),
        (AddAgent(agent_id="b", note="\x1b[2J"), CLAUDE, UNSIGNED, "invalid_value"),
        (AddAgent(agent_id="b"), OWNER, GOOD, "not_a_person"),
        (
            EnrollOwner(name="an na", key="k", fingerprint="f", heads=(("dark-mode", 9, HASH),)),
            OWNER,
            GOOD,
            "invalid_value",
        ),
    ],
)
def test_lines_that_have_no_effect(command: Any, actor: Actor, verdict: Verdict, code: str) -> None:
    made = house()
    before = made.state
    assert made.do(command, actor, verdict) == code
    moved = {"seq", "head", "alerts", "idle"}
    assert made.state.model_dump(exclude=moved) == before.model_dump(exclude=moved)


def test_a_goal_needs_an_id_and_good_rules() -> None:
    made = house()
    for goal_id in ("_workspace", "Dark Mode", "../x"):
        bad = goal.OpenGoal(goal_id=goal_id, objective="x", rules=rules())
        assert made.do(bad, OWNER, GOOD) == "invalid_value"
    blank = goal.OpenGoal(goal_id="other", objective=" ", rules=rules())
    assert made.do(blank, OWNER, GOOD) == "invalid_value"
    assert set(made.state.goals) == {"dark-mode"}


def test_only_an_opening_names_a_goal() -> None:
    made = house()
    code = made.do(AddAgent(agent_id="b"), CLAUDE, goal_id="dark-mode")
    assert (code, "b" in made.state.agents) == ("invalid_event", False)


def test_a_later_owner_counts_from_where_the_goals_were() -> None:
    made = house()
    anna = EnrollOwner(name="anna", key="ssh-ed25519 BBBB", fingerprint="SHA256:def")
    assert made.do(anna, OWNER, GOOD) == "invalid_event"
    assert made.do(replace(anna, heads=(("dark-mode", 9, HASH),)), OWNER, GOOD) == ""
    names = {seq: [o.name for o in made.state.keys_at("dark-mode", seq)] for seq in (9, 10)}
    assert names == {9: ["huang"], 10: ["huang", "anna"]}
    assert [o.name for o in made.state.keys_at("opened-later", 1)] == ["huang", "anna"]
    seq = made.state.seq
    assert [o.name for o in made.state.owners_at(seq)] == ["huang"]
    assert [o.name for o in made.state.owners_at(seq + 1)] == ["huang", "anna"]


def test_a_revoked_key_counts_up_to_its_revocation() -> None:
    revoked = Owner(
        name="huang",
        key="k",
        fingerprint="f",
        enrolled_seq=2,
        revoked_seq=8,
        to_heads={"dark-mode": Head(seq=20, head=HASH)},
    )
    assert [revoked.counts_at("dark-mode", seq) for seq in (1, 20, 21)] == [True, True, False]
    assert not revoked.counts_at("opened-later", 1)


@pytest.mark.parametrize(
    ("key", "unattended", "confirmed", "code"),
    [
        ("ssh-ed25519 AAAA", True, False, ""),
        ("ssh-ed25519 AAAA", False, True, ""),
        ("ssh-ed25519 AAAA", True, True, "invalid_value"),
        ("sk-ssh-ed25519@openssh.com AAAA", False, False, ""),
        ("sk-ssh-ed25519@openssh.com AAAA", True, False, "invalid_value"),
        ("sk-ssh-ed25519@openssh.com AAAA", False, True, "invalid_value"),
    ],
)
def test_a_key_is_used_in_one_way(key: str, unattended: bool, confirmed: bool, code: str) -> None:
    made = House()
    made.do(CREATE, KERNEL)
    use = {"allow_unattended": unattended, "confirmed": confirmed}
    enrol = EnrollOwner(name=OWNER.id, key=key, fingerprint="SHA256:abc", **use)
    assert made.do(enrol, OWNER, GOOD) == code
    present = [(one.allow_unattended, one.confirmed) for one in made.state.present_owners]
    assert present == ([] if code else [(unattended, confirmed)])
