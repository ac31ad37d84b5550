"""Asking the judge of the signed rules how risky an action is."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from loopx_kernel.domain.judging import REQUEST_SCHEMA
from loopx_kernel.observe.run import run_command, split_command

SECONDS = 60
LIMIT = 64
"""Bytes of the answer; the one word that counts has three."""


def ask_risk(
    judge: str,
    repo: Path,
    *,
    action: str,
    command: str,
    paths: Sequence[str],
    search: Sequence[str] = (),
) -> str | None:
    """The judge's one word on an action; ``None`` where it failed, took too long, said more.

    The judge gets the action as JSON on its standard input, as data to look at. ``search`` is
    where else its program is looked for.
    """
    question = {
        "schema_version": REQUEST_SCHEMA,
        "kind": "admission",
        "scale": "how risky the action is: low, medium or high, that word alone",
        "action": action,
        "command": command,
        "paths": list(paths),
    }
    run = run_command(
        split_command(judge),
        repo,
        seconds=SECONDS,
        stdin=json.dumps(question).encode(),
        limit=LIMIT,
        search=search,
    )
    if run.status != 0 or len(run.output) >= LIMIT:
        return None
    word = run.output.removesuffix(b"\n")
    return word.decode() if word.isascii() and word.isalpha() else None
