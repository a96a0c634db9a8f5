"""The perceptron with margin on cuts of any cone (`Kharechko2009`, section 6.7)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from perceptron_lab.algorithms.base import (
    State,
    Step,
    Systems,
    cut_or_claim,
    no_point_exists,
)
from perceptron_lab.algorithms.margins.perceptron_with_margin import LimitedScores
from perceptron_lab.core.refusals import Positive, parameter_record
from perceptron_lab.systems import ConicSystem, Cut


@dataclass(kw_only=True)
class TauState(State):
    """The score tau that every cut is to exceed."""

    tau: float


@parameter_record
class TauPerceptron(LimitedScores[TauState]):
    """The tau-perceptron: while a cut y with y'a <= tau exists, a <- a + eta y.

    A*a - tau e strictly inside the cone is asked for, so that the answer lies deeper inside than a
    perceptron's. The cuts are those of the system, with R their largest norm and gamma_d its
    margin: from a = 0 at most R^2 / gamma_d^2 + 2 tau / (eta gamma_d^2) updates are made ((2.11) of
    `TsampoukaShaweTaylor`), and the margin reached is at least gamma_d / (2 + eta R^2 / tau)
    (2.21), a third of the largest one with the default. From another a at most
    2 norm(a) / (eta gamma_d) more updates are made.

    The algorithm of Li et al. has a tau for each of two classes. Cuts of a cone have no classes,
    and with equal margins it is the perceptron with margin; ``perceptron-with-margin`` has uneven
    ones, for dense rows.

    The multiples of the cuts in a are weights w: norm(A w) / <e, w> bounds the margin from above.

    Parameters
    ----------
    tau
        > 0; None (default) stands for eta R^2.
    rate
        The learning rate eta > 0 (default 1); only tau / eta matters.

    References
    ----------
    `Kharechko2009`, section 6.7; `TsampoukaShaweTaylor`, section 2.1; Li, Zaragoza, Herbrich,
    Shawe-Taylor and Kandola (2002), The perceptron algorithm with uneven margins.
    """

    systems: ClassVar[Systems] = {"theorem": "rows kernel second-order semidefinite product"}

    tau: Positive | None = None
    rate: Positive = 1.0

    def start(self, system: ConicSystem, rng: np.random.Generator) -> TauState:
        """Return the state at a = 0."""
        tau = self.limit_for(system.atom_norm())
        return TauState(np.zeros(system.dimension), weights=np.zeros(system.cone.size), tau=tau)

    def step(self, system: ConicSystem, state: TauState, most: int) -> Step[TauState]:
        """Make up to ``most`` updates; claim a when no cut is left."""
        for _ in range(most):
            # Where tau is passed, the system's caution may still ask for more.
            cut = system.cut(state.point, -state.tau)
            found = cut_or_claim(system, state.point) if cut is None else cut
            if not isinstance(found, Cut):
                return state, found
            if found.norm == 0.0:
                return state, no_point_exists(system, found)
            state.point += self.rate * found.normal
            state.weigh(found.atom, found.atom.values)
            state.updates += 1
        return state, None

    @property
    def limit(self) -> float | None:
        """The limit tau."""
        return self.tau
