"""The SSH wire format (RFC 4251, section 5): length-prefixed strings and integers."""

from __future__ import annotations

from dataclasses import dataclass

NAMESPACE = "loopx"
"""What SSH signatures are made for here; those made for anything else count for nothing."""


class Malformed(ValueError):
    """Bytes that are not what the format asks for; the message is a short reason."""


@dataclass(slots=True)
class Reader:
    """Reads fields from the front of ``data``; every method raises ``Malformed``."""

    data: bytes

    def take(self, count: int) -> bytes:
        """The next ``count`` bytes."""
        if len(self.data) < count:
            raise Malformed("it is cut short")
        head, self.data = self.data[:count], self.data[count:]
        return head

    def uint32(self) -> int:
        """The next four bytes as a number."""
        return int.from_bytes(self.take(4), "big")

    def string(self) -> bytes:
        """The next length-prefixed byte string."""
        return self.take(self.uint32())

    def text(self) -> str:
        """The next string, which must be printable ASCII (a name)."""
        raw = self.string()
        if not raw.isascii() or not raw.decode("latin-1").isprintable():
            raise Malformed("a name in it is not ASCII")
        return raw.decode("ascii")

    def positive(self) -> int:
        """The next multiple-precision integer, which must be positive and minimal."""
        raw = self.string()
        if not raw or raw[0] & 0x80 or (raw[0] == 0 and (len(raw) == 1 or not raw[1] & 0x80)):
            raise Malformed("a number in it is not written as one")
        return int.from_bytes(raw, "big")

    def end(self) -> None:
        """Nothing may be left."""
        if self.data:
            raise Malformed("bytes follow its end")


def pack(*fields: bytes) -> bytes:
    """The fields as length-prefixed strings, one after the other."""
    return b"".join(len(field).to_bytes(4, "big") + field for field in fields)


def pack_positive(number: int) -> bytes:
    """A positive integer's bytes, to be packed as a string."""
    return number.to_bytes(number.bit_length() // 8 + 1, "big")
