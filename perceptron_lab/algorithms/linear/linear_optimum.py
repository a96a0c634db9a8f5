"""Exact optima of linear programs as results."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from perceptron_lab.algorithms.linear.alternatives import Work
from perceptron_lab.algorithms.linear.deciding import LinearDecision, infeasible_decision
from perceptron_lab.algorithms.linear.exact_optimum import ExactOptimum, minimised
from perceptron_lab.algorithms.linear.linear_result import LinearResult, solve_linear
from perceptron_lab.algorithms.linear.proofs import LinearProof, least_cost, tight_at
from perceptron_lab.core.errors import InputError
from perceptron_lab.core.goals import Width
from perceptron_lab.core.results import OPTIMUM_EXACT, FloatArray, Status, relative_width
from perceptron_lab.numerics.exact_doubles import Rounding, to_double, to_doubles
from perceptron_lab.numerics.exact_texts import exact_text, shown_text
from perceptron_lab.systems.conditions import LinearObjective
from perceptron_lab.systems.linear_system import LinearSystem


def linear_optimum(
    system: LinearSystem,
    *,
    pivots: int,
    seconds: float,
    stop: Callable[[], str | None] | None = None,
    width: Width | None = None,
) -> LinearResult:
    """Return the exact optimum of a linear program, or a bracket when the time is up.

    Parameters
    ----------
    system
        Conditions with an objective.
    pivots, seconds, stop
        As for :func:`.solve_linear`.
    width
        The goal, of a bracket where the time is up; 1e-8 by default.

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
    costs = objective.costs()

    def method() -> LinearDecision:
        optimum = minimised(system, costs, pivots)
        return _decision(system, optimum, pivots, None if stop is None else stop())

    result = solve_linear(system, pivots=pivots, seconds=seconds, stop=stop, method=method)
    return _with_bounds(result, system, width or Width(1e-8))


def _decision(
    system: LinearSystem, optimum: ExactOptimum, pivots: int, stopped: str | None
) -> LinearDecision:
    """Return an optimum as a decision about the conditions."""
    status, point = optimum.status, optimum.point
    words = stopped or "no exact answer within the budget"
    method = "exact pivots" if optimum.pivots else "a basis of HiGHS"
    if status is Status.INFEASIBLE:
        work = Work(pivots, optimum.pivots)
        decision = infeasible_decision(system, optimum.weights, method, work)
        return replace(decision, pivots=work.pivots_made, iterations=optimum.iterations)
    proof = LinearProof(dual=optimum.weights)
    if point is not None:
        tight = tuple(tight_at(system, point))
        proof = replace(proof, point=point, tight=tight, violation=(0.0, 0.0), ray=optimum.ray)
        words = words if optimum.value is None and optimum.ray is None else method
        status = status if status is Status.UNBOUNDED else Status.FEASIBLE
    doubles: FloatArray = np.zeros(len(system.variables)) if point is None else to_doubles(point)
    return LinearDecision(status, proof, words, doubles, optimum.pivots, optimum.iterations)


@dataclass(frozen=True)
class OptimumFields:
    """The fields of a result that exact numbers have for the objective, as it is stated.

    Parameters
    ----------
    lower, upper
        Bounds of the optimum in doubles, rounded outwards; None for none.
    exact
        The optimum as a text p/q; None where it is not proved.
    message
        The answer in a sentence, or None: that of the conditions alone.
    """

    lower: float | None
    upper: float | None
    exact: str | None
    message: str | None

    @classmethod
    def of(
        cls, system: LinearSystem, status: Status, proof: LinearProof, method: str
    ) -> OptimumFields:
        """Return the fields of a proof, which is put into the conditions."""
        objective = system.exact_objective or LinearObjective()
        costs, point, bound = objective.costs(), proof.point, None
        if status is Status.FEASIBLE or proof.dual:
            bound = least_cost(system, proof.dual, costs)
        cost = None if point is None else sum((c * point[j] for j, c in costs.items()), Fraction())
        lower, upper = (None if end is None else objective.value(end) for end in (bound, cost))
        if objective.maximise:
            lower, upper = upper, lower
        doubles = _outwards(lower, "down"), _outwards(upper, "up")
        if status is Status.UNBOUNDED:
            return cls(*doubles, None, f"the objective is unbounded along an exact ray ({method})")
        if lower is None or lower != upper:
            return cls(*doubles, None, None)
        words = f"the optimum is {shown_text(lower)}, at an exact point and dual weights ({method})"
        return cls(*doubles, exact_text(lower), words)


def _with_bounds(result: LinearResult, system: LinearSystem, width: Width) -> LinearResult:
    """Return a result with the bounds of the objective, as it is stated."""
    method = result.certificate["method"]
    fields = OptimumFields.of(system, result.status, result.exact, method)
    named = {"optimum_lower": fields.lower, "optimum_upper": fields.upper}
    figures = {name: value for name, value in named.items() if value is not None}
    relative = relative_width(fields.lower, fields.upper)
    reached = relative is not None and relative <= width.width
    return replace(
        result,
        optimum_lower=fields.lower,
        optimum_upper=fields.upper,
        certificate=result.certificate | {OPTIMUM_EXACT: fields.exact, "figures": figures},
        goal=width,
        goal_reached=reached or result.status in (Status.INFEASIBLE, Status.UNBOUNDED),
        message=fields.message or result.message,
    )


def _outwards(end: Fraction | None, rounding: Rounding) -> float | None:
    """Return a bound in doubles; None beyond their range."""
    value = math.inf if end is None else to_double(end, rounding=rounding)
    return value if math.isfinite(value) else None
