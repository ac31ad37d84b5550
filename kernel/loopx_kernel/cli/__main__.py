"""``python -m loopx_kernel.cli``: the `loopx` command."""

from loopx_kernel.cli.main import run

run()
