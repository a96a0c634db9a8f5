"""Winnow: multiplicative updates, for the l1 margin (`RamdasPena2014`, section 2.2)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from perceptron_lab.algorithms.base import (
    BOUNDED_ON_ALL,
    NO_MARGIN,
    InCoordinates,
    MistakeDriven,
    State,
    Systems,
    squared,
)
from perceptron_lab.core.facts import Facts
from perceptron_lab.core.refusals import Positive, parameter_record
from perceptron_lab.core.results import Bound, FloatArray, Guarantee
from perceptron_lab.systems import ConicSystem, Cut


@dataclass(kw_only=True)
class WinnowState(State):
    """The sum of the cuts a / norm(a)_inf used, shape ``(dimension,)``.

    ``entropy`` is ln(2 d), or ln(4 d) with a ``prior`` of shape ``(2, dimension)``.
    """

    total: FloatArray
    entropy: float
    prior: FloatArray | None = None


@parameter_record
class Winnow(MistakeDriven[WinnowState], InCoordinates[WinnowState]):
    """Winnow on the lifted positive problem: y = u - v with (u, v) in the simplex of R^(2d).

    A constraint a'y > 0 is (a, -a)'(u, v) > 0 with (u, v) >= 0. While a cut a with a'y <= 0 exists,
    its normalised a / norm(a)_inf is added to a sum s, and

        (u, v) = (exp(eta s), exp(-eta s)) / (sum of both),
        y_i = sinh(eta s_i) / sum_j cosh(eta s_j).

    Let rho_1 = max over norm(y)_1 = 1 of min over cuts of a'y / norm(a)_inf, the l1 margin. With
    the constant rate eta < 2 rho_1, at most ln(2 d) / (eta rho_1 - eta^2 / 2) updates are made:
    2 ln(2 d) / rho_1^2 at eta = rho_1. (The paper prints ln(n) / rho_1^2, without the constant.
    Each update multiplies W = sum exp(eta (s, -s)) by at most exp(eta^2 / 2), and
    W >= exp(eta rho_1 t), since some weighted mean of the exponents is.) With the default rate
    eta_t = sqrt(ln(2 d) / t), which needs no margin, 4 ln(2 d) / rho_1^2 suffice: the regret of t
    steps is at most 2 sqrt(t ln(2 d)).

    A start y_0 is half of a prior p on the 2 d coordinates, y_0 / (2 norm(y_0)_1), the other half
    of which is uniform: (u, v) is proportional to p (exp(eta s), exp(-eta s)) then, the point
    begins on the ray of y_0, and ln(4 d) takes the place of ln(2 d), since no entry of p is below
    1 / (4 d).

    rho_1 >= rho / sqrt(d), so that a known rho gives a bound too.

    Parameters
    ----------
    rate
        eta > 0; None (default) stands for eta_t = sqrt(ln(2 d) / t).

    References
    ----------
    `RamdasPena2014`, section 2.2; Littlestone (1991), cited there.
    """

    systems: ClassVar[Systems] = BOUNDED_ON_ALL
    guarantee: ClassVar[Guarantee] = Guarantee(
        "4 ln(2 d) / rho_1^2",
        "section 2.2 (Littlestone)",
        "RamdasPena2014",
        note="for the default rate and the l1 margin rho_1; with its constant",
    )

    rate: Positive | None = None

    def start(self, system: ConicSystem, rng: np.random.Generator) -> WinnowState:
        """Return the state at y = 0."""
        n = system.dimension
        return WinnowState(
            np.zeros(n),
            weights=np.zeros(system.cone.size),
            total=np.zeros(n),
            entropy=math.log(2.0 * n),
        )

    def start_at(
        self, system: ConicSystem, rng: np.random.Generator, point: FloatArray
    ) -> WinnowState:
        """Return the state at half of the point's ray, with a prior that leads there."""
        state, n = self.start(system, rng), system.dimension
        ray = point / np.abs(point).max()
        ray /= 2.0 * np.abs(ray).sum()
        # Half of the prior is uniform, so that no weight vanishes and ln(4 d) bounds the divergence
        state.prior = 0.25 / n + np.maximum(np.array([ray, -ray]), 0.0)
        state.entropy = math.log(4.0 * n)
        state.point = ray
        return state

    def update(self, state: WinnowState, cut: Cut) -> None:
        """Add the cut, of greatest entry 1, to the sum."""
        # The l1 margin refers to cuts of maximum norm 1
        length = float(np.abs(cut.normal).max())
        state.total += cut.normal / length
        state.weigh(cut.atom, cut.atom.values / length)
        # Without a rate it falls like 1 / sqrt(t): the number of updates is not known beforehand
        rate = self.rate or math.sqrt(state.entropy / (state.updates + 1))
        state.point = lifted(rate * state.total, state.prior)

    def bound(self, facts: Facts) -> Bound:
        """Return ln(2 d) / (eta rho_1 - eta^2 / 2), or 4 ln(2 d) / rho_1^2."""
        return self._bound(facts, math.log(2.0 * facts.dimension), self.guarantee.source)

    def bound_from(self, facts: Facts, length: float) -> Bound:
        """Return the bound with ln(4 d) in place of ln(2 d)."""
        theorem = f"{self.guarantee.source}, from a given start"
        return self._bound(facts, math.log(4.0 * facts.dimension), theorem)

    def _bound(self, facts: Facts, size: float, theorem: str) -> Bound:
        margin = facts.l1_margin
        # norm_1 <= sqrt(d) norm_2 bounds the l1 margin by the margin of unit cuts
        if margin is None and facts.unit_margin is not None:
            margin = facts.unit_margin / math.sqrt(facts.dimension)
        if self.rate is None:
            return squared(2.0 * math.sqrt(size), margin, theorem)
        if margin is None or margin <= 0.0:
            return Bound(None, theorem, NO_MARGIN)
        gain = self.rate * margin - self.rate**2 / 2.0
        # eta rho_1 - eta^2 / 2 is the decrease of the divergence per update
        if gain <= 0.0:
            return Bound(None, theorem, "the rate is not below twice the l1 margin")
        return Bound(size / gain, theorem)


def lifted(exponents: FloatArray, prior: FloatArray | None = None) -> FloatArray:
    """Return sinh(z_i) / sum_j cosh(z_j), computed without overflow.

    With a prior, shape ``(2, d)``, exp(z_i) and exp(-z_i) count by its rows.
    """
    # Exponents are shifted by their maximum: the quotient is unchanged, and exp cannot overflow
    largest = np.abs(exponents).max()
    up, down = np.exp(exponents - largest), np.exp(-exponents - largest)
    if prior is not None:
        up, down = prior[0] * up, prior[1] * down
    return np.asarray((up - down) / (up + down).sum())
