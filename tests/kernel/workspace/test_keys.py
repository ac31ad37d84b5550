"""A key is used in the way it was enrolled, and in no other; each refusal says what helps."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from loopx_kernel.errors import Denied
from loopx_kernel.trust.keys import public_of
from loopx_kernel.workspace import Workspace
from loopx_kernel.workspace.keys import KeyChoice, prospect
from loopx_kernel.workspace.person import config_file, default_key, look_at_key

from tests.agents import FakeAgent, add, real_agent, short_folder
from tests.hardware import ED25519, SoftHardwareKey

PASSPHRASE = "correct horse"


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def made(folder: Path, name: str, passphrase: str = "") -> Path:
    """A key by ``ssh-keygen``."""
    path = folder / name
    rounds = ("-a", "1") if passphrase else ()
    command = ["ssh-keygen", "-q", "-t", "ed25519", *rounds, "-N", passphrase, "-f", str(path)]
    subprocess.run(command, check=True)
    return path


def hardware(folder: Path) -> tuple[SoftHardwareKey, Path]:
    """A hardware key, and its public file."""
    key = SoftHardwareKey(ED25519)
    path = folder / "id_sk.pub"
    path.write_text(f"{key.public.line}\n")
    return key, path


Enrolled = Callable[[str, bool, tuple[bool, bool]], KeyChoice]


@pytest.fixture
def enrolled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stack: ExitStack) -> Enrolled:
    """The choice that a key is which lies there so, is held by an agent or not, and is enrolled
    for that use."""

    def choice(lies: str, held: bool, use: tuple[bool, bool]) -> KeyChoice:
        path = made(tmp_path, "key", PASSPHRASE if lies == "locked" else "")
        if held:
            agent = stack.enter_context(real_agent())
            monkeypatch.setenv("SSH_AUTH_SOCK", str(agent))
            add(agent, path if lies != "locked" else made_bare_copy(tmp_path, path))
        if lies == "exposed":
            path.chmod(0o644)
        if lies == "public":
            path.unlink()
        return prospect(look_at_key(path), "li", unattended=use[0], confirmed=use[1])

    return choice


PLAIN, UNATTENDED, CONFIRMED = (False, False), (True, False), (False, True)


@pytest.mark.parametrize(
    ("lies", "held", "use", "asks", "in_agent"),
    [
        ("locked", False, PLAIN, "passphrase", False),
        ("locked", True, PLAIN, "passphrase", False),
        ("locked", False, UNATTENDED, "passphrase", False),
        ("bare", False, UNATTENDED, None, False),
        ("bare", True, UNATTENDED, None, False),
        ("public", True, UNATTENDED, None, True),
        ("exposed", True, UNATTENDED, None, True),
        ("locked", True, CONFIRMED, "agent", True),
        ("bare", True, CONFIRMED, "agent", True),
        ("public", True, CONFIRMED, "agent", True),
    ],
)
def test_what_signs_and_what_it_asks(
    enrolled: Enrolled,
    *,
    lies: str,
    held: bool,
    use: tuple[bool, bool],
    asks: str | None,
    in_agent: bool,
) -> None:
    choice = enrolled(lies, held, use)
    assert (choice.usable, choice.problem) == (True, None)
    assert (choice.asks, choice.in_agent) == (asks, in_agent)
    assert choice.level == {PLAIN: "passphrase", UNATTENDED: "software"}.get(use, "confirmed")
    assert ("ssh-agent" in choice.place) is in_agent


@pytest.mark.parametrize(
    ("lies", "held", "use", "word", "fix"),
    [
        ("bare", False, PLAIN, "has no passphrase", "ssh-keygen -p -f {key}"),
        ("bare", True, PLAIN, "has no passphrase", "ssh-keygen -p -f {key}"),
        ("public", True, PLAIN, "signs unasked for every program", "name its file: --key PATH"),
        ("public", False, PLAIN, "private half", "ls -l {key}"),
        ("public", False, UNATTENDED, "private half", "ls -l {key}"),
        ("exposed", False, UNATTENDED, "(mode 0644)", "chmod 600 {key}"),
        ("exposed", True, PLAIN, "(mode 0644)", "chmod 600 {key}"),
        ("locked", False, CONFIRMED, "confirmed at each use", "ssh-add -c {key}"),
        ("public", False, CONFIRMED, "confirmed at each use", "ssh-add -c {key}"),
    ],
)
def test_what_does_not_sign_and_what_helps(
    enrolled: Enrolled,
    tmp_path: Path,
    *,
    lies: str,
    held: bool,
    use: tuple[bool, bool],
    word: str,
    fix: str,
) -> None:
    choice = enrolled(lies, held, use)
    assert (choice.usable, choice.code) == (False, "no_key")
    assert word in (choice.problem or "")
    assert choice.fix == fix.format(key=tmp_path / "key")


def made_bare_copy(folder: Path, path: Path) -> Path:
    """The same key without its passphrase, for the agent."""
    copy = folder / "copy"
    copy.write_bytes(path.read_bytes())
    copy.chmod(0o600)
    change = ["ssh-keygen", "-q", "-p", "-P", PASSPHRASE, "-N", "", "-f", str(copy)]
    subprocess.run(change, check=True, capture_output=True)
    return copy


def test_a_hardware_key_signs_in_an_agent_after_a_touch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stack: ExitStack
) -> None:
    key, path = hardware(tmp_path)
    alone = prospect(look_at_key(path), "li", unattended=False, confirmed=False)
    assert (alone.usable, alone.fix) == (False, f"ssh-add {tmp_path / 'id_sk'}")
    agent = stack.enter_context(FakeAgent(key).listening())
    monkeypatch.setenv("SSH_AUTH_SOCK", str(agent))
    held = prospect(look_at_key(path), "li", unattended=False, confirmed=False)
    assert (held.usable, held.asks, held.level) == (True, "touch", "presence")


@pytest.mark.parametrize("use", [UNATTENDED, CONFIRMED])
def test_an_agent_that_does_not_answer_is_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, use: tuple[bool, bool], stack: ExitStack
) -> None:
    path = made(tmp_path, "key")
    path.unlink()
    folder = stack.enter_context(short_folder())
    monkeypatch.setenv("SSH_AUTH_SOCK", str(folder / "gone"))
    choice = prospect(look_at_key(path), "li", unattended=use[0], confirmed=use[1])
    assert (choice.usable, choice.code) == (False, "no_agent")
    assert "ssh-add -l" in (choice.fix or "")
    plain = prospect(look_at_key(path), "li", unattended=False, confirmed=False)
    assert plain.code == "no_key"


def test_a_key_of_another_user_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = made(tmp_path, "key", PASSPHRASE)
    monkeypatch.setattr("os.getuid", lambda: 4242)
    choice = prospect(look_at_key(path), "li", unattended=False, confirmed=False)
    assert not choice.usable
    assert "another user" in (choice.problem or "")


def test_what_is_not_usable_does_not_open(tmp_path: Path) -> None:
    ws, path = _workspace(tmp_path, made(tmp_path, "key"))
    path.chmod(0o644)
    (choice,) = ws.keys.choices(path)
    with pytest.raises(Denied) as refusal:
        ws.keys.unlock(choice, None)
    assert refusal.value.code == "no_key"
    assert refusal.value.next == f"chmod 600 {path}"


def _workspace(folder: Path, path: Path) -> tuple[Workspace, Path]:
    """A workspace whose owner signs unattended with the key at ``path``."""
    ws = Workspace.connect(folder / "work")
    prospected = prospect(look_at_key(path), "li", unattended=True, confirmed=False)
    unsigned = ws.owners.enroll_first("li", public_of(path).line, True)
    ws.append(unsigned, ws.keys.unlock(prospected, None))
    return ws, path


def test_keys_are_looked_for_in_the_documented_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stack: ExitStack
) -> None:
    ws, path = _workspace(tmp_path, made(tmp_path, "key"))
    agent = stack.enter_context(real_agent())
    add(agent, path, made(tmp_path, "stranger"))
    assert ws.keys.choices() == ()

    monkeypatch.setenv("SSH_AUTH_SOCK", str(agent))
    (from_agent,) = ws.keys.choices()
    assert (from_agent.usable, from_agent.path, from_agent.owner) == (True, agent, "li")

    default_key().parent.mkdir(parents=True, exist_ok=True)
    default_key().write_bytes(path.read_bytes())
    default_key().chmod(0o600)
    assert [one.path for one in ws.keys.choices()] == [default_key()]

    config_file().write_text(f"key: {tmp_path / 'stranger'}\n")
    found = [(one.path, one.usable) for one in ws.keys.choices()]
    assert found == [(tmp_path / "stranger", False), (default_key(), True)]

    monkeypatch.setenv("LOOPX_KEY", str(path))
    assert [one.path for one in ws.keys.choices()] == [path]
    named = ws.keys.choices(tmp_path / "stranger.pub")
    assert [(one.usable, one.owner) for one in named] == [(False, None)]


def test_a_configured_key_that_is_gone_is_named(tmp_path: Path) -> None:
    ws, _ = _workspace(tmp_path, made(tmp_path, "key"))
    config_file().parent.mkdir(parents=True, exist_ok=True)
    config_file().write_text(f"key: {tmp_path / 'gone'}\n")
    (choice,) = ws.keys.choices()
    assert not choice.usable
    assert "no such file" in (choice.problem or "")


def test_a_key_in_a_home_that_nobody_knows_is_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ws, _ = _workspace(tmp_path, made(tmp_path, "key"))
    monkeypatch.setenv("LOOPX_KEY", "~nobody-of-that-name/key")
    (choice,) = ws.keys.choices()
    assert "no such file" in (choice.problem or "")


def test_a_plain_agent_key_signs_unattended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stack: ExitStack
) -> None:
    ws, path = _workspace(tmp_path, made(tmp_path, "key"))
    agent = stack.enter_context(real_agent())
    add(agent, path)
    path.unlink()
    monkeypatch.setenv("SSH_AUTH_SOCK", str(agent))
    (choice,) = ws.keys.choices(Path(f"{path}.pub"))
    assert choice.asks is None
    signature = ws.keys.unlock(choice, None).sign(b"x")
    assert signature
