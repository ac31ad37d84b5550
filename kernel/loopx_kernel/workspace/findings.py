"""What was looked at and how it stands, one thing a row."""

from __future__ import annotations

from loopx_kernel.value import Value


class Finding(Value):
    """One thing looked at; ``fix`` is the command that helps where it is not well."""

    name: str
    ok: bool
    detail: str
    fix: str | None = None
    warns: bool = False
