"""People: asked on their own terminal, and what they decide is signed."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO, TypeAlias

from loopx_kernel.errors import Denied, UsageError
from loopx_kernel.text import safe

if TYPE_CHECKING:
    from loopx_kernel.cli.session import Session
    from loopx_kernel.workspace import Done, KeyChoice, Unsigned, Workspace

TERMINAL = Path("/dev/tty")
PASSPHRASE_TRIES = 3
ASKED = {
    "touch": "Touch your hardware key now; it waits 30 s.",
    "agent": "Confirm it in the window of your ssh-agent; it waits 30 s.",
}
"""What a person is told to do while a key in ssh-agent signs."""

STATEMENT_SCHEMA = "loopx_statement_preview_v0"

SigningKey: TypeAlias = Any
"""An opened key; opaque here, as keys are the façade's business."""


class Terminal:
    """The controlling terminal of this process: never stdin, never an option."""

    def __init__(self) -> None:
        try:
            self._out: TextIO = TERMINAL.open("w", encoding="utf-8", errors="backslashreplace")
            self._in: TextIO = TERMINAL.open(encoding="utf-8", errors="replace")
        except OSError:
            raise not_a_person("there is no terminal to ask them on") from None

    def say(self, text: str = "") -> None:
        """One line for the person."""
        self._out.write(safe(text) + "\n")
        self._out.flush()

    def ask(self, question: str, default: str = "") -> str:
        """What the person types, or ``default`` for an empty line. ``EOFError`` at the end."""
        self._forget_typed()
        self._out.write(safe(question) + (f" [{safe(default)}]" if default else "") + " ")
        self._out.flush()
        line = self._in.readline()
        if not line:
            raise EOFError
        return line.strip() or default

    def secret(self, question: str) -> str:
        """What the person types, without showing it."""
        from getpass import getpass

        return getpass(safe(question) + " ")

    def _forget_typed(self) -> None:
        # What was typed before the question was shown is not an answer to it.
        import termios

        with suppress(termios.error):
            termios.tcflush(self._in, termios.TCIFLUSH)


_THEIR_OWN = "let an owner run it on their own terminal"


def not_a_person(why: str, instead: str = _THEIR_OWN) -> Denied:
    """The error for somebody who is not a person at a terminal."""
    return Denied("not_a_person", f"Only a person can do this, and {why}", next=instead)


def refuse_agents(session: Session, instead: str = _THEIR_OWN) -> None:
    """``not_a_person`` if the caller says that it is an agent; what it may do ``instead``."""
    if session.agent_id is not None:
        raise not_a_person(f"{session.agent_id} is an agent (--agent or LOOPX_AGENT)", instead)


def decide(
    session: Session,
    workspace: Workspace,
    prepare: Callable[[str], Unsigned],
    *,
    dry_run: bool = False,
) -> Done[Any] | None:
    """Prepares a decision, asks the person, signs and appends it; durable on return.

    With ``dry_run`` prints the statement and returns ``None``. Raises
    ``not_a_person``, ``no_key``, ``wrong_passphrase`` and what appending raises.
    """
    refuse_agents(session)
    choice = enrolled_key(session, workspace)
    terminal = None if dry_run or choice.asks is None else Terminal()
    unsigned = prepare(choice.owner or "")
    if unsigned.done is not None:
        return unsigned.done
    if dry_run:
        show_statement(session, unsigned)
        return None
    return workspace.append(unsigned, consent(workspace, choice, unsigned, terminal))


def enrolled_key(session: Session, workspace: Workspace) -> KeyChoice:
    """The first usable key of an owner of this workspace; ``no_key``, or ``no_agent`` where
    the agent it would take does not answer."""
    choices = workspace.keys.choices(named_key(session))
    for choice in choices:
        if choice.usable:
            return choice
    if choices:
        raise Denied(choices[0].code, choices[0].problem or "", next=choices[0].fix)
    from loopx_kernel.workspace.keys import held_by_agent

    raise held_by_agent().problem or Denied(
        "no_key",
        "No key to sign with is named",
        next="name an enrolled key: --key PATH or LOOPX_KEY; loopx owner list shows whose count",
    )


def consent(
    workspace: Workspace,
    choice: KeyChoice,
    unsigned: Unsigned,
    terminal: Terminal | None,
) -> SigningKey:
    """Shows the person what they sign. Typing the passphrase is the consent, and three tries
    are given; with an agent it is what the person does when they are asked there. Without a
    terminal only a key that signs with nobody present is used."""
    from loopx_kernel.domain.levels import MEANING

    if terminal is None:
        return workspace.keys.unlock(choice, None, unsigned)
    terminal.say(f"To sign: {unsigned.preview}")
    terminal.say(unsigned.statement_bytes.decode("utf-8", "replace"))
    terminal.say(f"as {unsigned.owner}, with {choice.fingerprint} ({choice.place})")
    terminal.say(f"{choice.level}: {MEANING[choice.level]}")
    if choice.asks != "passphrase":
        return _through_agent(workspace, choice, unsigned, terminal)
    for _ in range(PASSPHRASE_TRIES - 1):
        try:
            return workspace.keys.unlock(choice, _passphrase(terminal, choice))
        except Denied as error:
            if error.code != "wrong_passphrase":
                raise
            terminal.say("That is not the passphrase.")
    return workspace.keys.unlock(choice, _passphrase(terminal, choice))


def show_statement(session: Session, unsigned: Unsigned) -> None:
    """Prints what would be signed. Nothing is written."""
    from loopx_kernel.cli.output import print_json

    if session.options.json:
        print_json(
            {
                "ok": True,
                "schema_version": STATEMENT_SCHEMA,
                "dry_run": True,
                "preview": unsigned.preview,
                "statement": unsigned.statement,
            }
        )
        return
    printer = session.printer()
    printer.line(unsigned.preview)
    printer.line(unsigned.statement_bytes.decode("utf-8", "replace"))
    printer.line("dry run: nothing was signed or written", "dim")


def new_passphrase(terminal: Terminal, again: str) -> bytes:
    """A new passphrase, typed twice; if empty or different, ``invalid_value`` that names the
    command ``again``."""
    first = terminal.secret("New passphrase:")
    if first and first == terminal.secret("The same again:"):
        return first.encode("utf-8")
    raise UsageError(
        "invalid_value",
        "The passphrase was empty, or the two were not the same",
        next=again,
    )


def _through_agent(
    workspace: Workspace, choice: KeyChoice, unsigned: Unsigned, terminal: Terminal
) -> SigningKey:
    """What the agent gives. It is asked only after the person has read what it is for."""
    terminal.ask("Enter when you have read it, Ctrl-C to leave.")
    terminal.say(ASKED[choice.asks] if choice.asks else "Signing.")
    return workspace.keys.unlock(choice, None, unsigned)


def _passphrase(terminal: Terminal, choice: KeyChoice) -> bytes:
    typed = terminal.secret(f"Passphrase of {choice.path}:")
    if not typed:
        terminal.say("No passphrase, so nothing was signed.")
        raise EOFError
    return typed.encode("utf-8")


def named_key(session: Session) -> Path | None:
    """The key of ``--key``; ``None`` where none is named so."""
    from loopx_kernel.workspace.person import at_home

    return at_home(session.options.key) if session.options.key else None
