"""Makes the JSON Schemas in ``kernel/schemas``: ``python -m loopx_kernel.cli.schema_files DIR``."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, NotRequired

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaMode, JsonSchemaValue
from typing_extensions import TypedDict

from loopx_kernel.cli.bodies import BODIES, NO_LEDGER
from loopx_kernel.cli.file_types import FILES
from loopx_kernel.cli.shapes import hints_of, shape
from loopx_kernel.domain import fold, roster
from loopx_kernel.domain.event import Event, EventType
from loopx_kernel.views.envelope import Coverage, Envelope

DIALECT = "https://json-schema.org/draft/2020-12/schema"
Schema = dict[str, Any]


class EnvelopeShown(TypedDict):
    """How old a projection is and how complete: on every one of them."""

    schema_version: Literal["loopx_projection_envelope_v0"]
    alert: bool


ShownCoverage = shape("ShownCoverage", Coverage, complete=bool)
SealedEnvelope = shape("SealedEnvelope", Envelope, also=EnvelopeShown, coverage=ShownCoverage)


class ErrorBody(TypedDict):
    """Facts of the error stand beside these keys."""

    code: str
    message: str
    next: str | None


class Strict(GenerateJsonSchema):
    """No keys but those that are named; what is written out has all of them."""

    def field_is_required(self, field: Any, total: bool) -> bool:
        """Of records and dataclasses all fields are written, also those with a default."""
        if self.mode == "serialization" and field["type"] != "typed-dict-field":
            return True
        return super().field_is_required(field, total)

    def _closed(self, found: JsonSchemaValue) -> JsonSchemaValue:
        if "properties" in found:
            found.setdefault("additionalProperties", False)
        return found

    def typed_dict_schema(self, schema: Any) -> JsonSchemaValue:
        return self._closed(super().typed_dict_schema(schema))

    def dataclass_schema(self, schema: Any) -> JsonSchemaValue:
        return self._closed(super().dataclass_schema(schema))


def all_schemas() -> dict[str, Schema]:
    """Every schema by its path below the folder."""
    found = {f"files/{name}.json": _schema(name, kind) for name, kind in FILES.items()}
    found["files/loopx_event_v1.json"] = _line()
    for kind in event_types():
        found[f"events/{kind.name}.json"] = _payload(kind)
    for name, bodies in BODIES.items():
        found[f"projections/{name}.json"] = _answers(name, bodies)
    found["projections/error.json"] = _errors()
    return found


def event_types() -> Iterator[EventType[Any, Any]]:
    """Every row of both event tables, by name."""
    rows: dict[str, EventType[Any, Any]] = {}
    for name in roster.types_named(""):
        rows[name] = roster.workspace_event_type(name)
    for name in fold.types_named(""):
        rows.setdefault(name, fold.event_type(name))
    yield from (rows[name] for name in sorted(rows))


def _schema(name: str, kind: Any, *, mode: JsonSchemaMode = "serialization") -> Schema:
    """The schema of one type."""
    made: Schema = TypeAdapter(kind).json_schema(mode=mode, schema_generator=Strict)
    plain: Schema = _plain(made)
    return {"$schema": DIALECT, "$id": name} | plain | {"title": name}


def _line() -> Schema:
    """A line of a journal; what its payload holds is said by the schema of its type."""
    made = _schema("loopx_event_v1", Event, mode="validation")
    made["properties"]["payload"]["description"] = "as the schema named like event_type says"
    return made


def _payload(kind: EventType[Any, Any]) -> Schema:
    made = _schema(kind.name, kind.payload, mode="validation")
    if kind.parts:
        types = {"type": {"enum": sorted(kind.parts)}}
        part = {"type": "object", "required": ["type"], "properties": types}
        made["properties"]["parts"] = {"type": "array", "items": part}
    return made


def _answers(name: str, bodies: tuple[Any, ...]) -> Schema:
    """An answer on stdout: the head that all have, and one of the bodies."""
    head: dict[str, Any] = {"ok": Literal[True], "schema_version": Literal[name]}
    if name not in NO_LEDGER:
        # The receipt of a line stands even where the ledger cannot be read again after it.
        sealed: Any = SealedEnvelope
        late = name == "loopx_receipt_v0"
        head["projection_envelope"] = NotRequired[sealed] if late else sealed
    made = [_schema(name, _with_head(body, head)) for body in bodies]
    if len(made) == 1:
        return made[0]
    defs: Schema = {}
    for one in made:
        defs |= one.pop("$defs", {})
    ways = [{key: one[key] for key in one if key not in ("$schema", "$id")} for one in made]
    return {"$schema": DIALECT, "$id": name, "title": name, "anyOf": ways, "$defs": defs}


def _with_head(body: Any, head: dict[str, Any]) -> Any:
    return TypedDict(body.__name__, head | hints_of(body))  # type: ignore[operator]


def _errors() -> Schema:
    made = _schema("error", ErrorBody)
    made["additionalProperties"] = True
    error = {key: made.pop(key) for key in ("properties", "required", "type", "description")}
    return made | {
        "type": "object",
        "properties": {"ok": {"const": False}, "error": error | {"additionalProperties": True}},
        "required": ["ok", "error"],
        "additionalProperties": False,
    }


def _plain(value: Any) -> Any:
    """Without the titles that only repeat names, and without the marks of Python's text."""
    if isinstance(value, dict):
        return {
            key: _plain(item)
            for key, item in value.items()
            if not (key == "title" and isinstance(item, str))
        }
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return " ".join(value.replace("``", "`").split()) if isinstance(value, str) else value


def text_of(schema: Schema) -> str:
    """A schema as its file holds it."""
    return json.dumps(schema, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def write(folder: Path) -> None:
    """Writes every schema below ``folder``, and removes those that are no more."""
    made = all_schemas()
    for path in folder.glob("*/*.json"):
        if str(path.relative_to(folder)) not in made:
            path.unlink()
    for name, schema in made.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text_of(schema), "utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
