"""The perceptron that goes round the rows in a compiled loop (`Kharechko2009`, section 2.4)."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from perceptron_lab.algorithms.base import Systems, lengthened, squared_ratio
from perceptron_lab.algorithms.sweeping import Sweeping, SweptState
from perceptron_lab.core.facts import Facts
from perceptron_lab.core.refusals import parameter_record
from perceptron_lab.core.results import Bound
from perceptron_lab.numerics.compiled.cyclic_sweeps import perceptron_sweep
from perceptron_lab.systems import ConicSystem, Cut


@parameter_record
class CyclicPerceptron(Sweeping[SweptState]):
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
    for_sparse: ClassVar[str] = "take perceptron with the cyclic oracle for sparse ones"

    def start(self, system: ConicSystem, rng: np.random.Generator) -> SweptState:
        """Return the state at x = 0, with a copy of the rows."""
        rows = self.swept(system)
        return SweptState(np.zeros(rows.shape[1]), weights=np.zeros(len(rows)), rows=rows)

    def sweep(self, state: SweptState, most: int, checks: int) -> tuple[int, int]:
        """Add the rows with a'x <= 0."""
        updates, seen, state.row, state.quiet = perceptron_sweep(
            *state.arrays, state.row, most, state.quiet, checks
        )
        return updates, seen

    def add(self, state: SweptState, cut: Cut) -> None:
        """Add the normal of a cut."""
        state.point += cut.normal
        state.weigh(cut.atom, cut.atom.values)

    def bound(self, facts: Facts) -> Bound:
        """Return 1 / rho^2, or (L / rho)^2."""
        return squared_ratio(facts, "Theorem 2.7 (Novikoff) of Kharechko2009")

    def bound_from(self, facts: Facts, length: float) -> Bound:
        """Return that and 2 N / rho for a start of norm N."""
        return lengthened(self.bound(facts), length, facts.margin)
