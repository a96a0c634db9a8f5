"""``plab show``: the meanings of a name, with its parameters."""

from __future__ import annotations

import json
from textwrap import indent

import click
from click.shell_completion import CompletionItem

from perceptron_lab.cli.echo import echo
from perceptron_lab.cli.options import complete_registered, plugin_option
from perceptron_lab.cli.rendering import show_table
from perceptron_lab.experiments.configuration.catalogue import REGISTERED, gallery
from perceptron_lab.experiments.configuration.catalogue import show as meanings_of


def _complete(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Complete the name of anything registered, or of a shipped configuration."""
    names = complete_registered(*REGISTERED)(context, parameter, incomplete)
    shipped = [name for name in gallery() if name.startswith(incomplete)]
    known = {item.value for item in names}
    return [*names, *(CompletionItem(name) for name in shipped if name not in known)]


@click.command("show")
@click.argument("name", shell_complete=_complete)
@click.option("--json", "as_json", is_flag=True, help="Print JSON: a list of the meanings.")
@plugin_option
def show(name: str, as_json: bool) -> int:
    """Explain an algorithm, learner, oracle, dataset, table or figure, or print a configuration.

    Where a name has several meanings, all are shown.
    """
    meanings = meanings_of(name)
    if as_json:
        echo(json.dumps(meanings, indent=2))
        return 0
    for meaning in meanings:
        if meaning["kind"] == "experiment":
            if len(meanings) > 1:
                echo(f"# configuration {name}")
            echo(meaning["text"], nl=False)
            continue
        explained = f"{meaning['kind']} {meaning['name']}\n\n{meaning['documentation']}"
        if meaning["kind"] in ("table", "figure", "theory"):
            # Comments, where a configuration of this name follows: what is printed remains YAML
            mark = "# " if meanings[-1]["kind"] == "experiment" else ""
            echo(indent(explained, mark) + "\n")
            continue
        echo(explained)
        rows = [tuple(parameter.values()) for parameter in meaning["parameters"]]
        if not rows:
            echo("\nIt has no parameters.")
            continue
        described = any(row[-1] for row in rows)
        columns = tuple(meaning["parameters"][0])[: 4 if described else 3]
        show_table("", columns, [row[: len(columns)] for row in rows])
    return 0
