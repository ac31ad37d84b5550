"""A key that is kept open: only when asked for, shown, for a while, and gone when it should be."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from textual import events
from textual.pilot import Pilot
from textual.widgets import Input

from loopx_tui import strings
from loopx_tui.kept import LONGEST, Kept
from loopx_tui.screens.passphrase import PassphraseScreen, SignScreen
from tests.tui import fixtures
from tests.tui.gates import PASSPHRASE, House, ReviewApp, Times, armed, build, press, stands, until

SIZE = (110, 50)
FINGERPRINT = "SHA256:x"
KEY: Any = object()


@pytest.fixture
def times() -> Times:
    return Times()


@pytest.fixture
def kept(times: Times) -> Kept:
    return Kept(times)


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> House:
    house = build(tmp_path / "w", tmp_path / "key")
    monkeypatch.setenv("LOOPX_KEY", str(house.key.path))
    return house


def test_one_key_is_kept_for_fifteen_minutes_and_for_nobody_else(kept: Kept, times: Times) -> None:
    assert (kept.left, kept.take(FINGERPRINT)) == (None, None)
    kept.keep(FINGERPRINT, KEY)
    assert kept.take(FINGERPRINT) is KEY and kept.take("SHA256:y") is None
    assert kept.left == LONGEST
    times.seconds += LONGEST.total_seconds() - 1
    assert kept.take(FINGERPRINT) is KEY
    times.seconds += 1
    assert (kept.take(FINGERPRINT), kept.left, kept.drop()) == (None, None, False)


def test_it_is_dropped_at_once_and_whoever_shows_it_is_told(kept: Kept) -> None:
    told: list[bool] = []
    kept.on_change = lambda: told.append(kept.left is not None)
    kept.keep(FINGERPRINT, KEY)
    assert kept.drop() and not kept.drop()
    assert (kept.take(FINGERPRINT), told) == (None, [True, False])


def test_another_key_takes_its_place(kept: Kept) -> None:
    kept.keep(FINGERPRINT, KEY)
    kept.keep("SHA256:y", KEY)
    assert kept.take(FINGERPRINT) is None


def test_the_time_a_machine_sleeps_counts() -> None:
    kept = Kept()
    kept.keep(FINGERPRINT, KEY)
    assert kept.left is not None and kept.left <= LONGEST


async def to_the_signature(pilot: Pilot[None], app: ReviewApp, screen: type) -> None:
    await armed(pilot)
    await press(pilot, "A")
    await until(pilot, lambda: stands(app, screen))


async def sign(pilot: Pilot[None], app: ReviewApp, *keys: str) -> None:
    """Types the passphrase, with other keys before it, and waits for the receipt."""
    await press(pilot, *keys)
    app.screen.query_one(Input).value = PASSPHRASE
    await press(pilot, "enter")
    await until(pilot, lambda: "recorded as" in app.review_text)


async def confirm(pilot: Pilot[None], app: ReviewApp) -> None:
    """Presses the second deliberate key, once it counts."""

    def open_for_keys() -> bool:
        app.times.seconds += 0.5
        return strings.KEYS_WAIT not in app.text

    await until(pilot, open_for_keys)
    await press(pilot, "ctrl+s")


async def test_it_is_off_and_begins_off_each_time(house: House, kept: Kept, times: Times) -> None:
    for _ in range(2):
        app = ReviewApp(house, house.request(f"npm publish {_}"), times, kept=kept)
        async with app.run_test(size=SIZE) as pilot:
            await to_the_signature(pilot, app, PassphraseScreen)
            assert strings.KEEP_OPEN[False] in app.text
            await sign(pilot, app)
        assert kept.left is None


async def test_kept_it_signs_after_a_second_key_until_it_is_dropped(
    house: House, kept: Kept, times: Times
) -> None:
    first, second, third = (house.request(f"npm publish {n}") for n in range(3))
    app = ReviewApp(house, first, times, kept=kept)
    async with app.run_test(size=SIZE) as pilot:
        await to_the_signature(pilot, app, PassphraseScreen)
        await press(pilot, "ctrl+t")
        assert strings.KEEP_OPEN[True] in app.text
        await sign(pilot, app)
    app = ReviewApp(house, second, times, kept=kept)
    async with app.run_test(size=SIZE) as pilot:
        await to_the_signature(pilot, app, SignScreen)
        assert "key open 1" in app.review_text and "L lock key" in app.review_text
        assert house.appended == [first]
        await confirm(pilot, app)
        await until(pilot, lambda: "recorded as" in app.review_text)
    assert [house.status(gate) for gate in (first, second)] == ["approved", "approved"]
    app = ReviewApp(house, third, times, kept=kept)
    async with app.run_test(size=SIZE) as pilot:
        await armed(pilot)
        await press(pilot, "L")
        await until(pilot, lambda: strings.KEY_DROPPED in app.review_text)
        assert "key open" not in app.review_text
        await to_the_signature(pilot, app, PassphraseScreen)
    assert (kept.left, house.status(third)) == (None, "pending")


async def test_dropped_while_it_is_asked_for_it_does_not_sign(
    house: House, kept: Kept, times: Times
) -> None:
    gate = house.request()
    kept.keep(house.key.fingerprint, KEY)
    app = ReviewApp(house, gate, times, kept=kept)
    async with app.run_test(size=SIZE) as pilot:
        await to_the_signature(pilot, app, SignScreen)
        kept.drop()
        await confirm(pilot, app)
        await until(pilot, lambda: stands(app, PassphraseScreen))
        assert strings.KEPT_IS_OVER in app.text
        await press(pilot, "escape")
        await until(pilot, lambda: "nothing was written" in app.review_text)
    assert (house.appended, house.status(gate)) == ([], "pending")


async def test_a_wrong_passphrase_keeps_nothing_and_the_wish_stays(
    house: House, kept: Kept, times: Times
) -> None:
    app = ReviewApp(house, house.request(), times, kept=kept)
    async with app.run_test(size=SIZE) as pilot:
        await to_the_signature(pilot, app, PassphraseScreen)
        await press(pilot, "ctrl+t")
        app.screen.query_one(Input).value = "wrong"
        await press(pilot, "enter")
        await until(pilot, lambda: stands(app, PassphraseScreen) and "2 tries left" in app.text)
        assert kept.left is None and strings.KEEP_OPEN[True] in app.text
        await sign(pilot, app)
    assert kept.left is not None


async def test_the_header_counts_it_down_and_it_goes_with_l_the_focus_and_the_app() -> None:
    app = fixtures.app(None, theme="dark")
    async with app.run_test(size=(120, 36), notifications=True) as pilot:
        await pilot.pause()
        await pilot.pause()

        def header() -> str:
            return "".join(cell.text for cell in app.main._header.runs(120))

        assert "key open" not in header()
        app.kept.keep(FINGERPRINT, KEY)
        assert "key open 14m" in header() or "key open 15m" in header()
        assert app.main._header_due is not None
        await pilot.press("L")
        assert app.kept.left is None and "key open" not in header()
        app.kept.keep(FINGERPRINT, KEY)
        app.post_message(events.AppBlur())
        await until(pilot, lambda: app.kept.left is None)
        app.kept.keep(FINGERPRINT, KEY)
    assert app.kept.left is None
