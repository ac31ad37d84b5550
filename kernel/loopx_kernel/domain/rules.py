"""The rules an owner lays when opening a goal, and the short forms they are typed in."""

import re
from decimal import ROUND_HALF_UP, Decimal
from typing import Annotated, Any, Literal

from pydantic import Field

from loopx_kernel.clock import parse_duration
from loopx_kernel.domain.record import Count, Flag, Int, Line, Name, Record, Seconds
from loopx_kernel.domain.scope import check_scope, touches, within
from loopx_kernel.domain.spelling import may_mean
from loopx_kernel.errors import UsageError

STANDARD_KINDS = ("write", "publish", "production-action", "delete", "network", "secret")
NEVER_ADMITTED = frozenset(
    {"publish", "production-action", "delete", "secret", "self-schedule", "self-upgrade"}
)
"""Kinds of action that no judge admits in a person's place."""
_OPTION = re.compile(
    r"\s+(?:admit:\s*(?P<admit>judge)"
    r"|level:\s*(?P<level>software|passphrase|confirmed|presence))$"
)
_OWN_KIND = re.compile(r"[a-z][a-z0-9-]{1,31}")
_ID = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")
_Some = Annotated[Count, Field(ge=1, le=10_000)]
_EVERYTHING = {"", "*", "**", "**/*"}

DEFAULT_SOURCE_WINDOW_SECONDS = 3 * 86400


class GateRule(Record):
    """A standing rule: actions of this kind, with this command or path, need approval. With
    ``admit`` a judge may give it where nobody watches; with ``at_least`` only a signature of
    that level does."""

    kind: Name
    command: Line = ""
    path: Line = ""
    admit: Literal["judge"] | None = None
    at_least: Literal["software", "passphrase", "confirmed", "presence"] | None = None

    @property
    def names_a_command(self) -> bool:
        """Whether it tells some commands from others, and not by its kind alone."""
        return self.command not in _EVERYTHING

    @property
    def text(self) -> str:
        """The rule as it is typed; see ``parse_gate_rule``."""
        return (
            self.kind
            + (f":{self.command}" if self.command else "")
            + (f"@{self.path}" if self.path else "")
            + (" admit:judge" if self.admit else "")
            + (f" level:{self.at_least}" if self.at_least else "")
        )


class AcceptanceItem(Record):
    """One machine-decidable condition of the goal; ``command`` is its own, which writes the file
    it is about."""

    id: Name
    kind: Literal["cmd", "regex", "json", "junit", "rubric"]
    value: Line = ""
    path: Line = ""
    threshold: Int | None = None
    optional: Flag = False
    command: Line = ""


class Probe(Record):
    """A command the kernel may run to see a fact for itself: of which ``kind`` it is, and by the
    probe's id which."""

    id: Name
    command: Line
    kind: Literal["ci", "review"] = "ci"


class SourceRule(Record):
    """Something the goal reads decisions from."""

    id: Name
    provider: Name
    required: Flag = False
    on_demand: Flag = False
    window_seconds: Seconds = DEFAULT_SOURCE_WINDOW_SECONDS


class SpawnPolicy(Record):
    """How many workers may run at once."""

    mode: Literal["manual", "auto"] = "manual"
    max_children: Count = 1


class Coordination(Record):
    """Where the goal's workers may write, and what needs its owner's approval."""

    write_scope: tuple[str, ...] = ()
    requires_parent_approval: tuple[str, ...] = ()


class QuotaRule(Record):
    """The share of a sliding window's slots that the goal may use; a decimal as text."""

    compute: Annotated[str, Field(pattern=r"^(0|1|0\.[0-9]{1,6}|1\.0{1,6})$")] = "0.4"
    window_hours: Annotated[Count, Field(ge=1, le=8760)] = 24
    slot_minutes: Annotated[Count, Field(ge=1, le=1440)] = 1

    @property
    def allowed(self) -> int:
        """Slots in one window: floor(hours × 60 / slot × compute + ½), in decimals."""
        slots = Decimal(self.window_hours * 60) / Decimal(self.slot_minutes)
        return int((slots * Decimal(self.compute)).to_integral_value(ROUND_HALF_UP))


class Cadence(Record):
    """Seconds between beats: the shortest, and the ladder when nothing changes."""

    shortest_seconds: Seconds = 60
    ladder_seconds: tuple[Seconds, ...] = (600, 1200, 3600, 3600)


class LeaseRule(Record):
    """How long a claim lasts unless it is renewed."""

    ttl_seconds: Annotated[Count, Field(ge=10, le=86400)] = 900


class JudgeRule(Record):
    """The command that judges, how many votes it gives, and how sure it must be: a decimal from
    0 to 1 as text."""

    command: Line
    votes: Annotated[Count, Field(ge=1, le=25)] = 1
    min_confidence: Annotated[str, Field(pattern=r"^(0|1|0\.[0-9]{1,6}|1\.0{1,6})$")] | None = None


class Limits(Record):
    """Upper bounds that keep one worker from filling the ledger, or working on for nothing.

    ``unfinished_todos_per_agent`` are those it added itself, whoever works on them; of those for
    people there may be as many as ``pending_gates_per_agent``.
    ``turns_without_progress`` are those of a todo in a row, ``remembered_results`` how many of
    its results a new one is compared with, ``turns_per_todo`` is none unless it is given,
    ``failed_turns_per_window`` are the goal's, ``recoveries_per_day`` a todo's. A command of
    acceptance, and each vote of a judge, has ``acceptance_seconds``.
    """

    pending_gates_per_agent: Count = 20
    unfinished_todos_per_agent: Annotated[Count, Field(ge=1, le=100_000)] = 500
    turns_without_progress: _Some = 3
    remembered_results: _Some = 16
    turns_per_todo: _Some | None = None
    failed_turns_per_window: _Some = 24
    recoveries_per_day: _Some = 2
    acceptance_seconds: Annotated[Count, Field(ge=1, le=3600)] = 60


class GoalRules(Record):
    """All first rules of a goal: configuration, no progress.

    ``search_path`` are folders in which programs of the rules' commands are looked for before
    those of the system, absolute or seen from the repo.
    """

    display_name: Line
    domain: Line = ""
    repo: Line = "."
    state_file: Line
    spawn_policy: SpawnPolicy = SpawnPolicy()
    coordination: Coordination = Coordination()
    quota: QuotaRule = QuotaRule()
    gates: tuple[GateRule, ...] = ()
    acceptance: tuple[AcceptanceItem, ...] = ()
    probes: tuple[Probe, ...] = ()
    sources: tuple[SourceRule, ...] = ()
    cadence: Cadence = Cadence()
    lease: LeaseRule = LeaseRule()
    limits: Limits = Limits()
    judge: JudgeRule | None = None
    search_path: tuple[Line, ...] = ()

    @property
    def approval_rules(self) -> tuple[GateRule, ...]:
        """Gate rules, with each entry of ``requires_parent_approval`` as a bare kind."""
        bare = tuple(GateRule(kind=kind) for kind in self.coordination.requires_parent_approval)
        return bare + self.gates


def parse_gate_rule(text: str) -> GateRule:
    """``KIND[:COMMAND_GLOB][@PATH_GLOB]``, with `` admit:judge`` or `` level:presence`` (or
    another level) behind it; a rule that names no action is ``vague_gate``."""
    told, options = _without_options(text)
    kind, mark, rest = re.match(r"([^:@]*)([:@]?)(.*)", told, re.S).groups()  # type: ignore[union-attr]
    command, path = "", ""
    if mark == "@":
        path = rest.strip()
    elif mark == ":":
        # An `@` after a space belongs to the command, as in `npm publish @mall/theme`.
        split = re.match(r"(.*\S)@(\S+)", rest, re.S)
        command, path = (split[1].strip(), split[2]) if split else (rest.strip(), "")
    standard = kind in STANDARD_KINDS
    named = not {command, path} <= _EVERYTHING
    if not (standard or (is_kind(kind) and named)) or "\n" in text:
        raise UsageError(
            "vague_gate",
            f"{text!r} names no concrete action, so it would stop nothing",
            next="write KIND[:COMMAND_GLOB][@PATH_GLOB], for example publish:git push* or "
            "write@infra/**",
            rule=text,
        )
    if path:
        check_scope(path)
    if "admit" in options and kind in NEVER_ADMITTED:
        raise UsageError(
            "invalid_value",
            f"{text!r}: no judge admits {kind}; that is for a person alone",
            next=f"write {told}",
            rule=text,
        )
    return GateRule(
        kind=kind,
        command=command,
        path=path,
        admit="judge" if "admit" in options else None,
        at_least=options.get("level"),
    )


def _without_options(text: str) -> tuple[str, dict[str, Any]]:
    """A rule without what is said behind it, and that."""
    told, options = text.strip(), dict[str, Any]()
    while found := _OPTION.search(told):
        told = told[: found.start()]
        options |= {name: said for name, said in found.groupdict().items() if said}
        if len(options) > 1 or _OPTION.search(told):
            raise UsageError(
                "invalid_value",
                f"{text!r} says both what a judge may do and what level a person must reach, or "
                "one of them twice",
                next="say one of admit:judge and level:LEVEL, once",
                rule=text,
            )
    return told, options


def rule_covers(
    rule: GateRule,
    *,
    action: str,
    command: str,
    paths: tuple[str, ...],
    write_scope: tuple[str, ...],
) -> bool:
    """Whether a rule asks for approval of this action.

    What the action leaves out may be what the rule names, so leaving it out is no way around;
    only writing is often done without a command. Nor is saying another kind of what the rule
    names by its command, and what is deleted is written to.
    """
    if rule.kind != action:
        deletes = (rule.kind, action) == ("write", "delete") and rule.path
        if not (command.strip() if rule.names_a_command else deletes):
            return False
    if rule.command:
        unsaid = not command.strip() and action != "write"
        if not (unsaid or may_mean(rule.command, command)):
            return False
    if rule.path:
        return not paths or any(touches(rule.path, path) for path in paths)
    if rule.kind == "write" and not rule.command:
        return not paths or not all(any(within(s, path) for s in write_scope) for path in paths)
    return True


def is_kind(text: str) -> bool:
    """Whether this may be the kind of an action or a rule."""
    return _OWN_KIND.fullmatch(text) is not None


_ITEM = re.compile(r"(?:([A-Za-z0-9][A-Za-z0-9-]*)=)?(cmd|regex|json|junit|rubric):(.+)", re.S)


def parse_acceptance(text: str, number: int) -> AcceptanceItem:
    """``[?][ID=]cmd:COMMAND``, ``regex:PATTERN@PATH``, ``json:PATH#/pointer=VALUE``,
    ``junit:PATH`` or ``rubric:TEXT>=N``; `` <- COMMAND`` behind a PATH names the command that
    writes it. ``number`` names an item without an id."""
    body = text.removeprefix("?")
    head = _ITEM.match(body)
    kind, rest, command = (head[2], head[3], "") if head else ("", "", "")
    if kind in ("regex", "json", "junit") and " <- " in rest:
        rest, _, command = rest.rpartition(" <- ")
    said = re.fullmatch(_ITEMS[kind], rest.strip(), re.S) if head else None
    if (
        head is None
        or said is None
        or len(text) > 4000
        or (kind == "regex" and not _is_pattern(said["value"]))
    ):
        raise UsageError(
            "invalid_value",
            f"{text!r} is not an acceptance item",
            next="write [ID=]cmd:COMMAND, regex:PATTERN@PATH, json:PATH#/pointer=VALUE, "
            "junit:PATH or rubric:TEXT>=N",
            value=text,
        )
    values: dict[str, Any] = said.groupdict()
    if kind == "rubric":
        values["threshold"] = int(values["threshold"])
    values |= {"id": head[1] or f"A{number}", "kind": kind, "command": command.strip()}
    return AcceptanceItem(optional=text.startswith("?"), **values)


_ITEMS = {
    "cmd": r"(?P<value>.+)",
    "junit": r"(?P<path>.+)",
    "regex": r"(?P<value>.+)@(?P<path>[^@]+)",
    "json": r"(?P<path>[^#]+#/[^=]*)=(?P<value>.*)",
    "rubric": r"(?P<value>.+?)\s*>=\s*(?P<threshold>10|[1-9])",
}


def _is_pattern(text: str) -> bool:
    try:
        re.compile(text)
    except (re.error, RecursionError, OverflowError):
        return False
    return True


def parse_source(text: str) -> SourceRule:
    """``ID=PROVIDER[,required][,window=3d][,on-demand]``."""
    head, *options = [part.strip() for part in text.split(",")]
    ident, _, provider = head.partition("=")
    required = on_demand = False
    window = DEFAULT_SOURCE_WINDOW_SECONDS
    legal = bool(_ID.fullmatch(ident) and provider)
    for option in options:
        if option == "required":
            required = True
        elif option == "on-demand":
            on_demand = True
        elif option.startswith("window="):
            window = int(parse_duration(option.removeprefix("window=")).total_seconds())
        else:
            legal = False
    if not legal:
        raise UsageError(
            "invalid_value",
            f"{text!r} is not a source",
            next="write ID=PROVIDER[,required][,window=3d][,on-demand]",
            value=text,
        )
    return SourceRule(
        id=ident, provider=provider, required=required, on_demand=on_demand, window_seconds=window
    )


def check_id(text: str, what: str) -> str:
    """A lower-case id of letters, digits and dashes; ``invalid_value`` otherwise."""
    if not _ID.fullmatch(text):
        raise UsageError(
            "invalid_value",
            f"{text!r} cannot be the id of {what}",
            next="use lower-case letters, digits and dashes, starting with a letter or digit",
            value=text,
        )
    return text
