"""Waits: what ends them is a fact, a worker's look at it, or a person; never a worker's word."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from loopx_kernel.domain import fold
from loopx_kernel.domain.aside import ReopenTodo, SetAside
from loopx_kernel.domain.observation import Observe
from loopx_kernel.domain.records import WaitingOn
from loopx_kernel.domain.rules import Probe, SourceRule
from loopx_kernel.domain.source import BindSource, ReadSource
from loopx_kernel.errors import Denied, UsageError

from tests.kernel.domain.build import (
    CLAUDE,
    CODEX,
    KERNEL,
    NOW,
    OWNER,
    Book,
    add,
    line,
    opened,
    refused,
)

CHAT, TICKETS = SourceRule(id="chat", provider="slack"), SourceRule(id="tickets", provider="jira")
PROBES = (Probe(id="pr-7", command="make test"), Probe(id="ok", command="./ok", kind="review"))
LATER = NOW + timedelta(minutes=5)
REOPEN = ReopenTodo(todo_id="T1")
GIVEN_UP = (
    REOPEN,
    SetAside(todo_id="T1", status="blocked", reason="no CI"),
    SetAside(todo_id="T1", status="deferred", until=LATER),
    SetAside(todo_id="T1", status="waiting", waiting_on=WaitingOn(kind="review")),
)


def waiting(kind: Any = "ci", ref: str = "") -> Book:
    """T1 waits for this, T2 for the source tickets, T3 for nothing."""
    book = opened(sources=(CHAT, TICKETS), probes=PROBES)
    for title in ("Ship", "Sort", "Other"):
        book.do(add(title))
    for source in ("chat", "tickets"):
        book.do(BindSource(source_id=source), KERNEL)
    tickets = WaitingOn(kind="source", ref="tickets")
    for todo_id, on in (("T1", WaitingOn(kind=kind, ref=ref)), ("T2", tickets)):
        book.do(SetAside(todo_id=todo_id, status="waiting", waiting_on=on))
    return book


def told(status: Any, kind: Any = "ci", ref: str = "pr-7", **values: Any) -> Observe:
    return Observe(kind=kind, ref=ref, status=status, basis="told", **values)


def statuses(book: Book) -> list[str]:
    return [todo.status for todo in book.state.todos.values()]


@pytest.mark.parametrize(
    ("read", "lands"),
    [
        ({"status": "read", "items": 2, "unreadable": 0}, True),
        ({"status": "read"}, True),
        ({"status": "read", "items": 2, "unreadable": 1}, True),
        ({"status": "no_change"}, True),
        ({"status": "failed"}, False),
    ],
)
def test_a_read_of_the_very_source_lands_and_a_failed_one_does_not(
    read: dict[str, Any], lands: bool
) -> None:
    book = waiting("source", "chat")
    book.do(ReadSource(source_id="chat", **read), KERNEL, LATER)
    assert statuses(book) == ["open" if lands else "waiting", "waiting", "open"]
    # What thaws work is no idle look: the ladder begins again.
    assert (book.state.changed_at == LATER) is (lands or read["status"] == "read")
    assert book.replay() == book.state


def test_a_line_that_reads_a_source_thaws_no_more_and_no_less_than_the_command() -> None:
    book = waiting("source", "chat")
    thaw = {"type": "todo.reopened", "todo_id": "T1", "version": 2}
    other = {"type": "todo.reopened", "todo_id": "T2", "version": 2}
    for status, parts in (
        ("read", []),
        ("read", [other]),
        ("read", [thaw, other]),
        ("failed", [thaw]),
    ):
        event = line(
            book.state,
            "source.read",
            {"source_id": "chat", "status": status, "parts": parts},
            KERNEL,
        )
        assert fold.evolve(book.state, event).alert_count == 1
    book.write("source.read", {"source_id": "chat", "status": "read", "parts": [thaw]}, KERNEL)
    assert (book.state.alert_count, statuses(book)[0]) == (0, "open")


@pytest.mark.parametrize("command", GIVEN_UP)
def test_a_worker_ends_no_wait_without_a_look(command: Any) -> None:
    book = waiting()
    # What was seen before the wait began is no look, nor is one at something else.
    book.do(told("pending", "review"), KERNEL)
    for actor in (CLAUDE, CODEX):
        refused(book, command, Denied, "quota_frozen", actor=actor)
    payload = {"todo_id": "T1", "version": 2}
    book.write("todo.reopened", payload)
    assert (book.state.alerts[-1].code, statuses(book)[0]) == ("quota_frozen", "waiting")
    book.do(told("pending"), KERNEL)
    book.do(command, CODEX)
    assert book.todo("T1").status == ("open" if command is REOPEN else command.status)


@pytest.mark.parametrize("command", GIVEN_UP)
def test_a_look_from_before_the_wait_is_none(command: Any) -> None:
    book = opened()
    book.do(add("Ship"))
    book.do(told("fail"), KERNEL)
    on = WaitingOn(kind="ci", ref="pr-7")
    book.do(SetAside(todo_id="T1", status="waiting", waiting_on=on))
    refused(book, command, Denied, "quota_frozen")


def test_the_rhythm_of_a_wait_is_changed_without_a_look() -> None:
    book = waiting()
    on = WaitingOn(kind="ci", every_seconds=60)
    book.do(SetAside(todo_id="T1", status="waiting", waiting_on=on), CODEX)
    assert book.todo("T1").waiting_on == on


def test_a_failed_read_is_no_look_at_a_source() -> None:
    book = waiting("source", "chat")
    book.do(ReadSource(source_id="chat", status="failed"), KERNEL)
    refused(book, REOPEN, Denied, "quota_frozen")


@pytest.mark.parametrize(
    ("kind", "ref", "command"),
    [
        ("ci", "", "loopx observe probe pr-7 --todo T1"),
        ("ci", "pr-7", "loopx observe probe pr-7 --todo T1"),
        ("ci", "run 8", "loopx observe junit report.xml --ref 'run 8' --todo T1"),
        ("review", "", "loopx observe probe ok --todo T1"),
        (
            *("review", "pr-9"),
            "loopx observe record --kind review --ref pr-9 --status pending --todo T1",
        ),
        ("source", "chat", "loopx source read chat --status read --items 12 --unreadable 0"),
    ],
)
def test_the_refusal_names_the_command_that_looks(kind: Any, ref: str, command: str) -> None:
    with pytest.raises(Denied) as caught:
        waiting(kind, ref).do(REOPEN)
    assert caught.value.next == command


def test_a_person_ends_any_wait_with_a_reason() -> None:
    book = waiting()
    refused(book, REOPEN, UsageError, "invalid_value", actor=OWNER)
    said = ReopenTodo(todo_id="T1", reason="CI is gone")
    refused(book, said, UsageError, "invalid_event")
    book.do(said, OWNER)
    todo = book.todo("T1")
    assert (todo.status, todo.waiting_on, todo.reason) == ("open", None, "CI is gone")
    refused(book, said, UsageError, "illegal_transition", actor=OWNER)
