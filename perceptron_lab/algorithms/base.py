"""The interface of an algorithm: create a state, advance it, return an update bound."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np

from perceptron_lab.cones.base import Atom, Oracles
from perceptron_lab.core.claims import Claim, FeasiblePoint, MarginBelow
from perceptron_lab.core.facts import Facts
from perceptron_lab.core.findings import NOTHING, Finding
from perceptron_lab.core.results import Bound, FloatArray, Guarantee
from perceptron_lab.numerics.compiled.kernel import Functions
from perceptron_lab.systems import ConicSystem, Cut

BEYOND = "the bound is beyond the range of doubles"
NO_MARGIN = "no positive margin is known"
NO_NORM = "no bound of the cuts' norms is known"
OWN_START = "the theorem is for the algorithm's own starting point"
ROUNDING = 1e-13  # Rounding error of a vanishing combination, relative to the norms of the cuts


@dataclass
class State:
    """The fields that the state of every algorithm has; subclasses add their own arrays.

    Examples
    --------
    >>> import numpy as np
    >>> State(np.zeros(2)).updates
    0
    """

    point: FloatArray  # Shape (dimension,)
    updates: int = 0  # How often it has changed
    iterations: int = 0  # Turns of a method that is not mistake-driven
    phase: str = ""  # A label that changes when the method enters a new phase
    weights: FloatArray | None = None  # In the dual cone, of the point, shape (size,)
    claimed: int = -1  # The update at which the point was claimed last: not again before the next
    ending: str = ""  # Why the algorithm has come to its end, once it has
    notes: list[str] = field(default_factory=list)  # Sentences for the certificate
    remark: str = ""  # A sentence for the message, such as the version of a program that was run
    finding: Finding = NOTHING  # Facts for the result, which are worded where there is no remark
    figures: dict[str, float] = field(default_factory=dict)  # Of the answer; claims.UNPROVED

    @property
    def closing_remark(self) -> str:
        """The remark of the algorithm for the result's message, or the sentence of its finding."""
        return self.remark or self.finding.sentence

    def weigh(self, atom: Atom, values: FloatArray) -> None:
        """Add a multiple of an atom to the weights."""
        assert self.weights is not None
        self.weights[atom.span] += values


S = TypeVar("S", bound=State)

Step = tuple[S, Claim | None]  # A state after some updates, and the claim that ends them

# What holds -> the kinds of systems on which it does, with spaces between them
Systems = Mapping[str, str]
# On every cone, and on kernels in coordinates; by name, these are read as literals are
RUNS_ON_ALL: Systems = {
    "runs": "rows second-order semidefinite product",
    "coordinates: runs": "kernel",
}
BOUNDED_ON_ALL: Systems = {
    "theorem": "rows second-order semidefinite product",
    "coordinates: theorem": "kernel",
}


class Algorithm(ABC, Generic[S]):
    """A frozen record of parameters with ``start``, ``step`` and ``bound``; the rest has defaults.

    Attributes
    ----------
    systems
        The kinds of systems on which it runs with its default parameters. The keys are
        ``theorem`` (its bound applies), ``runs`` (without a bound), or one of these after
        ``coordinates:`` (a Gram system is first given the coordinates of its pivoted Cholesky
        factor). The values are words of ``rows kernel second-order semidefinite product``. A
        literal, or a name of this module: ``plab list algorithms`` reads it without loading the
        algorithm. None (default) declares nothing.
    guarantee
        The formula and theorem of ``bound``, for ``plab show`` and the pages.
    uses_oracle
        Whether it asks separation oracles (default), or looks at all constraints itself.
    takes_start
        Whether a starting point can be given (default). Where it cannot, the point belongs to
        weights, or to a space of the algorithm's own, which a point alone does not tell.
    eliminates_implied
        Whether rows that can only hold as equations, with cones, are eliminated first (default no).
    epsilon
        The norm(A w) that its certificate bound is for; 0 (default) for none.

    Examples
    --------
    >>> from perceptron_lab.algorithms.perceptrons.perceptron import Perceptron
    >>> algorithm = Perceptron()
    >>> isinstance(algorithm, Algorithm), algorithm.guarantee.formula
    (True, '1 / rho^2')
    """

    systems: ClassVar[Systems | None] = None
    guarantee: ClassVar[Guarantee] = Guarantee("", note="none is stated")
    uses_oracle: ClassVar[bool] = True
    takes_start: ClassVar[bool] = True
    eliminates_implied: ClassVar[bool] = False
    epsilon: float = 0.0

    @property
    def online(self) -> bool:
        """Whether the algorithm uses nothing of a system but violated constraints at its points.

        That is an online learning algorithm in the sense of `Kharechko2009`, Definition 2.2.
        """
        return False

    def view(self, system: ConicSystem) -> ConicSystem:
        """Return the system on which to run; answers are proved on the original data."""
        return system.formed()

    def compiled(self, system: ConicSystem, oracles: Oracles) -> Functions:
        """Return the compiled functions that it calls, to be loaded before a clock starts.

        Those of the oracles it asks, by default; further ones are loaded when they are called.
        """
        return system.cone.compiled(oracles) if self.uses_oracle else ()

    @abstractmethod
    def start(self, system: ConicSystem, rng: np.random.Generator) -> S:
        """Return the state before the first update.

        Raises
        ------
        InputError
            If the algorithm does not run on this system.
        """

    def start_at(self, system: ConicSystem, rng: np.random.Generator, point: FloatArray) -> S:
        """Return the state before the first update, at a given point other than 0.

        The state is the usual one with this point as the first point; algorithms for which the
        length of a point is irrelevant use only its direction.
        """
        state = self.start(system, rng)
        state.point[:] = point
        return state

    @abstractmethod
    def step(self, system: ConicSystem, state: S, most: int) -> Step[S]:
        """Make at most ``most`` >= 1 updates, in place; return early on a claim or a new phase.

        A step makes progress: it updates, claims or enters a new phase.

        Raises
        ------
        NumericalError
            If the algorithm's own quantities leave the range in which the step is defined.
        """

    @abstractmethod
    def bound(self, facts: Facts) -> Bound:
        """Return the guarantee on the number of updates for these facts."""

    def bound_from(self, facts: Facts, length: float) -> Bound:
        """Return the guarantee on the number of updates from a given point of norm ``length``."""
        return Bound(None, self.bound(facts).theorem, OWN_START)

    def certificate_bound(self, facts: Facts, epsilon: float) -> Bound:
        """Return the guarantee for norm(A w) <= epsilon, where no point is feasible."""
        return self.bound(facts)


AnyAlgorithm = Algorithm[Any]  # An algorithm, whatever its state


class InCoordinates(Algorithm[S]):
    """An algorithm that needs coordinates: Gram systems are converted to an orthonormal basis."""

    def view(self, system: ConicSystem) -> ConicSystem:
        """Return the system in coordinates: kernels by the factor of their Gram matrix."""
        return system.in_coordinates()


class SeesAll(Algorithm[S]):
    """An algorithm that evaluates all constraints itself and defines its starting point."""

    uses_oracle: ClassVar[bool] = False
    takes_start: ClassVar[bool] = False
    # Whether it refuses matrix blocks too large for all their eigenvalues and entries
    needs_all_entries: ClassVar[bool] = True
    # Whether it measures or transforms the space: Gram systems are given coordinates
    measures: ClassVar[bool] = False

    def view(self, system: ConicSystem) -> ConicSystem:
        """Return the system with whole matrices, so that weights can be proved and projected."""
        plain = system.in_coordinates() if self.measures else system
        return plain.completed(required=self.needs_all_entries)


class MistakeDriven(Algorithm[S]):
    """An online learning algorithm: one update for each violated constraint at its point."""

    online: ClassVar[bool] = True

    def step(self, system: ConicSystem, state: S, most: int) -> Step[S]:
        """Make up to ``most`` updates; claim the point feasible when no cut is left."""
        for _ in range(most):
            cut = cut_or_claim(system, state.point)
            if not isinstance(cut, Cut):
                return state, cut
            self.update(state, cut)
            state.updates += 1
        return state, None

    @abstractmethod
    def update(self, state: S, cut: Cut) -> None:
        """Make one update by a cut, in place."""


def cut_or_claim(system: ConicSystem, point: FloatArray) -> Cut | Claim:
    """Return a violated constraint with a nonzero normal, or the claim that follows without one.

    Examples
    --------
    >>> import numpy as np
    >>> from perceptron_lab import ConicSystem
    >>> system = ConicSystem.from_rows([[1.0, 2.0], [3.0, -1.0]])
    >>> cut_or_claim(system, np.array([1.0, -1.0])).atom.span  # the violated row
    slice(0, 1, None)
    >>> cut_or_claim(system, np.array([1.0, 0.5]))
    FeasiblePoint(point=array([1. , 0.5]))
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


def claim_bound(system: ConicSystem, weights: FloatArray | None, epsilon: float) -> MarginBelow:
    """Return the claim that weights bound the margin by the run's target, or by epsilon."""
    assert weights is not None
    return MarginBelow(weights.copy(), system.worth(epsilon))


def claim_of(
    system: ConicSystem,
    state: State,
    score: float,
    scores: FloatArray,
    image: float,
    epsilon: float,
) -> Claim | None:
    """Return the claim that a point with weights allows: a separator, a bound, or None.

    ``scores`` are A*point, ``score`` their lowest eigenvalue, ``image`` is norm(A w) / <e, w>. A
    bound is claimed from epsilon on, or from the run's own target.
    """
    if state.claimed == state.updates:
        return None
    claim: Claim | None = None
    if system.inside(score, scores):
        claim = FeasiblePoint(state.point.copy())
    elif image <= system.worth(epsilon) and state.weights is not None:
        claim = claim_bound(system, state.weights, epsilon)
    state.claimed = state.updates if claim is not None else state.claimed
    return claim


def finite(value: float, theorem: str) -> Bound:
    """Return a bound, with the value None if it exceeds the range of doubles."""
    return Bound(value, theorem) if math.isfinite(value) else Bound(None, theorem, BEYOND)


def squared_ratio(facts: Facts, theorem: str) -> Bound:
    """Return (L / rho)^2 with L >= norm(A(atom)), the bound of the additive algorithms."""
    return squared(facts.atom_norm, facts.margin, theorem)


def squared_accuracy(facts: Facts, epsilon: float, theorem: str) -> Bound:
    """Return (L / epsilon)^2, the bound of additive algorithms for norm(A w) <= epsilon."""
    if facts.atom_norm is None or epsilon <= 0.0:
        return Bound(None, theorem, "no bound of the cuts' norms, or no epsilon, is known")
    bound = squared(facts.atom_norm, epsilon, theorem)
    return bound if bound.value is None else Bound(math.ceil(bound.value), theorem)


def squared(size: float | None, margin: float | None, theorem: str) -> Bound:
    """Return (size / margin)^2; None without a positive margin, or beyond the range of doubles."""
    if size is None or margin is None or margin <= 0.0:
        return Bound(None, theorem, NO_MARGIN)
    ratio = size / margin
    return finite(ratio * ratio, theorem)


def lengthened(
    bound: Bound, length: float, margin: float | None, along: float | None = None
) -> Bound:
    """Return the bound of an additive algorithm from a start; 2 N / rho more updates at worst.

    From x_0 with norm(x_0) = N, k updates by cuts of norm L or less, each with <a, x> <= b, lead to
    norm(x)^2 <= N^2 + k (L^2 + 2 b), and to <x, z> >= p + k rho for the z of margin rho and
    p = <x_0, z>. Hence (p + k rho)^2 <= N^2 + k (L^2 + 2 b) as soon as k rho > -p, and k is at most
    the larger root h + sqrt(h^2 + (N^2 - p^2) / rho^2), h = (L^2 + 2 b) / (2 rho^2) - p / rho. It
    is largest for p = -N: (L^2 + 2 b) / rho^2 + 2 N / rho.

    Parameters
    ----------
    bound
        (L^2 + 2 b) / rho^2, the bound from 0.
    length
        N >= 0.
    margin
        rho > 0, or None if it is not known.
    along
        p, from -N to N; None if it is not known, for -N.
    """
    if bound.value is None or not margin:
        return bound
    theorem = f"{bound.theorem}, from a given start"
    if along is None:
        return Bound(bound.value + 2.0 * length / margin, theorem)
    half = bound.value / 2.0 - along / margin
    across = math.sqrt(max(0.0, (length - along) * (length + along))) / margin
    return Bound(half + math.hypot(half, across), theorem)


def least(*bounds: Bound) -> Bound:
    """Return the smallest of several bounds; the first one if none of them has a value.

    Bounds in terms of a negative margin come after those in terms of epsilon alone.
    """
    valued = [bound for bound in bounds if bound.value is not None]
    return min(valued, key=lambda bound: bound.value or 0.0, default=bounds[0])
