"""The signature algorithms LoopX knows, by the names SSH gives them.

One table, a row a kind of key: how its public half is read and how a signature
is checked. The ``sk-`` kinds are hardware keys (FIDO): each of their signatures
is also over what the key saw, that somebody touched it and that it checked a PIN
or a finger.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from loopx_kernel.trust.wire import Malformed, Reader, pack, pack_positive
from loopx_kernel.value import Value

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurve
    from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes
    from cryptography.hazmat.primitives.hashes import HashAlgorithm

SMALLEST_RSA = 3072
LARGEST_RSA = 16384

_TOUCHED, _VERIFIED = 0x01, 0x04


class RawSignature(Value):
    """The fields of one SSH signature. ``flags`` and ``counter`` are those of a hardware key,
    ``None`` for any other; they are part of what was signed."""

    algorithm: str
    raw: bytes
    flags: int | None = None
    counter: int | None = None

    @property
    def touched(self) -> bool:
        """Whether a hardware key says that somebody touched it for this signature."""
        return bool((self.flags or 0) & _TOUCHED)

    @property
    def verified(self) -> bool:
        """Whether it says that it was somebody who knew its PIN, or whose finger it knows."""
        return bool((self.flags or 0) & _VERIFIED)


class _Scheme(Value):
    algorithms: tuple[str, ...]
    read: Callable[[str, Reader], Any]
    verify: Callable[[Any, RawSignature, bytes], None]


def is_hardware(kind: str) -> bool:
    """Whether keys of this kind are hardware keys."""
    return kind.startswith("sk-")


def kind_of(blob: bytes) -> str:
    """The kind that stands in a public key blob; ``Malformed`` if it is none we know."""
    kind = Reader(blob).text()
    if kind not in _SCHEMES:
        raise Malformed("it is of a kind LoopX does not know")
    return kind


def check_key(blob: bytes) -> str:
    """The kind of the public key in ``blob``, whole, of a kind and length we accept.

    ``Malformed`` otherwise.
    """
    _read_key(blob)
    return kind_of(blob)


def read_signature(blob: bytes) -> RawSignature:
    """The fields of an SSH signature, all of them; ``Malformed`` for anything else."""
    reader = Reader(blob)
    algorithm, raw = reader.text(), reader.string()
    signature = RawSignature(algorithm, raw)
    if is_hardware(algorithm):
        signature = RawSignature(algorithm, raw, reader.take(1)[0], reader.uint32())
    reader.end()
    return signature


def check_signature(blob: bytes, signature: RawSignature, data: bytes) -> None:
    """Returns if ``signature`` over ``data`` was made with the SSH public key in ``blob``;
    else ``Malformed``. Says nothing of the flags of a hardware key but that it set them."""
    from cryptography.exceptions import InvalidSignature

    scheme = _SCHEMES[kind_of(blob)]
    if signature.algorithm not in scheme.algorithms:
        raise Malformed("its algorithm is not one for this key")
    try:
        scheme.verify(_read_key(blob), signature, data)
    except InvalidSignature:
        raise Malformed("it does not fit what was signed") from None


def sign_data(key: PrivateKeyTypes, data: bytes) -> bytes:
    """``data`` signed as OpenSSH does: the SSH signature, with RSA over SHA-512."""
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa, utils
    from cryptography.hazmat.primitives.hashes import SHA512

    if isinstance(key, ed25519.Ed25519PrivateKey):
        return pack(b"ssh-ed25519", key.sign(data))
    if isinstance(key, rsa.RSAPrivateKey):
        return pack(b"rsa-sha2-512", key.sign(data, padding.PKCS1v15(), SHA512()))
    if isinstance(key, ec.EllipticCurvePrivateKey):
        name = f"ecdsa-sha2-nistp{key.curve.key_size}"
        pair = utils.decode_dss_signature(key.sign(data, ec.ECDSA(_curve(name)[1])))
        return pack(name.encode(), pack(*(pack_positive(number) for number in pair)))
    raise AssertionError(f"a {type(key).__name__} is refused when it is loaded")


def _read_key(blob: bytes) -> Any:
    kind = kind_of(blob)
    fields = Reader(blob)
    fields.string()
    key = _SCHEMES[kind].read(kind, fields)
    fields.end()
    return key


def _read_ed25519(_kind: str, fields: Reader) -> Any:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    point = fields.string()
    if len(point) != 32:
        raise Malformed("the key in it has the wrong length")
    return Ed25519PublicKey.from_public_bytes(point)


def _read_ecdsa(kind: str, fields: Reader) -> Any:
    if f"ecdsa-sha2-{fields.text()}" != kind:
        raise Malformed("its kind and its curve differ")
    return _read_point(kind, fields.string())


def _read_point(kind: str, point: bytes) -> Any:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicKey

    if not point.startswith(b"\x04"):
        raise Malformed("the key in it is not written as one")
    try:
        return EllipticCurvePublicKey.from_encoded_point(_curve(kind)[0], point)
    except ValueError:
        raise Malformed("the key in it is not on its curve") from None


def _read_rsa(_kind: str, fields: Reader) -> Any:
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicNumbers

    exponent, modulus = fields.positive(), fields.positive()
    if not SMALLEST_RSA <= modulus.bit_length() <= LARGEST_RSA:
        raise Malformed(f"an RSA key must have {SMALLEST_RSA} to {LARGEST_RSA} bits")
    # OpenSSL lets huge exponents cost minutes.
    if exponent.bit_length() > 64:
        raise Malformed("the RSA key in it is not usable")
    try:
        return RSAPublicNumbers(exponent, modulus).public_key()
    except ValueError:
        raise Malformed("the RSA key in it is not usable") from None


def _read_sk_ed25519(kind: str, fields: Reader) -> Any:
    return _read_ed25519(kind, fields), _application(fields)


def _read_sk_ecdsa(_kind: str, fields: Reader) -> Any:
    if fields.text() != "nistp256":
        raise Malformed("its kind and its curve differ")
    return _read_point(_SK_CURVE, fields.string()), _application(fields)


def _application(fields: Reader) -> bytes:
    application = fields.string()
    # A credential of another application, a web site's for one, is no key for SSH.
    if not application.startswith(b"ssh:"):
        raise Malformed("the hardware key in it was not made for SSH")
    return application


def _verify_ed25519(key: Any, signature: RawSignature, data: bytes) -> None:
    key.verify(signature.raw, data)


def _verify_ecdsa(key: Any, signature: RawSignature, data: bytes) -> None:
    _verify_pair(key, signature.algorithm, signature.raw, data)


def _verify_pair(key: Any, curve: str, raw: bytes, data: bytes) -> None:
    from cryptography.hazmat.primitives.asymmetric import ec, utils

    pair = Reader(raw)
    r, s = pair.positive(), pair.positive()
    pair.end()
    key.verify(utils.encode_dss_signature(r, s), data, ec.ECDSA(_curve(curve)[1]))


def _verify_rsa(key: Any, signature: RawSignature, data: bytes) -> None:
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import padding

    digest = hashes.SHA512() if signature.algorithm == "rsa-sha2-512" else hashes.SHA256()
    key.verify(signature.raw, data, padding.PKCS1v15(), digest)


def _verify_sk_ed25519(key: Any, signature: RawSignature, data: bytes) -> None:
    public, application = key
    public.verify(signature.raw, _what_the_key_signs(application, signature, data))


def _verify_sk_ecdsa(key: Any, signature: RawSignature, data: bytes) -> None:
    public, application = key
    seen = _what_the_key_signs(application, signature, data)
    _verify_pair(public, _SK_CURVE, signature.raw, seen)


def _what_the_key_signs(application: bytes, signature: RawSignature, data: bytes) -> bytes:
    """FIDO's own frame around the digest of ``data``, as OpenSSH's PROTOCOL.u2f gives it."""
    assert signature.flags is not None and signature.counter is not None
    seen = bytes([signature.flags]) + signature.counter.to_bytes(4, "big")
    return hashlib.sha256(application).digest() + seen + hashlib.sha256(data).digest()


def _curve(kind: str) -> tuple[EllipticCurve, HashAlgorithm]:
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import ec

    if kind == "ecdsa-sha2-nistp256":
        return ec.SECP256R1(), hashes.SHA256()
    if kind == "ecdsa-sha2-nistp384":
        return ec.SECP384R1(), hashes.SHA384()
    return ec.SECP521R1(), hashes.SHA512()


_SK_CURVE = "ecdsa-sha2-nistp256"

_SCHEMES = {
    "ssh-ed25519": _Scheme(("ssh-ed25519",), _read_ed25519, _verify_ed25519),
    "ssh-rsa": _Scheme(("rsa-sha2-256", "rsa-sha2-512"), _read_rsa, _verify_rsa),
    **{
        kind: _Scheme((kind,), _read_ecdsa, _verify_ecdsa)
        for kind in ("ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521")
    },
    "sk-ssh-ed25519@openssh.com": _Scheme(
        ("sk-ssh-ed25519@openssh.com",), _read_sk_ed25519, _verify_sk_ed25519
    ),
    "sk-ecdsa-sha2-nistp256@openssh.com": _Scheme(
        ("sk-ecdsa-sha2-nistp256@openssh.com",), _read_sk_ecdsa, _verify_sk_ecdsa
    ),
}
