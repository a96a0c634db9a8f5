"""Mirror-Prox between two simplices: Winnow's point, after sqrt(ln n ln 2d) / rho_1 iterations."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from perceptron_lab.algorithms.base import (
    NO_MARGIN,
    NO_NORM,
    SeesAll,
    State,
    Step,
    Systems,
    claim_of,
)
from perceptron_lab.algorithms.perceptrons.winnow import lifted
from perceptron_lab.algorithms.sweeping import rows_operator
from perceptron_lab.cones.spectral import softmin
from perceptron_lab.core import registry
from perceptron_lab.core.claims import Claim
from perceptron_lab.core.facts import Facts
from perceptron_lab.core.refusals import Positive, parameter_record
from perceptron_lab.core.results import Bound, FloatArray, Guarantee
from perceptron_lab.systems import ConicSystem


@dataclass(kw_only=True)
class TwoSimplicesState(State):
    """Sums over the iterations: ``point`` of the y_w, ``weights`` of the x_w times ``scale``.

    ``scores`` are A*point, ``image`` is A weights, which determines v_t; ``scale`` holds
    1 / norm(a_i)_inf.
    """

    scores: FloatArray
    image: FloatArray
    scale: FloatArray


@parameter_record
class AcceleratedWinnow(SeesAll[TwoSimplicesState]):
    """Winnow's multiplicative updates in Mirror-Prox, for the l1 margin.

    With rows c_i = a_i / norm(a_i)_inf, the l1 margin rho_1 is the value of the game

        max over norm(y)_1 <= 1 of min over x in the simplex of sum_i x_i c_i'y,

    whose y = u - v stands for a point (u, v) of the simplex of R^(2 d), as in ``winnow``. With the
    entropy on both simplices, h = sqrt(ln(2 d) / ln n), the sums S of scores c_i'y_w and R of rows
    C'x_w so far, an iteration is

        x_v = softmin(S / h),               y_v = lifted(h R),
        y_w = lifted(h (R + C'x_v)),        x_w = softmin((S + C y_v) / h),
        S <- S + C y_w,                     R <- R + C'x_w,

    where lifted(z)_i = sinh(z_i) / sum_j cosh(z_j) is Winnow's point. So it is Winnow with a soft
    mixture of the cuts in the place of one cut, each step being taken twice, and all points
    averaged. An iteration takes four products.

    The prox-function ln-entropy / (2 ln n) + ln-entropy / (2 ln(2 d)) has a diameter of 1, and the
    game a Lipschitz constant of 2 sqrt(ln n ln(2 d)), since no entry of C exceeds 1. After t
    iterations norm(C'x)_inf - min_i c_i'y <= 2 sqrt(ln n ln(2 d)) / t for the averages, and
    norm(C'x)_inf >= rho_1: y separates after floor(2 sqrt(ln n ln(2 d)) / rho_1) + 1 iterations,
    where Winnow's theorem allows 4 ln(2 d) / rho_1^2 updates. Proof: docs/notes/open-questions.md.

    Parameters
    ----------
    epsilon
        > 0 (default 1e-6): norm(A x) <= epsilon of the average x is claimed as an upper bound of
        the margin, in the norm of the system.

    References
    ----------
    `RamdasPena2014`, section 1.1, which asks for it; `YuKilincCarbonell2014`, Algorithm 1, for
    Mirror-Prox.
    """

    systems: ClassVar[Systems] = {"theorem": "rows", "coordinates: theorem": "kernel"}
    guarantee: ClassVar[Guarantee] = Guarantee(
        "2 sqrt(ln(n) ln(2 d)) / rho_1 + 1",
        "Theorem 1 (b) of YuKilincCarbonell2014, for two simplices",
        note="for the l1 margin rho_1; the constants are ours",
    )
    measures: ClassVar[bool] = True

    epsilon: Positive = 1e-6

    def start(self, system: ConicSystem, rng: np.random.Generator) -> TwoSimplicesState:
        """Return the state with empty sums; an InputError unless the rows are in memory."""
        operator = rows_operator(system, registry.name_of("algorithm", self))
        data, n = operator.data, system.dimension
        # Of sparse rows the greatest entries come as a sparse column
        extremes = [part.max(axis=1) for part in (data, -data)]
        dense = [e if isinstance(e, np.ndarray) else e.toarray().ravel() for e in extremes]
        largest = np.maximum(*dense)
        if operator.scale is not None:
            largest = largest * operator.scale
        nothing = np.zeros(system.cone.size)
        return TwoSimplicesState(
            np.zeros(n),
            weights=nothing.copy(),
            scores=nothing,
            image=np.zeros(n),
            scale=1.0 / largest,
        )

    def step(
        self, system: ConicSystem, state: TwoSimplicesState, most: int
    ) -> Step[TwoSimplicesState]:
        """Make up to ``most`` iterations; claim the average y, or the average x."""
        rate = _rate(system.dimension, system.cone.rank)
        for _ in range(most):
            claim = self._claim(system, state)
            if claim is not None:
                return state, claim
            scale, assumed = state.scale, state.weights
            assert assumed is not None
            x_v = scale * softmin(system.cone, scale * state.scores, rate)
            y_v = lifted(rate * state.image)
            y_w = lifted(rate * (state.image + system.combine(x_v)))
            ahead = state.scores + system.scores(y_v)
            x_w = scale * softmin(system.cone, scale * ahead, rate)
            state.point += y_w
            state.scores = state.scores + system.scores(y_w)
            state.weights = assumed + x_w
            state.image = state.image + system.combine(x_w)
            state.updates += 1
            state.iterations += 1
        return state, None

    def _claim(self, system: ConicSystem, state: TwoSimplicesState) -> Claim | None:
        """Return the claim of the averages, if they allow one."""
        if not state.updates:
            return None
        assert state.weights is not None
        image = system.norm(state.image) / float(state.weights.sum())
        score = float(state.scores.min())
        return claim_of(system, state, score, state.scores, image, self.epsilon)

    def bound(self, facts: Facts) -> Bound:
        """Return floor(2 sqrt(ln n ln(2 d)) / rho_1) + 1."""
        margin = facts.l1_margin
        # norm_1 <= sqrt(d) norm_2 bounds the l1 margin by the margin of unit cuts
        if margin is None and facts.unit_margin is not None:
            margin = facts.unit_margin / math.sqrt(facts.dimension)
        return self._bound(facts, margin, NO_MARGIN)

    def certificate_bound(self, facts: Facts, epsilon: float) -> Bound:
        """Return the bound with epsilon / (sqrt(d) L) for rho_1.

        norm(A w) <= sqrt(d) norm(C'x)_inf / sum_i (x_i / norm(a_i)_inf) for the weights claimed.
        """
        if facts.atom_norm is None or epsilon <= 0.0:
            return self._bound(facts, None, NO_NORM)
        accuracy = epsilon / (math.sqrt(facts.dimension) * facts.atom_norm)
        return self._bound(facts, accuracy, NO_NORM)

    def _bound(self, facts: Facts, accuracy: float | None, reason: str) -> Bound:
        if accuracy is None or accuracy <= 0.0:
            return Bound(None, self.guarantee.source, reason)
        logarithms = _logarithm(2 * facts.dimension) * _logarithm(facts.rank)
        limit = math.floor(2.0 * math.sqrt(logarithms) / accuracy) + 1
        return Bound(limit, self.guarantee.source)


def _logarithm(count: int) -> float:
    """Return ln n, with ln 2 for n = 1: there any prox-function will do."""
    return math.log(max(count, 2))


def _rate(dimension: int, rank: int) -> float:
    """Return h = sqrt(ln(2 d) / ln n), which balances both entropies."""
    return math.sqrt(_logarithm(2 * dimension) / _logarithm(rank))
