"""The separation of two classes by an ellipsoid: t, its proved bracket, its decision function."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import numpy as np
import numpy.typing as npt

from perceptron_lab.core.outward_rounding import text_above, text_below
from perceptron_lab.core.results import FloatArray, IntArray, Status
from perceptron_lab.core.time_limit import TimeIsUp, last_proofs
from perceptron_lab.datasets.problem import Examples
from perceptron_lab.problems.ellipsoids.ellipsoid import Ellipsoid, dense_rows, quadratic_values
from perceptron_lab.problems.ellipsoids.hard.affine_frame import AffineFrame
from perceptron_lab.problems.ellipsoids.hard.equivalent_classes import ResidualEllipsoid
from perceptron_lab.problems.ellipsoids.hard.ratio_bounds import (
    Inseparability,
    Recession,
    prove_inseparable,
    proved_lower_bound,
    proved_upper_bound,
    scatter,
)
from perceptron_lab.problems.ellipsoids.hard.solution import Bracket, Solution, middle

NEGLIGIBLE = 1e-6
"""A t up to this that is not proved positive counts as 0, with status MARGIN_BOUNDED."""
SMALL = 1e-3
"""Below this computed t, a proof of t = 0 is attempted."""
SUPPORT = 1e-6
"""Weights above this part of the largest one make their example a support example."""


class OptimalityGaps(NamedTuple):
    """Residuals of the optimality conditions, relative to 1 + t; computed, not proved."""

    duality: float  # sum_+ lambda - (1 + t)
    slackness: float  # the largest lambda_i (t tau_i - y_i (1 - x^'E^x^)) in magnitude, (7.17)
    trace: float  # trace(Z E^), (7.18)
    feasibility: float  # the largest violation of (7.9), or 0

    @classmethod
    def of(cls, solution: Solution, positives: FloatArray, negatives: FloatArray) -> Self:
        """Return the gaps of a solver's solution, on examples in the solver's coordinates."""
        inside, outside = (
            quadratic_values(solution.quadratic, part) for part in (positives, negatives)
        )
        (plus, minus), size = solution.weights, 1.0 + solution.ratio
        slack = np.concatenate([plus * (1.0 - inside), minus * (outside - size)])
        excess = max(float(inside.max()) - 1.0, size - float(outside.min()), 0.0)
        return cls(
            float(plus.sum() - size) / size,
            float(np.abs(slack).max()) / size,
            float(plus @ inside - minus @ outside) / size,
            excess / size,
        )


@dataclass(frozen=True)
class Rule:
    """f(x) = threshold - (u, 1)'quadratic(u, 1) - off_hull_weight norm(offsets)^2 in a frame."""

    frame: AffineFrame
    quadratic: FloatArray
    threshold: float
    off_hull_weight: float

    def values(self, points: FloatArray) -> FloatArray:
        """Return f of every row, shape ``(m,)``."""
        # The constants are subtracted first: at t near 0 both are near 1, and f is a small
        # difference.
        bare = self.quadratic.copy()
        bare[-1, -1] = 0.0
        inside = quadratic_values(bare, self.frame.coordinates(points))
        off = (
            self.off_hull_weight * (self.frame.offsets(points) ** 2).sum(axis=1)
            if self.off_hull_weight
            else 0.0
        )
        return np.asarray((self.threshold - self.quadratic[-1, -1]) - inside - off)

    @classmethod
    def of_ellipsoid(cls, ellipsoid: Ellipsoid, frame: AffineFrame, ratio: float) -> Self:
        """Return the rule (8.2) of an ellipsoid that contains the positives, in coordinates G x."""
        count = len(ellipsoid.offset)
        frame_of_rule = replace(frame, shift=ellipsoid.shift, basis=ellipsoid.factor.T)
        local = Ellipsoid(np.zeros(count), np.eye(count), ellipsoid.offset)
        return cls(frame_of_rule, local.homogeneous, middle(ratio), 0.0)

    def homogeneous(self) -> FloatArray:
        """Return the matrix of the quadratic for (x, 1), shape ``(k + 1, k + 1)``."""
        lifting = self.frame.lifting()
        across = np.column_stack([self.frame.normals.T, -self.frame.normals.T @ self.frame.shift])
        matrix = lifting.T @ self.quadratic @ lifting + self.off_hull_weight * (across.T @ across)
        return np.asarray((matrix + matrix.T) / 2.0)


@dataclass(frozen=True)
class Separation:
    """The separation of two classes by an ellipsoid of maximal separation ratio.

    Parameters
    ----------
    status
        FEASIBLE: an ellipsoid is proved to separate them, t >= ``ratio_lower`` > 0. INFEASIBLE:
        none is, t = 0. MARGIN_BOUNDED: t <= ``ratio_upper`` is proved, and too small to matter.
        UNBOUNDED: no negative lies in the affine hull of the positives; if some do to rounding, the
        ellipsoid and the rule are those of the hull to rounding. UNVERIFIED: nothing is.
    proved
        Whether that is proved for the examples as doubles; UNBOUNDED may hold to rounding only.
    ratio
        The largest t, computed, in its bracket: the squared ratio of the half-axes less 1; infinite
        if unbounded.
    ratio_lower, ratio_upper
        The proved bracket of the largest t.
    reached
        The t of the ellipsoid and the rule returned, computed: below ``ratio`` where columns depend
        on others but for rounding, see ``residual_ellipsoid``.
    matrix
        E^ of (7.9), shape ``(k + 1, k + 1)``: canonical (7.8) if it separates, e e' in the limit of
        the central path; for UNBOUNDED the direction of recession, if there is one.
    positive_weights, negative_weights
        lambda of (7.21), shapes ``(m,)``, the latter summing to 1; zero if unbounded.
    ellipsoid
        The separating ellipsoid, scaled to hold the positives: centre and axes in the space of the
        examples; None where none is found.
    inseparability, recession
        What proves t = 0, or the unboundedness; or None.
    gaps
        The optimality conditions.
    iterations, message
        Of the solver.
    complete
        Whether the solver reached its tolerance. If not, its limits or rounding ended it: what is
        proved holds nevertheless.
    residual_ellipsoid
        Where columns depend on others but for rounding, an ellipsoid that proves ``ratio_lower`` by
        the rounding errors of these columns. ``ellipsoid`` and the rule do not use them, since new
        points are rounded differently. None elsewhere.
    """

    status: Status
    proved: bool
    ratio: float
    ratio_lower: float
    ratio_upper: float
    matrix: FloatArray
    positive_weights: FloatArray
    negative_weights: FloatArray
    rule: Rule
    message: str
    reached: float = math.inf
    iterations: int = 0
    complete: bool = True
    ellipsoid: Ellipsoid | None = None
    inseparability: Inseparability | None = None
    recession: Recession | None = None
    gaps: OptimalityGaps | None = None
    residual_ellipsoid: ResidualEllipsoid | None = None

    def __str__(self) -> str:
        return f"{self.status}{' (proved)' if self.proved else ''}: {self.message}"

    @property
    def separation_ratio(self) -> float:
        """sqrt(1 + t), the ratio of the half-axes."""
        return math.sqrt(1.0 + self.ratio)

    @property
    def centre(self) -> FloatArray | None:
        """The ellipsoid's centre, shape ``(k,)``, or None."""
        return None if self.ellipsoid is None else self.ellipsoid.centre

    @property
    def support(self) -> tuple[IntArray, IntArray]:
        """The support examples of each class, by their weights."""
        parts = self.positive_weights, self.negative_weights
        most = max(float(part.max(initial=0.0)) for part in parts)
        first, second = (np.flatnonzero(part > SUPPORT * most) for part in parts)
        return first, second

    def decision_values(self, points: npt.ArrayLike | Examples) -> FloatArray:
        """Return f of (8.2), positive inside the middle ellipsoid, shape ``(m,)``.

        f(x) = ((1 + sqrt(1 + t)) / 2)^2 - x^'E^x^. In the limit of the central path
        f(x) = -s / 2 - q(x).
        """
        return self.rule.values(dense_rows(points, len(self.matrix) - 1))


@dataclass(frozen=True)
class Assessment:
    """A computed solution and its examples, as input of the proofs."""

    positives: FloatArray
    negatives: FloatArray
    negative_indices: IntArray
    frame: AffineFrame
    solution: Solution

    def separation(self) -> Separation:
        """Return the solution with the proofs that the time limit allows."""
        solution, inside = self.solution, self.negatives[self.negative_indices]
        weights = solution.weights
        canonical = ellipsoid = proof = None
        lower, upper = 0.0, math.inf
        with last_proofs():
            # Each proof ends by itself when the time is up: what is proved before it stays.
            with suppress(TimeIsUp):
                canonical, ellipsoid, lower = self._separating(inside)
            with suppress(TimeIsUp):
                if lower == 0.0 and solution.ratio < SMALL:
                    proof = prove_inseparable(self.positives, inside, weights, self.frame)
            with suppress(TimeIsUp):
                bound = proved_upper_bound
                upper = 0.0 if proof else bound(self.positives, inside, weights, self.frame)
        status = status_of(lower, upper, proof)
        # (8.2) for the canonical ellipsoid, or for the solution as it is
        quadratic = solution.quadratic if canonical is None else canonical.homogeneous
        rule = Rule(
            self.frame, quadratic, solution.threshold, self._off_hull_weight(solution.ratio)
        )
        ratio = 0.0 if proof else Bracket(lower, upper).clip(max(solution.ratio, lower, 0.0))
        matrix, gaps = rule.homogeneous(), None
        if solution.limit is None:
            points = (self.frame.coordinates(part) for part in (self.positives, inside))
            gaps = OptimalityGaps.of(solution, *points)
        else:  # e e', (7.10)
            matrix = np.zeros_like(matrix)
            matrix[-1, -1] = 1.0
        count = len(self.negatives)
        words = f"{bounds_sentence(status, lower, upper, proof, ratio)} ({solution.message})"
        proved = status is not Status.UNVERIFIED
        bounds = (
            status,
            proved,
            ratio,
            lower,
            upper,
            matrix,
            weights[0],
            scatter(weights[1], self.negative_indices, count),
            rule,
            words,
        )
        nothing = proof and proof.renumbered(self.negative_indices, count)
        ended = ratio, solution.iterations, solution.complete
        return Separation(*bounds, *ended, ellipsoid, nothing, gaps=gaps)

    def _separating(self, inside: FloatArray) -> tuple[Ellipsoid | None, Ellipsoid | None, float]:
        """Return the canonical ellipsoid, scaled to contain the positives, and its lower bound.

        The ellipsoid is returned in the frame's coordinates and in the space of the examples.
        """
        if self.solution.limit is not None:
            return None, None, 0.0
        canonical = Ellipsoid.canonical(self.solution.quadratic)
        lifted_back = canonical.pulled_back(self.frame)
        lower, most = proved_lower_bound(self.positives, inside, lifted_back)
        if not lower > 0.0:
            return None, None, 0.0
        canonical, lifted_back = canonical.scaled(1.0 / most), lifted_back.scaled(1.0 / most)
        if self.frame.outside.any():
            lifted_back = lifted_back.extended(self.frame.normals, self._off_hull_weight(lower))
        # The bound has to hold for the doubles that are returned, so that they can be verified
        # again.
        lower = proved_lower_bound(self.positives, self.negatives, lifted_back)[0]
        return (canonical, lifted_back, lower) if lower > 0.0 else (None, None, 0.0)

    def _off_hull_weight(self, ratio: float) -> float:
        """Return the weight of the normals that brings the negatives off the hull to 1 + t."""
        if not self.frame.outside.any():
            return 0.0
        off = (self.frame.offsets(self.negatives[self.frame.outside]) ** 2).sum(axis=1)
        return (1.0 + max(ratio, 0.0)) / float(off.min()) * (1.0 + 1e-9)


def can_rank(separation: Separation) -> bool:
    """Return whether the decision function of a separation ranks examples meaningfully.

    It does not where the solver's t is 0: the matrix is then e e' up to the solver's errors.
    """
    already = separation.gaps is None
    return already or separation.ellipsoid is not None or separation.reached > NEGLIGIBLE


def status_of(lower: float, upper: float, proof: Inseparability | None) -> Status:
    """Return the status by proved bounds of t, or by a proof that it is 0."""
    if lower > 0.0:
        return Status.FEASIBLE
    if proof is not None:
        return Status.INFEASIBLE
    return Status.MARGIN_BOUNDED if upper <= NEGLIGIBLE else Status.UNVERIFIED


def bounds_sentence(
    status: Status, lower: float, upper: float, proof: Inseparability | None, ratio: float
) -> str:
    """Return a sentence with the bounds or the proof; ``ratio`` is t as computed."""
    bracket = f"{text_below(lower, 10)} <= t <= {text_above(upper, 10)}"
    return {
        Status.FEASIBLE: f"an ellipsoid separates the classes: {bracket}",
        Status.INFEASIBLE: "no ellipsoid separates the classes: " + (proof.method if proof else ""),
        Status.MARGIN_BOUNDED: f"t <= {text_above(upper, 3)} is proved",
    }.get(
        status, f"undecided: only t <= {text_above(upper)} is proved; the solver's t is {ratio:.3g}"
    )
