"""Writing lines past every command, as somebody with a text editor and our format could."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from loopx_kernel.store.line import GENESIS, encode
from loopx_kernel.trust.keys import PrivateKey
from loopx_kernel.trust.sshsig import sign
from loopx_kernel.workspace import Unsigned

CHAIN = ("seq", "schema_version", "prev", "sha256")


def records(journal: Path) -> list[dict[str, Any]]:
    """The lines of a journal as objects."""
    return [json.loads(line) for line in journal.read_bytes().splitlines()]


def append_raw(journal: Path, record: dict[str, Any]) -> None:
    """Appends a line whose chain is right, whatever it says."""
    lines = records(journal)
    prev, seq = (lines[-1]["sha256"], lines[-1]["seq"]) if lines else (GENESIS, 0)
    raw, _ = encode({k: v for k, v in record.items() if k not in CHAIN}, seq=seq + 1, prev=prev)
    with journal.open("ab") as file:
        file.write(raw)


def rewrite(journal: Path, lines: list[dict[str, Any]]) -> None:
    """Puts a whole new journal there, chained anew from where the old one began."""
    prev = records(journal)[0]["prev"]
    content = b""
    for number, record in enumerate(lines, start=1):
        fields = {k: v for k, v in record.items() if k not in CHAIN}
        raw, prev = encode(fields, seq=number, prev=prev)
        content += raw
    journal.write_bytes(content)


def signed_line(unsigned: Unsigned, key: PrivateKey) -> dict[str, Any]:
    """The line of a decision signed with any key at all, as nobody but its maker asked for it."""
    words = unsigned.statement
    names = ("event_id", "goal_id", "event_type", "actor_kind", "actor_agent_id", "payload")
    signature = {"signature": sign(unsigned.statement_bytes, key)}
    return {
        **{name: words[name] for name in names},
        "recorded_at": words["signed_at"],
        "request": "0" * 64,
        "signed": {name: words[name] for name in ("signed_at", "object", "witnessed")} | signature,
    }
