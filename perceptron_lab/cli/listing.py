"""``plab list``: every name that a configuration or a command can use."""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Final

import click

from perceptron_lab import registry
from perceptron_lab.cli.rendering import show_table
from perceptron_lab.experiments.gallery import gallery
from perceptron_lab.experiments.yaml_source import read_source

KINDS: Final = ("algorithms", "oracles", "datasets", "experiments")


@click.command("list")
@click.argument("kind", type=click.Choice(KINDS))
@click.option("--json", "as_json", is_flag=True, help="Print JSON: a list of name and summary.")
def listing(kind: str, as_json: bool) -> int:
    """List algorithms, oracles, datasets or shipped experiments, each with a summary."""
    summaries = _experiments() if kind == "experiments" else _registered(kind.removesuffix("s"))
    if as_json:
        items = [{"name": name, "summary": summary} for name, summary in summaries.items()]
        click.echo(json.dumps(items, indent=2))
    else:
        show_table("", ("name", "summary"), list(summaries.items()))
    return 0


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
