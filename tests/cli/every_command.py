"""Every command there is, run at least once with ``--json`` on a goal that has everything."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import click
from loopx_kernel.cli import person
from loopx_kernel.cli.main import root
from loopx_kernel.cli.next_step import is_for_an_agent
from loopx_kernel.clock import ManualClock
from loopx_kernel.workspace.person import generate_key

from tests.cli.helpers import Result, connect, loopx

NOT_JSON = {"dashboard"}
"""Commands that cannot be told here: one hands over to another program."""
FIRST = """
connect
agent add claude-code --note laptop
agent add codex
start-goal --id shop --objective 'Dark mode' --repo . --gate 'publish:git push*' \
--write-scope src/ --requires-approval delete --acceptance builds=cmd:true \
--acceptance '?taste=rubric:fine>=7' --probe gh=true --source tickets=jira,required
start-goal --dry-run --objective Other
start-goal --id other --objective 'Another goal'
start-goal --id plain --objective 'By hand'
todo add 'For a person' --role human --goal plain
todo complete T1 --reason done --goal plain
accept by-hand --reason 'looked at it' --goal plain --dry-run
accept by-hand --reason 'looked at it' --goal plain
"""
SHOP = """
todo add 'Research styles' --write-scope src/a --acceptance builds
todo add 'Plan variables' --lineage T1 --depends-on T1
todo add 'Convert' --event-id own-1 --priority P1 --next-check-at 2026-09-17T09:00:00Z
todo claim T1 --ttl 20m
todo renew T1 --version 1 --epoch 1
todo update T1 --note half --version 2 --epoch 1
todo release T1 --version 3 --epoch 1
todo block T3 --reason 'no data'
todo reopen T3
todo defer T3 --until 2026-09-17T09:00:00Z
todo reopen T3
todo wait T3 --on ci --reason 'until it is built'
observe record --kind ci --status fail --ref run-1
observe probe gh
observe junit report.xml --ref run-2
quota should-run
turn begin
turn settle --turn turn-0001 --outcome done --evidence notes.md --evidence report.xml \
--tests passed --handoff 'next: variables'
turn begin
quota spend-slot --turn turn-0002
refresh-state --turn turn-0002 --handoff 'tried one'
refresh-state --handoff 'more'
refresh-state
quota void-slot --turn turn-0002 --reason 'did nothing' --dry-run
turn show turn-0001
turn show turn-0002
turn list
turn list --all
todo show T1
todo show T4
todo list
todo list --all
lease list
lease show T1
gate request --action publish --command 'git push' --question 'Push it?' --blocks T2
gate check --action publish --command 'git push'
gate list
gate show G1
review-packet G1
gate approve G1 --dry-run
gate approve G1 --reason good --event-id own-2
gate check --action publish --command 'git push'
gate use --action publish --command 'git push'
gate show G1
gate request --action delete --path src/x
gate defer G2 --until 2026-09-17T09:00:00Z
gate reject G2 --reason 'keep it'
gate request --action publish --command 'git push b'
gate withdraw G3
propose cancel T3 --reason 'not needed'
todo add 'Instead' --lineage T3
propose supersede T3 --by T5 --reason other
propose route --todo T3 --reason lost
propose objective --text 'Dark mode everywhere' --reason wider
gate list
review-packet G4
todo add 'For a person' --role human
review-packet T6
todo complete T6 --reason seen
todo add 'Other way' --lineage T3
todo supersede T3 --by T7 --reason 'other way'
todo add 'To nothing'
todo cancel T8 --reason 'not now'
todo add 'Long way'
replan request --todo T9 --fact 'tests unstable' --reason lost
replan list
todo add 'Short way' --lineage T9
replan fulfil O1 --supersede T9:T11
replan request --reason 'think anew'
replan withdraw O2 --reason 'thought'
objective patch --text 'Dark mode, shop only' --reason smaller --fact survey
objective history
source add chat --provider slack --window 1d --on-demand
source bind tickets
source read tickets --status read --items 12 --unreadable 0 --pending 4
source settle tickets --cursor batch-1 --pending 2
source pause tickets --reason 'not replayable'
source resume tickets
source host jira --status ok --scanned tickets
source list
accept run
status
status --line
status --scope workspace
status --scope global
board
board --scope workspace
board --scope global
report
report --period 24h --format json
goal list
goal show
goal pause --reason freeze
quota should-run
turn begin
goal resume --reason go
goal edit --from rules.yaml --reason 'more time' --dry-run
goal edit --from rules.yaml --reason 'more time'
agent list
owner list
quota status
completion
event list
event list --limit 3
event list --goal _workspace
event show own-1
event show own-2
event show own-2 --statement
event show own-2 --signature
event verify
event verify --deep
event export-owners
replay --at 5
schema
schema status
doctor
doctor --deep
state check
repair list
workspace list
workspace add .
workspace remove .
escalation list
"""
READS = """
status
status --scope workspace
board
board --scope global
report
quota should-run
quota status
doctor
doctor --deep
event list
event verify
event verify --deep
state check
repair list
completion
goal list
todo list --all
lease list
source list
workspace list
"""


def leaves(group: click.Group = root, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The path of every command."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from leaves(command, (*path, name))
        else:
            yield (*path, name)


def path_of(words: list[str]) -> tuple[str, ...]:
    """The command that a line is of."""
    return next(path for path in leaves() if tuple(words[: len(path)]) == path)


def story(clock: ManualClock) -> Iterator[tuple[str, Result]]:
    """Each command line with what it gave, in the folder this process is in."""
    Path("notes.md").write_text("done\n", "utf-8")
    Path("report.xml").write_text('<testsuite tests="2" failures="0"/>', "utf-8")
    Path("rules.yaml").write_text("quota: {compute: 0.5}\n", "utf-8")
    connect()
    yield from _run(FIRST, clock)
    yield from _run(SHOP, clock, "--goal", "shop")
    yield from _of_escalations(clock)
    yield from _of_owners(clock)
    yield from _of_edits(clock)


def _run(lines: str, clock: ManualClock, *more: str) -> Iterator[tuple[str, Result]]:
    for line in lines.strip().splitlines():
        words = shlex.split(line)
        path = path_of(words)
        who = (
            ("--agent", "claude-code")
            if is_for_an_agent(f"loopx {line}", ["loopx", *words])
            else ()
        )
        goal = more if "--goal" not in words else ()
        yield " ".join(path), loopx(*words, *goal, *who, "--json", clock=clock)
        clock.advance(seconds=1)


def _of_escalations(clock: ManualClock) -> Iterator[tuple[str, Result]]:
    goal = ("--goal", "other")
    yield from _run("todo add 'Fails for ever'", clock, *goal)
    for number in range(1, 4):
        yield from _run(
            f"turn begin\nturn settle --turn turn-000{number} --outcome failed", clock, *goal
        )
    yield from _run(
        """
quota should-run
escalation list
review-packet E1
escalation answer E1 --go-on --reason 'the tests are new'
turn begin
turn recover
""",
        clock,
        *goal,
    )
    clock.advance(hours=2)
    yield from _run("turn show turn-0004\nquota should-run\nturn recover", clock, *goal)


def _of_owners(clock: ManualClock) -> Iterator[tuple[str, Result]]:
    for name in ("lin", "new"):
        generate_key(Path(name), name, None)
    yield from _run(
        """
owner enroll --name lin --public-key lin.pub --allow-unattended --dry-run
owner enroll --name lin --public-key lin.pub --allow-unattended
owner revoke --name lin --reason 'left the team'
owner rotate --name huang --public-key new.pub --allow-unattended
owner list
goal retire --goal other --reason 'no longer wanted' --key new
connect
""",
        clock,
    )
    with patch.object(person, "Terminal", Willing):
        yield from _run("owner trust", clock)


class Willing:
    """A person at a terminal who types what they are asked to type."""

    def say(self, text: str = "") -> None:
        """Listens."""

    def ask(self, question: str) -> str:
        """The word that is asked for."""
        return re.findall(r"Type (\S+)", question)[0]


def _of_edits(clock: ManualClock) -> Iterator[tuple[str, Result]]:
    """Drift, then damage: each is looked at, and settled."""
    goal, key = ("--goal", "shop"), ("--key", "new")
    page = Path(".loopx/goals/shop/ACTIVE_GOAL_STATE.md")
    for way in ("restore", "adopt"):
        page.write_text(page.read_text("utf-8") + "\n- [ ] By hand\n", "utf-8")
        edited = page.read_text("utf-8").replace("## Todos\n", "## Todos\n\n- [ ] By hand\n", 1)
        page.write_text(edited, "utf-8")
        lines = f"state check\nquota should-run\nreview-packet drift\nstate {way} --dry-run"
        yield from _run(lines, clock, *goal, *key)
        yield from _run(f"state {way}", clock, *goal, *key)
    damaged = Path(".loopx/runtime/shop/spend.jsonl")
    damaged.write_text("{}\n" + damaged.read_text("utf-8"), "utf-8")
    yield from _run(READS, clock, *goal)
    yield from _run(f"repair file {damaged} --dry-run\nrepair file {damaged}", clock, *goal, *key)
    journal = Path(".loopx/runtime/shop/events.jsonl")
    last = journal.read_text("utf-8").splitlines(keepends=True)
    journal.write_text("".join((*last[:-2], "garbage\n", *last[-1:])), "utf-8")
    yield from _run(READS, clock, *goal)
    yield from _run("repair journal --dry-run\nrepair journal", clock, *goal, *key)
    yield from _run(READS, clock, *goal)
