"""``plab list`` and ``plab show``: registered names, and the description of one name."""

from __future__ import annotations

import re
from textwrap import indent
from typing import Any

import click

from perceptron_lab.cli.echo import echo, print_json
from perceptron_lab.cli.options import answer_options, completing, plugin_option, registered
from perceptron_lab.cli.rendering import show_table
from perceptron_lab.experiments.configuration.catalogue import (
    KINDS,
    REGISTERED,
    gallery,
    list_names,
)
from perceptron_lab.experiments.configuration.catalogue import show as meanings_of

_LEGEND = (
    "theorem: runs, and a theorem bounds its updates; runs: without such a bound; coordinates: on "
    "the pivoted-Cholesky coordinates of the kernel matrix; -: does not run."
)


@click.command("list")
@click.argument("kind", type=click.Choice(KINDS), required=False, metavar="[KIND]")
@answer_options(": a list of names with summaries")
@plugin_option
def listing(kind: str | None, as_json: bool) -> int:
    """List the names of a kind, such as algorithms or experiments, each with a summary.

    Without KIND, the kinds are listed.

    For algorithms a second table shows the kinds of systems on which each of them runs, and where a
    theorem bounds its number of updates.
    """
    items = list_names(kind) if kind else _kinds()
    if as_json:
        print_json(items)
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


_ROLE = re.compile(r":\w+:`(?:([^`<]+?)\s*<[^`>]*>|~(?:[^`]*\.)?([^`.]+)|\.?([^`]+))`")
_HEADING = re.compile(r"^(\w[\w ]*)\n-{3,}$", re.MULTILINE)


def plain(text: str) -> str:
    r"""Return the reStructuredText of a docstring as plain text for a terminal.

    Examples
    --------
    >>> print(plain("See :class:`~a.b.Cone` and :func:`.solve`: ``y``.\n\nNotes\n-----\nNone."))
    See Cone and solve: y.
    <BLANKLINE>
    Notes:
    None.
    """
    named = _ROLE.sub(lambda match: match[1] or match[2] or match[3], text)
    return _HEADING.sub(r"\1:", named.replace("``", ""))


def _stated(formula: str, theorem: str, paper: str, note: str) -> str:
    """Return a guarantee in one line, and its conditions or the absence of a bound in another."""
    source = ", ".join(part for part in (theorem, paper) if part)
    first = f"{formula}  ({source})" if formula else f"no bound{source and f' ({source})'}"
    return "\n".join(part for part in (first, note) if part)


@click.command("show")
@click.argument(
    "name",
    shell_complete=completing(lambda context: [*registered(*REGISTERED), *gallery()]),
)
@answer_options(": a list of the meanings")
@plugin_option
def show(name: str, as_json: bool) -> int:
    """Describe an algorithm, learner, oracle, dataset, table or figure, or print a configuration.

    If a name has several meanings, all are shown.
    """
    meanings = meanings_of(name)
    if as_json:
        print_json(meanings)
        return 0
    for meaning in meanings:
        if meaning["kind"] == "experiment":
            if len(meanings) > 1:
                echo(f"# configuration {name}")
            echo(meaning["text"], nl=False)
            continue
        explained = f"{meaning['kind']} {meaning['name']}\n\n{plain(meaning['documentation'])}"
        if meaning["kind"] in ("table", "figure", "theory"):
            # Comments, where a configuration of this name follows: what is printed remains YAML
            mark = "# " if meanings[-1]["kind"] == "experiment" else ""
            echo(indent(explained, mark) + "\n")
            continue
        echo(explained)
        if meaning.get("guarantee"):
            echo(f"\nUpdates at most:\n{_stated(**meaning['guarantee'])}")
        rows = [tuple(parameter.values()) for parameter in meaning["parameters"]]
        if not rows:
            echo("\nIt has no parameters.")
            continue
        described = any(row[-1] for row in rows)
        columns = tuple(meaning["parameters"][0])[: 4 if described else 3]
        show_table("", columns, [row[: len(columns)] for row in rows])
    return 0
