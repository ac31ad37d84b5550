"""The report as a page in a real browser: it opens, shows, prints, and complains of nothing."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.cli.helpers import loopx, ok
from tests.cli.ledgers import AGENT, PERIOD, STATES, healthy
from tests.patience import PATIENCE

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
CONSOLE = re.compile(r":CONSOLE[:(].*")
HOSTILE = (
    "<script>document.title='pwned'</script><img src=x onerror=\"document.title='pwned'\">",
    "</style><style>@import url(//evil.example/x.css)</style>\u202e漢字",
    "' onmouseover='alert(1)' <a href=javascript:alert(2)>x</a> <svg/onload=alert(3)>",
)


@pytest.fixture
def browser(tmp_path: Path) -> Path:
    """Where a browser may keep what it wants to; without Chromium there is nothing to test."""
    if CHROMIUM is None:
        pytest.skip("needs chromium")
    return tmp_path / "browser"


def opened(profile: Path, page: Path, *options: str) -> tuple[str, list[str]]:
    """What Chromium printed for a page, and what its console said."""
    done = subprocess.run(
        [
            *(str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"),
            *("--disable-dev-shm-usage", "--disable-background-networking", "--disable-sync"),
            *("--host-resolver-rules=MAP * ~NOTFOUND", f"--user-data-dir={profile}"),
            *("--enable-logging=stderr", "--v=0", *options, page.as_uri()),
        ],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=PATIENCE,
        check=True,
    )
    said = done.stderr.decode("utf-8", "replace")
    return done.stdout.decode("utf-8", "replace"), CONSOLE.findall(said)


def test_what_a_page_does_wrong_would_be_heard(browser: Path) -> None:
    page = Path("bad.html")
    policy = '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'">'
    page.write_text(f"<!doctype html>{policy}<p>x<script>alert(1)</script>", "utf-8")

    _, console = opened(browser, page.absolute(), "--dump-dom")

    assert console and "Content Security Policy" in console[0]


@pytest.mark.parametrize("state", STATES)
def test_a_page_opens_without_a_complaint_and_prints(state: str, browser: Path) -> None:
    clock = STATES[state]()
    assert loopx("report", *PERIOD, "-o", "week.html", clock=clock).status == 0
    page, paper = Path("week.html").absolute(), Path("week.pdf").absolute()

    shown, console = opened(browser, page, "--dump-dom")
    assert console == []
    assert shown.count("<svg") == 2
    assert "Convert components" in shown and "projection: observed_at=" in shown
    _, console = opened(browser, page, f"--print-to-pdf={paper}", "--no-pdf-header-footer")
    assert console == []
    content = paper.read_bytes()
    assert content.startswith(b"%PDF-")
    assert 1 <= len(re.findall(rb"/Type\s*/Page\b", content)) <= 8


def test_hostile_texts_do_nothing_in_a_browser(browser: Path) -> None:
    clock = healthy()
    for text in HOSTILE:
        ok("todo", "add", text, *AGENT, clock=clock)
        gate = ("--action", "publish", "--command", text, "--question", text)
        assert loopx("gate", "request", *gate, *AGENT, clock=clock).status == 0
    ok("objective", "patch", "--text", "".join(HOSTILE), "--reason", HOSTILE[0], clock=clock)
    clock.advance(minutes=1)
    loopx("report", "-o", "week.html", clock=clock)

    shown, console = opened(browser, Path("week.html").absolute(), "--dump-dom")

    assert console == []
    title = re.search(r"<title>(.*?)</title>", shown)
    assert title is not None and title[1].startswith("Report on ")
    assert not re.search(r"<(script|img|iframe|object|a href=\"(?!#s))", shown)
    assert "漢字" in shown
