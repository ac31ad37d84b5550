"""The layers of a source's health: what one says is not taken for what the next says."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from loopx_kernel.domain.freshness import judge, judge_host
from loopx_kernel.domain.rules import SourceRule
from loopx_kernel.domain.source import BindSource, ReadSource
from loopx_kernel.domain.source_host import ReportHost
from loopx_kernel.views.layers import layer_of_host, layers_of

from tests.kernel.domain.build import KERNEL, NOW, Book, opened

DAY = timedelta(days=1)
ALL = ("bound", "checked", "succeeded", "fresh", "complete")


def look(status: str, days_ago: int, **counts: int) -> tuple[Any, ...]:
    command = ReadSource(source_id="chat", status=status, **counts)  # type: ignore[arg-type]
    return command, KERNEL, NOW - days_ago * DAY


BIND = (BindSource(source_id="chat"), KERNEL)
GOOD = {"items": 12, "unreadable": 0}


@pytest.mark.parametrize(
    ("steps", "red"),
    [
        ((), ALL),
        ((BIND,), ("checked", "succeeded", "fresh", "complete")),
        ((BIND, look("failed", 0)), ("succeeded", "fresh", "complete")),
        ((BIND, look("read", 0)), ("succeeded", "fresh", "complete")),
        ((BIND, look("read", 0, items=12, unreadable=12)), ("succeeded", "fresh", "complete")),
        ((BIND, look("read", 0, **GOOD)), ()),
        ((BIND, look("read", 9, **GOOD)), ("fresh",)),
        ((BIND, look("read", 1, **GOOD), look("failed", 0)), ("succeeded",)),
        ((BIND, look("read", 1, **GOOD), look("no_change", 0)), ()),
        ((BIND, look("read", 1, **GOOD), look("read", 0)), ("succeeded", "fresh", "complete")),
        (
            (BIND, look("read", 1, **GOOD), look("read", 0, items=12, unreadable=1)),
            ("succeeded", "complete"),
        ),
        ((BIND, look("read", 0, **GOOD, pending=1000)), ()),
        ((BIND, look("read", 4, **GOOD, pending=9), look("read", 0, **GOOD)), ("queue",)),
    ],
)
@pytest.mark.parametrize("on_demand", [False, True])
def test_each_layer_is_judged_by_itself(
    steps: tuple[Any, ...], red: tuple[str, ...], on_demand: bool
) -> None:
    book: Book = opened(sources=(SourceRule(id="chat", provider="slack", on_demand=on_demand),))
    for step in steps:
        book.do(*step)
    layers = layers_of(judge(book.state.source("chat"), NOW), "dark-mode")
    assert tuple(layer.name for layer in layers) == ("configured", *ALL, "queue")
    assert tuple(layer.name for layer in layers if not layer.ok) == red
    for layer in layers[1:]:
        assert layer.fix is not None
        verb = "settle" if layer.name == "queue" else "read" if steps else "bind"
        assert layer.fix.startswith(
            f"loopx source {'bind' if layer.name == 'bound' else verb} chat"
        )


def test_a_host_is_red_for_what_it_left_out() -> None:
    book = opened(sources=(SourceRule(id="chat", provider="slack"),))
    words = {"provider": "slack", "expires_seconds": 60}
    for scanned, well in (((), False), (("chat",), True)):
        book.do(ReportHost(status="ok", scanned=scanned, **words), KERNEL)  # type: ignore[arg-type]
        host = judge_host(book.state.hosts["slack"], book.state.sources.values(), NOW)
        layer = layer_of_host(host, "dark-mode")
        assert (layer.ok, "not scanned: chat" in layer.detail) == (well, not well)
    book.do(ReportHost(status="failed", scanned=("chat",), **words), KERNEL)  # type: ignore[arg-type]
    host = judge_host(book.state.hosts["slack"], book.state.sources.values(), NOW)
    assert not layer_of_host(host, "dark-mode").ok
