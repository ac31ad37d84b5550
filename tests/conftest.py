"""What every test gets: a home of its own, and skips that cannot hide."""

from __future__ import annotations

import functools
import itertools
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

ALLOWED_IN_CI = {
    "macOS only": "CI runs on Linux",
    "needs root": "the marker gives this reason to ordinary users only",
    "may not mount file systems": "the marker tried a mount and the container refused it",
    "root reads everything": "CI runs as root, from whom no file can be kept",
    "may not make user namespaces": "the tests tried one, and the kernel or container refused it",
    "may not make time namespaces": "the test tried one, and the kernel or container refused it",
}
"""Skip reasons that do not fail a run under ``LOOPX_CI=1``, each with why."""

LINES_AT_ONCE = 40

TERMINAL_PROGRAMS = ("tmux", "ssh", "ssh-keygen", "sshd")
SYSTEM_FOLDERS = "/usr/sbin:/sbin"

PERSONAL = {
    *("SSH_AUTH_SOCK", "SSH_AGENT_PID", "SSH_ASKPASS", "SSH_CONNECTION", "SSH_CLIENT", "SSH_TTY"),
    *("TMUX", "TMUX_PANE", "STY", "EDITOR", "VISUAL", "PAGER", "BROWSER"),
    *("NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLUMNS", "LINES"),
}
PERSONAL_PREFIXES = ("LOOPX_", "XDG_", "GIT_", "TEXTUAL")

settings.register_profile("loopx", deadline=None, max_examples=100, print_blob=True)
settings.load_profile("loopx")


class SkipGuard:
    """Fails a run in CI that left out a test it could have run."""

    def __init__(self) -> None:
        self.unexpected: dict[str, str] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.skipped and not hasattr(report, "wasxfail"):
            self._note(report.nodeid, report.longrepr)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.skipped:
            self._note(report.nodeid, report.longrepr)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self.unexpected and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self.unexpected:
            terminalreporter.section("skipped in CI without leave", red=True)
        for name, reason in self.unexpected.items():
            terminalreporter.line(f"{name}: {reason}")

    def _note(self, name: str, longrepr: object) -> None:
        text = longrepr[2] if isinstance(longrepr, tuple) else str(longrepr)
        reason = text.removeprefix("Skipped: ")
        if reason not in ALLOWED_IN_CI:
            self.unexpected[name] = reason


class FailuresAtOnce:
    """Says what failed when it failed: a run that is cut short has no summary."""

    def __init__(self, terminal: pytest.TerminalReporter) -> None:
        self._terminal = terminal

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self._terminal.ensure_newline()
            self._terminal.line(f"{report.nodeid} failed at {report.when}:", red=True)
            for line in report.longreprtext.splitlines()[-LINES_AT_ONCE:]:
                self._terminal.line(f"  {line}")


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    # Workers of xdist hand their reports to the controller, which decides.
    if os.environ.get("LOOPX_CI") == "1" and not hasattr(config, "workerinput"):
        config.pluginmanager.register(SkipGuard(), "loopx-skip-guard")
        terminal = config.pluginmanager.get_plugin("terminalreporter")
        config.pluginmanager.register(FailuresAtOnce(terminal), "loopx-failures-at-once")


def pytest_runtest_setup(item: pytest.Item) -> None:
    root = item.get_closest_marker("root")
    if root is not None:
        if os.geteuid() != 0:
            pytest.skip("needs root")
        if root.kwargs.get("mount", False) and not _may_mount():
            pytest.skip("may not mount file systems")
    if item.get_closest_marker("terminal") is not None:
        missing = [name for name in TERMINAL_PROGRAMS if _which(name) is None]
        if missing:
            pytest.skip(f"needs {', '.join(missing)}")


def _which(program: str) -> str | None:
    return shutil.which(program, path=f"{os.environ.get('PATH', os.defpath)}:{SYSTEM_FOLDERS}")


@functools.cache
def _may_mount() -> bool:
    with tempfile.TemporaryDirectory() as folder:
        mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "loopx-probe", folder]
        if subprocess.run(mount, capture_output=True, check=False).returncode != 0:
            return False
        subprocess.run(["umount", folder], check=True)
        return True


@pytest.fixture(scope="session")
def _homes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    # Numbered here: pytest's own numbering lists the folder for every new one.
    base = tmp_path_factory.mktemp("homes")
    return (base / str(number) for number in itertools.count())


@pytest.fixture(autouse=True)
def home(_homes: Iterator[Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home folder; nothing of the person who runs the tests is left in the environment."""
    for name in list(os.environ):
        if name in PERSONAL or name.startswith(PERSONAL_PREFIXES):
            monkeypatch.delenv(name)
    folder = next(_homes)
    runtime = folder / ".run"
    runtime.mkdir(mode=0o700, parents=True)
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder / ".config"))
    monkeypatch.setenv("XDG_DATA_HOME", str(folder / ".local" / "share"))
    monkeypatch.setenv("XDG_STATE_HOME", str(folder / ".local" / "state"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / ".cache"))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))
    monkeypatch.setenv("LOOPX_CACHE_DIR", str(folder / ".cache" / "loopx"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    return folder
