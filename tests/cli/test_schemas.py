"""Published schemas: every answer of every command holds to its own, and every file and line."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from loopx_kernel.cli.bodies import BODIES, NO_LEDGER
from loopx_kernel.cli.schema import published
from loopx_kernel.cli.schema_files import all_schemas, event_types, text_of
from loopx_kernel.clock import ManualClock, parse_time

from tests.cli.every_command import NOT_JSON, leaves, story
from tests.cli.helpers import Result, connect, loopx, ok
from tests.cli.published import FOLDER, schema_of, wrong

Ran = list[tuple[str, Result]]


schemas = cache(all_schemas)


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A story in which every command is run, in a folder that stays; what each gave."""
    folder = tmp_path_factory.mktemp("story")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("HOME", str(folder / "home"))
        patch.setenv("XDG_CONFIG_HOME", str(folder / "home" / ".config"))
        patch.setenv("LOOPX_CACHE_DIR", str(folder / "cache"))
        ran = list(story(ManualClock(parse_time("2026-09-16T22:40:00Z"))))
    return folder, ran


@pytest.fixture
def ran(told: tuple[Path, Ran]) -> Ran:
    return told[1]


def test_every_command_is_in_the_story(ran: Ran) -> None:
    assert {name for name, _ in ran} == {" ".join(path) for path in leaves()} - NOT_JSON


def test_no_command_of_the_story_failed(ran: Ran) -> None:
    assert [(name, run.err) for name, run in ran if run.err and not run.json["ok"]] == []


def test_every_answer_holds_to_its_published_schema(ran: Ran) -> None:
    found = [(name, line) for name, run in ran for line in wrong(schema_of(run.json), run.json)]
    assert found == []


def test_every_projection_carries_the_envelope(ran: Ran) -> None:
    for name, run in ran:
        if run.json["schema_version"] in NO_LEDGER:
            assert "projection_envelope" not in run.json, name
            continue
        envelope = run.json["projection_envelope"]
        assert envelope["schema_version"] == "loopx_projection_envelope_v0", name
        assert envelope["observed_at"] <= envelope["served_at"], name
        assert any(row["id"].endswith("ledger") for row in envelope["sources"]), name


def test_every_published_answer_was_seen_in_the_story(ran: Ran) -> None:
    assert {run.json["schema_version"] for _, run in ran} == set(BODIES)


def test_every_refusal_holds_to_the_schema_of_errors() -> None:
    for words in ((), ("status",), ("todo",), ("todo", "add"), ("xyzzy",), ("schema", "no")):
        refused = loopx(*words, "--json")
        assert refused.status != 0 or words == ()
        if words:
            assert wrong("projections/error", refused.json) == []


def test_every_line_of_a_journal_holds_to_the_schema_of_its_type(told: tuple[Path, Ran]) -> None:
    seen = set()
    for path in (told[0] / ".loopx" / "runtime").glob("*/events.jsonl"):
        for text in path.read_text("utf-8").splitlines():
            line = json.loads(text)
            assert wrong("files/loopx_event_v1", line) == []
            assert wrong(f"events/{line['event_type']}", line["payload"]) == [], text
            seen.add(line["event_type"])
            for part in line["payload"].get("parts", ()):
                fields = {key: value for key, value in part.items() if key != "type"}
                assert wrong(f"events/{part['type']}", fields) == [], text
    assert len(seen) > 40


def test_every_file_holds_to_its_schema(told: tuple[Path, Ran]) -> None:
    home = told[0] / ".loopx"
    whole = {
        "files/task_lease_v0": "runtime/*/task-leases/*.json",
        "files/loopx_statement_v0": "runtime/*/statements/*.json",
        "files/registry": "registry.json",
        "files/lock_holder": "runtime/*/lock.holder.json",
    }
    for name, pattern in whole.items():
        paths = list(home.glob(pattern))
        assert paths, pattern
        for path in paths:
            assert wrong(name, json.loads(path.read_text("utf-8"))) == [], path
    lines = {
        "files/spend": home.glob("runtime/*/spend.jsonl"),
        "files/known_workspaces": told[0].glob("home/.config/loopx/known_workspaces"),
    }
    for name, found in lines.items():
        rows = [text for path in found for text in path.read_text("utf-8").splitlines()]
        assert rows, name
        for text in rows:
            assert wrong(name, json.loads(text)) == [], text


JUDGED = """\
id: shop
objective: Dark mode for the shop
gates: ['notify:send-digest* admit:judge']
acceptance: ['taste=rubric:reads well>=7']
judge: {command: "sh judge.sh"}
"""


def test_what_a_judge_is_asked_holds_to_its_schema(monkeypatch: pytest.MonkeyPatch) -> None:
    connect()
    Path("judge.sh").write_text("cat >> asked; echo >> asked; echo 9\n", "utf-8")
    Path("goal.yaml").write_text(JUDGED, "utf-8")
    ok("agent", "add", "claude-code")
    ok("start-goal", "--from", "goal.yaml")
    assert ok("accept", "run")["ok"] is True
    monkeypatch.setenv("LOOPX_UNATTENDED", "1")
    digest = ("--action", "notify", "--command", "send-digest --to owner")
    assert loopx("gate", "use", *digest, "--agent", "claude-code").status == 6

    asked = [json.loads(text) for text in Path("asked").read_text("utf-8").splitlines()]
    assert {one["kind"] for one in asked} == {"rubric", "admission"}
    for one in asked:
        assert wrong("files/loopx_judge_request_v0", one) == []
        assert wrong("files/loopx_judge_request_v0", one | {"said": "all good"}) != []


@pytest.mark.parametrize("name", sorted(schemas()))
def test_what_is_published_is_what_the_models_say(name: str) -> None:
    made = text_of(schemas()[name])
    assert (FOLDER / name).read_text("utf-8") == made, "run: make schemas"


def test_nothing_else_is_published() -> None:
    found = {str(path.relative_to(FOLDER)) for path in FOLDER.rglob("*") if path.is_file()}
    assert found == set(schemas())
    assert {f"events/{kind.name}.json" for kind in event_types()} <= found


def objects(schema: Any) -> list[dict[str, Any]]:
    """Every schema of an object with named keys in it."""
    if isinstance(schema, list):
        return [one for item in schema for one in objects(item)]
    if not isinstance(schema, dict):
        return []
    own = [schema] if schema.get("type") == "object" and "properties" in schema else []
    return own + [one for item in schema.values() for one in objects(item)]


OPEN = {"events": {("type",)}, "projections": {("code", "message", "next")}}
"""Objects of which only these keys are named: parts of events, and errors with their facts."""


@pytest.mark.parametrize("name", sorted(schemas()))
def test_no_schema_takes_keys_that_it_does_not_name(name: str) -> None:
    for one in objects(schemas()[name]):
        if tuple(sorted(one["properties"])) in OPEN.get(Path(name).parts[0], set()):
            continue
        assert one["additionalProperties"] is False, one


def test_a_schema_is_printed_by_its_name_or_the_short_one() -> None:
    listed = ok("schema")["schemas"]
    assert {(one["name"], one["kind"]) for one in listed} == {
        (one.name, one.kind) for one in published()
    }
    text = (FOLDER / "projections" / "loopx_status_v0.json").read_text("utf-8")
    assert loopx("schema", "status").out == loopx("schema", "loopx_status_v0").out == text
    assert ok("schema", "todo.claimed")["schema"]["$id"] == "todo.claimed"
    refused = loopx("schema", "statsu", "--json")
    assert (refused.status, refused.code) == (2, "invalid_value")
    assert refused.json["error"]["next"].startswith("loopx schema")
    assert "todo.claimed" in loopx("schema").out
