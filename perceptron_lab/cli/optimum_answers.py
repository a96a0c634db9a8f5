"""The answer to the optimum of the program in one file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from perceptron_lab.cli.answers import ResultAnswer, component_of
from perceptron_lab.core import registry
from perceptron_lab.core.errors import InputError
from perceptron_lab.core.results import Result
from perceptron_lab.core.run_options import RunOptions
from perceptron_lab.datasets.collections.problem_files import read_problem
from perceptron_lab.datasets.formats.columns import Columns
from perceptron_lab.datasets.formats.linear_programs import LEFT_OUT
from perceptron_lab.experiments.configuration.components import Component
from perceptron_lab.problems.optima.optimiser import minimise
from perceptron_lab.problems.optima.optimum import (
    optimum_of_conditions,
    optimum_with_optimiser,
    program_of,
)
from perceptron_lab.systems.linear_system import LinearSystem


def optimum_answer(
    file: Path,
    options: RunOptions,
    *,
    algorithm: str,
    parameters: Mapping[str, object],
    columns: Columns | None = None,
) -> ResultAnswer:
    """Enclose the optimum of the program in a file, as ``plab solve --optimum`` does.

    Parameters
    ----------
    file
        Of SDPA's format, MPS or LP.
    options
        The goal is a width.
    algorithm, parameters
        ``auto``: as :func:`~perceptron_lab.problems.optima.optimum.optimum` chooses; or a name of
        ``plab list optimisers``, and its parameters.
    columns
        The convention on bounds of a linear program.
    """
    arguments = dict(parameters)
    # Which optimiser is chosen depends on the program, and so would its parameters
    if algorithm == "auto" and arguments:
        raise InputError(
            f"parameters {', '.join(arguments)} of no optimiser; name one: --algorithm"
        )
    component = None if algorithm == "auto" else component_of("optimiser", algorithm, arguments)
    columns = columns or Columns()
    problem = read_problem(file, columns)
    if isinstance(problem.system, LinearSystem):
        if component is not None:
            raise InputError(f"{algorithm} is for semidefinite programs; leave --algorithm out")
        component = component_of("algorithm", "auto", {})
        # Here the objective is not left out
        notes = tuple(note for note in problem.notes if note != LEFT_OUT)
        result: Result = optimum_of_conditions(problem.system, options)
        return ResultAnswer(
            file, columns, replace(problem, notes=notes), component, options, result
        )
    system = program_of(problem.system)
    if component is None:
        record, result = optimum_with_optimiser(system, options)
        name = registry.name_of("optimiser", record)
        component = Component("optimiser", name, record)
    else:
        result = minimise(system, component.record, options)
    return ResultAnswer(file, columns, problem, component, options, result)
