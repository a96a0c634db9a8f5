"""The second-order perceptron of Cesa-Bianchi, Conconi and Gentile (2005)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
import scipy.linalg
from pydantic import Field

from perceptron_lab.algorithms.base import (
    BEYOND,
    BOUNDED_ON_ALL,
    NO_MARGIN,
    InCoordinates,
    MistakeDriven,
    State,
    Systems,
)
from perceptron_lab.core.facts import Facts
from perceptron_lab.core.refusals import parameter_record
from perceptron_lab.core.results import Bound, FloatArray, Guarantee
from perceptron_lab.systems import ConicSystem, Cut


class RidgeInverse:
    """B = (a I + u_1 u_1' + .. + u_k u_k')^-1, by one rank-one update per cut, in Fortran order."""

    def __init__(self, dimension: int, ridge: float) -> None:
        self.matrix = np.zeros((dimension, dimension), order="F")
        np.fill_diagonal(self.matrix, 1.0 / ridge)

    def take(self, unit: FloatArray) -> None:
        """Add u u' to the inverse of B: B <- B - (B u)(B u)' / (1 + u'B u)."""
        along = self.matrix @ unit
        # Sherman-Morrison: O(n^2) per cut, where a new inverse would take O(n^3)
        share = -1.0 / (1.0 + float(unit @ along))
        scipy.linalg.blas.dger(share, along, along, a=self.matrix, overwrite_a=1)


def largest_sum(log_determinant: float, ridge: float, length: float = 0.0) -> float:
    """Return the largest Q >= 0 with Q^2 <= (a + Q) L: (L + sqrt(L^2 + 4 a L)) / 2.

    L >= 0 is an upper bound of ln det(I + sum u u' / a), or of v'B v itself. Q bounds the sum of
    <u_i, y> over the cuts of the second-order perceptron, for every feasible y of norm 1.

    From a start of norm N = ``length``, v = a x_0 and v'B v = a N^2 at first: then Q is the largest
    with Q <= a N + sqrt((a + Q) S), S = a N^2 + L.
    """
    shift = ridge * length
    size = shift * length + log_determinant
    half = 0.5 * size
    return shift + half + math.sqrt(half * half + (ridge + shift) * size)


def log_determinant_bound(count: float, dimension: int, ridge: float) -> float:
    """Return n ln(1 + k / (n a)) >= ln det(I + sum of k unit u u' / a), by concavity."""
    return dimension * math.log1p(count / (dimension * ridge))


def most_cuts(margin: float, dimension: int, ridge: float, length: float = 0.0) -> float:
    """Return the largest k with k rho <= Q(n ln(1 + k/(n a))); the right side is concave in k."""

    def excess(count: float) -> float:
        logarithm = log_determinant_bound(count, dimension, ridge)
        return count * margin - largest_sum(logarithm, ridge, length)

    # k rho - Q is convex in k and negative for small k: double k until it is positive
    high = 1.0
    while excess(high) < 0.0 and high < 1e300:
        high *= 2.0
    low = high / 2.0
    # Bisection to the last bit; the upper end is returned, so that the bound stays valid
    for _ in range(200):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if excess(middle) > 0.0 else (middle, high)
    return high


@dataclass(kw_only=True)
class SecondOrderState(State):
    """The point B v, the sum v of the unit cuts, and the matrix B."""

    total: FloatArray
    inverse: RidgeInverse


@parameter_record
class SecondOrderPerceptron(MistakeDriven[SecondOrderState], InCoordinates[SecondOrderState]):
    """The perceptron on cuts that their own correlation matrix has whitened.

    While a unit cut u with <u, x> <= 0 exists, v <- v + u and S <- S + u u'; the point is

        x = (a I + S)^-1 v,

    ridge regression of the value 1 on the cuts made: the least of a norm(x)^2 + sum (<u_i, x>-1)^2.
    (The printed algorithm has u u' in the matrix before it predicts the sign of <u, x>: the same
    sign, by Sherman and Morrison.) For a -> infinity it is the perceptron.

    After k mistakes, for every y of norm 1 that is feasible,

        sum <u_i, y> <= sqrt((a + sum <u_i, y>^2) L),   L = ln det(I + S/a),

    (Cesa-Bianchi et al., from v'(a I + S)^-1 v <= L, which no mistake violates). With <u_i, y> <=
    1, the sum is at most Q = (L + sqrt(L^2 + 4 a L)) / 2, and L <= n ln(1 + k/(n a)); a margin rho
    gives k rho <= Q: k = O((n/rho) ln(n/(a rho))) instead of 1 / rho^2, and 1 / rho^2 as a ->
    infinity. It is not polynomial: rows (cos t, sin t, rho), normalised, with three general t take
    updates of the order of sqrt(a) / rho. :class:`.CorrelationRescaling` makes it so.

    A start x_0 is where v = a x_0 begins, and a N^2, N = norm(x_0), is what v'(a I + S)^-1 v begins
    with: k rho <= Q + a N, and Q with L + a N^2 for L (:func:`largest_sum`).

    A linear map T of all cuts, without normalising them, has the same effect as the ridge
    a (T'T)^-1 in place of a I, and none for a -> 0: rescaling changes the second-order perceptron
    through its ridge, and the norms of the cuts, alone.

    Parameters
    ----------
    ridge
        a > 0 (default 1).

    References
    ----------
    N. Cesa-Bianchi, A. Conconi and C. Gentile, A second-order perceptron algorithm, SIAM Journal on
    Computing 34 (2005); `Kharechko2009`, chapter 9, asks about rescaling.
    """

    systems: ClassVar[Systems] = BOUNDED_ON_ALL
    guarantee: ClassVar[Guarantee] = Guarantee(
        "max {k : k rho <= (l + sqrt(l^2 + 4 a l)) / 2}",
        "as Cesa-Bianchi, Conconi and Gentile 2005, solved for the mistakes",
        note="for l = n ln(1 + k / (n a))",
    )

    ridge: Annotated[float, Field(gt=0, lt=1e100)] = 1.0

    def start(self, system: ConicSystem, rng: np.random.Generator) -> SecondOrderState:
        """Return the state at v = 0, S = 0."""
        n = system.dimension
        return SecondOrderState(
            np.zeros(n),
            weights=np.zeros(system.cone.size),
            total=np.zeros(n),
            inverse=RidgeInverse(n, self.ridge),
        )

    def start_at(
        self, system: ConicSystem, rng: np.random.Generator, point: FloatArray
    ) -> SecondOrderState:
        """Return the state at v = a x, S = 0."""
        state = self.start(system, rng)
        state.point, state.total = point.copy(), self.ridge * point
        return state

    def update(self, state: SecondOrderState, cut: Cut) -> None:
        """Add the unit cut to v and S."""
        unit = cut.normal / cut.norm
        state.total += unit
        state.inverse.take(unit)
        state.point = state.inverse.matrix @ state.total
        state.weigh(cut.atom, cut.atom.values / cut.norm)

    def bound(self, facts: Facts) -> Bound:
        """Return the largest k with k rho <= Q(n ln(1 + k/(n a)))."""
        return self.bound_from(facts, 0.0)

    def bound_from(self, facts: Facts, length: float) -> Bound:
        """Return the bound for a start of norm ``length``."""
        theorem = self.guarantee.source
        if facts.unit_margin is None or facts.unit_margin <= 0.0:
            return Bound(None, theorem, NO_MARGIN)
        value = most_cuts(min(facts.unit_margin, 1.0), facts.dimension, self.ridge, length)
        return Bound(value, theorem) if value < 1e290 else Bound(None, theorem, BEYOND)
