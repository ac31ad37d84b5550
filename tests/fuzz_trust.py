"""What must hold of the parsers of keys and signatures for any bytes whatever.

The tests run these on what hypothesis makes of good samples. `make fuzz` runs them under
atheris, which looks for what takes other branches, until it is stopped.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from loopx_kernel.errors import Denied, UsageError
from loopx_kernel.trust.keys import look, parse_public_line, public_of
from loopx_kernel.trust.new_key import generate
from loopx_kernel.trust.owners import make_owner, parse_owners, render_line
from loopx_kernel.trust.sshsig import parse, sign, verify
from loopx_kernel.trust.verify import EnrolledKey, judge

MESSAGE = b"what is signed"


def signature(data: bytes) -> None:
    """It is refused, or it is the one way to write what it says; and only the right one holds."""
    text = data.decode("latin-1")
    try:
        found = parse(text)
    except Denied as refusal:
        assert refusal.code == "bad_signature"
        return
    body = "".join(text.replace("\r\n", "\n").rstrip("\n").split("\n")[1:-1])
    assert body.isascii() and len(body) % 4 == 0
    assert (found.fields.flags is None) == (not found.fields.algorithm.startswith("sk-"))
    verdict = judge(MESSAGE, text, [EnrolledKey("x", "ssh-ed25519 AAAA", "SHA256:x")])
    assert not verdict.ok


def owners(data: bytes) -> None:
    """Every line is an owner who is written again as the same, or is named as none."""
    found, bad = parse_owners(data)
    written = "\n".join(map(render_line, found)).encode()
    assert parse_owners(written) == (found, [])
    assert all(line.line >= 1 and line.reason for line in bad)


def public_line(data: bytes) -> None:
    """It is a public key that is written again as the same, or none."""
    try:
        key = parse_public_line(data.decode("latin-1"))
    except UsageError as refusal:
        assert refusal.code == "invalid_value"
        return
    again = parse_public_line(key.line)
    assert (again.kind, again.blob) == (key.kind, key.blob)


def key_file(data: bytes) -> None:
    """It is a key file, or none that can be used."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(data)
        file.flush()
        try:
            assert look(Path(file.name)).public.fingerprint.startswith("SHA256:")
        except Denied as refusal:
            assert refusal.code == "no_key"


TARGETS: dict[str, Callable[[bytes], None]] = {
    one.__name__: one for one in (signature, owners, public_line, key_file)
}


def samples(folder: Path) -> dict[str, list[bytes]]:
    """Good inputs of each target, to begin with."""
    from loopx_kernel.trust.keys import load_private

    from tests.hardware import ECDSA, ED25519, SoftHardwareKey

    path = folder / "key"
    generate(path, "fuzz@test", None)
    signers = [load_private(path, None), SoftHardwareKey(ED25519), SoftHardwareKey(ECDSA)]
    signatures = [sign(MESSAGE, signer) for signer in signers]
    assert all(verify(MESSAGE, one) for one in signatures)
    people = [make_owner("ada", one.public, confirmed=True) for one in signers]
    return {
        "signature": [one.encode() for one in signatures],
        "owners": ["\n".join(map(render_line, people)).encode(), b"# none\r\n\r\n"],
        "public_line": [one.public.line.encode() for one in signers],
        "key_file": [path.read_bytes(), public_of(path).line.encode()],
    }


def main() -> None:
    """`fuzz_trust.py TARGET [options of libFuzzer, such as -max_total_time=60]`."""
    import atheris  # type: ignore[import-not-found,unused-ignore]

    name = sys.argv.pop(1) if len(sys.argv) > 1 and sys.argv[1] in TARGETS else "signature"
    # Imported once more, so that atheris sees which branches of the parsers are taken.
    for module in [one for one in sys.modules if one.startswith("loopx_kernel.trust")]:
        del sys.modules[module]
    with atheris.instrument_imports(include=["loopx_kernel.trust"]):
        from tests import fuzz_trust as seen
    with tempfile.TemporaryDirectory() as folder:
        corpus = Path(folder) / "corpus"
        corpus.mkdir()
        for number, sample in enumerate(seen.samples(Path(folder))[name]):
            (corpus / str(number)).write_bytes(sample)
        atheris.Setup([*sys.argv, str(corpus)], seen.TARGETS[name])
        atheris.Fuzz()


if __name__ == "__main__":
    main()
