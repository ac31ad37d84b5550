"""Every projection word for word, in four states of one goal; ``GOLDEN=write`` writes them."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from tests.cli.helpers import loopx, unchanged
from tests.cli.ledgers import PACKET, PERIOD, STATES
from tests.cli.published import schema_of, wrong

GOLDEN = Path(__file__).parent / "golden"
CHANGING = (
    (re.compile(r"\b[0-7][0-9A-HJKMNP-TV-Z]{25}\b"), "EVENT-ID"),
    (re.compile(r"SHA256:[A-Za-z0-9+/]{43}"), "SHA256:KEY"),
    (re.compile(r"\b[0-9a-f]{32}\b"), "WORKSPACE-ID"),
    # A column is as wide as the longest path in it.
    (re.compile(r"(?<=/srv/mall) +"), "  "),
    (re.compile(r"(?m)^workspace +"), "workspace   "),
    # The registry's digest is over the owner's key as well.
    (re.compile(r"(?<=expected )[0-9a-f]{12}|(?<=found )[0-9a-f]{12}"), "DIGEST"),
    (re.compile(r"(?<=expected sha256  )[0-9a-f]{64}"), "DIGEST"),
    (re.compile(r"(?<=found sha256     )[0-9a-f]{64}"), "DIGEST"),
)


def commands(state: str) -> dict[str, tuple[str, ...]]:
    """Each projection by the name of its file."""
    return {
        "status.txt": ("status",),
        "status-workspace.txt": ("status", "--scope", "workspace"),
        "status-global.txt": ("status", "--scope", "global"),
        "status-line.txt": ("status", "--line"),
        "status-line-global.txt": ("status", "--line", "--scope", "global"),
        "board.txt": ("board",),
        "board-workspace.txt": ("board", "--scope", "workspace"),
        "report.txt": ("report", *PERIOD),
        "report.md": ("report", *PERIOD, "--format", "md"),
        "report.json": ("report", *PERIOD, "--format", "json"),
        "report.html": ("report", *PERIOD, "--format", "html"),
        "packet.txt": ("review-packet", PACKET[state]),
        "doctor.txt": ("doctor",),
        "event-list.txt": ("event", "list"),
        "todo-list.txt": ("todo", "list"),
        "todo-show.txt": ("todo", "show", "T2"),
        "turn-list.txt": ("turn", "list"),
        "objective-history.txt": ("objective", "history"),
        "completion.txt": ("completion",),
        "source-list.txt": ("source", "list"),
        "quota-status.txt": ("quota", "status"),
        "should-run.txt": ("quota", "should-run"),
        "workspace-list.txt": ("workspace", "list"),
    }


def settled(text: str, folder: Path) -> str:
    """What differs from run to run, under one name; lines end where their words do."""
    text = text.replace(str(folder), "/srv/mall").replace(os.environ["HOME"], "/home/huang")
    for pattern, name in CHANGING:
        text = pattern.sub(name, text)
    return text


@pytest.fixture
def mall(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of the same name in each run: it stands in what is told of all workspaces."""
    place = folder / "mall"
    place.mkdir()
    monkeypatch.chdir(place)
    return place


@pytest.mark.parametrize("state", STATES)
def test_every_projection_in_every_state(state: str, mall: Path) -> None:
    clock = STATES[state]()
    different = []
    (GOLDEN / state).mkdir(exist_ok=True)

    for name, words in commands(state).items():
        with unchanged():
            shown = loopx(*words, clock=clock)
        assert shown.err == "", words
        path, text = GOLDEN / state / name, settled(shown.out, mall)
        if os.environ.get("GOLDEN") == "write":
            path.write_text(text, "utf-8")
        if text != path.read_text("utf-8"):
            different.append(f"{path}:\n{text}")
    assert different == [], "\n".join(different)
    known = {path.name for path in (GOLDEN / state).iterdir()}
    assert known == set(commands(state))


@pytest.mark.parametrize("state", STATES)
def test_every_projection_in_every_state_holds_to_its_schema(state: str) -> None:
    clock = STATES[state]()

    for words in commands(state).values():
        shown = loopx(*words, "--json", clock=clock)
        assert wrong(schema_of(shown.json), shown.json) == [], words
