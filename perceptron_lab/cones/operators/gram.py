"""Data given by their inner products: the kernel versions of the papers' algorithms.

With features psi_i = s_i phi(x_i), signs s_i and the signed kernel matrix S_ij = <psi_i, psi_j>, a
function f = sum_i c_i psi_i has the raw scores <psi_i, f> = (S c)_i. A point carries both: it is
the stacked vector (c, S c). Then sums and multiples of points are consistent, scores are read
off, inner products are dot products, and a step along one psi_j costs one column of S: the kernel
perceptron is the perceptron on this operator.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import scipy.linalg
import scipy.linalg.lapack

from perceptron_lab.cones.base import Atom
from perceptron_lab.cones.operators.base import Operator
from perceptron_lab.cones.operators.kernels import KernelMatrix
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.core.results import FloatArray
from perceptron_lab.core.time_limit import check_time

# Residual diagonals below this part of the largest diagonal entry count as zero
RANK_TOLERANCE = 1e-14


class Gram(Operator):
    """scores(f)_i = scale_i <psi_i, f> for f = sum_i c_i psi_i (`RamdasPena2014`, section 3).

    With scale_i = 1 / sqrt(K(x_i, x_i)), and coefficients alpha_i of the normalised features,
    scores are G alpha with the normalised signed Gram matrix G of (9), and c_i = scale_i alpha_i.

    Parameters
    ----------
    kernel
        K(x_i, x_j), symmetric positive semidefinite to rounding, shape ``(m, m)``. Not copied.
    signs
        s_i = +1 or -1, shape ``(m,)``.
    scale
        Shape ``(m,)``, or None for 1.
    matrix
        The kernel's values with their error bounds; None if the doubles of ``kernel`` are exact.
    """

    scores_cost: ClassVar[float] = 0.0

    def __init__(
        self,
        kernel: FloatArray,
        signs: FloatArray,
        scale: FloatArray | None = None,
        matrix: KernelMatrix | None = None,
    ) -> None:
        self.kernel, self.signs, self.scale = kernel, signs, scale
        self.matrix = KernelMatrix(kernel) if matrix is None else matrix
        self.size = len(signs)
        self.dimension = 2 * self.size
        self.normal_cost = 1.0 / self.size

    @property
    def unknowns(self) -> int:
        """Number of coefficients, m."""
        return self.size

    @property
    def provenance(self) -> str:
        """The numbers for which proofs on these data hold."""
        return self.matrix.provenance

    def scores(self, point: FloatArray) -> FloatArray:
        """Return the scores that the point carries."""
        raw = point[self.size :]
        return raw if self.scale is None else raw * self.scale

    def combine(self, weights: FloatArray) -> FloatArray:
        """Return sum_i w_i scale_i psi_i: the coefficients are the scaled weights themselves."""
        return self.expand(weights if self.scale is None else weights * self.scale)

    def normal(self, atom: Atom) -> FloatArray:
        """Return the combination of the features in the atom's span: columns of S."""
        span, values = atom.span, atom.values
        if self.scale is not None:
            values = values * self.scale[span]
        point = np.zeros(self.dimension)
        point[: self.size][span] = values
        column = (values * self.signs[span]) @ self.kernel[span]
        # One column of S per atom: a query costs 1 / m of a product.
        np.multiply(column, self.signs, out=point[self.size :])
        return point

    def inner(self, left: FloatArray, right: FloatArray) -> float:
        """Return <f, g> = c'S d."""
        return float(left[: self.size] @ right[self.size :])

    def compact(self, point: FloatArray) -> FloatArray:
        """Return the coefficients c of the signed features, shape ``(m,)``."""
        return point[: self.size]

    def expand(self, compact: FloatArray) -> FloatArray:
        """Return the stacked point (c, S c); one product."""
        return np.concatenate([compact, self.signs * (self.kernel @ (self.signs * compact))])

    def in_coordinates(self) -> Coordinates:
        """Return the features in an orthonormal basis of their span."""
        return Coordinates(self)

    def unscaled(self) -> Gram:
        """Return the operator of the features without scale."""
        return self if self.scale is None else Gram(self.kernel, self.signs, matrix=self.matrix)

    def row_norms(self) -> FloatArray:
        """Return scale_i norm(psi_i), norm(psi_i) = sqrt(K(x_i, x_i)), shape ``(m,)``."""
        norms = np.asarray(np.sqrt(self.kernel.diagonal()))
        return norms if self.scale is None else norms * self.scale


class Coordinates(Matrix):
    """A Gram system in an orthonormal basis of the span of its features.

    The pivoted Cholesky factor S = L L', L of shape (m, r), has the features' coordinates as rows;
    z stands for the f with coefficients c on the r pivots, L_p'c_p = z. TimeIsUp, where the time
    limit does not allow for the factorisation.

    Parameters
    ----------
    gram
        The system in terms of inner products.
    """

    def __init__(self, gram: Gram) -> None:
        # Pivoting would drop short features as rounding errors: unit features have equal chances.
        norms = gram.unscaled().row_norms()
        unit = gram.signs / norms
        matrix = gram.kernel * unit[:, None] * unit
        # The shift added to the diagonal for proofs is not a direction of the span.
        matrix[np.diag_indices(len(unit))] /= 1.0 + gram.matrix.diagonal_shift
        check_time(float(len(matrix)) ** 3 / 3.0)
        tolerance = RANK_TOLERANCE * float(matrix.diagonal().max())
        packed, order, rank, _ = scipy.linalg.lapack.dpstrf(matrix, tol=tolerance, lower=1)
        self._pivots = np.asarray(order, dtype=np.int64) - 1
        factor = np.empty((len(matrix), rank))
        factor[self._pivots] = np.tril(packed)[:, :rank]
        super().__init__(factor * norms[:, None], gram.scale)

    @property
    def unknowns(self) -> int:
        """Number of coefficients, m."""
        return self.size

    def compact(self, point: FloatArray) -> FloatArray:
        """Return the coefficients of the signed features: zero off the pivots."""
        coefficients = np.zeros(self.size)
        at = self._pivots[: self.dimension]
        coefficients[at] = scipy.linalg.solve_triangular(
            np.asarray(self.data[at]), point, lower=True, trans="T"
        )
        return coefficients

    def expand(self, compact: FloatArray) -> FloatArray:
        """Return L'c, the coordinates of the f with these coefficients."""
        return np.asarray(compact @ self.data)
