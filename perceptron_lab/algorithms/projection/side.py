"""Projection and rescaling for one subspace M, with a scaling that dominates it.

The potential of a scaling, and how far weights z let it grow:

Let M be a subspace and K a symmetric cone of rank r. An element omega inside K *dominates* M if
<omega, x> <= r for all x in M and K with tr x = r. For these x, by the inequality of means,

    det(omega) det(x) <= (<omega, x> / r)^r <= 1,

so that ln det(omega) <= ln(1 / delta), delta = max {det x : x in M and K, tr x = r} <= 1, whenever
M meets the interior of K. (e dominates M; where it does not meet the interior, delta = 0.)

Let D = P(omega^1/2), z in K with tr z = 1, and lambda >= 0 with P_{DM} z <= lambda e. Then
<D z, x> = <P_{DM} z, D x> <= lambda <omega, x> <= lambda r, and so

    omega' = omega + s (D z - lambda omega) = D ((1 - s lambda) e + s z),   0 <= s < 1 / lambda,

dominates M as well. Its potential is larger by

    ln det((1 - s lambda) e + s z) = sum_i ln(1 + s (lambda_i(z) - lambda)),

a concave function of s, here maximised. For one z with lambda <= eta / r the greatest eigenvalue
alone gives, by sum_i ln(1 + kappa lambda_i) >= ln(1 + kappa) with kappa = s / (1 - s lambda),
ln(1 + kappa) - kappa eta = ln(1 / eta) - 1 + eta at kappa = 1 / eta - 1: the least growth.

The bounds are ours. They sharpen the idea of the paper, which rescales along one idempotent, with
norm(x)^2 = r in place of tr x = r (its delta is the lesser one).

References
----------
J. Pena and N. Soheili, Solving conic systems via projection and rescaling, Mathematical
Programming 166 (2017).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import scipy

from perceptron_lab.algorithms.projection.basic_procedures import INSIDE, BasicProcedure
from perceptron_lab.algorithms.projection.rescaled_data import Range, RescaledRange
from perceptron_lab.core.results import FloatArray
from perceptron_lab.systems.system import Counters

# After t steps of a phase the next look at the growth is after this factor
SPACING = 1.5
# lambda is taken to be this part of 1 / rank at least: a valid bound, and the growth stays finite
LEAST = 1e-6
# Phases of so many times the steps that they can take in exact arithmetic are the last ones
PATIENCE = 2
# An element that is not inside K after all is followed by those of so many times its ratio only
DEEPER = 10.0
# Eigenvalues of a scaling below this part of the largest are rounding errors
RESOLUTION = 1e-16


# Newton steps in one variable at most, and the decrement at which the maximum is good enough
STEPS, DECREMENT = 60, 1e-3


def greatest_growth(values: FloatArray, top: float) -> tuple[float, float]:
    """Return s and max over 0 <= s < 1 / lambda of sum_i ln(1 + s (lambda_i - lambda)).

    Damped Newton steps: the function is self-concordant, so that they stay where it is defined.

    Parameters
    ----------
    values, top
        lambda_i >= 0, shape ``(r,)``, and lambda > 0.
    """
    slopes = values - top
    step = 0.0
    for _ in range(STEPS):
        terms = slopes / (1.0 + step * slopes)
        slope, curvature = float(terms.sum()), float(terms @ terms)
        if slope <= 0.0 and step == 0.0:
            return 0.0, 0.0
        decrement = abs(slope) / math.sqrt(curvature)
        step += slope / curvature / (1.0 + decrement)
        if decrement < DECREMENT:
            break
    return step, float(np.log1p(step * slopes).sum())


def accuracy_for(growth: float) -> float:
    """Return eta in (0, 1) with ln(1 / eta) - 1 + eta = ``growth`` > 0.

    >>> round(accuracy_for(0.6362943611198906), 9)  # ln 4 - 3/4
    0.25
    """
    low = math.exp(-1.0 - growth)
    return float(scipy.optimize.brentq(lambda eta: eta - 1.0 - math.log(eta) - growth, low, 1.0))


def largest_potential(rank: int, ratio: float) -> float:
    """Return an upper bound of ln(1 / delta) for eigenvalues in [1, ratio], ratio >= 1.

    -ln delta <= r ln(mean) - sum_i ln lambda_i, whose level sets on the box are convex: it is the
    greatest at a vertex, with k eigenvalues ``ratio`` and the others 1.
    """
    upper = np.arange(rank + 1)
    # in terms of 1 / ratio: the ratio itself may be near the end of the range of doubles
    means = (upper + (rank - upper) / ratio) / rank
    return float((rank * np.log(means) + (rank - upper) * math.log(ratio)).max())


class SideSolution(NamedTuple):
    """An element inside K: of G L (a point), or of its orthogonal complement (weights).

    ``ratio`` is that of its lowest and greatest eigenvalue.
    """

    element: FloatArray
    rescaled: RescaledRange
    weights: bool
    ratio: float


class Side:
    """One side: M = L or its orthogonal complement, and omega that dominates M (see above).

    A phase runs the basic procedure on D M, D = P(omega^1/2), until it finds an element inside K or
    weights z that let ln det(omega) grow by ``growth``. Then omega moves, and D with it.

    ``slack`` = S in K is such that omega + S - e is orthogonal to M: it starts at 0, and

        S' = S + s D k,   k = lambda e - P_{DM} z in K,

    goes with omega' = omega + s (D z - lambda omega). So omega proves something. For M = L these
    are weights w = omega + S with A w = A e: the margin is at most norm(A e) / tr w. For the
    complement, omega + S - e = A*y for a y: A*y + e lies in K, however large y.

    Parameters
    ----------
    base
        L.
    complement
        Whether M is the orthogonal complement of L.
    procedure
        The basic procedure.
    growth, accuracy
        Growth of a rescaling, > 0, and the norm of P_M z that yields it.
    counters
        Where products and queries are counted.

    Attributes
    ----------
    scaling, slack
        omega and S, shape ``(size,)``.
    potential, rescalings
        ln det(omega), as the sum of the growths, and their number.
    steps
        Steps of the basic procedure, in all phases.
    exhausted
        Whether the scaling is beyond double precision: its eigenvalues are, or a phase has taken
        longer than it can in exact arithmetic. Nothing more is to be had from this side.
    """

    def __init__(
        self,
        base: Range,
        procedure: type[BasicProcedure],
        *,
        complement: bool,
        growth: float,
        accuracy: float,
        counters: Counters,
    ) -> None:
        self.base, self.complement, self.growth = base, complement, growth
        self._algebra, self._kind, self._counters = base.algebra, procedure, counters
        self._limit = procedure.limit(base.algebra.rank, accuracy)
        self.scaling, self.slack = base.algebra.identity, np.zeros(base.algebra.size)
        self.potential, self.rescalings, self.steps = 0.0, 0, 0
        self.exhausted, self._inside = False, INSIDE
        self._begin_phase()

    def _begin_phase(self) -> None:
        """Rescale the data by omega, and start the basic procedure."""
        values, self._frame = self._algebra.spectrum(self.scaling)
        if not values.min() > RESOLUTION * values.max():
            self.exhausted = True
            return
        self._roots = np.sqrt(values)
        # D M is orthogonal to D^-1 L where M is orthogonal to L
        factors = 1.0 / self._roots if self.complement else self._roots
        self.rescaled = RescaledRange(self.base, factors, self._frame, self._counters)
        projection = self.rescaled.projection(complement=self.complement)
        self._procedure, self._next_check = self._kind(self._algebra, projection), 1
        self._procedure.inside = self._inside

    def step(self) -> SideSolution | None:
        """Make one step of the basic procedure; rescale if useful, return an element inside K."""
        self._counters.queries += 1
        self.steps += 1
        procedure = self._procedure
        element = procedure.step()
        if element is not None:
            return self._solution(element, self.complement)
        # A check costs a spectrum: they are spaced geometrically, and one falls on the limit
        if procedure.steps < self._next_check:
            return None
        self._next_check = max(procedure.steps + 1, int(SPACING * procedure.steps))
        if procedure.steps < self._limit < self._next_check:
            self._next_check = self._limit
        self.exhausted = procedure.steps > PATIENCE * self._limit
        # The image is updated by recursion: recomputed before something is concluded from it
        procedure.renew()
        return self._complement_solution(procedure.weights, procedure.image)

    def _solution(self, element: FloatArray, weights: bool) -> SideSolution:
        """Return an element with the ratio of its extreme eigenvalues."""
        values = self._algebra.eigenvalues(element)
        return SideSolution(element, self.rescaled, weights, float(values.min() / values.max()))

    def doubt(self, solution: SideSolution) -> None:
        """Require later solutions to lie deeper inside K than this rejected one."""
        self._inside = max(self._inside, DEEPER * solution.ratio)
        self._procedure.inside = self._inside

    def _complement_solution(self, weights: FloatArray, image: FloatArray) -> SideSolution | None:
        """Return z - P z if it lies in int K, for the complement; else rescale if useful."""
        self._counters.queries += 1
        other = weights - image
        if self._procedure.passes(float(self._algebra.eigenvalues(other).min()), other):
            return self._solution(other, not self.complement)
        # k = lambda e - P z lies in K for lambda >= its largest eigenvalue
        top = max(float(self._algebra.eigenvalues(image).max()), LEAST / self._algebra.rank)
        step, gained = greatest_growth(self._algebra.eigenvalues(weights), top)
        if gained >= self.growth:
            self._move(weights, top * self._algebra.identity - image, step, top)
            self.potential += gained
            self.rescalings += 1
            self._begin_phase()
        return None

    def _move(self, weights: FloatArray, rest: FloatArray, step: float, top: float) -> None:
        """Let omega <- omega + s (D z - lambda omega) and S <- S + s D k."""
        pair = np.column_stack([weights, rest])
        towards = self._algebra.quadratic(self._roots, self._frame, pair)
        self.scaling = self.scaling + step * (towards[:, 0] - top * self.scaling)
        self.slack = self.slack + step * towards[:, 1]
