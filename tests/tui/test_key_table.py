"""The keys in the README and their ids in ``docs`` are the live ones; what the page shows works."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from loopx_tui import keymap
from loopx_tui.flags import Flag, flag_of
from loopx_tui.notices import _parse
from loopx_tui.theme_files import available
from tests.tui.key_table import PAGE, README, ids, table, written

BLOCKS = re.findall(r"```yaml\n# ([a-z]+\.yaml)[^\n]*\n(.*?)```", PAGE.read_text("utf-8"), re.S)


def test_the_readme_names_the_keys_of_the_table_of_actions() -> None:
    assert written(README, "keys") == table()


def test_the_page_names_every_id() -> None:
    assert written(PAGE, "ids") == ids()


def examples(name: str) -> list[Mapping[str, Any]]:
    found = [YAML(typ="safe").load(text) for file, text in BLOCKS if file == name]
    assert found
    return found


def test_the_keys_of_the_page_can_be_had() -> None:
    for example in examples("keys.yaml"):
        found = keymap.check(example)
        assert found.notices == () and found.keys.keys() == example.keys()


def test_the_theme_of_the_page_is_whole_and_readable(tmp_path: Path) -> None:
    (tmp_path / "dusk.yaml").write_text(next(text for file, text in BLOCKS if file == "dusk.yaml"))
    found = available([tmp_path])
    assert "dusk" in found.themes and found.notices == []


def test_the_configuration_of_the_page_says_what_the_page_says(home: Path) -> None:
    flags, wishes = [], []
    for example in examples("config.yaml"):
        for name in ("shop-production", "shop"):
            flag, problem = flag_of(home / name, example)
            assert problem == ""
            flags.append(flag)
        wish, problem = _parse(example.get("notify"))
        assert problem == ""
        wishes.append(wish)
    assert flags[:2] == [Flag("PRODUCTION", "alert", "high-contrast"), Flag("Test shop")]
    assert [(wish.silent, wish.command[:2]) for wish in wishes] == [
        (False, ()),
        (True, ()),
        (False, ("sh", "-c")),
    ]


@pytest.mark.parametrize("key", ["C", "S", "M", "W"])
def test_the_keys_of_first_use_are_those_of_the_page(key: str) -> None:
    assert f"`{key}`" in PAGE.read_text("utf-8").partition("## Keys")[0]
    assert f"| `{key}` |" in table()
