"""Additive updates in a space that is stretched by the correlation matrix of the cuts made."""

from __future__ import annotations

import math
from typing import Annotated, ClassVar, Final, Literal

import numpy as np
from pydantic import Field

from perceptron_lab.algorithms.base import BOUNDED_ON_ALL, Systems, squared
from perceptron_lab.algorithms.perceptrons.second_order_perceptron import (
    RidgeInverse,
    largest_sum,
    most_cuts,
)
from perceptron_lab.algorithms.rescaling.volume_rescaling import (
    Phase,
    Stretch,
    VolumeRescaling,
    least_growth,
)
from perceptron_lab.core.facts import Facts
from perceptron_lab.core.refusals import Proportion, parameter_record
from perceptron_lab.core.results import Bound, FloatArray, Guarantee
from perceptron_lab.core.time_limit import check_time

# c of M = (I + c S/k)^(1/2): 3 is that of the theorem; larger ones gain more from flatter cones
STRENGTHS: Final = 3.0 * 4.0 ** np.arange(13)
SPACING = 1.1  # Counts of cuts at which a stretch is tried have this ratio: each costs n^3


class CorrelationPhase(Phase):
    """The point, and S = u_1 u_1' + .. + u_k u_k' of the unit cuts; v is their sum.

    Parameters
    ----------
    ridge
        a of the second-order perceptron's point (a I + S)^-1 v; None for the perceptron's point v.
    limit
        A number of cuts that proves a stretch in any case.
    """

    def __init__(self, point: FloatArray, size: int, *, ridge: float | None, limit: int) -> None:
        super().__init__(point, size)
        n = len(point)
        self.ridge, self.limit = ridge, limit
        self.correlation = np.zeros((n, n))
        self._inverse = None if ridge is None else RidgeInverse(n, ridge)
        self._start_term = np.zeros(n)  # a x_0 for a start x_0
        self._next_trial = min(n, limit)

    def begin_at(self, unit: FloatArray) -> None:
        """Start the phase at a given point before the first cut."""
        super().begin_at(unit)
        self._start_term = unit if self.ridge is None else self.ridge * unit

    def add(self, unit: FloatArray) -> None:
        """Add the cut to S, and move the point."""
        self.correlation += np.outer(unit, unit)
        if self._inverse is None:
            self.point += unit
        else:
            self._inverse.take(unit)
            self.point[:] = self._inverse.matrix @ (self._start_term + self.total)

    def most(self) -> float:
        """Return Q with sum <u_i, y> <= Q for all feasible y of norm 1.

        Q = norm(v), or of the second-order perceptron the root of Q^2 = (a + Q) v'(aI + S)^-1 v,
        if that is less.
        """
        length = float(np.linalg.norm(self.total))
        if self.ridge is None:
            return length
        ridged = self.correlation + self.ridge * np.eye(len(self.point))
        size = float(self.total @ np.linalg.solve(ridged, self.total))
        return min(length, largest_sum(max(size, 0.0), self.ridge))

    def stretch(self) -> Stretch | None:
        """Return the stretch (I + c S/k)^(1/2) with the c of ``STRENGTHS`` that gains most."""
        if self.count < self._next_trial:
            return None
        check_time(8.0 * float(len(self.point)) ** 3)
        self._next_trial = math.ceil(SPACING * self.count)
        if self.count < self.limit:
            self._next_trial = min(self._next_trial, self.limit)
        n, flatness = len(self.point), self.most() / self.count
        if n * flatness >= 1.0:  # no c gains anything
            return None
        values, vectors = np.linalg.eigh(self.correlation / self.count)
        factors = np.sqrt(1.0 + STRENGTHS[:, None] * np.maximum(values, 0.0))
        growth = np.log(factors).sum(axis=1) - 0.5 * n * np.log1p(STRENGTHS * flatness)
        best = int(growth.argmax())
        if growth[best] < least_growth(n):
            return None
        shrunk = math.sqrt(1.0 + STRENGTHS[best] * flatness) / factors[best]
        return Stretch((vectors * shrunk) @ vectors.T, float(growth[best]))


@parameter_record
class CorrelationRescaling(VolumeRescaling):
    """Phases of the perceptron, or the second-order one; then a stretch by all their cuts at once.

    For any cone F = {y : <a, y> > 0 for all cuts a} that is given by a separation oracle. One phase
    on M F (M = I at first), with its unit cuts u_1, .., u_k, v their sum and S = sum u_i u_i':

    1. while a cut u with <u, x> <= 0 exists: v <- v + u, S <- S + u u', and x = v (perceptron), or
       x = (a I + S)^-1 v (second-order perceptron);
    2. as soon as the growth is proved to be enough: M <- (I + (c/k) S)^(1/2) M, and v, S <- 0.

    *Why.* For y in M F of norm 1, 0 < <u_i, y> <= 1, and so y'S y <= sum <u_i, y> = <v, y> <= Q:
    the image of y has norm at most sqrt(1 + c Q/k), and the volume of the cone within the unit ball
    grows by det(I + c S/k)^(1/2) (1 + c Q/k)^(-n/2). S/k has trace 1, so that the determinant is
    1 + c or more: for c = 3 and Q/k <= 1/(6n) the growth is 2 (1 + 1/(2n))^(-n/2) > 1.55 again.
    Perceptron updates keep norm(v) <= sqrt k, and k = 36 n^2 cuts are enough: O(n^3 ln(1/rho))
    updates, n^2 fewer than with one direction at a time. The c of 3, 12, 48, .. that gains most
    is taken, and a phase ends early where the gain is proved (it is tried at counts of ratio 1.1).

    The second-order perceptron has Q = (L + sqrt(L^2 + 4 a L)) / 2 with L <= n ln(1 + k/(n a)), and
    k = O(n^2 ln n) cuts are enough: this answers the question of `Kharechko2009`, chapter 9,
    whether rescaling can be used in it. The second-order perceptron whitens by the correlation of
    its cuts at every mistake, with a ridge that never changes; rescaling moves the ridge, and
    turns n/rho into n^3 ln(1/rho), times a factor ln n.

    Parameters
    ----------
    procedure
        ``perceptron`` (default) or ``second-order``.
    ridge
        a > 0 of the second-order perceptron (default 1).
    margin
        The margin assumed, in the system's own terms, > 0 (default 1e-12): when the volume has
        grown by more than it allows, the first phase continues without rescaling.

    References
    ----------
    In the manner of D. Dadush, L. A. Vegh and G. Zambelli, Rescaling algorithms for linear conic
    feasibility, Mathematics of Operations Research 45 (2020), for rows; the proof here is for any
    separation oracle, with constants derived here.
    """

    systems: ClassVar[Systems] = BOUNDED_ON_ALL
    guarantee: ClassVar[Guarantee] = Guarantee(
        "36 n^2 (K + 1)",
        "ours, as Dadush, Vegh and Zambelli 2020: O(n^3 ln(1/rho))",
        note="for K <= (n ln(1 / r_0) - ln 2) / ln 1.55 stretches, after phases of the perceptron",
    )

    procedure: Literal["perceptron", "second-order"] = "perceptron"
    ridge: Annotated[float, Field(gt=0, lt=1e100)] = 1.0
    margin: Proportion = 1e-12

    def phase(self, dimension: int, size: int) -> CorrelationPhase:
        """Return a phase at x = 0."""
        ridge = None if self.procedure == "perceptron" else self.ridge
        limit = self.limit(dimension)
        return CorrelationPhase(np.zeros(dimension), size, ridge=ridge, limit=limit)

    def limit(self, dimension: int) -> int:
        """Return 36 n^2, or for the second-order perceptron the least k with 6 n Q <= k."""
        if self.procedure == "perceptron":
            return 36 * dimension**2
        return math.floor(most_cuts(1.0 / (6.0 * dimension), dimension, self.ridge)) + 1

    def started_limit(self, dimension: int) -> int | None:
        """Return 36 n^2 + 12 n, rounded up to the next count at which a stretch is tried."""
        if self.procedure == "second-order":
            return None
        return math.ceil(SPACING * (36 * dimension**2 + 12 * dimension)) + 1

    def unrescaled(self, facts: Facts) -> Bound | None:
        """Return the procedure's bound if rho > exp(-2 g / n) / n, g = ``least_growth``.

        Q/k is rho or more, and no c gains more than (n/2) ln(k / (n Q)).
        """
        n, rho = facts.dimension, facts.unit_margin
        if rho is None or n * rho <= math.exp(-2.0 * least_growth(n) / n):
            return None
        if self.procedure == "perceptron":
            return squared(1.0, rho, "Theorem 2.7 (Novikoff) of Kharechko2009, phase 1")
        return Bound(most_cuts(min(rho, 1.0), n, self.ridge), f"{self.guarantee.source}, phase 1")
