"""The screens that are kept as golden ones: how each is made, opened and left to rest."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from loopx_kernel.workspace.findings import Finding
from loopx_kernel.workspace.quarantined import Unreadable
from textual.app import App
from textual.pilot import Pilot
from textual.widgets import Input, TextArea

from loopx_tui import first_words as words
from loopx_tui.app import LoopxApp, Options
from loopx_tui.cases.opening import STEPS
from loopx_tui.cases.table import CASES
from loopx_tui.first_use import FIELDS
from loopx_tui.flags import Flag
from loopx_tui.presentation.header import Place
from loopx_tui.presentation.lines import Line
from loopx_tui.presentation.review import fixed
from loopx_tui.screens.confirm_id import ConfirmId
from loopx_tui.screens.form import FormScreen
from loopx_tui.screens.goal import GoalScreen
from loopx_tui.screens.guide import GuideScreen
from loopx_tui.screens.history import HistoryScreen
from loopx_tui.screens.listed import ListScreen
from loopx_tui.screens.passphrase import NewPassphrase, PassphraseScreen, SignScreen
from loopx_tui.screens.places import Known, PlacesScreen
from loopx_tui.screens.review import ReviewScreen
from loopx_tui.told import Told
from loopx_tui.widgets.choice_list import ChoiceList
from tests.tui import fixtures, stories
from tests.tui.gates import until
from tests.tui.golden import Size
from tests.tui.matters import LIN
from tests.tui.painting import painted
from tests.tui.still import GOAL, CaseApp, Over, StillLedger, armed

SIZES = ((46, 19), (80, 24), (120, 36), (200, 60))
LOOKS = ("dark", "light", "no colour")
SMALL, WIDE = ((80, 24),), ((120, 36),)
DARK = ("dark",)
Step = Callable[[Pilot[None]], Awaitable[None]]


async def at_once(pilot: Pilot[None]) -> None:
    """Nothing is to be done, or waited for."""


@dataclass(frozen=True)
class Scene:
    """A screen. ``make`` gives an app on values, ``open`` brings it there, ``settle`` waits for
    what follows another size or theme."""

    name: str
    make: Callable[[], App[None]]
    open: Step = at_once
    settle: Step = at_once
    sizes: Sequence[Size] = SIZES
    looks: Sequence[str] = LOOKS


def app_of(pilot: Pilot[None]) -> Any:
    return pilot.app


# The first screen, and what lies over it


def pressed(*keys: str) -> Step:
    """Presses keys on the first screen once it was read; all they set in motion is done."""

    async def press(pilot: Pilot[None]) -> None:
        app = app_of(pilot)
        await until(pilot, lambda: app.screen is app.main and app.main.settled)
        await app.workers.wait_for_complete()
        for key in keys:
            await pilot.press(key)
            await app.workers.wait_for_complete()
        await until(pilot, lambda: _is_read(app.screen))
        await app.workers.wait_for_complete()

    return press


def _is_read(screen: Any) -> bool:
    if isinstance(screen, HistoryScreen):
        return screen.moment.seq == screen.moment.target
    if isinstance(screen, ListScreen):
        return not screen.pane.under_way
    return not isinstance(screen, GoalScreen) or screen.scene.story is not None


FINDINGS = (
    Finding("workspace", True, "connected; 4 goals in the registry"),
    Finding("owner huang", True, "passphrase: its passphrase is typed at each decision"),
    Finding("agent ci-robot", True, "software: whatever runs as this user may sign", warns=True),
    Finding("dark-mode: journal", True, "412 lines, each proves the one before it"),
    Finding("dark-mode: files", False, "task-leases/T3.json: its digest does not fit",
            "loopx repair file task-leases/T3.json"),
    Finding("fix-checkout: journal", True, "98 lines, each proves the one before it"),
    Finding("clock", True, "it goes on as the journals do"),
)  # fmt: skip
UNREADABLE = (
    Unreadable("dark-mode", "runtime/dark-mode/events.jsonl", "its hash does not fit",
               "3 lines from #410 on", '{"event_id":"event-410","goal_id":"dark-mode","ev', 410,
               412, command="loopx repair journal --goal dark-mode"),
    Unreadable("dark-mode", "runtime/dark-mode/quarantine/20260916T081500Z-torn",
               "an unfinished last line: its writer was stopped in the middle",
               "nothing: it was never committed", '{"event_id":"event-3', size=20,
               at=fixtures.ago(hours=14)),
)  # fmt: skip


def on_values(told: Told | None = None, **options: Any) -> LoopxApp:
    """The app on values, the doctor and the quarantine included."""
    app = stories.app(told, theme="dark", **options)
    over = app.screen_over

    def screen_over(name: str, under: Any, **more: Any) -> Any:
        screen: Any = over(name, under, **more)
        if isinstance(screen, ListScreen):
            found = FINDINGS if name == "doctor" else UNREADABLE
            screen._open_workspace = StillLedger  # type: ignore[assignment]
            screen.look = lambda _, tell: tell(found)  # type: ignore[method-assign]
        return screen

    app.screen_over = screen_over  # type: ignore[method-assign,assignment]
    return app


def with_people() -> LoopxApp:
    """The app on a ledger of values with three owners."""
    app = on_values()
    ledger = StillLedger()
    ledger.events = SimpleNamespace(list=lambda *_: ())  # type: ignore[attr-defined]
    app.open_ledger = lambda progress=None: ledger  # type: ignore[method-assign,assignment,return-value]
    return app


class _Silent(fixtures.StillFeed):
    def start(self, post: Any) -> None:
        """Nothing is read yet."""


def opening() -> LoopxApp:
    return LoopxApp(
        Options(Path(fixtures.ROOT), theme="dark"),
        feed=_Silent(fixtures.told()),
        clock=lambda: fixtures.NOW,
        place=Place("~/mall-frontend", "huang@host"),
    )


MISSING = Told(Path(fixtures.ROOT), missing=f"There is no .loopx in {fixtures.ROOT} or above it")


async def flown(pilot: Pilot[None]) -> None:
    await pressed()(pilot)
    app_of(pilot).take_flag(Flag("PRODUCTION", "alert"))


async def owners(pilot: Pilot[None]) -> None:
    await pressed()(pilot)
    app_of(pilot).main.action_owners()
    await until(pilot, lambda: bool(app_of(pilot).screen._more))


def of_main() -> list[Scene]:
    tabs = "todos changes turns completion quota sources events report".split()
    return [
        Scene("opening", opening),
        Scene("welcome", partial(on_values, MISSING), pressed()),
        Scene("main", on_values, pressed()),
        Scene("main-tiny", on_values, pressed(), sizes=((20, 5), (40, 6))),
        Scene("main-empty", partial(on_values, fixtures.told([])), pressed(), sizes=WIDE),
        Scene(
            "main-damaged", partial(on_values, fixtures.told([fixtures.damaged()])), pressed(),
            sizes=WIDE,
        ),
        Scene(
            "main-themes", on_values, pressed(), sizes=WIDE,
            looks=("high-contrast", "colour-blind", "sixteen"),
        ),
        Scene("main-ascii", partial(on_values, ascii_only=True), pressed(), looks=DARK),
        Scene("main-production", on_values, flown, sizes=WIDE),
        *(
            Scene(f"goal-{name}", on_values, pressed("1", "enter", str(number), "down"))
            for number, name in enumerate(tabs, 1)
        ),
        Scene(
            "goal-ascii", partial(on_values, ascii_only=True), pressed("1", "enter", "5"),
            sizes=WIDE, looks=DARK,
        ),
        Scene("history", on_values, pressed("1", "enter", "H", "h", "h")),
        Scene("history-jump", on_values, pressed("1", "enter", "H", "J")),
        Scene("detail", on_values, pressed("2", "enter")),
        Scene("help", on_values, pressed("question_mark")),
        Scene("palette", on_values, pressed("colon")),
        Scene("doctor", on_values, pressed("exclamation_mark")),
        Scene("quarantine", on_values, pressed("Q")),
        Scene("owners", with_people, owners),
    ]  # fmt: skip


# Reviews


def case_keys(*keys: str) -> Step:
    """Waits until the review stands still, presses keys, and waits again."""

    async def run(pilot: Pilot[None]) -> None:
        app = app_of(pilot)
        await until(pilot, lambda: app.review.look is not None)
        if app.review.case.first:
            await until(pilot, lambda: app.screen is not app.review)
        await armed(pilot, app)
        for key in keys:
            app.times.seconds += 0.5
            await pilot.press(key)
            await pilot.pause()

    return run


def written(**values: str) -> Step:
    """Writes into the form that comes first, and keeps it."""

    async def run(pilot: Pilot[None]) -> None:
        app = app_of(pilot)
        await until(pilot, lambda: isinstance(app.screen, FormScreen))
        await painted(pilot)
        for name, value in values.items():
            widget = app.screen.widgets[name]
            if isinstance(widget, ChoiceList):
                widget.toggle(value)
            elif isinstance(widget, TextArea):
                widget.text = value
            else:
                assert isinstance(widget, Input)
                widget.value = value
        await pilot.press("ctrl+o")
        await until(pilot, lambda: isinstance(app.screen, ReviewScreen))

    return run


async def case_armed(pilot: Pilot[None]) -> None:
    await armed(pilot, app_of(pilot))


def of_cases() -> list[Scene]:
    def case(name: str, case_id: str, about: str, open_it: Step, **more: Any) -> Scene:
        return Scene(name, partial(CaseApp, case_id, about), open_it, case_armed, **more)

    owner = {"name": "maria", "public_key": LIN, "valid_before": "2199-01-01T00:00:00Z"}
    new_key = {"name": "huang", "public_key": LIN, "use": "unattended"}
    return [
        case("review", "gate", "G4", case_keys()),
        case("review-escalation", "escalation", "E1", case_keys()),
        case("review-drift", "drift", "drift:dark-mode", case_keys()),
        case("review-damage", "damage", "damage:dark-mode", case_keys()),
        case("review-replan", "replan", "T4", case_keys()),
        case("review-finish", "todo.finish", "T8", case_keys(), sizes=WIDE),
        case("review-cancel", "todo.cancel", "T4", case_keys(), sizes=WIDE),
        case("review-pause", "goal.pause", GOAL, case_keys(), sizes=WIDE),
        case("review-accept", "goal.accept", GOAL, case_keys(), sizes=WIDE),
        case("review-enrolment", "owner.enroll", "owners", written(**owner)),
        case("review-new-key", "owner.rotate", "owners", written(**new_key), sizes=WIDE),
        case(
            "review-revocation", "owner.revoke", "owners",
            written(name="ci-robot", reason="it runs no more"), sizes=WIDE,
        ),
        case(
            "review-quota", "goal.quota", GOAL,
            written(compute="0.2", reason="The nights are for others"),
        ),
        case(
            "review-objective", "objective", GOAL,
            case_keys("enter", *"in May", "tab", *"smaller", "ctrl+o"),
        ),
        case("form-objective", "objective", GOAL, case_keys()),
        case("form-rules", "goal.rules", GOAL, case_keys()),
        case("form-enrolment", "owner.enroll", "owners", case_keys(*"lin")),
    ]  # fmt: skip


# Dialogs over nothing


def connect() -> FormScreen:
    keys = [("new", words.NEW_KEY), ("new-open", words.NEW_OPEN_KEY)]
    told = words.CONNECT_TEXT.format(folder="/home/huang/mall-frontend")
    return FormScreen(
        words.CONNECT.format(folder="mall-frontend"),
        FIELDS,
        {"owner": "huang", "key": "new"},
        {"key": keys},
        lines=[Line(told)],
    )


def guide() -> GuideScreen:
    given = {
        "objective": "Dark mode for the shop",
        "write_scope": "src/theme/**",
        "gates": "publish:git push*\nwrite@infra/**\nbe careful",
        "acceptance": "cmd:pytest -q",
        "compute": "0.4",
    }
    return GuideScreen(STEPS, given, lambda values: "")


def at_step(number: int) -> Step:
    """Presses on until this step of the guide is asked."""

    async def go(pilot: Pilot[None]) -> None:
        screen = pilot.app.screen
        assert isinstance(screen, GuideScreen)
        if number > STEPS_THAT_STOP:
            screen._values["gates"] = "delete"
        while screen.step is not STEPS[number]:
            await painted(pilot)
            await pilot.press("ctrl+o")
        await painted(pilot)

    return go


STEPS_THAT_STOP = 2
"""The step whose answer, as given, is refused."""


def statement() -> list[Line]:
    """A statement as it stands above the field for a passphrase."""
    unsigned: Any = SimpleNamespace(
        statement={
            "witnessed": {"seq": 412, "head": fixtures.HEAD},
            "signed_at": "2026-09-16T22:41:07Z",
        },
        preview="gate.approved G4: publish by npm publish @mall/theme",
        statement_bytes=b'{"decision":"approved","gate_id":"G4","goal_id":"dark-mode"}',
    )
    (key,) = StillLedger().keys.choices()
    return fixed(unsigned, key)


def new_passphrase() -> NewPassphrase:
    told = words.NEW_PASSPHRASE_TEXT.format(path="~/.config/loopx/loopx_ed25519")
    return NewPassphrase(words.NEW_PASSPHRASE, [Line(told)])


def places() -> PlacesScreen:
    return PlacesScreen(
        [
            Known(Path("/srv/shop"), "PRODUCTION"),
            Known(Path(fixtures.ROOT), "", words.HERE),
            Known(Path("/home/huang/old"), "", words.GONE),
        ]
    )


def of_dialogs() -> list[Scene]:
    still = lambda *_: 0.0  # noqa: E731
    return [
        Scene("passphrase", partial(Over, lambda: PassphraseScreen(statement()))),
        Scene("sign", partial(Over, lambda: SignScreen(statement(), still, still)), sizes=SMALL),
        Scene("confirm-id", partial(Over, lambda: ConfirmId("G4", statement())), sizes=SMALL),
        Scene("new-passphrase", partial(Over, new_passphrase)),
        Scene("form-connect", partial(Over, connect)),
        Scene("places", partial(Over, places)),
        *(
            Scene(
                f"guide-{number}-{STEPS[number].name.replace('_', '-')}",
                partial(Over, guide),
                at_step(number),
                sizes=SIZES if number == STEPS_THAT_STOP else SMALL,
            )
            for number in range(len(STEPS))
        ),
        Scene(
            "review-production",
            partial(Over, lambda: review_of("goal.pause"), Flag("PRODUCTION", "alert")),
            settle=review_armed,
            sizes=SMALL,
        ),
    ]


def review_of(case_id: str) -> ReviewScreen:
    return ReviewScreen(CASES[case_id], GOAL, GOAL, StillLedger)


async def review_armed(pilot: Pilot[None]) -> None:
    screen: Any = pilot.app.screen
    while screen.course.phase != "armed":
        await asyncio.sleep(0.05)
        await pilot.pause()


SCENES = (*of_main(), *of_cases(), *of_dialogs())
