"""``solve``, the entry point: any problem and any algorithm; a verified result."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from numbers import Integral
from pathlib import Path
from typing import Any, Final

import numpy.typing as npt

from perceptron_lab.algorithms.automatic.auto import Auto
from perceptron_lab.algorithms.base import Algorithm, AnyAlgorithm
from perceptron_lab.core import registry
from perceptron_lab.core.errors import ConfigError, InputError, refuse_flags
from perceptron_lab.core.facts import Facts
from perceptron_lab.core.goals import Budget, Goal, goal_of
from perceptron_lab.core.results import Result
from perceptron_lab.core.run_options import (
    Observe,
    Oracle,
    RunOptions,
    Stop,
    TraceOptions,
    Watch,
    callbacks,
)
from perceptron_lab.core.time_limit import TimeIsUp, time_limit
from perceptron_lab.datasets.collections.problem_files import read_system
from perceptron_lab.solving.driver import drive
from perceptron_lab.solving.failures import sentence
from perceptron_lab.systems import ConicSystem, System
from perceptron_lab.systems.conic_system import Problem
from perceptron_lab.systems.constructors import Margin
from perceptron_lab.systems.parted_system import system_of_data

_ARGUMENTS: Final[dict[str, tuple[Any, str]]] = {
    "seed": (Integral, "a whole number, 0 or more"),
    "facts": (Facts, "Facts(margin=..., ...) of perceptron_lab.core.facts"),
    "record_at": (Iterable, "a list of numbers of updates, as [10, 100]"),
    "observe": (Callable, "a function of the point that returns numbers by name"),
    "watch": (Callable, "a function of the trace"),
    "stop": (Callable, "a function that returns None, or a text to end the run"),
}
"""Argument -> its type, and how it is given; None stands for its default."""


def solve(
    problem: Problem | str | Path,
    labels: npt.ArrayLike | AnyAlgorithm | type[AnyAlgorithm] | None = None,
    algorithm: str | AnyAlgorithm | type[AnyAlgorithm] | None = None,
    *,
    margin: Margin | None = None,
    oracle: str | Oracle | Iterable[str | Oracle] | None = None,
    goal: Goal | Mapping[str, float] = "decide",
    budget: Budget | None = None,
    seed: int = 0,
    start: npt.ArrayLike | None = None,
    facts: Facts | None = None,
    record_at: Sequence[int] = (),
    trace_cuts: bool = False,
    observe: Observe | None = None,
    watch: Watch | None = None,
    stop: Stop | None = None,
) -> Result:
    """Find y with A*y strictly inside K, or bound the margin; prove the answer on the data.

    Parameters
    ----------
    problem
        Rows, examples with ``labels``, a tuple of both, a :class:`ConicSystem`, a cvxpy problem or
        the path of a file; see :func:`as_system`. Of a cvxpy problem the objective is left out
        (:meth:`.ConicSystem.from_cvxpy`); its variables are given their values, None where no point
        is proved, and the result has them by name. Conditions of :meth:`.ConicSystem.from_linear`
        are for ``auto`` and ``highs``: a
        :class:`~perceptron_lab.algorithms.linear.linear_result.LinearResult` comes of them.
    labels
        Labels of two classes, one per example, shape ``(m,)``, or None. An algorithm may be given
        here instead: ``solve(rows, "perceptron")``.
    algorithm
        A name of ``plab list algorithms`` (default ``auto``), or an algorithm's record with its
        parameters (a class stands for its defaults).
    margin
        For rows and labelled examples: ``unit`` (default), ``directional`` or ``geometric``; see
        :meth:`.ConicSystem.from_rows` and :meth:`.ConicSystem.from_labelled`.
    oracle
        A name of ``plab list oracles``, a record, or a list of them (one per kind of cone); None
        takes each cone's default.
    goal
        ``"decide"``, ``"budget"``, ``{"margin_upper": eps}`` or ``{"margin_ratio": r}``.
    budget
        Updates and seconds at most (default 1e6 and 300).
    seed
        Seed of all randomness of the algorithm and its oracles, 0 or more.
    start
        Initial point, shape ``(dimension,)``, not 0, such as the answer of another algorithm or
        solver, or the point of a system that has changed. A feasible start is proved at once (goal
        ``decide``). None leaves the choice to the algorithm.
    facts
        Known facts about the system, for the bound; None takes the system's own facts.
    record_at
        Further numbers of updates at which the trace has a record.
    trace_cuts
        Whether the trace has, at each record, number, mean norm and mean depth of the single cuts
        since the record before; see :class:`~perceptron_lab.systems.system.CutStatistics`.
    observe
        A function of a point on the data as given, shape ``(unknowns,)``, whose numbers or arrays
        by name the trace records in addition to the margin.
    watch
        Called with the trace whenever it has a new record: ``iterations[-1]``, ``updates[-1]``,
        ``margin[-1]``, ``upper[-1]`` (NaN without weights) and ``seconds[-1]`` are the latest. Its
        StopIteration ends the run as ``stop`` does, with the exception's text as the message.
    stop
        Asked before each chunk of steps (5 to 50 ms), in longer steps and in proofs: a text ends
        the run as a limit does, with TIME_LIMIT and this message. The proofs at the end then have
        0.4 s.

    Returns
    -------
    Result
        Only what is proved on the original data, in double precision with bounds of all rounding
        errors, is called proved. Numbers that no double is equal to are rounded once, and proofs
        enclose them (see ``certificate["data"]``).

    Raises
    ------
    InputError, DataError, ConfigError
        If the problem or a name is invalid.

    Examples
    --------
    >>> from perceptron_lab import solve
    >>> result = solve([[1.0, 1.0], [1.0, -1.0]], "perceptron")
    >>> print(result.status, result.proved, result.updates)
    FEASIBLE True 2
    >>> bool(result.point @ [1.0, 1.0] > 0.0 and result.point @ [1.0, -1.0] > 0.0)
    True

    A cvxpy problem, and the constraints in conflict of an infeasible one:

    >>> import cvxpy
    >>> x = cvxpy.Variable(2, name="x")
    >>> print(solve(cvxpy.Problem(cvxpy.Minimize(0), [x >= 1, cvxpy.sum(x) == 3])).values["x"])
    [1.5 1.5]
    >>> solve(cvxpy.Problem(cvxpy.Minimize(0), [x >= 1, cvxpy.sum(x) <= 1, x <= 5])).conflict
    ('1.0 <= x', 'Sum(x, None, False) <= 1.0')

    Two classes: the point is (w, b) with w'x + b > 0 for the larger label.

    >>> solve([[1.0], [3.0]], ["no", "yes"]).point.shape
    (2,)

    The margin of support vector machines, half the distance of the classes' hulls:

    >>> examples, classes = [[1.0], [3.0]], ["no", "yes"]
    >>> widest = solve(examples, classes, margin="geometric", goal={"margin_ratio": 0.99})
    >>> print(widest.point, f"{widest.margin_lower:.6f} {widest.margin_upper:.6f}")
    [ 1. -2.] 1.000000 1.000000

    No point y has y > 0 and -y > 0; weights prove that:

    >>> opposite = solve([[1.0], [-1.0]], "von-neumann")
    >>> print(opposite.status, opposite.margin_upper, opposite.weights)
    INFEASIBLE 0.0 [0.5 0.5]
    """
    if isinstance(labels, str | Algorithm | type):
        if algorithm is not None:
            raise InputError(f"labels {labels!r} name an algorithm; give solve(X, y, algorithm)")
        if isinstance(labels, str):
            _refuse_text(labels)
        labels, algorithm = None, labels
    # solve(rows, "perceptron"): the second argument is an algorithm if there are no labels
    record = _algorithm("auto" if algorithm is None else algorithm)
    if not isinstance(budget, Budget | None):
        raise InputError(f"budget {budget!r}; give Budget(updates=..., seconds=...)")
    _refuse_arguments(
        {
            "seed": seed,
            "facts": facts,
            "record_at": record_at,
            "observe": observe,
            "watch": watch,
            "stop": stop,
        }
    )
    refuse_flags(trace_cuts=trace_cuts)
    watch, stop = callbacks(watch, stop)
    source: Any = problem if labels is None else (problem, labels)
    options = RunOptions(
        oracles=_oracles(oracle),
        goal=goal_of(goal),
        budget=budget or Budget(),
        seed=seed,
        start=start,
        facts=facts,
        # Unchecked: numbers of updates that no run has are harmless
        trace=TraceOptions.model_construct(
            trace_cuts=trace_cuts, record_at=[] if record_at is None else list(record_at)
        ),
        observe=observe,
        watch=watch,
        stop=stop,
    )
    if not _is_cvxpy(source):
        return drive_named(as_system(source, margin), record, options)
    # By name, so that cvxpy is imported only for its problems
    form = registry.loaded("perceptron_lab.systems.cvxpy_problem:ConicForm")(source)
    run = _further(record, options)
    result = drive(as_system(form.system(), margin), record, options)
    completed: Result = form.completed(result, run)
    return completed


def drive_named(
    system: System, algorithm: AnyAlgorithm, options: RunOptions, *, conflict: bool = False
) -> Result:
    """Run an algorithm; the result of ``auto`` on an infeasible conic system names a conflict.

    ``conflict``: of any algorithm, and whatever the number of constraints is.
    """
    began, run = time.monotonic(), _further(Auto(), options)
    result = drive(system, algorithm, options)
    asked_for = conflict or (isinstance(algorithm, Auto) and options.goal == "decide")
    if not (asked_for and isinstance(system, ConicSystem)) or system.cone.of_rows:
        return result
    most = {"most": math.inf} if conflict else {}
    left = max(0.0, options.budget.seconds - (time.monotonic() - began))
    with suppress(TimeIsUp), time_limit(left, options.stop):
        named: Result = registry.loaded("perceptron_lab.systems.conflicts:with_conflict")(
            system, result, run, **most
        )
        return named
    return result


def _further(algorithm: AnyAlgorithm, options: RunOptions) -> Callable[[System], Result]:
    """Return a function that runs an algorithm on other systems, within the budget of a run."""
    began, limits = time.monotonic(), options.budget
    further = replace(options, start=None, observe=None, watch=None)

    def run(system: System) -> Result:
        left = max(0.0, limits.seconds - (time.monotonic() - began))
        return drive(system, algorithm, replace(further, budget=Budget(limits.updates, left)))

    return run


def _is_cvxpy(problem: object) -> bool:
    """Return whether a problem is a cvxpy problem, without importing cvxpy; refuse its parts."""
    # Without an import no object can be a cvxpy problem
    cvxpy = sys.modules.get("cvxpy")
    if cvxpy is None:
        return False
    first = problem[0] if isinstance(problem, list | tuple) and problem else problem
    if isinstance(first, cvxpy.Problem) and first is not problem:
        raise InputError("labels were given with a cvxpy problem, which takes none; leave them out")
    if isinstance(first, cvxpy.constraints.constraint.Constraint | cvxpy.Expression):
        raise InputError(
            f"received {' '.join(str(first).split())[:60]} ({type(first).__name__}), a part of a "
            "cvxpy problem; give cvxpy.Problem(cvxpy.Minimize(0), constraints)"
        )
    return isinstance(problem, cvxpy.Problem)


def _algorithm(algorithm: str | AnyAlgorithm | type[AnyAlgorithm]) -> AnyAlgorithm:
    """Return the parameter record of an algorithm given by name, class or record."""
    named = registry.load("algorithm", algorithm) if isinstance(algorithm, str) else algorithm
    if isinstance(named, type) and issubclass(named, Algorithm):
        return _with_defaults(named)
    if isinstance(named, Algorithm):
        return named
    raise InputError(
        f"algorithm {named!r}; give a name of `plab list algorithms`, or a record of a class "
        "derived from perceptron_lab.algorithms.base.Algorithm"
    )


def _refuse_text(labels: str) -> None:
    """Refuse a text in place of labels that is no algorithm's name."""
    try:
        registry.target("algorithm", labels)
    except ConfigError as error:
        raise ConfigError(
            f"labels {labels!r}; give an array with one label per example, such as "
            f"table[{labels!r}] (of a file: plab solve FILE --labels {labels}), or an algorithm: "
            f"{error}"
        ) from None


def _with_defaults(kind: type[AnyAlgorithm]) -> AnyAlgorithm:
    """Return the record of a class with its default parameters."""
    lacks = sorted(getattr(kind, "__abstractmethods__", ()))
    if lacks:
        raise InputError(f"algorithm {kind.__name__}: it does not define {', '.join(lacks)}")
    try:
        return kind()
    except (TypeError, ValueError) as error:
        raise InputError(
            f"algorithm {kind.__name__}: it cannot be made without arguments ({sentence(error)}); "
            f"give its parameters defaults, or solve(rows, {kind.__name__}(...))"
        ) from error


def _refuse_arguments(arguments: Mapping[str, object]) -> None:
    """Refuse arguments of a wrong type; values are checked where they are used."""
    for name, (kind, remedy) in _ARGUMENTS.items():
        value = arguments[name]
        optional = value is None and name != "seed"
        if not optional and (not isinstance(value, kind) or isinstance(value, bool)):
            raise InputError(f"{name} {value!r} ({type(value).__name__}); give {remedy}")


def _oracles(oracles: object) -> list[Oracle]:
    """Return the records of oracles given by names, classes or records."""
    if oracles is None or isinstance(oracles, str) or not isinstance(oracles, Iterable):
        oracles = [] if oracles is None else [oracles]
    records: list[Oracle] = []
    for oracle in oracles:
        named = registry.load("oracle", oracle) if isinstance(oracle, str) else oracle
        record = named() if isinstance(named, type) and hasattr(named, "kind") else named
        if not hasattr(record, "kind"):
            raise InputError(f"oracle {oracle!r}; give a name of `plab list oracles`, or a record")
        records.append(record)
    return records


def as_system(problem: Problem | str | Path, margin: Margin | None = None) -> System:
    """Return the system of a problem.

    Parameters
    ----------
    problem
        A :class:`.System`; the path of a file (:func:`.read_system` says of which kinds); rows,
        shape ``(m, dimension)``, or a source of rows (the homogeneous system rows @ y > 0); or
        ``(X, y)``, examples and labels of two classes (an affine separator (w, b)). Rows in
        parts, and arrays and frames of dask, are searched in passes (:class:`.PartedSystem`), by
        dask where it has them or this process has a client of it.
    margin
        ``unit``, ``directional`` or ``geometric``; None leaves it to the problem.

    Raises
    ------
    InputError
        If it is none of these, or its numbers do not make a system.
    DataError
        If the file cannot be read.
    """
    if isinstance(problem, str | Path):
        return read_system(Path(problem), margin=margin or "unit")
    if isinstance(problem, tuple) and len(problem) == 2 and isinstance(problem[0], str | Path):
        raise InputError(
            f"labels were given with the file {problem[0]}; name the column that holds them: "
            "solve(read_system(Path(...), 'NAME')), or `plab solve FILE --labels NAME`"
        )
    return system_of_data(problem, margin)
