"""``plab report``: tables and figures of results that are there already."""

from __future__ import annotations

from pathlib import Path

import click

from perceptron_lab.cli.options import complete_config, output_option, quiet_option
from perceptron_lab.cli.rendering import show_frame
from perceptron_lab.experiments.storage.exports import difference
from perceptron_lab.experiments.storage.reader import Reader
from perceptron_lab.reporting import make_report, table_frame
from perceptron_lab.reporting.rebuild import found_results


@click.command("report")
@click.argument("targets", metavar="[CONFIG|FOLDER]...", nargs=-1, shell_complete=complete_config)
@output_option
@quiet_option
def report(targets: tuple[str, ...], output: Path, quiet: bool) -> int:
    """Rebuild the tables and figures of results.

    FOLDER holds results (runs.sqlite); CONFIG stands for the results of its experiment, reported
    as it says now. Without either, every experiment in the folder of results is reported.
    """
    for folder, config in found_results(targets, output):
        made = make_report(folder, config.report.model_dump(), config.title)
        with Reader.open(folder) as reader:  # reports are made from the store, not from runs.csv
            edited = difference(folder, reader.rows())
        for caution in filter(None, (*made.cautions, edited)):
            click.echo(f"warning: {caution}", err=True)
        if quiet:
            continue
        for name in config.report.tables:
            show_frame(config.title or name, table_frame(name, made.evidence))
        for path in made.files:
            click.echo(str(path))
        if not made.files:
            click.echo(f"{folder}: the configuration asks for no tables or figures")
    return 0
