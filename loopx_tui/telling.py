"""From a reading to the bell: finds the news off the event loop and tells them on it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from loopx_tui import notices
from loopx_tui.notices import News, Notices, Wish
from loopx_tui.presentation.needs import keys

if TYPE_CHECKING:
    from loopx_kernel.views.workspace import WorkspaceView


class Telling:
    """Tells a person of what is new in one workspace, and keeps the terminal's title.

    ``write`` sends bytes of ours to the terminal and ``complain`` shows a
    sentence; both are called on the event loop. ``folder`` is where what was
    told is remembered, ``None`` for nowhere; ``called`` is what the person calls the workspace.
    """

    def __init__(
        self,
        *,
        write: Callable[[str], object],
        complain: Callable[[str], object],
        environ: Mapping[str, str],
        folder: Path | None,
        called: Callable[[], str] = str,
    ) -> None:
        self._write = write
        self._complain = complain
        self._environ = environ
        self._folder = folder
        self._called = called
        self._lock = threading.Lock()
        self._wish: Wish | None = None
        self._notices: tuple[str, Notices] | None = None
        self._seen: object = None
        self._title = ""

    async def tell(self, view: WorkspaceView) -> None:
        """Tells what is new in a reading whose goals were all read."""
        seen = (view.workspace_id, self._called(), keys(view))
        if seen == self._seen:
            return
        self._seen = seen
        wish, problem, news = await asyncio.to_thread(self._find, view)
        if problem:
            self._complain(problem)
        if wish.silent:
            return
        bells = notices.sequences(news, self._environ, self._called())
        self._write(self._new_title(news, view) + bells)
        if wish.command and news.items:
            arguments = wish.command, news, asyncio.get_running_loop()
            # A daemon: quitting does not wait for a person's command.
            threading.Thread(target=self._run, args=arguments, daemon=True).start()

    def end(self) -> None:
        """Gives the terminal its title back."""
        if self._title:
            self._write(notices.TITLE_RESTORE)
            self._title = ""

    def _find(self, view: WorkspaceView) -> tuple[Wish, str, News]:
        with self._lock:
            problem = ""
            if self._wish is None:
                self._wish, problem = notices.wish()
            if self._notices is None or self._notices[0] != view.workspace_id:
                known = Notices(view.workspace_id, folder=self._folder)
                self._notices = view.workspace_id, known
            return self._wish, problem, self._notices[1].news(view)

    def _new_title(self, news: News, view: WorkspaceView) -> str:
        place = " - ".join(filter(None, (self._called(), Path(view.root).name)))
        title = notices.title(news.waiting, place, self._environ)
        if title == self._title:
            return ""
        save = "" if self._title else notices.TITLE_SAVE
        self._title = title
        return save + title

    def _run(self, command: tuple[str, ...], news: News, loop: asyncio.AbstractEventLoop) -> None:
        for item in news.items:
            problem = notices.run_command(command, item)
            if problem:
                # The app may have ended meanwhile.
                with suppress(RuntimeError):
                    loop.call_soon_threadsafe(self._complain, problem)
