"""The contract of an algorithm: start a state, step it, state a guarantee."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, TypeVar, cast

import numpy as np

from perceptron_lab.claims import Claim, FeasiblePoint, MarginBelow
from perceptron_lab.facts import Facts
from perceptron_lab.results import Bound, FloatArray
from perceptron_lab.system import ConicSystem, Cut, Deepest

BEYOND = "the bound is beyond the range of doubles"
"""Why there is no bound for margins that are too small."""
ROUNDING = 1e-13
"""What rounding may add to a vanishing combination, relative to the norms of the cuts."""


@dataclass
class State:
    """What every algorithm's state shows; each algorithm adds its own arrays, which it owns.

    Parameters
    ----------
    point
        The current point, shape ``(dimension,)``.
    updates
        How often it has changed.
    iterations
        Turns of a method that is not mistake-driven.
    phase
        A label that changes when the method enters a new phase.
    weights
        Weights in the dual cone that belong to the point, shape ``(size,)``, or None.
    claimed
        The update at which the point was claimed last: a claim that did not end the run is not
        repeated before the next update.
    ending
        Why nothing more will come, in words, once that is so: the run may end short of its goal.
    """

    point: FloatArray
    updates: int = 0
    iterations: int = 0
    phase: str = ""
    weights: FloatArray | None = None
    claimed: int = -1
    ending: str = ""


S = TypeVar("S", bound=State)

Systems = Mapping[str, str]
"""What holds -> the kinds of systems on which it does, with spaces between them."""


class Algorithm(Protocol[S]):
    """A frozen record of parameters with the three methods of the contract.

    It may also have

    - ``view(system) -> ConicSystem``: what it runs on, for instance the coordinates of a Gram
      system (:func:`view_of`);
    - ``certificate_bound(facts, epsilon) -> Bound``: its guarantee for weights with
      norm(A w) <= epsilon, where no point is feasible;
    - ``notes`` in its state, a list of sentences on what was done, for the certificate;
    - class attributes ``uses_oracle = False``, if it looks at all constraints itself, and
      ``takes_start = False``, if it has a starting point of its own;
    - a class attribute ``systems``, a literal that ``plab list algorithms`` reads without loading
      the module: ``theorem`` (its bound applies), ``runs`` (without a bound) or ``coordinates:``
      and one of these (a Gram system is first given the coordinates of its pivoted Cholesky
      factor) -> where, of ``rows kernel second-order semidefinite product``. With the default
      parameters it runs on no others.
    """

    def start(self, system: ConicSystem, rng: np.random.Generator) -> S:
        """Return the state before the first update."""
        ...

    def step(self, system: ConicSystem, state: S, most: int) -> tuple[S, Claim | None]:
        """Make at most ``most`` >= 1 updates, in place; return early on a claim or a new phase.

        A step makes progress: it updates, claims or enters a new phase.
        """
        ...

    def bound(self, facts: Facts) -> Bound:
        """Return the guarantee on the number of updates for these facts."""
        ...


class SeesAll:
    """What the algorithms have in common that look at all constraints themselves.

    Attributes
    ----------
    needs_whole
        Whether they refuse matrix blocks too large for all their eigenvalues and entries.
    """

    uses_oracle: ClassVar[bool] = False
    takes_start: ClassVar[bool] = False
    needs_whole: ClassVar[bool] = True

    def view(self, system: ConicSystem) -> ConicSystem:
        """Return the system with whole matrices, so that weights can be proved and projected."""
        return system.completed(required=self.needs_whole)


def view_of(algorithm: Algorithm[Any], system: ConicSystem) -> ConicSystem:
    """Return what the algorithm runs on; its answers are proved on the original data."""
    view = getattr(algorithm, "view", None)
    return system if view is None else cast("ConicSystem", view(system))


def cut_or_claim(system: ConicSystem, point: FloatArray) -> Cut | Claim:
    """Return a cut with a non-zero normal, or what there is to claim where there is none.

    That is the point itself, if it passes the oracle, or that no point exists.
    """
    cut = system.cut(point)
    if cut is None:
        return FeasiblePoint(point.copy())
    return no_point_exists(system, cut) if cut.norm == 0.0 else cut


def no_point_exists(system: ConicSystem, cut: Cut) -> MarginBelow:
    """Return the claim of a cut with A(atom) = 0: then <atom, A*y> = 0 for every y.

    The atom may be one to rounding only; then no more than a bound of that size can be proved.
    """
    weights = np.zeros(system.cone.size)
    weights[cut.atom.span] = cut.atom.values
    return MarginBelow(weights, ROUNDING * system.atom_norm())


def claim_of(
    system: ConicSystem,
    state: State,
    score: float,
    scores: FloatArray,
    image: float,
    epsilon: float,
) -> Claim | None:
    """Return what a point with weights allows to claim: either exit, or None.

    Parameters
    ----------
    system, state
        What the algorithm runs on, and where it stands.
    score, scores
        The lowest eigenvalue of A*point, and A*point.
    image
        norm(A w) / <e, w> of the state's weights, computed.
    epsilon
        The largest norm(A w) that is worth a claim, where the run has no target of its own.
    """
    if state.claimed == state.updates:
        return None
    claim: Claim | None = None
    bound = system.worth(epsilon)
    if system.inside(score, scores):
        claim = FeasiblePoint(state.point.copy())
    elif image <= bound and state.weights is not None:
        claim = MarginBelow(state.weights.copy(), bound)
    state.claimed = state.updates if claim is not None else state.claimed
    return claim


def squared_ratio(facts: Facts, theorem: str) -> Bound:
    """Return (L / rho)^2 with L >= norm(A(atom)), the bound of the additive algorithms."""
    if facts.margin is None or facts.atom_norm is None or facts.margin <= 0.0:
        return Bound(None, theorem, "no positive margin is known")
    return squared(facts.atom_norm / facts.margin, theorem)


def squared_accuracy(facts: Facts, epsilon: float, theorem: str) -> Bound:
    """Return (L / epsilon)^2, their bound for weights with norm(A w) <= epsilon."""
    if facts.atom_norm is None or epsilon <= 0.0:
        return Bound(None, theorem, "no bound of the cuts' norms, or no epsilon, is known")
    found = squared(facts.atom_norm / epsilon, theorem)
    return found if found.value is None else Bound(math.ceil(found.value), theorem)


def squared(ratio: float, theorem: str) -> Bound:
    """Return ratio^2 as a bound, or None beyond the range of doubles."""
    value = ratio * ratio
    if not math.isfinite(value):
        return Bound(None, theorem, BEYOND)
    return Bound(value, theorem)


def least(*bounds: Bound) -> Bound:
    """Return the least of several bounds of the same thing; the first one where none has a value.

    Bounds in terms of a negative margin come after those in terms of epsilon alone.
    """
    valued = [bound for bound in bounds if bound.value is not None]
    return min(valued, key=lambda bound: bound.value or 0.0, default=bounds[0])


@dataclass(kw_only=True)
class DeepestState(State):
    """A state whose deepest constraint is kept from a claim to the update after it."""

    deepest: Deepest | None = None

    def look(self, system: ConicSystem) -> Deepest:
        """Return the deepest constraint at the point; one query per update."""
        if self.deepest is None:
            self.deepest = system.deepest(self.point)
        return self.deepest


def mix(state: DeepestState, cut: Cut, theta: float) -> None:
    """Move point and weights towards a cut: y <- (1 - theta) y + theta A(atom), p likewise."""
    assert state.weights is not None
    state.point *= 1.0 - theta
    state.point += theta * cut.normal
    state.weights *= 1.0 - theta
    state.weights[cut.atom.span] += theta * cut.atom.values
    state.deepest = None
    state.updates += 1
    state.iterations += 1
