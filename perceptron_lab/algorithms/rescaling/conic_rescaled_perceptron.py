"""The conic rescaled perceptron of Belloni, Freund and Vempala (2009)."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import ClassVar, Literal

import numpy as np

from perceptron_lab.algorithms.base import Systems
from perceptron_lab.algorithms.perceptrons.relaxed_perceptron import (
    RelaxedPerceptron,
    RelaxedState,
)
from perceptron_lab.algorithms.rescaling.deep_separation import DeepSeparation
from perceptron_lab.algorithms.rescaling.rescaled_perceptron import (
    RescaledPerceptron,
    RescaledState,
)
from perceptron_lab.cones.base import Atom
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.cones.operators.rescaled import RescaledRows
from perceptron_lab.core.facts import Facts
from perceptron_lab.core.refusals import parameter_record
from perceptron_lab.core.results import Bound
from perceptron_lab.systems import ConicSystem, Cut


@dataclass(kw_only=True)
class DeepState(RelaxedState):
    """The state of a relaxed phase, and the oracle of the space as it is in this phase."""

    oracle: DeepSeparation | None = None


@parameter_record
class DeeplyRelaxedPerceptron(RelaxedPerceptron):
    """The relaxed perceptron on unit cuts: x with <s, x> >= -sigma norm(x) for all unit s in F*."""

    def start(self, system: ConicSystem, rng: np.random.Generator) -> DeepState:
        """Return the first random point; rows that are of norm 1 in any case need no oracle."""
        plain = super().start(system, rng)
        given = {field.name: getattr(plain, field.name) for field in fields(plain)}
        unit = system.unit_rows and isinstance(system.operator, Matrix | RescaledRows)
        return DeepState(**given, oracle=None if unit else DeepSeparation(system))

    def violated(self, system: ConicSystem, state: RelaxedState, slack: float) -> Cut | None:
        """Return the deepest unit cut, if it is deeper than the slack."""
        assert isinstance(state, DeepState)
        if state.oracle is None:
            return super().violated(system, state, slack)
        system.counters.queries += 1
        found = state.oracle.deepest(state.point)
        if found is None or found.depth <= slack:
            return None
        return Cut(found.normal, Atom(slice(0, 0), np.zeros(0)), 1.0)


@parameter_record
class ConicRescaledPerceptron(RescaledPerceptron):
    """The rescaled perceptron with deep separation: Algorithm 4, with its theorem, on cones.

    As :class:`.RescaledPerceptron`, but for phase 2, in the space as H has rescaled it: from a
    random unit x, while some cut s of norm 1 in F* has <s, x> < -sigma norm(x), subtract <s, x> s.
    F* is the dual of the feasible cone F of the rescaled data; all its unit elements count, not
    only images of atoms, whose norms differ. The deepest is found by projection onto F, block by
    block (:class:`.DeepSeparation`); so x, once accepted, has a'x >= -sigma for all unit cuts a, as
    Lemma 4.3 needs of unit rows, and Theorem 4.4 holds on every cone with such an oracle: with
    probability 1 - exp(-n^beta), O(n^beta ln(1/rho)) rescalings suffice.

    It runs on rows and second-order blocks. Matrix blocks are refused: their deepest unit cut is a
    semidefinite program.

    Parameters
    ----------
    preset
        ``belloni-freund-vempala`` (default): rho = 1/(4 n), sigma = 1/(32 n), so that a perceptron
        phase has 16 n^2 updates; ``thesis`` and ``practical`` as in Algorithm 6, the last one
        without a theorem.
    c, d, gamma, beta, kappa, nu
        As of :class:`.RescaledPerceptron`.

    References
    ----------
    A. Belloni, R. M. Freund and S. Vempala, An efficient rescaled perceptron algorithm for conic
    systems, Mathematics of Operations Research 34 (2009); `Kharechko2009`, Lemma 4.3, Theorem 4.4.
    """

    systems: ClassVar[Systems] = {
        "theorem": "rows second-order product",
        "coordinates: theorem": "kernel",
    }

    preset: Literal["belloni-freund-vempala", "thesis", "practical"] = "belloni-freund-vempala"  # type: ignore[assignment]

    def start(self, system: ConicSystem, rng: np.random.Generator) -> RescaledState:
        """Return the state before the first perceptron phase; matrix blocks are refused."""
        DeepSeparation.refuse(system)
        return super().start(system, rng)

    def relaxed(self, dimension: int) -> DeeplyRelaxedPerceptron:
        """Return phase 2."""
        constants = self.constants(dimension)
        return DeeplyRelaxedPerceptron(sigma=constants.sigma, theta=constants.theta)

    def bound(self, facts: Facts) -> Bound:
        """Return Theorem 4.4 for the margin of the unit cuts, whatever the cone."""
        return super().bound(replace(facts, unit_rows=True))

    def without_theorem(self, dimension: int, unit_rows: bool) -> str:
        """Return why Theorem 4.4 says nothing once the space is rescaled, or an empty text."""
        return super().without_theorem(dimension, True)
