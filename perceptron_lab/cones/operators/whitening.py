"""Whitening: data in coordinates in which their columns are orthonormal.

With A = Q R, Q'Q = I, the point z of the whitened system stands for y = T z, T = R^-1. Every
invertible linear map of the data gives the same Q up to a rotation.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy.linalg

from perceptron_lab.cones.operators.base import ENTRIES
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.core.errors import InputError
from perceptron_lab.core.results import FloatArray, IntArray
from perceptron_lab.core.time_limit import check_time

# Largest number of unknowns: beyond it the factorisation, n^3, takes minutes
LARGEST_DIMENSION = 2000
# Largest number of entries of the whitened rows, which are dense: 1 GB
MOST_ENTRIES = 2**27
# Largest condition number for which the Cholesky factor of M'M replaces the QR factor of M
ACCURATE = 1e6
# Pivots below this part of the first count as zero
TOLERANCE = 1e-12


@dataclass(frozen=True)
class PivotedFactor:
    """The leading block R_1 of R in W^1/2 S M = Q R with column pivoting.

    Parameters
    ----------
    triangle
        R_1 over its first pivot, upper triangular, shape ``(rank, rank)``.
    pivot_columns
        Indices of its columns in the data, shape ``(rank,)``.
    dimension
        The number of columns of the data.
    """

    triangle: FloatArray
    pivot_columns: IntArray
    dimension: int

    @classmethod
    def of(cls, base: Matrix, measure: FloatArray, tolerance: float = TOLERANCE) -> PivotedFactor:
        """Return the factor of data with weighted rows; the identity for data that are all 0."""
        triangle, pivots = _pivoted_factor(base, measure, tolerance)
        triangle /= abs(triangle[0, 0])
        return cls(triangle, pivots, base.dimension)

    @classmethod
    def of_gram(cls, rows: FloatArray) -> PivotedFactor:
        """Return the factor of rows, shape ``(m, n)``, by Cholesky's method where that is accurate.

        The factor of M'M has R's squares as pivots, with relative errors of 1e-16 times the square
        of the condition number: up to 1e6 it whitens as well as R does, with a sixth of the work
        for a few hundred rows; beyond, R is computed.
        """
        gram = rows.T @ rows
        triangle, order, rank, _ = scipy.linalg.lapack.dpstrf(gram)
        pivots = triangle.diagonal()
        # The pivots of the Cholesky factor are those of R: their ratio estimates the condition
        # number.
        if rank < len(gram) or pivots[-1] * ACCURATE <= pivots[0]:
            return cls.of(Matrix(rows), np.ones(len(rows)))
        return cls(np.triu(triangle) / pivots[0], np.asarray(order - 1, np.int64), len(gram))

    @property
    def condition(self) -> float:
        """The first pivot over the last one of R_1, a lower estimate of the condition number."""
        return float(1.0 / abs(self.triangle[-1, -1]))

    def inverse(self) -> FloatArray:
        """Return T: the first pivot times R_1^-1 on the pivot columns, shape ``(n, rank)``."""
        inverse = np.zeros((self.dimension, len(self.pivot_columns)))
        inverse[self.pivot_columns] = scipy.linalg.lapack.dtrtri(self.triangle)[0]
        return inverse


class Whitening(Matrix):
    """The original data times T, for the factorisation W^1/2 S M = Q R with column pivoting.

    R_1 is the leading block of R with pivots above the tolerance: T = p R_1^-1 on its columns, p
    its first pivot, and 0 on the others. Orthogonal transformations of blocks of rows are accurate
    for condition numbers up to 1e15, a factor of M'M up to 1e8. 3 m n^2 multiplications, two passes
    over the data; TimeIsUp, where the time limit ends them.

    Parameters
    ----------
    base
        The data S M, m rows in dimension n.
    measure
        The diagonal of W, > 0, shape ``(m,)``: the multiplicities of the cone's coordinates.
    unit
        Whether the whitened rows are divided by their norms, as rows of the orthant may be.
    tolerance
        Tolerance of the pivots, relative to the first, 0 < tolerance < 1.

    Attributes
    ----------
    map
        T, shape ``(n, rank)``.
    norms
        The divisors of the rows of S M T, shape ``(m,)``, or None.
    condition
        The first pivot over the last one of R_1, a lower estimate of the condition number.
    """

    data: FloatArray

    def __init__(
        self, base: Matrix, measure: FloatArray, *, unit: bool, tolerance: float = TOLERANCE
    ) -> None:
        _check_size(base)
        self.base = base
        self._factor = PivotedFactor.of(base, measure, tolerance)
        self.map, self.condition = self._factor.inverse(), self._factor.condition
        data, norms = np.empty((base.size, self.map.shape[1])), np.empty(base.size)
        for at, rows in _blocks(base):
            check_time(2.0 * rows.size * self.map.shape[1])
            np.matmul(rows, self.map, out=data[at])
            norms[at] = np.linalg.norm(data[at], axis=1)
            if base.scale is not None:
                data[at] /= base.scale[at, None]
        norms[norms == 0.0] = 1.0  # zero rows stay zero
        self.norms, scale = (norms if unit else None), base.scale
        if unit:
            scale = 1.0 / norms if base.scale is None else base.scale / norms
        super().__init__(data, scale)

    @property
    def unknowns(self) -> int:
        """Number of coordinates of a compact point of the base."""
        return self.base.unknowns

    def to_base(self, point: FloatArray) -> FloatArray:
        """Return T z, the point of the base that z = ``point`` stands for."""
        return np.asarray(self.map @ point)

    def from_base(self, point: FloatArray) -> FloatArray:
        """Return the z with T z = ``point`` on the pivot columns."""
        return np.asarray(self._factor.triangle @ point[self._factor.pivot_columns])

    def weights_to_base(self, weights: FloatArray) -> FloatArray:
        """Return weights of the whitened data as weights of the base."""
        return weights if self.norms is None else weights / self.norms

    def compact(self, point: FloatArray) -> FloatArray:
        """Return the compact point of the base that z = ``point`` stands for."""
        return self.base.compact(self.to_base(point))

    def expand(self, compact: FloatArray) -> FloatArray:
        """Return the z of a compact point of the base, on the pivot columns."""
        return self.from_base(self.base.expand(compact))


def _check_size(base: Matrix) -> None:
    if base.dimension > LARGEST_DIMENSION:
        raise InputError(
            f"dimension {base.dimension} is too large to whiten ({LARGEST_DIMENSION} at most); "
            "choose an algorithm that does not whiten"
        )
    if base.size * base.dimension > MOST_ENTRIES:
        raise InputError(
            f"{base.size} whitened rows in dimension {base.dimension} are dense and take "
            f"{base.size * base.dimension / 2**27:.1f} GB (1 GB at most); choose an "
            "algorithm that does not whiten"
        )


def _blocks(base: Matrix) -> Iterator[tuple[slice, FloatArray]]:
    """Yield consecutive rows of S M: dense, in double precision, at least as many as columns."""
    step = max(base.dimension, ENTRIES // base.dimension)
    for start in range(0, base.size, step):
        at = slice(start, min(start + step, base.size))
        yield at, base.rows(np.arange(at.start, at.stop))


def _pivoted_factor(
    base: Matrix, measure: FloatArray, tolerance: float
) -> tuple[FloatArray, IntArray]:
    """Return R_1 and the indices of its columns; (I, all) for data that are all 0."""
    triangle = np.zeros((0, base.dimension))
    for at, rows in _blocks(base):
        check_time(2.0 * (len(triangle) + len(rows)) * float(base.dimension) ** 2)
        weighted = rows * np.sqrt(measure[at, None])
        stacked = np.vstack([triangle, weighted]) if len(triangle) else weighted
        # Block by block, as R of [R; rows] is R of all rows so far: the data are read once.
        triangle = np.asarray(np.linalg.qr(stacked, mode="r"))
    check_time(3.0 * float(base.dimension) ** 3)
    pivoted, order = scipy.linalg.qr(triangle, mode="r", pivoting=True)
    pivots = np.abs(pivoted.diagonal())
    if pivots[0] == 0.0:
        return np.eye(base.dimension), np.arange(base.dimension)
    rank = int((pivots > tolerance * pivots[0]).sum())
    return np.ascontiguousarray(pivoted[:rank, :rank]), np.asarray(order[:rank], dtype=np.int64)
