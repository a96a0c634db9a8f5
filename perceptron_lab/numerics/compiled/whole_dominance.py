"""Whether M - LL' is dominated by its diagonal, in whole numbers of two words."""

from __future__ import annotations

import numpy as np

from perceptron_lab.numerics.compiled.kernel import IntMatrix, IntVector, kernel

Words = tuple[IntVector, IntVector, IntVector, IntVector]
"""Where each line begins, the places in it, ascending, and the two words of each entry."""


@kernel()
def _collect(
    factor: Words,
    rows: tuple[IntVector, IntVector],
    matrix: Words,
    i: int,
    next_of: IntVector,
    sums: IntMatrix,
    seen: IntVector,
    met: IntVector,
) -> int:
    """Add up row i of LL' and M from the diagonal on; return how many places are met.

    Row j of ``sums``: sums of high x high, high x low and low x low of L, and M's two words.
    ``next_of`` holds, column by column of L, the first entry at or behind row i.
    """
    starts, places, high, low = factor
    count = 0
    for at in range(rows[0][i], rows[0][i + 1]):
        k = rows[1][at]
        first = next_of[k]
        next_of[k] = first + 1
        a, b = high[first], low[first]
        for e in range(first, starts[k + 1]):
            j = places[e]
            if seen[j] != i:
                seen[j] = i
                met[count] = j
                count += 1
            sums[j, 0] += a * high[e]
            sums[j, 1] += a * low[e] + b * high[e]
            sums[j, 2] += b * low[e]
    for at in range(matrix[0][i], matrix[0][i + 1]):
        j = matrix[1][at]
        if seen[j] != i:
            seen[j] = i
            met[count] = j
            count += 1
        sums[j, 3], sums[j, 4] = matrix[2][at], matrix[3][at]
    return count


@kernel()
def undominated_row(
    factor: Words, rows: tuple[IntVector, IntVector], matrix: Words, bits: int, slack: int
) -> int:
    """Return the first i with R_ii <= sum_{j != i} (|R_ij| + slack) for R = M - LL', or -1.

    A number is high 2^(2 b) + low, 0 <= low < 4^b, b = ``bits`` <= 26; one of L is
    high 2^b + low, |low| <= 2^(b-1). No sum of products of these may reach 2^61: whoever calls
    sees to that. Sums of |R_ij| are high, too: rows with an entry above 2^(2 b + 44) are returned.

    Parameters
    ----------
    factor
        L, column by column.
    rows
        Where each row of L begins, shape ``(n + 1,)``, and the columns with entries in it.
    matrix
        M's entries on and above the diagonal, row by row.
    """
    order = len(rows[0]) - 1
    word, whole = 2 * bits, (np.int64(1) << (2 * bits)) - 1
    mask = (np.int64(1) << bits) - 1
    next_of = factor[0][:-1].copy()
    sums, seen = np.zeros((order, 5), np.int64), np.full(order, -1)
    met = np.empty(order, np.int64)
    own, rest = np.zeros((order, 2), np.int64), np.zeros((order, 2), np.int64)
    for i in range(order):
        for c in range(_collect(factor, rows, matrix, i, next_of, sums, seen, met)):
            j = met[c]
            middle = sums[j, 1] + (sums[j, 2] >> bits)
            low = sums[j, 4] - (((middle & mask) << bits) + (sums[j, 2] & mask))
            high = sums[j, 3] - (sums[j, 0] + (middle >> bits)) + (low >> word)
            low &= whole
            sums[j] = 0
            if j == i:
                own[i, 0], own[i, 1] = high, low
                continue
            if high < 0:  # its magnitude
                low = -low
                high = -high + (low >> word)
                low &= whole
            if high >> 44:  # so that 2^17 of them have a sum
                return int(min(i, j))
            for row in (i, j):
                total = rest[row, 1] + low + slack
                rest[row, 0] += high + (total >> word)
                rest[row, 1] = total & whole
    for i in range(order):
        if own[i, 0] < rest[i, 0] or (own[i, 0] == rest[i, 0] and own[i, 1] <= rest[i, 1]):
            return i
    return -1
