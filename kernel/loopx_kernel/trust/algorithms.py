"""The signature algorithms LoopX knows, by the names SSH gives them.

One table, a row a kind of key: how its public half is read and how a signature
is checked. A new kind (hardware-backed ``sk-`` keys) is a new row.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from loopx_kernel.trust.wire import Malformed, Reader, pack, pack_positive

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurve
    from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes
    from cryptography.hazmat.primitives.hashes import HashAlgorithm

SMALLEST_RSA = 3072
LARGEST_RSA = 16384


@dataclass(frozen=True, slots=True)
class _Scheme:
    algorithms: tuple[str, ...]
    read: Callable[[str, Reader], Any]
    verify: Callable[[Any, str, bytes, bytes], None]


def kind_of(blob: bytes) -> str:
    """The kind that stands in a public key blob; ``Malformed`` if it is none we know."""
    kind = Reader(blob).text()
    if kind.startswith("sk-"):
        raise Malformed("hardware-backed keys are not supported yet")
    if kind not in _SCHEMES:
        raise Malformed("it is of a kind LoopX does not know")
    return kind


def check_key(blob: bytes) -> str:
    """The kind of the public key in ``blob``, whole, of a kind and length we accept.

    ``Malformed`` otherwise.
    """
    _read_key(blob)
    return kind_of(blob)


def check_signature(blob: bytes, algorithm: str, signature: bytes, data: bytes) -> None:
    """Returns if ``signature`` over ``data`` was made with the key in ``blob``; else ``Malformed``.

    ``blob`` is an SSH public key, ``algorithm`` and ``signature`` the two
    fields of an SSH signature.
    """
    from cryptography.exceptions import InvalidSignature

    scheme = _SCHEMES[kind_of(blob)]
    if algorithm not in scheme.algorithms:
        raise Malformed("its algorithm is not one for this key")
    try:
        scheme.verify(_read_key(blob), algorithm, signature, data)
    except InvalidSignature:
        raise Malformed("it does not fit what was signed") from None


def sign_data(key: PrivateKeyTypes, data: bytes) -> tuple[str, bytes]:
    """``data`` signed as OpenSSH does: the algorithm's name and the raw signature."""
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa, utils
    from cryptography.hazmat.primitives.hashes import SHA512

    if isinstance(key, ed25519.Ed25519PrivateKey):
        return "ssh-ed25519", key.sign(data)
    if isinstance(key, rsa.RSAPrivateKey):
        return "rsa-sha2-512", key.sign(data, padding.PKCS1v15(), SHA512())
    if isinstance(key, ec.EllipticCurvePrivateKey):
        name = f"ecdsa-sha2-nistp{key.curve.key_size}"
        pair = utils.decode_dss_signature(key.sign(data, ec.ECDSA(_curve(name)[1])))
        return name, pack(*(pack_positive(number) for number in pair))
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
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicKey

    if f"ecdsa-sha2-{fields.text()}" != kind:
        raise Malformed("its kind and its curve differ")
    point = fields.string()
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


def _verify_ed25519(key: Any, _algorithm: str, signature: bytes, data: bytes) -> None:
    key.verify(signature, data)


def _verify_ecdsa(key: Any, algorithm: str, signature: bytes, data: bytes) -> None:
    from cryptography.hazmat.primitives.asymmetric import ec, utils

    pair = Reader(signature)
    r, s = pair.positive(), pair.positive()
    pair.end()
    key.verify(utils.encode_dss_signature(r, s), data, ec.ECDSA(_curve(algorithm)[1]))


def _verify_rsa(key: Any, algorithm: str, signature: bytes, data: bytes) -> None:
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import padding

    digest = hashes.SHA512() if algorithm == "rsa-sha2-512" else hashes.SHA256()
    key.verify(signature, data, padding.PKCS1v15(), digest)


def _curve(kind: str) -> tuple[EllipticCurve, HashAlgorithm]:
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import ec

    if kind == "ecdsa-sha2-nistp256":
        return ec.SECP256R1(), hashes.SHA256()
    if kind == "ecdsa-sha2-nistp384":
        return ec.SECP384R1(), hashes.SHA384()
    return ec.SECP521R1(), hashes.SHA512()


_SCHEMES = {
    "ssh-ed25519": _Scheme(("ssh-ed25519",), _read_ed25519, _verify_ed25519),
    "ssh-rsa": _Scheme(("rsa-sha2-256", "rsa-sha2-512"), _read_rsa, _verify_rsa),
    **{
        kind: _Scheme((kind,), _read_ecdsa, _verify_ecdsa)
        for kind in ("ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521")
    },
}
