"""The road from a folder to a workspace with an owner, dialog by dialog."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

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
        usable = next((offer.ref for offer in offered if offer.is_safe), "")
        values = {"owner": user_name(), "key": usable}
        folder = safe(self._root.name or str(self._root))

        of = {offer.ref: offer for offer in offered}

        def problem(given: Any) -> str:
            return of[given["key"]].problem if given["key"] else words.CHOOSE_KEY

        note = ""
        while True:
            form = FormScreen(
                words.CONNECT.format(folder=folder),
                FIELDS,
                values,
                {"key": [(offer.ref, offer.text) for offer in offered]},
                note=note,
                problem=problem,
                lines=[Line(words.CONNECT_TEXT.format(folder=safe(str(self._root))))],
            )
            typed = await self._ask(form)
            if typed is None:
                return None
            try:
                return await asyncio.to_thread(_checked, typed["owner"], of[typed["key"]])
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


class _Offer(NamedTuple):
    """A key to choose: an id, what it is, why it cannot be used, and how it would be enrolled;
    ``key`` is ``None`` for a new one."""

    ref: str
    text: str
    problem: str = ""
    key: KeyChoice | None = None

    @property
    def is_safe(self) -> bool:
        """Whether it can be proposed: nobody can tell whether an agent asks its owner."""
        return not self.problem and (self.key is None or self.key.asks != "agent")


def _offered(owner: str) -> list[_Offer]:
    from loopx_kernel.workspace.keys import prospects
    from loopx_kernel.workspace.person import default_key

    offers = [_own(choice) for choice in prospects(owner)]
    if not default_key().exists():
        offers += [_Offer(NEW, words.NEW_KEY), _Offer(NEW_OPEN, words.NEW_OPEN_KEY)]
    return offers


def _own(key: KeyChoice) -> _Offer:
    told = words.OWN_KEY
    if key.in_agent:
        told = words.TOUCHED_KEY if key.asks == "touch" else words.AGENT_KEY
    text = told.format(
        path=shown.at_home(key.path),
        level=key.level,
        fingerprint=key.fingerprint,
        comment=key.public_line.partition(" ")[2].partition(" ")[2],
    )
    problem = "" if key.usable else words.KEY_UNUSABLE.format(why=key.problem)
    ref = key.fingerprint if key.in_agent else str(key.path)
    return _Offer(ref, safe(text), safe(problem), key)


def _checked(owner: str, offer: _Offer) -> Wish:
    from loopx_kernel.workspace.connecting import Wish, check
    from loopx_kernel.workspace.person import KeyFile

    key = offer.key
    in_agent = key is not None and key.in_agent
    return check(
        Wish(
            owner=owner.strip(),
            key=None if key is None or in_agent else key.path,
            new_key=key is None,
            passphrase=offer.ref != NEW_OPEN,
            unattended=offer.ref == NEW_OPEN,
            confirmed=key is not None and key.confirmed,
            replaces=False,
            file=KeyFile(key.path, key.fingerprint, key.public_line) if key and in_agent else None,
        )
    )


def _append(begun: Begun, secret: str) -> Done[Any]:
    key = begun.workspace.keys.unlock(
        begun.key, secret.encode() if begun.key.needs_passphrase else None, begun.unsigned
    )
    return begun.workspace.append(begun.unsigned, key)
