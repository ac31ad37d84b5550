"""The rules an owner lays when opening a goal, and the short forms they are typed in."""

from __future__ import annotations

import re
from decimal import ROUND_HALF_UP, Decimal
from typing import Annotated, Literal

from pydantic import Field

from loopx_kernel.clock import parse_duration
from loopx_kernel.domain.record import Count, Flag, Int, Line, Name, Record, Seconds
from loopx_kernel.domain.scope import check_scope, touches, within
from loopx_kernel.domain.spelling import may_mean
from loopx_kernel.errors import UsageError

STANDARD_KINDS = ("write", "publish", "production-action", "delete", "network", "secret")
_OWN_KIND = re.compile(r"[a-z][a-z0-9-]{1,31}")
_ID = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")
_EVERYTHING = {"", "*", "**", "**/*"}

DEFAULT_SOURCE_WINDOW_SECONDS = 3 * 86400


class GateRule(Record):
    """A standing rule: actions of this kind, with this command or path, need approval."""

    kind: Name
    command: Line = ""
    path: Line = ""

    @property
    def text(self) -> str:
        """The rule as it is typed: ``KIND[:COMMAND_GLOB][@PATH_GLOB]``."""
        return (
            self.kind
            + (f":{self.command}" if self.command else "")
            + (f"@{self.path}" if self.path else "")
        )


class AcceptanceItem(Record):
    """One machine-decidable condition of the goal."""

    id: Name
    kind: Literal["cmd", "regex", "json", "junit", "rubric"]
    value: Line = ""
    path: Line = ""
    threshold: Int | None = None
    optional: Flag = False


class Probe(Record):
    """A command the kernel may run to see a fact for itself."""

    id: Name
    command: Line


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


class Limits(Record):
    """Upper bounds that keep one worker from filling the ledger."""

    pending_gates_per_agent: Count = 20


class GoalRules(Record):
    """All first rules of a goal: configuration, no progress."""

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

    @property
    def approval_rules(self) -> tuple[GateRule, ...]:
        """Gate rules, with each entry of ``requires_parent_approval`` as a bare kind."""
        bare = tuple(GateRule(kind=kind) for kind in self.coordination.requires_parent_approval)
        return bare + self.gates


def parse_gate_rule(text: str) -> GateRule:
    """``KIND[:COMMAND_GLOB][@PATH_GLOB]``; a rule that names no action is ``vague_gate``."""
    kind, mark, rest = re.match(r"([^:@]*)([:@]?)(.*)", text.strip(), re.S).groups()  # type: ignore[union-attr]
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
    return GateRule(kind=kind, command=command, path=path)


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
    only writing is often done without a command.
    """
    if rule.kind != action:
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


def parse_acceptance(text: str, number: int) -> AcceptanceItem:
    """``[?][ID=]cmd:COMMAND``, ``regex:PATTERN@PATH``, ``json:PATH#/pointer=VALUE``,
    ``junit:PATH`` or ``rubric:TEXT>=N``. ``number`` names an item without an id."""
    optional = text.startswith("?")
    body = text[1:] if optional else text
    match = re.match(r"(?:([a-z0-9][a-z0-9-]*)=)?(cmd|regex|json|junit|rubric):(.+)", body, re.S)
    item: AcceptanceItem | None = None
    if match:
        ident, kind, rest = match[1] or f"A{number}", match[2], match[3].strip()
        if kind == "cmd" and rest:
            item = AcceptanceItem(id=ident, kind="cmd", value=rest, optional=optional)
        elif kind == "junit" and rest:
            item = AcceptanceItem(id=ident, kind="junit", path=rest, optional=optional)
        elif kind == "regex" and (split := re.match(r"(.+)@([^@]+)$", rest, re.S)):
            item = AcceptanceItem(
                id=ident, kind="regex", value=split[1], path=split[2], optional=optional
            )
        elif kind == "json" and (split := re.match(r"([^#]+)#(/[^=]*)=(.*)$", rest, re.S)):
            item = AcceptanceItem(
                id=ident,
                kind="json",
                path=f"{split[1]}#{split[2]}",
                value=split[3],
                optional=optional,
            )
        elif kind == "rubric" and (split := re.match(r"(.+)>=\s*(10|[1-9])$", rest, re.S)):
            item = AcceptanceItem(
                id=ident,
                kind="rubric",
                value=split[1].strip(),
                threshold=int(split[2]),
                optional=optional,
            )
    if item is None:
        raise UsageError(
            "invalid_value",
            f"{text!r} is not an acceptance item",
            next="write [ID=]cmd:COMMAND, regex:PATTERN@PATH, json:PATH#/pointer=VALUE, "
            "junit:PATH or rubric:TEXT>=N",
            value=text,
        )
    return item


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
