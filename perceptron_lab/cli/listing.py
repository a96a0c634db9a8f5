"""``plab list``: every name that a configuration or a command can use."""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any, Final

import click

from perceptron_lab import registry
from perceptron_lab.cli.rendering import show_table
from perceptron_lab.experiments.gallery import gallery
from perceptron_lab.experiments.yaml_source import read_source

KINDS: Final = ("algorithms", "learners", "oracles", "datasets", "experiments")

_LEGEND = (
    "theorem: runs, and a theorem bounds its updates; runs: without such a bound; coordinates: on "
    "the pivoted-Cholesky coordinates of the kernel matrix; -: does not run."
)


@click.command("list")
@click.argument("kind", type=click.Choice(KINDS))
@click.option("--json", "as_json", is_flag=True, help="Print JSON: a list of what has a name.")
def listing(kind: str, as_json: bool) -> int:
    """List algorithms, learners, oracles, datasets or shipped experiments, each with a summary.

    For algorithms a second table says on which kinds of systems each of them runs, and where a
    theorem bounds its updates.
    """
    summaries = _experiments() if kind == "experiments" else _registered(kind.removesuffix("s"))
    matrix = _matrix() if kind == "algorithms" else {}
    if as_json:
        click.echo(json.dumps(_items(summaries, matrix), indent=2))
        return 0
    show_table("", ("name", "summary"), list(summaries.items()))
    if matrix:
        kinds = list(next(iter(matrix.values())))
        rows = [(name, *(entries[kind] for kind in kinds)) for name, entries in matrix.items()]
        show_table("", ("name", *kinds), rows)
        click.echo(_LEGEND)
    return 0


def _items(summaries: dict[str, str], matrix: dict[str, dict[str, str]]) -> list[dict[str, Any]]:
    return [
        {"name": name, "summary": summary} | ({"systems": matrix[name]} if name in matrix else {})
        for name, summary in summaries.items()
    ]


def _matrix() -> dict[str, dict[str, str]]:
    """Return algorithm -> kind of system -> what holds there."""
    # Imported here: the other lists need no numerical code.
    from perceptron_lab.algorithms.capabilities import capabilities

    return capabilities()


def _registered(kind: str) -> dict[str, str]:
    return {name: summary(registry.load(kind, name)) for name in registry.names(kind)}


def _experiments() -> dict[str, str]:
    return {name: _title(path) for name, path in gallery().items()}


def summary(documented: object) -> str:
    """Return the first line of a docstring."""
    return (inspect.getdoc(documented) or "").partition("\n")[0]


def _title(path: Path) -> str:
    tree = read_source(path).tree
    return str(tree.get("title", "")) if isinstance(tree, dict) else ""
