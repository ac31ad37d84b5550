"""`loopx observe`: facts from outside, each on the basis on which it is known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import click

from loopx_kernel.cli.framework import Group
from loopx_kernel.cli.session import Session

if TYPE_CHECKING:
    from loopx_kernel.domain.state import GoalState
    from loopx_kernel.workspace import Done, Workspace

_FOR_TODO = click.option("--todo", "todo_id", metavar="ID", help="Land on this todo alone.")


@click.group("observe", cls=Group, example="loopx observe probe tests")
def command() -> None:
    """Facts from outside: CI, reviews, sources.

    A result puts every todo that waits for it back to open; a failed CI or review also adds one
    todo to fix it. Only what the kernel ran itself counts as proof.
    """


@command.command("probe", example="loopx observe probe tests --todo T3")
@click.argument("probe_id", metavar="ID")
@_FOR_TODO
@click.pass_obj
def probe(session: Session, /, *, probe_id: str, todo_id: str | None) -> None:
    """Run a probe of the signed rules (basis: ran).

    Exit status 0 is a pass, 75 is no result yet, any other a failure.
    """
    from loopx_kernel.domain.observation import probe_of

    workspace = session.writing()
    done = workspace.observations.probe(
        session.goal_id(workspace),
        probe_id,
        todo_id=todo_id,
        by=session.agent_id,
        event_id=session.options.event_id,
    )
    _print(session, workspace, done, f"{probe_of(done.state, probe_id).kind}:{probe_id}")


@command.command("junit", example="loopx observe junit out/report.xml --ref pr-7")
@click.argument("path", metavar="FILE")
@click.option("--ref", required=True, metavar="REF", help="Which run or pull request it is of.")
@_FOR_TODO
@click.pass_obj
def junit(session: Session, /, *, path: str, ref: str, todo_id: str | None) -> None:
    """Read a JUnit report in the repo as the result of CI (basis: read)."""
    workspace = session.writing()
    done = workspace.observations.read(
        session.goal_id(workspace),
        path,
        ref,
        todo_id=todo_id,
        by=session.agent_id,
        event_id=session.options.event_id,
    )
    _print(session, workspace, done, f"ci:{ref}")


@command.command("record", example="loopx observe record --kind review --status pass --ref pr-7")
@click.option(
    "--kind",
    required=True,
    type=click.Choice(["ci", "review", "source"]),
    help="What it is a fact about.",
)
@click.option(
    "--status", required=True, type=click.Choice(["pass", "fail", "pending"]), help="How it stands."
)
@click.option("--ref", required=True, metavar="REF", help="Which run, pull request or source.")
@_FOR_TODO
@click.pass_obj
def record(
    session: Session,
    /,
    *,
    kind: Literal["ci", "review", "source"],
    status: Literal["pass", "fail", "pending"],
    ref: str,
    todo_id: str | None,
) -> None:
    """Take down what you know (basis: told). It proves nothing."""
    from loopx_kernel.domain.observation import Observe

    workspace = session.writing()
    told = Observe(
        kind=kind, ref=ref, status=status, basis="told", todo_id=todo_id, by=session.agent_id
    )
    done = workspace.observations.record(
        session.goal_id(workspace), told, event_id=session.options.event_id
    )
    _print(session, workspace, done, f"{kind}:{ref}")


def _print(session: Session, workspace: Workspace, done: Done[GoalState], key: str) -> None:
    seen = done.state.observations.get(key)
    todos = done.state.todos.values()
    fix = next((todo for todo in todos if todo.origin.event_id == done.receipt.event_id), None)
    thawed = [todo.id for todo in todos if todo.seq == done.receipt.seq and todo is not fix]
    objects: dict[str, Any] = {"observation": seen, "thawed": thawed, "fix": fix}
    what = f"{key}: {seen.status} ({seen.basis})" if seen else key
    sentence = f"{what}; {_effect(thawed, fix.id if fix else None)}"
    session.done(workspace, done, sentence, **objects)


def _effect(thawed: list[str], fix: str | None) -> str:
    if not thawed:
        return "nothing thaws"
    mended = f"; {fix} is to fix it" if fix else ""
    return f"{', '.join(thawed)} open again{mended}"
