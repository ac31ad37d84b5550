"""Which events are a change of plan or an incident, and how each is told."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

Payload: TypeAlias = Mapping[str, Any]


def text_of(payload: Payload, key: str) -> str:
    """A text of a payload, empty where there is none."""
    value = payload.get(key)
    return value if isinstance(value, str) else ""


def _failed_results(payload: Payload) -> list[str]:
    bad = [one for one in payload["results"] if one["result"] != "passed"]
    return [f"{one['item_id']} {one['result']}: {text_of(one, 'detail')}" for one in bad]


def _failed_look(payload: Payload) -> list[str]:
    if payload["status"] != "fail":
        return []
    return [f"{payload['kind']}:{payload['ref']} failed, as {payload['by']} {payload['basis']}"]


def _failed_source(payload: Payload) -> list[str]:
    unreadable = payload.get("unreadable") or 0
    if payload["status"] != "failed" and not unreadable:
        return []
    more = f", {unreadable} unreadable" if unreadable else ""
    return [f"{payload['source_id']}: {payload['status']}{more}"]


def _repaired(payload: Payload) -> list[str]:
    cut = payload.get("cut") or {}
    files = ", ".join(file["path"] for file in payload.get("files") or ())
    what = f"journal cut, {cut.get('lines', 0)} lines set aside" if cut else "files rendered again"
    return [f"{what}: {files}" if files else what]


INCIDENTS: Mapping[str, Callable[[Payload], list[str]]] = {
    "escalation.raised": lambda p: [f"{p['escalation_id']} {p['cause']}: {p['detail']}"],
    "acceptance.ran": _failed_results,
    "observation.recorded": _failed_look,
    "source.read": _failed_source,
    "drift.adopted": lambda p: [f"{len(p['edits'])} edits by hand adopted in {p['path']}"],
    "drift.restored": lambda p: [f"{len(p['edits'])} edits by hand undone in {p['path']}"],
    "damage.repaired": _repaired,
    "file.rebuilt": lambda p: [f"{p['path']} was missing, and was made again"],
}
"""What an event, or a part of one, says that went wrong; none where all went well."""
CHANGES: Mapping[str, Callable[[Payload], str]] = {
    "replan.requested": lambda p: f"{p['obligation_id']} asks for another route",
    "replan.fulfilled": lambda p: f"{p['obligation_id']} found another route",
    "replan.withdrawn": lambda p: f"{p['obligation_id']} withdrawn",
    "replan.proposed": lambda p: f"{p['gate_id']} proposes: {p['question']}",
    "todo.cancelled": lambda p: f"{p['todo_id']} cancelled",
    "todo.superseded": lambda p: f"{p['todo_id']} superseded by {p['superseded_by']}",
    "objective.patched": lambda p: f"objective version {p['version']}: {p['text']}",
    "rules.patched": lambda p: "the rules",
    "goal.paused": lambda p: "paused",
    "goal.resumed": lambda p: "resumed",
    "goal.retired": lambda p: "retired",
}
"""What an event, or a part of one, changed of the plan."""
