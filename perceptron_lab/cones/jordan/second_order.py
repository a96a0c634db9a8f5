"""The algebra of a product of second-order cones, all blocks at once."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from perceptron_lab.cones.jordan.algebra import JordanAlgebra
from perceptron_lab.core.results import FloatArray

ROOT = math.sqrt(0.5)


class SpinFactors(JordanAlgebra):
    """Blocks (u, t) in coordinates sqrt(2) (u, t), e = (0, 1) in each; t is the last coordinate.

    The eigenvalues of a block are t - norm(u) and t + norm(u), those of all blocks in this order:
    first all lower ones. A frame holds the directions u / norm(u), with 1 in the places of the t;
    the idempotents are (-+u / norm(u), 1) / 2. Squares of entries must not leave the range of
    doubles.

    Parameters
    ----------
    sizes
        Coordinates of the blocks, at least 2 each.
    """

    def __init__(self, sizes: Sequence[int]) -> None:
        self._ends = np.cumsum(sizes)
        self._starts = self._ends - np.array(sizes)
        self._last = self._ends - 1
        self.size, self.blocks = int(self._ends[-1]), len(sizes)
        self.rank = 2 * self.blocks
        self._block = np.repeat(np.arange(self.blocks), sizes)
        self.identity = np.zeros(self.size)
        self.identity[self._last] = math.sqrt(2.0)

    def _norms(self, element: FloatArray) -> FloatArray:
        squares = element * element
        squares[self._last] = 0.0
        return np.sqrt(np.add.reduceat(squares, self._starts))

    def spectrum(self, element: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return t - norm(u) of all blocks, t + norm(u) of all, and u / norm(u) (e_1 for u = 0)."""
        norms, last = self._norms(element), element[self._last]
        flat = norms == 0.0
        direction = element / np.where(flat, 1.0, norms)[self._block]
        direction[self._starts[flat]] = 1.0
        direction[self._last] = 1.0
        return np.concatenate([last - norms, last + norms]) * ROOT, direction

    def eigenvalues(self, element: FloatArray) -> FloatArray:
        """Return t - norm(u) of all blocks, then t + norm(u)."""
        norms, last = self._norms(element), element[self._last]
        return np.concatenate([last - norms, last + norms]) * ROOT

    def assemble(self, values: FloatArray, frame: FloatArray) -> FloatArray:
        """Return ((p_2 - p_1) u, p_1 + p_2) / 2 for unit directions u."""
        low, high = values[: self.blocks] * ROOT, values[self.blocks :] * ROOT
        element = frame * (high - low)[self._block]
        element[self._last] = low + high
        return element

    def deepest(self, element: FloatArray) -> tuple[float, FloatArray]:
        """Return the least t - norm(u), and (-u / norm(u), 1) / 2 of its block."""
        lower = element[self._last] - self._norms(element)
        block = int(lower.argmin())
        at = slice(self._starts[block], self._last[block])
        norm = float(np.linalg.norm(element[at]))
        idempotent = np.zeros(self.size)
        idempotent[at] = element[at] * (-ROOT / norm) if norm > 0.0 else 0.0
        if norm == 0.0:
            idempotent[at.start] = -ROOT
        idempotent[at.stop] = ROOT
        return float(lower[block]) * ROOT, idempotent

    def traces(self, frame: FloatArray, element: FloatArray) -> FloatArray:
        """Return (t - u'x, t + u'x) / sqrt 2, for the directions u of the frame."""
        last = element[self._last]
        along = np.add.reduceat(frame * element, self._starts) - last
        return np.concatenate([last - along, last + along]) * ROOT

    def peirce(self, frame: FloatArray, elements: FloatArray) -> FloatArray:
        """Return (H u without its last entry, (t - d'u) / sqrt 2, (t + d'u) / sqrt 2) per block.

        H is the Householder reflection that takes the direction d to -+e_k, k the last entry of u.
        """
        reflected = self._reflected(frame, elements)
        along, last = self._sign(frame, reflected) * reflected[self._last - 1], elements[self._last]
        reflected[self._last - 1] = (last - along) * ROOT
        reflected[self._last] = (last + along) * ROOT
        return reflected

    def from_peirce(self, frame: FloatArray, coordinates: FloatArray) -> FloatArray:
        """Return u and t from these."""
        low, high = coordinates[self._last - 1], coordinates[self._last]
        mixed = coordinates.copy()
        mixed[self._last - 1] = self._sign(frame, mixed) * (high - low) * ROOT
        mixed[self._last] = (low + high) * ROOT
        return self._reflected(frame, mixed)

    def products(self, values: FloatArray) -> FloatArray:
        """Return p_1 p_2 for the entries of u across the direction, p_1^2, and p_2^2."""
        low, high = values[: self.blocks], values[self.blocks :]
        factors = (low * high)[self._block]
        factors[self._last - 1] = low * low
        factors[self._last] = high * high
        return factors

    def _sign(self, frame: FloatArray, elements: FloatArray) -> FloatArray:
        """Return the sign of e_k' H d per block, as a column where elements are columns."""
        signs = np.where(frame[self._last - 1] < 0.0, 1.0, -1.0)
        return signs if elements.ndim == 1 else signs[:, None]

    def _reflected(self, frame: FloatArray, elements: FloatArray) -> FloatArray:
        """Return H u and t: H = I - h h' / (1 + |d_k|) for h = d + sign(d_k) e_k."""
        normal = frame.copy()
        normal[self._last] = 0.0
        ends = normal[self._last - 1]
        lengths = 1.0 + np.abs(ends)
        normal[self._last - 1] = ends + np.where(ends < 0.0, -1.0, 1.0)
        if elements.ndim == 1:
            inner = np.add.reduceat(normal * elements, self._starts) / lengths
            return np.asarray(elements - normal * inner[self._block])
        inner = np.add.reduceat(normal[:, None] * elements, self._starts, axis=0)
        return np.asarray(elements - normal[:, None] * (inner / lengths[:, None])[self._block])
