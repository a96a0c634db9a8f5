"""Exact solutions of square systems of whole numbers, by lifting from one prime.

Dixon's algorithm: with A^-1 modulo a prime p the digits of x, A x = b, to the base p follow one
after the other, two products with a vector each. By Cramer's rule x = N / D with |N| and D at most
Hadamard's bounds, and p^t > 2 |N| D digits determine both. n equations of b bits take O(n^3 b)
operations on words, where eliminations modulo enough primes take O(n^4 b).

References
----------
J. D. Dixon, Exact solution of linear equations using p-adic expansions, Numerische Mathematik 40
(1982) 137-141.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from flint import fmpz, fmpz_poly, nmod_mat

from perceptron_lab.compiled.lifted_digits import lifted_digits

# The largest primes below 2^31: one of them hardly ever divides a determinant
_PRIMES = (2147483647, 2147483629, 2147483587)
# Bits of a word, and those of the modulus beyond what is needed
_WORD, _SPARE = 32, 64

Matrix = Sequence[Sequence[int]]


def lifted_solution(matrix: Matrix, right: Sequence[int]) -> tuple[list[int], int] | None:
    """Return N and D > 0, whole, with A N = D b; None if A is singular modulo three primes.

    Parameters
    ----------
    matrix, right
        A, shape ``(n, n)``, and b, shape ``(n,)``.
    """
    if not any(right):
        return [0] * len(right), 1
    divisors = [math.gcd(*column) or 1 for column in zip(*matrix, strict=True)]
    reduced = [[a // c for a, c in zip(row, divisors, strict=True)] for row in matrix]
    for prime in _PRIMES:
        residues = [a % prime for row in reduced for a in row]
        try:
            inverse = nmod_mat(len(reduced), len(reduced), residues, prime).inv()
        except ZeroDivisionError:
            continue
        found, denominator = _lifted(reduced, right, inverse, prime)
        common = math.lcm(*divisors)
        numerators = [int(n) * (common // c) for n, c in zip(found, divisors, strict=True)]
        return numerators, int(denominator) * common
    return None


def _lifted(
    matrix: Matrix, right: Sequence[int], inverse: Any, prime: int
) -> tuple[list[fmpz], fmpz]:
    """Return N and D of a matrix with an inverse modulo a prime."""
    count = len(matrix)
    longest = max(max(max(row), -min(row)) for row in matrix).bit_length()
    words = max(longest, max(map(abs, right)).bit_length() - _WORD) // _WORD + 1
    offset = 1 << max(0, longest - _WORD * (words - 1))
    shift = offset << _WORD * (words - 1)
    shifted = [[a + shift for a in row] for row in matrix]
    table = np.moveaxis(_words(shifted, words), -1, 0).copy()
    rest = _words([[b] for b in right], words + 2)[:, 0].astype(np.int64)
    rest[:, -1] = np.ascontiguousarray(rest[:, -1]).astype(np.int32)  # its sign
    most, bits = _hadamard(matrix, right)
    steps = math.ceil((most + bits + _SPARE) / math.log2(prime))
    digits = np.empty((steps, count), dtype=np.uint32)
    residues = np.array([int(one) for one in inverse.entries()], dtype=np.uint32)
    left = lifted_digits(residues.reshape(count, count), table, offset, rest, prime, digits)
    assert left == 0, "no inverse of the matrix"
    at = fmpz(prime)
    values = [fmpz_poly(column)(at) for column in digits.T.tolist()]
    return _fractions(values, at**steps, fmpz(1) << most)


def _words(table: Sequence[Sequence[int]], words: int) -> Any:
    """Return whole numbers as words of 32 bits, the least first, two's complement."""
    size = words * _WORD // 8
    content = b"".join(a.to_bytes(size, "little", signed=a < 0) for row in table for a in row)
    return np.frombuffer(content, dtype="<u4").reshape(len(table), -1, words)


def _hadamard(matrix: Matrix, right: Sequence[int]) -> tuple[int, int]:
    """Return bits of upper bounds of the numerators of x and of its denominator."""
    rows = [sum(a * a for a in row) for row in matrix]
    columns = [sum(a * a for a in column) for column in zip(*matrix, strict=True)]
    extended = [square + b * b for square, b in zip(rows, right, strict=True)]
    lengths = sorted(map(_bits_of_root, columns))
    side = _bits_of_root(sum(b * b for b in right))
    most = min(sum(map(_bits_of_root, extended)), sum(lengths[1:]) + max(side, lengths[0]))
    return most, min(sum(map(_bits_of_root, rows)), sum(lengths))


def _bits_of_root(square: int) -> int:
    """Return k with 2^k at least the square root of a whole number."""
    return (square.bit_length() + 1) // 2


def _fractions(values: Sequence[fmpz], modulus: fmpz, most: fmpz) -> tuple[list[fmpz], fmpz]:
    """Return N and D > 0 with D x = N modulo a number, |N| at most a bound."""
    numerators: list[fmpz] = []
    denominator = fmpz(1)
    for value in values:
        numerator = value * denominator % modulus
        if 2 * numerator > modulus:
            numerator -= modulus
        if abs(numerator) > most:
            numerator, factor = _fraction(numerator % modulus, modulus, most)
            numerators = [one * factor for one in numerators]
            denominator *= factor
        numerators.append(numerator)
    return numerators, denominator


def _fraction(value: fmpz, modulus: fmpz, most: fmpz) -> tuple[fmpz, fmpz]:
    """Return the first n and d > 0 of Euclid's algorithm with n = d v, |n| at most a bound."""
    before, now = modulus, value
    old, new = fmpz(0), fmpz(1)
    while now > most:
        quotient = before // now
        before, now = now, before - quotient * now
        old, new = new, old - quotient * new
    return (now, new) if new > 0 else (-now, -new)
