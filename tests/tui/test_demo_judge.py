"""The demo's judge, which counts words, on the demo's own rules and repository."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import pytest
from loopx_kernel.cli.goal_rules import read_yaml
from loopx_kernel.domain.items import check_judge
from loopx_kernel.domain.rules import JudgeRule
from loopx_kernel.observe.acceptance import Bench, run
from loopx_kernel.workspace.goal_words import open_goal

from loopx_tui.demo import repo, world
from loopx_tui.demo.judge import answer, vote


@pytest.mark.parametrize(
    ("rubric", "expected"),
    [
        ("a.md mentions: dark, contrast", 10),
        ("a.md mentions: DARK, light, contrast", 6),
        ("a.md mentions: light", 0),
        ("a.md mentions:", 0),
        ("none.md mentions: dark", 0),
        ("is it good?", 0),
    ],
)
def test_a_vote_is_a_share_of_words(rubric: str, expected: int, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("A dark page with Contrast\n")
    assert vote({"rubric": rubric}, tmp_path)[0] == expected


def test_the_rubric_of_the_demo_passes_on_its_own_pages(tmp_path: Path) -> None:
    file = tmp_path / "rules.yaml"
    file.write_text(world.GOALS["docs-refresh"].format(window=9, programs="bin"), encoding="utf-8")
    rules = open_goal(read_yaml(str(file)), ()).rules
    assert rules.judge is not None
    check_judge(rules, world.AGENTS)
    repo.write(tmp_path, {"docs/index.md": repo._FILES["docs/index.md"]})
    words = shlex.split(rules.judge.command)
    here = JudgeRule(command=shlex.join([sys.executable, *words[1:]]))
    rubric = [item for item in rules.acceptance if item.kind == "rubric"]
    assert [one.result for one in run(rubric, Bench(tmp_path, 60, here))] == ["passed"]


@pytest.mark.parametrize(
    ("action", "paths", "word"),
    [("notify", [], "low\n"), ("notify", ["docs/index.md"], "high\n"), ("publish", [], "high\n")],
)
def test_a_message_is_a_low_risk_and_nothing_else_is(
    action: str, paths: list[str], word: str, tmp_path: Path
) -> None:
    question = {"kind": "admission", "action": action, "command": "x", "paths": paths}
    assert answer(question, tmp_path) == word
