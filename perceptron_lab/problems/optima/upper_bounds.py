"""Proved upper bounds of the optimum, and proofs that no point is strictly feasible.

The objective of a point that is proved feasible is an upper bound. That no point is strictly
feasible is proved from multipliers that a solver computed.

With X positive semidefinite, X != 0, <F_i, X> = 0 and <F_0, X> >= 0 no F(x) is positive definite:
<F(x), X> = -<F_0, X> would be positive. Solvers compute X to some digits. Where the X
have no interior, no exact X can be proved to exist nearby, but rounding to simple fractions often
solves the equations exactly.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from perceptron_lab.certificates.rounding import exact_dot
from perceptron_lab.core.results import FloatArray
from perceptron_lab.numerics.exact_doubles import to_double
from perceptron_lab.numerics.roundoff import UNIT_ROUNDOFF
from perceptron_lab.numerics.sparse_arrays import dense_array
from perceptron_lab.problems.optima.levels import objective_of
from perceptron_lab.systems import ConicSystem

# Shifts of a boundary point along a known interior direction, relative to its size
_SHIFTS = (0.0, *(10.0**k for k in range(-15, -8)))
# Multiples of the estimated step towards a strictly feasible point: the estimate may be far too
# short, as eigenvalues of sparse matrices are estimates
_MORE = (1.0, 1.25, *(2.0 * 4.0**k for k in range(25)))
# About the rounding error of elimination, relative to the largest entry
_ROUNDING = 1e-15


def objective_above(system: ConicSystem, point: FloatArray) -> float:
    """Return c'x / x_0 of a point (x_0, x), x_0 > 0, rounded up to a double.

    If the objective is marked as rounded, the bound holds for every c whose nearest doubles are
    stored.
    """
    objective, x = objective_of(system), point[1:]
    total = exact_dot(objective.values, x)
    if objective.roundings:
        size = exact_dot(np.abs(objective.values), np.abs(x))
        total += objective.roundings * Fraction(UNIT_ROUNDOFF) * size
    return to_double(total / Fraction(float(point[0])), rounding="up")


def prove_upper(system: ConicSystem, point: FloatArray) -> float | None:
    """Return an upper bound of the objective of a point (x_0, x) if it is proved feasible, or None.

    None, too, where the objective is beyond the range of doubles.
    """
    if not (np.isfinite(point).all() and point[0] > 0.0 and system.prove_point(point).feasible):
        return None
    upper = objective_above(system, point)
    return upper if math.isfinite(upper) else None


def repaired_point(system: ConicSystem, point: FloatArray) -> tuple[FloatArray, float] | None:
    """Return this point, or one nearby, that is proved feasible, with its objective; or None."""
    direction = system.interior
    for shift in _SHIFTS[: None if direction is not None else 1]:
        shifted = point
        if direction is not None and shift:
            shifted = point + shift * float(np.abs(point).max()) * direction
        upper = prove_upper(system, shifted)
        if upper is not None:
            return shifted, upper
    return None


def feasible_between(
    system: ConicSystem, point: FloatArray, inner: tuple[FloatArray, float]
) -> tuple[FloatArray, float] | None:
    """Return a point between x and an interior point that is proved feasible, and its objective.

    (1 - t) x + t x_s has F = (1 - t) F(x) + t F(x_s), so t is a little more than l / (l + s) where
    -l and s are the lowest eigenvalues; by convexity the objective grows by t (c'x_s - c'x).

    Parameters
    ----------
    point, inner
        (1, x); (1, x_s) and s > 0.
    """
    upper = prove_upper(system, point)
    if upper is not None:
        return point, upper
    for share in _shares(system, point, inner):
        shifted = point + share * (inner[0] - point)
        upper = prove_upper(system, shifted)
        if upper is not None:
            return shifted, upper
    upper = prove_upper(system, inner[0])
    return None if upper is None else (inner[0], upper)


def _shares(
    system: ConicSystem, point: FloatArray, inner: tuple[FloatArray, float]
) -> Iterator[float]:
    """Yield shares t < 1/2 of the way to an interior point, from the estimated one upward."""
    scores = system.scores(point)
    lowest = min(part.lowest(scores[span]) for part, span in system.cone.blocks[1:])
    lacking = max(-float(lowest), _ROUNDING * float(np.abs(scores).max()))
    share = lacking / (inner[1] + lacking)
    return (factor * share for factor in _MORE if factor * share < 0.5)


# X over its largest entry is rounded to multiples of 1 / k for these k
_DENOMINATORS = (1, 2, 4, 8, 16, 64, 256)


@dataclass(frozen=True, eq=False)
class Refutation:
    """Proof that no point is strictly feasible: weights, a point for the result, and the reason."""

    point: FloatArray
    weights: FloatArray
    message: str


def refutation_by(system: ConicSystem, weights: FloatArray) -> Refutation | None:
    """Return a proof of infeasibility by weights at or near the given ones, or None.

    Parameters
    ----------
    system
        A homogenised system.
    weights
        X as weights of all blocks but that of x_0, as solvers return it.
    """
    completed = system
    if len(weights) + 1 != system.cone.size:
        completed = system.completed(required=False)
    largest = float(np.abs(weights).max(initial=0.0))
    if len(weights) + 1 != completed.cone.size or not 0.0 < largest < np.inf:
        return None
    for k in _DENOMINATORS:
        simple = _completed(completed, np.round(weights / largest * k) / k)
        if completed.prove_weights(simple) == 0.0:
            return _refutation(system, simple, "weights w >= 0 with A w = 0 exactly")
    candidate = _completed(completed, weights / largest)
    proof = completed.prove_infeasible(candidate)
    if proof is None:
        return None
    return _refutation(system, candidate, f"{proof.method} = {proof.ratio:.2g} < 1")


def _completed(system: ConicSystem, weights: FloatArray) -> FloatArray:
    """Return the weights with that of x_0 prepended: <F_0, X>, or 0 if it is negative."""
    constant = dense_array(system.matrix.data[1:, [0]]).ravel()
    return np.concatenate([[max(0.0, -float(constant @ weights))], weights])


def _refutation(system: ConicSystem, weights: FloatArray, message: str) -> Refutation:
    return Refutation(np.zeros(system.unknowns), weights, message)
