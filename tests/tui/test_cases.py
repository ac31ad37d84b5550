"""Every decision there is, in the app: made, given up, wrongly signed, and made elsewhere."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from loopx_kernel.workspace import KeyChoice
from textual.pilot import Pilot
from textual.widgets import Input, TextArea

from loopx_tui import strings
from loopx_tui.cases.case import missing
from loopx_tui.cases.table import CASES
from loopx_tui.screens.form import FormScreen
from loopx_tui.screens.passphrase import PassphraseScreen
from loopx_tui.situation import OF_NEEDS
from loopx_tui.widgets.choice_list import ChoiceList
from tests.tui.gates import PASSPHRASE, House, ReviewApp, Times, armed, build, press, stands, until
from tests.tui.matters import ROWS, RULES, Row, decide_elsewhere

SIZE = (110, 60)
EACH = pytest.mark.parametrize("row", ROWS.values(), ids=list(ROWS))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, KeyChoice]:
    folder = tmp_path_factory.mktemp("made")
    house = build(folder / "w", folder / "key", **RULES)
    return folder, house.key


@pytest.fixture
def house(made: tuple[Path, KeyChoice], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> House:
    folder, key = made
    shutil.copytree(folder / "w", tmp_path / "w")
    monkeypatch.setenv("LOOPX_KEY", str(key.path))
    return House(tmp_path / "w", key, PASSPHRASE.encode())


async def fill_in(pilot: Pilot[None], app: ReviewApp, row: Row) -> None:
    """Writes what the row says into the form on top, and keeps it."""
    await until(pilot, lambda: stands(app, FormScreen))
    form = app.screen
    assert isinstance(form, FormScreen)
    for name, widget in form.widgets.items():
        value = row.values.get(name, "")
        if isinstance(widget, ChoiceList):
            for ref in value.splitlines():
                widget.toggle(ref)
        elif isinstance(widget, TextArea):
            widget.text = value
        else:
            assert isinstance(widget, Input)
            widget.value = value
    await press(pilot, "ctrl+o")
    await until(pilot, lambda: app.screen is not form)


async def read(pilot: Pilot[None], app: ReviewApp, row: Row) -> None:
    """Fills in what comes first, and reads to the end."""
    if CASES[row.case].first:
        await fill_in(pilot, app, row)
    await armed(pilot)
    await press(pilot, "G")
    await until(pilot, lambda: app.review.end_seen)
    await armed(pilot)


async def to_the_signature(pilot: Pilot[None], app: ReviewApp, row: Row) -> None:
    await read(pilot, app, row)
    case = CASES[row.case]
    if set(row.values) > {"reason"} and not case.first:
        await press(pilot, "e")
        await fill_in(pilot, app, row)
        await read(pilot, app, row)
    lacking = missing(next(w for w in case.ways if w.name == row.way).needs, app.review.values)
    await press(pilot, row.key)
    if lacking:
        await fill_in(pilot, app, row)
    await until(pilot, lambda: stands(app, PassphraseScreen))


async def sign(pilot: Pilot[None], app: ReviewApp, passphrase: str) -> None:
    app.screen.query_one("Input", Input).value = passphrase
    await pilot.press("enter")


def test_every_case_and_way_has_a_row() -> None:
    ways = {(case.id, way.name) for case in CASES.values() for way in case.ways}
    rows = {(row.case, row.way) for row in ROWS.values()}
    # Gates and opening a goal have tests of their own.
    apart = {(name, way.name) for name in ("gate", "goal.open") for way in CASES[name].ways}
    assert ways - apart == rows
    assert set(OF_NEEDS.values()) <= set(CASES)


@EACH
async def test_it_is_decided_with_its_key_and_a_passphrase(house: House, row: Row) -> None:
    object_id = row.begin(house)
    app, before = ReviewApp(house, object_id, Times(), case=row.case), house.lines
    async with app.run_test(size=SIZE) as pilot:
        await to_the_signature(pilot, app, row)
        assert (house.appended, house.lines) == ([], before)
        await sign(pilot, app, PASSPHRASE)
        await until(pilot, lambda: "ssh-keygen -Y verify" in app.review_text)
        way = next(way for way in CASES[row.case].ways if way.name == row.way)
        assert f"✔ {way.done}, recorded as #" in app.review_text
    assert app.review.recorded == "recorded" and row.holds(house.open())


@EACH
async def test_given_up_or_signed_wrongly_it_is_not_decided(house: House, row: Row) -> None:
    app = ReviewApp(house, row.begin(house), Times(), case=row.case)
    before = house.lines
    async with app.run_test(size=SIZE) as pilot:
        await to_the_signature(pilot, app, row)
        await sign(pilot, app, "wrong")
        await until(
            pilot,
            lambda: isinstance(app.screen, PassphraseScreen) and "2 tries left" in app.text,
        )
        await press(pilot, "escape")
        await until(pilot, lambda: "nothing was written" in app.review_text)
    assert (house.appended, house.lines) == ([], before)
    assert not row.holds(house.open())


@EACH
async def test_a_form_that_is_left_decides_nothing(house: House, row: Row) -> None:
    case = CASES[row.case]
    if not case.fields:
        assert all(not way.needs for way in case.ways)
        return
    app = ReviewApp(house, row.begin(house), Times(), case=row.case)
    async with app.run_test(size=SIZE) as pilot:
        if case.first:
            await until(pilot, lambda: stands(app, FormScreen))
        else:
            await read(pilot, app, row)
            await press(pilot, row.key)
            await until(pilot, lambda: stands(app, FormScreen))
        await press(pilot, "escape")
        await until(pilot, lambda: app.screen is app.review)
        assert not app.review.course.busy
    assert house.appended == [] and not row.holds(house.open())


@EACH
async def test_what_is_decided_elsewhere_meanwhile_is_said(house: House, row: Row) -> None:
    object_id = row.begin(house)
    app = ReviewApp(house, object_id, Times(), case=row.case)
    async with app.run_test(size=SIZE) as pilot:
        await to_the_signature(pilot, app, row)
        decide_elsewhere(house, row, object_id)
        if row.settles:
            app.review.look_again()
            await until(pilot, lambda: "nothing is left to decide" in app.review_text)
            assert app.screen is app.review and app.review.course.over
            await press(pilot, row.key)
            assert not app.review.course.busy
    assert house.appended == []


async def test_an_objective_that_changed_meanwhile_is_shown_and_read_again(house: House) -> None:
    row = ROWS["objective"]
    app = ReviewApp(house, row.begin(house), Times(), case=row.case)
    async with app.run_test(size=SIZE) as pilot:
        await to_the_signature(pilot, app, row)
        decide_elsewhere(
            house, Row(**{**vars(row), "values": {"text": "Other", "reason": "x"}}), ""
        )
        app.review.look_again()
        await until(pilot, lambda: "objective changed while you looked" in app.review_text)
        assert "now  Other" in app.review_text and "nothing was written" in app.review_text
        await until(pilot, lambda: app.screen is app.review)
    assert house.appended == []


@EACH
async def test_read_only_greys_the_key_with_the_reason(house: House, row: Row) -> None:
    app = ReviewApp(house, row.begin(house), Times(), case=row.case, read_only=True)
    async with app.run_test(size=SIZE) as pilot:
        await armed(pilot)
        assert "This workspace is open read-only" in app.review_text
        for way in CASES[row.case].ways:
            assert app.review.why_not(way.command_id) == "This workspace is open read-only"
        await press(pilot, "G", row.key)
        await until(pilot, lambda: app.review.end_seen)
        assert app.screen is app.review and not app.review.course.busy
    assert house.appended == []


async def test_keys_of_other_cases_do_nothing(house: House) -> None:
    app = ReviewApp(house, ROWS["cancel"].begin(house), Times(), case="todo.cancel")
    async with app.run_test(size=SIZE) as pilot:
        await read(pilot, app, ROWS["cancel"])
        await press(pilot, "X", "D", "R")
        await pilot.pause(0.1)
        assert app.screen is app.review and not app.review.course.busy
        assert "D defer" not in app.review_text and "A cancel it" in app.review_text


async def test_a_reason_is_asked_for_and_an_empty_one_is_not_kept(house: House) -> None:
    app = ReviewApp(house, ROWS["go on"].begin(house), Times(), case="escalation")
    async with app.run_test(size=SIZE) as pilot:
        await read(pilot, app, ROWS["go on"])
        await press(pilot, "A")
        await until(pilot, lambda: stands(app, FormScreen))
        await press(pilot, "enter")
        await until(pilot, lambda: strings.NEEDED.format(label="reason") in app.text)
        await press(pilot, *"ok", "enter")
        await until(pilot, lambda: stands(app, PassphraseScreen))
        assert '"reason":"ok"' in app.text
    assert house.appended == []


async def test_objective_is_not_signed_before_it_is_written_anew(house: House) -> None:
    app = ReviewApp(house, "dark-mode", Times(), case="objective")
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: stands(app, FormScreen))
        await press(pilot, "escape")
        await armed(pilot)
        await press(pilot, "A")
        await until(pilot, lambda: "Write the new objective first" in app.review_text)
        assert app.screen is app.review and not app.review.course.busy
    assert house.appended == []


async def test_a_review_that_was_left_opens_no_form(house: House) -> None:
    app = ReviewApp(house, "dark-mode", Times(), case="goal.pause")
    async with app.run_test(size=SIZE) as pilot:
        await armed(pilot)
        app.review.leave(None)
        app.review.action_edit()
        await pilot.pause(0.1)
        assert len(app.screen_stack) == 1
