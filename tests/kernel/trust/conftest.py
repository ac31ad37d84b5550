"""Keys made by the real ``ssh-keygen``, once for all tests here."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

PASSPHRASE = b"correct horse"
_KINDS = {
    "ed25519": ("-t", "ed25519"),
    "ecdsa256": ("-t", "ecdsa", "-b", "256"),
    "ecdsa384": ("-t", "ecdsa", "-b", "384"),
    "ecdsa521": ("-t", "ecdsa", "-b", "521"),
    "rsa3072": ("-t", "rsa", "-b", "3072"),
    "rsa2048": ("-t", "rsa", "-b", "2048"),
}


def keygen(*arguments: str | Path, message: bytes = b"") -> bytes:
    """Runs ``ssh-keygen`` with ``message`` as its input; its output, or a failed test."""
    done = subprocess.run(
        ["ssh-keygen", *map(str, arguments)], input=message, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


def their_signature(key: Path, message: bytes, *, namespace: str = "loopx", hash: str = "") -> str:
    """What ``ssh-keygen -Y sign`` makes of ``message``."""
    chosen = ("-O", f"hashalg={hash}") if hash else ()
    return keygen("-Y", "sign", "-q", "-n", namespace, *chosen, "-f", key, message=message).decode()


@pytest.fixture(scope="session")
def keys(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """One key file a kind without passphrase, and ``locked``: ed25519 with ``PASSPHRASE``."""
    folder = tmp_path_factory.mktemp("keys")
    for name, options in _KINDS.items():
        keygen("-q", *options, "-N", "", "-C", f"{name}@test", "-f", folder / name)
    rounds = ("-a", "1", "-N", PASSPHRASE.decode())
    keygen("-q", "-t", "ed25519", *rounds, "-C", "locked@test", "-f", folder / "locked")
    return {name: folder / name for name in [*_KINDS, "locked"]}
