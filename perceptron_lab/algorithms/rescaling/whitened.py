"""``whitened``: a nested algorithm on the whitened system."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar

import numpy as np
from pydantic import Field

from perceptron_lab.algorithms.advance import advance, nested_algorithm
from perceptron_lab.algorithms.base import (
    RUNS_ON_ALL,
    AnyAlgorithm,
    SeesAll,
    State,
    Step,
    Systems,
    claim_bound,
)
from perceptron_lab.cones.base import Oracles
from perceptron_lab.cones.operators.whitening import TOLERANCE, Whitening
from perceptron_lab.core.claims import Claim, FeasiblePoint, MarginAbove
from perceptron_lab.core.facts import Facts
from perceptron_lab.core.refusals import Positive, parameter_record
from perceptron_lab.core.results import Bound, Guarantee
from perceptron_lab.numerics.compiled.kernel import Functions
from perceptron_lab.systems import ConicSystem


@dataclass(kw_only=True)
class WhitenedState(State):
    """The state of the nested algorithm, and the whitened system that it runs on."""

    name: str
    algorithm: AnyAlgorithm
    inner: State
    whitened: ConicSystem

    @property
    def whitening(self) -> Whitening:
        """The map between the two systems."""
        operator = self.whitened.operator
        assert isinstance(operator, Whitening)
        return operator

    def mirror(self) -> None:
        """Copy point, weights and counts of the nested state, mapped to the original data."""
        rank, dimension = self.whitening.map.shape[::-1]
        first = (
            f"whitened, condition number about {self.whitening.condition:.1g}, "
            f"rank {rank} of {dimension}, then {self.name}"
        )
        self.notes = [first, *self.inner.notes]
        self.point = self.whitening.to_base(self.inner.point)
        if self.inner.weights is not None:
            self.weights = self.whitening.weights_to_base(self.inner.weights)
        self.updates, self.iterations = self.inner.updates, self.inner.iterations
        self.phase = self.inner.phase

    def mapped(self, system: ConicSystem, claim: Claim, epsilon: float) -> tuple[Claim, bool]:
        """Return a claim about the original data, and whether it is worth a verification.

        Weights are, if they bound the margin by epsilon or the run's target.
        """
        if isinstance(claim, FeasiblePoint):
            return FeasiblePoint(self.whitening.to_base(claim.point)), True
        if isinstance(claim, MarginAbove):
            point = self.whitening.to_base(claim.point)
            margin = system.margin(point)
            return MarginAbove(point, margin - 1e-9 * abs(margin)), True
        weights = self.whitening.weights_to_base(claim.weights)
        end, mass = claim_bound(system, weights, epsilon), float(weights @ system.cone.identity)
        return end, system.norm(system.combine(weights)) <= end.bound * mass


@parameter_record
class Whitened(SeesAll[WhitenedState]):
    """A nested algorithm on the whitened rows b_j = a_j R^-1 / norm(a_j R^-1), for A = Q R.

    A point z with B z > 0 gives y = R^-1 z with A y > 0, and weights w with B'w = 0 give the
    weights w_j / norm(a_j R^-1) with A'w = 0. The margins of the two systems are different ones:
    that of the whitened rows does not suffer from ill-conditioning, and is the same for A and all
    A T, T invertible. (Rows that are divided by their norms first, as those given to ``solve``
    are, are weighed differently in A and A T; their lengths do not matter then.) A cone that is
    narrow in all directions remains so.

    Directions in which the data vanish, to a relative tolerance, are left out: y is 0 there.
    Weights are claimed only where they bound the margin of the data themselves. The whitening
    itself, 3 m n^2 multiplications, is in the seconds and not among the products. On other cones
    the data are whitened in the trace inner product, and keep their lengths.

    Parameters
    ----------
    algorithm
        The registered name of the algorithm that runs on the whitened system (default
        ``primal-dual``).
    parameters
        Its parameters by name; those left out have their defaults (None: all).
    epsilon
        norm(A w) <= epsilon is claimed as a bound of the margin; > 0 (default 1e-6). The inner
        algorithm's own epsilon, if it has one, is the same unless ``parameters`` say otherwise.
    tolerance
        Pivots of R below this part of the first count as zero, 1e-15 to 0.1 (default 1e-12).
    """

    systems: ClassVar[Systems] = RUNS_ON_ALL
    guarantee: ClassVar[Guarantee] = Guarantee(
        "",
        note="the nested algorithm's bound is in terms of the whitened margin: not known",
    )
    measures: ClassVar[bool] = True

    algorithm: str = "primal-dual"
    parameters: dict[str, Any] | None = None
    epsilon: Positive = 1e-6
    tolerance: Annotated[float, Field(ge=1e-15, le=0.1)] = TOLERANCE

    def __post_init__(self) -> None:
        self.inner()

    def inner(self) -> AnyAlgorithm:
        """Return the parameter record of the nested algorithm."""
        return nested_algorithm(
            "the whitened", self.algorithm, self.parameters, epsilon=self.epsilon
        )

    def compiled(self, system: ConicSystem, oracles: Oracles) -> Functions:
        """Return the compiled functions of the nested algorithm."""
        return self.inner().compiled(system, oracles)

    def start(self, system: ConicSystem, rng: np.random.Generator) -> WhitenedState:
        """Return the state of the nested algorithm on the whitened system."""
        # Whitening is computed once; the nested algorithm sees a well-conditioned system
        algorithm, whitened = self.inner(), system.whitened(self.tolerance)
        inner = algorithm.start(whitened, rng)
        state = WhitenedState(
            inner.point, name=self.algorithm, algorithm=algorithm, inner=inner, whitened=whitened
        )
        state.mirror()
        return state

    def step(self, system: ConicSystem, state: WhitenedState, most: int) -> Step[WhitenedState]:
        """Step the nested algorithm, and map its claim to the original data."""
        state.whitened = whitened = replace(
            state.whitened, cone=system.cone, tolerance=system.tolerance, target=system.target
        )
        claim: Claim | None = None
        for again in (False, True):
            before = state.inner.updates
            state.inner, end = advance(state.algorithm, whitened, state.inner, most)
            idle = state.inner.updates == before
            if end is None:
                break
            mapped, good = state.mapped(system, end, self.epsilon)
            # Where the algorithm goes no further, its claim is made in any case.
            claim = mapped if good or (again and idle) else None
            if claim is not None or not idle:
                break
        state.mirror()
        return state, claim

    def bound(self, facts: Facts) -> Bound:
        """Return no bound: the nested algorithm's bound is about the whitened system's margin."""
        theorem = self.inner().bound(facts).theorem
        reason = f"the bound of {self.algorithm} is in terms of the whitened margin: not known"
        return Bound(None, theorem, reason)
