"""The smoothed perceptron, and its iteration for any prox-function.

It minimises L(y) = max over p in Delta(K) of <-p, A*y> + norm(y)^2 / 2. L_mu replaces the maximum
by that of <-p, A*y> - mu d(p), with a prox-function d >= 0 that is strongly convex with modulus 1
in a norm for which norm(A p)^2 <= lambda norm(p)^2. From mu_0 = 2 lambda and theta_k = 2 / (k + 3),
with p_mu(y) the maximiser, the excessive gap technique

    y_{k+1} = (1 - theta_k) (y_k + theta_k A p_k) + theta_k^2 A p_{mu_k}(y_k),
    mu_{k+1} = (1 - theta_k) mu_k,
    p_{k+1} = (1 - theta_k) p_k + theta_k p_{mu_{k+1}}(y_{k+1})

keeps L_{mu_k}(y_k) <= -norm(A p_k)^2 / 2, with mu_k = 4 lambda / ((k + 1) (k + 2)).

References
----------
`RamdasPena2014`, Algorithms 4 and 6, Lemmas 5 and 8, Appendix A.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Literal, Protocol

import numpy as np

from perceptron_lab.algorithms.base import NO_MARGIN, SeesAll, State, Step, Systems, claim_of
from perceptron_lab.cones.spectral import barycentre, gibbs, project
from perceptron_lab.core.facts import Facts
from perceptron_lab.core.refusals import Positive, parameter_record
from perceptron_lab.core.results import Bound, FloatArray, Guarantee
from perceptron_lab.systems import ConicSystem


@dataclass(frozen=True)
class Entropy:
    """d(p) = sum_i p_i ln p_i + ln n over the eigenvalues, at most ln n; the norm is norm_1."""

    def centre(self, system: ConicSystem) -> FloatArray:
        """Return argmin d = e / n, as weights."""
        return barycentre(system.cone)

    def constant(self, system: ConicSystem) -> float:
        """Return lambda with norm(A p)^2 <= lambda norm(p)^2: L^2, L >= norm(A(atom)).

        A maps the unit ball of norm_1 to the hull of +-A(atom).
        """
        return system.atom_norm() ** 2

    def nearest(self, system: ConicSystem, state: SmoothedState) -> tuple[FloatArray, float]:
        """Return argmin of <p, scores> + mu d(p), the softmin, and the lowest eigenvalue."""
        values, frame = system.spectrum(state.scores)
        return gibbs(system.cone, values, frame, state.smoothing)[0], float(values.min())


@dataclass(frozen=True)
class Euclidean:
    """d(p) = norm(p - q)^2 / 2 in the trace norm, at most 1.

    Parameters
    ----------
    around
        q in Delta(K), as weights.
    size
        The choice of lambda: see :meth:`constant`.
    """

    around: FloatArray
    size: Literal["norm", "paper"] = "norm"

    def centre(self, system: ConicSystem) -> FloatArray:
        """Return q."""
        return self.around

    def constant(self, system: ConicSystem) -> float:
        """Return norm(A)_2^2 (``norm``), or n L^2 >= norm(A)_2^2 (``paper``).

        n is the total rank, L >= norm(A(atom)); the paper has n unit rows, and hence n.
        """
        if self.size == "paper":
            return system.cone.rank * system.atom_norm() ** 2
        return system.spectral_norm() ** 2

    def nearest(self, system: ConicSystem, state: SmoothedState) -> tuple[FloatArray, float]:
        """Return the projection of q - scores / mu onto Delta(K), and the lowest eigenvalue."""
        scores = state.scores
        element = self.around / system.cone.multiplicity - scores / state.smoothing
        return project(system.cone, element), system.lowest(scores)


class Prox(Protocol):
    """A prox-function d on Delta(K)."""

    def centre(self, system: ConicSystem) -> FloatArray:
        """Return argmin d, as weights."""

    def constant(self, system: ConicSystem) -> float:
        """Return lambda with norm(A p)^2 <= lambda norm(p)^2."""

    def nearest(self, system: ConicSystem, state: SmoothedState) -> tuple[FloatArray, float]:
        """Return p_mu(y) and the lowest eigenvalue of A*y for the point y of the state."""


@dataclass(kw_only=True)
class SmoothedState(State):
    """y_k = ``point``, p_k = ``weights``, A p_k = ``mean``, A p_{mu_k}(y_k) = ``nearest``.

    ``call_iterations`` is k, ``smoothing`` mu_k.
    """

    prox: Prox
    smoothing: float
    mean: FloatArray
    nearest: FloatArray
    scores: FloatArray
    score: float = 0.0
    call_iterations: int = 0


def begin(system: ConicSystem, prox: Prox) -> SmoothedState:
    """Return the state at y_0 = A (argmin d), p_0 = p_{mu_0}(y_0)."""
    centre = prox.centre(system)
    point = system.combine(centre)
    # mu_0 = 2 lambda; the paper has lambda = 1
    smoothing = 2.0 * prox.constant(system)
    state = SmoothedState(
        point=point,
        weights=centre,
        prox=prox,
        smoothing=smoothing,
        mean=point,
        nearest=point,
        scores=system.scores(point),
    )
    state.weights, state.score = prox.nearest(system, state)
    state.mean = state.nearest = system.combine(state.weights)
    return state


def iterate(system: ConicSystem, state: SmoothedState, prox: Prox) -> None:
    """Advance the iteration from k to k + 1, with two products."""
    assert state.weights is not None
    # Algorithm 4 of RamdasPena2014: theta_k = 2 / (k + 3)
    theta = 2.0 / (state.call_iterations + 3.0)
    # alpha_{k+1} := (1 - theta_k)(alpha_k + theta_k p_k) + theta_k^2 p_{mu_k}(alpha_k)
    state.point = (1.0 - theta) * (state.point + theta * state.mean) + theta**2 * state.nearest
    # mu_{k+1} = (1 - theta_k) mu_k, which gives mu_k = 2 mu_0 / ((k + 1)(k + 2))
    state.smoothing *= 1.0 - theta
    state.scores = system.scores(state.point)
    weights, state.score = prox.nearest(system, state)
    state.nearest = system.combine(weights)
    # p_{k+1} := (1 - theta_k) p_k + theta_k p_{mu_{k+1}}(alpha_{k+1}); its image needs no product
    state.mean = (1.0 - theta) * state.mean + theta * state.nearest
    state.weights = np.asarray((1.0 - theta) * state.weights + theta * weights)
    state.call_iterations += 1
    state.updates += 1
    state.iterations += 1


class SmoothedAlgorithm(SeesAll[SmoothedState]):
    """The iteration with one prox-function."""

    @abstractmethod
    def prox(self, system: ConicSystem) -> Prox:
        """Return the prox-function."""

    def start(self, system: ConicSystem, rng: np.random.Generator) -> SmoothedState:
        """Return the state at argmin d, the barycentre."""
        return begin(system, self.prox(system))

    def step(self, system: ConicSystem, state: SmoothedState, most: int) -> Step[SmoothedState]:
        """Make up to ``most`` iterations; claim a separator, or weights that bound the margin."""
        for _ in range(most):
            # norm(A p_k), maintained by the recursion of p_k
            image = system.norm(state.mean)
            claim = claim_of(system, state, state.score, state.scores, image, self.epsilon)
            if claim is not None:
                return state, claim
            iterate(system, state, state.prox)
        return state, None


@parameter_record
class SmoothedPerceptron(SmoothedAlgorithm):
    """The perceptron's loss smoothed by the entropy: sqrt(ln n) / rho iterations for 1 / rho^2.

    The iteration is that of this module with
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
    guarantee: ClassVar[Guarantee] = Guarantee(
        "2 sqrt(2 ln(n)) L / rho", "Theorem 1", "RamdasPena2014"
    )

    epsilon: Positive = 1e-6

    def prox(self, system: ConicSystem) -> Prox:
        """Return the entropy."""
        return Entropy()

    def bound(self, facts: Facts) -> Bound:
        """Return 2 sqrt(2 ln n) L / rho."""
        if facts.margin is None or facts.atom_norm is None or facts.margin <= 0.0:
            return Bound(None, self.guarantee.source, NO_MARGIN)
        ratio = facts.atom_norm / facts.margin
        return Bound(2.0 * math.sqrt(2.0 * math.log(facts.rank)) * ratio, self.guarantee.source)
