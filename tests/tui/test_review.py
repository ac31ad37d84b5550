"""The review screen: what it shows, and that nothing but the deliberate sequence decides."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from loopx_kernel.errors import Storage
from loopx_kernel.workspace import person
from textual import events
from textual.widgets import Input, OptionList

from loopx_tui import strings
from loopx_tui.cases import gates
from loopx_tui.screens.confirm_id import ConfirmId
from loopx_tui.screens.form import FormScreen
from loopx_tui.screens.help import PageHelp
from loopx_tui.screens.passphrase import PassphraseScreen, SignScreen
from tests.patience import PATIENCE
from tests.tui.gates import (
    AGENT,
    COMMAND,
    GOAL,
    OWNER,
    PASSPHRASE,
    House,
    ReviewApp,
    Times,
    Watched,
    armed,
    build,
    press,
    stands,
    until,
)

SIZE = (110, 50)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    build(folder / "w", folder / "key")
    return folder


@pytest.fixture
def house(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> House:
    shutil.copytree(made, tmp_path / "copy")
    key_file = tmp_path / "copy" / "key"
    monkeypatch.setenv("LOOPX_KEY", str(key_file))
    folder = tmp_path / "copy" / "w"
    ws_keys = House(folder, None, PASSPHRASE.encode()).open().keys  # type: ignore[arg-type]
    return House(folder, ws_keys.choices()[0], PASSPHRASE.encode())


def app_on(house: House, gate_id: str, **more: bool) -> ReviewApp:
    return ReviewApp(house, gate_id, Times(), **more)


async def sign(pilot, app: ReviewApp, passphrase: str = PASSPHRASE) -> None:
    await until(pilot, lambda: stands(app, PassphraseScreen))
    app.screen.query_one("Input").value = passphrase
    await pilot.press("enter")


async def test_shows_all_that_a_decision_needs(house: House) -> None:
    ws = house.open()
    from loopx_kernel.domain.todo import AddTodo

    ws.todos.add(GOAL, AGENT, AddTodo(title="Publish the package"))
    earlier = house.request("npm publish @mall/old")
    house.decide(earlier)
    gate_id = house.request(question="Publish 1.0?", blocks=("T1",))
    app = app_on(house, gate_id)
    async with app.run_test(size=SIZE) as pilot:
        await armed(pilot)
        text = app.review_text
    for part in (
        "Publish 1.0?",
        f"command   {COMMAND}",
        "T1  Publish the package",
        f"asked by  {AGENT}",
        "every source is fresh; 1/1 goal covered, nothing is missing",
        f"{earlier}        rejected  {OWNER}",
        "no file was handed in",
        "0 of 576 slots in 24 h, 576 left, 0 reserved",
        house.key.fingerprint,
        "passphrase: its passphrase is typed at each decision, as its owner claims",
        house.open().state(GOAL).gate(gate_id).digest,
    ):
        assert part in text
    assert house.appended == []


@pytest.mark.parametrize(("key", "outcome"), [("A", "approved"), ("X", "rejected")])
async def test_key_and_passphrase_record_the_decision(house: House, key: str, outcome: str) -> None:
    gate_id = house.request()
    app = app_on(house, gate_id)
    async with app.run_test(size=SIZE) as pilot:
        await armed(pilot)
        await press(pilot, key)
        await until(pilot, lambda: stands(app, PassphraseScreen))
        assert '"object":{"id":"G1","version":' in app.text
        assert house.lines == 2
        await sign(pilot, app)
        await until(pilot, lambda: "recorded as" in app.review_text)
        assert app.review.recorded == "recorded"
    gate = house.open().state(GOAL).gate(gate_id)
    assert (gate.status, gate.decision.by, gate.decision.level) == (outcome, OWNER, "passphrase")
    assert house.appended == [gate_id]


async def test_receipt_names_commands_that_verify_it(house: House) -> None:
    gate_id = house.request()
    app = app_on(house, gate_id)
    async with app.run_test(size=SIZE) as pilot:
        await armed(pilot)
        await press(pilot, "A")
        await sign(pilot, app)
        await until(pilot, lambda: "ssh-keygen -Y verify" in app.review_text)
        text = app.review_text
    event_id = house.open().state(GOAL).gate(gate_id).decision.event_id
    assert f"event     {event_id}" in text
    ws = house.open()
    folder = house.root.parent
    (folder / "statement.json").write_bytes(ws.events.statement(GOAL, event_id))
    (folder / "statement.sig").write_text(ws.events.signature(GOAL, event_id))
    (folder / "owners").write_text(ws.owners.allowed_signers())
    command = next(line for line in text.splitlines() if "ssh-keygen" in line and " -Y " in line)
    done = subprocess.run(
        ["sh", "-c", command.strip()], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


async def test_wrong_passphrase_three_times_writes_nothing(house: House) -> None:
    app = app_on(house, house.request())
    async with app.run_test(size=SIZE) as pilot:
        await armed(pilot)
        await press(pilot, "A")
        for left in (2, 1):
            await sign(pilot, app, "wrong")
            await until(
                pilot,
                lambda left=left: (
                    isinstance(app.screen, PassphraseScreen) and f"{left} tries left" in app.text
                ),
            )
            assert app.screen.query_one("Input").value == ""
        await sign(pilot, app, "wrong")
        await until(pilot, lambda: "3 times; nothing was written" in app.review_text)
        assert app.screen is app.review
    assert (house.appended, house.status("G1")) == ([], "pending")


async def test_passphrase_is_nowhere_on_the_screen_and_takes_pastes(house: House) -> None:
    app = app_on(house, house.request())
    async with app.run_test(size=SIZE) as pilot:
        await armed(pilot)
        await press(pilot, "A")
        await until(pilot, lambda: stands(app, PassphraseScreen))
        app.screen.query_one("Input").post_message(events.Paste(PASSPHRASE))
        await until(pilot, lambda: app.screen.query_one("Input").value == PASSPHRASE)
        await pilot.pause()
        assert PASSPHRASE not in app.export_screenshot().replace("&#160;", " ")
        await pilot.press("shift+home", "ctrl+c", "ctrl+x")
        assert PASSPHRASE not in app.clipboard
        await pilot.press("enter")
        await until(pilot, lambda: app.review.recorded == "recorded")


@pytest.mark.parametrize("keys", [["enter"], ["space"], ["escape"], ["y"], ["tab", "enter"]])
async def test_no_other_key_decides(house: House, keys: list[str]) -> None:
    app = app_on(house, house.request())
    async with app.run_test(size=SIZE) as pilot:
        await armed(pilot)
        await press(pilot, *keys)
        await pilot.pause(0.1)
        assert not isinstance(app.screen, PassphraseScreen)
    assert (house.appended, house.status("G1")) == ([], "pending")


async def test_clicks_and_leaving_decide_nothing(house: House) -> None:
    app = app_on(house, house.request())
    async with app.run_test(size=SIZE) as pilot:
        await armed(pilot)
        for place in ((5, 5), (3, 48), (50, 25)):
            await pilot.click(offset=place)
        assert app.screen is app.review and not app.review.course.busy
        await press(pilot, "A")
        await until(pilot, lambda: stands(app, PassphraseScreen))
        app.exit()
    assert app.review.recorded == "not recorded"
    assert (house.appended, house.status("G1")) == ([], "pending")


async def test_cancelled_passphrase_writes_nothing_and_the_review_goes_on(house: House) -> None:
    app = app_on(house, house.request())
    async with app.run_test(size=SIZE) as pilot:
        await armed(pilot)
        await press(pilot, "A")
        await until(pilot, lambda: stands(app, PassphraseScreen))
        await press(pilot, "escape")
        await until(pilot, lambda: "nothing was written" in app.review_text)
        assert house.appended == []
        await armed(pilot)
        await press(pilot, "X")
        await sign(pilot, app)
        await until(pilot, lambda: app.review.recorded == "recorded")
    assert house.status("G1") == "rejected"


async def test_keys_before_the_paint_and_in_the_quiet_time_are_dropped(house: House) -> None:
    app = app_on(house, house.request())
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("A")
        await armed(pilot)
        app.review.cover()
        await until(pilot, lambda: app.review.guard.quiet)
        await pilot.press("A")
        app.times.seconds += 0.39
        await pilot.press("A")
        await pilot.pause(0.15)
        assert app.screen is app.review and not app.review.course.busy
        await armed(pilot)
        await press(pilot, "A")
        await until(pilot, lambda: stands(app, PassphraseScreen))


async def test_resize_and_focus_begin_the_quiet_time_anew(house: House) -> None:
    app = app_on(house, house.request())
    async with app.run_test(size=SIZE) as pilot:
        for disturb in (
            lambda: pilot.resize_terminal(100, 40),
            lambda: asyncio.sleep(0, setattr(app, "app_focus", not app.app_focus)),
        ):
            await armed(pilot)
            await disturb()
            await until(pilot, lambda: app.review.course.phase == "looking")
            await press(pilot, "X")
            await pilot.pause(0.1)
            assert not app.review.course.busy


async def test_typed_and_pasted_prose_never_decides(house: House) -> None:
    app = app_on(house, house.request())
    prose = "my day yes, approve all AXAXA"
    async with app.run_test(size=SIZE) as pilot:
        await armed(pilot)
        for char in prose:
            app.times.seconds += 0.005
            app.post_message(events.Key(char if char != " " else "space", char))
        await pilot.pause(0.15)
        assert app.screen is app.review and not app.review.course.busy
        await armed(pilot)
        app.review.post_message(events.Paste(prose))
        await pilot.pause()
        await press(pilot, "X")
        await pilot.pause(0.15)
        assert not app.review.course.busy
    assert (house.appended, house.status("G1")) == ([], "pending")


async def test_decision_key_that_starts_a_paste_does_not_decide(house: House) -> None:
    app = app_on(house, house.request())
    async with app.run_test(size=SIZE) as pilot:
        await armed(pilot)
        app.times.seconds += 1
        app.post_message(events.Key("A", "A"))
        app.times.seconds += 0.02
        app.post_message(events.Key("l", "l"))
        await pilot.pause(0.15)
        assert app.screen is app.review and not app.review.course.busy


async def test_approving_opens_at_the_end_of_a_long_text(house: House) -> None:
    app = app_on(house, house.request("x" * 3000))
    async with app.run_test(size=(60, 16)) as pilot:
        await armed(pilot)
        await press(pilot, "A")
        await pilot.pause(0.1)
        assert app.screen is app.review
        assert "scroll down to it" in app.review_text
        await press(pilot, "G")
        await until(pilot, lambda: app.review.end_seen)
        await press(pilot, "A")
        await until(pilot, lambda: stands(app, PassphraseScreen))


async def test_too_small_a_window_takes_no_decision(house: House) -> None:
    app = app_on(house, house.request())
    async with app.run_test(size=(20, 5)) as pilot:
        await armed(pilot)
        await press(pilot, "G", "A", "X", "D")
        await pilot.pause(0.1)
        assert app.screen is app.review
        assert app.review.why_not("review.reject").startswith("This window is too small")
    assert house.appended == []


async def test_irreversible_gate_asks_for_its_id_typed_not_pasted(house: House) -> None:
    app = app_on(house, house.request(irreversible=True))
    async with app.run_test(size=SIZE) as pilot:
        await armed(pilot)
        await press(pilot, "A")
        await until(pilot, lambda: stands(app, ConfirmId))
        app.screen.query_one("Input").post_message(events.Paste("G1"))
        await press(pilot, "G", "2", "enter")
        await until(pilot, lambda: "That is not G1" in app.text)
        await press(pilot, "backspace", "1", "enter")
        await sign(pilot, app)
        await until(pilot, lambda: app.review.recorded == "recorded")
    assert house.status("G1") == "approved"


async def test_deferring_asks_for_a_time(house: House) -> None:
    app = app_on(house, house.request())
    async with app.run_test(size=SIZE) as pilot:
        await armed(pilot)
        await press(pilot, "D")
        await until(pilot, lambda: stands(app, FormScreen))
        await press(pilot, *"soon", "enter")
        await until(pilot, lambda: "Write it like" in app.text)
        app.screen.query_one("Input").value = "3h"
        await press(pilot, "enter")
        await sign(pilot, app)
        await until(pilot, lambda: app.review.recorded == "recorded")
    gate = house.open().state(GOAL).gate("G1")
    wait = (gate.until - gate.decision.at).total_seconds()
    assert gate.status == "deferred" and 3 * 3600 - PATIENCE < wait <= 3 * 3600


async def test_reason_is_part_of_what_is_signed(house: House) -> None:
    app = app_on(house, house.request())
    async with app.run_test(size=SIZE) as pilot:
        await armed(pilot)
        await press(pilot, "e")
        await until(pilot, lambda: stands(app, FormScreen))
        await press(pilot, *"no", "enter")
        await until(pilot, lambda: "reason    no" in app.review_text)
        await armed(pilot)
        await press(pilot, "X")
        await sign(pilot, app)
        await until(pilot, lambda: app.review.recorded == "recorded")
    decision = house.open().state(GOAL).gate("G1").decision
    assert decision.reason == "no"
    assert (
        json.loads(house.open().events.statement(GOAL, decision.event_id))["payload"]["reason"]
        == "no"
    )


async def test_decided_meanwhile_is_said_and_ends_the_dialog(house: House) -> None:
    app = app_on(house, house.request())
    async with app.run_test(size=SIZE) as pilot:
        await armed(pilot)
        await press(pilot, "A")
        await until(pilot, lambda: stands(app, PassphraseScreen))
        house.decide("G1")
        app.review.look_again()
        await until(pilot, lambda: app.screen is app.review)
        await until(pilot, lambda: "G1 is rejected: nothing is left" in app.review_text)
        assert f"by {OWNER}" in app.review_text
        assert "nothing was written" in app.review_text
        await press(pilot, "A", "X")
        await pilot.pause(0.1)
        assert app.screen is app.review
    assert house.appended == []


async def test_decided_in_the_last_moment_is_refused_by_the_kernel(house: House) -> None:
    app = app_on(house, house.request())
    async with app.run_test(size=SIZE) as pilot:
        await armed(pilot)
        await press(pilot, "A")
        await until(pilot, lambda: stands(app, PassphraseScreen))
        house.decide("G1")
        await sign(pilot, app)
        await until(pilot, lambda: "nothing is left" in app.review_text)
        assert app.review.recorded == "not recorded"
    assert house.status("G1") == "rejected"


async def test_gate_changed_under_the_reader_is_not_signed(house: House) -> None:
    gate_id = house.request()
    app = app_on(house, gate_id)
    async with app.run_test(size=SIZE) as pilot:
        await armed(pilot)
        desk, look = app.review._desk, app.review._look
        gate = look.matter.record.model_copy(update={"command": "npm publish @mall/production"})
        app.review._take(replace(look, matter=gates.matter_of(GOAL, gate, "pending")))
        await armed(pilot)
        text = app.review_text
        assert "command changed while you looked" in text
        assert f"was  {COMMAND}" in text and "now  npm publish @mall/production" in text
        await press(pilot, "A")
        await until(pilot, lambda: "is not what you were shown" in app.review_text)
        assert desk.look().matter.status == "pending"
    assert (house.appended, house.status(gate_id)) == ([], "pending")


async def test_read_only_and_missing_key_grey_the_keys_with_the_reason(
    house: House, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    gate_id = house.request()
    for prepare, reason, more in (
        (lambda: None, "open read-only", {"read_only": True}),
        (lambda: monkeypatch.delenv("LOOPX_KEY"), "No key of yours is set up", {}),
    ):
        prepare()
        app = app_on(house, gate_id, **more)
        async with app.run_test(size=SIZE) as pilot:
            await armed(pilot)
            assert reason in app.review_text
            await press(pilot, "A", "X", "D")
            await pilot.pause(0.1)
            assert app.screen is app.review
    assert house.appended == []


async def test_hidden_and_look_alike_characters_are_pointed_out(house: House) -> None:
    gate_id = house.request("deploy stag\u200bing \u202eprod \u0430dmin @m\u0430ll [/x] [b")
    app = app_on(house, gate_id)
    async with app.run_test(size=SIZE) as pilot:
        await armed(pilot)
        text = app.review_text
    assert "hidden characters: " in text and "made visible below" in text
    assert "stag⟨U+200B⟩ing ⟨U+202E⟩prod" in text
    assert "mixed alphabets: m\u0430⟨U+0430⟩ll" in text
    assert "[/x] [b" in text


async def test_key_without_passphrase_asks_for_a_second_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    house = build(tmp_path / "w", tmp_path / "key", None)
    monkeypatch.setenv("LOOPX_KEY", str(tmp_path / "key"))
    app = app_on(house, house.request())
    async with app.run_test(size=SIZE) as pilot:
        await armed(pilot)
        assert "may sign with it, with nobody present" in app.review_text
        await press(pilot, "A")
        await until(pilot, lambda: stands(app, SignScreen))
        await pilot.press("enter", "space", "y", "A", "ctrl+s")
        await until(pilot, lambda: "too quick" in app.text)
        assert isinstance(app.screen, SignScreen) and house.appended == []
        app.times.seconds += 5
        await press(pilot, "ctrl+s")
        await until(pilot, lambda: app.review.recorded == "recorded")
    assert house.status("G1") == "approved"


async def test_closing_twice_closes_once(house: House) -> None:
    app = app_on(house, house.request())
    async with app.run_test(size=SIZE) as pilot:
        await armed(pilot)
        await press(pilot, "A")
        await until(pilot, lambda: stands(app, PassphraseScreen))
        dialog = app.screen
        dialog.action_close()
        dialog.action_close()
        await until(pilot, lambda: not app.review.course.busy)
        assert app.screen is app.review
        app.review.action_close()
        app.review.action_close()
        await until(pilot, lambda: len(app.screen_stack) == 1)


async def test_unreadable_ledger_is_a_sentence(house: House) -> None:
    app = app_on(house, "G99")
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: "There is no gate G99" in app.review_text)
        await press(pilot, "A")
        assert app.screen is app.review
        await press(pilot, "escape")
        await until(pilot, lambda: app.screen is not app.review)


async def test_keys_that_would_be_dropped_are_greyed_with_the_reason(house: House) -> None:
    app = app_on(house, house.request("x" * 3000))
    async with app.run_test(size=(60, 16)) as pilot:
        await until(pilot, lambda: "publish" in app.review_text)
        assert strings.KEYS_WAIT in app.review_text
        await armed(pilot)
        assert strings.KEYS_WAIT not in app.review_text
        assert "opens at the end of the text" in app.review_text
        assert not app.review.why_not("review.reject")
        app.review.cover()
        assert strings.KEYS_WAIT in app.review_text
        await armed(pilot)
        await press(pilot, "X")
        await until(pilot, lambda: stands(app, PassphraseScreen))
        assert strings.DECIDING in app.review_text


async def test_an_owner_chooses_among_the_keys_that_can_sign(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LOOPX_KEY", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    one, other = tmp_path / "key", person.default_key()
    other.parent.mkdir(parents=True)
    house = build(tmp_path / "w", one)
    shutil.copy(one, other)
    person.config_file().write_text(f"key: {one}\n")
    app = app_on(house, house.request())
    async with app.run_test(size=SIZE) as pilot:
        await armed(pilot)
        assert "key 1 of 2 that can sign here" in app.review_text
        assert f"key       {one}\n" in app.review_text and house.key.fingerprint in app.review_text
        await press(pilot, "K")
        await until(pilot, lambda: "key 2 of 2" in app.review_text)
        assert f"key       {other}\n" in app.review_text
        assert strings.KEYS_WAIT in app.review_text
        app.review.look_again()
        await armed(pilot)
        assert "key 2 of 2" in app.review_text
        one.unlink()
        await press(pilot, "A")
        await until(pilot, lambda: stands(app, PassphraseScreen))
        assert str(other) in app.text
        await sign(pilot, app)
        await until(pilot, lambda: app.review.recorded == "recorded")
    assert house.status("G1") == "approved"


async def test_one_key_is_no_choice(house: House) -> None:
    app = app_on(house, house.request())
    async with app.run_test(size=SIZE) as pilot:
        await armed(pilot)
        assert "other key" not in app.review_text and "1 of 1" not in app.review_text
        await press(pilot, "K")
        await pilot.pause()
        assert app.review.course.phase == "armed"


async def test_a_failed_flush_is_not_called_unrecorded(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise Storage("durability_unknown", "Flushing failed")

    monkeypatch.setattr(Watched, "append", fail)
    app = app_on(house, house.request())
    async with app.run_test(size=SIZE) as pilot:
        await armed(pilot)
        await press(pilot, "A")
        await sign(pilot, app)
        await until(pilot, lambda: "It is not known whether" in app.review_text)
        assert "Not recorded" not in app.review_text
        assert "loopx event list --goal dark-mode" in app.review_text


async def test_the_last_words_are_about_a_decision_under_way_and_no_other(house: House) -> None:
    app = app_on(house, house.request())
    async with app.run_test(size=SIZE) as pilot:
        await armed(pilot)
        assert app.review.last_words == ""
        await press(pilot, "A")
        await until(pilot, lambda: stands(app, PassphraseScreen))
        app.exit()
    assert app.review.last_words == strings.FATES["not recorded"].format(what="G1")


async def test_a_proposal_is_shown_in_words_with_the_whole_new_text(house: House) -> None:
    from loopx_kernel.domain.propose import ProposeChange
    from loopx_kernel.domain.records_of_work import Proposal
    from loopx_kernel.domain.todo import AddTodo

    ws = house.open()
    ws.todos.add(GOAL, AGENT, AddTodo(title="Publish the package"))
    texts = Proposal(
        kind="objective", text="Shop only\nstag\u200bing later", reason="smaller", facts=("mail 7",)
    )
    away = Proposal(kind="cancel", todo_ids=("T1",), reason="nobody needs it")
    shown = {}
    for proposal in (texts, away):
        asked = ProposeChange(proposal=proposal)
        gate_id = ws.replans.propose(GOAL, AGENT, asked).object_id
        app = app_on(house, gate_id)
        async with app.run_test(size=SIZE) as pilot:
            await armed(pilot)
            shown[proposal.kind] = app.review_text
    for part in (
        "Change the objective? smaller",
        "change    the objective gets a new text",
        "new text  Shop only",
        "new text  stag⟨U+200B⟩ing later",
        "hidden characters: 1",
        "reason    smaller",
        "fact      mail 7",
    ):
        assert part in shown["objective"]
    for part in ("Cancel T1 “Publish the package”? nobody needs it", "T1  Publish the package"):
        assert part in shown["cancel"]
    assert "a todo is cancelled" in shown["cancel"]


async def test_help_lists_the_keys_with_their_reasons_and_runs_what_decides_nothing(
    house: House,
) -> None:
    app = ReviewApp(house, house.request(), Times())
    async with app.run_test(size=SIZE) as pilot:
        await armed(pilot)
        await press(pilot, "question_mark")
        await until(pilot, lambda: stands(app, PageHelp))
        listed = app.screen.query_one(OptionList)
        rows = {str(option.id): " ".join(str(option.prompt).split()) for option in listed.options}
        assert "approve" in rows["review.approve"] and "review.replan" not in rows
        assert strings.OWN_KEY in rows["review.reject"]
        await press(pilot, *"approve", "enter")
        await until(pilot, lambda: strings.OWN_KEY in app.text)
        assert isinstance(app.screen, PageHelp) and not app.review.course.busy
        app.screen.query_one(Input).value = "reason"
        await pilot.pause()
        await press(pilot, "enter")
        await until(pilot, lambda: stands(app, FormScreen))
    assert house.appended == []
