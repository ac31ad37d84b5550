"""`loopx goal edit`: the rules as YAML, changed by a person, shown as a diff, and signed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from loopx_kernel.cli.framework import Command, Group
from loopx_kernel.cli.session import Session
from loopx_kernel.errors import UsageError

if TYPE_CHECKING:
    from loopx_kernel.domain.rules import GoalRules

_HEAD = """\
# The rules of the goal {goal}. What you leave out stays as it is; an empty list empties it.
# `repo` and `state_file` stay; the objective is changed by: loopx objective patch
"""


def register(group: Group) -> None:
    """Puts this command under `loopx goal`."""
    group.add_command(edit)


@click.command("edit", cls=Command, example="loopx goal edit --from rules.yaml --reason 'more'")
@click.option(
    "--from", "from_file", metavar="FILE", help="A file, or - ; else they are opened in $EDITOR."
)
@click.option("--reason", default="", metavar="TEXT", help="Why.")
@click.option("--dry-run", is_flag=True, help="Show what would be signed; write nothing.")
@click.pass_obj
def edit(session: Session, /, *, from_file: str | None, reason: str, dry_run: bool) -> None:
    """Lay the rules anew. Shows what changes, asks on your terminal, and signs."""
    from loopx_kernel.cli.person import decide, enrolled_key, refuse_agents
    from loopx_kernel.domain.patched_rules import PatchRules
    from loopx_kernel.workspace.rules_text import changed_keys, diff, rules_of

    refuse_agents(session, "tell an owner which rule is wrong")
    workspace = session.writing()
    goal_id = session.goal_id(workspace)
    old = workspace.state(goal_id).the_rules
    if from_file is None:
        enrolled_key(session, workspace)  # no editor for somebody who cannot sign
    new = rules_of(goal_id, old, _given(goal_id, old, from_file))
    if not session.options.json:
        printer = session.printer()
        for line in diff(old, new):
            printer.line(line)
    asked = PatchRules(rules=new, reason=reason)
    done = decide(
        session,
        workspace,
        lambda owner: workspace.goals.patch_rules(
            goal_id, owner, asked, event_id=session.options.event_id
        ),
        dry_run=dry_run,
    )
    if done is not None:
        changed = changed_keys(old, new)
        sentence = f"The rules of {goal_id} are changed: {', '.join(changed) or 'as asked'}"
        session.done(workspace, done, sentence, goal={"id": goal_id, "changed": changed})


def _given(goal_id: str, old: GoalRules, from_file: str | None) -> dict[str, Any]:
    from loopx_kernel.cli.goal_rules import read_yaml
    from loopx_kernel.workspace.goal_words import parse_yaml
    from loopx_kernel.workspace.rules_text import as_yaml

    if from_file is not None:
        return read_yaml(from_file)
    text = click.edit(_HEAD.format(goal=goal_id) + as_yaml(old), extension=".yaml")
    if text is None:
        raise UsageError(
            "invalid_value",
            "The rules were left as they are",
            next=f"loopx goal show --goal {goal_id}",
        )
    return parse_yaml(text, "what you wrote")
