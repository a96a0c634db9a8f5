"""The maximal separation ratio with slacks, solved through its dual."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from perceptron_lab.core.errors import InputError, NumericalError
from perceptron_lab.core.results import FloatArray, Status
from perceptron_lab.problems.ellipsoids.ellipsoid import (
    WhiteCoordinates,
    dense_rows,
    lifted,
    quadratic_forms,
)
from perceptron_lab.problems.ellipsoids.hard.solution import middle
from perceptron_lab.problems.ellipsoids.soft.boundedness import (
    FIXING,
    ROUNDS,
    CriticalPenalty,
    DualProgram,
    WorkingSet,
    critical_penalty,
    least_mean,
    marginal_value,
    project_to_capped_simplex,
)


@dataclass(frozen=True)
class SoftSeparation:
    """Two concentric ellipsoids with slacks.

    Parameters
    ----------
    status
        MARGIN_BOUNDED: solved, to the gap between ``value`` and ``bound``. UNBOUNDED: the
        objective has a direction of recession, which ``quadratic`` is then.
    axes
        The white coordinates.
    quadratic
        E^ in these coordinates, positive semidefinite, shape ``(n, n)``.
    ratio
        t, the squared separation ratio less 1; infinite if unbounded.
    threshold
        f(x) = threshold - x^'E^x^ ranks: ((1 + sqrt(1 + t)) / 2)^2 of (8.2), or its limit along the
        direction, relative to the length.
    value, bound
        Objectives of E^ (with the best t and slacks for it) and of the weights, between which the
        optimum lies, computed in floating point; infinite if unbounded.
    positive_weights, negative_weights
        lambda of the dual, feasible but for rounding; zeros if unbounded.
    critical
        The bounds of the penalty C+ from which on the problem is bounded.
    iterations, message
        The iterations of Clarabel, and a sentence about the answer.
    """

    status: Status
    axes: WhiteCoordinates
    quadratic: FloatArray
    ratio: float
    threshold: float
    value: float
    bound: float
    positive_weights: FloatArray
    negative_weights: FloatArray
    critical: CriticalPenalty
    iterations: int
    message: str

    @property
    def gap(self) -> float:
        """``bound - value``, at least 0 but for rounding; 0 if unbounded."""
        return 0.0 if self.status is Status.UNBOUNDED else self.bound - self.value

    def squared_distances(self, examples: npt.ArrayLike) -> FloatArray:
        """Return x^'E^x^ of every row, 1 at most on the inner ellipsoid."""
        data = dense_rows(examples, len(self.axes.centre))
        return quadratic_forms(self.quadratic, lifted(self.axes.transform(data)))

    def decision_values(self, examples: npt.ArrayLike) -> FloatArray:
        """Return f(x) of every row, shape ``(m,)``: positive inside the middle ellipsoid."""
        return self.threshold - self.squared_distances(examples)


def soft_separation(
    positives: npt.ArrayLike,
    negatives: npt.ArrayLike,
    *,
    positive_penalty: float,
    negative_penalty: float,
    tolerance: float = 1e-9,
) -> SoftSeparation:
    """Separate two classes by two concentric ellipsoids, with slacks.

        maximise    t - C+ sum_+ xi_i - C- sum_- xi_i
        subject to  x^'E^x^ <= 1 + xi_i on positives,  x^'E^x^ >= 1 + t - xi_i on negatives,
                    xi >= 0,  E^ positive semidefinite,  x^ = (x, 1),

    which is (7.9) of `Kharechko2009` with slacks. Its dual is (7.21) with 0 <= lambda <= C:

        minimise    sum_+ lambda_i - 1
        subject to  sum_+ lambda_i x^x^' - sum_- lambda_i x^x^' positive semidefinite,
                    sum_- lambda_i = 1,  0 <= lambda_i <= C+ or C-.

    It is bounded if and only if C- m- >= 1 and C+ is at least a critical penalty that depends on
    the data and on C-, see :mod:`.boundedness`; UNBOUNDED otherwise, with a direction. Where it is
    bounded, t >= 0 at an optimum. Just above the critical penalty the optimum is t = 0 if that
    penalty is 1 / m+: small C- are useful.

    Clarabel solves it in coordinates in which the examples are white, so that the result is
    invariant to affine maps. Of many examples those are unknowns whose weights are not known to be
    0 or C, in rounds of constraint generation: about a second for 10^4 examples in dimension 10,
    half a minute or more in dimension 30.

    Parameters
    ----------
    positives, negatives
        Dense rows, shapes ``(m+, k)`` and ``(m-, k)``, at least one each.
    positive_penalty, negative_penalty
        C+ > 0 and C- > 0, per unit of slack.
    tolerance
        Clarabel's, of the gap and of feasibility, in (0, 1).

    Raises
    ------
    InputError
        If the examples are not dense, finite and of equal dimension.
    NumericalError
        If Clarabel gives up, as it may next to the critical penalty, or the rounds do not end.
    """
    inside = dense_rows(positives)
    outside = dense_rows(negatives, inside.shape[1])
    for name, penalty in (("C+", positive_penalty), ("C-", negative_penalty)):
        if not 0.0 < penalty < math.inf:
            raise InputError(f"{name} = {penalty}; allowed: a finite number above 0")
    together = np.vstack([inside, outside])
    axes = WhiteCoordinates.fitted(together, np.full(len(together), 1.0 / len(together)))
    inside, outside = lifted(axes.transform(inside)), lifted(axes.transform(outside))
    critical = critical_penalty(inside, outside, negative_penalty)
    problem = _Problem(inside, outside, positive_penalty, negative_penalty, critical)
    if positive_penalty < critical.lower:
        return problem.unbounded_separation(axes)
    return problem.solve(axes, tolerance)


@dataclass(frozen=True)
class _Problem:
    """Lifted, white examples and the penalties C+ and C-."""

    positives: FloatArray
    negatives: FloatArray
    positive_penalty: float
    negative_penalty: float
    critical: CriticalPenalty

    def value(self, quadratic: FloatArray) -> float:
        """Return the objective of E^ with the best t and slacks.

        The best t turns t - C- sum_- xi into the least mean of x^'E^x^ - 1 over the negatives.
        """
        excess = np.maximum(quadratic_forms(quadratic, self.positives) - 1.0, 0.0)
        least = least_mean(quadratic_forms(quadratic, self.negatives) - 1.0, self.negative_penalty)
        return least - self.positive_penalty * float(excess.sum())

    def excess(self, quadratic: FloatArray, level: float) -> FloatArray:
        """Return the slack that each example needs at level 1 + t; negative where it needs none."""
        inside, outside = (quadratic_forms(quadratic, p) for p in (self.positives, self.negatives))
        return np.concatenate([inside - 1.0, level - outside])

    def best_level(self, quadratic: FloatArray) -> float:
        """Return the best level 1 + t for E^."""
        return marginal_value(quadratic_forms(quadratic, self.negatives), self.negative_penalty)

    def first_working_set(self) -> WorkingSet:
        """Return the first working set, from the ellipsoid of the positives' second moments.

        The ellipsoid is scaled to contain half of them.
        """
        values, vectors = np.linalg.eigh(self.positives.T @ self.positives)
        significant = values > 1e-12 * values[-1]
        inverse = (vectors[:, significant] / values[significant]) @ vectors[:, significant].T
        inverse /= float(np.median(quadratic_forms(inverse, self.positives)))
        order, count = len(inverse), len(self.positives) + len(self.negatives)
        parts = np.split(np.arange(count), [len(self.positives)])
        excess = self.excess(inverse, 1.0 + (self.best_level(inverse) - 1.0))
        return WorkingSet.around(excess, parts, order * (order + 1) // 2)

    def unbounded_separation(self, axes: WhiteCoordinates) -> SoftSeparation:
        """Return the unbounded separation along the direction in which the objective grows.

        With E^ = s D and t of order s, (8.2) divided by s tends to (1 + t) / (4 s) - x^'Dx^.
        """
        direction = self.critical.direction
        inside, outside = (quadratic_forms(direction, p) for p in (self.positives, self.negatives))
        growth = least_mean(outside, self.negative_penalty)
        growth -= self.positive_penalty * float(inside.sum())
        values = direction, math.inf, self.best_level(direction) / 4.0, math.inf, math.inf
        weights = np.zeros(len(self.positives)), np.zeros(len(self.negatives))
        message = (
            f"unbounded: C+ = {self.positive_penalty:g} is below the critical penalty "
            f"{self.critical.lower:.6g} for C- = {self.negative_penalty:g} (growth {growth:.3g}); "
            "raise the penalties"
        )
        return SoftSeparation(Status.UNBOUNDED, axes, *values, *weights, self.critical, 0, message)

    def solve(self, axes: WhiteCoordinates, tolerance: float) -> SoftSeparation:
        """Return the solution, by rounds of constraint generation."""
        examples, count = np.vstack([self.positives, self.negatives]), len(self.positives)
        sizes = [count, len(self.negatives)]
        penalties = np.repeat([self.positive_penalty, self.negative_penalty], sizes)
        signs = np.repeat([1.0, -1.0], sizes)
        # the weights of the critical penalty are feasible
        start = np.concatenate([penalties[:count], self.critical.weights])
        working, iterations = self.first_working_set(), 0
        for number in range(ROUNDS):
            program = DualProgram(examples, signs, penalties, start, working)
            quadratic, multipliers, level, steps = program.solve(tolerance)
            iterations += steps
            weights = self.made_feasible(multipliers[:count], multipliers[count:])
            value, bound = self.value(quadratic), float(weights[0].sum()) - 1.0
            excess, room = self.excess(quadratic, level), tolerance * max(1.0, abs(level))
            # Weights are fixed in the first rounds only: then the working set only grows, and the
            # rounds end.
            added = working.revise(excess, multipliers / penalties, room, fix=number < FIXING)
            if bound - value <= room or not added:
                break
        else:
            raise NumericalError(
                f"the soft separation has not converged after {ROUNDS} rounds of constraint "
                "generation; raise the tolerance"
            )
        rounds = f" after {number + 1} rounds of constraint generation" if number else ""
        message = f"solved{rounds}: the optimum lies between {value:.9g} and {bound:.9g}"
        ratio = self.best_level(quadratic) - 1.0
        solution = quadratic, ratio, middle(ratio), value, bound, *weights
        status = Status.MARGIN_BOUNDED
        return SoftSeparation(status, axes, *solution, self.critical, iterations, message)

    def made_feasible(
        self, positive: FloatArray, negative: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return feasible dual weights: the given ones, mixed with those of the critical penalty.

        The mixture with the least share for which the matrix of (7.21) is positive semidefinite on
        the span of the positives, to 1e-15; with share 1 it is, as C+ >= the critical penalty.
        """
        critical, most = self.critical, self.positive_penalty
        positive, projected = np.clip(positive, 0.0, most), np.zeros(len(negative))
        projected[critical.within] = project_to_capped_simplex(
            negative[critical.within], self.negative_penalty
        )
        inner, outer = self.positives @ critical.root, self.negatives @ critical.root
        start = inner.T @ (positive[:, None] * inner) - outer.T @ (projected[:, None] * outer)
        end = most * np.eye(inner.shape[1]) - outer.T @ (critical.weights[:, None] * outer)
        low, share = 0.0, 1.0
        if np.linalg.eigvalsh(start)[0] >= 0.0:
            return positive, projected
        # Bisection: the least eigenvalue is concave in the share, and nonnegative at share 1.
        for _ in range(60):
            half = 0.5 * (low + share)
            semidefinite = np.linalg.eigvalsh(start + half * (end - start))[0] >= 0.0
            low, share = (low, half) if semidefinite else (half, share)
        return positive + share * (most - positive), projected + share * (
            critical.weights - projected
        )
