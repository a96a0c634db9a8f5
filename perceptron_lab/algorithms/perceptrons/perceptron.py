"""The perceptron, normalised and classical (`Kharechko2009`, section 2.4)."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from pydantic.dataclasses import dataclass

from perceptron_lab.algorithms.base import Algorithm, State, Step, Systems, cut_or_claim, squared
from perceptron_lab.facts import Facts
from perceptron_lab.goals import STRICT
from perceptron_lab.results import Bound
from perceptron_lab.system import ConicSystem, Cut


@dataclass(frozen=True, config=STRICT)
class Perceptron(Algorithm[State]):
    """The perceptron: while a cut a with a'x <= 0 exists, add it to x.

    Normalised (Algorithm 1):  x <- x + a / norm(a), at most 1 / rho^2 updates, where rho is the
    margin of the unit cuts (Theorem 2.7, Novikoff). Classical:  x <- x + a with the data as given,
    at most R^2 / rho^2 updates, with R the largest norm(a) and rho the margin of the cuts as given.
    Both are tight on orthonormal rows.

    The multiples of the cuts in x are weights w: norm(A w) / <e, w> bounds the margin from above.

    Parameters
    ----------
    normalized
        Whether cuts are divided by their norms (default true).

    References
    ----------
    `Kharechko2009`, Algorithm 1, Theorem 2.7.
    """

    systems: ClassVar[Systems] = {"theorem": "rows kernel second-order semidefinite product"}

    normalized: bool = True

    def start(self, system: ConicSystem, rng: np.random.Generator) -> State:
        """Return the state at x = 0."""
        return State(np.zeros(system.dimension), weights=np.zeros(system.cone.size))

    def step(self, system: ConicSystem, state: State, most: int) -> Step[State]:
        """Make up to ``most`` updates; claim x feasible when no cut is left."""
        assert state.weights is not None
        view = system if self.normalized else system.unnormalised()
        for _ in range(most):
            cut = cut_or_claim(view, state.point)
            if not isinstance(cut, Cut):
                return state, cut
            length = cut.norm if self.normalized else 1.0
            state.point += cut.normal / length
            # A raw row is norm(a) times the unit row to which weights of the system belong.
            unit = cut.norm if view is not system else 1.0
            state.weights[cut.atom.span] += cut.atom.values * (unit / length)
            state.updates += 1
        return state, None

    def bound(self, facts: Facts) -> Bound:
        """Return 1 / rho^2 or R^2 / rho^2."""
        theorem = "Theorem 2.7 (Novikoff) of Kharechko2009"
        if self.normalized:
            return squared(1.0, facts.unit_margin, theorem)
        return squared(facts.norm, facts.raw_margin, theorem)
