"""The tables of keys in the README and of their ids in ``docs``, made from the table of actions.

``python -m tests.tui.key_table`` writes both.
"""

from __future__ import annotations

import re
from pathlib import Path

from loopx_tui.commands import COMMANDS, shown_keys

ROOT = Path(__file__).parents[2]
README, PAGE = ROOT / "README.md", ROOT / "docs" / "terminal-ui.md"
SHOWN = ("main", "rows", "goal", "history", "review")
WHERE = {
    "goal": "on a goal's screen: ",
    "history": "in history: ",
    "review": "on the review screen: ",
}
PLACES = {
    "main": "screens with panes",
    "rows": "lists",
    "goal": "a goal's screen",
    "history": "history",
    "review": "reviews",
    "dialog": "other dialogs",
}


def table() -> str:
    """One row an action with a key, the panes in one."""
    rows = ["| key | does |", "| --- | --- |"]
    for command in COMMANDS:
        if command.scope not in SHOWN or not command.keys or command.id.startswith("pane."):
            continue
        if command.scope == "review" and not command.human_only:
            continue
        keys = " ".join(f"`{key}`" for key in shown_keys(command.keys).split())
        where = WHERE.get(command.scope, "")
        rows.append(f"| {keys} | {where}{command.help[0].lower()}{command.help[1:]} |")
    rows.append("| `1`-`9` `tab` `shift+tab` | move to a pane |")
    return "\n".join(rows) + "\n"


def ids() -> str:
    """One row an action that has a key, by its id."""
    rows = ["| id | keys | where |", "| --- | --- | --- |"]
    for command in COMMANDS:
        if command.keys:
            keys = " ".join(f"`{key}`" for key in shown_keys(command.keys).split())
            rows.append(f"| `{command.id}` | {keys} | {PLACES[command.scope]} |")
    return "\n".join(rows) + "\n"


def written(page: Path, name: str) -> str:
    """What stands on a page between the marks of this name."""
    text = page.read_text("utf-8")
    found = re.search(f"<!-- {name} -->\n(.*?)<!-- /{name} -->", text, re.S)
    assert found, f"{page.name} has no {name}"
    return found[1]


def write(page: Path, name: str, table: str) -> None:
    """Puts a table between the marks."""
    marks = f"<!-- {name} -->\n", f"<!-- /{name} -->"
    old = written(page, name).join(marks)
    page.write_text(page.read_text("utf-8").replace(old, table.join(marks)), "utf-8")


if __name__ == "__main__":
    write(README, "keys", table())
    write(PAGE, "ids", ids())
