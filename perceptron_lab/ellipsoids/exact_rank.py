"""Whether rows lie in an affine hull of some dimension without rounding.

Doubles are integers times powers of 2. Of the differences of the rows to the first one, r columns B
that are independent to rounding, and r rows of them, are chosen by pivoted QR factorisations;
fraction-free elimination (Bareiss) solves det B X = det (B) C for the other columns there, and the
products are compared on all rows, in integers.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import scipy.linalg

from perceptron_lab.results import FloatArray, IntArray

MOST_ENTRIES = 50_000
"""Of the rows: the time is some seconds."""
LONGEST = 200
"""Bits by which the magnitudes of a column may differ."""

Integers = npt.NDArray[np.object_]


def distinct_columns(points: FloatArray) -> IntArray:
    """Return the columns in which rows differ, without those that repeat another one."""
    varying = np.flatnonzero(np.ptp(points, axis=0))
    columns = np.ascontiguousarray(points[:, varying].T) + 0.0  # -0 becomes 0
    first = {column.tobytes(): int(at) for at, column in zip(varying, columns, strict=True)}
    return np.array(sorted(first.values()), dtype=np.int64)


def lies_in_dimension(points: FloatArray, dimension: int) -> bool:
    """Tell whether the affine hull of rows is proved to have a dimension, or less.

    Columns that vary and repeat no other one are counted first. If they are more, the rank is
    computed, unless the rows are many or of very different magnitudes.
    """
    varying = distinct_columns(points)
    if len(varying) <= dimension:
        return True
    rows = np.unique(points[:, varying], axis=0)
    if rows.size > MOST_ENTRIES or not dimension:
        return False
    whole = [_integers(column) for column in rows.T]
    known = [column for column in whole if column is not None]
    if len(known) < len(whole):
        return False
    exact = np.array(known, dtype=object).T
    return _depends(exact - exact[0], rows - rows[0], dimension)


def _integers(column: FloatArray) -> list[int] | None:
    """Return doubles times a power of 2 as integers; None where they would be long."""
    fractions, exponents = np.frexp(column)
    used = exponents[fractions != 0.0]
    if int(used.max()) - int(used.min()) > LONGEST:
        return None
    least = int(used.min())
    pairs = zip((fractions * 2.0**53).tolist(), exponents.tolist(), strict=True)
    return [int(part) << (power - least) if part else 0 for part, power in pairs]


def _depends(exact: Integers, near: FloatArray, rank: int) -> bool:
    """Tell whether all columns of integers depend on so many of them that are independent."""
    sizes = np.linalg.norm(near, axis=0)
    columns = _pivots(near / sizes, rank)
    rows = _pivots((near[:, columns] / sizes[columns]).T, rank)
    others = np.setdiff1d(np.arange(exact.shape[1]), columns)
    solved = _eliminated(exact[np.ix_(rows, np.concatenate([columns, others]))])
    if solved is None:
        return False
    determinant, factors = solved
    return bool((exact[:, columns] @ factors == determinant * exact[:, others]).all())


def _pivots(matrix: FloatArray, count: int) -> IntArray:
    return np.asarray(scipy.linalg.qr(matrix, mode="r", pivoting=True)[1][:count])


def _eliminated(matrix: Integers) -> tuple[int, Integers] | None:
    """Return +-det B and as many B^-1 C of [B, C], B square; None if det B = 0."""
    work, order, last = matrix.copy(), len(matrix), 1
    for step in range(order):
        nonzero = np.flatnonzero(work[step:, step] != 0)
        if not len(nonzero):
            return None
        work[[step, step + nonzero[0]]] = work[[step + nonzero[0], step]]
        pivot = work[step, step]
        others = np.arange(order) != step
        outer = np.outer(work[others, step], work[step])
        work[others] = (pivot * work[others] - outer) // last  # exact, by Sylvester's identity
        last = pivot
    return int(last), work[:, order:]
