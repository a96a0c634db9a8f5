"""Whether M - LL' is dominated by its diagonal, in whole numbers of two words."""

from __future__ import annotations

import numpy as np

from perceptron_lab.compiled.kernel import kernel
from perceptron_lab.results import IntArray


@kernel(
    "int64(int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1],"
    " int64[::1], int64[::1], int64[::1], int64[::1], int64, int64)"
)
def undominated_row(
    starts: IntArray,
    places: IntArray,
    high: IntArray,
    low: IntArray,
    row_starts: IntArray,
    row_columns: IntArray,
    matrix_starts: IntArray,
    matrix_columns: IntArray,
    matrix_high: IntArray,
    matrix_low: IntArray,
    bits: int,
    slack: int,
) -> int:
    """Return the first i with R_ii <= sum_{j != i} (|R_ij| + slack) for R = M - LL', or -1.

    A number is high 2^(2 b) + low, 0 <= low < 4^b, b = ``bits`` <= 26; one of L is
    high 2^b + low, |low| <= 2^(b-1). No sum of products of these may reach 2^61: whoever calls
    sees to that. Sums of |R_ij| are high, too: rows with an entry above 2^(2 b + 44) are returned.

    Parameters
    ----------
    starts, places, high, low
        The columns of L: where each begins, shape ``(columns + 1,)``; and its entries, places
        ascending.
    row_starts, row_columns
        The columns with entries in each row, shapes ``(n + 1,)`` and ``(entries,)``.
    matrix_starts, matrix_columns, matrix_high, matrix_low
        M's entries on and above the diagonal, row by row, columns ascending.
    """
    order = len(row_starts) - 1
    word, whole = 2 * bits, (np.int64(1) << (2 * bits)) - 1
    mask = (np.int64(1) << bits) - 1
    place = starts[:-1].copy()
    aa, ab, bb = np.zeros(order, np.int64), np.zeros(order, np.int64), np.zeros(order, np.int64)
    m_high, m_low = np.zeros(order, np.int64), np.zeros(order, np.int64)
    seen = np.full(order, -1)
    list_of = np.empty(order, np.int64)
    own_high, own_low = np.zeros(order, np.int64), np.zeros(order, np.int64)
    rest_high, rest_low = np.zeros(order, np.int64), np.zeros(order, np.int64)
    for i in range(order):
        count = 0
        for at in range(row_starts[i], row_starts[i + 1]):
            k = row_columns[at]
            first, last = place[k], starts[k + 1]
            a, b = high[first], low[first]
            place[k] = first + 1
            for e in range(first, last):
                j = places[e]
                if seen[j] != i:
                    seen[j] = i
                    list_of[count] = j
                    count += 1
                aa[j] += a * high[e]
                ab[j] += a * low[e] + b * high[e]
                bb[j] += b * low[e]
        for at in range(matrix_starts[i], matrix_starts[i + 1]):
            j = matrix_columns[at]
            if seen[j] != i:
                seen[j] = i
                list_of[count] = j
                count += 1
            m_high[j], m_low[j] = matrix_high[at], matrix_low[at]
        for c in range(count):
            j = list_of[c]
            middle = ab[j] + (bb[j] >> bits)
            r_low = m_low[j] - (((middle & mask) << bits) + (bb[j] & mask))
            r_high = m_high[j] - (aa[j] + (middle >> bits)) + (r_low >> word)
            r_low &= whole
            aa[j] = ab[j] = bb[j] = m_high[j] = m_low[j] = 0
            if j == i:
                own_high[i], own_low[i] = r_high, r_low
                continue
            if r_high < 0:  # its magnitude
                r_low = -r_low
                r_high = -r_high + (r_low >> word)
                r_low &= whole
            if r_high >> 44:  # so that 2^17 of them have a sum
                return int(min(i, j))
            r_low += slack
            for row in (i, j):
                total = rest_low[row] + r_low
                rest_high[row] += r_high + (total >> word)
                rest_low[row] = total & whole
    for i in range(order):
        if own_high[i] < rest_high[i] or (
            own_high[i] == rest_high[i] and own_low[i] <= rest_low[i]
        ):
            return i
    return -1
