"""The contract of the data as a linear map."""

from __future__ import annotations

from abc import ABC, abstractmethod

from perceptron_lab.cones.base import Atom
from perceptron_lab.results import FloatArray


class Operator(ABC):
    """A*: points, shape ``(dimension,)`` -> scores, shape ``(size,)``, and its adjoint A.

    Attributes
    ----------
    dimension
        Number of unknowns, n.
    size
        Number of flat coordinates of the scores.
    """

    dimension: int
    size: int

    @abstractmethod
    def scores(self, point: FloatArray) -> FloatArray:
        """Return A* point, shape ``(size,)``."""

    @abstractmethod
    def combine(self, weights: FloatArray) -> FloatArray:
        """Return A weights, shape ``(dimension,)``: <A w, y> = <w, A*y>."""

    @abstractmethod
    def normal(self, atom: Atom) -> FloatArray:
        """Return A(atom), a new array of shape ``(dimension,)``."""

    def image(self, atom: Atom) -> FloatArray:
        """Return A*A(atom), the change of the scores when the point moves by the normal."""
        return self.scores(self.normal(atom))

    def inner(self, left: FloatArray, right: FloatArray) -> float:
        """Return the inner product of two points."""
        return float(left @ right)
