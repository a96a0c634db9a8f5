"""The maximal separation ratio with slacks."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated

import clarabel
import numpy as np
import scipy.sparse as sp
from pydantic import Field
from pydantic.dataclasses import dataclass as checked

from perceptron_lab.ellipsoids.lifting import lifted, squares, symmetric
from perceptron_lab.ellipsoids.soft_boundedness import (
    CriticalPenalty,
    capped,
    critical_penalty,
    least_mean,
)
from perceptron_lab.ellipsoids.soft_cone_program import solve_cone_program, stacked
from perceptron_lab.ellipsoids.soft_separation import SoftSeparation, dense_rows, quadratic_forms
from perceptron_lab.ellipsoids.whitening import AffineMap
from perceptron_lab.errors import InputError
from perceptron_lab.goals import STRICT
from perceptron_lab.results import FloatArray, Status


@checked(frozen=True, config=STRICT)
class SoftMaximalSeparation:
    """Separate two classes by two concentric ellipsoids, with slacks.

        maximise    t - C+ sum_+ xi_i - C- sum_- xi_i
        subject to  x^'E^x^ <= 1 + xi_i on positives,  x^'E^x^ >= 1 + t - xi_i on negatives,
                    xi >= 0,  E^ positive semidefinite,  x^ = (x, 1),

    which is (7.9) of `Kharechko2009` with slacks. Its dual is (7.21) with 0 <= lambda <= C:

        minimise    sum_+ lambda_i - 1
        subject to  sum_+ lambda_i x^x^' - sum_- lambda_i x^x^' positive semidefinite,
                    sum_- lambda_i = 1,  0 <= lambda_i <= C+ or C-.

    It is bounded if and only if C- m- >= 1 and C+ is at least a critical penalty that depends on
    the data and on C-, see :func:`critical_penalty`; UNBOUNDED otherwise, with a direction. Where
    it is bounded, t >= 0 at an optimum. Just above the critical penalty the optimum is t = 0 if
    that penalty is 1 / m+: small C- are useful.

    Clarabel solves it in coordinates in which the examples are white, so that the result is
    invariant to affine maps. A step costs about m k^4 / 4 operations, and there are tens of them:
    seconds for 10^4 examples in dimension 10, many minutes in dimension 30.

    Parameters
    ----------
    positive_penalty, negative_penalty
        C+ > 0 and C- > 0, per unit of slack.
    tolerance
        Clarabel's, of the gap and of feasibility, in (0, 1).

    References
    ----------
    `Kharechko2009`, equations (7.9), (7.21), (8.2).
    """

    positive_penalty: Annotated[float, Field(gt=0)]
    negative_penalty: Annotated[float, Field(gt=0)]
    tolerance: Annotated[float, Field(gt=0, lt=1)] = 1e-9

    def fit(self, positives: FloatArray, negatives: FloatArray) -> SoftSeparation:
        """Solve the problem, or find it unbounded.

        Parameters
        ----------
        positives, negatives
            Dense rows, shapes ``(m+, k)`` and ``(m-, k)``, at least one each.

        Raises
        ------
        InputError
            If the examples are not dense, finite and of equal dimension.
        NumericalError
            If Clarabel gives up, as it may next to the critical penalty.
        """
        inside, outside = dense_rows(positives), dense_rows(negatives)
        if inside.shape[1] != outside.shape[1]:
            raise InputError(
                f"positives with {inside.shape[1]} features and negatives with "
                f"{outside.shape[1]}; give as many"
            )
        together = np.vstack([inside, outside])
        axes = AffineMap.whitening(together, np.full(len(together), 1.0 / len(together)))
        inside, outside = lifted(axes.of(inside)), lifted(axes.of(outside))
        critical = critical_penalty(inside, outside, self.negative_penalty)
        classes = _Classes(inside, outside, self.positive_penalty, self.negative_penalty)
        if self.positive_penalty < critical.lower:
            return _unbounded(classes, axes, critical)
        return _solved(classes, axes, critical, self.tolerance)


@dataclass(frozen=True)
class _Classes:
    """Lifted, white examples and the penalties."""

    positives: FloatArray
    negatives: FloatArray
    positive_penalty: float
    negative_penalty: float

    def value(self, quadratic: FloatArray) -> float:
        """Return the objective of E^ with the best t and slacks.

        The best t turns t - C- sum_- xi into the least mean of x^'E^x^ - 1 over the negatives.
        """
        excess = np.maximum(quadratic_forms(quadratic, self.positives) - 1.0, 0.0)
        least = least_mean(quadratic_forms(quadratic, self.negatives) - 1.0, self.negative_penalty)
        return least - self.positive_penalty * float(excess.sum())

    def growth(self, direction: FloatArray) -> float:
        """Return the growth of the objective along E^ = direction, times a number to infinity."""
        least = least_mean(quadratic_forms(direction, self.negatives), self.negative_penalty)
        return least - self.positive_penalty * float(
            quadratic_forms(direction, self.positives).sum()
        )


def _unbounded(classes: _Classes, axes: AffineMap, critical: CriticalPenalty) -> SoftSeparation:
    return SoftSeparation(
        Status.UNBOUNDED,
        axes,
        critical.direction,
        math.inf,
        math.inf,
        math.inf,
        np.zeros(len(classes.positives)),
        np.zeros(len(classes.negatives)),
        critical,
        0,
        f"unbounded: C+ = {classes.positive_penalty:g} is below the critical penalty "
        f"{critical.lower:.6g} for C- = {classes.negative_penalty:g} (growth "
        f"{classes.growth(critical.direction):.3g}); raise the penalties",
    )


def _solved(
    classes: _Classes, axes: AffineMap, critical: CriticalPenalty, tolerance: float
) -> SoftSeparation:
    positives, order = classes.positives.shape
    count = positives + len(classes.negatives)
    found, multipliers, iterations = solve_cone_program(
        *_dual_program(classes),
        [
            clarabel.ZeroConeT(1),
            clarabel.NonnegativeConeT(2 * count),
            clarabel.PSDTriangleConeT(order),
        ],
        tolerance,
    )
    quadratic = _definite(symmetric(multipliers[1 + 2 * count :]))
    weights = _feasible(classes, critical, found[:positives], found[positives:])
    value, bound = classes.value(quadratic), float(weights[0].sum()) - 1.0
    return SoftSeparation(
        Status.MARGIN_BOUNDED,
        axes,
        quadratic,
        _best_ratio(quadratic_forms(quadratic, classes.negatives) - 1.0, classes.negative_penalty),
        value,
        bound,
        *weights,
        critical,
        iterations,
        f"solved: the optimum lies between {value:.9g} and {bound:.9g}",
    )


def _dual_program(classes: _Classes) -> tuple[FloatArray, sp.csc_matrix, FloatArray]:
    """Return cost, matrix and right side of the dual in lambda; E^ is a multiplier.

    The dual has fewer unknowns than the primal: none for the slacks.
    """
    products = [squares(rows) for rows in (classes.positives, classes.negatives)]
    positives, negatives = (len(rows) for rows in products)
    size, count = products[0].shape[1], positives + negatives
    signs = np.repeat([0.0, 1.0], [positives, negatives])
    bounds = sp.eye_array(count)
    spread = np.vstack([-products[0], products[1]]).T
    matrix = stacked([[signs[None, :]], [-bounds], [bounds], [spread]])
    penalties = np.where(signs > 0, classes.negative_penalty, classes.positive_penalty)
    right = np.concatenate([[1.0], np.zeros(count), penalties, np.zeros(size)])
    return 1.0 - signs, matrix, right


def _feasible(
    classes: _Classes, critical: CriticalPenalty, positive: FloatArray, negative: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return feasible weights near given ones, mixed with those of the critical penalty.

    The mixture with the least share for which the matrix of (7.21) is positive semidefinite on the
    span of the positives; with share 1 it is, as C+ >= the critical penalty.
    """
    most, cap = classes.positive_penalty, classes.negative_penalty
    positive = np.clip(positive, 0.0, most)
    mended = np.zeros(len(negative))
    mended[critical.within] = capped(negative[critical.within], cap)
    inner, outer = classes.positives @ critical.root, classes.negatives @ critical.root
    start = inner.T @ (positive[:, None] * inner) - outer.T @ (mended[:, None] * outer)
    end = most * np.eye(inner.shape[1]) - outer.T @ (critical.weights[:, None] * outer)
    share = _least_share(start, end)
    return (
        positive + share * (most - positive),
        mended + share * (critical.weights - mended),
    )


def _least_share(start: FloatArray, end: FloatArray) -> float:
    """Return the least s with (1 - s) start + s end positive semidefinite, to 1e-15; 1 at most."""
    if np.linalg.eigvalsh(start)[0] >= 0.0:
        return 0.0
    low, high = 0.0, 1.0
    for _ in range(60):
        middle_share = 0.5 * (low + high)
        mixture = start + middle_share * (end - start)
        if np.linalg.eigvalsh(mixture)[0] >= 0.0:
            high = middle_share
        else:
            low = middle_share
    return high


def _best_ratio(excess: FloatArray, cap: float) -> float:
    """Return t that maximises t - cap sum max(0, t - excess): the 1 / cap-th lowest excess."""
    place = min(max(math.ceil(1.0 / cap) - 1, 0), len(excess) - 1)
    return float(np.sort(excess)[place])


def _definite(matrix: FloatArray) -> FloatArray:
    """Return the nearest positive semidefinite matrix."""
    values, vectors = np.linalg.eigh(matrix)
    return np.asarray((vectors * np.maximum(values, 0.0)) @ vectors.T, dtype=np.float64)
