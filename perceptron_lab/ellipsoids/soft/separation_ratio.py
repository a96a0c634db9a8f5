"""The maximal separation ratio with slacks."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from pydantic import Field
from pydantic.dataclasses import dataclass as checked

from perceptron_lab.ellipsoids.lifting import lifted
from perceptron_lab.ellipsoids.soft.boundedness import (
    CriticalPenalty,
    capped,
    critical_penalty,
    least_mean,
    marginal,
)
from perceptron_lab.ellipsoids.soft.dual_program import DualProgram
from perceptron_lab.ellipsoids.soft.generation import FIXING, ROUNDS, Working
from perceptron_lab.ellipsoids.soft.separation import SoftSeparation, dense_rows, quadratic_forms
from perceptron_lab.ellipsoids.soft.whitening import AffineMap
from perceptron_lab.errors import InputError, NumericalError
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
    invariant to affine maps. Of many examples those are unknowns whose weights are not known to be
    0 or C, in rounds of constraint generation: about a second for 10^4 examples in dimension 10,
    half a minute or more in dimension 30.

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
            If Clarabel gives up, as it may next to the critical penalty, or the rounds do not end.
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

    def excess(self, quadratic: FloatArray, level: float) -> FloatArray:
        """Return by how much each example needs slack, at level 1 + t, or is clear of it (< 0)."""
        inside, outside = (quadratic_forms(quadratic, p) for p in (self.positives, self.negatives))
        return np.concatenate([inside - 1.0, level - outside])

    def ratio(self, quadratic: FloatArray) -> float:
        """Return the best t."""
        return marginal(quadratic_forms(quadratic, self.negatives), self.negative_penalty) - 1.0

    def start(self, critical: CriticalPenalty) -> FloatArray:
        """Return the weights of the critical penalty, which are feasible."""
        most = np.full(len(self.positives), self.positive_penalty)
        return np.concatenate([most, critical.weights])

    @property
    def examples(self) -> FloatArray:
        """All of them, positives first."""
        return np.vstack([self.positives, self.negatives])

    @property
    def signs(self) -> FloatArray:
        """+1 of positives, -1 of negatives."""
        return np.repeat([1.0, -1.0], [len(self.positives), len(self.negatives)])

    @property
    def penalties(self) -> FloatArray:
        """C+ or C- of each example."""
        return np.where(self.signs > 0, self.positive_penalty, self.negative_penalty)

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
    examples, penalties = classes.examples, classes.penalties
    positives = len(classes.positives)
    working = _started(classes)
    iterations = 0
    for number in range(ROUNDS):
        program = DualProgram(examples, classes.signs, penalties, classes.start(critical), working)
        quadratic, found, level, steps = program.solve(tolerance)
        iterations += steps
        weights = _feasible(classes, critical, found[:positives], found[positives:])
        value, bound = classes.value(quadratic), float(weights[0].sum()) - 1.0
        excess, room = classes.excess(quadratic, level), tolerance * max(1.0, abs(level))
        added = working.revise(excess, found / penalties, room, fix=number < FIXING)
        if bound - value <= room or not added:
            break
    else:
        raise NumericalError(f"soft separation has not ended after {ROUNDS} rounds")
    rounds = f" after {number + 1} rounds of constraint generation" if number else ""
    return SoftSeparation(
        Status.MARGIN_BOUNDED,
        axes,
        quadratic,
        classes.ratio(quadratic),
        value,
        bound,
        *weights,
        critical,
        iterations,
        f"solved{rounds}: the optimum lies between {value:.9g} and {bound:.9g}",
    )


def _started(classes: _Classes) -> Working:
    """Return the first working set: by the ellipsoid of the positives' moments.

    It is scaled to hold half of them.
    """
    values, vectors = np.linalg.eigh(classes.positives.T @ classes.positives)
    kept = values > 1e-12 * values[-1]
    inverse = (vectors[:, kept] / values[kept]) @ vectors[:, kept].T
    inverse /= float(np.median(quadratic_forms(inverse, classes.positives)))
    order, everyone = len(inverse), np.arange(len(classes.signs))
    parts = np.split(everyone, [len(classes.positives)])
    excess = classes.excess(inverse, 1.0 + classes.ratio(inverse))
    return Working.around(excess, parts, order * (order + 1) // 2)


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
