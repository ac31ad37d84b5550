"""Set-up: what is packaged, what `make` offers and what CI lets pass."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import hatchling.build
import pytest

from tests.patience import PATIENCE

ROOT = Path(__file__).parents[1]


def run(*command: str | Path, cwd: Path = ROOT, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        cwd=cwd,
        env={**os.environ, **env},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


# The wheel


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The wheel's files, built from this tree: name to text (themes and metadata), or empty."""
    folder = tmp_path_factory.mktemp("wheel")
    here = Path.cwd()
    os.chdir(ROOT)
    try:
        name = hatchling.build.build_wheel(str(folder))
    finally:
        os.chdir(here)
    with zipfile.ZipFile(folder / name) as wheel:
        return {
            member: wheel.read(member).decode() if member.endswith((".yaml", ".txt")) else ""
            for member in wheel.namelist()
        }


def test_the_wheel_holds_every_module_and_says_that_it_is_typed(packed: dict[str, str]) -> None:
    kernel = {f"loopx_kernel/{p}" for p in modules(ROOT / "kernel" / "loopx_kernel")}
    screen = {f"loopx_tui/{p}" for p in modules(ROOT / "loopx_tui")}

    assert kernel | screen <= packed.keys()
    assert {"loopx_kernel/py.typed", "loopx_tui/py.typed"} <= packed.keys()
    assert {name.split("/")[0] for name in packed if ".dist-info/" not in name} == {
        "loopx_kernel",
        "loopx_tui",
    }


def modules(package: Path) -> set[str]:
    return {str(path.relative_to(package)) for path in package.rglob("*.py")}


def test_the_wheel_holds_every_theme(packed: dict[str, str]) -> None:
    themes = {f"loopx_tui/themes/{p.name}": p.read_text("utf-8") for p in themes_here()}

    assert themes
    assert {name: text for name, text in packed.items() if name.endswith(".yaml")} == themes


def themes_here() -> list[Path]:
    return sorted((ROOT / "themes").glob("*.yaml"))


def test_the_wheel_holds_every_schema(packed: dict[str, str]) -> None:
    schemas = {
        f"loopx_kernel/schemas/{path.relative_to(ROOT / 'kernel' / 'schemas')}"
        for path in (ROOT / "kernel" / "schemas").rglob("*.json")
    }

    assert schemas
    assert {name for name in packed if name.endswith(".json")} == schemas


def test_the_wheel_installs_both_commands(packed: dict[str, str]) -> None:
    scripts = next(text for name, text in packed.items() if name.endswith("entry_points.txt"))

    assert re.findall(r"^([\w-]+) = ", scripts, re.M) == ["loopx", "loopx-tui"]


# make


def makefile_targets() -> set[str]:
    return set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text("utf-8"), re.M))


def commands_of_make(text: str) -> set[str]:
    """The commands of `make` in a Markdown page's code."""
    code = re.findall(r"```.*?```|`[^`\n]+`", text, re.S)
    return set(re.findall(r"\bmake ([a-z]+)", "\n".join(code)))


def test_make_alone_lists_every_command_with_a_sentence() -> None:
    result = run("make", "--no-print-directory")

    listed = dict(re.findall(r"^  ([a-z]+) +(\S.+)$", result.stdout, re.M))
    assert listed.keys() == makefile_targets()
    assert {"help", "demo", "test", "check", "bench", "shots", "clean"} <= listed.keys()


def test_every_make_command_in_the_readme_exists() -> None:
    assert commands_of_make("Type `make demo`, then make do.\n```\nmake test\n```") == {
        "demo",
        "test",
    }
    assert commands_of_make((ROOT / "README.md").read_text("utf-8")) <= makefile_targets()


def project_copy(folder: Path) -> Path:
    for name in ("Makefile", "pyproject.toml"):
        shutil.copy(ROOT / name, folder)
    return folder


def test_a_python_that_is_too_old_is_named_in_one_sentence(tmp_path: Path) -> None:
    old = tmp_path / "old-python"
    old.write_text("#!/bin/sh\nexit 1\n")
    old.chmod(0o755)

    result = run("make", "demo", f"PYTHON={old}", cwd=project_copy(tmp_path))

    assert result.returncode != 0
    assert f"LoopX needs Python 3.11 or newer; none of these is: {old}." in result.stderr
    assert not (tmp_path / ".venv").exists()


def test_a_python_without_venv_says_what_to_install(tmp_path: Path) -> None:
    bare = tmp_path / "bare-python"
    bare.write_text('#!/bin/sh\ncase "$2" in *ensurepip*) exit 1;; esac\n')
    bare.chmod(0o755)

    result = run("make", "test", f"PYTHON={bare}", cwd=project_copy(tmp_path))

    assert result.returncode != 0
    assert "apt install python3-venv" in result.stderr


# Skips in CI

SKIPPING = """
import pytest
def test_passes(): pass
@pytest.mark.skipif(True, reason="macOS only")
def test_allowed(): pass
"""
FORBIDDEN = """
@pytest.mark.skip(reason="felt like it")
def test_left_out(): pass
"""
EXPECTED_FAILURE = """
@pytest.mark.xfail(reason="known")
def test_known(): assert False
"""


def own_pytest(folder: Path) -> tuple[str, ...]:
    """A pytest that neither counts, cleans nor waits for the temporary folders of other runs."""
    base = f"--basetemp={folder / '.tmp'}"
    return (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", base)


def run_suite(folder: Path, test: str, *options: str, ci: str = "1") -> tuple[int, str]:
    shutil.copy(ROOT / "tests" / "conftest.py", folder)
    (folder / "test_it.py").write_text(test)
    (folder / "pytest.ini").write_text("[pytest]\n")
    result = run(*own_pytest(folder), *options, cwd=folder, LOOPX_CI=ci)
    return result.returncode, result.stdout + result.stderr


def test_allowed_skips_and_expected_failures_pass_in_ci(tmp_path: Path) -> None:
    status, output = run_suite(tmp_path, SKIPPING + EXPECTED_FAILURE)

    assert (status, "without leave" in output) == (0, False)


@pytest.mark.parametrize("workers", ["0", "2"])
def test_another_skip_fails_the_run_in_ci_and_is_named(tmp_path: Path, workers: str) -> None:
    status, output = run_suite(tmp_path, SKIPPING + FORBIDDEN, "-n", workers)

    assert status == 1
    assert "skipped in CI without leave" in output
    assert "test_it.py::test_left_out: felt like it" in output
    assert "test_allowed: macOS only" not in output


def test_the_same_skip_is_only_a_skip_elsewhere(tmp_path: Path) -> None:
    status, _ = run_suite(tmp_path, SKIPPING + FORBIDDEN, ci="")

    assert status == 0


@pytest.mark.parametrize("workers", ["0", "2"])
def test_a_whole_file_left_out_fails_the_run_in_ci(tmp_path: Path, workers: str) -> None:
    (tmp_path / "test_more.py").write_text(SKIPPING)
    whole = "import pytest\npytest.importorskip('no_such_module')\n"
    status, output = run_suite(tmp_path, whole, "-n", workers)

    assert status == 1
    assert "test_it.py: could not import 'no_such_module'" in output


def test_a_terminal_test_without_tmux_is_skipped_and_fails_ci(tmp_path: Path) -> None:
    test = """
import pytest, conftest
conftest.TERMINAL_PROGRAMS = ("no-such-tmux",)
@pytest.mark.terminal
def test_screen(): pass
"""
    status, output = run_suite(tmp_path, test)

    assert status == 1
    assert "test_it.py::test_screen: needs no-such-tmux" in output


def test_tests_for_root_are_skipped_visibly_where_they_cannot_run(tmp_path: Path) -> None:
    test = """
import os, pytest, conftest
@pytest.mark.root
def test_as_user(): assert False
@pytest.mark.root(mount=True)
def test_mounting(): assert False
conftest._may_mount = lambda: False
os.geteuid = lambda: UID
"""
    ordinary = run_suite(tmp_path, test.replace("UID", "1000"), "-rs")
    container = run_suite(tmp_path, test.replace("UID", "0"), "-rs", "-k", "mounting")

    assert ordinary[0] == container[0] == 0
    assert re.search(r"SKIPPED \[2\] .*: needs root\n", ordinary[1])
    assert re.search(r"SKIPPED \[1\] .*: may not mount file systems\n", container[1])


# Isolation


def test_every_test_has_an_empty_home_and_nobody_elses_agents(tmp_path: Path) -> None:
    test = """
import os
from pathlib import Path
def test_home(tmp_path):
    assert Path.home() != Path("/the/persons/home")
    assert not {"SSH_AUTH_SOCK", "TMUX", "LOOPX_KEY", "LOOPX_CI", "NO_COLOR"} & os.environ.keys()
    assert os.environ["LOOPX_CACHE_DIR"].startswith(os.environ["HOME"])
    assert list(tmp_path.iterdir()) == []
    Path.home().joinpath("left").touch()
def test_another_home():
    assert not Path.home().joinpath("left").exists()
"""
    person = {"HOME": "/the/persons/home", "SSH_AUTH_SOCK": "/a", "TMUX": "/b", "NO_COLOR": "1"}
    shutil.copy(ROOT / "tests" / "conftest.py", tmp_path)
    (tmp_path / "test_it.py").write_text(test)

    result = run(*own_pytest(tmp_path), cwd=tmp_path, LOOPX_KEY="/c", LOOPX_CI="1", **person)

    assert "2 passed" in result.stdout, result.stdout
