"""The normalized von Neumann algorithm (`RamdasPena2014`, Algorithm 5)."""

from __future__ import annotations

import math
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
    least,
    mix,
    squared_accuracy,
    squared_ratio,
)
from perceptron_lab.cones.spectral import barycentre
from perceptron_lab.facts import Facts
from perceptron_lab.goals import STRICT
from perceptron_lab.results import Bound
from perceptron_lab.system import ConicSystem


@dataclass(frozen=True, config=STRICT)
class VonNeumann(SeesAll[DeepestState]):
    """The point w = A p of least norm, by exact steps towards the most violated constraint.

    With a_j the cut of least <a_j, w_k>, from p_0 = e / n (Frank and Wolfe's method for norm(w)^2),

        theta_k = argmin over theta in [0, 1] of norm((1 - theta) w_k + theta a_j),
        p_{k+1} = (1 - theta_k) p_k + theta_k e_j,    w_{k+1} = A p_{k+1}.

    As printed it ends only when norm(w_k) <= epsilon: p_k is an epsilon-certificate. It also ends
    when <a_j, w_k> > 0: then w_k is a separator. While <a_j, w_k> <= 0,
    1 / norm(w_{k+1})^2 >= 1 / norm(w_k)^2 + 1 / L^2, so that both exits come within (L / rho)^2 or
    (L / epsilon)^2 updates, L >= norm(A(atom)).

    Where 0 lies inside the hull, with a ball of radius |rho| within its span, convergence is
    linear: <a_j, w_k> <= -|rho| norm(w_k), so that the step to a_j leaves at most

        norm(w_{k+1})^2 <= (1 - rho^2 / L^2) norm(w_k)^2,

    and 2 (L / rho)^2 ln(norm(w_0) / epsilon) updates suffice, rounded up (Epelman and Freund).

    Parameters
    ----------
    epsilon
        > 0 (default 1e-6).

    References
    ----------
    `RamdasPena2014`, Algorithm 5; Dantzig (1992) and Epelman and Freund (2000), cited there.
    """

    systems: ClassVar[Systems] = {"theorem": "rows kernel second-order semidefinite product"}
    needs_whole: ClassVar[bool] = False

    epsilon: Annotated[float, Field(gt=0)] = 1e-6

    def start(self, system: ConicSystem, rng: np.random.Generator) -> DeepestState:
        """Return the state at the barycentre of Delta(K)."""
        weights = barycentre(system.cone)
        return DeepestState(system.combine(weights), weights=weights)

    def step(self, system: ConicSystem, state: DeepestState, most: int) -> Step[DeepestState]:
        """Make up to ``most`` updates; claim a separator, or weights that bound the margin."""
        for _ in range(most):
            cut, score, scores = state.look(system)
            norm = system.norm(state.point)
            claim = claim_of(system, state, score, scores, norm, self.epsilon)
            if claim is not None:
                return state, claim
            distance = norm**2 - 2.0 * score + cut.norm**2  # norm(w - a)^2
            gain = norm**2 - score
            mix(state, cut, min(1.0, max(0.0, gain / distance)) if distance > 0.0 else 0.0)
        return state, None

    def bound(self, facts: Facts) -> Bound:
        """Return (L / rho)^2."""
        return squared_ratio(facts, "Epelman and Freund (2000), section 5 of RamdasPena2014")

    def certificate_bound(self, facts: Facts, epsilon: float) -> Bound:
        """Return the less of (L / epsilon)^2 and 2 (L / rho)^2 ln(norm(w_0) / epsilon)."""
        anyway = squared_accuracy(facts, epsilon, "Dantzig (1992), section 5 of RamdasPena2014")
        if not facts.hull_radius or not facts.atom_norm or not facts.start_norm or epsilon <= 0.0:
            return anyway
        halvings = max(0.0, math.log(facts.start_norm / epsilon))
        updates = math.ceil(2.0 * (facts.atom_norm / facts.hull_radius) ** 2 * halvings)
        theorem = "Epelman and Freund (2000), section 5 of RamdasPena2014, for 0 inside the hull"
        return least(anyway, Bound(updates, theorem))
