"""The published schemas, and what of a value does not hold to one."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

FOLDER = Path(__file__).parents[2] / "kernel" / "schemas"


@cache
def validator(name: str) -> Draft202012Validator:
    """The published schema of that name, below ``kernel/schemas``."""
    schema = json.loads((FOLDER / f"{name}.json").read_text("utf-8"))
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema, format_checker=Draft202012Validator.FORMAT_CHECKER)


def wrong(name: str, value: Any) -> list[str]:
    """What does not fit, with the place; of several ways the one that fits best."""
    found = []
    for error in validator(name).iter_errors(value):
        deepest = error
        while deepest.context:
            deepest = max(deepest.context, key=lambda one: len(one.absolute_path))
        found.append(f"{deepest.json_path}: {deepest.message[:300]}")
    return found


def schema_of(value: Any) -> str:
    """The schema of an answer of the command, or of a refusal."""
    return f"projections/{value['schema_version'] if value['ok'] else 'error'}"
