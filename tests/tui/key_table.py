"""The key table of the README, made from the table of actions.

``python -m tests.tui.key_table`` writes it into the README.
"""

from __future__ import annotations

import re
from pathlib import Path

from loopx_tui.commands import COMMANDS, shown_keys

README = Path(__file__).parents[2] / "README.md"
BEGIN, END = "<!-- keys -->\n", "<!-- /keys -->"
SHOWN = ("main", "rows", "review")


def table() -> str:
    """One row an action with a key, the panes in one."""
    rows = ["| key | does |", "| --- | --- |"]
    for command in COMMANDS:
        if command.scope not in SHOWN or not command.keys or command.id.startswith("pane."):
            continue
        if command.scope == "review" and not command.human_only:
            continue
        keys = " ".join(f"`{key}`" for key in shown_keys(command.keys).split())
        where = "on the review screen: " if command.scope == "review" else ""
        rows.append(f"| {keys} | {where}{command.help[0].lower()}{command.help[1:]} |")
    rows.append("| `1`-`9` `tab` `shift+tab` | move to a pane |")
    return "\n".join(rows) + "\n"


def written() -> str:
    """The table as it stands in the README."""
    found = re.search(re.escape(BEGIN) + "(.*?)" + re.escape(END), README.read_text("utf-8"), re.S)
    assert found, "the README has no key table"
    return found[1]


if __name__ == "__main__":
    text = README.read_text("utf-8")
    README.write_text(text.replace(written(), table()), "utf-8")
