"""``plab solve``: one file, one algorithm, one proved answer."""

from __future__ import annotations

import json
from pathlib import Path

import click
from click.shell_completion import CompletionItem
from pydantic import ValidationError

from perceptron_lab.cli.options import bytes_of, complete_registered, plugin_option
from perceptron_lab.datasets.formats.columns import LAST
from perceptron_lab.datasets.formats.problem_files import FORMATS
from perceptron_lab.errors import DataError, InputError
from perceptron_lab.experiments.answers import answer
from perceptron_lab.goals import Budget, Goal, goal_of
from perceptron_lab.operators.row_source import LEAST_MEMORY, MEMORY

_GOALS = "decide, budget, margin_upper=NUMBER or margin_ratio=NUMBER"
_UPDATES, _SECONDS = Budget().updates, Budget().seconds


def _goal(text: str) -> Goal:
    """Return the goal that a word means: ``decide``, ``budget``, or as ``margin_upper=1e-6``."""
    try:
        return goal_of(text)
    except InputError:
        raise click.BadParameter(
            f"received {text!r}; allowed: {_GOALS}, above 0 (a ratio: below 1)"
        ) from None


def _complete_goal(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Complete the words of goals."""
    words = ("decide", "budget", "margin_upper=", "margin_ratio=")
    return [CompletionItem(word) for word in words if word.startswith(incomplete)]


def _bytes(text: str) -> int:
    """Return the memory that a pass may take, given as ``512MB``."""
    size = bytes_of(text)
    if size < LEAST_MEMORY:
        raise click.BadParameter(f"received {text!r}; allowed: {LEAST_MEMORY // 10**6}MB or more")
    return size


@click.command(
    "solve",
    epilog="FILE ends with " + "; ".join(f"{end}: {words}" for end, words in FORMATS.items()) + ".",
)
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--labels",
    metavar=f"COLUMN|{LAST}",
    help="Column of two classes in a .csv, .tsv, .npy or .parquet file, by its name or its number "
    "from 1 on; the answer is an affine separator (w, b).",
)
@click.option(
    "--memory",
    type=_bytes,
    metavar="SIZE",
    help="Read the rows of a .npy or .parquet file block by block, a pass over them taking this "
    "much memory (as 512MB), beside some numbers per row and those rows that the algorithm keeps. "
    f"Without it a .npy file is mapped; a .parquet file is read with {MEMORY // 10**6}MB.",
)
@click.option(
    "--algorithm",
    metavar="NAME",
    default="auto",
    show_default=True,
    shell_complete=complete_registered("algorithm"),
    help="A name of `plab list algorithms`.",
)
@click.option(
    "--oracle",
    "oracles",
    metavar="NAME",
    multiple=True,
    shell_complete=complete_registered("oracle"),
    help="A name of `plab list oracles`; at most one per kind of cone, each with an option.",
)
@click.option(
    "--goal",
    type=_goal,
    metavar="GOAL",
    default="decide",
    show_default=True,
    shell_complete=_complete_goal,
    help=_GOALS,
)
@click.option("--budget-updates", type=click.IntRange(min=0), default=_UPDATES, show_default=True)
@click.option("--budget-seconds", type=click.FloatRange(min=0), default=_SECONDS, show_default=True)
@plugin_option
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print JSON with the names of runs.csv.")
@click.option(
    "--save",
    metavar="RESULT.npz",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write point, weights and trace to a file (`Result.load` reads it).",
)
def command(
    file: Path,
    labels: str | None,
    memory: int | None,
    algorithm: str,
    oracles: tuple[str, ...],
    goal: Goal,
    budget_updates: int,
    budget_seconds: float,
    seed: int,
    as_json: bool,
    save: Path | None,
) -> int:
    """Solve the system in FILE: a point strictly inside, or a proof that there is (nearly) none.

    Rows of numbers are the system rows @ y > 0. The answer is proved on the
    numbers of the file: text is read as the decimals printed, and what no double is equal to is
    enclosed.
    """
    try:
        budget = Budget(budget_updates, budget_seconds)
    except ValidationError:
        raise click.BadParameter(
            f"{budget_seconds}; give a finite number of seconds", param_hint="'--budget-seconds'"
        ) from None
    if save is not None and not save.parent.is_dir():
        raise DataError(f"{save}: there is no folder {save.parent}; make it, or choose another")
    found = answer(
        file,
        labels=labels,
        memory=memory,
        algorithm=algorithm,
        oracles=oracles,
        goal=goal,
        budget=budget,
        seed=seed,
    )
    click.echo(json.dumps(found.row(), indent=2) if as_json else str(found))
    if save is not None:
        found.save(save)
    return 1 if found.result.status.failed else 0
