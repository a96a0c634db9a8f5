"""Equations that rows together with cones imply, found and eliminated exactly.

Let y_0 > 0, rows a_i'y >= 0 and cones K_j be given. By Motzkin's theorem of the alternative either
some y satisfies these rows and has its other scores inside the K_j, or some weights w in K* with
A w = 0 are not of rows alone. Weights of rows alone prove that their rows are 0 at every such y.
With all rows of this kind as equations, the other rows are positive at some y as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import scipy
import scipy.sparse as sp

from perceptron_lab.algorithms.linear.exact_optimum import minimised
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.cones.orthant import row_indices
from perceptron_lab.core.errors import InputError, counted
from perceptron_lab.core.results import IntArray, Result, Status
from perceptron_lab.core.time_limit import seconds_left
from perceptron_lab.numerics.exact_doubles import to_doubles
from perceptron_lab.systems import ConicSystem
from perceptron_lab.systems.conditions import condition
from perceptron_lab.systems.elimination import EliminatedSystem, with_equations
from perceptron_lab.systems.linear_system import LinearSystem

# Nonzero entries of rows at most, whose linear program takes less than a second
MOST_ENTRIES = 200_000
# Rows of a multiple of y that are not 0 reach the value 1 up to rounding errors
POSITIVE = 0.5


class Implied(NamedTuple):
    """Rows a_i, by their numbers among all scores, and weights w > 0 with sum_i w_i a_i = 0."""

    rows: list[int]
    weights: list[Fraction]


def implied_equalities(system: ConicSystem, *, exactly: bool = False) -> Implied | None:
    """Return the rows that are 0 wherever no row is negative, proved by weights; None if none is.

    The maximum of sum_i s_i subject to a_i'y >= s_i, 0 <= s_i <= 1 and y_0 >= 1 has s_i = 0 for
    these rows and s_i = 1 for all others. It is found in doubles first, for all rows, and exactly
    for those with s_i = 0, or ``exactly`` for all. There is none where the rows contradict each
    other.
    """
    rows = row_indices(system.cone.blocks)[1:]
    operator = system.operator
    if not (system.closed_rows and len(rows) and isinstance(operator, Matrix)):
        return None
    data = sp.csr_array(sp.csr_array(operator.data)[rows])
    if len(rows) + 1 == system.cone.size or data.nnz > MOST_ENTRIES:
        return None
    candidates = rows if exactly else rows[_vanishing(data)]
    scores = system.exact_scores() if len(candidates) else None
    return None if scores is None else _proved(list(scores), candidates.tolist(), data.shape[1])


def _vanishing(data: sp.csr_array) -> IntArray:
    """Return the rows with s_i = 0, as far as doubles tell."""
    count, width = data.shape
    sizes = abs(data).max(axis=1).toarray().ravel()
    data = sp.csr_array(sp.diags_array(1.0 / np.where(sizes > 0.0, sizes, 1.0)) @ data)
    below: Any = sp.csr_array(sp.hstack([-data, sp.eye_array(count)]))
    options: Any = {"time_limit": seconds_left()} if np.isfinite(seconds_left()) else {}
    answer: Any = scipy.optimize.linprog(
        np.append(np.zeros(width), -np.ones(count)),
        A_ub=below,
        b_ub=np.zeros(count),
        bounds=[(1.0, None), *[(None, None)] * (width - 1), *[(0.0, 1.0)] * count],
        options=options,
    )
    solved: IntArray = np.flatnonzero(answer.x[width:] < POSITIVE if answer.status == 0 else [])
    return solved


def _proved(scores: Sequence[Any], rows: Sequence[int], width: int) -> Implied | None:
    """Return the rows among some whose s_i is exactly 0."""
    unit, sizes = Fraction(1), range(width, width + len(rows))
    lines = [{j: x for j, x in scores[i].items() if x} for i in rows]
    conditions = [
        condition(((*line, s), (*line.values(), -unit)), Fraction(), f"s_{s} at most")
        for line, s in zip(lines, sizes, strict=True)
    ]
    conditions += [condition(((s,), (unit,)), Fraction(), f"s_{s} >= 0") for s in sizes]
    conditions += [condition(((s,), (-unit,)), -unit, f"s_{s} <= 1") for s in sizes]
    conditions.append(condition(((0,), (unit,)), unit, "y_0 >= 1"))
    names = [f"y_{j}" for j in range(width + len(rows))]
    optimum = minimised(LinearSystem.of_conditions(conditions, names), dict.fromkeys(sizes, -unit))
    if optimum.status is not Status.FEASIBLE or optimum.point is None:
        return None
    zero = [k for k, s in enumerate(sizes) if not optimum.point[s]]
    weights = [optimum.weights.get(k, Fraction()) for k in zero]
    return Implied([rows[k] for k in zero], weights) if zero else None


def reduced_system(system: ConicSystem, implied: Implied) -> EliminatedSystem | None:
    """Return the system with equations in place of rows; None where that takes too long."""
    try:
        return with_equations(system, implied.rows)
    except InputError:
        return None


def lifted(system: ConicSystem, implied: Implied, result: Result) -> Result | None:
    """Return the result on the reduced system as one on the system; None if it is not decided.

    Weights w' of the reduced system have A w' in the span of the implied rows. These get weights
    that balance it, and multiples of their positive weights that make all of them positive.
    """
    if result.status is Status.FEASIBLE:
        count = counted(len(implied.rows), "row")
        message = f"{result.message}; {count} can only hold as equations, the cones hold strictly"
        more: dict[str, Any] = {"implied_equalities": implied.rows}
        # The margin of all rows together is 0 at most
        return replace(
            result,
            weights=None,
            margin_lower=None,
            margin_upper=None,
            certificate=result.certificate | more,
            message=message,
        )
    size, weights = system.cone.size - len(implied.rows), result.weights
    if result.status is not Status.INFEASIBLE or weights is None or len(weights) != size:
        return None
    flat = np.zeros(system.cone.size)
    flat[np.setdiff1d(np.arange(system.cone.size), implied.rows)] = weights
    rows: Any = sp.csr_array(system.matrix.data)[implied.rows].toarray()
    balance = np.linalg.lstsq(rows.T, -system.operator.combine(flat), rcond=None)[0]
    positive = to_doubles(implied.weights)
    flat[implied.rows] = balance + (1.0 + max((-balance / positive).max(), 0.0)) * positive
    proof = system.prove_infeasible(flat)
    if proof is None:
        return None
    more = {"infeasibility_ratio": proof.ratio, "infeasibility_method": proof.method}
    return replace(result, weights=proof.weights, certificate=result.certificate | more)
