"""Entry point for optima: a proved interval for the optimum of any semidefinite program."""

from __future__ import annotations

import math
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from perceptron_lab.algorithms.linear.linear_optimum import linear_optimum
from perceptron_lab.algorithms.linear.linear_result import LinearResult
from perceptron_lab.core.errors import InputError
from perceptron_lab.core.goals import Budget, goal_of
from perceptron_lab.core.registry import loaded
from perceptron_lab.core.results import Result, Status
from perceptron_lab.core.run_options import RunOptions, Stop, Watch, callbacks
from perceptron_lab.core.time_limit import seconds_left, time_is_up, time_limit
from perceptron_lab.datasets.collections.problem_files import read_system
from perceptron_lab.problems.optima.deep_cut_ellipsoid import DeepCutEllipsoid
from perceptron_lab.problems.optima.levels import objective_of
from perceptron_lab.problems.optima.low_rank import LowRank
from perceptron_lab.problems.optima.maxcut.program import (
    MaxCutProgram,
    is_networkx,
    program_of_graph,
)
from perceptron_lab.problems.optima.objective_levels import ObjectiveBisection
from perceptron_lab.problems.optima.optimiser import Optimiser, minimise
from perceptron_lab.problems.optima.verified_solver import VerifiedSolver
from perceptron_lab.systems import ConicSystem, System
from perceptron_lab.systems.linear_system import LinearSystem

Program = str | Path | System | MaxCutProgram | sp.sparray | npt.NDArray[np.float64]


def optimum(
    path_or_system: Program | None = None,
    *,
    graph: object = None,
    width: float = 1e-8,
    budget: Budget | None = None,
    seed: int = 0,
    watch: Watch | None = None,
    stop: Stop | None = None,
) -> Result:
    """Return a proved interval around the optimum of a semidefinite or linear program.

    Parameters
    ----------
    path_or_system
        The path of an SDPA, MPS or LP file; a linear system with an objective, or a homogenised
        system with one; or a relaxation of MAXCUT: a :class:`.MaxCutProgram`, or a symmetric
        matrix C, dense or scipy.sparse, for max <C, X>, diag(X) = 1, X positive semidefinite. C is
        no adjacency matrix: see ``graph``.
    graph
        In place of it a graph, for the relaxation of its MAXCUT: a networkx graph, edges
        ``(u, v[, weight])``, or a symmetric adjacency matrix, as
        :func:`~perceptron_lab.problems.optima.maxcut.program.program_of_graph` takes them.
    width
        The wanted (upper - lower) / max(1, |upper|).
    budget, seed, watch, stop
        As for :func:`~perceptron_lab.solving.entry.solve`. An update of ``low-rank`` is a sweep.

    Returns
    -------
    Result
        ``optimum_lower`` and ``optimum_upper`` are proved; ``goal_reached`` states
        whether the interval has the wanted width. Programs of MAXCUT's form are solved by
        ``low-rank``. Others by ``verified-solver`` with Clarabel, whose answer bounds the optimum
        on the sides that have interiors; if that is not narrow enough, by ``deep-cut-ellipsoid``,
        or where this has no ellipsoid to start from, ``objective-bisection``; the narrower interval
        counts.

    Raises
    ------
    InputError, DataError
        If the program is invalid or has no objective, or unless exactly one of a program and a
        graph is given.

    Warns
    -----
    UserWarning
        If C is nonnegative with a zero diagonal, as an adjacency matrix is.

    Examples
    --------
    >>> import numpy as np
    >>> from perceptron_lab import optimum
    >>> triangle = np.array([[0.5, -0.25, -0.25], [-0.25, 0.5, -0.25], [-0.25, -0.25, 0.5]])
    >>> found = optimum(triangle)
    >>> found.optimum_lower <= 2.25 <= found.optimum_upper, found.goal_reached
    (True, True)
    >>> found = optimum(graph=[("a", "b"), ("b", "c"), ("c", "a")])
    >>> found.optimum_lower <= 2.25 <= found.optimum_upper, found.certificate["figures"]["cut"]
    (True, 2.0)
    """
    if (path_or_system is None) == (graph is None):
        raise InputError("give either a program or graph=...")
    if graph is not None:
        path_or_system = program_of_graph(graph)
    watch, stop = callbacks(watch, stop)
    options = RunOptions(
        goal=goal_of({"width": width}),
        budget=budget or Budget(),
        seed=seed,
        watch=watch,
        stop=stop,
    )
    if isinstance(path_or_system, str | Path):  # reading takes no part of the budget
        path_or_system = read_system(Path(path_or_system))
    assert path_or_system is not None
    if isinstance(path_or_system, LinearSystem):
        return optimum_of_conditions(path_or_system, options)
    with time_limit(options.budget.seconds, stop):
        return optimum_with_optimiser(program_of(path_or_system), options)[1]


def optimum_of_conditions(system: LinearSystem, options: RunOptions) -> LinearResult:
    """Return the exact optimum of a linear program."""
    budget = options.budget
    return linear_optimum(system, pivots=budget.updates, seconds=budget.seconds, stop=options.stop)


def optimum_with_optimiser(system: ConicSystem, options: RunOptions) -> tuple[Optimiser, Result]:
    """Return the result of :func:`optimum` together with the optimiser that produced it."""
    with time_limit(options.budget.seconds, options.stop):
        optimiser, result = _best(system, options)
        if result.status is not Status.INFEASIBLE or system.cone.of_rows:
            return optimiser, result

        def minimised(program: ConicSystem) -> Result:
            left = Budget(options.budget.updates, seconds_left())
            return _best(program, replace(options, budget=left))[1]

        # By name: its exact arithmetic takes a while to load
        on_boundary = loaded("perceptron_lab.problems.optima.boundary:on_boundary")
        return optimiser, on_boundary(system, result, options, minimised)


def _best(system: ConicSystem, options: RunOptions) -> tuple[Optimiser, Result]:
    """Return the narrowest interval of the optimisers for a program, tried in turn."""
    best: tuple[Optimiser, Result] | None = None
    refused: InputError | None = None
    for optimiser in suitable_optimisers(system):
        if best is not None and (best[1].goal_reached or time_is_up()):
            break
        if isinstance(optimiser, ObjectiveBisection) and best is not None and refused is None:
            break  # bisection is the fallback for programs that the other optimisers refuse
        try:
            left = Budget(options.budget.updates, min(options.budget.seconds, seconds_left()))
            earlier = None if best is None else best[1]
            result = minimise(system, optimiser, replace(options, budget=left), earlier=earlier)
        except InputError as error:
            refused = error
            continue
        if best is None or _narrower(result, best[1]):
            best = optimiser, result
    if best is None:
        assert refused is not None
        raise refused
    return best


def _narrower(first: Result, other: Result) -> bool:
    """Return whether the first result is better: a decision, or a narrower interval."""
    if first.status is Status.INFEASIBLE or other.status is Status.INFEASIBLE:
        return first.status is Status.INFEASIBLE
    widths = [math.inf if w is None else w for w in (first.optimum_width, other.optimum_width)]
    if widths[0] == widths[1] == math.inf:
        return first.optimum_upper is not None and other.optimum_upper is None
    return widths[0] < widths[1]


def program_of(source: Program) -> ConicSystem:
    """Return the homogenised system of a program, or raise an InputError for anything else."""
    if isinstance(source, str | Path):
        source = read_system(Path(source))
    if isinstance(source, System):
        objective_of(source)
        return ConicSystem.of(source)
    if isinstance(source, MaxCutProgram):
        return source.system()
    if is_networkx(source):
        raise InputError("a networkx graph is no program; use optimum(graph=...)")
    program = MaxCutProgram.of_matrix(source)
    if program.weights.nnz and not program.diagonal.any() and (program.weights.data >= 0.0).all():
        warnings.warn(
            "C is nonnegative with a zero diagonal, like an adjacency matrix; its optimum does not "
            "bound the cuts of that graph; for these use optimum(graph=C)",
            UserWarning,
            stacklevel=3,
        )
    return program.system()


def suitable_optimisers(system: ConicSystem) -> list[Optimiser]:
    """Return the optimisers for a program, in the order in which they are tried."""
    if MaxCutProgram.of_system(system) is not None:
        return [LowRank()]
    return [
        VerifiedSolver(solver="clarabel"),
        DeepCutEllipsoid(),
        ObjectiveBisection(method="ellipsoid"),
    ]
