"""A real sshd on the loopback, for what people do over SSH."""

from __future__ import annotations

import getpass
import os
import shutil
import socket
import subprocess
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path

from tests.patience import PATIENCE

Road = Callable[[int], AbstractContextManager[int]]
"""From the server's port to the one that clients come in by."""


@contextmanager
def sshd(folder: Path, *, road: Road = nullcontext) -> Iterator[tuple[list[str], Path]]:
    """The words of a client that may log in there, the last of them the destination, and the
    server's log."""
    program = shutil.which("sshd", path=f"{os.environ['PATH']}:/usr/sbin:/sbin")
    assert program
    if os.geteuid() == 0:
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
    for name in ("host", "user"):
        make = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)]
        subprocess.run(make, check=True)
    port = _free_port()
    (folder / "sshd_config").write_text(
        f"Port {port}\nListenAddress 127.0.0.1\nHostKey {folder}/host\nPidFile none\n"
        f"AuthorizedKeysFile {folder}/user.pub\nStrictModes no\nUsePAM no\n"
        "PasswordAuthentication no\nPermitRootLogin yes\nAllowAgentForwarding yes\n"
    )
    log = folder / "log"
    words = [program, "-D", "-e", "-f", str(folder / "sshd_config")]
    with log.open("wb") as output:
        daemon = subprocess.Popen(words, stdout=output, stderr=output)
    options = ("BatchMode=yes", "StrictHostKeyChecking=no", f"UserKnownHostsFile={folder}/known")
    client = ["ssh", "-F", "/dev/null", "-i", str(folder / "user")]
    client += [word for option in options for word in ("-o", option)]
    try:
        with road(port) as entrance:
            yield [*client, "-p", str(entrance), f"{getpass.getuser()}@127.0.0.1"], log
    finally:
        daemon.terminate()
        daemon.wait(PATIENCE)


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])
