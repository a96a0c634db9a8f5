"""Which rows lie in the affine hull of others without rounding.

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

MOST_ENTRIES = 100_000
"""Of the rows: the time is some seconds."""
LONGEST = 200
"""Bits by which the magnitudes of a column may differ."""

Integers = npt.NDArray[np.object_]
BoolArray = npt.NDArray[np.bool_]


def distinct_columns(points: FloatArray) -> IntArray:
    """Return the columns in which rows differ, without those that repeat another one."""
    return np.flatnonzero(_origins(points) == np.arange(points.shape[1]))


def _origins(points: FloatArray) -> IntArray:
    """Return the first column that each column is equal to, -1 where all rows agree in it."""
    first: dict[bytes, int] = {}
    columns = np.ascontiguousarray(points.T) + 0.0  # -0 becomes 0
    found = [
        first.setdefault(column.tobytes(), at) if varies else -1
        for at, (column, varies) in enumerate(zip(columns, np.ptp(points, axis=0), strict=True))
    ]
    return np.array(found, dtype=np.int64)


def in_hull(spanning: FloatArray, others: FloatArray, dimension: int) -> BoolArray | None:
    """Return which other rows lie in the affine hull of rows without rounding.

    They agree with these in columns in which these all agree, or repeat another one. If more than
    ``dimension`` columns are left, the dependences of these are computed. None where that would
    take long, the rows being many or of very different magnitudes, or where rows span more.

    Parameters
    ----------
    spanning, others
        Rows, finite, shapes ``(m, k)``, the former at least one.
    dimension
        Of the hull, 0 or more.
    """
    origins = _origins(spanning)
    columns = np.flatnonzero(origins == np.arange(len(origins)))
    # others have what the rows have in common in columns that are no others' equals
    constant, copies = origins < 0, (origins >= 0) & (origins != np.arange(len(origins)))
    agreeing = (others[:, constant] == spanning[0, constant]).all(axis=1)
    agreeing &= (others[:, copies] == others[:, origins[copies]]).all(axis=1)
    if len(columns) <= dimension:
        return np.asarray(agreeing)
    rows = np.unique(spanning[:, columns], axis=0)
    whole = np.vstack([rows, others[:, columns]])
    known = _whole_numbers(whole) if dimension and whole.size <= MOST_ENTRIES else None
    if known is None:
        return None
    depends = _dependent(known - known[0], rows - rows[0], dimension)
    if not depends[: len(rows)].all():
        return None
    return np.asarray(agreeing & depends[len(rows) :])


def _whole_numbers(points: FloatArray) -> Integers | None:
    """Return every column times a power of 2 as integers; None where they would be long."""
    known = []
    for column in points.T:
        fractions, exponents = np.frexp(column)
        used = exponents[fractions != 0.0]
        least = int(used.min())
        if int(used.max()) - least > LONGEST:
            return None
        pairs = zip((fractions * 2.0**53).tolist(), exponents.tolist(), strict=True)
        known.append([int(part) << (power - least) if part else 0 for part, power in pairs])
    return np.array(known, dtype=object).T


def _dependent(exact: Integers, near: FloatArray, rank: int) -> BoolArray:
    """Return in which rows of integers all columns depend on as many of them as in the first."""
    sizes = np.linalg.norm(near, axis=0)
    columns = _pivots(near / sizes, rank)
    rows = _pivots((near[:, columns] / sizes[columns]).T, rank)
    others = np.setdiff1d(np.arange(exact.shape[1]), columns)
    solved = _eliminated(exact[np.ix_(rows, np.concatenate([columns, others]))])
    if solved is None:
        return np.zeros(len(exact), dtype=bool)
    determinant, factors = solved
    equal = exact[:, columns] @ factors == determinant * exact[:, others]
    return np.asarray(equal.all(axis=1), dtype=bool)


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
