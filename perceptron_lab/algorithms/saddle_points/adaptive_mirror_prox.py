"""Mirror-Prox with steps as long as Nemirovski's condition allows, and its guarantee."""

from __future__ import annotations

from dataclasses import dataclass as plain_dataclass
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np
from pydantic import Field
from pydantic.dataclasses import dataclass

from perceptron_lab.algorithms.base import Step, Systems
from perceptron_lab.algorithms.saddle_points.mirror_prox import (
    AveragedIterates,
    MirrorProxState,
    accumulate,
    at_centre,
    ball,
    claim_of_average,
    entropy_root,
)
from perceptron_lab.cones.spectral import gibbs
from perceptron_lab.goals import STRICT
from perceptron_lab.results import FloatArray
from perceptron_lab.system import ConicSystem

ROUNDING = 1e-13  # Rounding error of either side of the condition, relative to its terms


@plain_dataclass(kw_only=True)
class AdaptiveState(MirrorProxState):
    """The sums, and gamma in units of the step of the theory, 1 or more."""

    gamma: float = 1.0


class _Trial(NamedTuple):
    """w, F(w) and v_+ of one trial step."""

    y_w: FloatArray
    x_w: FloatArray
    scores: FloatArray
    image: FloatArray
    y_next: FloatArray
    sums: FloatArray
    spectrum: tuple[FloatArray, Any]
    accepted: bool


@dataclass(frozen=True, config=STRICT)
class AdaptiveMirrorProx(AveragedIterates[AdaptiveState]):
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
    theorems: ClassVar[tuple[str, str]] = (
        "Theorem 3 (a) of YuKilincCarbonell2014, for steps that satisfy its condition",
        "Theorem 3 (b) of YuKilincCarbonell2014, for steps that satisfy its condition",
    )

    epsilon: Annotated[float, Field(gt=0)] = 1e-6
    growth: Annotated[float, Field(gt=1)] = 1.2
    shrinkage: Annotated[float, Field(gt=0, lt=1)] = 0.5

    def start(self, system: ConicSystem, rng: np.random.Generator) -> AdaptiveState:
        """Return the state at v_1, with empty sums and gamma = 1 / L."""
        return AdaptiveState(**vars(at_centre(system)))

    def step(self, system: ConicSystem, state: AdaptiveState, most: int) -> Step[AdaptiveState]:
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
            while not trial.accepted and state.gamma > 1.0:
                state.gamma = max(1.0, self.shrinkage * state.gamma)
                trial = _try(system, state, at_v, constants, log_partition)
            accumulate(system, state, trial.y_w, trial.x_w, trial.scores, trial.image, state.gamma)
            state.scores, state.centre = trial.sums, trial.y_next
            state.values, state.frame = trial.spectrum
            state.gamma *= self.growth
        return state, None


def _try(
    system: ConicSystem,
    state: AdaptiveState,
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
    sums = state.scores + gamma * scores
    spectrum = system.spectrum(sums)
    x_next, log_next = gibbs(cone, *spectrum, temperature)
    y_next = ball(system, state.centre + gamma * unit * image)
    along = float(scores @ x_next)
    gain = float(scores @ x_w) - along - system.operator.inner(image, y_w - y_next)
    entropy = -gamma * along + temperature * (log_partition - log_next)
    distance = entropy + system.norm(y_next - state.centre) ** 2 / (2.0 * unit)
    slack = ROUNDING * (abs(gamma * along) + temperature * abs(log_next))
    return _Trial(y_w, x_w, scores, image, y_next, sums, spectrum, gamma * gain <= distance + slack)
