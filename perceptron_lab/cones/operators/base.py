"""The contract of the data as a linear map."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from perceptron_lab.cones.base import Atom
from perceptron_lab.core.results import FloatArray

# Proofs are about the numbers given, to the last digit
EXACT = "exact"
# The numbers given are no doubles; proofs are about all numbers that round to those stored
ENCLOSED = "rounded once, enclosed"


class Operator(ABC):
    """A*: points, shape ``(dimension,)`` -> scores, shape ``(size,)``, and its adjoint A.

    Points are linear: algorithms add and scale them, and take inner products by ``inner`` alone.
    ``compact`` gives a point in the user's terms.
    """

    dimension: int  # Number of coordinates of a point
    size: int  # Number of flat coordinates of the scores
    # Positive factors of the scores, shape (size,), for instance 1 / norms; None means 1
    scale: FloatArray | None = None
    # Products that one call of ``scores`` and of ``normal`` costs
    scores_cost: ClassVar[float] = 1.0
    # Whether the last coordinate of a point is a bias, which no margin depends on
    free_bias: ClassVar[bool] = False
    normal_cost: float = 0.0

    @abstractmethod
    def scores(self, point: FloatArray) -> FloatArray:
        """Return A* point, shape ``(size,)``."""

    def priced(self, point: FloatArray) -> FloatArray:
        """Return A* point to the precision of the data, which may be faster."""
        return self.scores(point)

    @abstractmethod
    def combine(self, weights: FloatArray) -> FloatArray:
        """Return A weights, a new point: <A w, y> = <w, A*y>."""

    @abstractmethod
    def normal(self, atom: Atom) -> FloatArray:
        """Return A(atom), a new point."""

    @property
    def provenance(self) -> str:
        """The numbers that proofs hold for: those stored, or those that were given."""
        return EXACT

    @property
    def unknowns(self) -> int:
        """Number of coordinates of a compact point."""
        return self.dimension

    def inner(self, left: FloatArray, right: FloatArray) -> float:
        """Return the inner product of two points."""
        return float(left @ right)

    def compact(self, point: FloatArray) -> FloatArray:
        """Return a point in the terms of the data as given, shape ``(unknowns,)``."""
        return point

    def expand(self, compact: FloatArray) -> FloatArray:
        """Return a new point with these compact coordinates."""
        return compact.copy()

    def formed(self) -> Operator:
        """Return unit rows (x, 1) for examples with a free bias; others as they are."""
        return self

    def in_coordinates(self) -> Operator:
        """Return the same data for points that are plain vectors."""
        return self.formed()

    def unscaled(self) -> Operator:
        """Return the same data without ``scale``: the cuts as given, the same points."""
        return self
