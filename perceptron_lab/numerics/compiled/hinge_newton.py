"""Newton's method on the squared hinge loss of sparse unit rows: a separator, or weights.

f(y) = 1/2 sum_i max(0, 1 - a_i'y)^2 is convex, piecewise quadratic and has a minimum. That is 0 if
and only if some y has A*y > 0; else the residuals r of a minimum are weights with A r = 0, r >= 0,
r != 0, as -A r is the gradient: Gordan's alternative. And at any y, margin <= norm(A r) / sum(r).

With exact steps Newton's method with an exact line search ends after finitely many (O. L.
Mangasarian, *A finite Newton method for classification*, Optimization Methods and Software 17,
2002). Here the equations A_I A_I* d = A r are solved by conjugate gradients, preconditioned by the
diagonal of A A* (S. S. Keerthi and D. DeCoste, *A modified finite Newton method for fast solution
of large scale linear SVMs*, Journal of Machine Learning Research 6, 2005): roughly, and accurately
once the active rows hardly change. A margin rho does not take 1 / rho^2 steps, but the conjugate
gradients that the condition of the active rows asks for.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from perceptron_lab.core.results import FloatArray
from perceptron_lab.core.time_limit import PIECE, time_is_up
from perceptron_lab.numerics.compiled.hinge_products import (
    best_pace,
    column_squares,
    hinge_curvature,
    hinge_gradient,
    inactive_scores,
    sparse_scores,
)
from perceptron_lab.numerics.compiled.kernel import (
    REORDER,
    IntVector,
    Matrix,
    UnsignedArray,
    UnsignedVector,
    Vector,
    kernel,
)

# How a run ends: min A*y > 0; norm(A r) / sum r is as small as asked for; neither yet; or a number
# is not finite
SEPARATED, NEAR, GOING_ON, BROKEN = 1, 2, 0, -1
# Residual of the equations at most, relative to the gradient, in the norm of the preconditioner:
# for rows that are active for the time being, and for those that have become the active ones
ROUGH, ACCURATE = 0.5, 0.01
# Part of the active rows by which their number differs from the last one where they have
SETTLED = 0.01
# Conjugate gradients in one Newton step at most
MOST_AT_ONCE = 100


@dataclass
class HingeRun:
    """The computed outcome of Newton's method.

    Parameters
    ----------
    separated
        Whether min A*point > clearance norm(point); nothing is proved.
    point
        The last y, shape ``(n,)``.
    weights
        r / sum r at y, shape ``(m,)``, >= 0, with sum 1; 0 if no residual is positive.
    length
        norm(A weights), an upper bound of the margin; infinite without weights.
    steps, products
        Newton steps, and products with the Hessian of active rows.
    """

    separated: bool
    point: FloatArray
    weights: FloatArray
    length: float
    steps: int
    products: int


@kernel(fastmath=REORDER)
def inner(first: Vector, second: Vector) -> float:
    """Return u'v."""
    total = 0.0
    for j in range(len(first)):
        total += first[j] * second[j]
    return total


@kernel()
def _conjugate_steps(
    values: Vector,
    columns: UnsignedVector,
    ends: UnsignedVector,
    active: UnsignedVector,
    inverse: Vector,
    residual: Vector,
    solution: Vector,
    moves: Vector,
    vectors: Matrix,
    scores: Vector,
    squares: Vector,
    steps: IntVector,
    most: int,
    pieces: int,
) -> bool:
    """Make up to this many conjugate-gradient steps; return whether they have ended.

    ``vectors`` are the preconditioned residual, the direction and its image, ``squares`` that of
    the residual and what is enough, ``steps`` counts the products.
    """
    preconditioned, direction, image = vectors[0], vectors[1], vectors[2]
    for _ in range(min(pieces, most - steps[0])):
        steps[0] += 1
        hinge_curvature(values, columns, ends, active, direction, scores, image)
        curvature = inner(scores, scores)
        if not curvature > 0.0:
            return True
        pace = squares[0] / curvature
        for j in range(len(solution)):
            solution[j] += pace * direction[j]
            residual[j] -= pace * image[j]
            preconditioned[j] = inverse[j] * residual[j]
        for j in range(len(active)):
            moves[active[j]] += pace * scores[j]
        last, squares[0] = squares[0], inner(residual, preconditioned)
        if not squares[0] > squares[1]:
            return True
        share = squares[0] / last
        for j in range(len(direction)):
            direction[j] = preconditioned[j] + share * direction[j]
    return bool(steps[0] == most)


def conjugate_gradients(
    values: FloatArray,
    columns: UnsignedArray,
    ends: UnsignedArray,
    active: UnsignedArray,
    inverse: FloatArray,
    residual: FloatArray,
    solution: FloatArray,
    moves: FloatArray,
    forcing: float,
    most: int,
) -> int:
    """Solve A_I A_I* d = A r, unless the time is up before; return the number of products.

    Parameters
    ----------
    values, columns, ends
        The data, indices and indptr of a CSR array of shape ``(m, n)``.
    active
        I, shape ``(k,)``.
    inverse
        The diagonal of the preconditioner, shape ``(n,)``.
    residual
        A r, shape ``(n,)``; what is left of the equations is written.
    solution, moves
        d, shape ``(n,)``, and A_I* d at the active rows, shape ``(m,)``; written.
    forcing
        Residual at most, relative to the first in the norm of the preconditioner.
    most
        Products at most, 1 or more.
    """
    preconditioned = inverse * residual
    vectors = np.stack([preconditioned, preconditioned, np.empty_like(residual)])
    solution[:], moves[active] = 0.0, 0.0
    square, steps = inner(residual, preconditioned), np.zeros(1, np.int64)
    squares = np.array([square, forcing * forcing * square])
    arguments = values, columns, ends, active, inverse, residual, solution, moves, vectors
    room = np.empty(len(active)), squares, steps, most, PIECE // (4 * len(values) + 1) + 1
    while not (_conjugate_steps(*arguments, *room) or time_is_up()):
        pass
    return int(steps[0])


def newton_loop(
    values: FloatArray,
    columns: UnsignedArray,
    ends: UnsignedArray,
    point: FloatArray,
    scores: FloatArray,
    most: int,
    clearance: float,
    threshold: float,
) -> tuple[int, int, int]:
    """Make Newton steps on y and its scores A*y, in place, until a stopping rule holds.

    Parameters
    ----------
    values, columns, ends
        As for :func:`conjugate_gradients`.
    point, scores
        y, shape ``(n,)``, and A*y, shape ``(m,)``.
    most
        Products with the Hessian at most.
    clearance
        A point separates where min A*y > clearance norm(y).
    threshold
        norm(A r) / sum r that ends it.

    Returns
    -------
    tuple
        The outcome, the Newton steps, and the products.
    """
    active, moves = np.empty(len(scores), np.uint32), np.empty_like(scores)
    gradient, solution = np.empty_like(point), np.empty_like(point)
    inverse = np.empty_like(point)
    column_squares(values, columns, inverse)
    np.divide(1.0, inverse, out=inverse, where=inverse > 0.0)
    steps, products, before = 0, 0, -1
    while products < most and not time_is_up():
        count, total = hinge_gradient(values, columns, ends, scores, active, gradient)
        if math.sqrt(inner(gradient, gradient)) <= threshold * total:
            return NEAR, steps, products
        if not math.isfinite(total):
            return BROKEN, steps, products
        forcing = ACCURATE if abs(count - before) <= SETTLED * count else ROUGH
        before = count
        products += conjugate_gradients(
            values,
            columns,
            ends,
            active[:count],
            inverse,
            gradient,
            solution,
            moves,
            forcing,
            min(most - products, MOST_AT_ONCE),
        )
        inactive_scores(values, columns, ends, scores, solution, moves)
        pace = best_pace(scores, moves)
        point += pace * solution
        scores += pace * moves
        steps += 1
        enough = clearance * math.sqrt(inner(point, point))
        if scores.min() > enough:
            sparse_scores(values, columns, ends, point, scores)
            if scores.min() > enough:
                return SEPARATED, steps, products
    return GOING_ON, steps, products


def newton_on_hinge(
    rows: sp.csr_array,
    most: int,
    *,
    start: FloatArray | None = None,
    clearance: float = 0.0,
    threshold: float = 0.0,
) -> HingeRun:
    """Make Newton steps until a point separates the rows, as computed, or weights are near 0.

    Parameters
    ----------
    rows
        Unit rows, shape ``(m, n)``, a CSR array of doubles with int32 indices.
    most
        Products with the Hessian at most, 1 or more; each costs two multiplications for an entry of
        an active row. Fewer are made where the time is up.
    start
        The first y, shape ``(n,)``, in whatever length; None is 0.
    clearance
        A point separates where min A*y > clearance norm(y), 0 or more.
    threshold
        The norm(A weights) that ends it, 0 or more.
    """
    assert most > 0
    point = np.zeros(rows.shape[1]) if start is None else start.copy()
    scores = np.empty(rows.shape[0])
    stored = rows.data, rows.indices.view(np.uint32), rows.indptr.view(np.uint32)
    sparse_scores(*stored, point, scores)
    ended, steps, products = newton_loop(*stored, point, scores, most, clearance, threshold)
    residuals = np.maximum(0.0, 1.0 - scores)
    total, length = float(residuals.sum()), math.inf
    if total > 0.0:
        residuals /= total
        length = float(np.linalg.norm(residuals @ rows))
    return HingeRun(ended == SEPARATED, point, residuals, length, steps, products)
