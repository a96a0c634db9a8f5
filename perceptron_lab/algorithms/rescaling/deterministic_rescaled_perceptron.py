"""The deterministic rescaled perceptron of Pena and Soheili (2016)."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from perceptron_lab.algorithms.base import BOUNDED_ON_ALL, Systems, squared
from perceptron_lab.algorithms.rescaling.volume_rescaling import Phase, Stretch, VolumeRescaling
from perceptron_lab.core.facts import Facts
from perceptron_lab.core.refusals import Proportion, parameter_record
from perceptron_lab.core.results import Bound, FloatArray, Guarantee


def phase_limit(dimension: int) -> int:
    """Return 24 n^4."""
    return 24 * dimension**4


class CoordinatePhase(Phase):
    """The perceptron's point, and the sums s_c of the unit cuts of each class c = (j, sign).

    A cut belongs to the class of its largest coordinate in absolute value and that one's sign.
    """

    def __init__(self, point: FloatArray, size: int, *, early: bool) -> None:
        super().__init__(point, size)
        n = len(point)
        self.early = early
        self.sums = np.zeros((2 * n, n))
        self._squares = np.zeros(2 * n)

    def add(self, unit: FloatArray) -> None:
        """Add the cut to the point and to the sum of its class."""
        self.point += unit
        # Classes by the coordinate of largest size and its sign: cuts of one class cannot cancel
        coordinate = int(np.abs(unit).argmax())
        row = 2 * coordinate + (unit[coordinate] < 0.0)
        self.sums[row] += unit
        self._squares[row] = self.sums[row] @ self.sums[row]

    def stretch(self) -> Stretch | None:
        """Return the stretch by 2 along the s_c of largest norm, if the cone is flat enough."""
        n = len(self.point)
        # The printed algorithm looks only after 24 n^4 updates; ``early`` looks after each
        if not self.early and self.count % phase_limit(n):
            return None
        row = int(self._squares.argmax())
        square = float(self._squares[row])
        flatness = float(self.total @ self.total) / square  # height^2 of F over the plane of d
        # Otherwise (1 + 3 flatness)^(n/2) <= (1 + 1/(2n))^(n/2): the growth suffices
        if 6.0 * n * flatness > 1.0:
            return None
        growth = math.log(2.0) - 0.5 * n * math.log1p(3.0 * flatness)
        direction = self.sums[row] / math.sqrt(square)
        inverse = np.eye(n) - 0.5 * np.outer(direction, direction)
        return Stretch(math.sqrt(1.0 + 3.0 * flatness) * inverse, growth)


@parameter_record
class DeterministicRescaledPerceptron(VolumeRescaling):
    """The perceptron in phases; after each, the space is stretched by 2 along a thin direction.

    For any cone F = {y : <a, y> > 0 for all cuts a} that is given by a separation oracle. One phase
    on M F (M = I at first), with the unit cuts u_1, .., u_k of the mapped cone:

    1. perceptron: while a cut u with <u, x> <= 0 exists, x <- x + u;
    2. after 24 n^4 updates: let s be the longest of the 2n sums of those u_i that have their
       largest coordinate, in absolute value, in the same place with the same sign, d = s / norm(s);
    3. M <- (I + d d') M, and x <- 0: F is stretched by 2 along d.

    *Why.* For y in M F of norm 1 all <u_i, y> are positive, so 0 < <s, y> <= <sum u_i, y> and
    <d, y> <= tau = norm(sum u_i) / norm(s). Perceptron updates keep norm(sum u_i) <= sqrt k. Each
    u_i has a coordinate of 1 / sqrt n or more, so some class has norm(s) >= k / (2 n sqrt n): at
    k = 24 n^4, tau <= 1 / sqrt(6 n). The image of y has norm at most sqrt(1 + 3 tau^2), so that the
    volume of the cone within the unit ball grows by 2 (1 + 3 tau^2)^(-n/2) >= 2 exp(-1/4) > 3/2;
    it is r0(rho)^n of the ball's at first and never more than a half. Hence K <= (n ln(1/r0) -
    ln 2) / ln 1.55 stretches, and O(n^5 ln(1/rho)) updates. A margin rho of more than 1 / sqrt(6 n)
    lets no stretch happen (tau >= rho): then 1 / rho^2.

    No deep cuts, no randomness, no unit rows are needed: the theorem holds on all cones. The
    constants are derived here; the paper states O(n^5 ln(1/rho)).

    Parameters
    ----------
    early
        Whether a phase ends as soon as tau <= 1 / sqrt(6 n), which is what its 24 n^4 updates are
        for (default true); else all of them are made. The bound is the same.
    margin
        The margin assumed, in the system's own terms, > 0 (default 1e-12): when the volume has
        grown by more than it allows, the first phase continues without rescaling, and its weights
        bound the margin like the perceptron's.

    References
    ----------
    J. Pena and N. Soheili, A deterministic rescaled perceptron algorithm, Mathematical Programming
    155 (2016).
    """

    systems: ClassVar[Systems] = BOUNDED_ON_ALL
    guarantee: ClassVar[Guarantee] = Guarantee(
        "24 n^4 (K + 1)",
        "as Pena and Soheili 2016, O(n^5 ln(1/rho)), constants ours",
        note="for K <= (n ln(1 / r_0) - ln 2) / ln 1.55 stretches",
    )

    early: bool = True
    margin: Proportion = 1e-12

    def phase(self, dimension: int, size: int) -> CoordinatePhase:
        """Return a phase at x = 0."""
        return CoordinatePhase(np.zeros(dimension), size, early=self.early)

    def limit(self, dimension: int) -> int:
        """Return 24 n^4."""
        return phase_limit(dimension)

    def started_limit(self, dimension: int) -> int:
        """Return 24 n^4 + 2 sqrt(24) n^2; or 48 n^4, where it is looked at every 24 n^4 updates."""
        limit = phase_limit(dimension)
        return math.ceil(limit + 2.0 * math.sqrt(limit)) if self.early else 2 * limit

    def unrescaled(self, facts: Facts) -> Bound | None:
        """Return 1 / rho^2 for rho > 1 / sqrt(6 n)."""
        rho = facts.unit_margin
        if rho is None or 6.0 * facts.dimension * rho * rho <= 1.0:
            return None
        return squared(1.0, rho, "Theorem 2.7 (Novikoff) of Kharechko2009, phase 1")
