"""What a signature costs: made, verified, and judged against the owners, for every kind of key."""

from __future__ import annotations

import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from bench.results import Results

ROUNDS = 200
STATEMENT = b'{"event_id":"01M2P60ZG0E3NTPJTPNC9Z44XS","payload":{"gate_id":"G1"}}' * 10
KINDS = {
    "ed25519": ("-t", "ed25519"),
    "ecdsa nistp256": ("-t", "ecdsa", "-b", "256"),
    "ecdsa nistp521": ("-t", "ecdsa", "-b", "521"),
    "rsa 3072": ("-t", "rsa", "-b", "3072"),
}


def signatures(_: Path, results: Results) -> None:
    """Every figure, with how many of them a second holds."""
    with tempfile.TemporaryDirectory() as folder:
        for kind in KINDS:
            for what, work in signing(kind, Path(folder)).items():
                seconds = _median(work)
                results.line(f"{what} with {kind}", seconds, f"{1 / seconds:,.0f} a second")


def signing(kind: str, folder: Path) -> dict[str, Callable[[], object]]:
    """Signing with a new key of that kind, and judging what it signed."""
    from loopx_kernel.trust.keys import load_private
    from loopx_kernel.trust.sshsig import sign
    from loopx_kernel.trust.verify import EnrolledKey, judge

    path = folder / kind.replace(" ", "-")
    subprocess.run(["ssh-keygen", "-q", *KINDS[kind], "-N", "", "-f", str(path)], check=True)
    key = load_private(path, None)
    enrolled = [EnrolledKey("li", key.public.line, key.public.fingerprint)]
    armored = sign(STATEMENT, key)
    assert judge(STATEMENT, armored, enrolled).ok
    return {
        "sign": lambda: sign(STATEMENT, key),
        "verify": lambda: judge(STATEMENT, armored, enrolled),
    }


def _median(work: Callable[[], object]) -> float:
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times)
