"""The person's own configuration as editors, crashes and slips leave it."""

from __future__ import annotations

from pathlib import Path

import pytest
from loopx_kernel.errors import UsageError
from loopx_kernel.workspace.person import config_file, read_config, remember_key

TEXT = "# mine\nnotify: none\n"
READ: dict[str, bytes] = {
    "plain": TEXT.encode(),
    "bom": b"\xef\xbb\xbf" + TEXT.encode(),
    "crlf": TEXT.replace("\n", "\r\n").encode(),
    "bom and crlf": b"\xef\xbb\xbf" + TEXT.replace("\n", "\r\n").encode(),
    "no final newline": TEXT.rstrip().encode(),
    "utf-16": TEXT.encode("utf-16"),
}
NOTHING: dict[str, bytes] = {"empty": b"", "blank": b"\n \n", "comment alone": b"# mine\n"}
UNREADABLE: dict[str, bytes] = {
    "nuls": bytes(800),
    "half a line": b'notify: "no',
    "a list": b"- notify\n- key\n",
    "prose": b"notify none\n",
    "tab": b"notify:\n\tcommand: x\n",
    "twice": b"notify: none\nnotify: x\n",
    "latin-1": "notify: café\n".encode("latin-1"),
    "utf-16 without mark": TEXT.encode("utf-16-le"),
    "no such day": b"since: 2026-02-30\n",
    "deep": b"a: " + b"[" * 5000,
    "journal line": b'{"event_id": "e-1", "payload": {\n',
}


def put(data: bytes) -> Path:
    place = config_file()
    place.parent.mkdir(parents=True)
    place.write_bytes(data)
    return place


@pytest.mark.parametrize("name", READ)
def test_what_editors_do_to_the_form_changes_no_value(name: str, tmp_path: Path) -> None:
    place = put(READ[name])
    assert read_config() == {"notify": "none"}
    assert remember_key(tmp_path / "key")
    assert read_config() == {"notify": "none", "key": str(tmp_path / "key")}
    assert "# mine" in place.read_text("utf-8-sig")


@pytest.mark.parametrize("name", NOTHING)
def test_an_empty_file_says_nothing_and_takes_a_key(name: str, tmp_path: Path) -> None:
    put(NOTHING[name])
    assert read_config() == {}
    assert remember_key(tmp_path / "key")
    assert read_config() == {"key": str(tmp_path / "key")}


@pytest.mark.parametrize("name", UNREADABLE)
def test_what_cannot_be_read_is_said_and_never_written_over(name: str, tmp_path: Path) -> None:
    place = put(UNREADABLE[name])
    for act in (read_config, lambda: remember_key(tmp_path / "key")):
        with pytest.raises(UsageError) as caught:
            act()
        assert caught.value.code == "invalid_value"
        assert str(place) in caught.value.message
    assert place.read_bytes() == UNREADABLE[name]
