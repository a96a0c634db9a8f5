"""Mirror-Prox on estimated products: each iteration reads one row and one column of the data."""

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
    finite,
)
from perceptron_lab.algorithms.sweeping import rows_operator
from perceptron_lab.cones.spectral import softmin
from perceptron_lab.core import registry
from perceptron_lab.core.claims import Claim
from perceptron_lab.core.facts import Facts
from perceptron_lab.core.refusals import Positive, parameter_record
from perceptron_lab.core.results import Bound, FloatArray, Guarantee
from perceptron_lab.systems import ConicSystem

PATIENCE = 1.25  # Iterations after a failed check, as a factor, before estimates ask for another


@dataclass(kw_only=True)
class SampledState(State):
    """Sums over the iterations so far: ``point`` of the y_t, ``weights`` of the x_t.

    ``scores`` is the sum of the estimates of A*y_t, ``image`` that of the rows drawn. The point is
    checked after ``due`` iterations at the latest; it was checked last after ``checked``.
    """

    rng: np.random.Generator
    scores: FloatArray
    image: FloatArray
    due: int
    checked: int = 0


@parameter_record
class SublinearMirrorProx(SeesAll[SampledState]):
    """Mirror-Prox on rows, its products replaced by unbiased estimates from single entries.

    The problem is max over norm(y) <= 1 of min over x in the simplex of x'A y, with m rows a_i in
    dimension n. With the sums S of the estimates and R of the rows drawn so far, iteration t is

        x_t = softmin(S) at the temperature L sqrt(t / ln m),   y_t = ball(R / (L sqrt(2 t))),
        i with probability x_t,i,             R <- R + a_i,
        j with probability |y_j| / norm_1(y),  S <- S + sign(y_j) norm_1(y) (a_1j, .., a_mj),

    where y = y_t, ball(y) = y / max(1, norm(y)) and L >= norm(a_i) (1 for unit rows). The estimates
    of A'x_t and A y_t are unbiased, and the entries of the second are at most
    G = sqrt(n) max |a_ij| <= sqrt(n) L. An iteration reads m + n entries of A instead of m n.

    The largest entry is computed first, in a pass that counts as no product.

    An estimate proves nothing: before it claims the average of the y_t, the algorithm computes all
    scores. It does so when the estimated scores are positive, and at the latest after
    m n / (m + n) iterations (which read as many entries) and twice, four times, ... as many.

    With probability 1 - 3 exp(-s) the average after more than T iterations is a separator, where

        T = (K(s) / rho)^2,
        K(s) = sqrt(ln m) (L + G^2 / L) + sqrt(2) L + G sqrt(2 ln m) + sqrt(2 s) (2 G + L),

    and at most n + 2 (K(1 + ln 3) / rho)^2 iterations are made in expectation
    (docs/notes/saddle-points.md). The deterministic method needs sqrt(2 ln m) L / rho iterations of
    4 m n entries: single entries pay where n is large in comparison with 1 / rho, and not on easy
    systems, where few iterations suffice.

    This algorithm is ours. `YuKilincCarbonell2014` names sublinear time as future work. The columns
    of dense rows are read at the price of their entries; other formats give the same answers, but
    sparse rows are searched as a whole for a column, and rows that are read in blocks are refused.

    Parameters
    ----------
    extrapolated
        Whether x_t and y_t are moved by separate estimates before the row and column are drawn
        (default false). That is stochastic Mirror-Prox, at twice the price per iteration; no bound
        is stated for it.
    epsilon
        > 0 (default 1e-6): norm(A x) <= epsilon of the average x is claimed as an upper bound of
        the margin.

    References
    ----------
    `YuKilincCarbonell2014`, section 8; K. Clarkson, E. Hazan and D. Woodruff, Sublinear
    optimization for machine learning, J. ACM 59 (2012), where j is drawn with the probability
    y_j^2 / norm(y)^2 and estimates are clipped; A. Juditsky, A. Nemirovski and C. Tauvel, Solving
    variational inequalities with stochastic Mirror-Prox, Stochastic Systems 1 (2011).
    """

    systems: ClassVar[Systems] = {"theorem": "rows", "coordinates: theorem": "kernel"}
    guarantee: ClassVar[Guarantee] = Guarantee(
        "n + 2 (k / rho)^2",
        "our bound for sampled products (docs/notes/saddle-points.md)",
        note="in expectation, for the constant k = K(1 + ln 3) of the text",
    )
    measures: ClassVar[bool] = True

    extrapolated: bool = False
    epsilon: Positive = 1e-6

    def start(self, system: ConicSystem, rng: np.random.Generator) -> SampledState:
        """Return the state with empty sums; an InputError unless the rows are in memory."""
        # Asked for at once: rows that are read in blocks have no columns
        m, n = rows_operator(system, registry.name_of("algorithm", self)).data.shape
        system.largest_entry()  # for the bound
        return SampledState(
            np.zeros(n),
            weights=np.zeros(m),
            rng=rng,
            scores=np.zeros(m),
            image=np.zeros(n),
            due=math.ceil(m * n / (m + n)),
        )

    def step(self, system: ConicSystem, state: SampledState, most: int) -> Step[SampledState]:
        """Make up to ``most`` iterations; claim the average y, or the average x."""
        size, rank = system.atom_norm(), max(system.cone.rank, 2)
        for _ in range(most):
            claim = self._checked(system, state, size)
            if claim is not None:
                return state, claim
            length = math.sqrt(state.updates + 1)
            scales = size * length / math.sqrt(math.log(rank)), size * math.sqrt(2.0) * length
            x, y = _prox(system, state.scores, state.image, scales)
            if self.extrapolated:
                scores, row = _estimates(system, state.rng, x, y)
                x, y = _prox(system, state.scores + scores, state.image + row, scales)
            scores, row = _estimates(system, state.rng, x, y)
            assert state.weights is not None
            for total, term in (
                (state.weights, x),
                (state.point, y),
                (state.scores, scores),
                (state.image, row),
            ):
                total += term
            state.updates += 1
            state.iterations += 1
        return state, None

    def _checked(self, system: ConicSystem, state: SampledState, size: float) -> Claim | None:
        """Return what all scores of the average allow to claim, if a check is due; else None."""
        t = state.updates
        promising = t > PATIENCE * state.checked and float(state.scores.min()) > 0.0
        if not (promising or t >= state.due):
            return None
        if t >= state.due:
            state.due *= 2
        state.checked, image = t, math.inf
        # The rows drawn tell norm(A x) up to an error of about 1 / sqrt(t)
        if system.norm(state.image) <= t * system.worth(self.epsilon) + 2.0 * size * math.sqrt(t):
            assert state.weights is not None
            image = system.norm(system.combine(state.weights)) / t
        scores = system.scores(state.point)
        return claim_of(system, state, system.lowest(scores), scores, image, self.epsilon)

    def bound(self, facts: Facts) -> Bound:
        """Return n + 2 (K(1 + ln 3) / rho)^2, in expectation.

        Where the largest entry is not known, G = sqrt(n) L.
        """
        theorem = self.guarantee.source
        if self.extrapolated:
            return Bound(None, theorem, "it is for iterations without extrapolation")
        if facts.margin is None or facts.margin <= 0.0:
            return Bound(None, theorem, NO_MARGIN)
        if facts.atom_norm is None:
            return Bound(None, theorem, NO_NORM)
        size, dimension = facts.atom_norm, facts.dimension
        entry = size if facts.largest_entry is None else min(size, facts.largest_entry)
        error = gap_bound(size, math.sqrt(dimension) * entry, facts.rank, 1.0 + math.log(3.0))
        bound = finite(dimension + 2.0 * (error / facts.margin) ** 2, theorem)
        return Bound(bound.value, theorem, bound.reason, kind="expectation")

    def certificate_bound(self, facts: Facts, epsilon: float) -> Bound:
        """Return no bound: the derivation is for separators."""
        return Bound(None, self.bound(facts).theorem, "it is for separators")


def gap_bound(size: float, entry: float, rank: int, exponent: float) -> float:
    """Return K(s): rho - min_i a_i'y <= K(s) / sqrt(T) with probability 1 - 3 exp(-s).

    Parameters
    ----------
    size, entry
        L >= norm(a_i) > 0 and G >= sqrt(n) max |a_ij|.
    rank
        m, the number of rows.
    exponent
        s >= 0.
    """
    root = math.sqrt(math.log(max(rank, 2)))
    regret = root * (size + entry**2 / size) + math.sqrt(2.0) * size
    deviation = entry * math.sqrt(2.0) * root + math.sqrt(2.0 * exponent) * (2.0 * entry + size)
    return regret + deviation


def _prox(
    system: ConicSystem, scores: FloatArray, image: FloatArray, scales: tuple[float, float]
) -> tuple[FloatArray, FloatArray]:
    """Return the softmin of the scores, and the image over its scale, in the unit ball."""
    y = image / scales[1]
    return softmin(system.cone, scores, scales[0]), y / max(1.0, system.norm(y))


def _estimates(
    system: ConicSystem, rng: np.random.Generator, x: FloatArray, y: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return unbiased estimates of A y and A'x from one column and one row."""
    row = system.row(drawn(rng, x))
    lengths = np.abs(y)
    total = float(lengths.sum())
    if total == 0.0:
        return np.zeros(len(x)), row
    index = drawn(rng, lengths)
    return system.column(index) * math.copysign(total, y[index]), row


def drawn(rng: np.random.Generator, masses: FloatArray) -> int:
    """Return an index drawn with probabilities in proportion to masses >= 0, not all 0."""
    sums = np.cumsum(masses)
    # The first sum above a number below the total: never an index of mass 0
    below = min(rng.random() * sums[-1], np.nextafter(sums[-1], 0.0))
    return int(np.searchsorted(sums, below, side="right"))
