"""What the hot commands cost as whole processes, against what they cannot do without."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from bench.place import BY, LOOPX, loopx, new_todo
from bench.results import Results
from bench.timing import Work, in_turn, process, run

ROUNDS = 15
IMPORTS = "Python, click, pydantic with the models used"
SHOULD_RUN = ("quota", "should-run", *BY)

MODELS = """
import json, sys
from loopx_kernel.cli.main import main
main(['quota', 'should-run', '--agent', 'claude-code'])
from pydantic import BaseModel
def below(model):
    for one in model.__subclasses__():
        yield one
        yield from below(one)
built = [[m.__module__, m.__qualname__] for m in below(BaseModel)
         if m.__dict__.get('__pydantic_complete__')]
print(json.dumps(sorted(set(map(tuple, built)))), file=sys.stderr)
"""
"""Tells which models a cold should-run has really built."""

FLOOR = """
import importlib, json, click, pydantic
for module, name in json.loads({models!r}):
    value = importlib.import_module(module)
    for part in name.split('.'):
        value = getattr(value, part)
    value.model_rebuild()
"""
"""Python, click and pydantic with those models, and nothing done with them."""


NO_PLUGINS = {**os.environ, "PYDANTIC_DISABLE_PLUGINS": "__all__"}


def commands(root: Path, results: Results) -> None:
    """Whole processes in turn with the start of Python and with its imports."""
    models = models_used(root)
    floor = FLOOR.format(models=json.dumps(models))
    works = {
        "bare Python": process((sys.executable, "-c", "pass"), root),
        IMPORTS: process((sys.executable, "-c", floor), root, NO_PLUGINS),
        "loopx quota should-run": process((LOOPX, *SHOULD_RUN), root),
        "loopx status": process((LOOPX, "status"), root),
        "loopx todo claim": claims(root),
        "loopx todo renew": renewals(root),
        "loopx event verify": process((LOOPX, "event", "verify"), root),
    }
    times = in_turn(works, ROUNDS)
    floor_times = times[IMPORTS]
    for name, taken in times.items():
        results.times(name, taken, f"{taken.over(floor_times):.2f} x its imports")
    ratio = times["loopx quota should-run"].over(floor_times)
    results.at_most("should-run, times Python with the imports it needs", ratio, 1.3, "x")
    modules = sorted({module for module, _ in models})
    results.note(f"Models a should-run builds ({len(models)}), in {', '.join(modules)}")


def models_used(root: Path) -> list[list[str]]:
    """Module and name of each model that a should-run builds."""
    done = subprocess.run(
        (sys.executable, "-c", MODELS), cwd=root, capture_output=True, text=True, check=False
    )
    found: list[list[str]] = json.loads(done.stderr.splitlines()[-1])
    return found


def claims(root: Path) -> Work:
    """Takes a todo that was just added; only the taking counts. It is given back."""

    def work(number: int) -> float:
        todo = new_todo(root, f"Taken {os.getpid()} {number}")
        seconds: float = process((LOOPX, "todo", "claim", todo, *BY), root)(number)  # type: ignore[assignment]
        held = ("--version", "1", "--epoch", "1")
        loopx(root, "todo", "release", todo, *held, *BY)
        return seconds

    return work


def renewals(root: Path) -> Work:
    """Renews the lease of one todo again and again."""
    todo = new_todo(root, "Held")
    version = [_version(run((LOOPX, "todo", "claim", todo, *BY, "--json"), root))]

    def work(number: int) -> float:
        held = ("--version", str(version[0]), "--epoch", "1")
        seconds: float = process((LOOPX, "todo", "renew", todo, *held, *BY), root)(number)  # type: ignore[assignment]
        version[0] += 1
        return seconds

    return work


def _version(answer: str) -> int:
    return int(json.loads(answer)["lease"]["version"])
