"""Which weights of a soft separation problem are free, in rounds of constraint generation.

Weights are between 0 and a cap. At an optimum most are at one of the two: 0 where an example keeps
its constraint, the cap where it has slack; in dimension n - 1, n (n + 1) / 2 at most have to be in
between. A round fixes those that the last round has decided, and frees some that its solution
contradicts. What is feasible with fixed weights is feasible without, so that every round bounds the
optimum; when no fixed weight is contradicted, it is attained.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from perceptron_lab.results import FloatArray, IntArray

FEW = 1000
"""Up to so many weights are all free."""
ROUNDS = 100
"""Rounds at most."""
FIXING = 20
"""Rounds in which weights are fixed again; later ones only free some, and so come to an end."""
DECIDED = 1e-6
"""A weight nearer to 0 or to its cap, relative to the cap, is decided."""


@dataclass
class Working:
    """Free weights, and those fixed at their caps; all others are fixed at 0."""

    free: npt.NDArray[np.bool_]  # shape (m,) each, disjoint
    capped: npt.NDArray[np.bool_]
    # the numbers of the examples of each class: what is freed is counted by class
    parts: Sequence[IntArray]
    count: int  # how many of each class are free at first, and are freed in a round

    @classmethod
    def around(cls, excess: FloatArray, parts: Sequence[IntArray], count: int) -> Self:
        """Return a first guess: weights are at their caps where the excess is positive.

        Parameters
        ----------
        excess
            By how much each example violates its constraint, shape ``(m,)``; those of the least
            magnitude are free.
        parts, count
            See the class.
        """
        if len(excess) <= max(FEW, 4 * count):
            every = np.ones(len(excess), dtype=np.bool_)
            return cls(every, ~every, parts, count)
        free = np.zeros(len(excess), dtype=np.bool_)
        free[_largest(-np.abs(excess), parts, count)] = True
        return cls(free, (excess > 0.0) & ~free, parts, count)

    def revise(self, excess: FloatArray, shares: FloatArray, room: float, *, fix: bool) -> int:
        """Fix what is decided, and free what is contradicted most; return how many are freed.

        Parameters
        ----------
        excess
            Of the solution of this round.
        shares
            Its weights relative to their caps.
        room
            Fixed weights are contradicted by an excess of the wrong sign beyond this.
        fix
            Whether anything is fixed; never those nearest to their constraints.
        """
        contradiction = np.where(self.capped, -excess, excess)
        contradiction[self.free | (contradiction <= room)] = -np.inf
        added = _largest(contradiction, self.parts, self.count)
        added = added[contradiction[added] > room]
        if fix:
            near = np.zeros(len(excess), dtype=np.bool_)
            distance = np.where(self.free, np.abs(excess), np.inf)
            near[_largest(-distance, self.parts, self.count)] = True
            low = self.free & ~near & (shares <= DECIDED) & (excess < 0.0)
            high = self.free & ~near & (shares >= 1.0 - DECIDED) & (excess > 0.0)
            self.free &= ~(low | high)
            self.capped |= high
        self.free[added] = True
        self.capped[added] = False
        return len(added)


def _largest(values: FloatArray, parts: Sequence[IntArray], count: int) -> IntArray:
    """Return the numbers of the largest values of each part."""
    chosen = [part[np.argsort(-values[part], kind="stable")[:count]] for part in parts]
    return np.concatenate(chosen)
