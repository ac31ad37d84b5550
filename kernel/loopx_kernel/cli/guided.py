"""`start-goal --guided`: kind questions, and no vague answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from loopx_kernel.errors import UsageError
from loopx_kernel.workspace.goal_words import (
    check_acceptance,
    check_gate,
    check_path,
    check_share,
)


class Asker(Protocol):
    """Whoever can be asked."""

    def say(self, text: str = "") -> None:
        """Shows one line."""

    def ask(self, question: str, default: str = "") -> str:
        """What they type, or ``default``."""


def ask_for_goal(person: Asker, values: dict[str, Any]) -> dict[str, Any]:
    """The values of a goal: those given, and answers to what is missing."""
    answers = dict(values)
    person.say("A goal is one long piece of work. You lay its rules now; workers keep to them.")
    if not answers.get("objective"):
        person.say()
        person.say("1 of 5. What is wanted? One sentence, such as: Dark mode for the shop")
        answers["objective"] = _insist(person)
    if not answers.get("write_scope"):
        person.say()
        person.say("2 of 5. Where is the work? One path, dir/ or glob a line, such as")
        person.say("src/theme/** . An empty line ends. It stops nothing by itself: with the")
        person.say("rule write in step 3, writing anywhere else needs your yes.")
        answers["write_scope"] = _several(person, "write in:", check_path)
    if not answers.get("gates") and not answers.get("requires_approval"):
        person.say()
        person.say("3 of 5. What must not happen without your yes? One rule a line:")
        person.say("KIND[:COMMAND][@PATH], such as publish:git push* or delete or write@infra/**")
        person.say("or write, which is writing outside of step 2. An empty line ends.")
        answers["gates"] = _several(person, "ask me before:", check_gate)
    if not answers.get("acceptance"):
        person.say()
        person.say("4 of 5. How does a machine see that it is done? One check a line,")
        person.say("such as cmd:pytest -q . Without one, only you can accept the work, by hand.")
        answers["acceptance"] = _several(person, "done when:", check_acceptance)
    if not answers.get("compute") and not answers.get("quota"):
        person.say()
        person.say("5 of 5. Which share of the day's minutes may it use? 0.4 is 576 slots.")
        answers["compute"] = _checked(person, "share:", check_share, "0.4")
    person.say()
    return answers


def _insist(person: Asker) -> str:
    while True:
        text = person.ask("objective:")
        if text:
            return text
        person.say("Without an objective there is nothing to work towards.")


def _several(person: Asker, question: str, check: Callable[[str], object]) -> list[str]:
    found: list[str] = []
    while True:
        text = _checked(person, question, check, "")
        if not text:
            return found
        found.append(text)


def _checked(person: Asker, question: str, check: Callable[[str], object], default: str) -> str:
    """An answer that ``check`` lets pass, or ``default``; a wrong one is explained."""
    while True:
        text = person.ask(question, default)
        if not text:
            return text
        try:
            check(text)
        except UsageError as error:
            person.say(f"That does not work: {error.message}.")
            if error.next:
                person.say(f"Please {error.next}.")
        else:
            return text
