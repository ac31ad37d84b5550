"""What could not be read, and what it hides: damage in the way, and what was set aside."""

from __future__ import annotations

from tests.kernel.workspace.build import GOAL, Place, tree


def test_nothing_is_there_where_all_could_be_read(place: Place) -> None:
    assert place.ws.repairs.quarantine() == ()


def test_a_damaged_journal_is_named_with_its_line_and_what_it_hides(place: Place) -> None:
    lines = place.journal.read_bytes().splitlines(keepends=True)
    lines[10] = b'{"what": "\xff\x1b[2J\n'
    place.journal.write_bytes(b"".join(lines))
    before = tree(place.root)
    one, *rest = place.again().repairs.quarantine()
    # Files that tell of lines which cannot be read any more are in the way as well.
    assert {item.reason for item in rest} == {"it is ahead of the journal"}
    assert (one.goal_id, one.line, one.set_aside) == (GOAL, 11, False)
    assert one.path.endswith("events.jsonl") and "line 11" in one.reason
    assert one.hides == f"{len(lines) - 10} lines from #11 on"
    # Bytes are shown as they are, made safe by whoever prints them.
    assert one.excerpt.startswith('{"what": "\\xff\x1b[2J')
    assert one.command == f"loopx repair journal --goal {GOAL}"
    assert tree(place.root) == before


def test_a_damaged_file_shows_its_beginning_and_the_way_out(place: Place) -> None:
    place.lease("T3").write_text("no longer JSON\n", "utf-8")
    (one,) = place.again().repairs.quarantine()
    assert one.hides == "the lease of T3" and one.excerpt == "no longer JSON\n"
    assert one.command.startswith("loopx repair file ")


def test_what_was_set_aside_stays_readable_the_latest_first(place: Place) -> None:
    with place.journal.open("ab") as file:
        file.write(b'{"torn":')
    place.ask()
    folder = place.runtime / "quarantine"
    (folder / "20200101T000000Z-drift").write_text("- [x] by hand\n", "utf-8")
    (folder / "notes.txt").write_text("somebody's own", "utf-8")
    torn, drift = place.again().repairs.quarantine()
    assert torn.set_aside and torn.excerpt == '{"torn":' and torn.size == 8
    assert torn.hides.startswith("nothing") and "last line" in torn.reason
    assert drift.at is not None and drift.at.year == 2020 and drift.excerpt == "- [x] by hand\n"


def test_a_link_in_a_quarantine_is_not_followed(place: Place) -> None:
    folder = place.runtime / "quarantine"
    folder.mkdir()
    (folder / "20200101T000000Z-torn").symlink_to("/etc/passwd")
    (one,) = place.ws.repairs.quarantine()
    assert "root:" not in one.excerpt and "link" in one.excerpt


def test_a_goal_that_cannot_be_read_at_all_is_named(place: Place) -> None:
    place.journal.unlink()
    (one,) = place.again().repairs.quarantine()
    assert one.hides == "the whole goal" and "missing" in one.reason
