"""The road from a folder to a workspace with an owner, dialog by dialog."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from loopx_kernel.errors import LoopxError
from loopx_kernel.text import safe
from textual.app import App

from loopx_tui import first_words as words
from loopx_tui import strings
from loopx_tui.cases.case import Field
from loopx_tui.decisions import TRIES
from loopx_tui.desk import explain
from loopx_tui.presentation import review as shown
from loopx_tui.presentation.lines import Line, head
from loopx_tui.screens.dialog import Dialog, Notice
from loopx_tui.screens.form import FormScreen
from loopx_tui.screens.passphrase import NewPassphrase, PassphraseScreen, SignScreen

if TYPE_CHECKING:
    from loopx_kernel.workspace import Done
    from loopx_kernel.workspace.connecting import Begun, Wish
    from loopx_kernel.workspace.keys import KeyChoice

T = TypeVar("T")

NEW, NEW_OPEN = "new", "new-open"


class Connecting:
    """Connects ``root``; nothing is made before the last form was kept, and there is no owner
    before it was signed. ``say`` shows a sentence beneath the dialogs."""

    def __init__(self, app: App[Any], root: Path, say: Callable[[str], object]) -> None:
        self._app = app
        self._root = root
        self._say = say

    async def run(self) -> bool:
        """Whether it is connected, and the first goal is to follow. What goes wrong is said."""
        try:
            wish = await self._ask_who()
            secret = await self._ask_secret(wish) if wish is not None else None
            if wish is None or secret is None:
                self._say(words.NOT_CONNECTED)
                return False
            self._say(words.CONNECTING)
            begun = await asyncio.to_thread(self._begin, wish, secret)
            done = await self._sign(begun, secret if wish.new_key else None)
            if done is None:
                self._say(words.NOT_CONNECTED)
                return False
            await asyncio.to_thread(self._finish, begun, wish)
        except LoopxError as error:
            self._say(explain(error))
            return False
        self._say(words.CONNECTED.format(root=safe(str(self._root))))
        return await self._receive(begun, done)

    # Who, and with which key

    async def _ask_who(self) -> Wish | None:
        """A wish that was checked; asked again, with what was wrong, until it can be."""
        from loopx_kernel.workspace.connecting import user_name

        offered = await asyncio.to_thread(_offered, user_name())
        usable = next((ref for ref, _, problem in offered if not problem), "")
        values = {"owner": user_name(), "key": usable}
        folder = safe(self._root.name or str(self._root))

        def problem(given: Any) -> str:
            found = next((why for ref, _, why in offered if ref == given["key"]), "")
            return found if given["key"] else words.CHOOSE_KEY

        note = ""
        while True:
            form = FormScreen(
                words.CONNECT.format(folder=folder),
                FIELDS,
                values,
                {"key": [(ref, text) for ref, text, _ in offered]},
                note=note,
                problem=problem,
                lines=[Line(words.CONNECT_TEXT.format(folder=safe(str(self._root))))],
            )
            typed = await self._ask(form)
            if typed is None:
                return None
            try:
                return await asyncio.to_thread(_checked, typed)
            except LoopxError as error:
                values, note = typed, explain(error)

    async def _ask_secret(self, wish: Wish) -> str | None:
        """The passphrase of a new key; empty where none is to be asked for now."""
        from loopx_kernel.workspace.person import default_key

        if not (wish.new_key and wish.passphrase):
            return ""
        told = words.NEW_PASSPHRASE_TEXT.format(path=safe(str(default_key())))
        return await self._ask(NewPassphrase(words.NEW_PASSPHRASE, [Line(told)]))

    def _begin(self, wish: Wish, secret: str) -> Begun:
        from loopx_kernel.workspace.connecting import begin

        return begin(self._root, wish, secret.encode() or None)

    def _finish(self, begun: Begun, wish: Wish) -> None:
        from loopx_kernel.workspace.connecting import finish

        finish(begun, wish)

    # The signature

    async def _sign(self, begun: Begun, new: str | None) -> Done[Any] | None:
        """Signs the enrolment once the person agreed to it as it stands there; ``None`` where
        they did not. ``new`` is the passphrase of a key that was made just now."""
        lines = shown.fixed(begun.unsigned, begun.key)
        note = ""
        for left in reversed(range(TRIES)):
            secret = await self._consent(begun.key, lines, note, new)
            if secret is None:
                return None
            if begun.key.asks in strings.ASKED:
                self._say(strings.ASKED[begun.key.asks])
            try:
                return await asyncio.to_thread(_append, begun, secret)
            except LoopxError as error:
                if error.code != "wrong_passphrase" or not left:
                    raise
                note = f"{error.message}; {left} tries left"
        return None

    async def _consent(
        self, key: KeyChoice, lines: list[Line], note: str, new: str | None
    ) -> str | None:
        if key.needs_passphrase and new is None:
            return await self._ask(PassphraseScreen(lines, note))
        sign = SignScreen(
            lines, time.monotonic, lambda event: event.time, title=words.SIGN_ENROLMENT
        )
        return None if await self._ask(sign) is None else new or ""

    async def _receive(self, begun: Begun, done: Done[Any]) -> bool:
        """Shows what was recorded; whether the first goal is to follow."""
        made = done.receipt
        lines = [
            Line(f"✔ {words.CONNECTED.format(root=safe(str(self._root)))}", "verified"),
            *shown.key_lines(begun.key),
            head(f"#{made.seq}  {made.event_id}"),
        ]
        notice = Notice(words.CONNECTED_TITLE, lines, hint=words.GOAL_NEXT)
        return await self._ask(notice) or False

    async def _ask(self, dialog: Dialog[T]) -> T | None:
        return await self._app.push_screen_wait(dialog)


FIELDS = (
    Field("owner", words.OWNER_LABEL, hint=words.OWNER_HINT),
    Field("key", words.KEY_LABEL, "pick", hint=words.KEY_HINT),
)


def _offered(owner: str) -> list[tuple[str, str, str]]:
    """Keys to choose from: an id, what it is, and why it cannot be used, empty if it can."""
    from loopx_kernel.workspace.keys import prospect
    from loopx_kernel.workspace.person import candidate_keys, default_key, look_at_key

    rows = []
    for path in candidate_keys(None):
        choice = prospect(look_at_key(path), owner, unattended=False, confirmed=False)
        told = words.OWN_KEY.format(
            path=shown.at_home(path), level=choice.level, fingerprint=choice.fingerprint
        )
        problem = words.KEY_UNUSABLE.format(why=choice.problem) if not choice.usable else ""
        rows.append((str(path), safe(told), safe(problem)))
    if not default_key().exists():
        rows += [(NEW, words.NEW_KEY, ""), (NEW_OPEN, words.NEW_OPEN_KEY, "")]
    return rows


def _checked(values: dict[str, str]) -> Wish:
    from loopx_kernel.workspace.connecting import Wish, check

    chosen = values["key"]
    new = chosen in (NEW, NEW_OPEN)
    return check(
        Wish(
            owner=values["owner"].strip(),
            key=None if new else Path(chosen),
            new_key=new,
            passphrase=chosen != NEW_OPEN,
            unattended=chosen == NEW_OPEN,
            confirmed=False,
            replaces=False,
        )
    )


def _append(begun: Begun, secret: str) -> Done[Any]:
    key = begun.workspace.keys.unlock(
        begun.key, secret.encode() if begun.key.needs_passphrase else None, begun.unsigned
    )
    return begun.workspace.append(begun.unsigned, key)
