"""The normalized perceptron (`RamdasPena2014`, Algorithms 2 and 3)."""

from __future__ import annotations

from typing import Annotated, ClassVar

import numpy as np
from pydantic import Field
from pydantic.dataclasses import dataclass

from perceptron_lab.algorithms.base import (
    DeepestState,
    SeesAll,
    Step,
    Systems,
    claim_of,
    mix,
    squared_accuracy,
    squared_ratio,
)
from perceptron_lab.facts import Facts
from perceptron_lab.goals import STRICT
from perceptron_lab.results import Bound
from perceptron_lab.system import ConicSystem


@dataclass(frozen=True, config=STRICT)
class NormalizedPerceptron(SeesAll[DeepestState]):
    """The perceptron on the most violated constraint, with the mean of the cuts as its point.

    With p(y) = argmin over p in Delta(K) of <p, A*y>, an atom, and theta_k = 1 / (k + 1),

        y_{k+1} = (1 - theta_k) y_k + theta_k A p(y_k),    y_0 = 0.

    y_k is the mean of the k cuts so far, the perceptron's point divided by k, and y_k = A p_k with
    p_k in Delta(K): rho <= norm(y_k). It is the subgradient method for L(y) = max_p <-p, A*y> +
    norm(y)^2 / 2, whose minimiser is rho times the unit vector of largest margin: after a separator
    is found (at most (L / rho)^2 updates, L >= norm(A(atom)), 1 for unit rows) it goes on to
    improve the margin, and with ``goal: budget`` runs towards the largest one. On a Gram operator
    this is Algorithm 3.

    Parameters
    ----------
    epsilon
        norm(A p_k) <= epsilon is claimed as a bound of the margin; > 0 (default 1e-6).

    References
    ----------
    `RamdasPena2014`, Algorithms 2 and 3, section 2.1, Lemmas 1 and 3.
    """

    systems: ClassVar[Systems] = {"theorem": "rows kernel second-order semidefinite product"}
    needs_whole: ClassVar[bool] = False

    epsilon: Annotated[float, Field(gt=0)] = 1e-6

    def start(self, system: ConicSystem, rng: np.random.Generator) -> DeepestState:
        """Return the state at y = 0."""
        return DeepestState(np.zeros(system.dimension), weights=np.zeros(system.cone.size))

    def step(self, system: ConicSystem, state: DeepestState, most: int) -> Step[DeepestState]:
        """Make up to ``most`` updates; claim a separator, or weights that bound the margin."""
        for _ in range(most):
            deepest = state.look(system)
            image = system.norm(state.point) if state.updates else np.inf
            claim = claim_of(system, state, deepest.score, deepest.scores, image, self.epsilon)
            if claim is not None:
                return state, claim
            mix(state, deepest.cut, 1.0 / (state.updates + 1.0))
        return state, None

    def bound(self, facts: Facts) -> Bound:
        """Return (L / rho)^2."""
        return squared_ratio(facts, "section 2.2 of RamdasPena2014 (Novikoff)")

    def certificate_bound(self, facts: Facts, epsilon: float) -> Bound:
        """Return (L / epsilon)^2: while no cut is positive, norm(k y_k)^2 grows by L^2 at most."""
        return squared_accuracy(facts, epsilon, "section 2.2 of RamdasPena2014 (Novikoff)")
