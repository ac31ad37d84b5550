"""ssh-agent: which keys it holds, and having one of them sign (draft-miller-ssh-agent).

An agent is another program, at times on another machine behind a forwarded
socket: it may be gone, hang, or answer anything. Every answer is bounded in bytes
and in time as a whole, and a signature is verified before it is taken for one.
Whether an agent asks its owner before it signs it cannot tell; ``domain.levels``
says what that means.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from pathlib import Path

from loopx_kernel.errors import Denied
from loopx_kernel.text import safe
from loopx_kernel.trust import algorithms
from loopx_kernel.trust.keys import PublicKey
from loopx_kernel.trust.wire import Malformed, Reader, pack
from loopx_kernel.value import Value

LIST_SECONDS = 3.0
SIGN_SECONDS = 30.0
"""How long a person has to touch a hardware key, or to answer an agent that asks."""

_LIST, _KEYS = 11, 12
_SIGN, _SIGNATURE = 13, 14
_REFUSED = 5
_RSA_SHA2_512 = 4
_LARGEST = 256 * 1024


class Agent(Value):
    """The agent that listens at the Unix socket ``path``. Raises ``Denied``: ``no_agent`` where
    none answers in time or as one does, ``agent_refused`` where it does not sign."""

    path: Path
    list_seconds: float = LIST_SECONDS
    sign_seconds: float = SIGN_SECONDS

    def held(self) -> tuple[PublicKey, ...]:
        """The keys it holds of kinds LoopX can use, in its order; none while it is locked."""
        try:
            kind, body = self._ask(bytes([_LIST]), self.list_seconds)
        except TimeoutError:
            raise self._none(f"it did not answer within {self.list_seconds:g} s") from None
        if kind == _REFUSED:
            return ()
        try:
            if kind != _KEYS:
                raise Malformed("it is no list of keys")
            return tuple(_listed(body))
        except Malformed as fault:
            raise self._none(f"what it answered makes no sense: {fault}") from None

    def sign(self, key: PublicKey, data: bytes) -> bytes:
        """The SSH signature over ``data``, verified; RSA over SHA-512. The agent may ask its
        owner first, or for a touch."""
        flags = _RSA_SHA2_512 if key.kind == "ssh-rsa" else 0
        request = bytes([_SIGN]) + pack(key.blob, data) + flags.to_bytes(4, "big")
        try:
            kind, body = self._ask(request, self.sign_seconds)
        except TimeoutError:
            raise _refused(
                key, f"nobody confirmed or touched it within {self.sign_seconds:g} s"
            ) from None
        if kind == _REFUSED:
            raise _refused(key, "it was declined there, not touched, or the agent is locked")
        try:
            if kind != _SIGNATURE:
                raise Malformed("it is no signature")
            reader = Reader(body)
            signature = reader.string()
            reader.end()
            algorithms.check_signature(key.blob, algorithms.read_signature(signature), data)
        except Malformed as fault:
            raise self._none(f"the signature it gave is refused: {fault}") from None
        return signature

    def _ask(self, request: bytes, seconds: float) -> tuple[int, bytes]:
        """Its answer as type and content. Raises ``TimeoutError``."""
        deadline = time.monotonic() + seconds
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as link:
                link.settimeout(seconds)
                link.connect(str(self.path))
                link.sendall(pack(request))
                length = int.from_bytes(_receive(link, 4, deadline), "big")
                if not 1 <= length <= _LARGEST:
                    raise self._none(f"its answer would have {length} bytes")
                answer = _receive(link, length, deadline)
        except TimeoutError:
            raise
        except EOFError:
            raise self._none("it hung up") from None
        except (OSError, ValueError) as fault:
            told = fault.strerror if isinstance(fault, OSError) else None
            raise self._none((told or "its name cannot be used").lower()) from None
        return answer[0], answer[1:]

    def _none(self, reason: str) -> Denied:
        return Denied(
            "no_agent",
            f"no ssh-agent that works at {safe(str(self.path))} (SSH_AUTH_SOCK): {reason}",
            next="ssh-add -l shows whether yours answers; or name a key file with --key PATH",
            path=str(self.path),
            reason=reason,
        )


class AgentKey(Value):
    """A key that an agent holds. ``given`` are data it signed already, and the signature."""

    agent: Agent
    public: PublicKey
    given: tuple[bytes, bytes] | None = None

    def ask(self, data: bytes) -> AgentKey:
        """The same key once the agent signed ``data``; see ``Agent.sign``. A person is waited
        for here, and where the signature is used nobody is."""
        return AgentKey(self.agent, self.public, (data, self.agent.sign(self.public, data)))

    def sign(self, data: bytes) -> bytes:
        """The SSH signature over ``data``, asked for unless it was given already."""
        if self.given is not None and self.given[0] == data:
            return self.given[1]
        return self.agent.sign(self.public, data)


def _listed(body: bytes) -> Iterator[PublicKey]:
    reader = Reader(body)
    for _ in range(reader.uint32()):
        blob, comment = reader.string(), reader.string()
        try:
            kind = algorithms.check_key(blob)
        except Malformed:
            continue  # a certificate, or a kind LoopX does not use
        yield PublicKey(kind, blob, comment.decode("utf-8", "replace"))
    reader.end()


def _receive(link: socket.socket, count: int, deadline: float) -> bytes:
    data = b""
    while len(data) < count:
        left = deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        link.settimeout(left)
        part = link.recv(count - len(data))
        if not part:
            raise EOFError
        data += part
    return data


def _refused(key: PublicKey, reason: str) -> Denied:
    return Denied(
        "agent_refused",
        f"ssh-agent did not sign with {key.fingerprint}: {reason}; nothing was recorded",
        next="send the same command again, and answer or touch when you are asked",
        fingerprint=key.fingerprint,
        reason=reason,
    )
