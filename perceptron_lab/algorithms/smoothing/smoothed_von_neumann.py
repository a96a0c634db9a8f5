"""The smoothed perceptron-von Neumann algorithms (`RamdasPena2014`, Algorithms 6 and 7)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field

from perceptron_lab.algorithms.base import NO_NORM, SeesAll, Step, Systems, claim_of, least
from perceptron_lab.algorithms.smoothing.smoothed_perceptron import (
    Euclidean,
    Prox,
    SmoothedAlgorithm,
    SmoothedState,
    begin,
    iterate,
)
from perceptron_lab.cones.spectral import barycentre
from perceptron_lab.core.errors import NumericalError
from perceptron_lab.core.facts import Facts
from perceptron_lab.core.refusals import Positive, parameter_record
from perceptron_lab.core.results import Bound, FloatArray, Guarantee
from perceptron_lab.systems import ConicSystem

Size = Literal["norm", "paper"]  # The choice of lambda in mu_0 = 2 lambda


@parameter_record
class SmoothedVonNeumann(SmoothedAlgorithm):
    """Smoothed perceptron and von Neumann at once: the prox-function is norm(p - q)^2 / 2.

    The iteration is that of :mod:`.smoothed_perceptron` around q = e / n, with the
    Euclidean projection onto Delta(K) and mu_0 = 2 lambda. A separator y_k is found after at most
    2 sqrt(2 lambda) / rho iterations, weights with norm(A p_k) <= epsilon, where no separator
    exists, after at most 2 sqrt(lambda) / epsilon min{sqrt 2, sqrt 2 norm(A q) / |rho|} (Lemma 9;
    its last lines drop a factor sqrt 2). |rho| is the radius of the largest ball around 0 in the
    hull, within its span (Theorem 3).

    Parameters
    ----------
    epsilon
        delta of Algorithm 6, > 0 (default 1e-6).
    mu0
        lambda: ``norm`` (default), norm(A)_2^2, a product or two to find; ``paper``, its bound n
        for n unit rows (n L^2 for a cone of rank n with norm(A(atom)) <= L). The smaller, the
        longer the steps; both have the guarantee.

    References
    ----------
    `RamdasPena2014`, Algorithm 6, Lemmas 7, 8 and 9.
    """

    systems: ClassVar[Systems] = {"theorem": "rows kernel second-order semidefinite product"}
    guarantee: ClassVar[Guarantee] = Guarantee(
        "2 sqrt(2 lambda) / rho",
        "Lemma 8",
        "RamdasPena2014",
        note="lambda is the norm of A, squared; Lemma 9 bounds the iterations for a certificate",
    )

    epsilon: Positive = 1e-6
    mu0: Size = "norm"

    def prox(self, system: ConicSystem) -> Prox:
        """Return the distance from the barycentre."""
        return Euclidean(barycentre(system.cone), self.mu0)

    def bound(self, facts: Facts) -> Bound:
        """Return 2 sqrt(2 lambda) / rho."""
        theorem, root = "Lemma 8 of RamdasPena2014", root_of(self.mu0, facts)
        if facts.margin is None or root is None or facts.margin <= 0.0:
            return Bound(None, theorem, f"no positive margin, or {_UNKNOWN}, is known")
        return Bound(call_limit(root, facts.margin), theorem)

    def certificate_bound(self, facts: Facts, epsilon: float) -> Bound:
        """Return 2 sqrt(2 lambda) / epsilon, times norm(A q) / |rho| where that is less than 1."""
        theorem, root = "Lemma 9 of RamdasPena2014", root_of(self.mu0, facts)
        if root is None or epsilon <= 0.0:
            return Bound(None, theorem, f"{_UNKNOWN}, or no epsilon, is known")
        anyway = Bound(call_limit(root, epsilon), theorem)
        if not facts.hull_radius or facts.start_norm is None:
            return anyway
        ratio = facts.start_norm / facts.hull_radius
        return least(anyway, Bound(ratio * call_limit(root, epsilon), f"{theorem}, {_INSIDE}"))


_UNKNOWN = "no bound of norm(A)_2"
_INSIDE = "for 0 inside the hull"


def root_of(mu0: Size, facts: Facts) -> float | None:
    """Return sqrt(lambda), where mu_0 = 2 lambda; None if the facts do not determine it."""
    if mu0 == "norm":
        return facts.spectral
    return None if facts.atom_norm is None else math.sqrt(facts.rank) * facts.atom_norm


def call_limit(root: float, accuracy: float) -> float:
    """Return 2 sqrt(2 lambda) / delta, after which Algorithm 6 separates or norm(A p) <= delta.

    L(y_k) <= mu_k max d - norm(A p_k)^2 / 2 with max d <= 1 and mu_k < 4 lambda / (k + 1)^2; a y_k
    that does not separate has L(y_k) >= 0. Where weights w with A w = 0 exist, max d may be
    replaced by d(w) = norm(w - q)^2 / 2 of the nearest ones (Lemma 9), which is at most
    (norm(A q) / |rho|)^2 (Lemma 7): that multiplies the limit by norm(A q) / |rho|.
    """
    return 2.0 * math.sqrt(2.0) * root / accuracy


@dataclass(kw_only=True)
class IteratedState(SmoothedState):
    """The state of the current call of Algorithm 6, and its arguments.

    ``around`` is q_t, ``accuracy`` delta_t, ``call`` t + 1, ``limit`` the iterations it may take.
    """

    around: FloatArray
    accuracy: float
    limit: float
    call: int = 1


@parameter_record
class IteratedSmoothedVonNeumann(SeesAll[IteratedState]):
    """Algorithm 6 called repeatedly around its last answer, each time gamma times as accurate.

        q_0 = e / n,    delta_t = norm(A q_t) / gamma,    q_{t+1} = Algorithm 6 (q_t, delta_t),

    until a call finds a separator (an exit that the paper does not print) or delta_t < epsilon.
    Each call takes at most 2 sqrt(2 lambda) / max(rho, delta_t) iterations. Where no separator
    exists, calls also take at most 2 sqrt(2 lambda) gamma / |rho| each, and
    ln(norm(A q_0) / epsilon) / ln gamma of them, rounded up, give norm(A q) <= epsilon (Theorem 4).
    A call that exceeds its limit has run out of double precision, and is not repeated for ever.

    Parameters
    ----------
    gamma
        > 1 (default 2).
    epsilon
        > 0 (default 1e-6).
    mu0
        lambda of every call: ``norm`` (default) or ``paper``, as for ``smoothed-von-neumann``.

    References
    ----------
    `RamdasPena2014`, Algorithm 7, Theorem 4; Soheili and Pena (2013), cited there.
    """

    systems: ClassVar[Systems] = {"theorem": "rows kernel second-order semidefinite product"}
    guarantee: ClassVar[Guarantee] = Guarantee(
        "(ln(norm(A q_0) / rho) / ln(gamma) + 1) 2 sqrt(2 lambda) / rho",
        "Theorem 4",
        "RamdasPena2014",
        note="its proof; the theorem states the iterations for a certificate",
    )

    gamma: Annotated[float, Field(gt=1)] = 2.0
    epsilon: Positive = 1e-6
    mu0: Size = "norm"

    def start(self, system: ConicSystem, rng: np.random.Generator) -> IteratedState:
        """Return the state at the start of the first call."""
        around = barycentre(system.cone)
        return self._called(system, around, system.norm(system.combine(around)))

    def _called(self, system: ConicSystem, around: FloatArray, image: float) -> IteratedState:
        """Return the first state of a call of Algorithm 6 with (q, norm(A q) / gamma)."""
        # delta_t = norm(A q_t) / gamma, but no finer than the accuracy that ends the run
        epsilon = system.target or self.epsilon
        accuracy = max(image, epsilon) / self.gamma
        prox = Euclidean(around, self.mu0)
        state = vars(begin(system, prox))
        limit = call_limit(math.sqrt(prox.constant(system)), accuracy) + 2.0
        return IteratedState(
            **(state | {"phase": "call 1"}), around=around, accuracy=accuracy, limit=limit
        )

    def step(self, system: ConicSystem, state: IteratedState, most: int) -> Step[IteratedState]:
        """Continue the current call for up to ``most`` iterations, or start the next one."""
        prox = Euclidean(state.around, self.mu0)
        for _ in range(most):
            image = system.norm(state.mean)
            claim = claim_of(system, state, state.score, state.scores, image, self.epsilon)
            if claim is not None:
                return state, claim
            # The call has returned an epsilon-solution: q_{t+1} = p_k is the next centre
            if image < state.accuracy:
                assert state.weights is not None
                following = self._called(system, state.weights, image)
                following.updates, following.iterations = state.updates, state.iterations
                following.claimed, following.call = state.claimed, state.call + 1
                following.phase = f"call {following.call}"
                return following, None
            if state.call_iterations > state.limit:
                raise NumericalError(
                    f"call {state.call} found neither a separator nor norm(A p) < "
                    f"{state.accuracy:.3g} in {state.call_iterations} iterations, as exact "
                    "arithmetic must: the margin is beyond double precision here"
                )
            iterate(system, state, prox)
        return state, None

    def bound(self, facts: Facts) -> Bound:
        """Return ln(norm(A q_0) / rho) / ln gamma + 1 calls, of 2 sqrt(2 lambda) / rho each."""
        theorem, root = "Theorem 4 of RamdasPena2014", root_of(self.mu0, facts)
        if facts.margin is None or root is None or facts.margin <= 0.0:
            return Bound(None, theorem, f"no positive margin, or {_UNKNOWN}, is known")
        return self._calls(facts, facts.margin, call_limit(root, facts.margin), theorem)

    def certificate_bound(self, facts: Facts, epsilon: float) -> Bound:
        """Return ln(norm(A q_0) / epsilon) / ln gamma + 1 calls, times the iterations of one.

        That is 2 sqrt(2 lambda) times the less of 1 / epsilon and gamma / |rho|.
        """
        theorem, root = "Theorem 4 of RamdasPena2014", root_of(self.mu0, facts)
        if root is None or epsilon <= 0.0:
            return Bound(None, theorem, f"{_UNKNOWN}, or no epsilon, is known")
        anyway = self._calls(facts, epsilon, call_limit(root, epsilon), theorem)
        # The second bound of Theorem 4 needs 0 inside the hull: rho < 0
        if not facts.hull_radius:
            return anyway
        limit = self.gamma * call_limit(root, facts.hull_radius)
        return least(anyway, self._calls(facts, epsilon, limit, f"{theorem}, {_INSIDE}"))

    def _calls(self, facts: Facts, accuracy: float, limit: float, theorem: str) -> Bound:
        if not facts.start_norm:
            return Bound(None, theorem, NO_NORM)
        calls = max(0.0, math.log(facts.start_norm / accuracy) / math.log(self.gamma)) + 1.0
        return Bound(calls * limit, theorem)
