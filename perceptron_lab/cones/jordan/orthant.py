"""The algebra of the orthant: R^n with entrywise products."""

from __future__ import annotations

import numpy as np

from perceptron_lab.cones.jordan.algebra import JordanAlgebra
from perceptron_lab.core.results import FloatArray


class Entrywise(JordanAlgebra):
    """R^n, e = (1, .., 1); the only frame is that of the unit vectors."""

    def __init__(self, size: int) -> None:
        self.size = self.rank = size
        self.identity = np.ones(size)

    def spectrum(self, element: FloatArray) -> tuple[FloatArray, None]:
        """Return the entries."""
        return element, None

    def assemble(self, values: FloatArray, frame: None) -> FloatArray:
        """Return the values."""
        return values

    def traces(self, frame: None, element: FloatArray) -> FloatArray:
        """Return the entries."""
        return element

    def peirce(self, frame: None, elements: FloatArray) -> FloatArray:
        """Return the entries: of the pairs i = j."""
        return elements

    def from_peirce(self, frame: None, coordinates: FloatArray) -> FloatArray:
        """Return the entries."""
        return coordinates

    def products(self, values: FloatArray) -> FloatArray:
        """Return the squares."""
        return values * values
