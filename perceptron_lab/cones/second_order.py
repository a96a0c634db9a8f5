"""The second-order cone: two eigenvalues per block."""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np

from perceptron_lab.cones.base import Atom, Cone, Oracles
from perceptron_lab.core.results import FloatArray


class SecondOrder(Cone):
    """{(u, t): norm(u) <= t}, t the last coordinate; e = (0, .., 0, 1), atoms (u, 1), norm(u) = 1.

    The eigenvalues of (u, t) are t - norm(u) and t + norm(u), with the frame u / norm(u); weights
    with eigenvalues p are p_1 (-u, 1) + p_2 (u, 1), so that <e, w> = p_1 + p_2. The deepest atom is
    known in closed form, so that there is no oracle to choose. ``size`` is at least 2.
    """

    def __init__(self, size: int) -> None:
        self.size, self.rank = size, 2
        self.identity = np.zeros(size)
        self.identity[-1] = 1.0
        self.multiplicity = np.full(size, 2.0)
        self.oracles: dict[str, Any] = {}

    def separate(self, scores: FloatArray, slack: float = 0.0) -> Atom | None:
        """Return the deepest atom, if the scores lie too low."""
        atom, value = self.deepest(scores)
        # At slack > 0 the cone is closed, else open, as the contract of ``separate`` states.
        passes = value + slack >= 0.0 if slack > 0 else value + slack > 0.0
        return None if passes else atom

    def deepest(self, scores: FloatArray) -> tuple[Atom, float]:
        """Return (-u / norm(u), 1), and t - norm(u)."""
        values, direction = self.spectrum(scores)
        return Atom(slice(0, self.size), np.append(-direction, 1.0)), float(values[0])

    def eigenvalues(self, scores: FloatArray) -> FloatArray:
        """Return t - norm(u) and t + norm(u)."""
        return self.spectrum(scores)[0]

    def spectrum(self, scores: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the eigenvalues, ascending, and the unit direction u / norm(u) (e_1 for u = 0)."""
        vector, last = scores[:-1], scores[-1]
        largest = float(np.abs(vector).max())
        if not 0.0 < largest < math.inf:  # 0, infinity or NaN
            direction = np.zeros(len(vector))
            direction[0] = 1.0
            return np.array([last - largest, last + largest]), direction
        scaled = vector / largest  # clear of overflow and underflow of the squares
        norm = float(np.linalg.norm(scaled))
        return np.array([last - largest * norm, last + largest * norm]), scaled / norm

    def assemble(self, eigenvalues: FloatArray, frame: FloatArray) -> FloatArray:
        """Return ((p_2 - p_1) u, p_1 + p_2)."""
        low, high = eigenvalues
        return np.append((high - low) * frame, low + high)

    def started(self, oracles: Oracles, rng: np.random.Generator) -> Self:
        """Return this cone: it has no state."""
        return self
