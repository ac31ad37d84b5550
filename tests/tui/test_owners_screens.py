"""People in the app: who is shown, how a key is named, and owners who are not those known."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from loopx_kernel.domain.event import WORKSPACE_JOURNAL
from loopx_kernel.trust.new_key import generate
from loopx_kernel.workspace import Workspace
from textual.pilot import Pilot
from textual.widgets import Input

from loopx_tui import strings
from loopx_tui.app import LoopxApp, Options
from loopx_tui.cases.table import CASES
from loopx_tui.desk import verify_command
from loopx_tui.knowing import look_up
from loopx_tui.presentation import alerts
from loopx_tui.presentation.facts import OWNERS, Facts, Subject
from loopx_tui.presentation.pen import Pen
from loopx_tui.reading import Reader
from loopx_tui.screens.confirm_id import ConfirmId
from loopx_tui.screens.detail import DetailScreen
from loopx_tui.screens.form import FormScreen
from loopx_tui.told import Told
from loopx_tui.widgets.choice_list import ChoiceList
from tests.patience import PATIENCE
from tests.tui import fixtures
from tests.tui.gates import GOAL, OWNER, House, ReviewApp, Times, armed, build, press, stands, until
from tests.tui.matters import LIN, LIN_NEW, two_owners

SIZE = (110, 60)
PEN = Pen(fixtures.NOW)


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> House:
    house = build(tmp_path / "w", tmp_path / "key")
    monkeypatch.setenv("LOOPX_KEY", str(house.key.path))
    return house


@pytest.fixture
def file(home: Path) -> Path:
    return home / ".config" / "loopx" / "known_workspaces"


async def write(pilot: Pilot[None], app: ReviewApp, **values: str) -> None:
    """Writes into the form on top, and keeps it."""
    await until(pilot, lambda: stands(app, FormScreen))
    form = app.screen
    assert isinstance(form, FormScreen)
    for name, value in values.items():
        widget = form.widgets[name]
        if isinstance(widget, ChoiceList):
            widget.toggle(value)
        else:
            assert isinstance(widget, Input)
            widget.value = value
    await press(pilot, "ctrl+o")
    await until(pilot, lambda: app.screen is not form)


# A key that is to be enrolled


async def test_what_is_no_key_is_said_and_nothing_that_was_written_is_lost(
    house: House, tmp_path: Path
) -> None:
    made = generate(tmp_path / "maria", "maria", b"secret")
    os.mkfifo(tmp_path / "pipe")
    app = ReviewApp(house, OWNERS, Times(), case="owner.enroll")
    async with app.run_test(size=SIZE) as pilot:
        for wrong in ("none.pub", str(tmp_path / "maria"), str(tmp_path / "pipe"), "ssh-rsa AAAA"):
            await write(pilot, app, name="maria", public_key=wrong)
            await until(pilot, lambda: stands(app, FormScreen))
            assert "public key" in app.text and app.screen.widgets["name"].value == "maria"  # type: ignore[attr-defined]
        await write(pilot, app, public_key=f"{tmp_path}/maria.pub")
        await armed(pilot)
        assert "maria becomes an owner" in app.review_text
        assert made.fingerprint in app.review_text
        assert "passphrase: its passphrase is typed at each decision" in app.review_text
        command = f"loopx owner enroll --name maria --public-key {tmp_path}/maria.pub\n"
        assert command in app.review_text + "\n"
    assert house.appended == []


@pytest.mark.parametrize(
    ("use", "said", "option"),
    [
        ("confirmed", "confirmed: ssh-agent asks its owner at each use", "--confirmed"),
        ("unattended", "UNATTENDED: programs may decide with it", "--allow-unattended"),
    ],
)
async def test_what_a_key_asks_for_is_shown_before_it_is_signed(
    house: House, use: str, said: str, option: str
) -> None:
    app = ReviewApp(house, OWNERS, Times(), case="owner.enroll")
    async with app.run_test(size=SIZE) as pilot:
        await write(pilot, app, name="lin", public_key=LIN, use=use)
        await armed(pilot)
        assert said in app.review_text
        assert f"--name lin --public-key lin.pub {option}" in app.review_text


async def test_who_is_an_owner_already_is_not_enrolled_again(house: House) -> None:
    app = ReviewApp(house, OWNERS, Times(), case="owner.enroll")
    async with app.run_test(size=SIZE) as pilot:
        await write(pilot, app, name=OWNER, public_key=LIN)
        await armed(pilot)
        await press(pilot, "A")
        await until(pilot, lambda: strings.OWNER_ALREADY.format(name=OWNER) in app.review_text)
        assert not app.review.course.busy
    assert house.appended == []


async def test_the_last_owner_stays(house: House) -> None:
    app = ReviewApp(house, OWNERS, Times(), case="owner.revoke")
    async with app.run_test(size=SIZE) as pilot:
        await write(pilot, app, name=OWNER)
        await armed(pilot)
        await press(pilot, "A")
        await until(pilot, lambda: "is the last owner" in app.review_text)
    assert house.appended == []


def test_times_are_written_in_full_for_the_command_that_does_the_same() -> None:
    take = CASES["owner.enroll"].take
    assert take is not None
    values = {"name": "lin", "public_key": LIN, "use": "asked", "valid_after": ""}
    taken = take({**values, "valid_before": "30d"})
    assert taken["valid_before"].endswith("Z") and taken["line"] == LIN
    again = take({**values, "valid_before": taken["valid_before"]})
    assert again["valid_before"] == taken["valid_before"]


def test_the_last_signature_of_a_key_can_be_checked_as_its_receipt_says(
    house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ws, new = house.open(), generate(tmp_path / "new", OWNER, b"secret")
    unsigned = ws.owners.rotate(OWNER, OWNER, new.line)
    done = ws.append(unsigned, ws.keys.unlock(house.key, house.passphrase))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    monkeypatch.setenv("LOOPX_ROOT", str(house.root))
    lines = verify_command(unsigned, done.receipt.event_id)
    checked = subprocess.run(
        ["sh", "-euc", lines], capture_output=True, text=True, timeout=PATIENCE, check=True
    )
    assert f'Good "loopx" signature for {OWNER}' in checked.stdout


# The window with everybody


def told(facts: Facts) -> str:
    return "\n".join(f"{fact.label}: {fact.value.text}" for fact in facts)


def test_everybody_is_shown_with_key_level_and_whether_their_lines_verify(house: House) -> None:
    two_owners(house)
    ws = house.open()
    ws.append(ws.owners.revoke(OWNER, "lin"), ws.keys.unlock(house.key, house.passphrase))
    text = told(look_up(house.open, Subject(OWNERS, "", OWNERS), PEN))
    assert f"{OWNER}: decides here" in text and "lin: decides nothing any more" in text
    assert f"key: ssh-ed25519 {house.key.fingerprint}" in text
    assert text.count(f"✔ {house.key.fingerprint[:14]}… (passphrase)") == 3
    assert f"revoked: #6 by {OWNER}" in text
    assert f"known: on this machine as that of {OWNER}" in text


async def test_the_palette_opens_it_and_it_follows(house: House) -> None:
    two_owners(house)
    app = LoopxApp(Options(path=house.root))
    async with app.run_test(size=(120, 36)) as pilot:
        await until(pilot, lambda: app._watching is not None and app.screen is app.main)
        await pilot.press("colon")
        await until(pilot, lambda: app.screen is not app.main)
        await pilot.press(*"owner list", "enter")
        await until(pilot, lambda: isinstance(app.screen, DetailScreen))
        window = app.screen
        assert isinstance(window, DetailScreen)
        await until(pilot, lambda: house.key.fingerprint in told(window._more))
        ws = house.open()
        unsigned = ws.owners.rotate(OWNER, "lin", LIN_NEW)
        ws.append(unsigned, ws.keys.unlock(house.key, house.passphrase))
        await until(pilot, lambda: told(window._more).count("lin: ") == 2, "the new key")


# Owners who are not those this person knew


def read(reader: Reader) -> Told:
    for _ in reader.read((), everything=True, goal_id=None):
        pass
    return reader.told(None)


def swapped(file: Path) -> None:
    """As if other owners had been here when this person looked."""
    row = json.loads(file.read_bytes()) | {"owners": {"SHA256:x": "anna"}}
    file.write_text(json.dumps(row) + "\n", "utf-8")


def test_other_owners_are_told_before_anything_else(house: House, file: Path) -> None:
    house.request()
    swapped(file)
    told = read(Reader(house.root, read_only=False))
    assert told.view is not None
    assert told.view.alerts[0].startswith("owners_changed: ")
    assert [item.kind for item in told.view.needs_you] == ["damage", "gate"]
    assert told.view.needs_you[0].next == "loopx owner trust"
    first = alerts.rows(told.view, "")[0]
    assert "owners_changed" in first.cells[2].text


@pytest.mark.parametrize("goal", [True, False], ids=["with a goal", "empty"])
def test_a_workspace_deleted_and_made_again_under_a_running_screen(
    house: House, tmp_path: Path, goal: bool, file: Path
) -> None:
    reader = Reader(house.root, read_only=False)
    assert read(reader).view.alerts == ()  # type: ignore[union-attr]
    known = file.read_bytes()
    shutil.rmtree(house.root / ".loopx")
    made = tmp_path / "other"
    if goal:
        build(made, tmp_path / "key2")
    else:
        Workspace.connect(made)
    shutil.move(made / ".loopx", house.root / ".loopx")
    file.write_bytes(known)
    told = read(reader)
    assert told.view is not None
    assert "Another workspace stands in" in told.view.alerts[0]
    assert [item.kind for item in told.view.needs_you] == ["damage"] * goal


async def test_they_are_trusted_by_typing_and_the_screen_sees_it(
    house: House, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    swapped(file)
    before = file.read_bytes()
    app = LoopxApp(Options(path=house.root))
    async with app.run_test(size=(120, 36), notifications=True) as pilot:

        def said() -> str:
            return " ".join(notice.message for notice in app._notifications)

        def alarmed() -> bool:
            view = app.main.scene.view
            return view is not None and bool(view.alerts)

        await until(pilot, lambda: app._watching is not None and alarmed())
        monkeypatch.setenv("LOOPX_AGENT", "codex")
        app.main.action_trust()
        await until(pilot, lambda: "LOOPX_AGENT is set" in said())
        monkeypatch.delenv("LOOPX_AGENT")
        wanted = house.open().workspace_id[:8]
        for typed, leaves in (("no", False), (wanted, True)):
            app.main.action_trust()
            await until(pilot, lambda: stands(app, ConfirmId))
            await pilot.press(*typed, "enter")
            if not leaves:
                assert file.read_bytes() == before
                await pilot.press("escape")
                await until(pilot, lambda: strings.NOT_TRUSTED in said())
        await until(pilot, lambda: strings.TRUSTED.format(owners=OWNER) in said())
        await until(pilot, lambda: not alarmed())
        app.main.action_trust()
        await until(pilot, lambda: strings.NOTHING_TO_TRUST in said())


async def test_it_is_shown_where_it_is_decided_and_nothing_is_signed(
    house: House, file: Path
) -> None:
    gate = house.request()
    swapped(file)
    app = ReviewApp(house, f"damage:{GOAL}", Times(), case="damage")
    async with app.run_test(size=SIZE) as pilot:
        await armed(pilot)
        assert "owners_changed: The owners of" in app.review_text
        assert "loopx owner trust" in app.review.why_not("review.approve")
    app = ReviewApp(house, OWNERS, Times(), case="owner.enroll")
    async with app.run_test(size=SIZE) as pilot:
        await write(pilot, app, name="lin", public_key=LIN)
        await armed(pilot)
        assert "The owners of" in app.review.why_not("review.approve")
    app = ReviewApp(house, gate, Times())
    async with app.run_test(size=SIZE) as pilot:
        await armed(pilot)
        await press(pilot, "G")
        await armed(pilot)
        await press(pilot, "A")
        await until(pilot, lambda: "Not recorded: The owners of" in app.review_text)
    assert (house.appended, house.status(gate)) == ([], "pending")
    rows = house.open().events.list(WORKSPACE_JOURNAL, 0, "owner")
    assert [row.event.event_type for row in rows] == ["owner.enrolled"]
