"""What the commands that agents call at every beat import: this list and nothing else."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.helpers import ok, start
from tests.patience import PATIENCE

AGENT = ("--agent", "claude-code")
HOT = ("should-run", "status", "claim", "renew")
NAMES = Path(__file__).with_name("start_up.txt")
"""One module a line, with the commands that import it where not all of them do."""

PROGRAM = (
    "import json, sys\n"
    "from loopx_kernel.cli.main import main\n"
    "status = main(sys.argv[1:])\n"
    "print(json.dumps(sorted(sys.modules)), file=sys.stderr)\n"
    "sys.exit(status)\n"
)
OTHERS = {
    "annotated_types",
    "click",
    "platformdirs",
    "pydantic",
    "pydantic_core",
    "rfc8785",
    "typing_extensions",
    "typing_inspection",
}
"""Other people's libraries that a hot command may load; one that writes locks with another."""
WRITING = {"claim": {"filelock"}, "renew": {"filelock"}}
HEAVY = {"asyncio", "concurrent", "http", "multiprocessing", "sqlite3", "ssl", "subprocess", "xml"}
"""Slow parts of Python that none of them needs."""


def imported(*words: str) -> set[str]:
    """The modules of a cold process that carried out the command."""
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM, *words],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    return set(json.loads(run.stderr.splitlines()[-1]))


def allowed(command: str) -> set[str]:
    """The kernel's modules that ``command`` may import."""
    lines = (line.split() for line in NAMES.read_text("ascii").splitlines())
    return {name for name, *only in lines if not only or command in only}


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, set[str]]:
    """What each hot command imports, on a workspace with work in it."""
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("start-up")
        for name in ("HOME", "XDG_CONFIG_HOME", "LOOPX_CACHE_DIR"):
            patch.setenv(name, str(folder / name))
        (folder / "w").mkdir()
        patch.chdir(folder / "w")
        start()
        todo = ok("todo", "add", "Convert", *AGENT)["todo"]["id"]
        return {
            "should-run": imported("quota", "should-run", *AGENT),
            "status": imported("status"),
            "claim": imported("todo", "claim", todo, *AGENT),
            "renew": imported("todo", "renew", todo, "--version", "1", "--epoch", "1", *AGENT),
        }


@pytest.mark.parametrize("command", HOT)
def test_a_hot_command_imports_only_what_is_on_the_list(
    command: str, seen: dict[str, set[str]]
) -> None:
    ours = {name for name in seen[command] if name.split(".")[0] == "loopx_kernel"}
    unlisted = sorted(ours - allowed(command))
    assert unlisted == [], f"import these where they are used, or add them to {NAMES.name}"


def test_plugins_that_other_packages_bring_for_pydantic_are_not_loaded(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start()
    site = folder / "site"
    (site / "meddler-1.0.dist-info").mkdir(parents=True)
    (site / "meddler-1.0.dist-info" / "METADATA").write_text("Name: meddler\nVersion: 1.0\n")
    entry = "[pydantic]\nmeddler = meddler:plugin\n"
    (site / "meddler-1.0.dist-info" / "entry_points.txt").write_text(entry)
    (site / "meddler.py").write_text("plugin = None\n")
    monkeypatch.setenv("PYTHONPATH", str(site))
    assert "meddler" not in imported("status")


@pytest.mark.parametrize("command", HOT)
def test_a_hot_command_loads_no_other_library(command: str, seen: dict[str, set[str]]) -> None:
    new = {name.split(".")[0] for name in seen[command]}
    libraries = {name for name in new - sys.stdlib_module_names if not name.startswith("_")}
    assert libraries - {"loopx_kernel"} <= OTHERS | WRITING.get(command, set())
    assert not new & HEAVY
