"""``plab list``: every name that a configuration or a command can use."""

from __future__ import annotations

import json
from typing import Any

import click

from perceptron_lab.cli.echo import echo
from perceptron_lab.cli.options import plugin_option
from perceptron_lab.cli.rendering import show_table
from perceptron_lab.experiments.configuration.catalogue import KINDS, list_names

_LEGEND = (
    "theorem: runs, and a theorem bounds its updates; runs: without such a bound; coordinates: on "
    "the pivoted-Cholesky coordinates of the kernel matrix; -: does not run."
)


@click.command("list")
@click.argument("kind", type=click.Choice(KINDS), required=False, metavar="[KIND]")
@click.option("--json", "as_json", is_flag=True, help="Print JSON: a list of what has a name.")
@plugin_option
def listing(kind: str | None, as_json: bool) -> int:
    """List names of a kind, such as algorithms or shipped experiments, each with a summary.

    Without KIND the kinds are listed.

    For algorithms a second table says on which kinds of systems each of them runs, and where a
    theorem bounds its updates.
    """
    items = list_names(kind) if kind else _kinds()
    if as_json:
        echo(json.dumps(items, indent=2))
        return 0
    show_table("", ("name", "summary"), [(item["name"], item["summary"]) for item in items])
    matrix = {item["name"]: item["systems"] for item in items if "systems" in item}
    if matrix:
        kinds = list(next(iter(matrix.values())))
        rows = [(name, *(entries[kind] for kind in kinds)) for name, entries in matrix.items()]
        show_table("", ("name", *kinds), rows)
        echo(_LEGEND)
    return 0


def _kinds() -> list[dict[str, Any]]:
    """Return the kinds, each with its number of names and the command that lists them."""
    return [
        {"name": kind, "summary": f"{len(list_names(kind))} names: plab list {kind}"}
        for kind in KINDS
    ]
