"""``plab theory``: the theoretical bounds of the papers as tables and figures."""

from __future__ import annotations

from pathlib import Path

import click

from perceptron_lab.cli.echo import echo, print_json
from perceptron_lab.cli.options import (
    Into,
    answer_options,
    complete_registered,
    into_option,
    plugin_option,
)
from perceptron_lab.cli.rendering import show_frame
from perceptron_lab.reporting.theory.exhibit import written


@click.command("theory", cls=Into)
@click.argument(
    "names", metavar="[NAME]...", nargs=-1, shell_complete=complete_registered("theory")
)
@into_option(Path("results/theory"))
@answer_options(": the title and the files of each")
@plugin_option
def theory(names: tuple[str, ...], output: Path, as_json: bool) -> int:
    """Plot and tabulate the theoretical bounds of the papers, without running an experiment.

    NAME is one of `plab list theory`; without a name all are made. Each writes a table (CSV, LaTeX,
    HTML, Markdown) and in most cases a figure (PNG, PDF, SVG).
    """
    records = []
    for exhibit in written(names, output):
        records.append({"title": exhibit.exhibit.title, "files": list(map(str, exhibit.files))})
        if as_json:
            continue
        show_frame(exhibit.exhibit.title, exhibit.exhibit.table.frame)
        for path in exhibit.files:
            echo(str(path))
    if as_json:
        print_json(records)
    return 0
