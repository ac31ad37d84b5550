"""From typed words and YAML to the rules of a goal."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from loopx_kernel.errors import UsageError

if TYPE_CHECKING:
    from loopx_kernel.domain.goal import OpenGoal
    from loopx_kernel.domain.record import Record
    from loopx_kernel.domain.rules import (
        AcceptanceItem,
        GateRule,
        JudgeRule,
        Probe,
        QuotaRule,
    )

KEYS = (
    "id objective display_name domain repo state_file write_scope requires_approval gates "
    "acceptance judge search_path probes sources quota spawn_policy cadence lease limits"
).split()
_SHARE = "a share is a decimal from 0 to 1, such as 0.4"
_QUOTA_KEYS = ("compute", "window_hours", "slot_minutes")
_SLUG_WORDS = 6
_LONGEST_NAME = 80

M = TypeVar("M", bound="Record")


def parse_yaml(text: str, path: str) -> dict[str, Any]:
    """The keys of a goal from YAML; unknown ones are refused by name.

    ``path`` is what the text is called in an error, which is ``invalid_value``.
    """
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    try:
        values = YAML(typ="safe", pure=True).load(text)
    except (YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f", line {mark.line + 1}" if mark is not None else ""
        reason = getattr(error, "problem", None) or str(error).partition("\n")[0]
        raise _invalid(f"{path}{where} is not YAML: {reason}", "correct the file") from None
    if not isinstance(values, dict):
        raise _invalid(f"{path} holds no keys of a goal", f"use the keys {', '.join(KEYS)}")
    unknown = [key if isinstance(key, str) else "a key" for key in values if key not in KEYS]
    if unknown:
        raise _invalid(
            f"{path} holds {', '.join(unknown)}, which no goal has",
            f"use the keys {', '.join(KEYS)}",
            keys=unknown,
        )
    return values


def open_goal(values: Mapping[str, Any], known_ids: Iterable[str]) -> OpenGoal:
    """The command that opens the goal; every wrong value is named with its key."""
    from loopx_kernel.domain.goal import OpenGoal
    from loopx_kernel.domain.rules import (
        Cadence,
        Coordination,
        GoalRules,
        LeaseRule,
        Limits,
        QuotaRule,
        SpawnPolicy,
        check_id,
        parse_acceptance,
        parse_gate_rule,
        parse_source,
    )

    objective = _text(values, "objective")
    if not objective:
        raise _invalid(
            "A goal needs an objective",
            "loopx start-goal --objective 'One sentence that says what is wanted'",
        )
    goal_id = check_id(_text(values, "id") or _new_id(objective, known_ids), "a goal")
    acceptance = _texts(values, "acceptance")
    rules = build(
        GoalRules,
        {
            "display_name": _text(values, "display_name") or _first_line(objective),
            "domain": _text(values, "domain"),
            "repo": _text(values, "repo") or ".",
            "state_file": _text(values, "state_file")
            or f".loopx/goals/{goal_id}/ACTIVE_GOAL_STATE.md",
            "coordination": Coordination(
                write_scope=_texts(values, "write_scope"),
                requires_parent_approval=tuple(
                    parse_gate_rule(kind).text for kind in _texts(values, "requires_approval")
                ),
            ),
            "quota": build(QuotaRule, _quota(values), "quota."),
            "spawn_policy": build(SpawnPolicy, _section(values, "spawn_policy"), "spawn_policy."),
            "cadence": build(Cadence, _section(values, "cadence"), "cadence."),
            "lease": build(LeaseRule, _section(values, "lease"), "lease."),
            "limits": build(Limits, _section(values, "limits"), "limits."),
            "gates": tuple(parse_gate_rule(text) for text in _texts(values, "gates")),
            "acceptance": tuple(parse_acceptance(t, n) for n, t in enumerate(acceptance, 1)),
            "judge": _judge(values),
            "search_path": _texts(values, "search_path"),
            "probes": _probes(values),
            "sources": tuple(parse_source(text) for text in _texts(values, "sources")),
        },
    )
    return OpenGoal(goal_id=goal_id, objective=objective, rules=rules)


def build(model: type[M], values: Mapping[str, Any], prefix: str = "") -> M:
    """The model with these values; ``invalid_value`` names the first wrong key."""
    from pydantic import ValidationError

    try:
        return model.model_validate(dict(values))
    except ValidationError as error:
        # Its input is left out: YAML aliases can make a value of any size.
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        key = prefix + ".".join(str(part) for part in first["loc"])
        reason = _SHARE if key.endswith("compute") else first["msg"]
        raise _invalid(f"{key}: {reason}", "correct this value", key=key) from None


def check_path(text: str) -> str:
    """One path, dir/ or glob of a write scope; ``invalid_scope`` for anything else."""
    from loopx_kernel.domain.scope import check_scope

    if ":" in text or "," in text or " " in text:
        raise UsageError(
            "invalid_scope",
            f"{text!r} looks like a rule or a sentence, not like one path",
            next="write one path a line, such as src/theme/**",
            scope=text,
        )
    return check_scope(text)


def check_gate(text: str) -> GateRule:
    """A gate rule as it is typed; ``vague_gate`` where it would stop nothing."""
    from loopx_kernel.domain.rules import parse_gate_rule

    return parse_gate_rule(text)


def check_acceptance(text: str) -> AcceptanceItem:
    """An acceptance item as it is typed; ``invalid_value`` where no machine could decide it."""
    from loopx_kernel.domain.rules import parse_acceptance

    return parse_acceptance(text, 1)


def check_share(text: str) -> QuotaRule:
    """A share of the window's slots, from 0 to 1; ``invalid_value`` otherwise."""
    from loopx_kernel.domain.rules import QuotaRule

    return build(QuotaRule, {"compute": text})


def slug(text: str) -> str:
    """An id made of a text's ASCII words; empty if it has none."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode("ascii")
    words = re.findall(r"[a-z0-9]+", plain.lower())[:_SLUG_WORDS]
    return "-".join(words)[:40].strip("-")


def _new_id(objective: str, known_ids: Iterable[str]) -> str:
    known = set(known_ids)
    base = slug(objective)
    if base and base not in known:
        return base
    base = base or "goal"
    number = 1 if base == "goal" else 2
    while f"{base}-{number}" in known:
        number += 1
    return f"{base}-{number}"


def _first_line(objective: str) -> str:
    line = objective.strip().splitlines()[0].strip()
    return line if len(line) <= _LONGEST_NAME else line[: _LONGEST_NAME - 1].rstrip() + "…"


def _text(values: Mapping[str, Any], key: str) -> str:
    value = values.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise _invalid(f"{key} is not text", f"put the value of {key} in quotes", key=key)
    return value.strip()


def _texts(values: Mapping[str, Any], key: str) -> tuple[str, ...]:
    value = values.get(key)
    if value is None:
        return ()
    if not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in value):
        raise _invalid(f"{key} is a list of texts", f"write {key} as a list", key=key)
    return tuple(value)


def _section(values: Mapping[str, Any], key: str) -> dict[str, Any]:
    value = values.get(key)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise _invalid(f"{key} holds keys of its own", f"write {key} as a mapping", key=key)
    return {str(name): _frozen(item) for name, item in value.items()}


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _quota(values: Mapping[str, Any]) -> dict[str, Any]:
    quota = _section(values, "quota")
    quota |= {key: values[key] for key in _QUOTA_KEYS if values.get(key) is not None}
    if "compute" in quota and not isinstance(quota["compute"], bool):
        quota["compute"] = str(quota["compute"])
    for key in ("window_hours", "slot_minutes"):
        typed = quota.get(key)
        if isinstance(typed, str) and re.fullmatch(r"[0-9]{1,9}", typed):
            quota[key] = int(typed)
    return quota


def _judge(values: Mapping[str, Any]) -> JudgeRule | None:
    """A command alone, or with the number of votes and how sure they must be."""
    from loopx_kernel.domain.rules import JudgeRule

    given = values.get("judge")
    if given is None:
        return None
    rule = {"command": given} if isinstance(given, str) else _section(values, "judge")
    if not isinstance(rule.get("command"), str) or not rule["command"].strip():
        raise _invalid("The judge names no command", "write the command that judges", key="judge")
    if isinstance(rule.get("min_confidence"), int | float):
        rule["min_confidence"] = str(rule["min_confidence"])
    return build(JudgeRule, rule, "judge.")


def _probes(values: Mapping[str, Any]) -> tuple[Probe, ...]:
    from loopx_kernel.domain.rules import Probe, check_id

    given = values.get("probes")
    if isinstance(given, dict):
        pairs = [(str(ident), command) for ident, command in given.items()]
    else:
        pairs = [_pair(text) for text in _texts(values, "probes")]
    probes = []
    for named, command in pairs:
        if not isinstance(command, str) or not command.strip():
            raise _invalid(f"The probe {named} names no command", "write ID=COMMAND", probe=named)
        kind, _, ident = named.rpartition(":")
        value = {"id": check_id(ident, "a probe"), "command": command.strip(), "kind": kind or "ci"}
        probes.append(build(Probe, value, "probes."))
    return tuple(probes)


def _pair(text: str) -> tuple[str, str]:
    ident, _, command = text.partition("=")
    return ident.strip(), command


def _invalid(message: str, step: str, **facts: Any) -> UsageError:
    return UsageError("invalid_value", message, next=step, **facts)
