"""The rules of a goal laid anew: where may be written, how much may be used, or all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from loopx_kernel.errors import LoopxError
from loopx_kernel.text import counted, safe

from loopx_tui import strings
from loopx_tui.cases.case import REASON, Asked, Case, Field, Matter, Section, Values, Way, lines_of
from loopx_tui.cases.goals import NAMES
from loopx_tui.desk import explain
from loopx_tui.presentation.lines import Line, alert, field, head
from loopx_tui.presentation.side_by_side import columns

if TYPE_CHECKING:
    from loopx_kernel.domain.rules import GoalRules
    from loopx_kernel.workspace import Unsigned

    from loopx_tui.decisions import Ledger

_QUOTA: Final = ("compute", "window_hours", "slot_minutes")


def _path(text: str) -> object:
    from loopx_kernel.workspace.goal_words import check_path

    return check_path(text)


_SCOPE = Field("write_scope", "write scope", "lines", required=False, hint=strings.SCOPE_HINT,
               check=_path)  # fmt: skip
_SHARE = Field("compute", "share", hint=strings.SHARE_HINT)
_WINDOW = Field("window_hours", "window", hint=strings.WINDOW_HINT)
_SLOT = Field("slot_minutes", "slot", hint=strings.SLOT_HINT)
_RULES = Field("rules", "rules", "page", hint=strings.RULES_HINT)


def _look(ledger: Ledger, goal_id: str, object_id: str) -> Matter:
    from loopx_kernel.workspace.rules_text import typed

    view = ledger.view(goal_id)
    rules = ledger.state(goal_id).the_rules
    return Matter(
        goal_id=goal_id,
        object_id=goal_id,
        open=view.status in ("active", "paused"),
        status=view.status,
        meaning={name: _in_words(value) for name, value in typed(rules).items()},
        record=rules,
        view=view,
    )


def _in_words(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {_in_words(one)}" for key, one in value.items()) or "none"
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    return "none" if value in (None, "") else str(value)


# From what was written to rules


def _scope_given(values: Values) -> dict[str, Any]:
    return {"write_scope": list(lines_of(values, "write_scope"))}


def _quota_given(values: Values) -> dict[str, Any]:
    return {name: values[name].strip() for name in _QUOTA if values.get(name, "").strip()}


def _rules_given(values: Values) -> dict[str, Any]:
    from loopx_kernel.workspace.goal_words import parse_yaml

    text = values.get("rules", "")
    return parse_yaml(text, strings.WHAT_YOU_WROTE) if text.strip() else {}


Given = Callable[[Values], Mapping[str, Any]]


def _new(matter: Matter, values: Values, given: Given) -> GoalRules:
    """The rules as they would be; raises ``LoopxError``."""
    from loopx_kernel.workspace.rules_text import rules_of

    return rules_of(matter.goal_id, matter.record, given(values))


def _case(
    noun: str,
    fields: Sequence[Field],
    *,
    begin: Callable[[Matter], Values],
    given: Given,
    dump: Callable[[Values], str],
) -> Case:
    way = Way("review.approve", "lay", "sign them", strings.RULES_DONE, (REASON,))

    def problem(matter: Matter, values: Values) -> str:
        try:
            _new(matter, values, given)
        except LoopxError as error:
            return explain(error)
        return ""

    def why_not(matter: Matter, values: Values, way: Way) -> str:
        wrong = problem(matter, values)
        if wrong:
            return wrong
        return strings.SAME_RULES if _new(matter, values, given) == matter.record else ""

    def show(matter: Matter, values: Values, width: int) -> Iterator[Section]:
        yield [
            Line(strings.RULES_OF.format(goal=safe(matter.goal_id)), "ask"),
            field(strings.SCOPE, matter.meaning["write_scope"]),
            field(strings.QUOTA.casefold(), _slots(matter.record)),
            field("reason", values.get("reason") or "none"),
        ]
        wrong = problem(matter, values)
        yield [alert(wrong)] if wrong else _change(matter, _new(matter, values, given), width)

    def prepare(ledger: Ledger, asked: Asked) -> Unsigned:
        from loopx_kernel.domain.patched_rules import PatchRules

        rules = _new(asked.matter, asked.values, given)
        command = PatchRules(rules=rules, reason=asked.values["reason"])
        return ledger.goals.patch_rules(asked.goal_id, asked.owner, command)

    def loopx(matter: Matter, values: Values, way: Way) -> Sequence[str]:
        return ["goal", "edit", "--from", "-", "--reason", values.get("reason") or "why"]

    return Case(
        f"goal.{noun}",
        noun,
        (way,),
        _look,
        show,
        prepare,
        loopx,
        fields=(*fields, REASON),
        first=True,
        begin=begin,
        why_not=why_not,
        problem=problem,
        stdin=lambda matter, values: dump(values),
    )


def _slots(rules: GoalRules) -> str:
    quota = rules.quota
    return strings.SLOTS.format(
        slots=counted(quota.allowed, "slot"),
        minutes=quota.slot_minutes,
        hours=quota.window_hours,
        share=quota.compute,
    )


def _change(matter: Matter, new: GoalRules, width: int) -> list[Line]:
    from loopx_kernel.workspace.rules_text import diff

    changed = diff(matter.record, new)
    if not changed:
        return [head(strings.NOTHING_CHANGES)]
    quota = [field(strings.THEN, _slots(new))] if new.quota != matter.record.quota else []
    return [head(strings.WHAT_CHANGES), *columns(changed, NAMES, width), *quota]


def _yaml(given: Mapping[str, Any]) -> str:
    from loopx_kernel.workspace.rules_text import yaml_of

    return yaml_of(given) if given else ""


def _all_rules(matter: Matter) -> Values:
    from loopx_kernel.workspace.rules_text import as_yaml

    return {"rules": as_yaml(matter.record)}


CASES: Final = (
    _case(
        "scope",
        (_SCOPE,),
        begin=lambda matter: {"write_scope": "\n".join(matter.record.coordination.write_scope)},
        given=_scope_given,
        dump=lambda values: _yaml(_scope_given(values)),
    ),
    _case(
        "quota",
        (_SHARE, _WINDOW, _SLOT),
        begin=lambda matter: {name: str(getattr(matter.record.quota, name)) for name in _QUOTA},
        given=_quota_given,
        dump=lambda values: _yaml(_quota_given(values)),
    ),
    _case(
        "rules",
        (_RULES,),
        begin=_all_rules,
        given=_rules_given,
        dump=lambda values: values.get("rules", "").rstrip("\n") + "\n",
    ),
)
"""Each lays all rules of the goal; they differ in how many of them they ask about."""
