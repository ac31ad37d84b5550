"""SSH keys of people: public key lines, and private key files in OpenSSH's own format."""

from __future__ import annotations

import base64
import binascii
import hashlib
import os
import re
import stat
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from loopx_kernel.errors import Denied, UsageError
from loopx_kernel.text import safe
from loopx_kernel.trust import algorithms
from loopx_kernel.trust.key_files import read_key_file
from loopx_kernel.trust.wire import Malformed, Reader
from loopx_kernel.value import Value

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes

_ARMOR = re.compile(
    rb"\s*-----BEGIN OPENSSH PRIVATE KEY-----\r?\n([A-Za-z0-9+/=\r\n]+)"
    rb"-----END OPENSSH PRIVATE KEY-----\s*"
)
_MAGIC = b"openssh-key-v1\0"
_LONGEST_LINE = 16 * 1024
_MOST_ROUNDS = 1024


class PublicKey(Value):
    """A public key: ``kind`` as SSH names it, ``blob`` in SSH's wire format, and a comment."""

    kind: str
    blob: bytes
    comment: str = ""

    @property
    def fingerprint(self) -> str:
        """``SHA256:`` and 43 base64 characters, as ``ssh-keygen -l`` prints it."""
        digest = hashlib.sha256(self.blob).digest()
        return "SHA256:" + base64.b64encode(digest).decode("ascii").rstrip("=")

    @property
    def line(self) -> str:
        """``KIND BASE64`` and the comment if there is one, without a newline."""
        text = base64.b64encode(self.blob).decode("ascii")
        return f"{self.kind} {text} {self.comment}".rstrip()


@dataclass(frozen=True, slots=True)
class PrivateKey:
    """A private key in memory. ``encrypted`` says whether its file needs a passphrase."""

    public: PublicKey
    encrypted: bool
    key: PrivateKeyTypes = field(repr=False, compare=False)

    def sign(self, data: bytes) -> bytes:
        """The SSH signature over ``data``."""
        return algorithms.sign_data(self.key, data)


def parse_public_line(line: str) -> PublicKey:
    """A ``.pub`` line, ``KIND BASE64 [COMMENT]``.

    Raises ``UsageError("invalid_value")``, with the reason as the fact ``reason``,
    for anything else, unknown kinds, and RSA keys shorter than 3072 bits.
    """
    try:
        return _public_from(line)
    except Malformed as fault:
        raise UsageError(
            "invalid_value",
            f"this is not a public key LoopX can use: {fault}",
            field="public_key",
            reason=str(fault),
        ) from None


def load_private(path: Path, passphrase: bytes | None) -> PrivateKey:
    """The private key in the OpenSSH key file ``path``; nothing is kept but the key.

    A passphrase for a file without one is ignored. Raises ``Denied("no_key")``
    when the file is missing, unreadable or no key LoopX can use, and
    ``Denied("wrong_passphrase")`` when the passphrase is missing or wrong.
    """
    data, header = _read(path)
    if algorithms.is_hardware(header.public.kind):
        _no_key(path, "it is a hardware key's, which signs through ssh-agent alone")
    if header.encrypted and not passphrase:
        raise Denied(
            "wrong_passphrase", f"the key {safe(str(path))} needs its passphrase", path=str(path)
        )
    if header.rounds > _MOST_ROUNDS:
        _no_key(path, "its passphrase hashing is set so high that opening it would take hours")
    key = _decrypt(path, data, header, passphrase)
    # Neither the cipher nor the library notices a changed secret of an ed25519 key.
    if blob_of(key) != header.public.blob:
        _no_key(path, "it is damaged: its two halves do not fit")
    return PrivateKey(header.public, header.encrypted, key)


class Found(Value):
    """What a key file tells without its passphrase. ``opens`` says that its private half is
    there and signs in this process, ``encrypted`` that it takes a passphrase."""

    public: PublicKey
    opens: bool = False
    encrypted: bool = False


def look(path: Path) -> Found:
    """What lies at ``path``: a private key file, or a public one, ``PATH.pub`` where ``path`` is
    not there; asks nobody.

    The public half is taken from the private key file itself, which holds it in the
    clear, with the comment of ``PATH.pub`` where that is the same key. The private file
    of a hardware key opens nothing here. Raises ``Denied("no_key")``.
    """
    beside = Path(f"{path}.pub")
    if not os.path.exists(path):  # noqa: PTH110  # False, too, where it may not be looked at
        return Found(_read_public(beside, named=path))
    data = read_key_file(path)
    try:
        header = _header(data)
    except Malformed as fault:
        public = _public_in(data)
        if public is None:
            _no_key(path, str(fault))
        return Found(public)
    try:
        written = _read_public(beside, named=path)
    except Denied:
        written = header.public
    public = written if written.blob == header.public.blob else header.public
    return Found(public, not algorithms.is_hardware(public.kind), header.encrypted)


def public_of(path: Path) -> PublicKey:
    """The public half of the key at ``path``, as ``look`` finds it."""
    return look(path).public


def permissions_problem(path: Path) -> str | None:
    """What is wrong with who may read the key file, as a clause; ``None`` if nothing is.

    Raises ``Denied("no_key")`` if there is no such file.
    """
    try:
        found = path.stat()
    except (OSError, ValueError):
        _no_key(path, "there is no such file")
    if found.st_uid != os.getuid():
        return "it belongs to another user"
    mode = stat.S_IMODE(found.st_mode)
    return f"others than its owner may use it (mode {mode:04o})" if mode & 0o077 else None


class _Header(Value):
    public: PublicKey
    encrypted: bool
    rounds: int


def _public_from(line: str) -> PublicKey:
    if len(line) > _LONGEST_LINE:
        raise Malformed("it is too long")
    kind, _, rest = line.strip().partition(" ")
    encoded, _, comment = rest.strip().partition(" ")
    try:
        blob = base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        raise Malformed("its base64 is broken") from None
    if base64.b64encode(blob).decode("ascii") != encoded:
        raise Malformed("its base64 is broken")
    if algorithms.check_key(blob) != kind:
        raise Malformed("the kind it names is not the kind it is")
    return PublicKey(kind, blob, comment.strip())


def _read(path: Path) -> tuple[bytes, _Header]:
    data = read_key_file(path)
    try:
        return data, _header(data)
    except Malformed as fault:
        _no_key(path, str(fault))


def _header(data: bytes) -> _Header:
    """The part of a private key file that is not encrypted."""
    match = _ARMOR.fullmatch(data)
    if match is None:
        if b"PRIVATE KEY-----" in data:
            raise Malformed("it is in an older format; `ssh-keygen -p -f FILE` converts it")
        raise Malformed("it is not an OpenSSH private key")
    try:
        reader = Reader(binascii.a2b_base64(match[1]))
    except binascii.Error:
        raise Malformed("its base64 is broken") from None
    if reader.take(len(_MAGIC)) != _MAGIC:
        raise Malformed("it is not an OpenSSH private key")
    cipher, kdf, options = reader.text(), reader.text(), Reader(reader.string())
    if reader.uint32() != 1:
        raise Malformed("it holds more than one key")
    blob = reader.string()
    rounds = 0
    if kdf == "bcrypt":
        options.string()
        rounds = options.uint32()
    kind = algorithms.check_key(blob)
    return _Header(PublicKey(kind, blob), cipher != "none", rounds)


def _decrypt(path: Path, data: bytes, header: _Header, passphrase: bytes | None) -> PrivateKeyTypes:
    from cryptography.exceptions import InvalidTag, UnsupportedAlgorithm
    from cryptography.hazmat.primitives.serialization import load_ssh_private_key

    try:
        key = load_ssh_private_key(data, passphrase if header.encrypted else None)
    except UnsupportedAlgorithm:
        _no_key(path, "it is encrypted in a way LoopX does not know")
    except (ValueError, TypeError, InvalidTag):
        if not header.encrypted:
            _no_key(path, "it is damaged")
        raise Denied(
            "wrong_passphrase",
            f"that is not the passphrase of {safe(str(path))}",
            path=str(path),
        ) from None
    return key


def blob_of(key: PrivateKeyTypes) -> bytes:
    """The public half of an opened key in SSH's wire format."""
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    # Every kind that `_header` lets through has an OpenSSH form.
    line = key.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH)
    return binascii.a2b_base64(line.split(b" ")[1])


def _public_in(data: bytes) -> PublicKey | None:
    with suppress(Malformed):
        return _public_from(data.decode("utf-8", "replace"))
    return None


def _read_public(beside: Path, *, named: Path) -> PublicKey:
    try:
        return _public_from(read_key_file(beside).decode("utf-8", "replace"))
    except Malformed as fault:
        _no_key(named, f"its .pub file is not a public key: {fault}")


def _no_key(path: Path, reason: str) -> NoReturn:
    raise Denied(
        "no_key", f"no key at {safe(str(path))}: {reason}", path=str(path), reason=reason
    ) from None
