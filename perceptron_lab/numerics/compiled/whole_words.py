"""Whole numbers of several words: digits of solutions (Dixon), and dominance by the diagonal."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np

from perceptron_lab.numerics.compiled.kernel import IntMatrix, IntVector, UnsignedVector, kernel

# Whole numbers in [0, 2^32)
WordMatrix = Annotated[Any, "uint32[:, ::1]"]
WordTensor = Annotated[Any, "uint32[:, :, ::1]"]


@kernel()
def _remainder(words: IntVector, prime: int) -> int:
    """Return a number mod p: words to the base 2^32, the last of any sign, others in [0, 2^32)."""
    rest = words[-1] % prime
    for k in range(len(words) - 2, -1, -1):
        rest = ((rest << 32) | words[k]) % prime
    return int(rest)


@kernel()
def _divide(words: IntVector, prime: int) -> int:
    """Divide a multi-word integer by p, rounded down; return the remainder."""
    mask = (np.int64(1) << 32) - 1
    for k in range(len(words) - 1):
        words[k + 1] += words[k] >> 32
        words[k] &= mask
    rest = np.int64(0)
    for k in range(len(words) - 1, -1, -1):
        dividend = words[k] if k == len(words) - 1 else (rest << 32) | words[k]
        words[k] = dividend // prime
        rest = dividend - words[k] * prime
    return int(rest)


@kernel()
def _dot(left: UnsignedVector, right: UnsignedVector) -> tuple[np.int64, np.int64]:
    """Return l and h with l + 2^32 h the inner product of words, one below 2^31 of each pair.

    Of fewer than 2^20 pairs l is below 2^52, and h below 2^51.
    """
    mask = np.uint64(0xFFFFFFFF)
    low, high = np.uint64(0), np.uint64(0)
    for j in range(len(left)):
        product = np.uint64(left[j]) * np.uint64(right[j])
        low += product & mask
        high += product >> np.uint64(32)
    return np.int64(low), np.int64(high)


@kernel()
def lifted_digits(
    inverse: WordMatrix,
    words: WordTensor,
    offset: int,
    rest: IntMatrix,
    prime: int,
    digits: WordMatrix,
) -> int:
    """Write the next digits of x, A x = r: x = sum_t digits_t p^t modulo a power of p (Dixon).

    Each digit is z = A^-1 r mod p, and (r - A z) / p is the next r. Return how many remainders of
    these divisions were not 0: none, if the inverse is that of A mod p.

    Parameters
    ----------
    inverse
        A^-1 mod p, shape ``(n, n)``, n < 2^20.
    words, offset
        A + offset 2^(32 (k - 1)) >= 0 to the base 2^32, shape ``(k, n, n)``; 0 < offset <= 2^31.
    rest
        r, by words to the base 2^32, the last of any sign, shape ``(n, l)``, l >= k + 2; it is
        replaced.
    prime
        p < 2^31.
    digits
        Shape ``(steps, n)``, to be written.

    References
    ----------
    J. D. Dixon, Exact solution of linear equations using p-adic expansions, Numerische Mathematik
    40 (1982) 137-141.
    """
    count, length = inverse.shape[0], words.shape[0]
    mask = (np.int64(1) << 32) - 1
    base = (np.int64(1) << 32) % prime
    left = 0
    reduced = np.empty(count, np.uint32)
    for t in range(digits.shape[0]):
        for i in range(count):
            reduced[i] = _remainder(rest[i], prime)
        total = np.int64(0)
        for i in range(count):
            low, high = _dot(inverse[i], reduced)
            digits[t, i] = ((high % prime) * base + low) % prime
            total += np.int64(digits[t, i])
        # below 2^63, as total < 2^51; each word of the rest stays below 2^54 until it is divided
        first = (total & mask) * offset
        second = (first >> 32) + (total >> 32) * offset
        for i in range(count):
            for k in range(length):
                low, high = _dot(words[k, i], digits[t])
                rest[i, k] -= low
                rest[i, k + 1] -= high
            rest[i, length - 1] += first & mask
            rest[i, length] += second
            left += _divide(rest[i], prime) != 0
    return int(left)


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
    last_row: IntVector,
    met: IntVector,
) -> int:
    """Add up row i of LL' and M from the diagonal on; return the number of nonzeros.

    Row j of ``sums``: sums of high x high, high x low and low x low of L, and M's two words.
    ``next_of`` holds, column by column of L, the first entry at or behind row i.
    """
    starts, positions, high, low = factor
    count = 0
    for at in range(rows[0][i], rows[0][i + 1]):
        k = rows[1][at]
        first = next_of[k]
        next_of[k] = first + 1
        a, b = high[first], low[first]
        for e in range(first, starts[k + 1]):
            j = positions[e]
            if last_row[j] != i:
                last_row[j] = i
                met[count] = j
                count += 1
            sums[j, 0] += a * high[e]
            sums[j, 1] += a * low[e] + b * high[e]
            sums[j, 2] += b * low[e]
    for at in range(matrix[0][i], matrix[0][i + 1]):
        j = matrix[1][at]
        if last_row[j] != i:
            last_row[j] = i
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
    word, low_bits = 2 * bits, (np.int64(1) << (2 * bits)) - 1
    mask = (np.int64(1) << bits) - 1
    next_of = factor[0][:-1].copy()
    sums, last_row = np.zeros((order, 5), np.int64), np.full(order, -1)
    met = np.empty(order, np.int64)
    diagonal, rest = np.zeros((order, 2), np.int64), np.zeros((order, 2), np.int64)
    for i in range(order):
        for c in range(_collect(factor, rows, matrix, i, next_of, sums, last_row, met)):
            j = met[c]
            middle = sums[j, 1] + (sums[j, 2] >> bits)
            low = sums[j, 4] - (((middle & mask) << bits) + (sums[j, 2] & mask))
            high = sums[j, 3] - (sums[j, 0] + (middle >> bits)) + (low >> word)
            low &= low_bits
            sums[j] = 0
            if j == i:
                diagonal[i, 0], diagonal[i, 1] = high, low
                continue
            if high < 0:  # its magnitude
                low = -low
                high = -high + (low >> word)
                low &= low_bits
            if high >> 44:  # so that 2^17 of them have a sum
                return int(min(i, j))
            for row in (i, j):
                total = rest[row, 1] + low + slack
                rest[row, 0] += high + (total >> word)
                rest[row, 1] = total & low_bits
    for i in range(order):
        if diagonal[i, 0] < rest[i, 0] or (
            diagonal[i, 0] == rest[i, 0] and diagonal[i, 1] <= rest[i, 1]
        ):
            return i
    return -1
