"""Digits of the solution of A x = b to a prime as base, in whole numbers of 32-bit words."""

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
    """Divide a number by p, rounded down; return what is left. Words may be of any sign."""
    mask = (np.int64(1) << 32) - 1
    for k in range(len(words) - 1):
        words[k + 1] += words[k] >> 32
        words[k] &= mask
    rest = np.int64(0)
    for k in range(len(words) - 1, -1, -1):
        whole = words[k] if k == len(words) - 1 else (rest << 32) | words[k]
        words[k] = whole // prime
        rest = whole - words[k] * prime
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
