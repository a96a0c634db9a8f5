"""The separation of two classes by an ellipsoid: t, its proved bracket, and the rule."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from perceptron_lab.datasets.problem import Examples
from perceptron_lab.ellipsoids.ellipsoid import Ellipsoid
from perceptron_lab.ellipsoids.examples import dense_rows
from perceptron_lab.ellipsoids.hard.affine_frame import AffineFrame
from perceptron_lab.ellipsoids.hard.finer import FinerEllipsoid
from perceptron_lab.ellipsoids.hard.ratio_proofs import Inseparability, Recession
from perceptron_lab.ellipsoids.lifting import quadratic_values
from perceptron_lab.results import FloatArray, IntArray, Status

SUPPORT = 1e-6
"""Weights above this part of the largest one make their example a support example."""


class Gaps(NamedTuple):
    """How well the optimality conditions hold, relative to 1 + t; computed, not proved."""

    duality: float  # sum_+ lambda - (1 + t)
    slackness: float  # the largest lambda_i (t tau_i - y_i (1 - x^'E^x^)) in magnitude, (7.17)
    trace: float  # trace(Z E^), (7.18)
    feasibility: float  # the largest violation of (7.9), 0 if there is none


@dataclass(frozen=True)
class Rule:
    """f(x) = threshold - (u, 1)'quadratic(u, 1) - across norm(off)^2, in a frame's coordinates."""

    frame: AffineFrame
    quadratic: FloatArray
    threshold: float
    across: float

    def values(self, points: FloatArray) -> FloatArray:
        """Return f of every row; the constants are subtracted before anything is added to them."""
        bare = self.quadratic.copy()
        bare[-1, -1] = 0.0
        inside = quadratic_values(bare, self.frame.coordinates(points))
        off = self.across * (self.frame.offsets(points) ** 2).sum(axis=1) if self.across else 0.0
        return np.asarray((self.threshold - self.quadratic[-1, -1]) - inside - off)

    def homogeneous(self) -> FloatArray:
        """Return the matrix of the quadratic for (x, 1), shape ``(k + 1, k + 1)``."""
        lifting = self.frame.lifting()
        across = np.column_stack([self.frame.normals.T, -self.frame.normals.T @ self.frame.shift])
        whole = lifting.T @ self.quadratic @ lifting + self.across * (across.T @ across)
        return np.asarray((whole + whole.T) / 2.0)


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
        Whether that is proved on the doubles given; UNBOUNDED may hold to rounding only.
    ratio
        t, computed: the squared ratio of the half-axes less 1; infinite if unbounded.
    ratio_lower, ratio_upper
        The proved bracket of the largest t. Where columns depend on others but for rounding it may
        lie above ``ratio``: see ``finer``.
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
        proved holds all the same.
    finer
        Where columns depend on others but for rounding, an ellipsoid that proves ``ratio_lower`` by
        what rounding left of them; ``ellipsoid`` and the rule leave that out, since other points
        were rounded otherwise. None elsewhere.
    """

    status: Status
    proved: bool
    ratio: float
    ratio_lower: float
    ratio_upper: float
    matrix: FloatArray
    positive_weights: FloatArray
    negative_weights: FloatArray
    ellipsoid: Ellipsoid | None
    inseparability: Inseparability | None
    recession: Recession | None
    gaps: Gaps | None
    iterations: int
    message: str
    rule: Rule
    complete: bool = True
    finer: FinerEllipsoid | None = None

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
