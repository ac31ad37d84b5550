"""What agents are told about LoopX in a repo's own AGENTS.md or CLAUDE.md: a fenced block that
can be replaced, put there only when a person asks for it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal, TypeAlias

from loopx_kernel.errors import UsageError
from loopx_kernel.text import safe

BEGIN = "<!-- loopx:begin -->"
END = "<!-- loopx:end -->"
LARGEST = 1024 * 1024
"""Bytes of a page that is still taken for instructions to agents."""

GUIDE = """\
## LoopX: how to work here

This repo keeps a ledger of its goals with `loopx`. Set `LOOPX_AGENT` to your registered id
(`loopx agent list`); several goals need `--goal ID` or `LOOPX_GOAL`. Every beat is the same:

1. `loopx turn begin --json` decides and, if you may run, gives you one todo with its brief.
   Exit status: 0 run, 10 ask, 11 wait, 12 repair, 13 quiet. At 10, 11 and 13 stop and come back
   at `scheduler_hint.next_wake_at`, never earlier; at 12 run `repair.command` if `repair.by` is
   `agent`, else leave it to a person.
2. Do only what the brief says, inside its `write_scope`. Before an action under `ask_before`:
   `loopx gate check --action KIND --command 'THE EXACT COMMAND'`. Status 0: run
   `loopx gate use` with the same words, then act, once. Status 1: run `loopx gate request` with
   the same words and a `--question`, settle the turn as blocked, and leave it.
3. `loopx turn settle --turn ID --outcome done --evidence FILE --tests passed --handoff-file FILE`
   hands in. Code reads the evidence and runs the acceptance items; what does not hold settles as
   failed. Otherwise use `--outcome progress`, `blocked` or `failed`, and say honestly why in
   the hand-over: it is what the next turn starts from.
4. Waiting for CI, a review or a source: `loopx todo wait ID --on ci --every 10m`; when you look,
   `loopx observe probe ID`, or `loopx observe junit FILE --ref REF`.

Do not edit anything under `.loopx/` or `ACTIVE_GOAL_STATE.md`; do not approve, sign, answer
escalations or close goals; only people do. If the route is wrong, ask for another with
`loopx propose route --reason 'WHY'`. If a command is refused, it names the next one: run that, not
a variation of the first. The goal is finished when `loopx completion` says so (status 0), never
because you say so.
"""

Placed: TypeAlias = Literal["added", "replaced", "unchanged"]

_FENCED = re.compile(rf"{re.escape(BEGIN)}.*?{re.escape(END)}", re.DOTALL)


def with_guide(page: str) -> str:
    """``page`` with the present block: in place of an earlier one, else at its end.

    Everything outside the fence stays as it is, its kind of line ends too. Raises
    ``invalid_value`` where the marks do not make one whole block.
    """
    begins, ends = page.count(BEGIN), page.count(END)
    whole = _FENCED.search(page)
    if (begins, ends) not in ((0, 0), (1, 1)) or (begins and whole is None):
        raise _not_a_page(
            "The page", f"does not hold the marks {BEGIN} and {END} once each, in this order"
        )
    newline = "\r\n" if "\r\n" in page else "\n"
    block = f"{BEGIN}\n{GUIDE}{END}".replace("\n", newline)
    if whole is not None:
        return page[: whole.start()] + block + page[whole.end() :]
    gap = newline * (0 if not page else 1 if page.endswith("\n") else 2)
    return f"{page}{gap}{block}{newline}"


def put_guide(root: Path, name: str) -> Placed:
    """Puts the block into ``name``, a Markdown page inside the folder ``root``.

    A missing page is made; a link is followed where it leads to a file inside ``root``. Durable
    on return; an unchanged page is not written. Raises ``invalid_value`` for another place or
    kind of file and for broken marks, and ``Storage``; then nothing was changed.
    """
    from loopx_kernel.store.disk import atomic_write, read_regular
    from loopx_kernel.store.files import Files

    base = root.resolve()
    place = (base / name).resolve()
    if not place.is_relative_to(base):
        raise _not_a_page(name, f"is outside {safe(str(base))}")
    if place.suffix.lower() != ".md" or ".loopx" in place.relative_to(base).parts:
        raise _not_a_page(name, "is not a Markdown page of the repo")
    files = Files()
    content = read_regular(place, LARGEST, files=files)
    try:
        page = (content or b"").decode("utf-8")
    except UnicodeDecodeError:
        raise _not_a_page(name, "is not UTF-8") from None
    written = with_guide(page)
    if written == page:
        return "unchanged"
    atomic_write(place, written.encode("utf-8"), files=files)
    return "replaced" if BEGIN in page else "added"


def _not_a_page(name: str, what: str) -> UsageError:
    return UsageError(
        "invalid_value",
        f"{safe(name)} {what}",
        next="loopx connect --agents-file AGENTS.md",
        field="agents_file",
    )
