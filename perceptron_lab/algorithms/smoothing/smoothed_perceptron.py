"""The smoothed perceptron (`RamdasPena2014`, Algorithm 4)."""

from __future__ import annotations

import math
from typing import Annotated, ClassVar

import numpy as np
from pydantic import Field
from pydantic.dataclasses import dataclass

from perceptron_lab.algorithms.base import NO_MARGIN, SeesAll, Step, Systems, claim_of
from perceptron_lab.algorithms.smoothing.smoothing import Entropy, SmoothedState, begin, turn
from perceptron_lab.facts import Facts
from perceptron_lab.goals import STRICT
from perceptron_lab.results import Bound
from perceptron_lab.system import ConicSystem


@dataclass(frozen=True, config=STRICT)
class SmoothedPerceptron(SeesAll[SmoothedState]):
    """The perceptron's loss smoothed by the entropy: sqrt(ln n) / rho iterations for 1 / rho^2.

    The iteration is that of :mod:`perceptron_lab.algorithms.smoothing.smoothing` with
    d(p) = sum p_i ln p_i + ln n, for which p_mu(y) is the softmin exp(-A*y / mu) / sum (its
    exponents are shifted by the largest, so that nothing overflows), and mu_0 = 2 L^2. Since
    L(y_k) <= mu_k ln n - rho^2 / 2 and mu_k < 4 L^2 / (k + 1)^2, y_k is a separator after at most
    2 sqrt(2 ln n) L / rho iterations. n is the total rank: 1 per row, n per matrix of order n.

    The weights p_k satisfy norm(A p_k) >= rho; where they fall below epsilon they are claimed as a
    bound of the margin, though no theorem says how soon.

    Parameters
    ----------
    epsilon
        > 0 (default 1e-6).

    References
    ----------
    `RamdasPena2014`, Algorithm 4, Lemmas 4 and 5, Theorem 1; Soheili and Pena (2012), cited there.
    """

    systems: ClassVar[Systems] = {"theorem": "rows kernel second-order semidefinite product"}

    epsilon: Annotated[float, Field(gt=0)] = 1e-6

    def start(self, system: ConicSystem, rng: np.random.Generator) -> SmoothedState:
        """Return the state at the barycentre."""
        return begin(system, Entropy())

    def step(self, system: ConicSystem, state: SmoothedState, most: int) -> Step[SmoothedState]:
        """Make up to ``most`` iterations; claim a separator, or weights that bound the margin."""
        for _ in range(most):
            image = system.norm(state.mean)
            claim = claim_of(system, state, state.score, state.scores, image, self.epsilon)
            if claim is not None:
                return state, claim
            turn(system, state, Entropy())
        return state, None

    def bound(self, facts: Facts) -> Bound:
        """Return 2 sqrt(2 ln n) L / rho."""
        theorem = "Theorem 1 of RamdasPena2014"
        if facts.margin is None or facts.atom_norm is None or facts.margin <= 0.0:
            return Bound(None, theorem, NO_MARGIN)
        ratio = facts.atom_norm / facts.margin
        return Bound(2.0 * math.sqrt(2.0 * math.log(facts.rank)) * ratio, theorem)
