"""A hardware key made in software: it sets its flags as it is told, touched or not."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

from cryptography.hazmat.primitives.asymmetric import ec, ed25519, utils
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from loopx_kernel.trust.keys import PublicKey
from loopx_kernel.trust.wire import pack, pack_positive

UNTOUCHED, TOUCHED, VERIFIED = 0, 1, 5
ED25519, ECDSA = "sk-ssh-ed25519@openssh.com", "sk-ecdsa-sha2-nistp256@openssh.com"


@dataclass
class SoftHardwareKey:
    """Signs as a FIDO key does, with ``flags`` and the next ``counter``."""

    kind: str
    flags: int = TOUCHED
    counter: int = 6
    application: bytes = b"ssh:"

    def __post_init__(self) -> None:
        is_ed25519 = self.kind == ED25519
        self._key: Any = (
            ed25519.Ed25519PrivateKey.generate()
            if is_ed25519
            else ec.generate_private_key(ec.SECP256R1())
        )
        form = (
            (Encoding.Raw, PublicFormat.Raw)
            if is_ed25519
            else (Encoding.X962, PublicFormat.UncompressedPoint)
        )
        point = self._key.public_key().public_bytes(*form)
        curve = () if is_ed25519 else (b"nistp256",)
        blob = pack(self.kind.encode(), *curve, point, self.application)
        self.public = PublicKey(self.kind, blob, "soft@test")

    def sign(self, data: bytes) -> bytes:
        """The SSH signature over ``data``."""
        self.counter += 1
        seen = bytes([self.flags]) + self.counter.to_bytes(4, "big")
        application = hashlib.sha256(self.application).digest()
        signed = application + seen + hashlib.sha256(data).digest()
        return pack(self.kind.encode(), self._raw(signed)) + seen

    def _raw(self, data: bytes) -> bytes:
        if self.kind == ED25519:
            return bytes(self._key.sign(data))
        numbers = utils.decode_dss_signature(self._key.sign(data, ec.ECDSA(SHA256())))
        return pack(*(pack_positive(number) for number in numbers))
