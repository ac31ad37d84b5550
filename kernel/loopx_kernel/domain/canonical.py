"""The one byte form of a JSON value: RFC 8785, what is hashed and signed."""

from __future__ import annotations

import hashlib

from loopx_kernel.errors import UsageError

_LARGEST = 2**53 - 1
_DEEPEST = 64


def canonical(value: object) -> bytes:
    """The RFC 8785 bytes of a JSON value: dict, list or tuple, str, int, bool, ``None``.

    Fractions are refused, so that no reader has to agree with another on how a
    float is written. Raises ``UsageError("invalid_event")`` for floats, integers
    beyond 2**53 - 1, lone surrogates, keys that are not text, nesting deeper
    than 64 levels and any other type.
    """
    import rfc8785

    _check(value, 0)
    try:
        return rfc8785.dumps(value)  # type: ignore[arg-type]  # checked above
    except ValueError:
        raise _refused("it holds text that is not Unicode") from None


def digest(value: object) -> str:
    """SHA-256 over ``canonical(value)``, 64 lower-case hex digits; same errors."""
    return hashlib.sha256(canonical(value)).hexdigest()


def _check(value: object, depth: int) -> None:
    if depth > _DEEPEST:
        raise _refused(f"it is nested deeper than {_DEEPEST} levels")
    if value is None or isinstance(value, str | bool):
        return
    if isinstance(value, int):
        if abs(value) > _LARGEST:
            raise _refused("a number is larger than 2**53 - 1")
    elif isinstance(value, list | tuple):
        for item in value:
            _check(item, depth + 1)
    elif isinstance(value, dict):
        for key, item in value.items():
            if not isinstance(key, str):
                raise _refused("a key is not text")
            _check(item, depth + 1)
    elif isinstance(value, float):
        raise _refused("numbers are integers; write a fraction as text")
    else:
        raise _refused(f"{type(value).__name__} is not a JSON type")


def _refused(reason: str) -> UsageError:
    return UsageError("invalid_event", f"this content cannot be signed: {reason}", reason=reason)
