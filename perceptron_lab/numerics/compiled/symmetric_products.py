"""Symmetric matrices: products with a stored lower triangle, v'Mv as if in twice the precision."""

from __future__ import annotations

from perceptron_lab.numerics.compiled.kernel import REORDER, IntVector, Matrix, Vector, kernel


@kernel(fastmath=REORDER)
def symmetric_product(lower: Matrix, vector: Vector, out: Vector) -> float:
    """Write Qa, of which the lower triangle is stored, and return a'Qa."""
    n = vector.shape[0]
    out[:] = 0.0
    # Four rows at a time: each entry of the vectors is read and written a quarter as often.
    multiple_of_4 = n - n % 4
    for i in range(0, multiple_of_4, 4):
        a, b, c, d = lower[i], lower[i + 1], lower[i + 2], lower[i + 3]
        u, v, w, z = vector[i], vector[i + 1], vector[i + 2], vector[i + 3]
        first, second, third, fourth = 0.0, 0.0, 0.0, 0.0
        for j in range(i):
            at = vector[j]
            first += a[j] * at
            second += b[j] * at
            third += c[j] * at
            fourth += d[j] * at
            out[j] += a[j] * u + b[j] * v + c[j] * w + d[j] * z
        out[i] += first + a[i] * u + b[i] * v + c[i] * w + d[i] * z
        out[i + 1] += second + b[i] * u + b[i + 1] * v + c[i + 1] * w + d[i + 1] * z
        out[i + 2] += third + c[i] * u + c[i + 1] * v + c[i + 2] * w + d[i + 2] * z
        out[i + 3] += fourth + d[i] * u + d[i + 1] * v + d[i + 2] * w + d[i + 3] * z
    for i in range(multiple_of_4, n):
        a, u, first = lower[i], vector[i], 0.0
        for j in range(i):
            first += a[j] * vector[j]
            out[j] += a[j] * u
        out[i] += first + a[i] * u
    square = 0.0
    for i in range(n):
        square += vector[i] * out[i]
    return square


@kernel(fastmath=REORDER)
def symmetric_update(lower: Matrix, vector: Vector, amount: float) -> None:
    """Apply Q <- Q - amount v v' to the lower triangle."""
    for i in range(vector.shape[0]):
        scale = amount * vector[i]
        row = lower[i]
        for j in range(i + 1):
            row[j] -= scale * vector[j]


@kernel()
def quadratic_form(
    rows: IntVector, columns: IntVector, entries: Vector, slack: float, vector: Vector
) -> tuple[float, float]:
    """Return v'(M + sI)v and |v|'|M + sI||v|, the first by a compensated sum.

    Parameters
    ----------
    rows, columns, entries
        M, the places on one side of the diagonal, the diagonal included.
    slack, vector
        s and v, shape ``(n,)``.

    References
    ----------
    T. Ogita, S. M. Rump, S. Oishi, Accurate sum and dot product, SIAM J. Sci. Comput. 26 (2005),
    Algorithm 4.4.
    """
    total, lost, sizes = 0.0, 0.0, 0.0
    for t in range(rows.shape[0]):
        i, j = rows[t], columns[t]
        left, right = vector[i], vector[j]
        if left != 0.0 and right != 0.0:
            entry = entries[t] + slack if i == j else 2.0 * entries[t]
            term = entry * left * right
            before = total
            total = before + term
            added = total - before
            lost += (before - (total - added)) + (term - added)
            sizes += abs(term)
    return total + lost, sizes


@kernel()
def diagonal_sizes(diagonal: IntVector, entries: Vector) -> tuple[float, float, float]:
    """Return the largest |m_ij|, the largest m_ii, and the sum of the positive m_ii; NaN if any is.

    Parameters
    ----------
    diagonal
        Positions of the entries m_ii, shape ``(n,)``.
    entries
        Entries of M, one or more.
    """
    size, largest, trace = 0.0, 0.0, 0.0
    for entry in entries:
        if not abs(entry) <= size:
            size = abs(entry)
    for position in diagonal:
        largest = max(largest, entries[position])
        trace += max(entries[position], 0.0)
    return size, largest, trace
