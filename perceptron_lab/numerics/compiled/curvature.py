"""v'Mv for a sparse symmetric matrix, as if computed in twice the precision."""

from __future__ import annotations

from perceptron_lab.numerics.compiled.kernel import IntVector, Vector, kernel


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
        Which of the entries are m_ii, shape ``(n,)``.
    entries
        Of M, one or more.
    """
    size, largest, trace = 0.0, 0.0, 0.0
    for entry in entries:
        if not abs(entry) <= size:
            size = abs(entry)
    for place in diagonal:
        largest = max(largest, entries[place])
        trace += max(entries[place], 0.0)
    return size, largest, trace
