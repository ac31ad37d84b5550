"""People and their keys: one more enrolled, a new key for one, one taken out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from loopx_kernel.clock import format_time, parse_time
from loopx_kernel.domain.event import WORKSPACE_JOURNAL
from loopx_kernel.text import counted, safe

from loopx_tui import strings
from loopx_tui.cases.case import Asked, Case, Field, Matter, Section, Values, Way
from loopx_tui.cases.times import parse_until
from loopx_tui.presentation.lines import Line, alert, field, head
from loopx_tui.presentation.owners import everybody, in_a_row, new_key, present_key

if TYPE_CHECKING:
    from loopx_kernel.domain.roster_state import Owner
    from loopx_kernel.workspace import Unsigned
    from loopx_kernel.workspace.narrowing import Narrowing

    from loopx_tui.decisions import Ledger

OBJECT: Final = "owners"
"""What all of this is about: the owners of the workspace, not of a goal."""

_NAME = Field("name", "name", hint="Whose key it is, as it will stand beside their decisions.")
_WHO = Field("name", "owner", "pick", hint="Whose key it is about.")
_KEY = Field("public_key", "key line", hint="Their .pub file, or the whole line that stands in it.")
_USE = Field("use", "use", "pick", hint="What the key asks for before it signs, as they say.")
_AFTER = Field("valid_after", "counts from", "time", False, "Now, unless a time stands here.")
_BEFORE = Field("valid_before", "counts until", "time", False, "For good, or 30d, or a time.")
_REASON = Field("reason", "reason", required=False, hint="Why; it becomes part of what you sign.")
_USES: Final = (
    ("asked", "asked each time: its passphrase, or a touch of a hardware key"),
    ("confirmed", "confirmed each time in the window of an ssh-agent (ssh-add -c)"),
    ("unattended", "UNATTENDED: it decides with nobody there"),
)
_OPTIONS: Final = {"confirmed": ("--confirmed",), "unattended": ("--allow-unattended",)}


class People(NamedTuple):
    """The owners as they are now, the file beside which their keys must stand, if any, and
    how they are not those this person knew; empty where they are."""

    owners: tuple[Owner, ...]
    narrowing: Narrowing | None
    change: str

    @property
    def present(self) -> list[Owner]:
        """Those whose key counts now."""
        return [one for one in self.owners if one.revoked_seq is None]

    def named(self, name: str) -> Owner | None:
        """The present owner of that name."""
        return next((one for one in self.present if one.name == name), None)


def look(ledger: Ledger, goal_id: str, object_id: str) -> Matter:
    """All owners, whatever goal is in sight."""
    owners = ledger.owners
    people = People(owners.list(), owners.narrowing, owners.pins.look().change or "")
    return Matter(
        goal_id=WORKSPACE_JOURNAL,
        object_id=OBJECT,
        open=True,
        status=counted(len(people.present), "owner"),
        meaning={one.name: one.fingerprint for one in people.present},
        record=people,
    )


def taken(values: Values) -> Values:
    """The values with the key that was named, by line and fingerprint, and times in full.
    Raises ``invalid_value`` for what is no key. For worker threads."""
    from loopx_kernel.workspace.person import public_key

    key, now = public_key(values["public_key"]), datetime.now(UTC)
    times = {
        one.name: format_time(parse_until(text, now))
        for one in (_AFTER, _BEFORE)
        if (text := values[one.name].strip())
    }
    return {**values, **times, "line": key.public_line, "fingerprint": key.fingerprint}


def _choices(matter: Matter) -> Mapping[str, Sequence[tuple[str, str]]]:
    people: People = matter.record
    return {"use": _USES, "name": [(one.name, in_a_row(one)) for one in people.present]}


# What is shown


def _show_coming(matter: Matter, values: Values, width: int) -> Iterator[Section]:
    """The key as it would be enrolled, and what it will count for."""
    people: People = matter.record
    who = values.get("name") or "Somebody"
    yield [
        Line(safe(f"{who} becomes an owner, who decides as you do"), "ask"),
        *_key(people, values),
    ]
    yield _what_it_does(values)
    yield list(_all(people))


def _show_renewed(matter: Matter, values: Values, width: int) -> Iterator[Section]:
    """The new key, and the one that goes."""
    people: People = matter.record
    old = people.named(values.get("name", ""))
    yield [
        Line(safe(f"A new key for {old.name}" if old else "A new key for an owner"), "ask"),
        *_key(people, values),
    ]
    if old is not None:
        yield [
            head("Revoked in the same step"),
            *present_key(old),
            field("before", "what was decided with it stays decided"),
        ]
    yield _what_it_does(values)
    yield list(_all(people))


def _key(people: People, values: Values) -> Iterator[Line]:
    line, fingerprint = values.get("line", ""), values.get("fingerprint", "")
    if not line:
        yield field("key", "none was named yet")
        return
    yield from new_key(line, fingerprint, values.get("use", ""))
    if people.narrowing is not None and not people.narrowing.names(fingerprint):
        where = people.narrowing.path
        yield alert(f"It does not stand in {where} (LOOPX_OWNERS), so it would decide nothing here")


def _what_it_does(values: Values) -> Section:
    after, before = (values.get(one.name, "").strip() for one in (_AFTER, _BEFORE))
    return [
        head("What it counts for"),
        field("from", after or "the lines that end the journals when you press the key"),
        field("until", before or "it is revoked"),
    ]


def _show_leaving(matter: Matter, values: Values, width: int) -> Iterator[Section]:
    people: People = matter.record
    owner = people.named(values.get("name", ""))
    if owner is None:
        yield [Line("Whose key counts no more?", "ask")]
    else:
        yield [
            Line(safe(f"{owner.name} decides nothing from then on"), "ask"),
            *present_key(owner),
        ]
    yield [
        head("What it does"),
        field("from", "the lines that end the journals when you press the key, whatever date"),
        field("", "that key signs later"),
        field("before", "what was decided with it stays decided"),
    ]
    yield list(_all(people))


def _all(people: People) -> Iterator[Line]:
    if people.change:
        yield alert(f"owners_changed: {people.change}; nothing is signed before loopx owner trust")
    yield from everybody(people.owners)


# What is signed


def _why_not_coming(matter: Matter, values: Values, way: Way) -> str:
    people: People = matter.record
    name = values.get("name", "")
    if people.change or not (name and values.get("line")):
        return people.change or strings.WHOSE_KEY_FIRST
    return strings.OWNER_ALREADY.format(name=safe(name)) if people.named(name) else ""


def _why_not_renewed(matter: Matter, values: Values, way: Way) -> str:
    return _why_nobody(matter, values, way) or ("" if values.get("line") else strings.NEW_KEY_FIRST)


def _why_nobody(matter: Matter, values: Values, way: Way) -> str:
    people: People = matter.record
    named = people.named(values.get("name", ""))
    return people.change or ("" if named else strings.CHOOSE_OWNER_FIRST)


def _use(values: Values) -> dict[str, Any]:
    times = {one.name: values.get(one.name, "") for one in (_AFTER, _BEFORE)}
    return {
        "allow_unattended": values.get("use") == "unattended",
        "confirmed": values.get("use") == "confirmed",
        **{name: parse_time(text) if text else None for name, text in times.items()},
    }


def _enroll(ledger: Ledger, asked: Asked) -> Unsigned:
    name, line = asked.values["name"], asked.values["line"]
    return ledger.owners.enroll(asked.owner, name, line, **_use(asked.values))


def _rotate(ledger: Ledger, asked: Asked) -> Unsigned:
    name, line = asked.values["name"], asked.values["line"]
    return ledger.owners.rotate(asked.owner, name, line, **_use(asked.values))


def _revoke(ledger: Ledger, asked: Asked) -> Unsigned:
    return ledger.owners.revoke(asked.owner, asked.values["name"], asked.values.get("reason", ""))


# The same from a shell


def _key_line(matter: Matter, values: Values, way: Way) -> Sequence[str]:
    named = values.get("public_key") or "new.pub"
    # A line that was pasted must lie in a file for the command.
    file = named if " " not in named.strip() else f"{values.get('name') or 'new'}.pub"
    times = [
        word
        for one, option in ((_AFTER, "--valid-after"), (_BEFORE, "--valid-before"))
        if values.get(one.name)
        for word in (option, values[one.name])
    ]
    options = _OPTIONS.get(values.get("use", ""), ())
    who = values.get("name") or "lin"
    return ["owner", way.name, "--name", who, "--public-key", file, *options, *times]


def _revoke_line(matter: Matter, values: Values, way: Way) -> Sequence[str]:
    reason = values.get("reason", "")
    more = ["--reason", reason] if reason else []
    return ["owner", "revoke", "--name", values.get("name") or "lin", *more]


def _asked_each_time(matter: Matter) -> Values:
    return {"use": "asked"}


CASES: Final = (
    Case(
        "owner.enroll",
        "enrolment",
        (Way("review.approve", "enroll", "enrol", "enrolled"),),
        look,
        _show_coming,
        _enroll,
        _key_line,
        fields=(_NAME, _KEY, _USE, _AFTER, _BEFORE),
        first=True,
        begin=_asked_each_time,
        choices=_choices,
        why_not=_why_not_coming,
        take=taken,
    ),
    Case(
        "owner.rotate",
        "new key",
        (Way("review.approve", "rotate", "give the new key", "given a new key"),),
        look,
        _show_renewed,
        _rotate,
        _key_line,
        fields=(_WHO, _KEY, _USE, _AFTER, _BEFORE),
        first=True,
        begin=_asked_each_time,
        choices=_choices,
        why_not=_why_not_renewed,
        take=taken,
    ),
    Case(
        "owner.revoke",
        "revocation",
        (Way("review.approve", "revoke", "revoke", "revoked"),),
        look,
        _show_leaving,
        _revoke,
        _revoke_line,
        fields=(_WHO, _REASON),
        first=True,
        choices=_choices,
        why_not=_why_nobody,
    ),
)
