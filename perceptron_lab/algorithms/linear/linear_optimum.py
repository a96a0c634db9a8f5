"""Exact optima of linear programs as results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np

from perceptron_lab.algorithms.linear.deciding import LinearDecision, infeasible_decision
from perceptron_lab.algorithms.linear.exact_optimum import ExactOptimum, minimised
from perceptron_lab.algorithms.linear.linear_result import LinearResult, solve_linear
from perceptron_lab.algorithms.linear.proofs import LinearProof, tight_at
from perceptron_lab.core.errors import InputError
from perceptron_lab.core.results import OPTIMUM_EXACT, FloatArray, Status
from perceptron_lab.numerics.exact_doubles import to_double, to_doubles
from perceptron_lab.numerics.exact_texts import exact_text, shown_text
from perceptron_lab.systems.conditions import LinearObjective, over_common
from perceptron_lab.systems.linear_system import LinearSystem


def linear_optimum(
    system: LinearSystem,
    *,
    pivots: int,
    seconds: float,
    stop: Callable[[], str | None] | None = None,
) -> LinearResult:
    """Return the exact optimum of a linear program, or a bracket when the time is up.

    Parameters
    ----------
    system
        Conditions with an objective.
    pivots, seconds, stop
        As for :func:`.solve_linear`.

    Returns
    -------
    result
        FEASIBLE: ``optimum_lower`` and ``optimum_upper`` enclose the optimum, and
        ``certificate["optimum_exact"]`` is it, as a text p/q, where it is proved: by the point and
        the dual weights of ``result.exact``. UNBOUNDED: by a point and a ray. INFEASIBLE: by
        weights. Without a feasible point within the budget: TIME_LIMIT, or UPDATE_LIMIT.

    Raises
    ------
    InputError
        If the system has no objective.
    """
    objective = system.exact_objective
    if objective is None:
        raise InputError("linear conditions without an objective have no optimum; give a program")
    if objective.quadratic:
        raise InputError("the objective has quadratic terms; the optimum is that of a linear one")
    optima: list[ExactOptimum] = []

    def method() -> LinearDecision:
        optima.append(minimised(system, objective.costs(), pivots))
        return _decision(system, optima[-1], None if stop is None else stop())

    result = solve_linear(system, pivots=pivots, seconds=seconds, stop=stop, method=method)
    return _with_bounds(result, optima[0], objective)


def _decision(system: LinearSystem, optimum: ExactOptimum, stopped: str | None) -> LinearDecision:
    """Return an optimum as a decision about the conditions."""
    status, point = optimum.status, optimum.point
    words = stopped or "no exact answer within the budget"
    method = "exact pivots" if optimum.pivots else "a basis of HiGHS"
    if status is Status.INFEASIBLE:
        decision = infeasible_decision(system, optimum.weights, method)
        return replace(decision, pivots=optimum.pivots, iterations=optimum.iterations)
    proof = LinearProof(dual=optimum.weights)
    if point is not None:
        tight = tuple(tight_at(system, *over_common(point)))
        proof = replace(proof, point=point, tight=tight, violation=(0.0, 0.0), ray=optimum.ray)
        words = words if optimum.value is None and optimum.ray is None else method
        status = status if status is Status.UNBOUNDED else Status.FEASIBLE
    doubles: FloatArray = np.zeros(len(system.variables)) if point is None else to_doubles(point)
    return LinearDecision(status, proof, words, doubles, optimum.pivots, optimum.iterations)


def _with_bounds(
    result: LinearResult, optimum: ExactOptimum, objective: LinearObjective
) -> LinearResult:
    """Return a result with the bounds of the objective, in its original form."""
    ends = optimum.lower, optimum.upper
    lower, upper = reversed(ends) if objective.maximise else ends
    exact = None if optimum.value is None else objective.value(optimum.value)
    text = None if exact is None else exact_text(exact)
    return replace(
        result,
        optimum_lower=_rounded(objective, lower, "down"),
        optimum_upper=_rounded(objective, upper, "up"),
        certificate=result.certificate | {OPTIMUM_EXACT: text},
        goal_reached=exact is not None or result.status in (Status.INFEASIBLE, Status.UNBOUNDED),
        message=_message(result, exact),
    )


def _message(result: LinearResult, exact: Fraction | None) -> str:
    method = result.certificate["method"]
    if exact is not None:
        return f"the optimum is {shown_text(exact)}, at an exact point and dual weights ({method})"
    if result.status is Status.UNBOUNDED:
        return f"the objective is unbounded along an exact ray ({method})"
    return result.message


def _rounded(objective: LinearObjective, end: Fraction | None, direction: str) -> float | None:
    """Return a bound of the objective in doubles, outwards; None beyond their range."""
    if end is None:
        return None
    value = to_double(objective.value(end), rounding="down" if direction == "down" else "up")
    return value if np.isfinite(value) else None
