"""The README's keys are the live ones."""

from __future__ import annotations

from tests.tui.key_table import table, written


def test_the_readme_names_the_keys_of_the_table_of_actions() -> None:
    assert written() == table()
