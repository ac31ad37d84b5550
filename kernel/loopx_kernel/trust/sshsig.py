"""OpenSSH signatures (SSHSIG) in the namespace ``loopx``, as ``ssh-keygen -Y`` makes them.

The frame is strict: one way to write a signature, so that no byte of it can be
changed without the signature being refused.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from typing import NoReturn, Protocol

from loopx_kernel.errors import Denied
from loopx_kernel.trust import algorithms
from loopx_kernel.trust.algorithms import RawSignature
from loopx_kernel.trust.keys import PublicKey
from loopx_kernel.trust.wire import NAMESPACE, Malformed, Reader, pack
from loopx_kernel.value import Value

_MAGIC = b"SSHSIG"
_VERSION = 1
_HASHES = ("sha512", "sha256")
_BEGIN = "-----BEGIN SSH SIGNATURE-----"
_END = "-----END SSH SIGNATURE-----"
_LINE = 70
_LONGEST = 16 * 1024


class Signer(Protocol):
    """What can sign: a key that was opened, or one that an agent holds."""

    @property
    def public(self) -> PublicKey:
        """Whose signature it will be."""

    def sign(self, data: bytes) -> bytes:
        """The SSH signature over ``data``; raises ``Denied`` where there will be none."""


class Signature(Value):
    """The fields of one signature; ``public_key`` is the SSH blob that made it."""

    public_key: bytes
    hash_algorithm: str
    fields: RawSignature


def sign(message: bytes, signer: Signer) -> str:
    """An armored signature over ``message``: hash sha512, text ending in a newline."""
    signature = signer.sign(data_of(message))
    blob = _MAGIC + _VERSION.to_bytes(4, "big")
    blob += pack(signer.public.blob, NAMESPACE.encode(), b"", b"sha512", signature)
    text = base64.b64encode(blob).decode("ascii")
    lines = [text[start : start + _LINE] for start in range(0, len(text), _LINE)]
    return "\n".join([_BEGIN, *lines, _END, ""])


def is_as_made(armored: str) -> bool:
    """Whether a signature is written as ``sign`` and ``ssh-keygen`` write it, to the byte:
    elsewhere its lines may be broken otherwise, which ``verify`` does not mind."""
    body = "".join(armored.split("\n")[1:-2])
    lines = [body[start : start + _LINE] for start in range(0, len(body), _LINE)]
    return armored == "\n".join([_BEGIN, *lines, _END, ""])


def data_of(message: bytes) -> bytes:
    """What a key signs for ``message``."""
    return _signed_data(message, "sha512")


def parse(armored: str) -> Signature:
    """The fields of an armored signature, without checking it.

    Raises ``Denied("bad_signature")``, with the reason as the fact ``why``, for
    anything but version 1, namespace ``loopx``, a known hash and a known kind of key.
    """
    try:
        return _fields(_dearmor(armored))
    except Malformed as fault:
        _deny(fault)


def verify(message: bytes, armored: str) -> Signature:
    """The fields of a signature over exactly ``message``; says nothing about whose it is, nor
    of the flags of a hardware key but that it set them.

    Raises ``Denied("bad_signature")`` with the reason as the fact ``why``.
    """
    signature = parse(armored)
    data = _signed_data(message, signature.hash_algorithm)
    try:
        algorithms.check_signature(signature.public_key, signature.fields, data)
    except Malformed as fault:
        _deny(fault)
    return signature


def _signed_data(message: bytes, hash_algorithm: str) -> bytes:
    digest = hashlib.new(hash_algorithm, message).digest()
    return _MAGIC + pack(NAMESPACE.encode(), b"", hash_algorithm.encode(), digest)


def _dearmor(armored: str) -> bytes:
    if len(armored) > _LONGEST:
        raise Malformed("it is too long")
    lines = armored.replace("\r\n", "\n").rstrip("\n").split("\n")
    if len(lines) < 3 or lines[0] != _BEGIN or lines[-1] != _END:
        raise Malformed("it is not an SSH signature")
    text = "".join(lines[1:-1])
    try:
        blob = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise Malformed("its base64 is broken") from None
    # Unused trailing bits would be a second way to write the same signature.
    if base64.b64encode(blob).decode("ascii") != text:
        raise Malformed("its base64 is broken")
    return blob


def _fields(blob: bytes) -> Signature:
    reader = Reader(blob)
    if reader.take(len(_MAGIC)) != _MAGIC:
        raise Malformed("it is not an SSH signature")
    if reader.uint32() != _VERSION:
        raise Malformed("its version is not 1")
    public_key = reader.string()
    algorithms.kind_of(public_key)
    if reader.string() != NAMESPACE.encode():
        raise Malformed(f"it was made for another purpose than {NAMESPACE!r}")
    if reader.string():
        raise Malformed("its reserved field is not empty")
    hash_algorithm = reader.text()
    if hash_algorithm not in _HASHES:
        raise Malformed("its hash is not one LoopX knows")
    signature = reader.string()
    reader.end()
    return Signature(public_key, hash_algorithm, algorithms.read_signature(signature))


def _deny(fault: Malformed) -> NoReturn:
    raise Denied("bad_signature", f"the signature is refused: {fault}", why=str(fault)) from None
