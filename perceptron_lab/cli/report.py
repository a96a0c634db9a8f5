"""``plab report``: rebuild tables and figures from saved results."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from perceptron_lab.cli.echo import echo, print_json
from perceptron_lab.cli.options import (
    answer_options,
    output_option,
    plugin_option,
    targets_argument,
)
from perceptron_lab.cli.rendering import show_frame
from perceptron_lab.reporting import rebuilt
from perceptron_lab.reporting.report import processors


@click.command("report")
@targets_argument
@click.option(
    "--html", is_flag=True, help="Write HTML pages (index.html) instead of tables and figures."
)
@output_option
@plugin_option
@answer_options(": the files of each experiment, and what could not be made")
def report(targets: tuple[str, ...], html: bool, output: Path, as_json: bool) -> int:
    """Rebuild tables and figures from saved results.

    FOLDER holds the results of an experiment (runs.sqlite), or several such folders. CONFIG stands
    for the results of its experiment, with the tables and figures that it lists now. Without
    arguments, every experiment in the folder of results is reported. If a table or figure does not
    suit the runs, it is named, the others are written, and the exit code is 1.

    --html writes one self-contained page per experiment, index.html in its folder, which needs no
    network and can be sent by mail. If all results of a folder are reported, an overview page is
    written too.
    """
    if html:
        return _write_pages(targets, output, as_json)
    records = []
    for rebuilt_report in rebuilt(targets, output, processors()):
        for failure in rebuilt_report.failed:
            echo(f"failed: {failure}", err=True)
        cautions = list(filter(None, (*rebuilt_report.cautions, rebuilt_report.edited)))
        for warning in cautions:
            echo(f"warning: {warning}", err=True)
        records.append(
            _record(rebuilt_report.title, rebuilt_report.files, rebuilt_report.failed, cautions)
        )
        if as_json:
            continue
        for name, table in rebuilt_report.tables.items():
            show_frame(rebuilt_report.title or name, table.frame)
        for path in rebuilt_report.files:
            echo(str(path))
    return _ended(records, as_json)


def _record(
    title: str, files: Iterable[Path], failed: Iterable[object], cautions: Iterable[str] = ()
) -> dict[str, Any]:
    return {
        "title": title,
        "files": list(map(str, files)),
        "failed": list(map(str, failed)),
        "cautions": list(cautions),
    }


def _ended(records: list[dict[str, object]], as_json: bool) -> int:
    """Print the records if JSON is requested, and return the exit code."""
    if as_json:
        print_json(records)
    return 1 if any(record["failed"] for record in records) else 0


def _write_pages(targets: tuple[str, ...], output: Path, as_json: bool) -> int:
    from perceptron_lab.reporting.pages.writing import written

    records = []
    for page in written(targets, output, processors()):
        for failure in page.failed:
            echo(f"failed: {page.path.parent.name}: {failure}", err=True)
        records.append(_record(page.path.parent.name, [page.path], page.failed))
        if not as_json:
            echo(f"{page.path}{' (as it was)' if page.unchanged else ''}")
    return _ended(records, as_json)
