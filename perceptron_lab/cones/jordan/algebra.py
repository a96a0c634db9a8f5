"""The contract of a Euclidean Jordan algebra, whose squares are a symmetric cone K."""

from __future__ import annotations

from abc import ABC, abstractmethod

from perceptron_lab.cones.base import Frame
from perceptron_lab.core.results import FloatArray


class JordanAlgebra(ABC):
    """Elements in isometric coordinates, in which the trace inner product is the plain dot product.

    They are scores times sqrt(multiplicity), and weights divided by it. Every element is
    x = sum_i lambda_i c_i with a *frame* of rank orthogonal primitive idempotents c_i, norm(c_i) =
    1, that sum to the identity e; x lies in K if no lambda_i < 0. A frame is opaque: it belongs to
    the methods of its algebra.

    Attributes
    ----------
    size, rank
        The number of coordinates, and of eigenvalues.
    identity
        e, shape ``(size,)``, norm(e)^2 = rank.
    """

    size: int
    rank: int
    identity: FloatArray

    @abstractmethod
    def spectrum(self, element: FloatArray) -> tuple[FloatArray, Frame]:
        """Return the eigenvalues of an element, shape ``(rank,)``, and their frame."""

    @abstractmethod
    def assemble(self, values: FloatArray, frame: Frame) -> FloatArray:
        """Return sum_i values_i c_i."""

    @abstractmethod
    def traces(self, frame: Frame, element: FloatArray) -> FloatArray:
        """Return <c_i, x> for the idempotents of a frame, shape ``(rank,)``."""

    @abstractmethod
    def peirce(self, frame: Frame, elements: FloatArray) -> FloatArray:
        """Return the columns of ``elements`` in orthonormal coordinates of Peirce's decomposition.

        Each coordinate belongs to a pair i <= j of idempotents. ``elements`` has the shape
        ``(size,)`` or ``(size, k)``, and so has the result.
        """

    @abstractmethod
    def from_peirce(self, frame: Frame, coordinates: FloatArray) -> FloatArray:
        """Return the elements with these coordinates: the inverse, and transpose, of ``peirce``."""

    @abstractmethod
    def products(self, values: FloatArray) -> FloatArray:
        """Return values_i values_j for the pairs of Peirce's coordinates, shape ``(size,)``."""

    def quadratic(self, values: FloatArray, frame: Frame, elements: FloatArray) -> FloatArray:
        """Return P(v) x for v = sum_i values_i c_i and the columns x of ``elements``.

        P(v) x = 2 v (v x) - (v v) x, for matrices v x v, is an automorphism of K where v is
        invertible, self-adjoint, with P(v) e = v^2 and P(v)^-1 = P(v^-1). In Peirce's coordinates
        it multiplies by values_i values_j. ``elements`` has the shape ``(size,)`` or ``(size, k)``.
        """
        factors, coordinates = self.products(values), self.peirce(frame, elements)
        factors = factors if elements.ndim == 1 else factors[:, None]
        return self.from_peirce(frame, factors * coordinates)

    def eigenvalues(self, element: FloatArray) -> FloatArray:
        """Return the eigenvalues of an element, in the order of ``spectrum``."""
        return self.spectrum(element)[0]

    def deepest(self, element: FloatArray) -> tuple[float, FloatArray]:
        """Return the lowest eigenvalue of an element, and its idempotent."""
        values, frame = self.spectrum(element)
        lowest = int(values.argmin())
        chosen = values * 0.0
        chosen[lowest] = 1.0
        return float(values[lowest]), self.assemble(chosen, frame)
