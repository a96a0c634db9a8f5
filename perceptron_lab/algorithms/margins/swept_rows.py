"""The rows that a bisection sweeps over: all of them, or a working set that grows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field

import numpy as np

from perceptron_lab.algorithms.nearest_point.column_generation import lowest
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.core.results import FloatArray, IntArray


@dataclass
class SweptRows(ABC):
    """Rows in C order, shape ``(k, n)``, and the squares of their norms, shape ``(k,)``."""

    rows: FloatArray
    squares: FloatArray = field(init=False)

    def __post_init__(self) -> None:
        self.squares = np.einsum("ij,ij->i", self.rows, self.rows)

    @abstractmethod
    def spread(self, shares: FloatArray, size: int) -> FloatArray:
        """Return weights of all rows, shape ``(size,)``, of those of the swept ones."""

    @abstractmethod
    def join(self, scores: FloatArray, below: float) -> int:
        """Let other rows with scores <= ``below`` join; return how many, 0 if there are none."""


class AllRows(SweptRows):
    """All rows."""

    def spread(self, shares: FloatArray, size: int) -> FloatArray:
        """Return a copy."""
        return shares.copy()

    def join(self, scores: FloatArray, below: float) -> int:
        """Return 0: there are no others."""
        return 0


@dataclass
class WorkingRows(SweptRows):
    """Some rows of an operator, ``indices`` of shape ``(k,)``; ``most`` may join at a time."""

    operator: Matrix
    indices: IntArray
    most: int

    @classmethod
    def least(cls, operator: Matrix, scores: FloatArray, most: int) -> WorkingRows:
        """Return the 2 ``most`` rows of least score; ``most`` of them come at a time later."""
        indices = np.sort(lowest(np.arange(operator.size), scores, 2 * most))
        return cls(_ordered(operator, indices), operator, indices, most)

    def spread(self, shares: FloatArray, size: int) -> FloatArray:
        """Return weights that are 0 outside."""
        weights = np.zeros(size)
        weights[self.indices] = shares
        return weights

    def join(self, scores: FloatArray, below: float) -> int:
        """Let the rows of least score join."""
        violated = scores <= below
        violated[self.indices] = False
        coming = np.sort(lowest(np.flatnonzero(violated), scores, self.most))
        if len(coming):
            self.indices = np.concatenate([self.indices, coming])
            self.rows = np.vstack([self.rows, _ordered(self.operator, coming)])
            self.squares = np.einsum("ij,ij->i", self.rows, self.rows)
        return len(coming)


def _ordered(operator: Matrix, indices: IntArray) -> FloatArray:
    return np.array(operator.rows(indices), dtype=np.float64, order="C")
