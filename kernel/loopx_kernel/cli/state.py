"""`loopx state`: does ACTIVE_GOAL_STATE.md say what the journal says, and the ways out."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from loopx_kernel.cli.framework import Group
from loopx_kernel.cli.person import decide
from loopx_kernel.cli.session import Session
from loopx_kernel.errors import LoopxError

if TYPE_CHECKING:
    from loopx_kernel.cli.output import Printer
    from loopx_kernel.views.goal import GoalView
    from loopx_kernel.workspace import Edited, Unsigned, Workspace

SCHEMA = "loopx_state_check_v0"
_STYLES = {"+": "green", "-": "red", "@": "cyan"}


@click.group("state", cls=Group, example="loopx state check")
def command() -> None:
    """Does ACTIVE_GOAL_STATE.md say what the journal says; settle an edit by hand."""


@command.command("check", example="loopx state check --goal dark-mode")
@click.pass_obj
def check(session: Session) -> int:
    """What a person changed in the rendered list, as a diff. Exit 0 level, 1 not.

    Picks no side: `state adopt` takes the edit over, `state restore` puts the list back.
    """
    workspace = session.reading()
    view = workspace.view(session.goal_id(workspace), projection="state-check")
    reads = view.reads
    level = not (reads.drift or reads.damage)
    edited = _edited(workspace, view)
    body = {
        "level": level,
        "state_file": view.state_file,
        "drift": [
            {"kind": d.kind, "todo_id": d.todo_id, "line": d.line, "text": d.text}
            for d in reads.drift
        ],
        "drift_since": reads.drift_since,
        "digest": edited.digest if edited and edited.drift else None,
        "diff": edited.diff if edited else (),
        "not_of_the_list": [
            {"line": p.line, "reason": p.reason} for p in (edited.problems if edited else ())
        ],
        "damage": reads.damage,
        "missing": reads.missing_files,
        "behind": reads.behind_files,
    }

    def show(printer: Printer) -> None:
        printer.line(f"{view.state_file}: {'level with the journal' if level else 'NOT level'}")
        for problem in edited.problems if edited else ():
            printer.line(f"line {problem.line} {problem.reason}; what it says is kept")
        if edited and edited.drift:
            _show_edit(printer, view.goal_id, edited)
        for damage in reads.damage:
            printer.line(f"{damage.path} is damaged: {damage.reason}", "bold red")
            if damage.expected_digest:
                printer.line(f"  expected {damage.expected_digest}")
                printer.line(f"  found    {damage.found_digest}")
            printer.line(f"  next: {damage.command}")
        for what, paths in (("missing", reads.missing_files), ("behind", reads.behind_files)):
            for path in paths:
                printer.line(f"{path} is {what}; the next writing command brings it level")

    session.answer(SCHEMA, view.envelope, body, show)
    return 0 if level else 1


@command.command("adopt", example="loopx state adopt --goal dark-mode")
@click.option("--dry-run", is_flag=True, help="Show what would be signed; write nothing.")
@click.pass_obj
def adopt(session: Session, /, *, dry_run: bool) -> None:
    """Take over new rows and titles of an edit by hand. Asks on your terminal, and signs.

    A tick completes nothing: it is listed as needing evidence, and taken back.
    """
    _settle(session, dry_run, "adopted", lambda workspace: workspace.drift.adopt)


@command.command("restore", example="loopx state restore --goal dark-mode")
@click.option("--dry-run", is_flag=True, help="Show what would be signed; write nothing.")
@click.pass_obj
def restore(session: Session, /, *, dry_run: bool) -> None:
    """Put the todo list back to what was recorded. Asks on your terminal, and signs.

    The edited file is kept in the goal's quarantine folder.
    """
    _settle(session, dry_run, "restored", lambda workspace: workspace.drift.restore)


def _settle(
    session: Session,
    dry_run: bool,
    word: str,
    way_out: Callable[[Workspace], Callable[..., Unsigned]],
) -> None:
    workspace = session.writing()
    goal_id = session.goal_id(workspace)
    done = decide(
        session,
        workspace,
        lambda owner: way_out(workspace)(goal_id, owner, event_id=session.options.event_id),
        dry_run=dry_run,
    )
    if done is None:
        return
    payload = workspace.events.show(goal_id, done.receipt.event_id).event.payload
    added = [p["todo_id"] for p in payload.get("parts", ()) if p["type"] == "todo.added"]
    needing = [e["todo_id"] for e in _ticks(payload)] if word == "adopted" else []
    sentence = f"the todo list of {goal_id} is {word}"
    if added:
        sentence += f"; new: {', '.join(added)}"
    if needing:
        sentence += f"; ticked without evidence, so not done: {', '.join(needing)}"
    session.done(workspace, done, sentence, added=added, needs_evidence=needing)


def _ticks(payload: dict[str, Any]) -> list[dict[str, Any]]:
    return [edit for edit in payload["edits"] if edit["kind"] == "ticked" and "todo_id" in edit]


def _edited(workspace: Workspace, view: GoalView) -> Edited | None:
    """The edit with its diff; ``None`` where it cannot be read, or was saved once more just now."""
    try:
        edited = workspace.drift.look(view.goal_id)
    except LoopxError:
        return None
    return edited if edited.drift == view.reads.drift else None


def _show_edit(printer: Printer, goal_id: str, edited: Edited) -> None:
    for difference in edited.drift:
        printer.line(f"line {difference.line}: {difference.sentence}", "bold yellow")
    for line in edited.diff:
        printer.line(line, _STYLES.get(line[:1], ""))
    printer.line(f"take it over: loopx state adopt --goal {goal_id}")
    printer.line(f"put it back:  loopx state restore --goal {goal_id}")
