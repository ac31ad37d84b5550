"""The names of contracts."""

from __future__ import annotations

from os import urandom


def new_contract_id() -> str:
    """The name of one answer; no two beats share one."""
    return f"c-{urandom(16).hex()}"
