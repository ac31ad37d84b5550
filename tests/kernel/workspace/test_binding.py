"""What a person signed is about one thing, at one place, in one workspace: with real signatures,
for every type of event that only a person may cause, as the tables have them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from loopx_kernel.domain import fold, goal, owner, repair, roster
from loopx_kernel.domain.event import (
    OWNER as PERSON,
)
from loopx_kernel.domain.event import (
    WORKSPACE_JOURNAL,
    Actor,
    Context,
    Event,
    EventType,
    Facts,
    ObjectRef,
    Signed,
    Verdict,
    Witness,
    asked,
)
from loopx_kernel.domain.roster_state import Owner, WorkspaceState
from loopx_kernel.domain.state import GoalState
from loopx_kernel.errors import LoopxError
from loopx_kernel.trust.keys import PrivateKey
from loopx_kernel.trust.sshsig import sign
from loopx_kernel.workspace.verdicts import statement_bytes, verdict_on

from tests.kernel.domain.alterations import places
from tests.kernel.domain.build import (
    GOOD,
    HASH,
    KERNEL,
    NOW,
    OWNER,
    line,
    reading,
    rules,
)
from tests.kernel.domain.raw_lines import lines
from tests.kernel.workspace.build import Place, new_key
from tests.kernel.workspace.forge import records

HOME, ABROAD = "0f" * 16, "1e" * 16
SECOND = "lin"


@dataclass(frozen=True)
class Case:
    """A legal line of a person, the state before it, and the fold of its journal."""

    before: Any
    event: Event
    kind: EventType[Any, Any]
    evolve: Callable[[Any, Event, Verdict], Any]

    def read(self, event: Event, *, workspace_id: str = HOME, state: Any = None) -> Any:
        """The state after a line, judged as every reading judges it."""
        state = self.before if state is None else state
        heads = {state.seq: state.head, self.before.seq: self.before.head}
        verdict = verdict_on(
            event,
            self.kind,
            workspace_id=workspace_id,
            keys=owners(),
            gone=(),
            hash_at=heads.get,
            before=lambda: None,
        )
        return self.evolve(state, event, verdict)


@cache
def key_of(name: str) -> PrivateKey:
    with TemporaryDirectory() as folder:
        return new_key(Path(folder), name)


@cache
def owners() -> tuple[Owner, ...]:
    return tuple(
        Owner(
            name=name,
            key=key_of(name).public.line,
            fingerprint=key_of(name).public.fingerprint,
            enrolled_seq=1,
        )
        for name in (OWNER.id, SECOND)
    )


def signed(event: Event, kind: EventType[Any, Any], name: str = OWNER.id, **told: Any) -> Event:
    """The line, signed by that person as it stands, with something else told if it is given."""
    assert event.signed is not None
    event = event.model_copy(update={"signed": event.signed.model_copy(update=told)})
    signature = sign(statement_bytes(event, kind, HOME), key_of(name))
    assert event.signed is not None
    whole = event.signed.model_copy(update={"signature": signature})
    return event.model_copy(update={"signed": whole})


def goal_types() -> Iterator[EventType[GoalState, Any]]:
    modules = {name for names in fold._MODULES.values() for name in names}
    for name in sorted(modules):
        yield from import_module(f"loopx_kernel.domain.{name}").EVENTS


def roster_types() -> Iterator[EventType[WorkspaceState, Any]]:
    for name in (*roster._EVENTS, *roster._SELDOM):
        yield roster.workspace_event_type(name)


HOUSE_STEPS: dict[str, Any] = {
    "owner.enrolled": owner.EnrollOwner(
        name="wu", key="k", fingerprint="SHA256:wu", heads=(("dark-mode", 3, HASH),)
    ),
    "owner.revoked": owner.RevokeOwner(
        name=SECOND, fingerprint="SHA256:lin", heads=(("dark-mode", 3, HASH),)
    ),
    "goal.opened": goal.OpenGoal(goal_id="shop", objective="Add a shop", rules=rules()),
    "damage.repaired": repair.RepairFile(file=repair.FoundFile(path="x", sha256=HASH)),
}


@cache
def house() -> WorkspaceState:
    """A workspace with two owners and a goal."""
    state = WorkspaceState()
    for command, actor in (
        (roster.CreateWorkspace(workspace_id=HOME), KERNEL),
        (owner.EnrollOwner(name=OWNER.id, key="k", fingerprint="SHA256:huang"), OWNER),
        (owner.EnrollOwner(name=SECOND, key="l", fingerprint="SHA256:lin"), OWNER),
        (goal.OpenGoal(goal_id="dark-mode", objective="Dark", rules=rules()), OWNER),
    ):
        event = house_line(state, command, actor)
        state = roster.evolve(state, event, GOOD)
        assert not state.alerts
    return state


def house_line(state: WorkspaceState, command: Any, actor: Any) -> Event:
    context = Context(actor, reading(NOW))
    goal_id = WORKSPACE_JOURNAL
    if isinstance(command, goal.OpenGoal):
        draft, goal_id = goal.decide_opened(state, command, context), command.goal_id
    elif isinstance(command, repair.RepairFile):
        draft = repair.decide(state, command, context, object_id=WORKSPACE_JOURNAL)
    else:
        draft = roster.decide(state, command, context)
    told = None
    if actor is OWNER:
        version = state.object_version(draft.object_id)
        told = Signed(
            signed_at=NOW,
            object=ObjectRef(id=draft.object_id, version=version),
            witnessed=Witness(seq=state.seq, head=state.head),
            signature="",
        )
    place = GoalState(goal_id=goal_id, seq=state.seq, head=state.head)
    payload = roster.normalise(draft.event_type, draft.payload)
    return line(place, draft.event_type, payload, actor, NOW, signed=told)


@cache
def cases() -> dict[str, Case]:
    """A line of every shape that a person signs, really signed."""
    found: dict[str, Case] = {}
    for name, one in lines().items():
        if one.event.actor_kind == "owner":
            kind: Any = fold.event_type(one.event.event_type)
            found[name] = Case(one.before, signed(one.event, kind), kind, fold.evolve)
    for name, command in HOUSE_STEPS.items():
        row: Any = roster.workspace_event_type(name)
        event = signed(house_line(house(), command, OWNER), row)
        found[f"workspace: {name}"] = Case(house(), event, row, roster.evolve)
    return found


every_case = pytest.mark.parametrize("name", cases())


def does_nothing(case: Case, event: Event, **reading: Any) -> str:
    """Asserts that a line does nothing but raise the alert with its number; the alert's code."""
    before = reading.get("state", case.before)
    after = case.read(event, **reading)
    moved = {"seq", "head", "last_at", "alerts", "alert_count", "idle"}
    assert after.model_dump(exclude=moved) == before.model_dump(exclude=moved)
    alert = after.alerts[-1]
    assert (alert.seq, alert.event_id, alert.event_type) == (
        event.seq,
        event.event_id,
        event.event_type,
    )
    assert alert.message
    return str(alert.code)


def test_every_type_that_a_person_may_cause_is_tried_here() -> None:
    mine = {case.event.event_type for name, case in cases().items() if "workspace:" not in name}
    assert mine | {"goal.opened"} == {
        kind.name for kind in goal_types() if kind.by & PERSON and not kind.part_only
    }
    assert set(HOUSE_STEPS) == {kind.name for kind in roster_types() if kind.by & PERSON}


@every_case
def test_the_genuine_line_has_its_effect(name: str) -> None:
    case = cases()[name]
    assert not case.read(case.event).alerts


@every_case
def test_copied_to_a_later_place(name: str) -> None:
    case = cases()[name]
    after = case.read(case.event)
    for changes in ({}, {"event_id": "e-other"}):
        later = case.event.model_copy(
            update={"seq": after.seq + 1, "prev": after.head, "sha256": "c" * 64, **changes}
        )
        does_nothing(case, later, state=after)


@every_case
def test_into_another_goal(name: str) -> None:
    case = cases()[name]
    there = case.event.model_copy(update={"goal_id": "other"})
    state = case.before
    if isinstance(state, GoalState):
        state = state.model_copy(update={"goal_id": "other"})
        # Even where that goal is the same in everything but its name.
    does_nothing(case, there, state=state)


@every_case
def test_into_another_workspace(name: str) -> None:
    case = cases()[name]
    assert does_nothing(case, case.event, workspace_id=ABROAD) == "bad_signature"


@every_case
def test_under_another_name_id_or_type(name: str) -> None:
    case = cases()[name]
    for changes in (
        {"actor_agent_id": SECOND},
        {"actor_agent_id": "nobody"},
        {"actor_agent_id": OWNER.id.upper()},
        {"actor_kind": "agent"},
        {"actor_kind": "code"},
        {"event_id": f"{case.event.event_id}0"},
    ):
        does_nothing(case, case.event.model_copy(update=changes))
    for other in {one.kind.name: one for one in cases().values()}.values():
        if other.kind.name != case.kind.name and other.evolve is case.evolve:
            renamed = case.event.model_copy(update={"event_type": other.kind.name})
            does_nothing(replace(case, kind=other.kind), renamed)


@every_case
def test_signed_by_another_owner_or_a_stranger(name: str) -> None:
    case = cases()[name]
    for who in (SECOND, "stranger"):
        forged = signed(case.event, case.kind, who)
        assert does_nothing(case, forged) == "unknown_signer"


@every_case
def test_made_before_the_object_changed_or_about_another(name: str) -> None:
    """Really signed: about a version, an object or a past that is not the one here."""
    case = cases()[name]
    assert case.event.signed is not None
    about, seen = case.event.signed.object, case.event.signed.witnessed
    for told in (
        {"object": ObjectRef(id=about.id, version=about.version + 1)},
        {"object": ObjectRef(id="T999", version=about.version)},
        {"witnessed": Witness(seq=seen.seq, head="d" * 64)},
        {"witnessed": Witness(seq=seen.seq + 1, head=seen.head)},
        {"witnessed": Witness(seq=max(0, seen.seq - 1), head=seen.head)},
    ):
        if case.kind.name == "goal.opened" and getattr(told.get("object"), "id", "") == about.id:
            continue  # A goal is opened once; there is no other version of it.
        does_nothing(case, signed(case.event, case.kind, **told))


def otherwise(value: Any) -> Any:
    """The least other value of the kind."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    if isinstance(value, str):
        return value[:-1] + ("0" if value[-1:] != "0" else "1")
    return [*value, value[0]] if value else ["x"]


@every_case
def test_altered_anywhere(name: str) -> None:
    """Whatever the person asked for, when, about what, seen from where, and the signature."""
    case = cases()[name]
    assert case.event.signed is not None
    told = {
        "payload": asked(case.kind, case.event.payload),
        "signed": case.event.signed.model_dump(mode="json"),
    }
    tried = 0
    for path, value in places(told):
        if isinstance(value, dict) or path == ("signed", "signature"):
            continue
        altered = case.event.model_dump(mode="json")
        at: Any = altered
        for step in path[:-1]:
            at = at[step]
        at[path[-1]] = "2020-01-01T00:00:00Z" if path[-1] == "signed_at" else otherwise(value)
        does_nothing(case, Event.model_validate(altered))
        tried += 1
    armour = case.event.signed.signature
    body = range(armour.index("\n") + 1, armour.rindex("\n-----END"))
    for at in range(body.start, body.stop, 7):
        if armour[at] != "\n":
            spoiled = armour[:at] + ("A" if armour[at] != "A" else "B") + armour[at + 1 :]
            update = case.event.signed.model_copy(update={"signature": spoiled})
            does_nothing(case, case.event.model_copy(update={"signed": update}))
    assert tried > 5


@every_case
def test_without_a_signature(name: str) -> None:
    case = cases()[name]
    bare = case.event.model_copy(update={"signed": None})
    assert does_nothing(case, bare) == "unsigned"
    assert case.event.signed is not None
    for empty in ("", "-----BEGIN SSH SIGNATURE-----"):
        update = case.event.signed.model_copy(update={"signature": empty})
        does_nothing(case, case.event.model_copy(update={"signed": update}))


@every_case
def test_refused_at_the_append(name: str) -> None:
    """The façade asks the same rules before anything is written."""
    case = cases()[name]
    event, workspace = case.event, isinstance(case.before, WorkspaceState)
    for kind, problem in (("owner", "unsigned"), ("agent", None), ("code", None)):
        if kind in case.kind.by - PERSON:
            continue
        actor = Actor(kind=kind, id=OWNER.id if kind == "owner" else "x")  # type: ignore[arg-type]
        facts = Facts(actor, event.recorded_at, event.seq, event.event_id)
        with pytest.raises(LoopxError) as caught:
            if workspace:
                roster.check(case.before, event.event_type, event.goal_id, event.payload, facts)
            else:
                fold.check(case.before, event.event_type, event.payload, facts)
        assert caught.value.code == (problem or caught.value.code)
        assert caught.value.code in ("unsigned", "not_a_person")


def test_each_byte_of_a_decision_on_disk(place: Place) -> None:
    """Altered and not chained anew: the line does not even prove itself."""
    gate_id = place.ask()
    place.decide(gate_id)
    raw = place.journal.read_bytes()
    start = raw.rindex(b"\n", 0, -1) + 1
    assert records(place.journal)[-1]["event_type"] == "gate.approved"
    for at in range(start, len(raw), 11):
        spoiled = bytearray(raw)
        spoiled[at] ^= 0x01
        place.journal.write_bytes(bytes(spoiled))
        ledger = place.again()._core.fresh_goal
        found = ledger("dark-mode")
        assert found.state.gates[gate_id].status == "pending", at
        assert found.damage is not None or found.has_tail, at
