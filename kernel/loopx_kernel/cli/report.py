"""`loopx report`: what was produced in a period, and what was not."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from loopx_kernel.cli.framework import Command
from loopx_kernel.cli.session import Session
from loopx_kernel.clock import parse_duration, parse_time
from loopx_kernel.errors import UsageError

if TYPE_CHECKING:
    from loopx_kernel.views.report import Period, Report

SCHEMA = "loopx_report_v0"
FORMATS = ("text", "md", "json", "html")
LAST = "7d"


@click.command("report", cls=Command, example="loopx report --period 7d --format html -o week.html")
@click.option("--period", "length", metavar="D", help=f"The last 24h, 7d, … [default: {LAST}].")
@click.option("--since", metavar="T", help="From this time on (RFC 3339 with a zone).")
@click.option("--until", metavar="T", help="Up to, and without, this time [default: now].")
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    help="text, md, json, or html: one page to open and print [default: text, or by -o].",
)
@click.option("-o", "--output", metavar="FILE", help="Write it to a file instead.")
@click.pass_obj
def command(
    session: Session,
    /,
    *,
    length: str | None,
    since: str | None,
    until: str | None,
    form: str | None,
    output: str | None,
) -> None:
    """What was produced in a period: progress, evidence, spend, decisions, incidents.

    Everything in it stands in the journal; what is not covered is said.
    """
    place = Path(output) if output is not None else None
    form = "json" if session.options.json else form or _form_of(place)
    period = _period(session.clock.read().now, length, since, until)
    workspace = session.reading()
    report = workspace.report(session.goal_id(workspace), period)
    if place is not None:
        text = rendered(report, form)
        place.write_bytes(text.encode("utf-8"))
        if not session.options.json:
            session.printer().line(f"{place} written, {form}, {len(text.encode())} bytes")
            return
    _print(session, report, form)


def rendered(report: Report, form: str) -> str:
    """The whole report as a text that ends with a newline."""
    from loopx_kernel.views.report_document import document

    if form == "json":
        from loopx_kernel.cli.output import one_line
        from loopx_kernel.cli.session import head_value
        from loopx_kernel.views.plain import to_json

        return one_line(head_value(SCHEMA, report.envelope) | to_json(report_value(report))) + "\n"
    if form == "md":
        from loopx_kernel.views.render_markdown import markdown

        return markdown(document(report))
    if form == "html":
        from loopx_kernel.views.render_html import html_page

        return html_page(document(report))
    from loopx_kernel.views.render_plain import plain_text

    return plain_text(document(report))


def report_value(report: Report) -> dict[str, object]:
    """The report with its public keys, without the envelope."""
    from loopx_kernel.cli.values import todo_value
    from loopx_kernel.views.plain import to_json

    value: dict[str, object] = to_json(report)
    del value["envelope"]
    open_todos = [todo_value(row) for row in report.still_open.todos]
    return value | {"still_open": to_json(report.still_open) | {"todos": open_todos}}


def _print(session: Session, report: Report, form: str) -> None:
    if form == "text":
        from loopx_kernel.views.envelope import head_lines
        from loopx_kernel.views.render_plain import plain_lines
        from loopx_kernel.views.report_document import document

        printer = session.printer()
        printer.head(head_lines(report.envelope))
        printer.document(plain_lines(document(report), printer.width))
        return
    click.echo(rendered(report, form), nl=False)


def _form_of(place: Path | None) -> str:
    suffix = place.suffix.lower() if place is not None else ""
    return {".md": "md", ".json": "json", ".html": "html", ".htm": "html"}.get(suffix, "text")


def _period(now: datetime, length: str | None, since: str | None, until: str | None) -> Period:
    from loopx_kernel.views.report import Period

    if length is not None and since is not None:
        raise UsageError(
            "invalid_value",
            "--period and --since are two ways to say when it begins; give one",
            next="loopx report --period 7d",
        )
    end = parse_time(until) if until is not None else now
    if since is not None:
        return Period(parse_time(since), end)
    return Period(end - parse_duration(length or LAST), end)
