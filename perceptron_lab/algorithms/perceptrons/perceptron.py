"""The perceptron, normalised and classical (`Kharechko2009`, section 2.4)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from perceptron_lab.algorithms.base import (
    Algorithm,
    State,
    Step,
    Systems,
    cut_or_claim,
    lengthened,
    squared,
    squared_ratio,
)
from perceptron_lab.algorithms.sweeping import Sweeping, SweptState
from perceptron_lab.cones.spectral import barycentre
from perceptron_lab.core.facts import Facts
from perceptron_lab.core.refusals import parameter_record
from perceptron_lab.core.results import Bound, FloatArray, Guarantee
from perceptron_lab.numerics.compiled.cyclic_sweeps import perceptron_sweep, screened_sweep
from perceptron_lab.systems import ConicSystem, Cut


@parameter_record
class Perceptron(Algorithm[State]):
    """The perceptron algorithm: while a cut a with a'x <= 0 exists, add it to x.

    A cut is a violated constraint, for rows a violated row. The algorithm has two forms:

    - normalised (default, Algorithm 1): x <- x + a / norm(a). It makes at most 1 / rho^2 updates,
      where rho is the margin of the unit cuts (Theorem 2.7, Novikoff).
    - classical: x <- x + a with the data as given. It makes at most R^2 / rho^2 updates, where R is
      the largest norm(a) and rho the margin of the cuts as given.

    Both bounds are tight on orthonormal rows.

    The multiples of the cuts in x are weights w, and norm(A w) / <e, w> is an upper bound of the
    margin.

    With ``initial: barycentre`` the first point is x_0 = A e / rank, for the barycentre e / rank of
    the base of the dual cone. It satisfies <x_0, z> >= 0 for every feasible z. With c = norm(x_0),
    Novikoff's inequality for T updates is rho T <= sqrt(T + c^2), hence
    T <= (1 + sqrt(1 + 4 rho^2 c^2)) / (2 rho^2). With the cuts as given,
    T <= (R^2 + sqrt(R^4 + 4 rho^2 c^2)) / (2 rho^2).

    A given start of norm N may have <x_0, z> < 0 and adds 2 N / rho updates to the bound: a shorter
    start is abandoned sooner.

    Parameters
    ----------
    normalized
        Whether cuts are divided by their norms (default true).
    initial
        The first point: ``zero`` (default, Algorithm 1), or ``barycentre``, where von Neumann's
        algorithm begins.

    References
    ----------
    `Kharechko2009`, Algorithm 1, Theorem 2.7.
    """

    systems: ClassVar[Systems] = {"theorem": "rows kernel second-order semidefinite product"}
    guarantee: ClassVar[Guarantee] = Guarantee(
        "1 / rho^2",
        "Theorem 2.7 (Novikoff)",
        "Kharechko2009",
        note="for normalized cuts; R^2 / rho^2 for cuts as given, with R their largest norm",
    )

    normalized: bool = True
    initial: Literal["zero", "barycentre"] = "zero"

    @property
    def online(self) -> bool:
        """Whether the perceptron starts at 0 and hence uses only cuts."""
        return self.initial == "zero"

    def start(self, system: ConicSystem, rng: np.random.Generator) -> State:
        """Return the state at x = 0, or at x = A e / rank with the weights e / rank."""
        if self.initial == "zero":
            return State(np.zeros(system.dimension), weights=np.zeros(system.cone.size))
        weights = barycentre(system.cone)
        return State(system.combine(weights), weights=weights)

    def start_at(self, system: ConicSystem, rng: np.random.Generator, point: FloatArray) -> State:
        """Return the state at a point, without weights."""
        return State(point.copy(), weights=np.zeros(system.cone.size))

    def step(self, system: ConicSystem, state: State, most: int) -> Step[State]:
        """Make up to ``most`` updates; claim x feasible when no cut is left."""
        view = system if self.normalized else system.unnormalised()
        for _ in range(most):
            cut = cut_or_claim(view, state.point)
            if not isinstance(cut, Cut):
                return state, cut
            length = cut.norm if self.normalized else 1.0
            state.point += cut.normal / length
            # A raw row is norm(a) times the unit row to which weights of the system belong.
            unit = cut.norm if view is not system else 1.0
            state.weigh(cut.atom, cut.atom.values * (unit / length))
            state.updates += 1
        return state, None

    def bound(self, facts: Facts) -> Bound:
        """Return 1 / rho^2 or R^2 / rho^2, and what the first point adds to it."""
        size, margin = self._scale(facts)
        bound = squared(size, margin, self.guarantee.source)
        if self.initial == "zero" or bound.value is None or size is None or margin is None:
            return bound
        if facts.start_norm is None:
            return Bound(None, self.guarantee.source, "the norm of the first point is not known")
        # The larger root of rho^2 T^2 = R^2 T + c^2, see the class
        excess = math.sqrt(1.0 + 4.0 * (margin * facts.start_norm / size**2) ** 2)
        return Bound(bound.value * (1.0 + excess) / 2.0, self.guarantee.source)

    def bound_from(self, facts: Facts, length: float) -> Bound:
        """Return 1 / rho^2 + 2 N / rho or R^2 / rho^2 + 2 N / rho for a start of norm N."""
        size, margin = self._scale(facts)
        return lengthened(squared(size, margin, self.guarantee.source), length, margin)

    def _scale(self, facts: Facts) -> tuple[float | None, float | None]:
        """Return R and rho of the cuts as they are added."""
        return (1.0, facts.unit_margin) if self.normalized else (facts.norm, facts.raw_margin)


# Updates before rows are screened, rows that may be, and entries of their inner products
MANY, MOST_ROWS, PRODUCTS = 512, 4096, 2**22


@dataclass(kw_only=True)
class ScreenedState(SweptState):
    """The rows that were looked at, and what :func:`screened_sweep` needs to skip some."""

    examined: int = 0
    screen: tuple[Any, ...] | None = None

    @property
    def worth_screening(self) -> bool:
        """Whether the scores of all rows take less time to update than to compute by turns."""
        size, dimension = self.rows.shape
        looks = self.examined * dimension > 2 * self.updates * size
        return self.updates >= MANY and size <= MOST_ROWS and looks

    def start_screening(self) -> None:
        """Write the rows in single precision, and the inner products with those added again."""
        size = len(self.rows)
        assert self.weights is not None
        longest = float(np.linalg.norm(self.rows, axis=1).max()) * (1.0 + 1e-9)
        if float(np.linalg.norm(self.point)) < 1e30 * longest:
            screen = (self.rows / longest).astype(np.float32)
            products = np.empty((min(size, PRODUCTS // size), size), np.float32)
            again = np.flatnonzero(self.weights > 1.0)[: len(products)]
            np.matmul(screen[again], screen.T, out=products[: len(again)])
            slots = np.append(np.full(size, -1), len(again))
            slots[again] = np.arange(len(again))
            self.screen = screen, longest, products, slots


@parameter_record
class CyclicPerceptron(Sweeping[ScreenedState]):
    """The perceptron with the rows in cyclic order: x <- x + a whenever a'x <= 0.

    The rows have norm 1, so that at most 1 / rho^2 updates are made (Novikoff; (L / rho)^2 with
    L >= norm(a) on rows of other lengths). It is ``perceptron`` with the ``cyclic`` oracle, but for
    a product with all rows at every question: a row is looked at, one dot product, and x may change
    before the next. The loop is compiled, and reads a copy of the rows.

    A query is counted per update, and a product per m rows looked at. When a whole round has passed
    without an update, the scores are computed once more and the point is claimed.

    The multiples of the rows in x are weights w: norm(A w) / <e, w> bounds the margin from above.

    References
    ----------
    `Kharechko2009`, Algorithm 1, Theorem 2.7.
    """

    systems: ClassVar[Systems] = {"theorem": "rows", "coordinates: theorem": "kernel"}
    guarantee: ClassVar[Guarantee] = Guarantee(
        "(L / rho)^2", "Theorem 2.7 (Novikoff)", "Kharechko2009"
    )
    compiled_sweep: ClassVar = (perceptron_sweep, screened_sweep)
    for_sparse: ClassVar[str] = "take perceptron with the cyclic oracle for sparse ones"

    def start(self, system: ConicSystem, rng: np.random.Generator) -> ScreenedState:
        """Return the state at x = 0, with a copy of the rows."""
        rows = self.swept(system)
        return ScreenedState(np.zeros(rows.shape[1]), weights=np.zeros(len(rows)), rows=rows)

    def sweep(self, state: ScreenedState, most: int, checks: int) -> tuple[int, int]:
        """Add the rows with a'x <= 0."""
        if state.screen is None and state.worth_screening:
            state.start_screening()
        limits = state.row, most, state.quiet, checks
        if state.screen is None:
            swept = perceptron_sweep(*state.arrays, *limits)
        else:
            arguments: tuple[Any, ...] = (*state.arrays, *state.screen, *limits)
            swept = screened_sweep(*arguments)
        updates, examined, state.row, state.quiet = swept
        state.examined += examined
        return updates, examined

    def add(self, state: ScreenedState, cut: Cut) -> None:
        """Add the normal of a cut."""
        state.point += cut.normal
        state.weigh(cut.atom, cut.atom.values)

    def bound(self, facts: Facts) -> Bound:
        """Return 1 / rho^2, or (L / rho)^2."""
        return squared_ratio(facts, self.guarantee.source)

    def bound_from(self, facts: Facts, length: float) -> Bound:
        """Return the bound plus 2 N / rho for a start of norm N."""
        return lengthened(self.bound(facts), length, facts.margin)
