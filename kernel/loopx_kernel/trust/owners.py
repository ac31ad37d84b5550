"""People's keys as lines of an OpenSSH ``allowed_signers`` file."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from loopx_kernel.errors import UsageError
from loopx_kernel.trust.keys import PublicKey, parse_public_line
from loopx_kernel.trust.owner_line import CONFIRMED, UNATTENDED, Owner, render_line
from loopx_kernel.trust.wire import NAMESPACE
from loopx_kernel.value import Value

__all__ = ["BadLine", "Owner", "check_name", "make_owner", "parse_owners", "render_line"]

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9@._-]{0,63}")
_OPTION = re.compile(r'([A-Za-z-]+)="([^"]*)"')
_TIME = re.compile(r"\d{8}(?:\d{4}(?:\d{2})?)?Z")
_LONGEST_LINE = 16 * 1024
_LARGEST_FILE = 4 * 1024 * 1024


class BadLine(Value):
    """A line that counts for nothing, by number from 1, and why."""

    line: int
    reason: str


class _Refused(ValueError):
    """Why one line is not an owner."""


def check_name(name: str) -> str:
    """``name`` unchanged if it may be an owner's; else ``UsageError("invalid_value")``."""
    if not _NAME.fullmatch(name):
        raise UsageError(
            "invalid_value",
            "an owner's name is 1 to 64 letters, digits, '@', '.', '_' or '-', "
            "and starts with a letter or digit",
            field="name",
        )
    return name


def make_owner(
    name: str,
    key: PublicKey,
    *,
    allow_unattended: bool = False,
    valid_after: datetime | None = None,
    valid_before: datetime | None = None,
    confirmed: bool = False,
) -> Owner:
    """The owner ``name`` with ``key``; ``UsageError("invalid_value")`` for a bad name."""
    line = PublicKey(key.kind, key.blob).line
    return Owner(
        check_name(name),
        line,
        key.fingerprint,
        allow_unattended,
        valid_after,
        valid_before,
        confirmed,
    )


def parse_owners(content: bytes) -> tuple[list[Owner], list[BadLine]]:
    """The owners in a file, in order, and every line that is none; never raises on content.

    Empty lines and comments are skipped. A bad line costs that line alone; a file
    beyond 4 MiB is one bad line.
    """
    if len(content) > _LARGEST_FILE:
        return [], [BadLine(1, "the file is larger than 4 MiB")]
    owners: list[Owner] = []
    bad: list[BadLine] = []
    seen: dict[str, int] = {}
    for number, raw in enumerate(content.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        try:
            owner = _owner_in(raw)
            if owner is None:
                continue
            if owner.fingerprint in seen:
                raise _Refused(f"it has the same key as line {seen[owner.fingerprint]}")
        except _Refused as fault:
            bad.append(BadLine(number, str(fault)))
            continue
        seen[owner.fingerprint] = number
        owners.append(owner)
    return owners, bad


def _owner_in(raw: bytes) -> Owner | None:
    if len(raw) > _LONGEST_LINE:
        raise _Refused("it is too long")
    try:
        line = raw.decode("utf-8").strip(" \t\r")
    except UnicodeDecodeError:
        raise _Refused("it is not UTF-8") from None
    if not line or line.startswith("#"):
        return None
    name, _, rest = line.partition(" ")
    if not _NAME.fullmatch(name):
        raise _Refused("it does not start with one owner's name")
    options, key_text = _split_options(rest.strip())
    try:
        key = parse_public_line(key_text)
    except UsageError as fault:
        raise _Refused(f"its key cannot be used: {fault.facts['reason']}") from None
    return make_owner(
        name,
        key,
        allow_unattended=key.comment == UNATTENDED,
        valid_after=_time_in(options, "valid-after"),
        valid_before=_time_in(options, "valid-before"),
        confirmed=key.comment == CONFIRMED,
    )


def _split_options(rest: str) -> tuple[dict[str, str], str]:
    options: dict[str, str] = {}
    while match := _OPTION.match(rest):
        option = match[1].lower()
        if option in options:
            raise _Refused(f"it gives {option} twice")
        if option not in ("namespaces", "valid-after", "valid-before"):
            raise _Refused("it has an option LoopX does not know")
        options[option] = match[2]
        rest = rest[match.end() :]
        if rest.startswith(" "):
            break
        if not rest.startswith(","):
            raise _Refused("its options are not written as options")
        rest = rest[1:]
    if NAMESPACE not in options.get("namespaces", NAMESPACE).split(","):
        raise _Refused(f"its key is not meant for {NAMESPACE}")
    return options, rest.strip()


def _time_in(options: dict[str, str], option: str) -> datetime | None:
    text = options.get(option)
    if text is None:
        return None
    # Without the Z, OpenSSH would read the reader's own time zone into it.
    if not _TIME.fullmatch(text):
        raise _Refused(f"{option} is not a UTC time like 20260916224000Z")
    digits = text[:-1].ljust(14, "0")
    try:
        return datetime.strptime(digits, "%Y%m%d%H%M%S").replace(tzinfo=UTC)
    except ValueError:
        raise _Refused(f"{option} is not a time that exists") from None
