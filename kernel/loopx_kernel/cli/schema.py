"""`loopx schema`: the JSON Schema of any file, event, contract or projection."""

from __future__ import annotations

import re
from difflib import get_close_matches
from pathlib import Path
from typing import NamedTuple

import click

from loopx_kernel.cli.framework import Command
from loopx_kernel.cli.output import print_json
from loopx_kernel.cli.session import Session
from loopx_kernel.errors import UsageError

LIST_SCHEMA = "loopx_schemas_v0"
ONE_SCHEMA = "loopx_schema_v0"


class Published(NamedTuple):
    """A schema: its name, what it is of (file, event or projection), and its file."""

    name: str
    kind: str
    path: Path


@click.command("schema", cls=Command, example="loopx schema loopx_status_v0")
@click.argument("name", required=False)
@click.pass_obj
def command(session: Session, /, *, name: str | None) -> None:
    """The JSON Schema of any file, event, contract or projection; without NAME all names.

    NAME is what stands as schema_version, or an event's type; `status` is short for
    loopx_status_v0.
    """
    if name is None:
        _list(session)
        return
    found = named(name)
    text = found.path.read_text("utf-8")
    if not session.options.json:
        click.echo(text, nl=False)
        return
    import json

    head = {"ok": True, "schema_version": ONE_SCHEMA, "name": found.name, "kind": found.kind}
    print_json(head | {"schema": json.loads(text)})


def published() -> list[Published]:
    """Every schema there is, the files first."""
    kinds = (("file", "files"), ("event", "events"), ("projection", "projections"))
    return [
        Published(path.stem, kind, path)
        for kind, folder in kinds
        for path in sorted((_folder() / folder).glob("*.json"))
    ]


def named(name: str) -> Published:
    """The schema of that name, or of the only one it is short for; ``invalid_value``."""
    known = published()
    for fits in (str, _short):
        found = [one for one in known if fits(one.name) == name]
        if len(found) == 1:
            return found[0]
    near = get_close_matches(name, [one.name for one in known], n=1)
    raise UsageError(
        "invalid_value",
        f"There is no schema {name!r}" + (f"; did you mean {near[0]}?" if near else ""),
        next=f"loopx schema {near[0]}" if near else "loopx schema",
        name=name,
    )


def _short(name: str) -> str:
    return re.sub(r"^loopx_|_v[0-9]+$", "", name)


def _folder() -> Path:
    """Beside the package in a checkout, in it where it is installed."""
    here = Path(__file__).parents[1]
    shipped = here / "schemas"
    return shipped if shipped.is_dir() else here.parent / "schemas"


def _list(session: Session) -> None:
    known = published()
    if session.options.json:
        rows = [{"name": one.name, "kind": one.kind} for one in known]
        print_json({"ok": True, "schema_version": LIST_SCHEMA, "schemas": rows})
        return
    session.printer().table(("name", "of"), ((one.name, one.kind) for one in known))
