"""People and their keys, in lines: who they are, since when, and how strong a key is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from loopx_kernel.domain.levels import MEANING, level_of_key
from loopx_kernel.text import safe

from loopx_tui.presentation.lines import Line, alert, field, head, moment

if TYPE_CHECKING:
    from loopx_kernel.domain.event import Level
    from loopx_kernel.domain.roster_state import Owner


def in_a_row(owner: Owner, width: int = 0) -> str:
    """Who, in at least ``width`` cells, with which key, how strong; safe to show."""
    return f"{safe(owner.name):<{width}}  {safe(owner.fingerprint)}  {owner.level}"


def standing(owner: Owner) -> str:
    """Since when and by whom an owner is one, or not any more, in words."""
    if owner.revoked_seq is not None:
        at = f", {moment(owner.revoked_at)}" if owner.revoked_at else ""
        return f"revoked at #{owner.revoked_seq} by {owner.revoked_by}{at}"
    at = f", {moment(owner.enrolled_at)}" if owner.enrolled_at else ""
    words = f"enrolled at #{owner.enrolled_seq} by {owner.enrolled_by}{at}"
    words += f", counts from {moment(owner.valid_after)}" if owner.valid_after else ""
    return words + (f", until {moment(owner.valid_before)}" if owner.valid_before else "")


def everybody(owners: tuple[Owner, ...]) -> Iterator[Line]:
    """Every owner there ever was, those whose key counts no more dimmed."""
    present = sum(one.revoked_seq is None for one in owners)
    yield head(f"Owners now: {present}")
    longest = max((len(one.name) for one in owners), default=0)
    for owner in owners:
        weak = "alert" if owner.level == "software" else "text"
        gone = owner.revoked_seq is not None
        yield Line(f"  {in_a_row(owner, longest)}", "text-dim" if gone else weak)
        yield Line(f"  {'':<{longest}}  {safe(standing(owner))}", "text-dim")


def present_key(owner: Owner) -> Iterator[Line]:
    """The key that an owner has now."""
    yield field("key", owner.fingerprint)
    yield field("strength", f"{owner.level}: {MEANING[owner.level]}")


def new_key(line: str, fingerprint: str, use: str) -> Iterator[Line]:
    """The key as it would be enrolled; ``use`` is ``asked``, ``confirmed`` or ``unattended``."""
    level: Level = level_of_key(
        line, allow_unattended=use == "unattended", confirmed=use == "confirmed"
    )
    weak = level == "software"
    yield field("key", line.partition(" ")[0])
    yield field("", fingerprint)
    yield field("strength", f"{level}: {MEANING[level]}", "alert" if weak else "text")
    if weak:
        yield alert("UNATTENDED: programs may decide with it, and every decision says so")
    yield Line("  Compare the fingerprint with what they tell you by another way.", "ask")
