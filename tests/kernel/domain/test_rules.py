"""The short forms of rules, and what a rule covers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loopx_kernel.domain.rules import (
    STANDARD_KINDS,
    Cadence,
    Coordination,
    GateRule,
    QuotaRule,
    SourceRule,
    parse_acceptance,
    parse_gate_rule,
    parse_source,
    rule_covers,
)
from loopx_kernel.errors import UsageError
from pydantic import ValidationError

from tests.kernel.domain.build import opened, rules


@pytest.mark.parametrize(
    ("text", "kind", "command", "path"),
    [
        ("publish", "publish", "", ""),
        (" publish ", "publish", "", ""),
        ("publish:git push*", "publish", "git push*", ""),
        ("publish:npm publish @mall/theme", "publish", "npm publish @mall/theme", ""),
        (
            "publish:npm publish @mall/theme@dist/**",
            "publish",
            "npm publish @mall/theme",
            "dist/**",
        ),
        ("write@infra/**", "write", "", "infra/**"),
        ("deploy:make deploy", "deploy", "make deploy", ""),
        ("deploy@ops/", "deploy", "", "ops/"),
        ("production-action:kubectl *", "production-action", "kubectl *", ""),
    ],
)
def test_gate_rules(text: str, kind: str, command: str, path: str) -> None:
    rule = parse_gate_rule(text)
    assert rule == GateRule(kind=kind, command=command, path=path)
    assert parse_gate_rule(rule.text) == rule


@pytest.mark.parametrize(
    "text",
    [
        "ask me if unsure",
        "",
        "deploy",
        "deploy:",
        "deploy:*",
        "deploy@**",
        "Deploy:x",
        "publish:git\npush",
        "x:y",
        ":git push",
        "@infra/**",
    ],
)
def test_vague_gate_rules(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_gate_rule(text)
    assert caught.value.code == "vague_gate"


def test_a_rule_cannot_reach_outside() -> None:
    with pytest.raises(UsageError) as caught:
        parse_gate_rule("write@../etc/**")
    assert caught.value.code == "invalid_scope"


@pytest.mark.parametrize("kind", STANDARD_KINDS)
def test_standard_kinds_stand_alone(kind: str) -> None:
    assert parse_gate_rule(kind).kind == kind


SCOPE = ("src/theme/**",)


@pytest.mark.parametrize(
    ("rule", "action", "command", "paths", "expected"),
    [
        ("publish", "publish", "npm publish", (), True),
        ("publish", "delete", "npm publish", (), False),
        ("publish:git push*", "network", "git push origin main", (), True),
        ("publish:git push*", "network", "git pull", (), False),
        ("publish:*", "network", "git push origin main", (), False),
        ("publish:*", "publish", "git push origin main", (), True),
        ("publish:git push*", "network", "", ("dist/",), False),
        ("publish:npm*@dist/**", "network", "npm publish", ("dist/a",), True),
        ("publish:npm*@dist/**", "network", "npm publish", ("src/a",), False),
        ("write@infra/**", "delete", "", ("infra/x.tf",), True),
        ("write@infra/**", "delete", "rm -r infra", (), True),
        ("write@infra/**", "delete", "", ("src/a.css",), False),
        ("write:sed *@infra/**", "delete", "", ("infra/x.tf",), False),
        ("delete@infra/**", "write", "", ("infra/x.tf",), False),
        ("write", "delete", "", ("docs/a.md",), False),
        ("publish:git push*", "publish", "git   push\torigin main", (), True),
        ("publish:git  push*", "publish", "git push origin", (), True),
        ("publish:git push*", "publish", "git pull", (), False),
        ("write@infra/**", "write", "", ("src/theme/a.css", "infra/x.tf"), True),
        ("write@infra/**", "write", "", ("INFRA/x.tf",), True),
        ("write@infra/x.tf", "write", "", ("infra/",), True),
        ("write@infra/**", "write", "", ("src/theme/a.css",), False),
        ("write", "write", "", ("src/theme/a.css",), False),
        ("write", "write", "", ("src/theme/a.css", "src/app.ts"), True),
        ("write", "write", "sed -i", (), True),
        ("write:sed *", "write", "sed -i", ("src/theme/a.css",), True),
        ("write:sed *", "write", "", ("src/theme/a.css",), False),
        ("publish:git push*", "publish", "", ("dist/",), True),
        ("publish:git push*", "publish", "sudo /usr/bin/git 'push'", (), True),
        ("write@infra/**", "write", "rm -rf infra", (), True),
        ("write:rm *@infra/**", "write", "ls", (), False),
        ("delete@src", "delete", "", ("src/app.ts",), True),
    ],
)
def test_what_a_rule_covers(
    rule: str, action: str, command: str, paths: tuple[str, ...], expected: bool
) -> None:
    covered = rule_covers(
        parse_gate_rule(rule), action=action, command=command, paths=paths, write_scope=SCOPE
    )
    assert covered is expected


@pytest.mark.parametrize(
    ("compute", "hours", "minutes", "allowed"),
    [
        ("0.4", 24, 1, 576),
        ("1", 24, 1, 1440),
        ("0", 24, 1, 0),
        ("0.5", 1, 24, 1),  # 1.25
        ("0.2", 1, 24, 1),  # exactly a half rounds up
        ("0.1", 24, 7, 21),  # 20.57
        ("0.29", 100, 60, 29),  # as a float: 28.999…
    ],
)
def test_allowed_slots(compute: str, hours: int, minutes: int, allowed: int) -> None:
    rule = QuotaRule(compute=compute, window_hours=hours, slot_minutes=minutes)
    assert rule.allowed == allowed


@given(
    st.integers(0, 1_000_000),
    st.integers(1, 8760),
    st.integers(1, 1440),
)
def test_allowed_is_the_nearest_whole_number(share: int, hours: int, minutes: int) -> None:
    text = "1" if share == 1_000_000 else f"0.{share:06}"
    allowed = QuotaRule(compute=text, window_hours=hours, slot_minutes=minutes).allowed
    twice = 2 * hours * 60 * share
    assert (
        (2 * allowed - 1) * minutes * 1_000_000 <= twice < (2 * allowed + 1) * minutes * 1_000_000
    )


@pytest.mark.parametrize("compute", ["1.1", "-0.1", "0.", ".5", "40%", "0.1234567", "0.٤"])
def test_no_share(compute: str) -> None:
    with pytest.raises(ValidationError):
        QuotaRule(compute=compute)


@pytest.mark.parametrize("ladder", [(600, 0), (-1,), (2**50,)])
def test_a_ladder_has_real_steps(ladder: tuple[int, ...]) -> None:
    with pytest.raises(ValidationError):
        Cadence(ladder_seconds=ladder)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("cmd:npm test", ("A3", "cmd", "npm test", "", None, False)),
        ("?lint=cmd:npm run lint", ("lint", "cmd", "npm run lint", "", None, True)),
        ("junit:out/report.xml", ("A3", "junit", "", "out/report.xml", None, False)),
        ("regex:a@b@docs/x.md", ("A3", "regex", "a@b", "docs/x.md", None, False)),
        ("json:p.json#/a/b=1", ("A3", "json", "1", "p.json#/a/b", None, False)),
        ("json:p.json#/a=", ("A3", "json", "", "p.json#/a", None, False)),
        ("rubric:reads well>=8", ("A3", "rubric", "reads well", "", 8, False)),
        ("rubric:a >= b >= 10", ("A3", "rubric", "a >= b", "", 10, False)),
    ],
)
def test_acceptance_items(text: str, expected: tuple[object, ...]) -> None:
    item = parse_acceptance(text, 3)
    got = (item.id, item.kind, item.value, item.path, item.threshold, item.optional)
    assert got == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("junit:r.xml <- pytest --junitxml r.xml", ("", "r.xml", "pytest --junitxml r.xml")),
        ("regex:a <- b@c@x.md <- make x", ("a <- b@c", "x.md", "make x")),
        ("json:p.json#/a=<- <- make @p", ("<-", "p.json#/a", "make @p")),
        ("cmd:cat <- x", ("cat <- x", "", "")),
    ],
)
def test_the_own_command_of_an_item(text: str, expected: tuple[str, str, str]) -> None:
    item = parse_acceptance(text, 1)
    assert (item.value, item.path, item.command) == expected


@pytest.mark.parametrize(
    "text",
    [
        *("npm test", "cmd:", "cmd: ", "rubric:x>=11", "rubric:x>=0", "regex:x", "x=y:z"),
        *("junit:", "regex:(@x", "regex:a{99999999999}@x", f"cmd:{'x' * 4000}"),
    ],
)
def test_no_acceptance_item(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_acceptance(text, 1)
    assert caught.value.code == "invalid_value"


def test_sources() -> None:
    assert parse_source("ci=github, required, window=2h, on-demand") == SourceRule(
        id="ci", provider="github", required=True, on_demand=True, window_seconds=7200
    )
    assert parse_source("ci=github").window_seconds == 3 * 86400
    for text in ("ci", "=github", "CI=github", "ci=github,often", "ci=github,window=0s"):
        with pytest.raises(UsageError) as caught:
            parse_source(text)
        assert caught.value.code == "invalid_value"


@pytest.mark.parametrize(
    ("values", "code"),
    [
        ({"display_name": "two\nlines"}, "invalid_value"),
        ({"state_file": "/etc/passwd"}, "invalid_scope"),
        ({"coordination": Coordination(write_scope=("../x",))}, "invalid_scope"),
        ({"coordination": Coordination(requires_parent_approval=("be careful",))}, "vague_gate"),
        ({"gates": (GateRule(kind="deploy"),)}, "vague_gate"),
        (
            {"acceptance": (parse_acceptance("a=cmd:x", 1), parse_acceptance("a=cmd:y", 2))},
            "invalid_value",
        ),
        (
            {"sources": (SourceRule(id="a", provider="x"), SourceRule(id="a", provider="y"))},
            "invalid_value",
        ),
    ],
)
def test_a_goal_is_not_opened_with_bad_rules(values: dict[str, object], code: str) -> None:
    with pytest.raises(UsageError) as caught:
        opened(**values)
    assert caught.value.code == code


def test_bare_kinds_are_rules() -> None:
    texts = [rule.text for rule in rules(gates=(parse_gate_rule("deploy@ops/"),)).approval_rules]
    assert texts == ["write", "publish", "production-action", "deploy@ops/"]


@pytest.mark.parametrize("entry", ["publish:git push*", "write@infra/**", "network admit:judge"])
def test_an_entry_of_required_approvals_that_is_more_than_a_kind_is_refused(entry: str) -> None:
    kinds = Coordination(requires_parent_approval=("write", entry))
    with pytest.raises(UsageError) as caught:
        opened(coordination=kinds)
    assert caught.value.code == "vague_gate"
    assert "--gate" in (caught.value.next or "")
