"""First use: a folder is connected, the first goal opened, and nothing is made before a yes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from loopx_kernel.trust.keys import load_private
from loopx_kernel.workspace import Workspace
from loopx_kernel.workspace.keys import prospects
from loopx_kernel.workspace.listed import add, listed
from loopx_kernel.workspace.person import config_file, default_key, generate_key
from textual.pilot import Pilot
from textual.widgets import Input, Static, TextArea

from loopx_tui import first_words as words
from loopx_tui import key_guard
from loopx_tui.app import LoopxApp, Options
from loopx_tui.screens.dialog import Dialog, Notice
from loopx_tui.screens.form import FormScreen
from loopx_tui.screens.guide import GuideScreen
from loopx_tui.screens.passphrase import NewPassphrase, PassphraseScreen, SignScreen
from loopx_tui.screens.places import PlacesScreen
from loopx_tui.screens.review import ReviewScreen
from loopx_tui.widgets.choice_list import ChoiceList
from tests.agents import FakeAgent
from tests.hardware import ED25519, SoftHardwareKey
from tests.patience import PATIENCE
from tests.tui.gates import build, until

SIZE = (100, 40)
SECRET = "correct horse"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "mall-frontend"
    place.mkdir()
    return place


@asynccontextmanager
async def running(path: Path, **options: Any) -> AsyncIterator[tuple[LoopxApp, Pilot[None]]]:
    app = LoopxApp(Options(path, **options))
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: app.screen is app.main and app.main.settled)
        yield app, pilot


def text(app: LoopxApp) -> str:
    """What the top screen says, all of it."""
    return "\n".join(str(one.content) for one in app.screen.query(Static).results())


async def top(app: LoopxApp, pilot: Pilot[None], kind: type[Dialog[Any]]) -> Any:
    await until(pilot, lambda: isinstance(app.screen, kind) and app.screen.query("#dialog-hint"))
    return app.screen


async def sign(app: LoopxApp, pilot: Pilot[None]) -> None:
    """The second deliberate key, once it counts."""
    await top(app, pilot, SignScreen)
    await until(
        pilot, lambda: words.SIGN_ENROLMENT in app.screen.query_one("#dialog-box").border_title
    )

    async with asyncio.timeout(PATIENCE):
        while isinstance(app.screen, SignScreen):
            await pilot.press("ctrl+s")
            await pilot.pause(2 * key_guard.BURST_SECONDS)


async def choose(form: FormScreen, ref: str) -> None:
    choices = form.widgets["key"]
    assert isinstance(choices, ChoiceList)
    if ref not in choices.chosen:
        choices.toggle(ref)


async def test_a_folder_is_connected_with_a_new_key_and_the_first_goal_opened(folder: Path) -> None:
    async with running(folder) as (app, pilot):
        assert words.WELCOME in text(app)
        await pilot.press("enter")
        form = await top(app, pilot, FormScreen)
        assert form.widgets["key"].chosen == ["new"]
        form.widgets["owner"].value = "huang"
        await pilot.press("ctrl+o")
        asked = await top(app, pilot, NewPassphrase)
        assert not (folder / ".loopx").exists() and not default_key().exists()
        await pilot.press(*"one", "enter", *"two", "enter")
        assert words.PASSPHRASE_DIFFERS in text(app)
        for field in asked.query(Input):
            field.value = SECRET
        await pilot.press("enter")
        await sign(app, pilot)
        await top(app, pilot, Notice)
        assert words.CONNECTED.format(root=folder) in text(app)
        assert SECRET not in text(app)
        owners = Workspace.open(folder).owners.list()
        assert [(one.name, one.level) for one in owners] == [("huang", "passphrase")]
        assert listed() == (folder,)
        await pilot.press("enter")
        await top(app, pilot, GuideScreen)
        await _open_goal(app, pilot)
        await until(
            pilot, lambda: "dark-mode-for-the-shop" in {goal.goal_id for goal in _goals(app)}
        )
    state = Workspace.open(folder).state("dark-mode-for-the-shop")
    assert state.objective is not None and state.objective.text == "Dark mode for the shop"
    assert [rule.text for rule in state.the_rules.gates] == ["publish:git push*"]
    assert state.the_rules.quota.allowed == 288


def _goals(app: LoopxApp) -> Any:
    view = app.main.scene.view
    return view.goals if view else ()


async def _write(app: LoopxApp, value: str) -> None:
    guide = app.screen
    assert isinstance(guide, GuideScreen)
    if isinstance(guide.widget, TextArea):
        guide.widget.text = value
    else:
        assert isinstance(guide.widget, Input)
        guide.widget.value = value


async def _step(app: LoopxApp, pilot: Pilot[None], value: str, then: Callable[[], Any]) -> None:
    await _write(app, value)
    await pilot.press("ctrl+o")
    await until(pilot, then)


async def _open_goal(app: LoopxApp, pilot: Pilot[None]) -> None:
    guide = app.screen
    assert isinstance(guide, GuideScreen)
    await pilot.press("ctrl+o")
    await until(pilot, lambda: "The objective is needed" in text(app))
    await _step(app, pilot, "Dark mode for the shop", lambda: guide.step.name == "write_scope")
    await _step(app, pilot, "everywhere, please", lambda: "looks like a rule" in text(app))
    await _step(app, pilot, "src/theme/**", lambda: guide.step.name == "gates")
    await _step(app, pilot, "be careful", lambda: "names no concrete action" in text(app))
    await _write(app, "publish:git push*")
    await until(pilot, lambda: "✔ asks you before: publish by git push*" in text(app))
    await pilot.press("ctrl+o")
    await until(pilot, lambda: guide.step.name == "acceptance")
    await pilot.press("escape")
    await until(pilot, lambda: guide.step.name == "gates")
    assert isinstance(guide.widget, TextArea) and guide.widget.text == "publish:git push*"
    await pilot.press("ctrl+o")
    await until(pilot, lambda: guide.step.name == "acceptance")
    await _step(app, pilot, "is it nice?", lambda: "is not an acceptance item" in text(app))
    await _step(app, pilot, "cmd:pytest -q", lambda: guide.step.name == "compute")
    await _step(app, pilot, "much", lambda: "a share is a decimal" in text(app))
    await _step(app, pilot, "0.2", lambda: guide.step.name == "id")
    await pilot.press("ctrl+o")
    await until(pilot, lambda: isinstance(app.screen, ReviewScreen))
    review = app.screen
    assert isinstance(review, ReviewScreen)
    assert "loopx start-goal --objective 'Dark mode for the shop'" in text(app)
    await until(pilot, lambda: review.course.phase == "armed")
    await pilot.press("G")
    await until(pilot, lambda: review.end_seen and review.course.phase == "armed")
    await pilot.press("A")
    await top(app, pilot, PassphraseScreen)
    app.screen.query_one(Input).value = SECRET
    await pilot.press("enter")
    await until(pilot, lambda: "loopx agent add claude-code" in text(app))
    await pilot.press("escape")


async def _owner_form(app: LoopxApp, pilot: Pilot[None]) -> FormScreen:
    await pilot.press("C")
    form = await top(app, pilot, FormScreen)
    assert isinstance(form, FormScreen)
    return form


async def test_a_key_of_ones_own_is_offered_first_and_asks_for_its_passphrase(folder: Path) -> None:
    key = generate_key(default_key(), "mine", SECRET.encode())
    async with running(folder) as (app, pilot):
        form = await _owner_form(app, pilot)
        choices = form.widgets["key"]
        assert isinstance(choices, ChoiceList)
        # A new one would take its place.
        assert choices.chosen == [str(default_key())] and choices.option_count == 1
        await pilot.press("ctrl+o")
        await top(app, pilot, PassphraseScreen)
        assert key.fingerprint in text(app) and "owner.enrolled" in text(app)
        app.screen.query_one(Input).value = "wrong"
        await pilot.press("enter")
        await until(pilot, lambda: "2 tries left" in text(app))
        assert Workspace.open(folder).owners.list() == ()
        app.screen.query_one(Input).value = SECRET
        await pilot.press("enter")
        await top(app, pilot, Notice)
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.main and app.main.connected)
        assert "No goals yet" in "\n".join(strip.text for strip in _strips(app))
    assert [one.fingerprint for one in Workspace.open(folder).owners.list()] == [key.fingerprint]


def _strips(app: LoopxApp) -> Any:
    return app.screen._compositor.render_strips()


async def test_a_key_without_a_passphrase_says_what_that_means(folder: Path) -> None:
    async with running(folder) as (app, pilot):
        form = await _owner_form(app, pilot)
        await choose(form, "new-open")
        await pilot.press("ctrl+o")
        await top(app, pilot, SignScreen)
        assert "software" in text(app)
        await sign(app, pilot)
        await top(app, pilot, Notice)
    (owner,) = Workspace.open(folder).owners.list()
    assert (owner.level, owner.allow_unattended) == ("software", True)


@pytest.mark.parametrize("kind", ["hardware", "confirmed"])
async def test_a_key_in_ssh_agent_is_offered_for_the_first_enrolment(
    folder: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    signer: Any = SoftHardwareKey(ED25519)
    if kind == "confirmed":
        generate_key(folder.parent / "held", "held@test", None)
        signer = load_private(folder.parent / "held", None)
    with FakeAgent(signer).listening() as socket:
        monkeypatch.setenv("SSH_AUTH_SOCK", str(socket))
        async with running(folder) as (app, pilot):
            form = await _owner_form(app, pilot)
            first = {"hardware": signer.public.fingerprint, "confirmed": "new"}[kind]
            assert form.widgets["key"].chosen == [first]
            await choose(form, signer.public.fingerprint)
            await pilot.press("ctrl+o")
            await top(app, pilot, SignScreen)
            assert signer.public.fingerprint in text(app)
            assert Workspace.open(folder).owners.list() == ()
            await sign(app, pilot)
            await top(app, pilot, Notice)
        (choice,) = Workspace.open(folder).keys.choices()
    (owner,) = Workspace.open(folder).owners.list()
    assert owner.level == {"hardware": "presence", "confirmed": "confirmed"}[kind]
    assert choice.usable and choice.in_agent and not config_file().exists()


async def test_a_key_that_is_named_stands_alone(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    named = generate_key(folder.parent / "named", "named", SECRET.encode())
    with FakeAgent(SoftHardwareKey(ED25519)).listening() as socket:
        monkeypatch.setenv("SSH_AUTH_SOCK", str(socket))
        monkeypatch.setenv("LOOPX_KEY", str(named.path))
        (choice,) = prospects("huang")
    assert (choice.fingerprint, choice.level, choice.usable) == (
        named.fingerprint,
        "passphrase",
        True,
    )


async def test_what_cannot_be_used_is_said_in_the_form_and_nothing_is_made(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running(folder) as (app, pilot):
        form = await _owner_form(app, pilot)
        owner = form.widgets["owner"]
        assert isinstance(owner, Input)
        owner.value = "not a name"
        await pilot.press("ctrl+o")
        await until(pilot, lambda: "cannot be an owner's name" in text(app))
        again = await top(app, pilot, FormScreen)
        assert again is not form and again.widgets["owner"].value == "not a name"
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.main)
        generate_key(folder.parent / "open", "open", None)
        monkeypatch.setenv("LOOPX_KEY", str(folder.parent / "open"))
        form = await _owner_form(app, pilot)
        await choose(form, str(folder.parent / "open"))
        await pilot.press("ctrl+o")
        await until(pilot, lambda: words.KEY_UNUSABLE.split("{")[0] in text(app))
    assert not (folder / ".loopx").exists() and not default_key().exists()


@pytest.mark.parametrize("kind", ["read-only", "connected", "gone"])
async def test_connecting_is_refused_with_the_reason(folder: Path, kind: str) -> None:
    if kind != "read-only":
        house = build(folder, folder.parent / "key")
        house.open().owners.pins.see()
    if kind == "gone":
        (folder / ".loopx").rename(folder / "aside")
    async with running(folder, read_only=kind == "read-only") as (app, pilot):
        await pilot.press("C")
        if kind == "gone":
            await top(app, pilot, FormScreen)
            await pilot.press("ctrl+o")
            for field in (await top(app, pilot, NewPassphrase)).query(Input):
                field.value = SECRET
            await pilot.press("enter")
        said = {
            "read-only": "open read-only",
            "connected": "is a workspace already",
            "gone": "that was known in",
        }[kind]
        await until(pilot, lambda: any(said in one.message for one in app._notifications))
        assert app.screen is app.main
    assert (folder / ".loopx").exists() == (kind == "connected")


async def test_a_workspace_that_nobody_signed_for_is_connected_on(folder: Path) -> None:
    Workspace.connect(folder)
    async with running(folder) as (app, pilot):
        assert words.NO_OWNER in text(app)
        form = await _owner_form(app, pilot)
        await choose(form, "new-open")
        await pilot.press("ctrl+o")
        await sign(app, pilot)
        await top(app, pilot, Notice)
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.main and app.main.connected)


async def test_another_workspace_is_chosen_from_the_list_or_by_its_path(
    folder: Path, tmp_path: Path
) -> None:
    for name in ("one", "two"):
        build(tmp_path / name, tmp_path / f"key-{name}")
        add(tmp_path / name)
    async with running(tmp_path / "one") as (app, pilot):
        await pilot.press("W")
        await top(app, pilot, PlacesScreen)
        await pilot.press(*"~/nowhere", "enter")
        await until(pilot, lambda: "is not a folder" in text(app))
        app.screen.query_one(Input).value = "tw"
        await pilot.pause()
        await pilot.press("enter")
        await until(pilot, lambda: app.successor == str(tmp_path / "two"))
    async with running(folder) as (app, pilot):
        await pilot.press("W")
        await top(app, pilot, PlacesScreen)
        app.screen.query_one(Input).value = str(folder.parent)
        await pilot.pause()
        await pilot.press("enter")
        await until(pilot, lambda: app.successor == str(folder.parent))
    async with running(tmp_path / "one", demo=True) as (app, pilot):
        await pilot.press("W")
        await until(pilot, lambda: any("demo" in one.message for one in app._notifications))


async def test_a_folder_with_any_name_is_shown_and_acts_on_nothing(tmp_path: Path) -> None:
    hostile = tmp_path / "a\x1b[2J[x][@click=app.exit]b\u202e\x9bc"
    hostile.mkdir()
    add_to = tmp_path / "[y]\x1b]52;c;aGk=\x07"
    build(add_to, tmp_path / "key")
    add(add_to)
    async with running(hostile) as (app, pilot):
        seen = []
        for keys, kind in ((["W"], PlacesScreen), (["escape", "C"], FormScreen)):
            await pilot.press(*keys)
            await top(app, pilot, kind)
            seen.append(text(app) + "".join(strip.text for strip in _strips(app)))
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.main)
        app.main.say(str(hostile))
        await pilot.pause()
        seen.append("".join(strip.text for strip in _strips(app)))
    assert all("[x]" in one or "[y]" in one for one in seen[:2])
    assert not set("".join(seen)) & set("\x1b\x07\x9b\u202e")
