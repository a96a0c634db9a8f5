"""The perceptron on a sequence of presentations, one example at a time: its inner loop.

Rows are float32 or float64 in C order, or in CSR; the weight vector is in double precision. Dot
products may be summed in any order.
"""

from __future__ import annotations

from typing import Annotated

from perceptron_lab.numerics.compiled.kernel import (
    REORDER,
    GivenIntVector,
    GivenVector,
    IntVector,
    RealArray,
    Vector,
    kernel,
)

GivenRealVector = Annotated[RealArray, "Array(real, 1, 'C', readonly=True)"]
GivenRealMatrix = Annotated[RealArray, "Array(real, 2, 'C', readonly=True)"]


@kernel(fastmath=REORDER)
def online_sweep(
    rows: GivenRealMatrix,
    signs: GivenVector,
    order: GivenIntVector,
    constant: float,
    weight: Vector,
    mistaken: IntVector,
) -> int:
    """Add s a to w where s a'w <= 0, example by example; in place.

    Parameters
    ----------
    rows, signs
        a, shape ``(m, n)``, and s = +1 or -1, shape ``(m,)``.
    order
        The rows that are presented, one after the other, shape ``(k,)``, each 0 <= i < m.
    constant
        A further feature of every example, its last.
    weight
        w, shape ``(n + 1,)``; the last entry belongs to the constant.
    mistaken
        Room for the presentations, from 0, at which w was wrong, shape ``(k,)``.

    Returns
    -------
    int
        The number of mistakes.
    """
    dimension, count = rows.shape[1], 0
    for k in range(len(order)):
        row = order[k]
        score = 0.0
        for j in range(dimension):
            score += rows[row, j] * weight[j]
        sign = signs[row]
        if sign * (score + constant * weight[dimension]) <= 0.0:
            for j in range(dimension):
                weight[j] += sign * rows[row, j]
            weight[dimension] += sign * constant
            mistaken[count] = k
            count += 1
    return count


@kernel(fastmath=REORDER)
def online_sparse_sweep(
    entries: GivenRealVector,
    columns: GivenIntVector,
    starts: GivenIntVector,
    signs: GivenVector,
    order: GivenIntVector,
    constant: float,
    weight: Vector,
    mistaken: IntVector,
) -> int:
    """Do the same with rows in CSR.

    Parameters
    ----------
    entries, columns, starts
        The entries of the rows, their columns (none twice in a row), and where each row starts,
        shape ``(m + 1,)``.
    signs, order, constant, weight, mistaken
        See :func:`online_sweep`.
    """
    last, count = len(weight) - 1, 0
    for k in range(len(order)):
        row = order[k]
        score = 0.0
        for at in range(starts[row], starts[row + 1]):
            score += entries[at] * weight[columns[at]]
        sign = signs[row]
        if sign * (score + constant * weight[last]) <= 0.0:
            for at in range(starts[row], starts[row + 1]):
                weight[columns[at]] += sign * entries[at]
            weight[last] += sign * constant
            mistaken[count] = k
            count += 1
    return count
