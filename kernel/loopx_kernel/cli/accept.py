"""`loopx accept`: run what the rules name, or let a person accept what no machine can."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from loopx_kernel.cli.framework import Group
from loopx_kernel.cli.session import Session

if TYPE_CHECKING:
    from loopx_kernel.domain.state import GoalState


@click.group("accept", cls=Group, example="loopx accept run")
def command() -> None:
    """Is the work accepted: run the items of the rules, or accept by hand.

    What passed holds until work or the goal's files change; then it is unchecked, a gap again.
    """


@command.command("run", example="loopx accept run --todo T3")
@click.option("--todo", "todo_id", metavar="ID", help="Only the items of this todo.")
@click.pass_obj
def run(session: Session, /, *, todo_id: str | None) -> int:
    """Run the acceptance items of the signed rules in the repo, and record what came of it.

    A file (regex, json, junit) counts only where a command of the rules wrote it in this run:
    the item's own (`junit:PATH <- COMMAND`) or that of a cmd item run beside it. A file somebody
    handed in, or a kept copy of it, is evidence and never passes an item. Programs are looked for
    in the rules' search_path and the system's folders, never in your PATH: write
    `.venv/bin/python -m pytest`, or lay `search_path: [.venv/bin]`. Exit 0 when all that is
    required passed, 1 when not. A failure with nothing left to do adds one fix todo.
    """
    workspace = session.writing()
    goal_id = session.goal_id(workspace)
    done = workspace.accepting.run(
        goal_id, todo_id, progress=_show_progress, event_id=session.options.event_id
    )
    _show_progress(0, 0, "")
    value = acceptance_value(done.state, todo_id)
    if not session.options.json:
        session.printer().table(
            ("item", "kind", "stands", "detail"),
            (
                (
                    i["id"],
                    i["kind"] + (" (optional)" if i["optional"] else ""),
                    i["standing"],
                    i["detail"],
                )
                for i in value["items"]
            ),
        )
    verdict = "passed" if value["passed"] else "not passed"
    fix = f"; {value['fix']} is to mend it" if value["fix"] else ""
    session.done(
        workspace, done, f"acceptance of {todo_id or goal_id}: {verdict}{fix}", acceptance=value
    )
    return 0 if value["passed"] else 1


@command.command("by-hand", example="loopx accept by-hand --reason 'read it, and it is good'")
@click.option("--todo", "todo_id", metavar="ID", help="Only the items of this finished todo.")
@click.option("--reason", required=True, metavar="TEXT", help="Why.")
@click.option("--dry-run", is_flag=True, help="Show what would be signed; write nothing.")
@click.pass_obj
def by_hand(session: Session, /, *, todo_id: str | None, reason: str, dry_run: bool) -> None:
    """Accept finished work as it is in the repo now. Asks on your terminal, and signs.

    It holds until work or the goal's files change. A goal without a required item is closed
    only so.
    """
    from loopx_kernel.cli.person import decide

    workspace = session.writing()
    goal_id = session.goal_id(workspace)
    done = decide(
        session,
        workspace,
        lambda owner: workspace.accepting.by_hand(
            goal_id, owner, reason, todo_id, event_id=session.options.event_id
        ),
        dry_run=dry_run,
    )
    if done is not None:
        value = acceptance_value(done.state, todo_id)
        session.done(workspace, done, f"{todo_id or goal_id} is accepted", acceptance=value)


def acceptance_value(state: GoalState, todo_id: str | None) -> dict[str, Any]:
    """How the goal's items, or a todo's, stand; ``fix`` is an open todo to mend them."""
    from loopx_kernel.domain.acceptance import items_of
    from loopx_kernel.domain.standing import gaps, is_accepted, required_items, standing

    items = state.the_rules.acceptance
    required = required_items(state)
    if todo_id in state.todos:
        items = required = items_of(state, state.todos[todo_id].acceptance)
    rows = [
        _row(state, item.id)
        | {
            "id": item.id,
            "kind": item.kind,
            "optional": item.optional,
            "standing": standing(state, item),
        }
        for item in items
    ]
    open_fixes = [t.id for t in state.todos.values() if t.kind == "fix" and not t.finished]
    return {
        "passed": bool(required) and all(standing(state, item) == "passed" for item in required),
        "by_hand": is_accepted(state),
        "gaps": gaps(state),
        "fix": open_fixes[-1] if open_fixes else None,
        "items": rows,
    }


_OF_THE_FILES = {"left", "written", "restless"}


def _row(state: GoalState, item_id: str) -> dict[str, Any]:
    found = state.results.get(item_id)
    if found is None:
        return {"result": None, "detail": ""}
    return found.model_dump(mode="json", exclude=_OF_THE_FILES | {"item_id", "seq"})


def _show_progress(done: int, whole: int, item_id: str) -> None:
    """One line on a terminal's stderr, gone when all was run."""
    if not sys.stderr.isatty():
        return
    from loopx_kernel.text import safe

    text = safe(f"running {item_id} ({done + 1} of {whole})") if whole else ""
    sys.stderr.write(f"\r\x1b[K{text}")
    sys.stderr.flush()
