"""Presentation: what the rows say, as plain text, without a widget in sight."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loopx_kernel.domain.needs_you import Damage, LostCopy, Reads
from loopx_kernel.domain.records import Gate
from loopx_kernel.views.workspace import Unread, WorkspaceView
from loopx_kernel.workspace.findings import Finding

from loopx_tui.presentation import (
    alerts,
    beat,
    completion,
    details,
    events,
    findings,
    goals,
    leases,
    needs,
    quota,
    sources,
    todos,
)
from loopx_tui.presentation.cells import Cell, Row
from loopx_tui.presentation.details import detail
from loopx_tui.presentation.facts import Subject
from loopx_tui.presentation.footer import footer
from loopx_tui.presentation.header import Bar, Place, header
from loopx_tui.presentation.pen import Pen
from loopx_tui.presentation.scene import Scene
from loopx_tui.presentation.subjects import situation_of, subject_of
from tests.tui import fixtures
from tests.tui.fixtures import NOW, ago

HOSTILE = "[/x] \x1b]52;c;aGk=\x07 \u202e[@click=app.quit]go[/]"


def pen(**options: bool) -> Pen:
    return Pen(NOW, zone=UTC, **options)


def text(row: Row) -> str:
    return " | ".join(cell.text for cell in row.cells if cell.text)


def texts(rows: Sequence[Row]) -> list[str]:
    return [text(row) for row in rows]


def line(cells: Sequence[Cell]) -> str:
    return "".join(cell.text for cell in cells)


# Times


@pytest.mark.parametrize(
    ("since", "says", "changes_after"),
    [
        (timedelta(seconds=3), "3s", 1),
        (timedelta(seconds=59.5), "59s", 0.5),
        (timedelta(minutes=12, seconds=10), "12m", 50),
        (timedelta(hours=2), "2h", 3600),
    ],
)
def test_an_age_knows_when_it_reads_differently(
    since: timedelta, says: str, changes_after: float
) -> None:
    one = pen()
    assert one.age(NOW - since) == says
    assert one.next_change == NOW + timedelta(seconds=changes_after)


@given(st.floats(min_value=0.01, max_value=10 * 86400))
def test_a_countdown_stands_until_its_next_change_and_not_longer(seconds: float) -> None:
    until = NOW + timedelta(seconds=seconds)
    first = pen()
    said = first.left(until)
    change = first.next_change
    assert change is not None
    assert Pen(change - timedelta(milliseconds=2)).left(until) == said or change - NOW < timedelta(
        milliseconds=2
    )
    later = Pen(change + timedelta(seconds=1)).left(until)
    assert later != said or said == "0s"


@given(st.floats(min_value=0.01, max_value=86400))
def test_an_age_stands_until_its_next_change_and_not_longer(seconds: float) -> None:
    since = NOW - timedelta(seconds=seconds)
    first = pen()
    said = first.age(since)
    change = first.next_change
    assert change is not None
    assert Pen(change - timedelta(microseconds=10)).age(since) == said
    assert Pen(change).age(since) != said


def test_a_bar_empties_and_knows_when() -> None:
    one = pen()
    assert one.bar(NOW - timedelta(minutes=1), NOW + timedelta(minutes=15), 8) == "▓▓▓▓▓▓▓░"
    assert one.next_change is not None
    assert Pen(one.next_change).bar(ago(minutes=1), NOW + timedelta(minutes=15), 8) == "▓▓▓▓▓▓░░"
    assert pen().bar(NOW, NOW, 4) == "░░░░"


def test_another_day_carries_its_date() -> None:
    assert pen().clock(ago(minutes=1)) == "22:40"
    assert pen().clock(ago(days=3)) == "09-13 22:41"


# Panes


def test_goals_say_their_answer_as_glyph_and_word_and_what_waits() -> None:
    unread = [Unread("broken", "unreachable", "its journal is damaged", "loopx event verify")]
    space = fixtures.workspace(fixtures.goals(), unread)
    assert texts(goals.rows(space, pen())) == [
        "dark-mode | ⚑1 | ▶ run",
        "fix-checkout | ⚑1 | ✚ repair",
        "docs-refresh | ◌ wait",
        "auth-cleanup | ‖ paused",
        "broken | ▲ unread",
    ]
    assert line(goals.heading(space).figure) == "4/5"
    assert texts(goals.rows(space, pen(ascii_only=True)))[0] == "dark-mode | *1 | > run"


def test_a_goal_that_still_loads_is_neither_covered_nor_an_alarm() -> None:
    space = fixtures.workspace([], [Unread("slow", goals.NOT_LOADED, "loading 34%", None)])
    assert texts(goals.rows(space, pen())) == ["slow | loading 34%"]
    assert needs.count(space) == 0
    assert line(goals.heading(space).figure) == "0/1"
    assert "needs you" not in head(120, space) and "0/1 goal" in head(120, space)


def test_needs_you_is_everything_over_all_goals_with_the_exact_question() -> None:
    unread = [Unread("broken", "unreachable", "its journal is damaged", "loopx event verify")]
    space = fixtures.workspace(fixtures.goals(), unread)
    assert texts(needs.rows(space, pen())) == [
        "damage | damage | its journal is damaged | broken | blocks the goal | loopx",
        "G4 | gate | Publish @mall/theme 1.0 to npm? | dark-mode | 12m | blocks T6 | codex",
        "drift | ticked | T3 was ticked by hand | fix-checkout | 2m | blocks new turns | loopx",
    ]
    assert line(needs.heading(space, pen()).figure) == "⚑ 3"


def test_todos_stand_by_state_with_who_holds_them_and_what_they_wait_for() -> None:
    one = fixtures.view(fixtures.dark_mode())
    assert texts(todos.rows(one, pen())) == [
        "T7 | Describe the tokens in the docs | ▲ expired | e1 v2 | -3m | held by codex",
        "T3 | Convert the shop's components to tokens | ▶ claude-code | e2 v5 | ▓▓▓▓▓▓▓░ | 14m"
        " | src/theme/**",
        "T6 | Publish the package @mall/theme | ◆ gated | gated by G4",
        "T5 | Open the pull request | ◌ waiting | 4m | ci #812 frozen",
        "T4 | Add tests for the theme switch | · free | tests/theme/**",
        "T8 | Ask the designers about 深色模式 contrast | · needs | needs T3 first",
        "T2 | Write the theme provider | ✔ done | unproven",
        "T1 | Choose the colour tokens | ✔ done | verified",
    ]
    figure = line(todos.heading(one, pen()).figure)
    assert figure == "8 todos 1 expired 1 claimed 1 gated 1 waiting 1 free 1 needs 2 done"


def test_leases_put_what_ran_out_first_and_say_how_long_ago() -> None:
    one = fixtures.view(fixtures.dark_mode())
    assert texts(leases.rows(one, pen())) == [
        "T7 | codex | e1 v2 | ▲ 3m ago | docs/**",
        "T3 | claude-code | e2 v5 | 14m | src/theme/**",
    ]
    assert line(leases.heading(one).figure) == "1 held 1 expired"


def test_a_holder_who_is_silent_for_long_is_said_to_be_while_the_lease_lasts() -> None:
    held = fixtures.lease(
        "codex", epoch=1, version=2, left=timedelta(hours=5, minutes=5), scopes=("a/",)
    )
    for minutes, said in (
        (19, "5h | a/"),
        (20, "5h | not renewed for 20m, lease until 09-17 03:46 a/"),
    ):
        one = held.model_copy(update={"renewed_at": ago(minutes=minutes)})
        state = fixtures.goal("tiny", todos=fixtures.by_id([fixtures.held(1, "Convert", one)]))
        writes = pen()
        assert texts(leases.rows(fixtures.view(state), writes)) == [f"T1 | codex | e1 v2 | {said}"]
        assert writes.next_change == NOW + timedelta(minutes=1)


def test_sources_are_stale_by_their_last_success_whatever_was_tried_since() -> None:
    one = fixtures.view(fixtures.dark_mode())
    assert texts(sources.rows(one, pen())) == [
        "chat-a | ▲ STALE | 9d | failed · 4 failed · window 3d",
        "github | ● fresh | 3m | window 1d",
        "wiki | · not scanned | window 1d · optional",
    ]
    assert line(sources.heading(one).figure) == "1/3 fresh"


def test_the_beat_says_the_answer_every_reason_and_the_wake() -> None:
    waiting = fixtures.goals()[2]
    said = texts(beat.rows(waiting, pen(), 60))
    assert said == ["why | T1 waits for review #77", "wake | in 10m · the fact's own rhythm"]
    repair = texts(beat.rows(fixtures.goals()[1], pen(), 60))
    assert repair[1] == "fix | loopx state check --goal fix-checkout (by you)"
    assert line(beat.heading(waiting, pen()).figure) == "◌ wait"


def test_a_reason_that_is_too_long_for_a_line_goes_on_below_it() -> None:
    waiting = fixtures.goals()[2]
    said = texts(beat.rows(waiting, pen(), 12))
    assert said[:3] == ["why | T1 waits for", "review #77", "wake | in 10m · the"]


def test_a_paused_goal_rings_nothing() -> None:
    assert texts(beat.rows(fixtures.goals()[3], pen(), 60))[-1] == "wake | nothing rings"


def test_completion_names_what_stands_in_the_way_first() -> None:
    one = fixtures.view(fixtures.dark_mode())
    said = texts(completion.rows(one, pen()))
    assert said[:2] == ["✘ count total | 6 | T3, T4, T5, T6, T7, T8", "✘ open | 3 | T4, T6, T8"]
    assert said[-1].startswith("✔ ")
    holding = sum(row.startswith("✔") for row in said)
    assert line(completion.heading(one).figure) == f"{holding}/{len(said)}"


def test_quota_shows_use_burn_and_what_is_frozen() -> None:
    one = fixtures.view(fixtures.dark_mode())
    said = texts(quota.rows(one, pen()))
    assert said[0].endswith(" 37%")
    assert said[1].startswith("burn | ")
    assert said[2].startswith("rate | 43/h · used up in 8h")
    assert said[-1] == "wait | T5 ci #812"
    assert line(quota.heading(one).figure) == "212/576"


def test_a_quota_without_allowance_is_no_division_by_zero() -> None:
    state = fixtures.goal("tiny")
    rules = state.the_rules.model_copy(
        update={"quota": state.the_rules.quota.model_copy(update={"compute": "0"})}
    )
    said = texts(quota.rows(fixtures.view(state.model_copy(update={"rules": rules})), pen()))
    assert said[0].endswith("100%")
    assert said[2] == "rate | all slots are used"


def test_events_are_newest_first_and_say_who_signed_and_how_strongly() -> None:
    said = texts(events.rows(fixtures.events(), pen()))
    assert said[0] == "22:40 | spend.booked | turn-0081 | claude-code | #412"
    assert "22:32 | gate.approved | G3 | huang | ✔ SHA256:u3Zk1mQ… (passphrase) | #407" in said
    assert "22:35 | gate.approved | G4 | mallory | ✘ unknown_signer | #409" in said


def test_alerts_name_damage_with_both_digests_and_lines_without_effect() -> None:
    space = fixtures.workspace([fixtures.damaged()])
    said = texts(alerts.rows(space, "Watching failed"))
    assert said[0].startswith("late | loopx | Watching failed")
    assert "(expected abababababab…, found cdcdcdcdcdcd…)" in said[1]
    assert said[2].startswith("no effect | dark-mode | #409 gate.approved has no effect")


def test_what_stands_in_no_line_is_an_alert_with_what_helps() -> None:
    one = fixtures.view(fixtures.dark_mode(), Reads(fenced="This loopx can only read here"))
    (row,) = texts(alerts.rows(fixtures.workspace([one]), ""))[:1]
    assert row.startswith("warning | dark-mode | This loopx can only read here | install a newer")


def test_a_repo_that_is_gone_is_an_alert() -> None:
    one = fixtures.view(fixtures.dark_mode(), Reads(repo_present=False))
    assert "no repo" in texts(alerts.rows(fixtures.workspace([one]), ""))[0]


def test_a_stale_source_is_an_alert_with_its_window_and_the_next_command() -> None:
    said = texts(alerts.rows(fixtures.workspace(fixtures.goals()), ""))
    (row,) = (line for line in said if line.startswith("source"))
    assert row == (
        "source | dark-mode | chat-a: unreadable, stale (window 3d) | "
        "loopx source list --goal dark-mode"
    )


def test_files_that_are_not_level_are_notes_and_no_alerts() -> None:
    reads = Reads(
        missing_files=("task-leases/T3.json",), behind_files=("spend.jsonl",), incomplete_tail=True
    )
    one = fixtures.view(fixtures.goal("tiny"), reads)
    space = fixtures.workspace([one])
    assert alerts.rows(space, "") == [] and alerts.count(space) == 0
    notes = alerts.notes(space)
    assert {row.cells[0].style for row in notes} == {"text-dim"}
    assert texts(notes) == [
        "missing | tiny | task-leases/T3.json: the next write makes it again"
        " | loopx refresh-state --goal tiny",
        "behind | tiny | spend.jsonl: the next write brings it level"
        " | loopx refresh-state --goal tiny",
        "incomplete | tiny | 1 incomplete line at the journal's end; it counts once it is whole"
        " | loopx doctor",
    ]


def test_a_lost_copy_of_evidence_is_an_alert_with_the_file_it_was_of() -> None:
    reads = Reads(missing_evidence=(LostCopy("T2", "docs/theme-vars.md", "objects/a3f2"),))
    space = fixtures.workspace([fixtures.view(fixtures.goal("tiny"), reads)])
    assert texts(alerts.rows(space, "")) == [
        "evidence | tiny | the copy of docs/theme-vars.md is missing; only that file can give it"
        " back | loopx todo show T2 --goal tiny"
    ]


def test_what_alerts_quote_from_files_is_made_safe() -> None:
    evil = "a\x1b]52;c;aGk=\x07\u202e[@click=app.quit]x[/]"
    reads = Reads(missing_files=(evil,), damage=(Damage(evil, evil),))
    space = fixtures.workspace([fixtures.view(fixtures.goal("tiny"), reads)])
    text = " ".join(texts(alerts.rows(space, evil)) + texts(alerts.notes(space)))
    assert not set("\x1b\x07\u202e") & set(text)
    assert "[@click=app.quit]x[/]" in text


def test_a_goal_that_cannot_be_read_is_an_alert_in_the_header_too() -> None:
    lost = Unread("docs", "unreachable", "Its journal is gone", None)
    space = fixtures.workspace([], [lost, Unread("later", "not_loaded", "", None)])
    assert texts(alerts.rows(space, "")) == [
        "unreadable | docs | Its journal is gone | loopx doctor"
    ]
    assert alerts.count(space) == 1


# Header and footer


def head(width: int, space: WorkspaceView | None = None, **place: bool) -> str:
    space = space or fixtures.workspace(fixtures.goals())
    bar: Bar = header(
        Place("~/mall-frontend", "huang@host", **place),
        space,
        next(iter(space.goals), None),
        mode="live",
        observed=NOW,
        pen=pen(),
        width=width,
    )
    return " ".join(cell.text for cell in (*bar.left, *bar.right))


def test_the_header_answers_where_whether_it_holds_and_how_live() -> None:
    assert head(120) == (
        "loopx ~/mall-frontend huang@host ⚑ 2 need you ▲ 1 alert 4/4 goals #412 ✔ verified"
        " as of 22:41:07 ● live"
    )


def test_a_narrow_header_keeps_the_count_of_what_needs_a_person_to_the_last() -> None:
    assert head(20) == "⚑ 2 need you"
    assert head(120, read_only=True).count("read-only") == 1
    assert "demo" in head(60, demo=True)


def test_a_long_path_is_shortened_before_it_vanishes() -> None:
    space = fixtures.workspace(fixtures.goals())
    place = Place(f"/srv/{'very-' * 12}long/mall-frontend", "huang@host")
    bar = header(place, space, space.goals[0], mode="live", observed=NOW, pen=pen(), width=100)
    said = [cell.text for cell in bar.left]
    assert "…/mall-frontend" in said and not any("very-" in one for one in said)
    bar = header(place, space, space.goals[0], mode="live", observed=NOW, pen=pen(), width=40)
    assert not any("mall-frontend" in cell.text for cell in bar.left)


def test_verified_is_said_only_of_a_chain_replayed_from_its_first_line() -> None:
    tail = fixtures.view(fixtures.dark_mode(), Reads(verified_from=400))
    assert "tail since #400" in details.integrity(tail, pen()).text
    assert "not intact" in details.integrity(fixtures.damaged(), pen()).text


def test_the_footer_shows_whole_entries_only() -> None:
    keys = [("enter", "open", True), ("d", "decide", False), ("q", "quit", True)]
    assert line(footer(keys, 80)) == " enter open   d decide   q quit"
    assert line(footer(keys, 24)) == " enter open   q quit"
    assert line(footer(keys, 12)) == " q quit"
    assert line(footer(keys, 5)).strip() == ""
    assert [cell.style for cell in footer(keys, 80) if cell.text == "d"] == ["text-dim"]


# Details


def scene() -> Scene:
    return Scene(fixtures.workspace(fixtures.goals()), "dark-mode", tuple(fixtures.events()))


def facts(subject: Subject) -> dict[str, str]:
    return {fact.label: fact.value.text for fact in detail(subject, scene(), pen()).facts}


def test_a_gate_shows_the_exact_action_and_how_to_go_on() -> None:
    found = facts(Subject("need", "dark-mode", "G4"))
    assert found["command"] == "npm publish @mall/theme"
    assert found["next"] == "loopx gate show G4 --goal dark-mode"
    assert found["digest"] == fixtures.DIGEST


def test_every_object_has_a_detail() -> None:
    assert facts(Subject("todo", "dark-mode", "T5"))["waits for"].startswith("ci #812")
    assert facts(Subject("lease", "dark-mode", "T3"))["writes"] == "src/theme/**"
    assert facts(Subject("source", "dark-mode", "chat-a"))["failures"] == "4 in a row"
    assert facts(Subject("goal", "dark-mode", "dark-mode"))["name"] == "商城前端添加深色模式"
    assert facts(Subject("event", "dark-mode", "event-407"))["signer"] == "huang"
    assert facts(Subject("need", "fix-checkout", "drift:fix-checkout"))["difference"]


def test_what_is_gone_has_no_facts() -> None:
    for kind in ("todo", "lease", "source", "event", "need", "gate"):
        assert detail(Subject(kind, "dark-mode", "nothing"), scene(), pen()).facts == ()


def test_a_row_stands_for_its_object_and_says_what_may_be_done() -> None:
    assert subject_of("needs", "dark-mode/G4", scene()) == Subject("need", "dark-mode", "G4")
    assert subject_of("quota", "used", scene()) == Subject("goal", "dark-mode", "dark-mode")
    assert subject_of("todos", None, scene()) is None
    situation = situation_of("needs", "dark-mode/G4", scene(), read_only=False)
    assert (situation.kind, situation.goal_id, situation.object_id) == ("gate", "dark-mode", "G4")
    assert situation_of("needs", "x/unread", scene(), read_only=True).kind == "damage"


# Text from outside


def hostile_gate() -> Gate:
    return fixtures.gate(4, HOSTILE, command=HOSTILE, requested_by=HOSTILE, blocks=("T6",))


def test_text_from_outside_is_shown_and_never_acts() -> None:
    state = fixtures.dark_mode()
    todo = state.todos["T4"].model_copy(update={"title": HOSTILE, "write_scope": (HOSTILE,)})
    state = state.with_gate(hostile_gate()).with_todo(todo)
    one = fixtures.view(state)
    space = fixtures.workspace([one])
    stage = Scene(space, "dark-mode", ())
    shown = [
        *texts(needs.rows(space, pen())),
        *texts(todos.rows(one, pen())),
        *texts(beat.rows(one, pen(), 40)),
        *[
            fact.value.text
            for fact in detail(Subject("need", "dark-mode", "G4"), stage, pen()).facts
        ],
        *[
            fact.value.text
            for fact in detail(Subject("todo", "dark-mode", "T4"), stage, pen()).facts
        ],
    ]
    everything = "".join(shown)
    assert "[/x] ␛]52;c;aGk=␇ ⟨U+202E⟩[@click=app.quit]go[/]" in everything
    assert not [
        char for char in everything if (char != "\n" and ord(char) < 32) or char == "\u202e"
    ]


@pytest.mark.parametrize(
    ("found", "said", "style"),
    [
        (Finding("key", True, "signs"), "well", "fresh"),
        (Finding("owner", True, "UNATTENDED", warns=True), "weak", "alert"),
        (Finding("level", True, "software", warns=True), "weak", "alert"),
        (Finding("files", False, "damaged"), "not well", "alert"),
    ],
)
def test_what_only_looks_safe_is_red_in_the_doctor(found: Finding, said: str, style: str) -> None:
    (row,) = findings.rows([found], Pen(NOW))
    assert row.cells[1].text.endswith(f" {said}") and row.cells[1].style == style
