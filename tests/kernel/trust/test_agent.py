"""ssh-agent: the real one signs as the files do, and no agent, whatever it answers, harms."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from loopx_kernel.errors import Denied
from loopx_kernel.trust.agent import Agent, AgentKey
from loopx_kernel.trust.algorithms import read_signature
from loopx_kernel.trust.keys import load_private, public_of
from loopx_kernel.trust.sshsig import sign, verify
from loopx_kernel.trust.wire import pack

from tests.agents import (
    FAILURE,
    KEYS,
    LIST,
    SIGNATURE,
    Askpass,
    FakeAgent,
    add,
    framed,
    real_agent,
    short_folder,
)
from tests.hardware import ECDSA, ED25519, UNTOUCHED, SoftHardwareKey

from .conftest import keygen, their_signature

DATA = b"what is signed"
KINDS = ["ed25519", "ecdsa256", "ecdsa384", "ecdsa521", "rsa3072"]


@pytest.fixture(scope="module")
def real(keys: dict[str, Path]) -> Iterator[Path]:
    with real_agent() as path:
        add(path, *(keys[kind] for kind in KINDS), keys["rsa2048"])
        yield path


def _refusal(agent: Agent, key: object = None) -> Denied:
    with pytest.raises(Denied) as refusal:
        agent.held() if key is None else agent.sign(key, DATA)  # type: ignore[arg-type]
    assert refusal.value.next
    return refusal.value


def test_its_keys_are_listed_but_those_too_weak(real: Path, keys: dict[str, Path]) -> None:
    assert Agent(real).held() == tuple(public_of(keys[kind]) for kind in KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_it_signs_as_the_file_does(real: Path, keys: dict[str, Path], kind: str) -> None:
    armored = sign(DATA, AgentKey(Agent(real), public_of(keys[kind])))
    signature = verify(DATA, armored)
    assert signature.public_key == public_of(keys[kind]).blob
    if not kind.startswith("ecdsa"):
        assert armored == their_signature(keys[kind], DATA)
    if kind == "rsa3072":
        assert signature.fields.algorithm == "rsa-sha2-512"


def test_a_key_it_does_not_hold_is_refused(real: Path, keys: dict[str, Path]) -> None:
    refusal = _refusal(Agent(real), public_of(keys["locked"]))
    assert refusal.code == "agent_refused"
    assert refusal.facts["fingerprint"] == public_of(keys["locked"]).fingerprint


def test_a_locked_agent_shows_nothing_and_signs_nothing(keys: dict[str, Path]) -> None:
    key = public_of(keys["ed25519"])
    lock, unlock = (bytes([number]) + pack(b"secret") for number in (22, 23))
    with real_agent() as path:
        add(path, keys["ed25519"])
        for request in (lock, unlock, lock):
            with socket.socket(socket.AF_UNIX) as link:
                link.connect(str(path))
                link.sendall(pack(request))
                assert link.recv(5)[-1:] == b"\6"
        assert Agent(path).held() == ()
        assert _refusal(Agent(path), key).code == "agent_refused"


def test_an_agent_that_asks_signs_only_after_a_yes(keys: dict[str, Path], tmp_path: Path) -> None:
    askpass, key = Askpass(tmp_path), public_of(keys["ed25519"])
    with real_agent(askpass.path) as path:
        add(path, "-c", keys["ed25519"])
        refusal = _refusal(Agent(path), key)
        askpass.answers(True)
        signed = Agent(path).sign(key, DATA)
    assert refusal.code == "agent_refused"
    assert "nothing was recorded" in refusal.message
    assert read_signature(signed).algorithm == "ssh-ed25519"
    assert len(askpass.asked) == 2


def test_a_certificate_in_it_is_passed_over(keys: dict[str, Path], tmp_path: Path) -> None:
    key = tmp_path / "key"
    key.write_bytes(keys["ed25519"].read_bytes())
    key.chmod(0o600)
    (tmp_path / "key.pub").write_bytes(Path(f"{keys['ed25519']}.pub").read_bytes())
    keygen("-q", "-s", keys["ecdsa256"], "-I", "me", tmp_path / "key.pub")
    with real_agent() as path:
        add(path, key)
        assert [one.blob for one in Agent(path).held()] == [public_of(key).blob]


@pytest.mark.parametrize("kind", [ED25519, ECDSA])
def test_a_hardware_key_signs_through_it(kind: str) -> None:
    key = SoftHardwareKey(kind)
    with FakeAgent(key).listening() as path:
        (listed,) = Agent(path).held()
        assert listed == key.public
        assert verify(DATA, sign(DATA, AgentKey(Agent(path), listed))).fields.touched


def test_an_untouched_signature_is_passed_on_for_the_verdict() -> None:
    key = SoftHardwareKey(ED25519, flags=UNTOUCHED)
    with FakeAgent(key).listening() as path:
        assert not read_signature(Agent(path).sign(key.public, DATA)).touched


def test_no_agent_is_there(tmp_path: Path) -> None:
    plain = tmp_path / "file"
    plain.touch()
    with short_folder() as folder:
        dead = folder / "dead"
        with socket.socket(socket.AF_UNIX) as gone:
            gone.bind(str(dead))
        nowhere = [
            (folder / "none", "no such file"),
            (dead, "refused"),
            (plain, "refused"),
            (folder / ("x" * 200), "name cannot be used"),
        ]
        for path, word in nowhere:
            refusal = _refusal(Agent(path))
            assert refusal.code == "no_agent"
            assert word in refusal.facts["reason"]
            assert refusal.facts["path"] == str(path)


@pytest.mark.parametrize(
    "answer",
    [
        None,
        b"",
        b"\0\0\0\0",
        b"\xff\xff\xff\xff" + b"x" * 100,
        b"\0\4\0\1" + b"x" * 100,
        b"\0\0\0\x09" + bytes([KEYS]),
        framed(b"\x63"),
        framed(bytes([KEYS])),
        framed(bytes([KEYS]) + b"\xff\xff\xff\xff"),
        framed(bytes([KEYS]) + b"\0\0\0\1" + b"\xff\xff\xff\xff"),
        framed(bytes([KEYS]) + b"\0\0\0\0tail"),
        framed(bytes([SIGNATURE]) + pack(b"x")),
    ],
)
def test_an_answer_that_is_none_is_no_agent(answer: bytes | None, keys: dict[str, Path]) -> None:
    with FakeAgent(answer=lambda _: answer).listening() as path:
        assert _refusal(Agent(path)).code == "no_agent"
        assert _refusal(Agent(path), public_of(keys["ed25519"])).code == "no_agent"


@pytest.mark.parametrize("length", [0, 256 * 1024 + 1, 0xFFFFFFFF])
def test_an_answer_of_no_sensible_length_is_not_read(length: int) -> None:
    with FakeAgent(answer=lambda _: length.to_bytes(4, "big") + b"x" * 64).listening() as path:
        assert f"would have {length} bytes" in _refusal(Agent(path)).facts["reason"]


def test_a_signature_that_is_not_right_is_not_taken(keys: dict[str, Path]) -> None:
    key, other = load_private(keys["ed25519"], None), load_private(keys["ecdsa256"], None)
    good = key.sign(DATA)
    wrong = [
        key.sign(DATA + b" "),
        other.sign(DATA),
        good + b"\0",
        good[:-1],
        b"",
        pack(b"ssh-rsa", b"\0" * 64),
    ]
    for signature in wrong:
        answer = framed(bytes([SIGNATURE]) + pack(signature))
        with FakeAgent(answer=lambda _, answer=answer: answer).listening() as path:  # type: ignore[misc]
            refusal = _refusal(Agent(path), key.public)
            assert (refusal.code, "refused" in refusal.facts["reason"]) == ("no_agent", True)


@pytest.mark.parametrize("start", [b"", b"\0\0", b"\0\0\0\x20" + bytes([KEYS])])
def test_an_agent_that_hangs_is_not_waited_for(start: bytes, keys: dict[str, Path]) -> None:
    """However much of an answer it began: the whole of it has the limit."""
    fake = FakeAgent()

    def never(_: bytes) -> bytes | None:
        fake.wait_until_left()
        return None

    fake.answer = never
    if start:
        fake._answer = lambda link: (link.sendall(start), fake.wait_until_left(), link.close())  # type: ignore[method-assign,assignment]
    with fake.listening() as path:
        agent = Agent(path, list_seconds=0.05, sign_seconds=0.05)
        listing, signing = _refusal(agent), _refusal(agent, public_of(keys["ed25519"]))
    assert (listing.code, signing.code) == ("no_agent", "agent_refused")
    assert "within 0.05 s" in listing.facts["reason"]
    assert "touched" in signing.facts["reason"]


def test_one_that_drips_has_no_more_time(keys: dict[str, Path]) -> None:
    """Each byte comes in time, the answer as a whole does not."""
    fake = FakeAgent()

    def drip(link: socket.socket) -> None:
        with link:
            try:
                for _ in range(100_000):
                    link.sendall(b"\0\0\1\0"[:1])
                    fake._stop.wait(0.02)
            except OSError:
                return

    fake._answer = drip  # type: ignore[method-assign]
    with fake.listening() as path:
        agent = Agent(path, list_seconds=0.2, sign_seconds=0.2)
        assert _refusal(agent).code == "no_agent"
        assert _refusal(agent, public_of(keys["ed25519"])).code in ("agent_refused", "no_agent")


@given(st.binary(max_size=200))
@settings(max_examples=60)
def test_whatever_it_answers_is_no_crash(keys: dict[str, Path], noise: bytes) -> None:
    for answer in (noise, framed(noise), framed(bytes([KEYS]) + noise)):
        with FakeAgent(answer=lambda _, answer=answer: answer).listening() as path:  # type: ignore[misc]
            try:
                Agent(path, list_seconds=5).held()
            except Denied as refusal:
                assert refusal.code == "no_agent"


def test_only_what_it_must_is_asked(keys: dict[str, Path]) -> None:
    key = load_private(keys["rsa3072"], None)
    fake = FakeAgent(key)
    with fake.listening() as path:
        Agent(path).held()
        Agent(path).sign(key.public, DATA)
    wanted = pack(key.public.blob, DATA) + (4).to_bytes(4, "big")
    assert fake.requests[:2] == [bytes([LIST]), bytes([13]) + wanted]


def test_a_refusal_is_told_from_silence(keys: dict[str, Path]) -> None:
    with FakeAgent(answer=lambda _: framed(bytes([FAILURE]))).listening() as path:
        assert Agent(path).held() == ()
        assert _refusal(Agent(path), public_of(keys["ed25519"])).code == "agent_refused"


def test_a_socket_of_another_kind_is_no_agent() -> None:
    with short_folder() as folder:
        path = folder / "datagrams"
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as other:
            other.bind(str(path))
            assert _refusal(Agent(path)).code == "no_agent"
