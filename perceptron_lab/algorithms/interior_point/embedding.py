"""The self-dual embedding of a conic system and its alternative, and Newton's directions in it.

In isometric coordinates let L be the range of A*, K the self-dual cone, r its rank and

    s = A*y + theta e,   z = w + theta e,   A w = 0,   s, z inside K.

s = z = e, theta = 1 is such a pair, whatever the data; as theta goes to 0, one of A*y, w comes to
lie inside K, and answers the system: a feasible y, or weights that prove infeasibility.

If moreover <e, A*y> + <e, w> + r theta = r, which holds at the start and is kept by Newton's
directions, then <s, z> = r theta, for <A*y, w> = 0. The central path is lambda o lambda = theta e.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from perceptron_lab.algorithms.interior_point.block_products import blocks_of
from perceptron_lab.algorithms.interior_point.blocks import ConeBlocks, RowBlocks, Rows
from perceptron_lab.cones.base import Cone
from perceptron_lab.cones.orthant import Orthant
from perceptron_lab.core.results import FloatArray
from perceptron_lab.core.time_limit import check_time
from perceptron_lab.numerics.sparse_arrays import dense_array

# Added to the diagonal of the normal equations, relative to it, until they have a factor
RIDGES = (0.0, 1e-15, 1e-13, 1e-11, 1e-9)
# Part of the way to the boundary that a given start goes; and, for short steps, norm(s - e) at most
PART, NEAR = 0.9, 0.5
# Part of the entries that rows which stay sparse store at most
SPARSE = 0.1
# Steps that refine a least-squares solution
REFINED = 2
# A step is at most so long
LONGEST = 1e10


@dataclass
class PathDirection:
    """A direction of the iterate, with ds and dz also in the scaled space.

    ``scaled_primal`` is W^-1 ds and ``scaled_dual`` W'dz.
    """

    point: FloatArray
    weights: FloatArray
    theta: float
    primal: FloatArray
    dual: FloatArray
    scaled_primal: FloatArray
    scaled_dual: FloatArray


@dataclass
class PathIterate:
    """An iterate of the embedding: y, shape ``(dimension,)``; w, s, z, shape ``(size,)``; theta."""

    point: FloatArray
    weights: FloatArray
    theta: float
    primal: FloatArray
    dual: FloatArray

    def along(self, step: float, direction: PathDirection) -> PathIterate:
        """Return the iterate plus a step along a direction."""
        return PathIterate(
            self.point + step * direction.point,
            self.weights + step * direction.weights,
            self.theta + step * direction.theta,
            self.primal + step * direction.primal,
            self.dual + step * direction.dual,
        )


class Embedding:
    """The data of a system by kinds of blocks, in isometric coordinates.

    Parameters
    ----------
    cone
        K: rows, second-order cones, matrices with all entries, or a product of these.
    data
        A* in flat coordinates, dense or sparse, shape ``(size, dimension)``. Rows of few entries
        stay sparse.
    """

    blocks: ConeBlocks

    def __init__(self, cone: Cone, data: Rows) -> None:
        # Off-diagonal entries count twice in the trace: sqrt(2) makes it the dot product
        root = np.sqrt(cone.multiplicity)
        self.rank, self.dimension = cone.rank, data.shape[1]
        if isinstance(cone, Orthant) and _stays_sparse(data):
            self.blocks = RowBlocks(np.arange(cone.size), sp.csr_array(data))
        else:
            self.blocks = blocks_of(cone, dense_array(data) * root[:, None])
        self._root = root[self.blocks.indices]

    def start(self) -> PathIterate:
        """Return s = z = e, theta = 1."""
        e = self.blocks.identity
        return PathIterate(np.zeros(self.dimension), np.zeros(len(e)), 1.0, e.copy(), e.copy())

    def start_at(self, point: FloatArray, *, close: bool) -> PathIterate:
        """Return a pair with a multiple t y of a given point, w = 0 and z = theta e.

        With x = A*y and m = tr x / r, theta = 1 - t m leads to tr s = r, as at s = z = e, and to
        s = e + t (x - m e) inside K for t small enough: s o z / theta = s. Where y is near a
        feasible point, theta is that much less than 1; it is never above 1 + PART.

        Parameters
        ----------
        point
            y, shape ``(dimension,)``.
        close
            Whether the pair is to be as near the central path as short steps need: t norm(x - m e)
            <= 1/2 gives sum (v - v^-1)^2 = sum (s_i - 1)^2 / s_i <= 1/2, v = s^(1/2). Else s has
            eigenvalues of 1 - PART or more.
        """
        e = self.blocks.identity
        scores = self.blocks.data @ point
        mean = float(e @ scores) / self.rank
        rest = scores - mean * e
        # Short steps need the start within their neighbourhood of the path; long ones only inside
        if close:
            part, spread = NEAR, float(np.linalg.norm(rest))
        else:
            part, spread = PART, -self.blocks.scaling(e, e).lowest(rest)
        largest = max(spread, abs(mean))
        if not largest > 0.0:  # A*y = 0
            return self.start()
        length = part / largest
        # tr s = r is kept, as at s = z = e, see above
        theta = 1.0 - length * mean
        primal = e + length * rest
        return PathIterate(length * point, np.zeros(len(e)), theta, primal, theta * e)

    def flat(self, element: FloatArray) -> FloatArray:
        """Return an element as weights in the cone's flat coordinates."""
        weights = np.empty(len(element))
        weights[self.blocks.indices] = element * self._root
        return weights


class ScaledIterate:
    """An iterate with its Nesterov-Todd scaling W; Newton's equations are solved in this space.

    With B = W^-1 A* the direction of dtheta and a given W^-1 ds + W'dz = g is that of the
    least-squares problem B dy ~ g - dtheta (W^-1 e + W'e), whose residual is W'dw.

    Parameters
    ----------
    embedding, iterate
        The data and the pair. LinAlgError is raised where it is not inside in floating point, or
        where the normal equations have no Cholesky factor.
    """

    def __init__(self, embedding: Embedding, iterate: PathIterate) -> None:
        self._of, self.iterate = embedding.blocks, iterate
        self.rank = embedding.rank
        self._scaling = self._of.scaling(iterate.primal, iterate.dual)
        self._columns = self._scaling.columns()
        e = self._of.identity
        self._scaled_identity = self._scaling.primal(e), self._scaling.dual(e)
        self._weight, self._factor = _factored(self._columns)

    @property
    def gap(self) -> float:
        """<s, z> / r, the mean square of the eigenvalues of lambda."""
        return float(self.iterate.primal @ self.iterate.dual) / self.rank

    @property
    def trace(self) -> float:
        """(tr s + tr z) / r, which is 1 + theta."""
        return float(self._of.identity @ (self.iterate.primal + self.iterate.dual)) / self.rank

    def _solved(self, target: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the least-squares solution of B x ~ target, and its residual."""
        solution, residual = np.zeros(self._columns.shape[1]), target
        # Near the boundary the normal equations lose half the digits: refinement regains some
        for _ in range(1 + REFINED):
            check_time()
            gradient = self._weight * (self._columns.T @ residual)
            step = scipy.linalg.cho_solve(self._factor, gradient, check_finite=False)
            solution = solution + self._weight * step
            residual = target - self._columns @ solution
        return solution, residual

    def direction(self, target: FloatArray, theta: float) -> PathDirection:
        """Return the direction with W^-1 ds + W'dz = target and dtheta = theta."""
        first, second = (theta * image for image in self._scaled_identity)
        point, residual = self._solved(target - first - second)
        weights, shift = self._scaling.dual_back(residual), theta * self._of.identity
        return PathDirection(
            point=point,
            weights=weights,
            theta=theta,
            primal=self._of.data @ point + shift,
            dual=weights + shift,
            scaled_primal=self._columns @ point + first,
            scaled_dual=residual + second,
        )

    def towards(self, share: float, bend: PathDirection | None = None) -> PathDirection:
        """Return Newton's direction to lambda o lambda = share gap e and theta times the share.

        ``bend`` is the direction whose second-order term is corrected for (Mehrotra).
        """
        # Complementarity in the scaled space: lambda o (ds + dz) = share gap e - lambda o lambda
        required = share * self.gap * self._of.identity
        if bend is not None:
            required = required - self._scaling.product(bend.scaled_primal, bend.scaled_dual)
        target = self._scaling.quotient(required) - self._scaling.middle
        return self.direction(target, (share - 1.0) * self.iterate.theta)

    def lengths(self, direction: PathDirection) -> tuple[float, float]:
        """Return the step lengths at which s and z reach the boundary of the cone."""
        lows = map(self._scaling.lowest, (direction.scaled_primal, direction.scaled_dual))
        # Without a negative eigenvalue the step is unlimited, here LONGEST
        first, second = (1.0 / max(-low, 1.0 / LONGEST) for low in lows)
        return first, second


def _stays_sparse(data: Rows) -> bool:
    if isinstance(data, np.ndarray):
        return False
    return bool(data.nnz <= SPARSE * data.shape[0] * data.shape[1])


def _factored(columns: Rows) -> tuple[FloatArray, tuple[FloatArray, bool]]:
    """Return d with D B'B D of diagonal 1 or 0, and the Cholesky factor of that plus a ridge."""
    check_time(float(columns.shape[1]) * columns.size + float(columns.shape[1]) ** 3)
    normal = dense_array(columns.T @ columns)
    # Columns of different lengths would spoil the Cholesky factor: scale the diagonal to 1
    squares = normal.diagonal()
    nonzero = squares > 0.0
    scale = np.where(nonzero, 1.0 / np.sqrt(np.where(nonzero, squares, 1.0)), 0.0)
    normal *= scale
    normal *= scale[:, None]
    # The least ridge for which the factor exists; the refinement corrects for it
    for ridge in RIDGES:
        check_time(float(len(scale)) ** 3 / 3.0)
        raised = normal.copy()
        raised[np.diag_indices(len(scale))] = 1.0 + ridge
        try:
            return scale, scipy.linalg.cho_factor(raised, overwrite_a=True, check_finite=False)
        except scipy.linalg.LinAlgError:
            continue
    raise np.linalg.LinAlgError("the normal equations are singular")
