"""The non-negative orthant, one eigenvalue per row, and its oracles.

An oracle of the orthant selects one of the violated constraints.

Constraint i is violated by scores z if z_i <= -slack (slack <= 0: the open orthant, or a part of
it) or z_i < -slack (slack > 0: the closed orthant, relaxed).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any, ClassVar, Literal, Self

import numpy as np

from perceptron_lab.cones.base import Atom, Cone, Oracles
from perceptron_lab.core.refusals import parameter_record
from perceptron_lab.core.results import FloatArray, IntArray


class Picker(ABC):
    """A running oracle of the orthant, which may have a state."""

    @abstractmethod
    def find(self, scores: FloatArray, slack: float) -> int | None:
        """Return the index of a violated constraint, or None."""


class OrthantOracle(ABC):
    """The record of an oracle of the orthant."""

    kind: ClassVar[Literal["orthant"]] = "orthant"

    @abstractmethod
    def start(self, rng: np.random.Generator) -> Picker:
        """Return a running oracle, which may draw from the run's own random generator."""


def violated(scores: FloatArray, slack: float) -> IntArray:
    """Return the indices of all constraints that the scores, shape ``(m,)``, violate."""
    return np.flatnonzero(scores < -slack if slack > 0 else scores <= -slack)


@parameter_record
class MostViolated(OrthantOracle, Picker):
    """The constraint of lowest score (the first one on ties)."""

    def start(self, rng: np.random.Generator) -> Picker:
        """Return the oracle itself, which has no state."""
        return self

    def find(self, scores: FloatArray, slack: float) -> int | None:
        """Return the index of the lowest score if it violates its constraint."""
        j = int(scores.argmin())
        return j if (scores[j] < -slack if slack > 0 else scores[j] <= -slack) else None


@parameter_record
class FirstViolated(OrthantOracle, Picker):
    """The violated constraint of lowest index."""

    def start(self, rng: np.random.Generator) -> Picker:
        """Return the oracle itself, which has no state."""
        return self

    def find(self, scores: FloatArray, slack: float) -> int | None:
        """Return the first index of a violated constraint."""
        indices = violated(scores, slack)
        return int(indices[0]) if len(indices) else None


@parameter_record
class Cyclic(OrthantOracle):
    """The first violated constraint after the last one returned, around the whole set."""

    def start(self, rng: np.random.Generator) -> Picker:
        """Return a running oracle that begins with constraint 0."""
        return _Round()


class _Round(Picker):
    def __init__(self) -> None:
        self.last_index = -1

    def find(self, scores: FloatArray, slack: float) -> int | None:
        indices = violated(scores, slack)
        if not len(indices):
            return None
        # The first violated index after the last one; modulo wraps around the set.
        self.last_index = int(indices[np.searchsorted(indices, self.last_index + 1) % len(indices)])
        return self.last_index


@parameter_record
class Random(OrthantOracle):
    """A violated constraint drawn uniformly, from the run's own random generator."""

    def start(self, rng: np.random.Generator) -> Picker:
        """Return a running oracle that draws from ``rng``."""
        return _Draw(rng)


class _Draw(Picker):
    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng

    def find(self, scores: FloatArray, slack: float) -> int | None:
        indices = violated(scores, slack)
        return int(self.rng.choice(indices)) if len(indices) else None


class Orthant(Cone):
    """{z in R^m: z >= 0}, m >= 1, with e = (1, .., 1) and the unit vectors e_j as atoms."""

    of_rows = of_matrices = True

    def __init__(self, size: int) -> None:
        self.size = self.rank = size
        self.identity = self.multiplicity = np.ones(size)
        self._set_oracle(MostViolated(), np.random.default_rng(0))

    def _set_oracle(self, record: Any, rng: np.random.Generator) -> None:
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
        # A separate oracle for each run: the state of one must not influence another.
        other = type(self)(self.size)
        other._set_oracle(oracles.get("orthant", MostViolated()), rng)
        return other


def row_indices(blocks: Iterable[tuple[Cone, slice]]) -> IntArray:
    """Return the indices of all rows of orthants among the scores of blocks."""
    ranges = [np.arange(span.start, span.stop) for part, span in blocks if part.of_rows]
    return np.concatenate([np.zeros(0, dtype=np.int64), *ranges])
