"""``plab report``: tables and figures of results that are there already."""

from __future__ import annotations

from pathlib import Path

import click

from perceptron_lab.cli.echo import echo
from perceptron_lab.cli.options import (
    output_option,
    plugin_option,
    quiet_option,
    targets_argument,
)
from perceptron_lab.cli.rendering import show_frame
from perceptron_lab.reporting import rebuilt
from perceptron_lab.reporting.report import processors


@click.command("report")
@targets_argument
@click.option(
    "--html", is_flag=True, help="Write pages (index.html) instead of tables and figures."
)
@output_option
@plugin_option
@quiet_option
def report(targets: tuple[str, ...], html: bool, output: Path, quiet: bool) -> int:
    """Rebuild the tables and figures of results.

    FOLDER holds results (runs.sqlite), or several such folders; CONFIG stands for the results of
    its experiment, reported as it says now. Without either, every experiment in the folder of
    results is reported. A table or figure that the runs do not suit is named, and the others are
    written: exit code 1.

    With --html each experiment has one page that needs no network and can be sent: index.html in
    its folder; and where all results of a folder are reported, there is one of all of them.
    """
    if html:
        return _write_pages(targets, output, quiet)
    failed = False
    for made in rebuilt(targets, output, processors()):
        for one in made.failed:
            echo(f"failed: {one}", err=True)
        failed |= bool(made.failed)
        for caution in filter(None, (*made.cautions, made.edited)):
            echo(f"warning: {caution}", err=True)
        if quiet:
            continue
        for name, table in made.tables.items():
            show_frame(made.title or name, table.frame)
        for path in made.files:
            echo(str(path))
    return 1 if failed else 0


def _write_pages(targets: tuple[str, ...], output: Path, quiet: bool) -> int:
    from perceptron_lab.reporting.pages.writing import written

    failed = False
    for page in written(targets, output, processors()):
        for one in page.failed:
            echo(f"failed: {page.path.parent.name}: {one}", err=True)
        failed |= bool(page.failed)
        if not quiet:
            echo(f"{page.path}{' (as it was)' if page.kept else ''}")
    return 1 if failed else 0
