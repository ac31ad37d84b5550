"""The person at this machine: their own configuration folder and the keys in it.

Nothing here needs a workspace, and nothing of it is an authority: a key counts
only where it is enrolled.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from loopx_kernel.errors import Denied, LoopxError, Storage, UsageError
from loopx_kernel.value import Value

KEY_NAME = "loopx_ed25519"
_KINDS = ("ssh-", "ecdsa-", "sk-")
_NAME_IT = "name the .pub file of a key: --public-key FILE"


class KeyFile(Value):
    """A key file as it lies there. ``problem`` is a sentence: why it cannot be read, or,
    where there is a ``fingerprint``, what is wrong with who may read it. ``opens`` says that
    its private half lies there and can be opened here."""

    path: Path
    fingerprint: str = ""
    public_line: str = ""
    opens: bool = False
    needs_passphrase: bool = False
    problem: str | None = None


def look_at_key(path: Path) -> KeyFile:
    """What can be told of a key file without its passphrase; never raises for its content."""
    from loopx_kernel.trust.keys import look, permissions_problem

    try:
        found = look(path)
        exposed = permissions_problem(path) if found.opens else None
        return KeyFile(
            path,
            found.public.fingerprint,
            found.public.line,
            found.opens,
            found.encrypted,
            exposed and f"{path}: {exposed}",
        )
    except LoopxError as error:
        return KeyFile(path, problem=error.message)


def public_key(named: str) -> KeyFile:
    """The public key that is ``named``: by the path of its file, or by the whole line in it.

    Raises ``invalid_value`` for what is neither, or a key LoopX cannot use.
    """
    words = named.split()
    if len(words) > 1 and words[0].startswith(_KINDS):
        return _public(Path(), named)
    return public_key_in(at_home(named.strip()))


def public_key_in(path: Path) -> KeyFile:
    """The key in a public key file, its first line; raises as ``public_key``."""
    from loopx_kernel.trust.key_files import read_key_file

    try:
        text = read_key_file(path).decode("utf-8")
    except Denied as error:
        raise _no_public_key(path, str(error.facts["reason"])) from None
    except UnicodeDecodeError:
        raise _no_public_key(path, "it is not text") from None
    return _public(path, next((line for line in text.splitlines() if line.strip()), ""))


def _public(path: Path, line: str) -> KeyFile:
    from loopx_kernel.trust.keys import parse_public_line

    try:
        key = parse_public_line(line)
    except UsageError as error:
        error.next = _NAME_IT
        raise
    return KeyFile(path, key.fingerprint, key.line)


def _no_public_key(path: Path, why: str) -> UsageError:
    return UsageError(
        "invalid_value",
        f"{path} cannot be read as a public key: {why}",
        next=_NAME_IT,
        path=str(path),
    )


def generate_key(path: Path, comment: str, passphrase: bytes | None) -> KeyFile:
    """Makes an ed25519 key file, durable on return; ``exists`` if one is there."""
    from loopx_kernel.trust.new_key import generate

    generate(path, comment, passphrase)
    return look_at_key(path)


def at_home(named: str) -> Path:
    """The path that a person wrote; ``~`` and ``~user`` stay as they are where nobody knows
    that home."""
    return Path(os.path.expanduser(named))  # noqa: PTH111 - that of pathlib raises there


def config_folder() -> Path:
    """The person's own configuration folder."""
    from platformdirs import user_config_path

    return user_config_path("loopx")


def config_file() -> Path:
    """The person's own configuration."""
    return config_folder() / "config.yaml"


def default_key() -> Path:
    """Where ``connect --new-key`` puts LoopX's own key."""
    return config_folder() / KEY_NAME


def is_named(explicit: Path | None) -> bool:
    """Whether one key is named for this command or shell, so that no other is looked for."""
    return explicit is not None or bool(os.environ.get("LOOPX_KEY"))


def candidate_keys(explicit: Path | None) -> list[Path]:
    """The key named, else ``$LOOPX_KEY``, else the configured key and LoopX's own."""
    if explicit is not None:
        return [explicit]
    if named := os.environ.get("LOOPX_KEY"):
        return [at_home(named)]
    named = read_config().get("key")
    configured = [at_home(named)] if isinstance(named, str) else []
    own = [default_key()] if default_key().exists() else []
    return list(dict.fromkeys([*configured, *own]))


def remember_key(path: Path) -> bool:
    """Notes a key in the person's configuration unless one is noted there already.

    Keeps every other line of the file; durable on return. Tells whether it was noted.
    """
    from io import StringIO

    from ruamel.yaml import YAML

    from loopx_kernel.store.disk import atomic_write, make_folder
    from loopx_kernel.store.files import Files

    if path == default_key() or read_config().get("key") is not None:
        return False
    files, place = Files(), config_file()
    yaml = YAML()
    yaml.width = 2**16  # a long path stays on its line
    values: Any = yaml.load(place) if place.exists() else None
    values = values if isinstance(values, dict) else {}
    values["key"] = str(path.absolute())
    text = StringIO()
    yaml.dump(values, text)
    make_folder(place.parent, files=files, mode=0o700)
    atomic_write(place, text.getvalue().encode(), files=files)
    return True


def read_config() -> dict[str, Any]:
    """The person's own configuration; empty without one.

    Raises ``permission`` where it cannot be opened and ``invalid_value`` where it is not YAML
    or has no names: such a file is never taken for an empty one.
    """
    place = config_file()
    if not place.exists():
        return {}
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    try:
        values = YAML(typ="safe").load(place)
    except OSError as error:
        raise Storage(
            "permission", f"{place}: {error.strerror}", next=f"ls -l {place}", path=str(place)
        ) from None
    except (YAMLError, ValueError, RecursionError):
        raise _unreadable(place, "is not YAML that can be read") from None
    if values is not None and not isinstance(values, dict):
        raise _unreadable(place, "does not consist of names with values")
    return values or {}


def _unreadable(place: Path, what: str) -> UsageError:
    return UsageError(
        "invalid_value",
        f"{place} {what}",
        next=f"mend {place}, or name the key with --key PATH",
        path=str(place),
    )
