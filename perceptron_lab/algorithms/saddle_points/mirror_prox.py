"""Mirror-Prox (`YuKilincCarbonell2014`, Algorithm 1), with constant and with tested steps."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, ClassVar, NamedTuple

import numpy as np
from pydantic import Field

from perceptron_lab.algorithms.base import (
    NO_MARGIN,
    NO_NORM,
    S,
    SeesAll,
    State,
    Step,
    Systems,
    claim_of,
)
from perceptron_lab.cones.base import Frame
from perceptron_lab.cones.spectral import gibbs
from perceptron_lab.core.claims import Claim
from perceptron_lab.core.facts import Facts
from perceptron_lab.core.refusals import Positive, Proportion, parameter_record
from perceptron_lab.core.results import Bound, FloatArray, Guarantee
from perceptron_lab.systems import ConicSystem

ROUNDING = 1e-13  # Rounding error of either side of the condition, relative to its terms


@dataclass(kw_only=True)
class MirrorProxState(State):
    """Sums over the iterations so far, and the prox-centre y_v.

    ``point`` is sum y_w, ``weights`` sum x_w, ``scores`` A*point, ``image`` A weights; ``total`` is
    the sum of the iterations' shares, so that the averages are sums over ``total``. ``frame`` and
    ``values`` are the spectrum of ``scores``: x_v is a softmin of them. ``gamma`` is the step in
    units of that of the theory, 1 or more.
    """

    centre: FloatArray
    scores: FloatArray
    image: FloatArray
    values: FloatArray
    frame: object
    total: float = 0.0
    gamma: float = 1.0

    def add(
        self, point: FloatArray, weights: FloatArray, scores: FloatArray, image: FloatArray
    ) -> None:
        """Add an iteration's y_w, x_w, A*y_w and A x_w to the sums, times gamma."""
        assert self.weights is not None
        self.point += self.gamma * point
        self.weights += self.gamma * weights
        self.scores = self.scores + self.gamma * scores
        self.image += self.gamma * image
        self.total += self.gamma
        self.updates += 1
        self.iterations += 1


class AveragedIterates(SeesAll[S]):
    """A method whose averages satisfy norm(A x) - min <., A*y> <= sqrt(2 ln n) L / t after t steps.

    So y is a separator after floor(sqrt(2 ln n) L / rho) + 1 steps, or norm(A x) <= epsilon after
    floor(sqrt(2 ln n) L / epsilon) + 1.
    """

    theorems: ClassVar[tuple[str, str]]  # Where the two are stated

    def bound(self, facts: Facts) -> Bound:
        """Return floor(sqrt(2 ln n) L / rho) + 1."""
        return _steps(facts, facts.margin, Bound(None, self.theorems[0], NO_MARGIN))

    def certificate_bound(self, facts: Facts, epsilon: float) -> Bound:
        """Return floor(sqrt(2 ln n) L / epsilon) + 1."""
        return _steps(facts, epsilon, Bound(None, self.theorems[1], "no epsilon is known"))


def _steps(facts: Facts, accuracy: float | None, none: Bound) -> Bound:
    """Return floor(sqrt(2 ln n) L / accuracy) + 1, or no bound without an accuracy."""
    # Theorem 1 with gamma = 1 / L: the gap of the averages is at most Omega L / t
    if accuracy is None or accuracy <= 0.0:
        return none
    if facts.atom_norm is None:
        return Bound(None, none.theorem, NO_NORM)
    ratio = math.sqrt(2.0 * math.log(facts.rank)) * facts.atom_norm / accuracy
    return Bound(math.floor(ratio) + 1, none.theorem)


@parameter_record
class MirrorProx(AveragedIterates[MirrorProxState]):
    """Mirror-Prox for the saddle point max over norm(y) <= 1 of min over x in Delta(K) of <x, A*y>.

    The saddle value is the margin rho, if that is positive. Mirror-Prox takes each step twice, from
    the same point v_t: first with the gradient at v_t, then with the gradient at the point w_t
    reached. With F(x, y) = (A*y, -A x) and v_1 = (e / n, 0),

        w_t = Prox_{v_t}(gamma F(v_t)),    v_{t+1} = Prox_{v_t}(gamma F(w_t)).

    The prox-functions are the entropy on Delta(K) and norm(y)^2 / 2 on the ball. Let S_t be the sum
    of the scores of all earlier y_w. An iteration is

        x_v = softmin(S_t),  x_w = softmin(S_t + A*y_v),   at the temperature L / sqrt(2 ln n),
        y_w = ball(y_v + A x_v / (L sqrt(2 ln n))),
        y_v <- ball(y_v + A x_w / (L sqrt(2 ln n))),

    where ball(y) = y / max(1, norm(y)), L is the largest norm of a cut (1 for unit rows) and n the
    total rank. An iteration takes four products. S_t is t times the scores of the average of the
    y_w, so the stop test on the average needs no further product, and neither does norm(A x) of the
    average x.

    After t iterations the averages have norm(A x) - m <= sqrt(2 ln n) L / t, where m is the least
    eigenvalue of the scores of y (:class:`AveragedIterates`; on the constant see
    docs/notes/saddle-points.md). The kernel version (section 6.1) is this algorithm on a Gram
    operator, the conic one (section 6.2) on other cones.

    Parameters
    ----------
    epsilon
        Accuracy, > 0 (default 1e-6): the run claims norm(A x) as an upper bound of the margin once
        it is at most epsilon. The paper's Algorithm 1 stops at the saddle-point gap
        norm(A x) - m <= epsilon instead, which is no earlier while y is no separator.

    References
    ----------
    `YuKilincCarbonell2014`, Algorithm 1, Theorems 1, 2 and 3; A. Nemirovski, SIAM J. Optimization
    15 (2004).
    """

    systems: ClassVar[Systems] = {"theorem": "rows kernel second-order semidefinite product"}
    guarantee: ClassVar[Guarantee] = Guarantee(
        "sqrt(2 ln(n)) L / rho + 1",
        "Theorem 3",
        "YuKilincCarbonell2014",
        note="n is the total rank; the same with epsilon for rho for a certificate",
    )
    theorems: ClassVar[tuple[str, str]] = (
        "Theorem 3 (a) of YuKilincCarbonell2014, with the constant sqrt(2 ln n)",
        "Theorem 3 (b) of YuKilincCarbonell2014, with the constant sqrt(2 ln n)",
    )

    epsilon: Positive = 1e-6

    def start(self, system: ConicSystem, rng: np.random.Generator) -> MirrorProxState:
        """Return the state at v_1, with empty sums and gamma = 1 / L."""
        nothing, scores = np.zeros(system.dimension), np.zeros(system.cone.size)
        values, frame = system.cone.spectrum(scores)
        return MirrorProxState(
            point=nothing.copy(),
            weights=scores.copy(),
            centre=nothing,
            scores=scores,
            image=nothing.copy(),
            values=values,
            frame=frame,
        )

    def step(self, system: ConicSystem, state: MirrorProxState, most: int) -> Step[MirrorProxState]:
        """Make up to ``most`` iterations; claim the average y, or the average x."""
        size, root = system.atom_norm(), entropy_root(system.cone.rank)
        # The scales of the two prox-functions balance their diameters, ln n and 1 / 2
        step, temperature = 1.0 / (size * root), size / root
        for _ in range(most):
            claim = claim_of_average(system, state, self.epsilon)
            if claim is not None:
                return state, claim
            # Line 5 of Algorithm 1, w_t = Prox_v(gamma F(v)): softmin of the sums, and a ball step
            x_v = gibbs(system.cone, state.values, state.frame, temperature)[0]
            y_w = ball(system, state.centre + step * system.combine(x_v))
            ahead = state.scores + system.scores(state.centre)
            x_w = gibbs(system.cone, *system.cone.spectrum(ahead), temperature)[0]
            # Line 6, v_{t+1} = Prox_v(gamma F(w_t)): the sums of line 7 are also the prox-centre
            image = system.combine(x_w)
            state.add(y_w, x_w, system.scores(y_w), image)
            state.values, state.frame = system.spectrum(state.scores)
            state.centre = ball(system, state.centre + step * image)
        return state, None


class _Trial(NamedTuple):
    """The points w, F(w) and v_+ of one trial step."""

    y_w: FloatArray
    x_w: FloatArray
    scores: FloatArray
    image: FloatArray
    y_next: FloatArray
    spectrum: tuple[FloatArray, Frame]
    accepted: bool


@parameter_record
class AdaptiveMirrorProx(MirrorProx):
    """Mirror-Prox whose step is tested instead of bounded beforehand.

    The proof of Mirror-Prox needs of a step gamma only that

        gamma <F(w), w - v_+> <= V_v(v_+),    w = Prox_v(gamma F(v)),  v_+ = Prox_v(gamma F(w)),

    with V the Bregman distance; any gamma <= 1 / L satisfies it. A step that satisfies it is taken,
    and the next one is tried longer; one that does not is shortened, never below 1 / L. The
    averages weigh each w by its gamma, with the guarantee of the constant step in steps taken
    (docs/notes/saddle-points.md). A step tried in vain costs two products more. This algorithm is
    ours.

    Parameters
    ----------
    epsilon
        > 0 (default 1e-6).
    growth
        The factor by which a successful step is prolonged, > 1 (default 1.2).
    shrinkage
        The factor by which a failed one is shortened, 0 < shrinkage < 1 (default 0.5).

    References
    ----------
    `YuKilincCarbonell2014`, Algorithm 1; A. Nemirovski, SIAM J. Optimization 15 (2004), for the
    condition.
    """

    systems: ClassVar[Systems] = {"theorem": "rows kernel second-order semidefinite product"}
    guarantee: ClassVar[Guarantee] = Guarantee(
        "sqrt(2 ln(n)) L / rho + 1",
        "Theorem 3",
        "YuKilincCarbonell2014",
        note="counted in accepted steps, whose condition its proof needs",
    )
    theorems: ClassVar[tuple[str, str]] = (
        "Theorem 3 (a) of YuKilincCarbonell2014, for steps that satisfy its condition",
        "Theorem 3 (b) of YuKilincCarbonell2014, for steps that satisfy its condition",
    )

    growth: Annotated[float, Field(gt=1)] = 1.2
    shrinkage: Proportion = 0.5

    def step(self, system: ConicSystem, state: MirrorProxState, most: int) -> Step[MirrorProxState]:
        """Take up to ``most`` steps; claim the average y, or the average x."""
        size, root = system.atom_norm(), entropy_root(system.cone.rank)
        constants = size / root, 1.0 / (size * root)
        for _ in range(most):
            claim = claim_of_average(system, state, self.epsilon)
            if claim is not None:
                return state, claim
            x_v, log_partition = gibbs(system.cone, state.values, state.frame, constants[0])
            at_v = system.combine(x_v), system.scores(state.centre)
            trial = _try(system, state, at_v, constants, log_partition)
            # In units of 1 / L: a step of 1 always satisfies the condition, up to rounding
            while not trial.accepted and state.gamma > 1.0:
                state.gamma = max(1.0, self.shrinkage * state.gamma)
                trial = _try(system, state, at_v, constants, log_partition)
            state.add(trial.y_w, trial.x_w, trial.scores, trial.image)
            state.centre, (state.values, state.frame) = trial.y_next, trial.spectrum
            state.gamma *= self.growth
        return state, None


def _try(
    system: ConicSystem,
    state: MirrorProxState,
    at_v: tuple[FloatArray, FloatArray],
    constants: tuple[float, float],
    log_partition: float,
) -> _Trial:
    """Return the step of length gamma and whether it satisfies the condition.

    In units of the scale of the entropy, mu = L / sqrt(2 ln n), and with s = 1 / (L sqrt(2 ln n)):
    V_v(v_+) = mu KL(x_+, x_v) + norm(y_+ - y_v)^2 / (2 s).
    """
    (image_v, scores_v), (temperature, unit) = at_v, constants
    gamma, cone = state.gamma, system.cone
    ahead = cone.spectrum(state.scores + gamma * scores_v)
    x_w = gibbs(cone, *ahead, temperature)[0]
    y_w = ball(system, state.centre + gamma * unit * image_v)
    scores, image = system.scores(y_w), system.combine(x_w)
    spectrum = system.spectrum(state.scores + gamma * scores)
    # KL(x_+, x_v) follows from both log-partitions, without logarithms of tiny x
    x_next, log_next = gibbs(cone, *spectrum, temperature)
    y_next = ball(system, state.centre + gamma * unit * image)
    along = float(scores @ x_next)
    gain = float(scores @ x_w) - along - system.operator.inner(image, y_w - y_next)
    entropy = -gamma * along + temperature * (log_partition - log_next)
    distance = entropy + system.norm(y_next - state.centre) ** 2 / (2.0 * unit)
    # Both sides of the condition nearly cancel: without slack rounding could reject every step
    slack = ROUNDING * (abs(gamma * along) + temperature * abs(log_next))
    return _Trial(y_w, x_w, scores, image, y_next, spectrum, gamma * gain <= distance + slack)


def entropy_root(rank: int) -> float:
    """Return sqrt(2 ln n), with 2 for n = 1: there Delta(K) is one point and any step will do."""
    return math.sqrt(2.0 * math.log(max(rank, 2)))


def ball(system: ConicSystem, point: FloatArray) -> FloatArray:
    """Return the projection of a point onto the unit ball, in place."""
    # Prox of norm(y)^2 / 2 on the unit ball is the projection
    length = system.norm(point)
    if length > 1.0:
        point /= length
    return point


def claim_of_average(system: ConicSystem, state: MirrorProxState, epsilon: float) -> Claim | None:
    """Return the claim that the averaged iterates allow, or None."""
    if not state.updates:
        return None
    # The tests of line 4 need no product: the sums hold multiples of A*y_t and A x_t
    image = system.norm(state.image) / state.total
    return claim_of(system, state, float(state.values.min()), state.scores, image, epsilon)
