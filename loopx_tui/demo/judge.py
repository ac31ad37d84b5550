"""A judge to try rubrics with, which asks no model: it counts words.

The rubric is `PATH mentions: WORD, WORD, …`, with PATH in the repo; the vote is ten times the
share of these words in that file, and the reason stands on the second line. Asked how risky an
action is, it calls a message low and everything else high. Any command that reads one JSON object
on stdin and prints a whole number from 0 to 10 alone on its first line, or that one word, can
take its place.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any


def vote(question: dict[str, Any], repo: Path) -> tuple[int, str]:
    """The vote from 0 to 10, and why. What is no such rubric gets 0."""
    path, _, words = str(question.get("rubric", "")).partition(" mentions:")
    wanted = [word.strip().casefold() for word in words.split(",") if word.strip()]
    if not wanted:
        return 0, "the rubric is not `PATH mentions: WORD, WORD`"
    try:
        text = (repo / path.strip()).read_text("utf-8", "replace").casefold()
    except OSError as error:
        return 0, f"{path}: {error.strerror}"
    missing = [word for word in wanted if word not in text]
    share = 10 * (len(wanted) - len(missing)) // len(wanted)
    return share, f"not mentioned: {', '.join(missing)}" if missing else "all are mentioned"


def risk(question: dict[str, Any]) -> str:
    """How risky an action is, in the one word that is asked for."""
    return "low" if question.get("action") == "notify" and not question.get("paths") else "high"


def answer(question: dict[str, Any], repo: Path) -> str:
    """What is printed for a question of either kind."""
    if question.get("kind") == "admission":
        return f"{risk(question)}\n"
    number, why = vote(question, repo)
    return f"{number}\n{why}\n"


if __name__ == "__main__":
    sys.stdout.write(answer(json.load(sys.stdin), Path()))
