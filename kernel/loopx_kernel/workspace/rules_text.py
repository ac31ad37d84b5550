"""The rules of a goal as people edit them: YAML in the short forms in which a goal is opened."""

from __future__ import annotations

import io
from difflib import unified_diff
from typing import TYPE_CHECKING, Any

from loopx_kernel.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from loopx_kernel.domain.rules import AcceptanceItem, GoalRules, SourceRule


def typed(rules: GoalRules) -> dict[str, Any]:
    """The rules with the keys and in the short forms in which a goal is opened."""
    told = rules.model_dump(mode="json", exclude_none=True)
    return {
        "display_name": rules.display_name,
        "domain": rules.domain,
        "repo": rules.repo,
        "state_file": rules.state_file,
        "write_scope": list(rules.coordination.write_scope),
        "requires_approval": list(rules.coordination.requires_parent_approval),
        "gates": [rule.text for rule in rules.gates],
        "acceptance": [_item(item) for item in rules.acceptance],
        "judge": told.get("judge"),
        "search_path": list(rules.search_path),
        "probes": {f"{one.kind}:{one.id}": one.command for one in rules.probes},
        "sources": [_source(rule) for rule in rules.sources],
        "quota": told["quota"],
        "spawn_policy": told["spawn_policy"],
        "cadence": told["cadence"],
        "lease": told["lease"],
        "limits": told["limits"],
    }


def rules_of(goal_id: str, old: GoalRules, given: Mapping[str, Any]) -> GoalRules:
    """The rules as given, and as they are where a key is left out. Raises ``invalid_value``."""
    from loopx_kernel.workspace.goal_words import open_goal

    if "objective" in given or given.get("id", goal_id) != goal_id:
        raise UsageError(
            "invalid_value",
            "The objective and the id of a goal are none of its rules",
            next="loopx objective patch --text 'what is wanted now' --reason 'why'",
        )
    return open_goal(typed(old) | dict(given) | {"id": goal_id, "objective": goal_id}, ()).rules


def changed_keys(old: GoalRules, new: GoalRules) -> list[str]:
    """The keys whose values differ, in their order."""
    before = typed(old)
    return [key for key, value in typed(new).items() if value != before[key]]


def diff(old: GoalRules, new: GoalRules) -> list[str]:
    """What changes, line by line."""
    before, after = (as_yaml(rules).splitlines() for rules in (old, new))
    return list(unified_diff(before, after, "rules now", "rules then", lineterm="", n=1))


def as_yaml(rules: GoalRules) -> str:
    """The rules as they are edited."""
    return yaml_of(typed(rules))


def yaml_of(values: Mapping[str, Any]) -> str:
    """Keys of a goal as YAML, in their order."""
    from ruamel.yaml import YAML

    yaml: Any = YAML(typ="safe", pure=True)
    yaml.default_flow_style, yaml.allow_unicode = False, True
    yaml.sort_base_mapping_type_on_output = False
    yaml.width = 4096
    stream = io.StringIO()
    yaml.dump(dict(values), stream)
    return stream.getvalue()


def _item(item: AcceptanceItem) -> str:
    what = {
        "cmd": item.value,
        "junit": item.path,
        "regex": f"{item.value}@{item.path}",
        "json": f"{item.path}={item.value}",
        "rubric": f"{item.value}>={item.threshold}",
    }[item.kind]
    by = f" <- {item.command}" if item.command else ""
    return f"{'?' if item.optional else ''}{item.id}={item.kind}:{what}{by}"


def _source(rule: SourceRule) -> str:
    options = ",required" * rule.required + ",on-demand" * rule.on_demand
    return f"{rule.id}={rule.provider},window={rule.window_seconds}s{options}"
