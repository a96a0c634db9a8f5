"""Bundle-mirror: the truncated memory level method of Ben-Tal and Nemirovski on a conic system."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
from pydantic import Field

from perceptron_lab.algorithms.base import (
    BOUNDED_ON_ALL,
    ROUNDING,
    Algorithm,
    State,
    Step,
    Systems,
    cut_or_claim,
    squared_accuracy,
    squared_ratio,
)
from perceptron_lab.core.claims import MarginBelow
from perceptron_lab.core.errors import NumericalError
from perceptron_lab.core.facts import Facts
from perceptron_lab.core.refusals import Positive, parameter_record
from perceptron_lab.core.results import Bound, FloatArray, Guarantee
from perceptron_lab.systems import ConicSystem, Cut

# The level is this share of the upper bound U; a phase ends when U is at most so many levels
LEVEL, ENDING = 0.5, 1.5
# Updates until a point is feasible, in units of (L / rho)^2
FACTOR = 1600.0 / 63.0


@dataclass(kw_only=True)
class BundleState(State):
    """The bundle of hull points, their weights, the centre of the phase, its level and U."""

    points: FloatArray  # b_j = A w_j, shape (k, dimension)
    combinations: FloatArray  # w_j in Delta(K), shape (k, size)
    centre: FloatArray  # c, norm(c) <= 1
    level: float = 0.0  # l
    upper: float = np.inf  # U = norm(A weights) >= the margin

    def add(self, cut: Cut, memory: int) -> None:
        """Add a cut at the point to the bundle, and lower U to the bundle's own bound."""
        # Longer only where a claim was rejected, and the point has not moved
        self.points, self.combinations = self.points[1 - memory :], self.combinations[1 - memory :]
        single = np.zeros((1, self.combinations.shape[1]))
        single[0, cut.atom.span] = cut.atom.values
        self.points = np.vstack([self.points, cut.normal])
        self.combinations = np.vstack([self.combinations, single])
        shares = _multipliers(self.points, np.ones(len(self.points)))
        shares /= shares.sum()
        bound = float(np.linalg.norm(shares @ self.points))
        if bound < self.upper:
            self.upper, self.weights = bound, shares @ self.combinations
        if bound <= ENDING * self.level or not self.level:
            self.begin_phase()

    def begin_phase(self) -> None:
        """Take the point, shortened to norm 1 at most, as centre, and set the level."""
        self.centre = self.point / max(1.0, float(np.linalg.norm(self.point)))
        self.level = LEVEL * self.upper

    def project(self, memory: int) -> None:
        """Move to the nearest point to the centre that reaches the level on the whole bundle."""
        multipliers = least_distance(self.points, self.level - self.points @ self.centre)
        self.point = self.centre + multipliers @ self.points
        if len(self.points) < memory:
            return
        shares = multipliers / multipliers.sum()
        # The projection onto the aggregate's half-space is the same point
        self.points[1] = shares @ self.points
        self.combinations[1] = shares @ self.combinations
        self.points, self.combinations = self.points[1:], self.combinations[1:]


@parameter_record
class BundleMirror(Algorithm[BundleState]):
    """Bundle-mirror: projections of a centre onto level sets of a bundle of bounded size.

    The margin f(y) = min over w in Delta(K) of <A w, y> is maximised over norm(y) <= 1 by the
    truncated memory level method of Ben-Tal and Nemirovski, in the Euclidean setup. The bundle has
    hull points b_j = A w_j, for each of which f(y) <= b_j'y. Its point of least norm proves the
    upper bound U = norm(A w). A phase has a centre c and the level l = U / 2. An update asks for a
    violated constraint at the point, adds its cut to the bundle, and moves to

        y = argmin norm(y - c)   with   b_j'y >= l   for all j,

    the sum y = c + sum_j lambda_j b_j. If the bundle is full, its two oldest points are replaced by
    sum_j lambda_j b_j / sum_j lambda_j. When the bundle's bound is at most 3 l / 2, a new phase
    starts with the point, shortened to norm 1 at most, as its centre.

    Guarantee: a new cut has <a, y> <= 0, and its level set has a'y >= l, so y moves by l / L or
    more, L >= norm(A(atom)). The old y is the projection of c onto a half-space that contains the
    new level set: norm(y - c)^2 grows by (l / L)^2 or more. The bundle's point z of least norm
    gives l z / norm(z)^2 in the level set, of norm at most 2/3, and norm(y - c) <= 5/3: a phase has
    at most (25/9) (L / l)^2 = (100/9) (L / U)^2 updates. U falls to 3 U / 4 or less in each phase
    and is at least rho, so that the sum over the phases is at most (1600/63) (L / rho)^2.

    Parameters
    ----------
    memory
        The largest number of points in the bundle, 2 or more (default 20).
    epsilon
        U <= epsilon is claimed as a bound of the margin; > 0 (default 1e-6).

    References
    ----------
    A. Ben-Tal and A. Nemirovski, Non-Euclidean restricted memory level method for large-scale
    convex optimization, Mathematical Programming 102 (2005) 407-456; `Kharechko2009`, chapter 9.
    """

    systems: ClassVar[Systems] = BOUNDED_ON_ALL
    guarantee: ClassVar[Guarantee] = Guarantee(
        "(1600/63) (L / rho)^2",
        "ours, by the phases of Ben-Tal and Nemirovski (2005)",
    )
    takes_start: ClassVar[bool] = False

    memory: Annotated[int, Field(ge=2, le=1000)] = 20
    epsilon: Positive = 1e-6

    def view(self, system: ConicSystem) -> ConicSystem:
        """Return the system in coordinates, with whole matrices so that weights can be proved."""
        return system.in_coordinates().completed(required=False)

    def start(self, system: ConicSystem, rng: np.random.Generator) -> BundleState:
        """Return the state at 0, with an empty bundle."""
        origin = np.zeros(system.dimension)
        size = system.cone.size
        empty = np.empty((0, system.dimension)), np.empty((0, size))
        return BundleState(
            origin,
            weights=np.zeros(size),
            points=empty[0],
            combinations=empty[1],
            centre=origin.copy(),
        )

    def step(self, system: ConicSystem, state: BundleState, most: int) -> Step[BundleState]:
        """Make up to ``most`` updates; claim a feasible point, or weights that bound the margin."""
        for _ in range(most):
            cut = cut_or_claim(system, state.point)
            if not isinstance(cut, Cut):
                return state, cut
            state.add(cut, self.memory)
            state.updates += 1
            least = max(system.worth(self.epsilon), ROUNDING * system.atom_norm())
            if state.upper <= least:
                assert state.weights is not None
                return state, MarginBelow(state.weights.copy(), least)
            state.project(self.memory)
        return state, None

    def bound(self, facts: Facts) -> Bound:
        """Return (1600/63) (L / rho)^2."""
        return _multiple(squared_ratio(facts, self.guarantee.source))

    def certificate_bound(self, facts: Facts, epsilon: float) -> Bound:
        """Return (1600/63) (L / epsilon)^2 + 1, as U > epsilon before the last cut."""
        return _multiple(squared_accuracy(facts, epsilon, self.guarantee.source), 1.0)


def _multiple(bound: Bound, more: float = 0.0) -> Bound:
    return bound if bound.value is None else Bound(FACTOR * bound.value + more, bound.theorem)


def least_distance(rows: FloatArray, required: FloatArray) -> FloatArray:
    """Return multipliers lambda >= 0 of the shortest u = sum_j lambda_j b_j with b_j'u >= r_j.

    By non-negative least squares (Lawson and Hanson 1974, chapter 23).

    Parameters
    ----------
    rows, required
        b_j, shape ``(k, dimension)``, and r_j, shape ``(k,)``; some r_j > 0.

    Raises
    ------
    NumericalError
        If no such u exists, to rounding.

    Examples
    --------
    >>> least_distance(np.array([[2.0, 0.0], [0.0, 1.0]]), np.array([1.0, -1.0]))
    array([0.25, 0.  ])
    """
    multipliers = _multipliers(rows, required)
    total = 1.0 - float(required @ multipliers)
    if total <= 0.0:
        raise NumericalError("the bundle's level set is empty to rounding")
    return np.asarray(multipliers / total)


def _multipliers(rows: FloatArray, required: FloatArray) -> FloatArray:
    """Return lambda >= 0 of least norm(sum_j lambda_j b_j)^2 + (1 - sum_j lambda_j r_j)^2.

    With all r_j = 1 it is a multiple of the shares of the hull's point of least norm.
    """
    # Imported here: a first small solve does without scipy.optimize
    from scipy.optimize import nnls

    target = np.zeros(rows.shape[1] + 1)
    target[-1] = 1.0
    try:
        return np.asarray(nnls(np.vstack([rows.T, required]), target, maxiter=100 * len(rows))[0])
    except RuntimeError as error:
        raise NumericalError("the projection onto the bundle's level set failed") from error
