"""The answer to the optimum of the program in one file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from perceptron_lab.cli.answers import ResultAnswer, component_of
from perceptron_lab.core import registry
from perceptron_lab.core.errors import InputError
from perceptron_lab.core.goals import Budget
from perceptron_lab.core.run_options import Stop, Watch
from perceptron_lab.datasets.collections.problem_files import read_problem
from perceptron_lab.datasets.formats.columns import Columns
from perceptron_lab.experiments.configuration.components import Component
from perceptron_lab.problems.optima.optimiser import minimise
from perceptron_lab.problems.optima.optimum import found_by, program_of


def optimum_answer(
    file: Path,
    *,
    algorithm: str = "auto",
    parameters: Mapping[str, Any] | None = None,
    width: float = 1e-8,
    budget: Budget | None = None,
    seed: int = 0,
    watch: Watch | None = None,
    stop: Stop | None = None,
) -> ResultAnswer:
    """Enclose the optimum of the program in a file; ``plab solve --optimum`` in Python.

    Parameters
    ----------
    file
        Of SDPA's format.
    algorithm, parameters
        ``auto``: as :func:`~perceptron_lab.problems.optima.optimum.optimum` chooses; or a name of
        ``plab list optimisers``, and its parameters.
    width, budget, seed, watch, stop
        As for :func:`~perceptron_lab.problems.optima.optimum.optimum`.
    """
    given = dict(parameters or {})
    if algorithm == "auto" and given:
        raise InputError(f"parameters {', '.join(given)} of no optimiser; name one: --algorithm")
    chosen = None if algorithm == "auto" else component_of("optimiser", algorithm, given)
    columns = Columns()
    problem = read_problem(file, columns)
    system = program_of(problem.system)
    limits = {"budget": budget, "seed": seed, "watch": watch, "stop": stop}
    if chosen is None:
        record, result = found_by(system, width=width, **limits)  # type: ignore[arg-type]
        name = registry.name_of("optimiser", record)
        chosen = Component("optimiser", name, record)
    else:
        result = minimise(system, chosen.record, goal={"width": width}, **limits)  # type: ignore[arg-type]
    return ResultAnswer(file, columns, problem, chosen, (), seed, result)
