"""Random keys at the review screen, seeded: whatever is typed, nothing is appended."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from loopx_kernel.workspace import Workspace
from textual import events
from textual.app import App
from textual.keys import _character_to_key
from textual.pilot import Pilot

from loopx_tui.app import LoopxApp, Options
from loopx_tui.commands import COMMANDS, commands_for
from loopx_tui.key_guard import HOLD_SECONDS
from loopx_tui.screens.passphrase import SignScreen
from loopx_tui.screens.review import ReviewScreen
from tests.tui.gates import House, ReviewApp, Times, armed, build, stands, until
from tests.tui.matters import ROWS, RULES

KEYS = sorted(
    {key for c in COMMANDS for key in c.keys.split(",") if key and key != "ctrl+s"}
    | {*"AXDAXD", "enter", "space", "escape", "tab", "backspace", "G", "1", "3", "h", "m", "y"}
)
MAIN_KEYS = sorted(
    {
        key
        for c in commands_for("main", "rows", "goal", "history")
        for key in c.keys.split(",")
        if key
    }
    | {*"AXDd", "space", "escape"}
)
TYPED = {" ": "space", "\n": "enter", "\r": "enter"}
SIZE = (100, 40)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> House:
    folder = tmp_path_factory.mktemp("fuzz")
    house = build(folder / "w", folder / "key")
    house.request("npm publish @mall/one")
    house.request("npm publish @mall/two", irreversible=True)
    return house


@pytest.fixture
def house(made: House, monkeypatch: pytest.MonkeyPatch) -> House:
    monkeypatch.setenv("LOOPX_KEY", str(made.key.path))
    return made


@pytest.fixture
def house_of_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> House:
    folder = tmp_path
    house = build(folder / "w", folder / "key", **RULES)
    monkeypatch.setenv("LOOPX_KEY", str(house.key.path))
    return house


def send(app: App[None], key: str) -> None:
    character = key if len(key) == 1 else None
    app.post_message(events.Key(_character_to_key(key) if character else key, character))


async def handled(app: FuzzApp, pilot: Pilot[None]) -> None:
    """Waits for all keys sent so far; opens the review again where one closed it."""
    await until(pilot, lambda: not app.message_queue_size)
    await pilot.pause()
    if len(app.screen_stack) == 1:
        app.review = app.again()
        app.push_screen(app.review)


async def armed_or_covered(app: FuzzApp, pilot: Pilot[None]) -> None:
    """Waits until keys count at the review, or a dialog stands over it."""

    def ready() -> bool:
        app.times.seconds += 0.5
        return app.screen is not app.review or app.review.course.phase == "armed"

    await until(pilot, ready)


@pytest.mark.parametrize("gate_id", ["G1", "G2"])
@pytest.mark.parametrize("seed", [1, 2])
async def test_keys_of_a_hasty_person_decide_nothing(house: House, gate_id: str, seed: int) -> None:
    chance, before = random.Random(seed), house.lines
    app = FuzzApp(house, gate_id)
    async with app.run_test(size=SIZE) as pilot:
        await armed(pilot)
        for number in range(2300):
            app.times.seconds += chance.choice((0.0, 0.005, 0.02))
            send(app, chance.choice(KEYS))
            if number % 50 == 49:
                await handled(app, pilot)
    assert (house.appended, house.lines) == ([], before)


@pytest.mark.parametrize("bracketed", [True, False], ids=["bracketed", "raw"])
async def test_pastes_of_ten_thousand_characters_decide_nothing(
    house: House, bracketed: bool
) -> None:
    chance, before = random.Random(5), house.lines
    app = FuzzApp(house, "G1")
    async with app.run_test(size=SIZE) as pilot:
        await armed(pilot)
        for _ in range(40):
            text = "".join(chance.choices("AXDRGaxdyn \n\r1", k=256))
            app.times.seconds += chance.choice((0.02, 0.5, 2.0))
            if bracketed:
                app.post_message(events.Paste(text))
            else:
                for char in text:
                    send(app, TYPED.get(char, char))
            await handled(app, pilot)
    assert (house.appended, house.lines) == ([], before)


@pytest.mark.parametrize("gate_id", ["G1", "G2"])
async def test_slow_keys_reach_the_dialogs_and_sign_nothing(house: House, gate_id: str) -> None:
    chance, before = random.Random(7), house.lines
    app = FuzzApp(house, gate_id)
    reached: set[str] = set()
    async with app.run_test(size=SIZE) as pilot:
        for _ in range(40):
            await armed_or_covered(app, pilot)
            app.times.seconds += 1
            send(app, chance.choice(KEYS))
            await pilot.pause(HOLD_SECONDS)
            reached.add(type(app.screen).__name__)
            await handled(app, pilot)
    # The keys did count: without a passphrase they led no further than to the question for it.
    assert reached & {"PassphraseScreen", "ConfirmId", "FormScreen"}
    assert (house.appended, house.lines) == ([], before)


@pytest.mark.parametrize("name", list(ROWS))
async def test_keys_at_any_decision_sign_nothing(
    house_of_all: House, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    house, row = house_of_all, ROWS[name]
    chance, app = random.Random(name), FuzzApp(house, row.begin(house), row.case)
    before = house.lines
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: app.review.look is not None)
        for number in range(250):
            app.times.seconds += chance.choice((0.0, 0.02, 0.2, 1.0))
            send(app, chance.choice([*KEYS, row.key, row.key, "e", "ctrl+o"]))
            if number % 25 == 24:
                await handled(app, pilot)
                await pilot.pause(HOLD_SECONDS)
    assert (house.appended, house.lines) == ([], before)
    assert not row.holds(house.open())


async def test_unattended_key_is_not_used_by_keys_that_are_not_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    house = build(tmp_path / "w", tmp_path / "key", None)
    monkeypatch.setenv("LOOPX_KEY", str(tmp_path / "key"))
    house.request()
    chance, app = random.Random(3), FuzzApp(house, "G1")
    async with app.run_test(size=SIZE) as pilot:
        await armed(pilot)
        app.review.action_scroll_bottom()
        await until(pilot, lambda: app.review.end_seen)
        app.times.seconds += 1
        send(app, "A")
        await until(pilot, lambda: stands(app, SignScreen))
        for _ in range(300):
            app.times.seconds += 1
            send(app, chance.choice([key for key in KEYS if key != "escape"]))
        await handled(app, pilot)
        assert isinstance(app.screen, SignScreen)
    assert (house.appended, house.status("G1")) == ([], "pending")


class FuzzApp(ReviewApp):
    """A review that can be opened again."""

    def __init__(self, house: House, object_id: str, case: str = "gate") -> None:
        super().__init__(house, object_id, Times(), case=case)
        self._of = house, object_id, case

    def again(self) -> ReviewScreen:
        house, object_id, case = self._of
        return ReviewApp(house, object_id, self.times, case=case).review


async def test_first_screen_with_the_review_one_key_away_decides_nothing(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[object] = []
    monkeypatch.setattr(Workspace, "append", lambda *call: tried.append(call))
    chance, before = random.Random(11), house.lines
    app = LoopxApp(Options(house.root))
    keys = [key for key in MAIN_KEYS if key not in ("q", "t")]
    async with app.run_test(size=(120, 36)) as pilot:
        await until(pilot, lambda: app.main.settled)
        for _ in range(20):
            for key in chance.choices(keys, k=40):
                send(app, key)
            await until(pilot, lambda: not app.message_queue_size)
    assert (tried, house.lines) == ([], before)


async def test_prose_typed_at_the_first_screen_decides_nothing(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[object] = []
    monkeypatch.setattr(Workspace, "append", lambda *call: tried.append(call))
    app = LoopxApp(Options(house.root))
    async with app.run_test(size=(120, 36)) as pilot:
        await until(pilot, lambda: app.main.settled)
        for char in "my day dAd yes, approve All\n":
            send(app, {" ": "space", "\n": "enter"}.get(char, char))
        await until(pilot, lambda: not app.message_queue_size)
        app.post_message(events.Paste("dAAA"))
        await pilot.pause(HOLD_SECONDS)
        course = getattr(app.screen, "course", None)
        assert course is None or not course.busy
    assert tried == []
