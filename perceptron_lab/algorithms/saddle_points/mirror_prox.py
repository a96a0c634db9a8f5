"""Mirror-Prox for feasibility problems (`YuKilincCarbonell2014`, Algorithm 1)."""

from __future__ import annotations

import math
from dataclasses import dataclass as plain_dataclass
from typing import Annotated, ClassVar

import numpy as np
from pydantic import Field
from pydantic.dataclasses import dataclass

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
from perceptron_lab.claims import Claim
from perceptron_lab.cones.spectral import gibbs
from perceptron_lab.facts import Facts
from perceptron_lab.goals import STRICT
from perceptron_lab.results import Bound, FloatArray
from perceptron_lab.system import ConicSystem


@plain_dataclass(kw_only=True)
class MirrorProxState(State):
    """Sums over the iterations so far, and the prox-centre y_v.

    ``point`` is sum y_w, ``weights`` sum x_w, ``scores`` A*point, ``image`` A weights; ``total`` is
    the sum of the iterations' shares, so that the averages are sums over ``total``. ``frame`` and
    ``values`` are the spectrum of ``scores``: x_v is a softmin of them.
    """

    centre: FloatArray
    scores: FloatArray
    image: FloatArray
    values: FloatArray
    frame: object
    total: float = 0.0


class AveragedIterates(SeesAll[S]):
    """A method whose averages satisfy norm(A x) - min <., A*y> <= sqrt(2 ln n) L / t after t steps.

    So y is a separator after floor(sqrt(2 ln n) L / rho) + 1 steps, or norm(A x) <= epsilon after
    floor(sqrt(2 ln n) L / epsilon) + 1.

    Attributes
    ----------
    theorems
        Where the two are stated.
    """

    theorems: ClassVar[tuple[str, str]]

    def bound(self, facts: Facts) -> Bound:
        """Return floor(sqrt(2 ln n) L / rho) + 1."""
        return _steps(facts, facts.margin, Bound(None, self.theorems[0], NO_MARGIN))

    def certificate_bound(self, facts: Facts, epsilon: float) -> Bound:
        """Return floor(sqrt(2 ln n) L / epsilon) + 1."""
        return _steps(facts, epsilon, Bound(None, self.theorems[1], "no epsilon is known"))


def _steps(facts: Facts, accuracy: float | None, none: Bound) -> Bound:
    """Return floor(sqrt(2 ln n) L / accuracy) + 1, or that there is none."""
    if accuracy is None or accuracy <= 0.0:
        return none
    if facts.atom_norm is None:
        return Bound(None, none.theorem, NO_NORM)
    ratio = math.sqrt(2.0 * math.log(facts.rank)) * facts.atom_norm / accuracy
    return Bound(math.floor(ratio) + 1, none.theorem)


@dataclass(frozen=True, config=STRICT)
class MirrorProx(AveragedIterates[MirrorProxState]):
    """Mirror-Prox for max over norm(y) <= 1 of min over x in Delta(K) of <x, A*y>.

    The saddle value is the margin rho where that is positive. With the entropy on Delta(K) and
    norm(y)^2 / 2 on the ball, from v_1 = (e / n, 0), with F(x, y) = (A*y, -A x),

        w_t = Prox_{v_t}(gamma F(v_t)),    v_{t+1} = Prox_{v_t}(gamma F(w_t)).

    In terms of sums S_t = sum over s < t of A*y_{w_s} this is

        x_v = softmin(S_t),  x_w = softmin(S_t + A*y_v),   at the temperature L / sqrt(2 ln n),
        y_w = ball(y_v + A x_v / (L sqrt(2 ln n))),
        y_v <- ball(y_v + A x_w / (L sqrt(2 ln n))),

    where ball(y) = y / max(1, norm(y)), L >= norm(A(atom)) (1 for unit rows) and n is the total
    rank. S_t is t times the scores of the average of the y_w: the stop test on the average costs no
    product, and neither does norm(A x) of the average x. Four products per iteration.

    After t iterations norm(A x) - min <., A*y> <= sqrt(2 ln n) L / t for the averages
    (:class:`AveragedIterates`; on the constant see docs/notes/saddle-points.md). The kernel version
    (section 6.1) is this algorithm on a Gram operator, the conic one (section 6.2) on other cones.

    Parameters
    ----------
    epsilon
        norm(A x) <= epsilon is claimed as a bound of the margin; > 0 (default 1e-6).

    References
    ----------
    `YuKilincCarbonell2014`, Algorithm 1, Theorems 1, 2 and 3; A. Nemirovski, SIAM J. Optimization
    15 (2004).
    """

    systems: ClassVar[Systems] = {"theorem": "rows kernel second-order semidefinite product"}
    theorems: ClassVar[tuple[str, str]] = (
        "Theorem 3 (a) of YuKilincCarbonell2014, with the constant sqrt(2 ln n)",
        "Theorem 3 (b) of YuKilincCarbonell2014, with the constant sqrt(2 ln n)",
    )

    epsilon: Annotated[float, Field(gt=0)] = 1e-6

    def start(self, system: ConicSystem, rng: np.random.Generator) -> MirrorProxState:
        """Return the state at v_1, with empty sums."""
        return at_centre(system)

    def step(self, system: ConicSystem, state: MirrorProxState, most: int) -> Step[MirrorProxState]:
        """Make up to ``most`` iterations; claim the average y, or the average x."""
        size, root = system.atom_norm(), entropy_root(system.cone.rank)
        step, temperature = 1.0 / (size * root), size / root
        for _ in range(most):
            claim = claim_of_average(system, state, self.epsilon)
            if claim is not None:
                return state, claim
            x_v = gibbs(system.cone, state.values, state.frame, temperature)[0]
            y_w = ball(system, state.centre + step * system.combine(x_v))
            ahead = state.scores + system.scores(state.centre)
            x_w = gibbs(system.cone, *system.cone.spectrum(ahead), temperature)[0]
            image = system.combine(x_w)
            accumulate(system, state, y_w, x_w, system.scores(y_w), image, 1.0)
            state.values, state.frame = system.spectrum(state.scores)
            state.centre = ball(system, state.centre + step * image)
        return state, None


def at_centre(system: ConicSystem) -> MirrorProxState:
    """Return the state at the centres of both domains, with empty sums."""
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


def entropy_root(rank: int) -> float:
    """Return sqrt(2 ln n), with 2 for n = 1: there Delta(K) is one point and any step will do."""
    return math.sqrt(2.0 * math.log(max(rank, 2)))


def ball(system: ConicSystem, point: FloatArray) -> FloatArray:
    """Return the projection of a point onto the unit ball, in place."""
    length = system.norm(point)
    if length > 1.0:
        point /= length
    return point


def accumulate(
    system: ConicSystem,
    state: MirrorProxState,
    point: FloatArray,
    weights: FloatArray,
    scores: FloatArray,
    image: FloatArray,
    share: float,
) -> None:
    """Add an iteration's y_w, x_w, A*y_w and A x_w to the sums, times its share."""
    assert state.weights is not None
    state.point += point if share == 1.0 else share * point
    state.weights += weights if share == 1.0 else share * weights
    state.scores = state.scores + (scores if share == 1.0 else share * scores)
    state.image += image if share == 1.0 else share * image
    state.total += share
    state.updates += 1
    state.iterations += 1


def claim_of_average(system: ConicSystem, state: MirrorProxState, epsilon: float) -> Claim | None:
    """Return the claim that the averages allow, if there is one."""
    if not state.updates:
        return None
    image = system.norm(state.image) / state.total
    return claim_of(system, state, float(state.values.min()), state.scores, image, epsilon)
