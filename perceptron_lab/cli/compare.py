"""``plab compare``: compare two runs of the same problems row by row."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from perceptron_lab.cli.echo import echo, print_json
from perceptron_lab.cli.options import answer_options
from perceptron_lab.cli.rendering import show_table
from perceptron_lab.reporting.compare import METRICS
from perceptron_lab.reporting.compare import compare as compare_folders


@click.command("compare")
@click.argument("a", type=click.Path(path_type=Path))
@click.argument("b", type=click.Path(path_type=Path))
@click.option(
    "--metric",
    type=click.Choice(METRICS),
    default=METRICS[0],
    show_default=True,
    help="Column to compare.",
)
@answer_options(", with every pair of rows")
def compare(a: Path, b: Path, metric: str, as_json: bool) -> int:
    """Compare the results in the folders A and B.

    Rows are paired by problem, label and seed. For every label the geometric mean of B / A is
    printed, over the pairs that ended with the same proved status, with a 95 % bootstrap interval
    over problems. Changes of status, rows that only one folder has, and differences between the
    configurations and environments are listed too.
    """
    comparison = compare_folders(a, b, metric=metric)
    if as_json:
        print_json(comparison.as_json())
        return 0
    names = ("problem", "label", "seed")
    echo(comparison.result)
    echo(comparison.heading)
    ratios = [
        (
            *(ratio.label, str(ratio.pairs), str(ratio.instances)),
            *("-" if x is None else f"{x:.4g}" for x in (ratio.ratio, ratio.lower, ratio.upper)),
        )
        for ratio in comparison.ratios
    ]
    _section("", ("label", "pairs", "problems", "B / A", "lower", "upper"), ratios)
    echo(comparison.counts)
    changes = [
        (pair.problem, pair.label, str(pair.seed), pair.status_a, pair.status_b)
        for pair in comparison.status_changes
    ]
    _section("Another status", (*names, "A", "B"), changes)
    for side, keys in (("A", comparison.only_a), ("B", comparison.only_b)):
        _section(f"Only in {side}", names, [tuple(map(str, key)) for key in keys])
    for title, several in (
        ("Configuration", comparison.config),
        ("Environment", comparison.environment),
    ):
        _section(
            title,
            ("key", "A", "B"),
            [(difference.path, difference.first, difference.second) for difference in several],
        )
    if comparison.other_environment:
        text = "the environments differ (see above): do not compare times"
        echo(f"Warning: {text}", err=True)
    return 0


def _section(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table with its title, unless it is empty."""
    if rows and title:
        echo(title)
    if rows:
        show_table("", columns, rows)
