"""One sweep over a block of rows: scores, their magnitudes, squared lengths, and hashes.

Sums are in the order of the entries, without fused operations. A row has the same values in either
layout of the block, and in whatever block it is.

The hash of a row x with keys k is NH, the sum of (low(x_j) + low(k_j)) (high(x_j) + high(k_j)) over
the 32-bit halves of its doubles, sums of halves modulo 2^32 and the total modulo 2^64. Two
different rows have one hash for at most one in 2^32 choices of random keys (Black, Halevi,
Krawczyk, Krovetz and Rogaway, CRYPTO 1999, theorem 4.1).
"""

from __future__ import annotations

import numpy as np

from perceptron_lab.numerics.compiled.kernel import (
    GivenMatrix,
    GivenVector,
    GivenWordVector,
    Vector,
    WordVector,
    kernel,
)

# Rows of a column-major block that are swept together: their sums stay in the fastest cache
TILE = 256
_LOW, _HALF = np.uint64(2**32 - 1), np.uint64(32)


@kernel(small=True)
def sweep_rows(
    rows: GivenMatrix,
    point: GivenVector,
    keys: GivenWordVector,
    scores: Vector,
    sizes: Vector,
    squares: Vector,
    hashes: WordVector,
) -> None:
    """Sweep over rows in C order.

    Parameters
    ----------
    rows
        A, shape ``(m, n)``.
    point, keys
        y, and one key per entry of a row, shape ``(n,)``.
    scores, sizes, squares, hashes
        A y, |A||y|, the squared lengths and the hashes of the rows, shape ``(m,)``; overwritten.
    """
    bits = rows.view(np.uint64)
    for i in range(rows.shape[0]):
        score, size, square, total = 0.0, 0.0, 0.0, np.uint64(0)
        for j in range(rows.shape[1]):
            term = rows[i, j] * point[j]
            score += term
            size += abs(term)
            square += rows[i, j] * rows[i, j]
            low = ((bits[i, j] & _LOW) + (keys[j] & _LOW)) & _LOW
            total += low * (((bits[i, j] >> _HALF) + (keys[j] >> _HALF)) & _LOW)
        scores[i], sizes[i], squares[i], hashes[i] = score, size, square, total


@kernel(small=True)
def sweep_columns(
    columns: GivenMatrix,
    point: GivenVector,
    keys: GivenWordVector,
    scores: Vector,
    sizes: Vector,
    squares: Vector,
    hashes: WordVector,
) -> None:
    """Sweep over rows that are stored column by column; the same values as :func:`sweep_rows`.

    Parameters
    ----------
    columns
        The transpose of A, shape ``(n, m)``.
    point, keys, scores, sizes, squares, hashes
        As for :func:`sweep_rows`.
    """
    bits, count = columns.view(np.uint64), columns.shape[1]
    # Separate arrays: results might overlap the columns, and the loop would not be vectorised
    score, size, square = np.empty(TILE), np.empty(TILE), np.empty(TILE)
    total = np.empty(TILE, np.uint64)
    for first in range(0, count, TILE):
        stop = min(first + TILE, count)
        score[:], size[:], square[:], total[:] = 0.0, 0.0, 0.0, np.uint64(0)
        for j in range(columns.shape[0]):
            factor, low_key, high_key = point[j], keys[j] & _LOW, keys[j] >> _HALF
            entries, words = columns[j, first:stop], bits[j, first:stop]
            for i in range(stop - first):
                term = entries[i] * factor
                score[i] += term
                size[i] += abs(term)
                square[i] += entries[i] * entries[i]
                low = ((words[i] & _LOW) + low_key) & _LOW
                total[i] += low * (((words[i] >> _HALF) + high_key) & _LOW)
        length = stop - first
        scores[first:stop], sizes[first:stop] = score[:length], size[:length]
        squares[first:stop], hashes[first:stop] = square[:length], total[:length]
