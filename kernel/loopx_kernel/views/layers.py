"""The layers of a source's health, said apart: none of them implies the next."""

from __future__ import annotations

from loopx_kernel.clock import format_time, span
from loopx_kernel.domain.freshness import HostReading, SourceReading
from loopx_kernel.value import Value


class Layer(Value):
    """One layer: whether it is well, what was found, and the command that helps."""

    name: str
    ok: bool
    detail: str
    fix: str | None = None


def layers_of(source: SourceReading, goal_id: str) -> tuple[Layer, ...]:
    """Configured, bound, checked, succeeded, fresh, complete, and the queue; in that order."""
    here = f"{source.id} --goal {goal_id}"
    bind = f"loopx source bind {here}"
    look = (
        f"loopx source read {here} --status read --items 12 --unreadable 0"
        if source.bound
        else bind
    )
    kind = "required" if source.required else "on demand" if source.on_demand else "optional"
    return (
        Layer(
            "configured", True, f"{kind}, read by {source.provider}; that says nothing of its age"
        ),
        Layer("bound", source.bound, "bound" if source.bound else "nobody bound it", bind),
        Layer("checked", source.checked_at is not None, _checked(source), look),
        Layer("succeeded", source.read_status in ("read", "no_change"), _succeeded(source), look),
        Layer("fresh", source.status == "fresh", _fresh(source), look),
        Layer("complete", source.unreadable_count == 0, _complete(source), look),
        Layer(
            "queue",
            not source.queue_is_late,
            _queue(source),
            f"loopx source settle {here} --cursor batch-7",
        ),
    )


def layer_of_host(host: HostReading, goal_id: str) -> Layer:
    """A provider's host, with what its last run left out."""
    last = format_time(host.last_success_at) if host.last_success_at else "never"
    detail = (
        f"{host.report}, last success {last}, report until {format_time(host.expires_at)}, "
        f"failures in a row {host.failure_streak}"
    )
    if host.not_scanned:
        detail += f", not scanned: {', '.join(host.not_scanned)}"
    return Layer(
        f"host {host.provider}",
        not (host.alert or host.not_scanned),
        detail,
        f"loopx source host {host.provider} --status ok --goal {goal_id}"
        + "".join(f" --scanned {ref}" for ref in host.not_scanned),
    )


def _checked(source: SourceReading) -> str:
    if source.checked_at is not None:
        return f"looked at {format_time(source.checked_at)}"
    return "nobody ever looked at it" + (", as nobody asked for it" if source.on_demand else "")


def _succeeded(source: SourceReading) -> str:
    last = format_time(source.last_success_at) if source.last_success_at else "never"
    return f"{source.read_status}, last success {last}, failures in a row {source.failure_streak}"


def _fresh(source: SourceReading) -> str:
    age = source.staleness_seconds
    since = "no success to count from" if age is None else f"last success {span(age)} ago"
    return f"{source.status}, {since}, window {span(source.window_seconds)}"


def _queue(source: SourceReading) -> str:
    waiting = source.pending_count or 0
    return f"{source.queue}, {waiting} waiting, cursor {source.cursor or 'none'}"


def _complete(source: SourceReading) -> str:
    if source.item_count is None or source.unreadable_count is None:
        return "no counts were reported"
    return f"{source.unreadable_count} of {source.item_count} items unreadable"
