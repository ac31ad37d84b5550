"""What a goal's own screens show, as plain text: charts, trees, turns, changes, jumps."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from loopx_kernel.domain.records import Objective, Todo
from loopx_kernel.workspace.objectives import Version

from loopx_tui import strings_goal as words
from loopx_tui.presentation import bookings, changes, jump, report, side, story_details, turns
from loopx_tui.presentation.about import about
from loopx_tui.presentation.cells import Cell, Row
from loopx_tui.presentation.chart import Bars, chart, fitted
from loopx_tui.presentation.lineage import tree
from loopx_tui.presentation.pen import Pen
from loopx_tui.presentation.scene import Scene
from loopx_tui.presentation.scrubber import Moment, scrubber
from loopx_tui.presentation.story import Story
from loopx_tui.presentation.subjects import situation_of, subject_of
from tests.tui import fixtures, stories
from tests.tui.fixtures import NOW, ago

PEN = Pen(NOW, zone=UTC)
ASCII = Pen(NOW, zone=UTC, ascii_only=True)
STORY = Story(stories.state(), tuple(fixtures.events()), versions=stories.VERSIONS)
SCENE = Scene(fixtures.workspace([fixtures.view(stories.state())]), "dark-mode", story=STORY)


def line(row: Row) -> str:
    return " | ".join(cell.text for cell in row.cells)


def drawn(lines: list[list[Cell]]) -> list[str]:
    return ["".join(cell.text for cell in cells) for cells in lines]


# Charts


def bars(*values: int, **more: Any) -> Bars:
    return Bars(values, timedelta(hours=1), NOW, **more)


def test_a_chart_has_axes_with_a_round_top_and_times() -> None:
    assert drawn(chart(bars(0, 2, 4, 8, pace=4.0), PEN, 24, 8)) == [
        "8 ┤            ████",
        "  │            ████",
        "  │            ████",
        "4 ┤┄┄┄┄┄┄┄┄████████",
        "  │    ▄▄▄▄████████",
        "  │    ████████████",
        "0 └┬───┬───┬───┬───",
        "   18:41        now",
    ]


def test_more_values_than_cells_are_merged_and_the_last_is_whole() -> None:
    many = bars(*range(1, 48), pace=3.0)
    merged = fitted(many, 30)
    assert merged.width == timedelta(hours=2) and merged.pace == 6
    assert merged.values[0] == 1 and merged.values[-1] == 46 + 47
    assert sum(merged.values) == sum(range(1, 48))
    assert all(len(one) <= 30 for one in drawn(chart(many, PEN, 30, 6)))


def test_a_chart_in_ascii_and_one_without_room() -> None:
    assert all(one.isascii() for one in drawn(chart(bars(1, 0, 3), ASCII, 40, 6)))
    assert chart(bars(1, 2), PEN, 23, 10) == [] and chart(bars(1, 2), PEN, 40, 4) == []
    assert chart(bars(), PEN, 40, 10) == []
    assert drawn(chart(bars(0, 0), PEN, 30, 5))[0].startswith("1 ┤")


def test_the_quota_tab_plots_the_burn_with_its_pace_and_figures() -> None:
    view = fixtures.view(stories.state())
    found = drawn(bookings.plot(view, PEN, 60, 24))
    assert found[0].startswith("slots per 30 min")
    assert any("┄" in one for one in found[1:]) and any("212 spends" in one for one in found)
    assert drawn(bookings.plot(view, PEN, 10, 24))[0].startswith("used")
    low = drawn(bookings.plot(view, PEN, 60, 7))
    assert len(low) == 7 and low[-1].startswith("rate") and low[-2].endswith("now")


def test_voided_bookings_say_so() -> None:
    spends = dict(stories.state().spends)
    first = next(iter(spends))
    void = {"voided_at": NOW, "void_reason": "of a failed turn", "void_seq": 400}
    spends[first] = spends[first].model_copy(update=void)
    story = Story(stories.state().model_copy(update={"spends": spends}))
    assert any("void: of a failed turn" in line(row) for row in bookings.rows(story, PEN))
    told = story_details.of("spend", story, first, PEN) or []
    assert any("by a person, #400" in fact.value.text for fact in told)


# Lineage and changes


def todos(**parents: tuple[str, ...]) -> dict[str, Todo]:
    return {
        ref: fixtures.todo(int(ref[1:]), ref, lineage_todo_ids=origins)
        for ref, origins in parents.items()
    }


def test_lineage_is_a_tree_with_each_todo_once() -> None:
    found = tree(todos(T1=(), T2=("T1",), T3=("T1",), T10=("T2",), T11=("T2", "T3"), T12=()))
    assert [(one.prefix + one.id, one.also) for one in found] == [
        ("T1", ()),
        ("├ T2", ()),
        ("│ ├ T10", ()),
        ("│ └ T11", ("T3",)),
        ("└ T3", ()),
    ]


def test_a_successor_and_one_that_left_the_state_stand_in_the_tree() -> None:
    known = todos(T5=("T1",), T6=())
    known["T6"] = known["T6"].model_copy(update={"superseded_by": "T7"})
    assert [one.prefix + one.id for one in tree(known, ascii_only=True)] == [
        "T1",
        "`-T5",
        "T6",
        "`-T7",
    ]


def test_a_circle_that_should_not_be_ends() -> None:
    assert tree(todos(T1=("T2",), T2=("T1",))) == []
    known = todos(T1=(), T2=("T1", "T3"), T3=("T2",))
    assert [one.id for one in tree(known)] == ["T1", "T2", "T3"]


def test_changes_have_what_is_open_on_top_and_the_lineage_below() -> None:
    keys = [row.key for row in changes.rows(STORY, PEN)]
    assert keys[:3] == ["replan/O2", "version/3", "replan/O1"]
    assert keys[keys.index("lineage") + 1].startswith("lineage/T2/")
    assert "1 replan open" in "".join(cell.text for cell in changes.heading(STORY).figure)
    assert len(set(keys)) == len(keys)


def test_a_version_shows_what_changed_and_why() -> None:
    told = story_details.of("version", STORY, "2", PEN) or []
    texts = [fact.value.text for fact in told]
    assert "nobody finds the switch" in texts and "usability test, 9 of 12" in texts
    assert "+ It follows the system's setting." in texts
    assert "  Add a dark mode to the shop front." in texts
    first = story_details.of("version", STORY, "1", PEN) or []
    assert first[-1].value.text == stories.VERSIONS[0].text


@pytest.mark.parametrize(
    ("kind", "name", "says"),
    [
        ("replan", "O2", "the date picker stays white"),
        ("escalation", "E1", "go on by huang"),
        ("turn", "turn-0078", "2 of 14 tests failed"),
        ("spend", "turn-0001", "1 slot"),
    ],
)
def test_every_object_of_these_screens_is_told(kind: str, name: str, says: str) -> None:
    told = story_details.of(kind, STORY, name, PEN) or []
    assert any(says in fact.value.text for fact in told)
    assert story_details.of(kind, STORY, "nothing-1", PEN) == []


def test_text_from_outside_is_made_safe() -> None:
    nasty = stories.turn(90, "T3", 5, 1, outcome="failed", reason="\x1b[2Jgone")
    state = stories.state().model_copy(update={"turns": {nasty.id: nasty}})
    (row,) = turns.rows(Story(state), PEN)
    assert "\x1b" not in line(row)


# Turns


def test_turns_are_a_timeline_with_outcome_length_and_why() -> None:
    found = [line(row) for row in turns.rows(STORY, PEN)]
    assert found[0].startswith("22:27 | turn-0081 | ▶ open | T3 | 14m")
    assert any("✘ failed | T2 | 9m" in one and "2 of 14 tests" in one for one in found)
    assert any("unproven · Write the theme provider" in one for one in found)
    assert "81 turns" in turns.heading(STORY).figure[0].text


def test_earlier_turns_stand_below_once_they_were_read() -> None:
    earlier = (stories.turn(75, "T1", 300, 290, outcome="progress"), stories.turns()[0])
    story = Story(stories.state(), earlier=earlier)
    keys = [row.key for row in turns.rows(story, PEN)]
    assert keys[-1] == "turn-0075" and keys.count("turn-0076") == 1


# What is under the cursor


@pytest.mark.parametrize(
    ("pane", "key", "kind", "name"),
    [
        ("changes", "version/2", "version", "2"),
        ("changes", "lineage/T4/1", "todo", "T4"),
        ("changes", "lineage", None, None),
        ("turns", "turn-0081", "turn", "turn-0081"),
        ("bookings", "turn-0001", "spend", "turn-0001"),
        ("journal", "event-412", "event", "event-412"),
        ("report", "3.0", None, None),
        ("completion", "x", "goal", "dark-mode"),
    ],
)
def test_every_row_stands_for_its_object(
    pane: str, key: str, kind: str | None, name: str | None
) -> None:
    found = subject_of(pane, key, SCENE)
    assert (found.kind, found.id) == (kind, name) if found else kind is None


@pytest.mark.parametrize(
    ("pane", "key", "waiting"),
    [
        ("todos", "T6", ("gate", "G4")),
        ("journal", "event-406", ("gate", "G4")),
        ("completion", "execution.pending_gates_zero", ("gate", "G4")),
        ("todos", "T3", ("", "")),
        ("turns", "turn-0081", ("", "")),
    ],
)
def test_what_waits_about_a_row_can_be_decided_there(
    pane: str, key: str, waiting: tuple[str, str]
) -> None:
    if pane == "completion":
        checks = fixtures.view(stories.state()).completion.failing
        key = next(f"{one.gate}.{one.check}" for one in checks if "G4" in one.ids)
    assert situation_of(pane, key, SCENE, read_only=False).waiting == waiting


def test_beside_a_check_stands_what_is_in_the_way() -> None:
    checks = fixtures.view(stories.state()).completion.failing
    check = next(one for one in checks if "G4" in one.ids)
    found = side.beside("completion", f"{check.gate}.{check.check}", SCENE, PEN)
    assert any("Publish @mall/theme 1.0 to npm?" in fact.value.text for fact in found.facts)


def test_beside_a_source_stand_its_layers() -> None:
    found = side.beside("sources", "chat-a", SCENE, PEN)
    layers = {fact.label: fact.value.text for fact in found.facts}
    assert layers["fresh"].startswith("✘") and layers["bound"].startswith("✔")


def test_long_facts_go_on_below_their_label() -> None:
    found = side.beside("changes", "replan/O2", SCENE, PEN)
    rows = side.rows(found.facts, 40)
    labels = [row.cells[0].text for row in rows]
    assert "" in labels and all(len(row.cells[1].text) <= 27 for row in rows)
    assert len({row.key for row in rows}) == len(rows)


def test_the_report_is_shown_line_by_line_with_its_headings() -> None:
    rows = report.rows(stories.REPORT, 40)
    styles = {row.cells[0].text: row.cells[0].style for row in rows}
    assert styles["SUMMARY"] == "accent"
    assert report.heading(stories.REPORT).title.startswith("Report on")
    assert all(len(row.cells[0].text) <= 40 or "  " in row.cells[0].text.strip() for row in rows)


def test_the_line_about_the_goal_tells_of_a_long_reading() -> None:
    text = "".join(cell.text for cell in about(SCENE, PEN, 0.34))
    assert "▶ run  dark-mode" in text and "34%" in text and "v3 Add a dark mode" in text


# The past


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("142", jump.Jump("line", 142)),
        ("#142", jump.Jump("line", 142)),
        ("-10", jump.Jump("step", -10)),
        ("start", jump.Jump("first")),
        (" end ", jump.Jump("last")),
        ("2h", jump.Jump("moment", moment=NOW - timedelta(hours=2))),
        ("3d ago", jump.Jump("moment", moment=NOW - timedelta(days=3))),
        ("14:30", jump.Jump("moment", moment=datetime(2026, 9, 16, 14, 30, tzinfo=UTC))),
        ("23:59", jump.Jump("moment", moment=datetime(2026, 9, 15, 23, 59, tzinfo=UTC))),
        ("2026-09-16 08:00", jump.Jump("moment", moment=datetime(2026, 9, 16, 8, tzinfo=UTC))),
        ("2026-09-16T00:41:07+02:00", jump.Jump("moment", moment=NOW - timedelta(days=1))),
        ("T4", jump.Jump("name", name="T4")),
        ("event-406", jump.Jump("name", name="event-406")),
        ("", None),
        ("25:99", None),
        ("2026-13-40", None),
        ("\x1b[31m", None),
        ("9" * 16, jump.Jump("name", name="9" * 16)),
    ],
)  # fmt: skip
def test_what_is_typed_to_jump(text: str, expected: jump.Jump | None) -> None:
    assert jump.parse(text, NOW, UTC) == expected


def test_the_scrubber_says_where_when_and_what() -> None:
    row = fixtures.events()[2]
    moment = Moment(406, 412, 406, ago(minutes=12), row)
    text = "".join(cell.text for cell in scrubber(moment, PEN, 100))
    assert "◀ PAST #406 of #412" in text and "22:29:07" in text and "gate.requested  G4" in text
    under_way = moment._replace(target=2, part=0.5)
    assert "going to #2 … 50%" in "".join(cell.text for cell in scrubber(under_way, PEN, 100))
    stuck = moment._replace(problem="journal \x1b damaged")
    assert "\x1b" not in "".join(cell.text for cell in scrubber(stuck, PEN, 46))
    assert words.PAST in "".join(cell.text for cell in scrubber(moment, ASCII, 46))


def test_a_story_keeps_what_was_read_before_and_the_turns_that_left_since() -> None:
    before = Story(stories.state(), versions=stories.VERSIONS, earlier=())
    state = stories.state()
    rest = {ref: one for ref, one in state.turns.items() if ref != "turn-0076"}
    story = Story(state.model_copy(update={"turns": rest})).keeping(before)
    assert story.turn("turn-0076") is not None and story.has_versions
    patched = state.model_copy(update={"objective": Objective(text="x", version=4)})
    assert not Story(patched).keeping(before).has_versions


HOSTILE = ("\x1b]52;c;aGk=\x07", "\x9b31m", "\u202egnp", "[@click=app.quit]x[/]", "a\r\nb\tc")


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_from_outside_reaches_the_terminal_as_it_is(text: str) -> None:
    turn = stories.turn(90, "T3", 5, 1, outcome="failed")
    turn = turn.model_copy(update={"reason": text, "agent_id": text})
    known = stories.state()
    duty = known.obligations["O2"].model_copy(update={"reason": text, "by": text})
    todo = known.todos["T4"].model_copy(update={"title": text})
    state = known.with_turn(turn).with_obligation(duty).with_todo(todo)
    version = Version(4, text, text, (text,), text, NOW, text)
    story = Story(state, versions=(*stories.VERSIONS, version))
    scene = Scene(fixtures.workspace([fixtures.view(state)]), "dark-mode", story=story)
    rows = [*turns.rows(story, PEN), *changes.rows(story, PEN)]
    said = [cell.text for row in rows for cell in row.cells]
    for pane, key in (("turns", turn.id), ("changes", "replan/O2"), ("changes", "version/4")):
        found = side.beside(pane, key, scene, PEN)
        said += [cell.text for row in side.rows(found.facts, 40) for cell in row.cells]
    said += [cell.text for cell in about(scene, PEN, None)]
    assert not [one for one in said if set(one) & set("\x1b\x07\x9b\u202e\r\n\t")]
