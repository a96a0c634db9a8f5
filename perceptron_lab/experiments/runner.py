"""Run an experiment: load everything, run every cell, keep every row."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from perceptron_lab import registry
from perceptron_lab.errors import ConfigError
from perceptron_lab.experiments.components import Component
from perceptron_lab.experiments.config import ExperimentConfig
from perceptron_lab.experiments.environment import environment
from perceptron_lab.experiments.execute import Outcome, execute
from perceptron_lab.experiments.gallery import find_config
from perceptron_lab.experiments.loader import checked_config, read_config
from perceptron_lab.experiments.plan import Cell, load_problems, plan
from perceptron_lab.experiments.store import Row, Store, parsed, rendered
from perceptron_lab.results import Result, Status

if TYPE_CHECKING:
    import pandas as pd

    from perceptron_lab.datasets.problem import Problem

RESULTS = Path("results")
"""The folder of all results, in the current one."""

Progress = Callable[[int, int, Row], None]
"""Called after each cell: how many are done, how many there are, the row of this one."""


@dataclass(frozen=True)
class Results:
    """What a run has made.

    Parameters
    ----------
    folder
        Where it is.
    rows
        One per cell, in the order of the plan.
    """

    folder: Path
    rows: list[Row]

    def to_frame(self) -> pd.DataFrame:
        """Return the rows as a frame, as they are in runs.csv."""
        return parsed(rendered(self.rows))

    @property
    def failed(self) -> list[Row]:
        """The rows whose cell failed; limits are no failures."""
        return [row for row in self.rows if Status(row["status"]).failed]


def load_config(
    config: str | Path | ExperimentConfig, overrides: Iterable[str] = ()
) -> tuple[ExperimentConfig, Path]:
    """Return a checked configuration and the folder that its relative paths start from.

    Raises
    ------
    ConfigError
        If there is no such file, or anything is wrong in it.
    """
    if isinstance(config, ExperimentConfig):
        return checked_config(config, overrides), Path()
    path = find_config(config)
    return read_config(path, overrides), path.parent


def run(
    config: str | Path | ExperimentConfig,
    *,
    overrides: Iterable[str] = (),
    output: str | Path | None = None,
    jobs: int = 1,
    progress: Progress | None = None,
) -> Results:
    """Run an experiment.

    Every row is on disk as soon as its cell has ended; an interrupt loses the running cell only.

    Parameters
    ----------
    config
        A file, the name of a shipped configuration, or a configuration.
    overrides
        ``path.to.key=value`` each.
    output
        The folder in which ``<experiment>/`` is made; by default ``results``.
    jobs
        Cells at a time, each in a process of its own if there are more than one. A script that
        asks for more must guard its own code by ``if __name__ == "__main__":``.
    progress
        Called after each cell.

    Raises
    ------
    ConfigError
        If the configuration or the folder is wrong; no cell was run then.
    DataError
        If a problem cannot be loaded; no cell was run then.
    """
    if jobs < 1:
        raise ConfigError(f"received {jobs} jobs; allowed: 1 or more")
    loaded, base = load_config(config, tuple(overrides))
    cells = plan(loaded)
    problems = load_problems(cells, base)
    _check_tasks(cells, problems)
    names = _identities(cells, problems)
    described = environment()
    folder = (RESULTS if output is None else Path(output)) / loaded.experiment
    store = Store(folder, loaded, described)
    with closing(execute(cells, problems, base, jobs)) as outcomes:
        for position, outcome in outcomes:
            cell, name = cells[position], names[position]
            row = row_of(cell, name, problems[cell.problem_key], outcome, described["id"])
            store.add(position, row, outcome.result)
            if progress is not None:
                progress(len(store.rows), len(cells), row)
    return Results(folder, store.rows)


def row_of(cell: Cell, name: str, problem: Problem, outcome: Outcome, environment_id: str) -> Row:
    """Return a cell's row of runs.csv."""
    settings = {
        "cell": name,
        "problem": cell.instance.title,
        "constraints": int(problem.system.cone.rank),
        "dimension": int(problem.system.operator.unknowns),
        "algorithm": cell.variant.algorithm.name,
        "label": cell.variant.label,
        "oracle": " + ".join(map(str, _oracles(cell, problem))),
        "parameters": json.dumps(cell.variant.algorithm.parameters),
        "seed": cell.seed,
        "status": outcome.status.value,
    }
    measures = {f"measure.{key}": value for key, value in outcome.measures.items()}
    ending = {"message": outcome.message, "environment": environment_id}
    return settings | _figures(outcome.result) | ending | measures


def _oracles(cell: Cell, problem: Problem) -> Sequence[Component]:
    """Return the oracles that are asked: those chosen, or the defaults; none by some algorithms."""
    algorithm = cell.variant.algorithm
    if algorithm.kind == "learner" or not getattr(algorithm.record, "uses_oracle", True):
        return []
    if cell.variant.oracles:
        return cell.variant.oracles
    records = problem.system.cone.oracles.values()
    return [Component("oracle", registry.name_of("oracle", record), record) for record in records]


def _figures(result: Result | None) -> Row:
    """Return the columns that only a result has."""
    if result is None:
        return {"proved": False}
    return {
        "proved": result.proved,
        "margin_lower": result.margin_lower,
        "margin_upper": result.margin_upper,
        "updates": result.updates,
        "queries": result.queries,
        "iterations": result.iterations,
        "products": result.products,
        "seconds": result.seconds,
        "proof_seconds": result.proof_seconds,
        "total_seconds": result.total_seconds,
        "bound": _finite(result.bound.value),
    }


def _finite(bound: float | None) -> float | None:
    """Return a bound, if it bounds anything."""
    return None if bound is None or math.isinf(bound) else bound


def _check_tasks(cells: Sequence[Cell], problems: Mapping[str, Problem]) -> None:
    """Refuse learners on problems from which nothing can be learnt."""
    for cell in cells:
        if cell.variant.algorithm.kind == "learner" and not problems[cell.problem_key].tasks:
            raise ConfigError(
                f"{cell.variant.algorithm.name} is a learner, and {cell.instance.title} of the "
                f"dataset {cell.instance.dataset.name} has no training and test examples; choose "
                "a dataset that has them, or an algorithm"
            )


def _identities(cells: Sequence[Cell], problems: Mapping[str, Problem]) -> list[str]:
    """Return the names of the cells, which must differ."""
    names: dict[str, Cell] = {}
    for cell in cells:
        name = cell.identify(problems[cell.problem_key].sha256)
        if name in names:
            raise ConfigError(
                f"problem {cell.instance.title}: its data are those of "
                f"{names[name].instance.title}, run with the same settings; delete one of the two"
            )
        names[name] = cell
    return list(names)
