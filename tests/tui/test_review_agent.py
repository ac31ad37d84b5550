"""The review screen with a key in ssh-agent: what is said, waited for and called off."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from loopx_kernel.workspace import Workspace

from loopx_tui import strings
from loopx_tui.screens.passphrase import SignScreen
from tests.agents import FakeAgent
from tests.hardware import ED25519, SoftHardwareKey
from tests.patience import PATIENCE
from tests.tui.gates import (
    GOAL,
    OWNER,
    House,
    ReviewApp,
    Times,
    armed,
    open_goal,
    press,
    stands,
    until,
)

SIZE = (110, 50)


class Finger:
    """A hardware key in an agent that waits until somebody touches it, or takes it away."""

    def __init__(self, key: SoftHardwareKey) -> None:
        self.asked, self.touched = threading.Event(), threading.Event()
        self.refuses = False
        self.agent = FakeAgent(key)
        self.agent.answer = self._answer

    def _answer(self, request: bytes) -> bytes | None:
        if request[0] == 13:
            self.asked.set()
            self.touched.wait(PATIENCE)
            if self.refuses:
                return b"\0\0\0\1\5"
        return self.agent.honest(request)


@pytest.fixture
def key() -> SoftHardwareKey:
    return SoftHardwareKey(ED25519)


@pytest.fixture
def finger(key: SoftHardwareKey, monkeypatch: pytest.MonkeyPatch) -> Iterator[Finger]:
    finger = Finger(key)
    with finger.agent.listening() as path:
        monkeypatch.setenv("SSH_AUTH_SOCK", str(path))
        yield finger
        finger.touched.set()


@pytest.fixture
def house(tmp_path: Path, key: SoftHardwareKey, finger: Finger) -> House:
    ws = Workspace.connect(tmp_path / "w")
    ws.append(ws.owners.enroll_first(OWNER, key.public.line), key)
    open_goal(ws, key)
    return House(ws.root, ws.keys.choices()[0], None)


async def _asked(pilot, app: ReviewApp, finger: Finger) -> None:
    """Presses on to where the key waits for a touch."""
    await armed(pilot)
    await press(pilot, "A")
    await until(pilot, lambda: stands(app, SignScreen))

    def open_for_keys() -> bool:
        app.times.seconds += 0.5
        return strings.KEYS_WAIT not in app.text

    await until(pilot, open_for_keys)
    await press(pilot, "ctrl+s")
    await until(pilot, finger.asked.is_set)
    await until(pilot, lambda: strings.ASKED["touch"] in app.review_text)


async def test_a_touch_is_asked_for_and_signs(house: House, finger: Finger) -> None:
    gate_id = house.request()
    app = ReviewApp(house, gate_id, Times())
    async with app.run_test(size=SIZE) as pilot:
        await armed(pilot)
        assert "presence: a hardware key" in app.review_text
        assert "ssh-agent at" in app.review_text
        await _asked(pilot, app, finger)
        assert house.appended == []
        finger.touched.set()
        await until(pilot, lambda: "recorded as" in app.review_text)
    decision = house.open().state(GOAL).gate(gate_id).decision
    assert decision is not None
    assert (decision.outcome, decision.level) == ("approved", "presence")


async def test_no_touch_records_nothing(house: House, finger: Finger) -> None:
    gate_id = house.request()
    app = ReviewApp(house, gate_id, Times())
    async with app.run_test(size=SIZE) as pilot:
        await _asked(pilot, app, finger)
        finger.refuses = True
        finger.touched.set()
        await until(pilot, lambda: "did not sign" in app.review_text)
    assert house.appended == []
    assert house.status(gate_id) == "pending"


async def test_escape_calls_it_off_and_a_later_touch_does_nothing(
    house: House, finger: Finger
) -> None:
    gate_id = house.request()
    app = ReviewApp(house, gate_id, Times())
    async with app.run_test(size=SIZE) as pilot:
        await _asked(pilot, app, finger)
        await press(pilot, "escape")
        await until(pilot, lambda: app.review.course.phase == "looking")
        assert "nothing was written" in app.review_text
        signed = len(finger.agent.requests)
        finger.touched.set()
        await until(pilot, lambda: app.review.course.phase in ("looking", "armed"))
        await until(pilot, lambda: len(finger.agent.requests) > signed)
    assert house.appended == []
    assert house.status(gate_id) == "pending"
