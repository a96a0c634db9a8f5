"""Steps towards the most violated cut: the normalized perceptron and von Neumann's algorithm.

`RamdasPena2014`, Algorithms 2, 3 and 5.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from perceptron_lab.algorithms.base import (
    SeesAll,
    State,
    Step,
    Systems,
    claim_of,
    least,
    squared_accuracy,
    squared_ratio,
)
from perceptron_lab.cones.spectral import barycentre
from perceptron_lab.core.facts import Facts
from perceptron_lab.core.refusals import Positive, parameter_record
from perceptron_lab.core.results import Bound, Guarantee
from perceptron_lab.systems import ConicSystem, Cut, Deepest


@dataclass(kw_only=True)
class DeepestState(State):
    """A state that keeps its most violated constraint from a claim to the next update."""

    deepest: Deepest | None = None

    def most_violated(self, system: ConicSystem) -> Deepest:
        """Return the most violated constraint at the point, with one query per update."""
        if self.deepest is None:
            self.deepest = system.deepest(self.point)
        return self.deepest

    def move(self, cut: Cut, theta: float) -> None:
        """Step towards a cut: y <- (1 - theta) y + theta A(atom), and p in the same way."""
        assert self.weights is not None
        self.point *= 1.0 - theta
        self.point += theta * cut.normal
        self.weights *= 1.0 - theta
        self.weigh(cut.atom, theta * cut.atom.values)
        self.deepest = None
        self.updates += 1
        self.iterations += 1


class TowardsMostViolated(SeesAll[DeepestState]):
    """The point y = A p, p in Delta(K), moves towards its most violated cut by a share theta.

    It claims y where that is a separator, p where norm(A p) <= epsilon.
    """

    needs_all_entries: ClassVar[bool] = False

    @abstractmethod
    def theta(self, updates: int, cut: Cut, score: float, norm: float) -> float:
        """Return theta_k in [0, 1] for the cut a at y_k, ``score`` <a, y_k>, ``norm`` norm(y_k)."""

    def step(self, system: ConicSystem, state: DeepestState, most: int) -> Step[DeepestState]:
        """Make up to ``most`` updates; claim a separator, or weights that bound the margin."""
        for _ in range(most):
            cut, score, scores = state.most_violated(system)
            norm = system.norm(state.point)
            claim = claim_of(system, state, score, scores, norm, self.epsilon)
            if claim is not None:
                return state, claim
            state.move(cut, self.theta(state.updates, cut, score, norm))
        return state, None


@parameter_record
class NormalizedPerceptron(TowardsMostViolated):
    """The perceptron on the most violated constraint, with the mean of the cuts as its point.

    With p(y) = argmin over p in Delta(K) of <p, A*y>, an atom, and theta_k = 1 / (k + 1),

        y_{k+1} = (1 - theta_k) y_k + theta_k A p(y_k),    y_0 = 0.

    y_k is the mean of the k cuts so far, the perceptron's point divided by k, and y_k = A p_k with
    p_k in Delta(K): rho <= norm(y_k). It is the subgradient method for L(y) = max_p <-p, A*y> +
    norm(y)^2 / 2, whose minimiser is rho times the unit vector of largest margin: after a separator
    is found (at most (L / rho)^2 updates, L >= norm(A(atom)), 1 for unit rows) it continues to
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
    guarantee: ClassVar[Guarantee] = Guarantee(
        "(L / rho)^2", "section 2.2 (Novikoff)", "RamdasPena2014"
    )

    epsilon: Positive = 1e-6

    def start(self, system: ConicSystem, rng: np.random.Generator) -> DeepestState:
        """Return the state at y = 0, where nothing is claimed: 0 is no mean of cuts."""
        weights = np.zeros(system.cone.size)
        return DeepestState(np.zeros(system.dimension), weights=weights, claimed=0)

    def theta(self, updates: int, cut: Cut, score: float, norm: float) -> float:
        """Return 1 / (k + 1)."""
        return 1.0 / (updates + 1.0)

    def bound(self, facts: Facts) -> Bound:
        """Return (L / rho)^2."""
        return squared_ratio(facts, self.guarantee.source)

    def certificate_bound(self, facts: Facts, epsilon: float) -> Bound:
        """Return (L / epsilon)^2: while no cut is positive, norm(k y_k)^2 grows by L^2 at most."""
        return squared_accuracy(facts, epsilon, "section 2.2 of RamdasPena2014 (Novikoff)")


@parameter_record
class VonNeumann(TowardsMostViolated):
    """Von Neumann's algorithm for the point w = A p of least norm in the hull of the constraints.

    It is the method of Frank and Wolfe for norm(w)^2 with exact line search. From p_0 = e / n, each
    step moves w towards the most violated constraint, the cut a_j of least <a_j, w_k>:

        theta_k = argmin over theta in [0, 1] of norm((1 - theta) w_k + theta a_j),
        p_{k+1} = (1 - theta_k) p_k + theta_k e_j,    w_{k+1} = A p_{k+1}.

    It ends when <a_j, w_k> > 0, since w_k is then a separator, or when norm(w_k) <= epsilon: p_k is
    then an epsilon-certificate. (The printed algorithm has the second test only.) While
    <a_j, w_k> <= 0, 1 / norm(w_{k+1})^2 >= 1 / norm(w_k)^2 + 1 / L^2. So it ends within (L / rho)^2
    updates on a feasible system and within (L / epsilon)^2 updates on any, from any p_0 with
    norm(A p_0) <= L, where L >= norm(A(atom)).

    If the hull contains 0 with a ball of radius |rho| within its span, convergence is linear:
    <a_j, w_k> <= -|rho| norm(w_k), so that a step satisfies

        norm(w_{k+1})^2 <= (1 - rho^2 / L^2) norm(w_k)^2,

    and 2 (L / rho)^2 ln(norm(w_0) / epsilon) updates suffice, rounded up (Epelman and Freund).

    Parameters
    ----------
    epsilon
        > 0 (default 1e-6).
    initial
        p_0: ``barycentre`` (default), or ``atom``, the most violated constraint at 0 (the first of
        equal ones), which leaves to the steps alone what the barycentre knows of all constraints.

    References
    ----------
    `RamdasPena2014`, Algorithm 5; Dantzig (1992) and Epelman and Freund (2000), cited there.
    """

    systems: ClassVar[Systems] = {"theorem": "rows kernel second-order semidefinite product"}
    guarantee: ClassVar[Guarantee] = Guarantee(
        "(L / rho)^2",
        "Epelman and Freund (2000), section 5",
        "RamdasPena2014",
        note="(L / epsilon)^2 or 2 (L / rho)^2 ln(L / epsilon) for an epsilon-certificate",
    )

    epsilon: Positive = 1e-6
    initial: Literal["barycentre", "atom"] = "barycentre"

    def start(self, system: ConicSystem, rng: np.random.Generator) -> DeepestState:
        """Return the state at the barycentre of Delta(K), or at an atom."""
        if self.initial == "atom":
            cut = system.deepest(np.zeros(system.dimension)).cut
            weights = np.zeros(system.cone.size)
            weights[cut.atom.span] = cut.atom.values
            return DeepestState(cut.normal.copy(), weights=weights)
        weights = barycentre(system.cone)
        return DeepestState(system.combine(weights), weights=weights)

    def theta(self, updates: int, cut: Cut, score: float, norm: float) -> float:
        """Return the minimiser of norm((1 - theta) w + theta a) in [0, 1]."""
        distance = norm**2 - 2.0 * score + cut.norm**2  # norm(w - a)^2
        gain = norm**2 - score
        return min(1.0, max(0.0, gain / distance)) if distance > 0.0 else 0.0

    def bound(self, facts: Facts) -> Bound:
        """Return (L / rho)^2."""
        return squared_ratio(facts, self.guarantee.source)

    def certificate_bound(self, facts: Facts, epsilon: float) -> Bound:
        """Return the less of (L / epsilon)^2 and 2 (L / rho)^2 ln(norm(w_0) / epsilon)."""
        anyway = squared_accuracy(facts, epsilon, "Dantzig (1992), section 5 of RamdasPena2014")
        begins = facts.start_norm if self.initial == "barycentre" else facts.atom_norm
        if not facts.hull_radius or not facts.atom_norm or not begins or epsilon <= 0.0:
            return anyway
        halvings = max(0.0, math.log(begins / epsilon))
        updates = math.ceil(2.0 * (facts.atom_norm / facts.hull_radius) ** 2 * halvings)
        theorem = "Epelman and Freund (2000), section 5 of RamdasPena2014, for 0 inside the hull"
        return least(anyway, Bound(updates, theorem))
