"""Making a key: an ed25519 key file in OpenSSH's own format, and its public half."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from loopx_kernel.errors import Conflict, UsageError
from loopx_kernel.text import check_line, safe
from loopx_kernel.trust.key_files import write_new
from loopx_kernel.trust.keys import PublicKey, blob_of

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey


def generate(
    path: Path, comment: str, passphrase: bytes | None, *, kdf_rounds: int = 24
) -> PublicKey:
    """Makes an ed25519 key: ``path`` (mode 0600) and ``PATH.pub``; returns the public half.

    Both files are whole and durable on return; a missing folder is made with mode
    0700. ``passphrase`` None leaves the key unencrypted. Raises ``Conflict("exists")``
    if either file is there already, ``UsageError("invalid_value")`` for an empty
    passphrase or a comment of more than one line, and ``Storage``.
    """
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    if passphrase == b"":
        raise UsageError("invalid_value", "the passphrase is empty", field="passphrase")
    if comment:
        check_line(comment, "comment", limit=100)
    beside = Path(f"{path}.pub")
    for existing in (path, beside):
        if os.path.lexists(existing):
            _exists(existing)
    key = Ed25519PrivateKey.generate()
    content = _encode(key, passphrase, kdf_rounds)
    public = PublicKey("ssh-ed25519", blob_of(key), comment.strip())
    _write_pair(path, content, beside, f"{public.line}\n".encode())
    return public


def _encode(key: Ed25519PrivateKey, passphrase: bytes | None, kdf_rounds: int) -> bytes:
    from cryptography.hazmat.primitives import serialization

    form = serialization.PrivateFormat.OpenSSH
    protection: serialization.KeySerializationEncryption = serialization.NoEncryption()
    if passphrase is not None:
        protection = form.encryption_builder().kdf_rounds(kdf_rounds).build(passphrase)
    return key.private_bytes(serialization.Encoding.PEM, form, protection)


def _write_pair(path: Path, content: bytes, beside: Path, public: bytes) -> None:
    if not write_new(path, content, 0o600):
        _exists(path)
    try:
        written = write_new(beside, public, 0o644)
    except BaseException:
        path.unlink()
        raise
    if not written:
        path.unlink()
        _exists(beside)


def _exists(path: Path) -> NoReturn:
    raise Conflict(
        "exists",
        f"{safe(str(path))} is there already and is not overwritten",
        next="name another file",
        path=str(path),
    )
