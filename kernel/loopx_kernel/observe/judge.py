"""The judge: a command of the signed rules that is asked in JSON and answers in one word."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from loopx_kernel.domain.judging import REQUEST_SCHEMA, Verdict, verdict, vote_of
from loopx_kernel.domain.rules import JudgeRule
from loopx_kernel.observe.run import Problem, run_command, split_command
from loopx_kernel.value import Value


class Reply(Value):
    """What a judge said: its first line, or nothing where it failed (``problem`` says how, or is
    nothing for an exit status other than 0)."""

    word: str | None
    problem: Problem | None = None


class Voted(Value):
    """The outcome of all votes, and the replies it comes from."""

    verdict: Verdict
    replies: tuple[Reply, ...]


def ask(
    command: str,
    repo: Path,
    question: Mapping[str, Any],
    *,
    seconds: float,
    search: Sequence[str] = (),
) -> Reply:
    """Asks once, in ``repo``, with ``question`` as one JSON object on stdin; ``search`` is where
    else its program is looked for. Never raises for what the judge does; what it prints beyond
    its first line is a reason for nobody."""
    request = json.dumps({"schema_version": REQUEST_SCHEMA, **question}).encode()
    words = split_command(command)
    run = run_command(words, repo, seconds=seconds, stdin=request, search=search)
    if run.problem is not None or run.status != 0:
        return Reply(None, run.problem)
    first = run.output.partition(b"\n")[0].removesuffix(b"\r")
    return Reply(first.decode("ascii", "replace"))


def vote(
    rule: JudgeRule,
    repo: Path,
    question: Mapping[str, Any],
    threshold: int,
    *,
    seconds: float,
    search: Sequence[str] = (),
) -> Voted:
    """Asks for as many votes as the rule says, one after the other; an error is a no.

    Once so many failed that no majority is left, nobody else is asked.
    """
    replies: list[Reply] = []
    for number in range(1, rule.votes + 1):
        asked = {**question, "vote": number}
        replies.append(ask(rule.command, repo, asked, seconds=seconds, search=search))
        failures = sum(vote_of(reply.word) is None for reply in replies)
        if 2 * failures >= rule.votes:
            break
    missing = [Reply(None)] * (rule.votes - len(replies))
    votes = [vote_of(reply.word) for reply in (*replies, *missing)]
    return Voted(verdict(votes, threshold), tuple(replies))
