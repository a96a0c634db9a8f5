"""``plab show``: the meanings of a name, with its parameters."""

from __future__ import annotations

import json

import click

from perceptron_lab.cli.rendering import show_table
from perceptron_lab.experiments.configuration.catalogue import show as meanings_of


@click.command("show")
@click.argument("name")
@click.option("--json", "as_json", is_flag=True, help="Print JSON: a list of the meanings.")
def show(name: str, as_json: bool) -> int:
    """Explain an algorithm, learner, oracle or dataset, or print a shipped configuration.

    Where a name has several meanings, all are shown.
    """
    meanings = meanings_of(name)
    if as_json:
        click.echo(json.dumps(meanings, indent=2))
        return 0
    for meaning in meanings:
        if meaning["kind"] == "experiment":
            if len(meanings) > 1:
                click.echo(f"# configuration {name}")
            click.echo(meaning["text"], nl=False)
            continue
        click.echo(f"{meaning['kind']} {meaning['name']}\n")
        click.echo(meaning["documentation"])
        rows = [tuple(parameter.values()) for parameter in meaning["parameters"]]
        if not rows:
            click.echo("\nIt has no parameters.")
            continue
        described = any(row[-1] for row in rows)
        columns = tuple(meaning["parameters"][0])[: 4 if described else 3]
        show_table("", columns, [row[: len(columns)] for row in rows])
    return 0
