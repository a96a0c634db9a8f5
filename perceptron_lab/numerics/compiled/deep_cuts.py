"""The ellipsoid method with deep cuts on min c'x, F(x) positive semidefinite, as one loop.

The ellipsoid is {x + (sQ)^(1/2) u: norm(u) <= 1}. For a cut a'y <= b with depth
alpha = (a'x - b) / sqrt(a'Pa), P = sQ, at the centre x, Bland, Goldfarb and Todd (1981) take

    tau = (1 + n alpha) / (n + 1),  sigma = 2 tau / (1 + alpha),
    delta = n^2 (1 - alpha^2) / (n^2 - 1),
    x <- x - tau Pa / sqrt(a'Pa),  P <- delta (P - sigma Paa'P / a'Pa),

the smallest ellipsoid around the part of the old one with a'y <= b.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from perceptron_lab.numerics.compiled.kernel import REORDER, IntVector, Matrix, Vector, kernel
from perceptron_lab.numerics.compiled.symmetric_products import symmetric_product, symmetric_update

Structure: TypeAlias = tuple[IntVector, IntVector, IntVector, IntVector]
Values: TypeAlias = tuple[Vector, Vector]

# How a call ends: the updates are made, the target or the gap is reached, nothing is left to cut
GOING_ON, REACHED, FLAT = 0, 1, 2
# The places of the numbers of a search
BEST, SCALE, LOG_VOLUME, LOWER, NUMBERS = 0, 1, 2, 3, 4
# The places of its counts: updates, cuts by the objective, feasible centres, cuts by matrices
UPDATES, OBJECTIVE, FEASIBLE, CUTS, COUNTS = 0, 1, 2, 3, 4


@kernel(fastmath=REORDER)
def failing_direction(
    failed: int,
    structure: Structure,
    factor: Vector,
    rest: Matrix,
    filled: IntVector,
    direction: Vector,
) -> None:
    """Write v, 1 in the failing row and 0 behind it, with L'v = e in the rows before.

    Parameters are those of :func:`first_failure`, which calls it.
    """
    positions, rows, _, _ = structure
    head = positions.shape[0] - 1
    direction[:] = 0.0
    direction[failed] = 1.0
    # Back-substitution in the dense trailing factor, then in the sparse columns
    if failed > head:
        row = rest[failed - head]
        for j in range(failed - head - 1, -1, -1):
            value = row[j]
            for i in range(j + 1, failed - head):
                value += rest[i, j] * direction[head + i]
            direction[head + j] = -value / rest[j, j]
    for j in range(min(failed, head) - 1, -1, -1):
        value = 0.0
        for p in range(positions[j], filled[j]):
            value += factor[p] * direction[rows[p]]
        direction[j] = -value


@kernel(fastmath=REORDER)
def first_failure(
    point: Vector,
    entries: Structure,
    values: Values,
    structure: Structure,
    factor: Vector,
    pivots: Vector,
    rest: Matrix,
    filled: IntVector,
    work: Vector,
    direction: Vector,
) -> int:
    """Write v with v'F(x)v equal to the first pivot that is not positive; return its row, or -1.

    F(x) = L D L' in the order of elimination, row by row and only as far as the failing one; the
    entries of a row of F are computed when it is reached. The trailing rows, which are filled, are
    a dense Cholesky factor. v is 1 in the failing row and 0 behind it.

    Parameters
    ----------
    point
        x, shape ``(m,)``.
    entries
        Starts and columns of the entries of F(x), which are sparse rows in x: first those left of
        the diagonal, row by row, then the diagonal. Starts and columns of the rows of F, which say
        what entries they have, as for :func:`.elimination_tree`.
    values
        The coefficients of the entries, and their constants.
    structure
        That of L: starts and rows of its columns, starts and columns of its rows, as
        :mod:`.sparse_ldl` has it.
    factor, pivots, rest
        Receive L, D and the dense factor, whose lower triangle is used.
    filled, work
        Memory of shape ``(head,)`` and ``(n,)``; ``work`` is 0 before and after.
    direction
        Receives v, shape ``(n,)``.
    """
    entry_starts, entry_columns, starts, columns = entries
    entry_values, constant = values
    positions, rows, row_starts, row_columns = structure
    n, head = direction.shape[0], pivots.shape[0]
    sides = constant.shape[0] - n
    failed = -1
    filled[:] = positions[:-1]
    for i in range(n):
        for p in range(starts[i], starts[i + 1]):
            value = constant[p]
            for q in range(entry_starts[p], entry_starts[p + 1]):
                value += entry_values[q] * point[entry_columns[q]]
            work[columns[p]] = value
        square = constant[sides + i]
        for q in range(entry_starts[sides + i], entry_starts[sides + i + 1]):
            square += entry_values[q] * point[entry_columns[q]]
        # Up-looking elimination: row i of L by a sparse triangular solve with the rows before
        for t in range(row_starts[i], row_starts[i + 1]):
            j = row_columns[t]
            value = work[j]
            # Zero again for the next row: clearing all of ``work`` would cost n per row
            work[j] = 0.0
            end = filled[j]
            for p in range(positions[j], end):
                work[rows[p]] -= factor[p] * value
            entry = value / pivots[j]
            square -= entry * value
            factor[end] = entry
            filled[j] = end + 1
        if i < head:
            pivots[i] = square
        else:
            row = rest[i - head]
            for j in range(i - head):
                other, value = rest[j], work[head + j]
                work[head + j] = 0.0
                for k in range(j):
                    value -= row[k] * other[k]
                row[j] = value / other[j]
                square -= row[j] * row[j]
            if square > 0.0:
                row[i - head] = np.sqrt(square)
        # NaN counts as a failure too
        if not square > 0.0:
            failed = i
            break
    if failed >= 0:
        failing_direction(failed, structure, factor, rest, filled, direction)
    return failed


@kernel(fastmath=REORDER)
def matrix_cut(
    failed: int,
    direction: Vector,
    centre: Vector,
    entries: Structure,
    values: Values,
    normal: Vector,
) -> float:
    """Write the normal of the cut v'F(y)v >= 0, and return -v'F(x)v at the centre, 0 at least.

    normal'y <= -v'F(0)v is what the cut says; v is 0 behind the row that failed.
    """
    entry_starts, entry_columns, starts, columns = entries
    entry_values, constant = values
    sides = constant.shape[0] - direction.shape[0]
    excess, normal[:] = 0.0, 0.0
    for i in range(failed + 1):
        if direction[i] != 0.0:
            for p in range(starts[i], starts[i + 1]):
                weight = 2.0 * direction[i] * direction[columns[p]]
                excess -= weight * constant[p]
                for q in range(entry_starts[p], entry_starts[p + 1]):
                    normal[entry_columns[q]] -= weight * entry_values[q]
            p, weight = sides + i, direction[i] * direction[i]
            excess -= weight * constant[p]
            for q in range(entry_starts[p], entry_starts[p + 1]):
                normal[entry_columns[q]] -= weight * entry_values[q]
    for k in range(centre.shape[0]):
        excess += normal[k] * centre[k]
    return max(excess, 0.0)


@kernel(fastmath=REORDER)
def deep_cut_step(
    centre: Vector, lower: Matrix, numbers: Vector, product: Vector, square: float, depth: float
) -> None:
    """Move to the smallest ellipsoid around what a cut of some depth leaves, in place.

    ``product`` is Qa and ``square`` is a'Qa for the cut's normal a.
    """
    n = centre.shape[0]
    # The coefficients of Bland, Goldfarb and Todd (1981) for a cut of this depth
    step = (1.0 + n * depth) / (n + 1.0)
    along = step * np.sqrt(numbers[SCALE]) / np.sqrt(square)
    for k in range(n):
        centre[k] -= along * product[k]
    if n == 1:
        numbers[SCALE] *= 0.25 * (1.0 - depth) ** 2
        numbers[LOG_VOLUME] += np.log(0.5 * (1.0 - depth))
        return
    shrink = 2.0 * step / (1.0 + depth)
    growth = n * n / (n * n - 1.0) * (1.0 - depth * depth)
    symmetric_update(lower, product, shrink / square)
    numbers[SCALE] *= growth
    numbers[LOG_VOLUME] += 0.5 * (n * np.log(growth) + np.log(1.0 - shrink))


@kernel(fastmath=REORDER)
def deep_cut_search(
    objective: Vector,
    centre: Vector,
    best: Vector,
    lower: Matrix,
    numbers: Vector,
    counts: IntVector,
    entries: Structure,
    values: Values,
    structure: Structure,
    stored_cuts: Matrix,
    target: float,
    gap: float,
    most: int,
    deep: bool,
) -> int:
    """Cut off up to ``most`` centres; the state arrays are updated in place.

    A centre with c'x >= best is cut off by c'y <= best; one that is not feasible by v'F(y)v >= 0
    for the direction v at which elimination fails; a feasible one becomes the best, and is cut off
    by its own objective.

    Parameters
    ----------
    objective
        c, shape ``(m,)``.
    centre, best, lower
        x; the best feasible centre; the lower triangle of Q. Shapes ``(m,)``, ``(m,)``, ``(m, m)``.
    numbers
        Least objective of a feasible centre, or infinity; s; the logarithm of the volume over that
        at the start; the largest c'x - sqrt(c'Pc), which the optimum is not below.
    counts
        Updates, cuts by the objective, feasible centres, cuts by matrices.
    entries, values, structure
        F and the structure of L, as for :func:`first_failure`.
    stored_cuts
        The last directions v, one per row: that of cut k is in row k modulo their number.
    target, gap
        The search ends when the best objective is at most ``target``, or above ``numbers[LOWER]``
        by ``gap`` at most.
    most
        Updates.
    deep
        Whether cuts go as deep as they can; else through the centre.

    Returns
    -------
    GOING_ON, REACHED, or FLAT: there is nothing left to cut, or Q is not definite in doubles.
    """
    n, order, head = objective.shape[0], stored_cuts.shape[1], structure[0].shape[0] - 1
    factor, pivots = np.zeros(structure[1].shape[0]), np.empty(head)
    rest, filled = np.zeros((order - head, order - head)), np.empty(head, np.int64)
    work, direction = np.zeros(order), np.zeros(order)
    normal, product = np.empty(n), np.empty(n)
    for _ in range(most):
        value = 0.0
        for k in range(n):
            value += objective[k] * centre[k]
        excess, by_objective = value - numbers[BEST], True
        if excess < 0.0:
            failed = first_failure(
                centre, entries, values, structure, factor, pivots, rest, filled, work, direction
            )
            by_objective = failed < 0
            if by_objective:
                numbers[BEST], excess = value, 0.0
                best[:] = centre
                counts[FEASIBLE] += 1
                if value <= target or value - numbers[LOWER] <= gap:
                    return REACHED
            else:
                excess = matrix_cut(failed, direction, centre, entries, values, normal)
                stored_cuts[counts[CUTS] % stored_cuts.shape[0]] = direction
                counts[CUTS] += 1
        if by_objective:
            normal[:] = objective
            counts[OBJECTIVE] += 1
        square = symmetric_product(lower, normal, product)
        if not (square > 0.0 and square < np.inf):
            return FLAT
        reach = np.sqrt(square) * np.sqrt(numbers[SCALE])
        if by_objective:
            numbers[LOWER] = max(numbers[LOWER], value - reach)
            if numbers[BEST] - numbers[LOWER] <= gap:
                return REACHED
        depth = excess / reach if deep else 0.0
        if not depth < 1.0:
            return FLAT
        deep_cut_step(centre, lower, numbers, product, square, depth)
        counts[UPDATES] += 1
    return GOING_ON
