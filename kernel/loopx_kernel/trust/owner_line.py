"""One owner, and the line of an OpenSSH ``allowed_signers`` file that tells of them."""

from __future__ import annotations

from datetime import UTC, datetime

from loopx_kernel.trust.wire import NAMESPACE
from loopx_kernel.value import Value

UNATTENDED, CONFIRMED = "allow-unattended", "confirmed"
"""How a key is used, as the comment of its line says it."""


class Owner(Value):
    """An enrolled person. ``key_line`` is ``KIND BASE64``; times are aware UTC, whole seconds.

    The key counts from ``valid_after`` up to and including ``valid_before``.
    """

    name: str
    key_line: str
    fingerprint: str
    allow_unattended: bool = False
    valid_after: datetime | None = None
    valid_before: datetime | None = None
    confirmed: bool = False


def render_line(owner: Owner) -> str:
    """``NAME namespaces="loopx" KIND BASE64``, without a newline, as ``ssh-keygen`` reads it.

    A validity period stands among the options; how the key is used stands in the
    comment, because OpenSSH has no option for it.
    """
    options = [f'namespaces="{NAMESPACE}"']
    if owner.valid_after:
        options.append(f'valid-after="{_stamp(owner.valid_after)}"')
    if owner.valid_before:
        options.append(f'valid-before="{_stamp(owner.valid_before)}"')
    line = f"{owner.name} {','.join(options)} {owner.key_line}"
    use = UNATTENDED if owner.allow_unattended else CONFIRMED if owner.confirmed else ""
    return f"{line} {use}".rstrip()


def _stamp(moment: datetime) -> str:
    moment = moment.astimezone(UTC)
    return f"{moment.year:04d}{moment:%m%d%H%M%S}Z"
