"""The simplex variant of the ellipsoid method (Yamnitsky and Levin; `Kharechko2009`, 5.5)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Final

import numpy as np
import scipy

from perceptron_lab.algorithms.base import (
    BOUNDED_ON_ALL,
    NO_MARGIN,
    InCoordinates,
    Step,
    Systems,
    claim_bound,
    cut_or_claim,
)
from perceptron_lab.algorithms.rescaling.ellipsoid import (
    CutsState,
    log_volume_radius,
    minimum_norm_weights,
    remember,
)
from perceptron_lab.core.facts import Facts
from perceptron_lab.core.refusals import Proportion, parameter_record
from perceptron_lab.core.results import Bound, FloatArray, Guarantee
from perceptron_lab.systems import ConicSystem, Cut

_EXACT: Final = 1e-9  # The Newton decrement of the share


@dataclass(kw_only=True)
class SimplexState(CutsState):
    """The vertices, shape ``(n + 1, n)``, and logarithms of volumes over that of the unit ball."""

    vertices: FloatArray
    log_volume: float
    smallest_log_volume: float


@parameter_record
class SimplexCuts(InCoordinates[SimplexState]):
    """Enclose the feasible points of the unit ball in smaller and smaller simplices.

    The point is the centre of gravity x of a simplex, the mean of its vertices v_0, ..., v_n. While
    it violates a constraint, a'x <= 0, let v_0 be the vertex of the largest a'v_i, and
    t_i = -a'v_i / a'v_0 >= -1 for the others. A point v_0 + sum l_i (v_i - v_0) with l_i >= 0 has
    sum l_i <= 1 in the simplex and sum (1 + t_i) l_i <= 1 where a'y >= 0, and so lies for every
    share 0 <= theta <= 1 in the simplex sum (1 + theta t_i) l_i <= 1,

        v_i <- v_0 + (v_i - v_0) / (1 + theta t_i),

    which divides the volume by prod (1 + theta t_i). As sum t_i >= 1, and the logarithm is concave,
    the product is least at a corner, and so at least
    (1 - theta)^(n - 1) (1 + n theta): at theta = 1/n^2 the factor

        (1 - 1/n^2)^(n - 1) (1 + 1/n) > exp(1 / (2 (n + 1)^2)).

    The share is the best one, by Newton's method from 1/n^2. The first simplex is the regular one
    around the unit ball. At most (ln v_0 + n ln(1/r_0(rho))) / ln of that factor updates are made,
    where v_0 is the volume of the first simplex over that of the ball and r_0 is the volume radius
    of :func:`.log_volume_radius`: O(n^3 ln(1/rho)), n times as many as for the ellipsoid method.

    Below the volume that a system of ``margin`` has, weights are claimed, as by that method.

    Parameters
    ----------
    margin
        The assumed margin, in the units of the system's own margin, 0 < margin < 1 (default 1e-9):
        smaller margins are treated as infeasible.

    References
    ----------
    `Kharechko2009`, section 5.5; B. Yamnitsky and L. Levin, An old linear programming algorithm
    runs in polynomial time, FOCS 1982. They cut through the centre; cuts through 0 are deeper.
    """

    systems: ClassVar[Systems] = BOUNDED_ON_ALL
    guarantee: ClassVar[Guarantee] = Guarantee(
        "(ln(v_0) + n ln(1 / r_0)) / ((n - 1) ln(1 - 1 / n^2) + ln(1 + 1 / n))",
        "Yamnitsky and Levin, with r_0 for rho",
        note="v_0 is the volume of the first simplex over that of the ball",
    )
    online: ClassVar[bool] = True
    takes_start: ClassVar[bool] = False

    margin: Proportion = 1e-9

    def start(self, system: ConicSystem, rng: np.random.Generator) -> SimplexState:
        """Return the regular simplex around the unit ball."""
        n = system.dimension
        unit_margin = system.facts(self.margin).unit_margin
        assert unit_margin is not None
        vertices = scipy.linalg.helmert(n + 1).T * math.sqrt(n * (n + 1.0))
        return SimplexState(
            np.zeros(n),
            vertices=vertices,
            log_volume=first_log_volume(n),
            smallest_log_volume=n * log_volume_radius(n, min(unit_margin, 1.0)),
        )

    def step(self, system: ConicSystem, state: SimplexState, most: int) -> Step[SimplexState]:
        """Make up to ``most`` updates; claim the centre, or weights if the volume is too small."""
        for _ in range(most):
            cut = cut_or_claim(system, state.point)
            if not isinstance(cut, Cut):
                return state, cut
            if state.log_volume < state.smallest_log_volume:
                return state, claim_bound(system, minimum_norm_weights(system, state), self.margin)
            remember(state, cut)
            state.vertices, fall = shrunk(state.vertices, cut.normal / cut.norm)
            state.log_volume -= fall
            state.point = state.vertices.mean(axis=0)
            state.updates += 1
        return state, None

    def bound(self, facts: Facts) -> Bound:
        """Return (ln v_0 + n ln(1/r_0)) / ((n - 1) ln(1 - 1/n^2) + ln(1 + 1/n))."""
        theorem = self.guarantee.source
        if facts.unit_margin is None or facts.unit_margin <= 0.0:
            return Bound(None, theorem, NO_MARGIN)
        n = facts.dimension
        radius = log_volume_radius(n, min(facts.unit_margin, 1.0))
        return Bound((first_log_volume(n) - n * radius) / least_fall(n), theorem)


def first_log_volume(dimension: int) -> float:
    """Return ln of the volume of the regular simplex around the unit ball, over the ball's."""
    n = dimension
    simplex = 0.5 * (n * math.log(n) + (n + 1) * math.log(n + 1.0)) - math.lgamma(n + 1.0)
    return simplex - 0.5 * n * math.log(math.pi) + math.lgamma(0.5 * n + 1.0)


def least_fall(dimension: int) -> float:
    """Return the least fall of the logarithm of the volume in one update."""
    n = dimension
    return math.log(2.0) if n == 1 else (n - 1) * math.log1p(-1.0 / n**2) + math.log1p(1.0 / n)


def shrunk(vertices: FloatArray, normal: FloatArray) -> tuple[FloatArray, float]:
    """Return the simplex around the part with a'y >= 0, and by how much its log-volume falls.

    Infinity, and the same vertices, where a'y > 0 for none.
    """
    heights = vertices @ normal
    apex = int(heights.argmax())
    if not heights[apex] > 0.0:
        return vertices, math.inf
    rates = -heights / heights[apex]
    rates[apex] = 0.0
    factors = 1.0 + best_share(rates) * rates
    first = vertices[apex]
    return first + (vertices - first) / factors[:, None], float(np.log(factors).sum())


def best_share(rates: FloatArray) -> float:
    """Return theta in (0, 1] of the largest prod (1 + theta t_i), by damped Newton steps.

    -sum ln(1 + theta t_i) is self-concordant: each step stays where it is finite, and lowers it.
    """
    share = 1.0 / (len(rates) - 1) ** 2
    for _ in range(100):
        terms = rates / (1.0 + share * rates)
        slope, curvature = float(terms.sum()), float(terms @ terms)
        decrement = slope / math.sqrt(curvature)
        if abs(decrement) <= _EXACT or (share == 1.0 and slope > 0.0):
            break
        share = min(1.0, share + slope / curvature / (1.0 + abs(decrement)))
    return share
