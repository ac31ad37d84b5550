"""The demo's workspace: a key, three goals with their rules, agents, sources, first todos."""

from __future__ import annotations

import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from textwrap import dedent

from loopx_tui.demo import jobs, repo
from loopx_tui.demo.command import Loopx
from loopx_tui.demo.place import OWNER, DemoError, Place

AGENTS = ("claude-code", "codex", "gemini-cli")
FIRST_TODOS = {"dark-mode": 3, "fix-checkout": 2, "docs-refresh": 2}
OBJECTIVE = "Every component of the storefront is readable in a dark palette, also at night"
PROGRAMS = Path(sys.executable).parent
"""Where the commands of the rules find the Python that runs the demo."""
INBOX_WINDOW = 45
"""Seconds, at speed 1, for which a look at the inbox stays fresh."""

GOALS = {
    "dark-mode": dedent("""\
        id: dark-mode
        display_name: 商城前端添加深色模式
        objective: Every component of the storefront is readable in a dark palette
        domain: frontend
        write_scope: ["mall/theme/**", "tests/theme/**"]
        gates: ["publish:git push*"]
        acceptance: ["tests=cmd:python -m pytest -q tests/theme"]
        search_path: ["{programs}"]
        quota:
          compute: "0.4"
          window_hours: 24
          slot_minutes: 1
        sources: ["origin=git,required,window=5m"]
        """),
    "fix-checkout": dedent("""\
        id: fix-checkout
        display_name: Fix checkout totals
        objective: Every basket totals and rounds as its currency does
        domain: payments
        write_scope: ["mall/checkout/**", "tests/checkout/**"]
        gates: ["write@infra/**"]
        acceptance:
          - "tests=junit:build/accepted.xml <- python -m pytest -q --junitxml=build/accepted.xml
            tests/checkout"
          - "rounds=json:build/rounds.json#/100.4=100 <- python -m mall.checkout.totals"
          - "steps=regex:ROUND_HALF_UP@build/totals.txt <- cp mall/checkout/totals.py
            build/totals.txt"
        probes: ["baskets=python -m pytest -q tests/checkout"]
        search_path: ["{programs}"]
        quota:
          compute: "0.5"
          window_hours: 2
          slot_minutes: 1
        sources: ["origin=git,required,window=5m", "support-inbox=folder,window={window}s"]
        """),
    "docs-refresh": dedent("""\
        id: docs-refresh
        display_name: Refresh the docs
        objective: Every page is at its newest edition and no link is dead
        domain: docs
        write_scope: ["docs/**", "tests/docs/**"]
        gates: ["delete@docs/archive/**", "notify:send-digest* admit:judge"]
        search_path: ["{programs}"]
        acceptance:
          - links=cmd:python -m pytest -q tests/docs
          - "?home=rubric:docs/index.md mentions: storefront, themes>=8"
        judge: python -m loopx_tui.demo.judge
        quota:
          compute: "0.25"
          window_hours: 2
          slot_minutes: 1
        sources: ["origin=git,window=5m"]
        """),
}

_MESSAGES = {
    "1-rounding.txt": "My basket in yen shows cents. Please look.\n",
    "2-dark.txt": "The price tag cannot be read at night.\n",
    "3-thanks.txt": "Thanks, the new cart is much better!\n",
}


def build(place: Place, speed: float, report: Callable[[str], None]) -> None:
    """Everything up to the moment the workers start; each step is reported before it begins.

    ``speed`` shortens the window after which the inbox counts as stale.
    """
    if find_spec("pytest") is None:
        raise DemoError("its workers run pytest; install it: pip install 'loopx-tui[demo]'")
    for folder in (place.home, place.inbox, place.checks):
        folder.mkdir(mode=0o700)
    repo.write(place.inbox, _MESSAGES)
    report("making a small repository")
    repo.make(place)
    report("making a throw-away key and the workspace")
    owner = Loopx(place)
    connect = ("connect", "--owner", OWNER, "--new-key", "--no-passphrase")
    owner.must(*connect, "--allow-unattended")
    for agent in AGENTS:
        owner.must("agent", "add", agent)
    report("opening three goals")
    for goal, rules in GOALS.items():
        file = place.top / f"{goal}.yaml"
        window = max(5, round(INBOX_WINDOW / speed))
        file.write_text(rules.format(window=window, programs=PROGRAMS), encoding="utf-8")
        owner.must("start-goal", "--from", str(file))
    clearer = ("--text", OBJECTIVE, "--reason", "Contrast alone is not enough at night")
    Loopx(place, goal="dark-mode").must("objective", "patch", *clearer)
    report("adding the first todos")
    with ThreadPoolExecutor() as pool:
        list(pool.map(partial(_furnish, place), GOALS))


def _furnish(place: Place, goal: str) -> None:
    planner = Loopx(place, agent=AGENTS[0], goal=goal)
    for source in sources(goal):
        planner.must("source", "bind", source)
        read_source(place, planner, source)
    for number in range(FIRST_TODOS[goal]):
        add_todo(planner, goal, number, asks=True)


def sources(goal: str) -> tuple[str, ...]:
    """The ids of a goal's sources."""
    return ("origin", "support-inbox") if goal == "fix-checkout" else ("origin",)


def read_source(place: Place, loopx: Loopx, source: str) -> None:
    """Looks at the source and records what was seen."""
    if source == "origin":
        items, unreadable = repo.branches(place), 0
    else:
        texts = [_readable(path) for path in sorted(place.inbox.iterdir())]
        items, unreadable = len(texts), texts.count(False)
    counts = ("--items", str(items), "--unreadable", str(unreadable), "--pending", "0")
    loopx.must("source", "read", source, "--status", "read", *counts)


def add_todo(loopx: Loopx, goal: str, number: int, *, asks: bool) -> None:
    """Adds the goal's job ``number``. Two workers that want to add the same one use the
    same event id, so that the second is refused and nothing is added twice."""
    job = jobs.job(goal, number, asks=asks)
    scopes = (part for path in job.scope for part in ("--write-scope", path))
    event = ("--event-id", f"demo-{goal}-{number}")
    loopx.ask("todo", "add", job.title, "--priority", job.priority, *scopes, *event)


def _readable(path: Path) -> bool:
    try:
        return bool(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
