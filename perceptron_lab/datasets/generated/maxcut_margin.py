"""The margin of a MAXCUT relaxation: a point and weights that enclose it; graphs of a given one.

Of the homogenised system x_0 > 0, Diag(x) - x_0 L / 4 positive definite, the largest margin rho is
attained with x_0 = rho, for a smaller x_0 leaves more room and a shorter point. Divided by x_0,

    rho^-2 = 1 + min {norm(x)^2 : Diag(x) - M positive semidefinite},   M = I + L / 4,

hence rho <= 1 / sqrt(n + 1), whatever the graph: the margin of this family cannot stay while n
grows without end. The dual is the maximum of 2 <M, W> - norm(diag W)^2 over W positive
semidefinite, and x = diag W at the optimum. Weights (1 - tau tr W, tau W) then prove, with the best
tau, rho^-2 >= 1 + <M, W>^2 / norm(diag W)^2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.linalg import norm
from scipy import sparse

from perceptron_lab.cones.semidefinite import Semidefinite
from perceptron_lab.core.errors import InputError
from perceptron_lab.core.results import FloatArray
from perceptron_lab.systems import ConicSystem

ACCURACY = 1e-3
"""Relative width of the enclosure of rho."""
_SWEEPS = 2000
_BETWEEN = 10  # Sweeps between two looks at the gap
_SCALINGS = 60


@dataclass
class Enclosure:
    """1 / sqrt(1 + norm(x)^2) <= rho <= 1 / sqrt(1 + <M, VV'>^2 / norm(diag VV')^2).

    Parameters
    ----------
    matrix
        M, shape ``(n, n)``.
    factor
        V, shape ``(n, k)``, W = V V'.
    """

    matrix: sparse.csr_array
    factor: FloatArray

    @property
    def point(self) -> FloatArray:
        """The entries of diag W, raised alike until Diag(x) - M is positive semidefinite."""
        diagonal = np.einsum("ij,ij->i", self.factor, self.factor)
        room = sparse.csr_array(sparse.diags_array(diagonal) - self.matrix)
        return np.asarray(diagonal + max(0.0, -_lowest(room)) * (1.0 + 1e-9) + 1e-12)

    @property
    def ends(self) -> tuple[float, float]:
        """The enclosure, but for rounding."""
        point = self.point
        squares = np.einsum("ij,ij->i", self.factor, self.factor)
        product = float(np.einsum("ij,ij->", self.factor, self.matrix @ self.factor))
        return (
            1.0 / math.sqrt(1.0 + float(point @ point)),
            1.0 / math.sqrt(1.0 + product**2 / float(squares @ squares)),
        )

    def sweep(self) -> None:
        """Maximise 2 <M, VV'> - sum_i norm(v_i)^4 over one row of V after the other.

        With g = sum over j != i of M_ij v_j the best v_i is r g / norm(g), where r > 0 is the root
        of r^3 = M_ii r + norm(g).
        """
        indptr, indices, data = self.matrix.indptr, self.matrix.indices, self.matrix.data
        for i in range(len(self.factor)):
            entries = slice(indptr[i], indptr[i + 1])
            others = indices[entries]
            away = np.where(others == i, 0.0, data[entries])
            gradient = away @ self.factor[others]
            length = float(norm(gradient))
            own = float(data[entries] @ (others == i))
            # Of an isolated vertex every direction is as good as its own
            direction = gradient / length if length else self.factor[i] / norm(self.factor[i])
            self.factor[i] = _root(own, length) * direction


def enclosed(laplacian: sparse.csr_array, accuracy: float = ACCURACY) -> Enclosure:
    """Return an enclosure of the margin of a graph, of this relative width.

    Low-rank coordinate ascent on the dual, from fixed vectors: V has as many columns as rule out
    other local maxima, for nearly every M.
    """
    return _narrowed(Enclosure(_shifted(laplacian, 1.0), _first(laplacian.shape[0])), accuracy)


def scale_for(laplacian: sparse.csr_array, margin: float) -> float:
    """Return s > 0 with rho = ``margin`` for the weights s W, to :data:`ACCURACY`.

    rho falls from 1 / sqrt(n + 1) at s = 0 towards 0, so that every margin below it is attained
    once.
    """
    order = laplacian.shape[0]
    # sqrt(rho^-2 - 1) is convex in s, and nearly linear: it is the norm of x, which M drives
    target, low, factor = math.sqrt(margin**-2 - 1.0), 0.0, _first(order)
    size_low, scale = math.sqrt(order), 1.0
    for _ in range(_SCALINGS):
        found = _narrowed(Enclosure(_shifted(laplacian, scale), factor), ACCURACY / 4.0)
        lower, upper = found.ends
        size = math.sqrt(2.0 / (lower**2 + upper**2) - 1.0)
        if abs(size / target - 1.0) < ACCURACY / 4.0:
            return scale
        previous, step = low, (target - size_low) * (scale - low) / (size - size_low)
        if size < target:
            low, size_low = scale, size
        scale = previous + step
    raise InputError(f"no weights are found for the margin {margin:g}; choose another one")


def proved_bracket(system: ConicSystem, found: Enclosure) -> tuple[float, float]:
    """Return lower and upper bounds of the margin, proved on the data of the system.

    Parameters
    ----------
    system
        The homogenised system of the graph that the enclosure is of.
    """
    whole = system.completed()
    point = np.concatenate([[1.0], found.point])
    proof = whole.prove_point(point)
    (_, _), (block, place) = whole.cone.blocks
    assert isinstance(block, Semidefinite)
    matrix = found.factor @ found.factor.T
    matrix[np.diag_indices_from(matrix)] *= 1.0 + 1e-9  # definite, as is to be proved
    squares = np.diag(matrix)
    product = float((found.matrix @ matrix).trace())
    matrix *= product / (product**2 + float(squares @ squares))
    weights = np.zeros(whole.cone.size)
    weights[place] = matrix[block.rows, block.columns] * np.where(
        block.rows == block.columns, 1.0, 2.0
    )
    weights[0] = 1.0 - float(np.trace(matrix))
    upper = whole.prove_weights(weights)
    if not proof.feasible or upper is None:
        raise InputError("rounding hides the margin of the graph; choose one with less edges")
    return proof.margin_lower, upper


def _narrowed(found: Enclosure, accuracy: float) -> Enclosure:
    for _ in range(_SWEEPS // _BETWEEN):
        for _ in range(_BETWEEN):
            found.sweep()
        lower, upper = found.ends
        if upper - lower <= accuracy * lower:
            break
    return found


def _shifted(laplacian: sparse.csr_array, scale: float) -> sparse.csr_array:
    order = laplacian.shape[0]
    return sparse.csr_array(sparse.eye_array(order) + laplacian * (scale / 4.0))


def _first(order: int) -> FloatArray:
    columns = math.ceil(math.sqrt(2.0 * order)) + 1
    return np.random.default_rng(order).standard_normal((order, columns)) / math.sqrt(columns)


def _root(own: float, length: float) -> float:
    """Return the root r > 0 of r^3 = own r + length by Newton's method, from above."""
    root = math.sqrt(max(own, 0.0)) + math.cbrt(length)
    for _ in range(50):
        before = root
        root -= (root**3 - own * root - length) / (3.0 * root**2 - own)
        if abs(root - before) <= 1e-15 * root:
            break
    return root


def _lowest(matrix: sparse.csr_array) -> float:
    """Return the lowest eigenvalue of a sparse symmetric matrix, to rounding."""
    return float(np.linalg.eigvalsh(matrix.toarray())[0])
