"""The non-negative orthant: one eigenvalue per row."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from perceptron_lab.cones.base import Atom, Cone, Oracles
from perceptron_lab.cones.oracles.orthant import MostViolated
from perceptron_lab.core.results import FloatArray


class Orthant(Cone):
    """{z in R^m: z >= 0}, m >= 1, with e = (1, .., 1) and the unit vectors e_j as atoms."""

    of_rows = of_matrices = True

    def __init__(self, size: int) -> None:
        self.size = self.rank = size
        self.identity = self.multiplicity = np.ones(size)
        self._use(MostViolated(), np.random.default_rng(0))

    def _use(self, record: Any, rng: np.random.Generator) -> None:
        self.oracles = {"orthant": record}
        self._oracle = record.start(rng)

    def separate(self, scores: FloatArray, slack: float = 0.0) -> Atom | None:
        """Return the atom e_j of the constraint that the oracle picks."""
        j = self._oracle.find(scores, slack)
        return None if j is None else Atom(slice(j, j + 1), np.ones(1))

    def deepest(self, scores: FloatArray) -> tuple[Atom, float]:
        """Return e_j of the least score; the first on ties."""
        j = int(scores.argmin())
        return Atom(slice(j, j + 1), np.ones(1)), float(scores[j])

    def eigenvalues(self, scores: FloatArray) -> FloatArray:
        """Return the scores themselves."""
        return scores

    def spectrum(self, scores: FloatArray) -> tuple[FloatArray, None]:
        """Return the scores; the frame of the orthant is always the same."""
        return scores, None

    def assemble(self, eigenvalues: FloatArray, frame: None) -> FloatArray:
        """Return the eigenvalues themselves."""
        return eigenvalues

    def started(self, oracles: Oracles, rng: np.random.Generator) -> Self:
        """Return an orthant of the same size with a fresh oracle."""
        other = type(self)(self.size)
        other._use(oracles.get("orthant", MostViolated()), rng)
        return other
