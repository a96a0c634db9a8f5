"""``plab compare``: two runs of the same problems, row by row."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import click

from perceptron_lab.cli.rendering import show_table
from perceptron_lab.reporting.compare import METRICS, Comparison, Key, MeanRatio
from perceptron_lab.reporting.compare import compare as compare_folders
from perceptron_lab.reporting.differences import Difference


@click.command("compare")
@click.argument("a", type=click.Path(path_type=Path))
@click.argument("b", type=click.Path(path_type=Path))
@click.option(
    "--metric", type=click.Choice(METRICS), default=METRICS[0], show_default=True, help="A column."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON, every pair of rows in it.")
def compare(a: Path, b: Path, metric: str, as_json: bool) -> int:
    """Compare the results in the folders A and B.

    Rows are paired by problem, label and seed. Printed are the geometric mean of B / A for every
    label, over pairs that ended with the same proved status, with a 95 % bootstrap interval over
    problems; the changes of status; what only one of the two has; and where their configurations
    and environments differ.
    """
    found = compare_folders(a, b, metric=metric)
    if as_json:
        click.echo(json.dumps(found.as_json(), indent=2))
        return 0
    _show(found)
    if found.other_environment:
        text = "the environments differ (see above): times do not compare"
        click.echo(f"Warning: {text}", err=True)
    return 0


def _show(found: Comparison) -> None:
    columns = ("label", "pairs", "problems", "B / A", "lower", "upper")
    rows = [_ratio(ratio) for ratio in found.ratios]
    click.echo(found.heading)
    _section("", columns, rows)
    click.echo(found.counts)
    changes = [
        (pair.problem, pair.label, str(pair.seed), pair.status_a, pair.status_b)
        for pair in found.status_changes
    ]
    _section("Another status", ("problem", "label", "seed", "A", "B"), changes)
    for side, keys in (("A", found.only_a), ("B", found.only_b)):
        _section(f"Only in {side}", ("problem", "label", "seed"), _keys(keys))
    _section("Configuration", ("key", "A", "B"), _differences(found.config))
    _section("Environment", ("key", "A", "B"), _differences(found.environment))


def _section(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    if rows:
        if title:
            click.echo(title)
        show_table("", columns, rows)


def _ratio(ratio: MeanRatio) -> tuple[str, ...]:
    numbers = (ratio.ratio, ratio.lower, ratio.upper)
    shown = ("-" if number is None else f"{number:.4g}" for number in numbers)
    return (ratio.label, str(ratio.pairs), str(ratio.instances), *shown)


def _keys(keys: Sequence[Key]) -> list[tuple[str, ...]]:
    return [(problem, label, str(seed)) for problem, label, seed in keys]


def _differences(differences: Sequence[Difference]) -> list[tuple[str, ...]]:
    return [(one.path, one.first, one.second) for one in differences]
