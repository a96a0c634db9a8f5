"""Exact solutions of square systems of whole numbers, by lifting from one prime.

Dixon's algorithm: with A^-1 modulo a prime p the digits of x, A x = b, to the base p follow one
after the other, two products with a vector each. By Cramer's rule x = N / D with |N| and D at most
Hadamard's bounds, and p^t > 2 |N| D digits determine both. n equations of b bits take O(n^3 b)
operations on words, where eliminations modulo enough primes take O(n^4 b).

Further right-hand sides have the inverse already, and D with it, mostly: then p^t > 2 |N| digits
do, which are half as many.

References
----------
J. D. Dixon, Exact solution of linear equations using p-adic expansions, Numerische Mathematik 40
(1982) 137-141.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from itertools import count
from operator import floordiv, mul
from typing import Any, Final

import numpy as np
from flint import fmpz, fmpz_mat, fmpz_poly, nmod_mat

from perceptron_lab.core.time_limit import check_time, in_time
from perceptron_lab.numerics.compiled.whole_words import lifted_digits

# The largest primes below 2^31: one of them hardly ever divides a determinant
_PRIMES = (2147483647, 2147483629, 2147483587)
# Bits of a word, and those of the modulus beyond what is needed
_WORD, _SPARE = 32, 64
_SHORT: Final = 63  # Bits of numbers that an array of two words each does not hold
# Operations on words between two looks at the clock, about 0.05 s
_AT_A_TIME: Final = 50_000_000
_STEPS: Final = 1024  # of Euclid's algorithm

Matrix = Sequence[Sequence[int]]


class LiftedMatrix:
    """A regular integer matrix and its inverse modulo a prime.

    Parameters
    ----------
    matrix
        A over the greatest common divisors of its columns, shape ``(n, n)``.
    divisors
        Divisors of the columns.
    inverse
        A^-1 modulo the prime, of python-flint.
    prime
        Below 2^31.
    """

    def __init__(self, matrix: Matrix, divisors: list[int], inverse: Any, prime: int) -> None:
        self._matrix, self._divisors, self.prime = matrix, divisors, prime
        residues = np.fromiter(map(int, inverse.entries()), np.uint32)
        self.inverse = residues.reshape(len(matrix), len(matrix))
        self._denominator = fmpz(1)  # of the last solution

    @classmethod
    def of(cls, matrix: Matrix) -> LiftedMatrix | None:
        """Return a matrix with its inverse; None if it is singular modulo three primes."""
        # Shorter columns need fewer digits of the solution
        divisors = [math.gcd(*column) or 1 for column in in_time(zip(*matrix, strict=True))]
        reduced = matrix
        if any(divisor > 1 for divisor in divisors):
            reduced = [list(map(floordiv, row, divisors)) for row in in_time(matrix)]
        integers = fmpz_mat(reduced)
        for prime in in_time(_PRIMES):
            try:
                inverse = nmod_mat(integers, prime).inv()
            except ZeroDivisionError:
                continue
            return cls(reduced, divisors, inverse, prime)
        return None

    def solution(self, right: Sequence[int]) -> tuple[list[int], int]:
        """Return integers N and D > 0 with A N = D b."""
        if not any(right):
            return [0] * len(right), 1
        values, denominator = self._lifted(right)
        common = math.lcm(*self._divisors)
        pairs = zip(values, self._divisors, strict=True)
        return [int(n) * (common // c) for n, c in pairs], int(denominator) * common

    def _lifted(self, right: Sequence[int]) -> tuple[list[fmpz], fmpz]:
        """Return N and D for the matrix divided by its common divisors."""
        most, bits = self._hadamard(right)
        digits = _Digits(self, right)
        # Solutions of one matrix mostly share the denominator: then fewer digits do
        if self._denominator > 1:
            values, modulus = digits.values(most + _SPARE)
            centred = _centred(values, self._denominator, modulus)
            if max(map(abs, centred)) < fmpz(1) << most:
                return centred, self._denominator
        values, modulus = digits.values(most + bits + _SPARE)
        numerators, self._denominator = _fractions(values, modulus, fmpz(1) << most)
        return numerators, self._denominator

    @cached_property
    def table(self) -> tuple[Any, int]:
        """A + offset 2^(32 (k - 1)) >= 0 to the base 2^32, shape ``(k, n, n)``, and the offset."""
        longest = max(max(max(row), -min(row)) for row in self._matrix).bit_length()
        words = longest // _WORD + 1
        offset = 1 << max(0, longest - _WORD * (words - 1))
        shift = offset << _WORD * (words - 1)
        if longest < _SHORT:
            short = np.array(self._matrix, dtype="<i8") + shift
            table = short.view("<u4").reshape(*short.shape, 2)[:, :, :words]
        else:
            table = _to_words([[a + shift for a in row] for row in in_time(self._matrix)], words)
        return np.moveaxis(table, -1, 0).copy(), offset

    def _hadamard(self, right: Sequence[int]) -> tuple[int, int]:
        """Return bits of upper bounds of the numerators of x and of its denominator."""
        rows, columns = self._squares
        extended = [square + b * b for square, b in zip(rows, right, strict=True)]
        lengths = sorted(map(_bits_of_root, columns))
        side = _bits_of_root(sum(b * b for b in right))
        most = min(sum(map(_bits_of_root, extended)), sum(lengths[1:]) + max(side, lengths[0]))
        return most, min(sum(map(_bits_of_root, rows)), sum(lengths))

    @cached_property
    def _squares(self) -> tuple[list[int], list[int]]:
        """The sums of squares of rows and of columns."""
        rows = [sum(map(mul, row, row)) for row in in_time(self._matrix)]
        columns = in_time(zip(*self._matrix, strict=True))
        return rows, [sum(map(mul, column, column)) for column in columns]


class _Digits:
    """The p-adic digits of x with A x = b, computed on demand."""

    def __init__(self, matrix: LiftedMatrix, right: Sequence[int]) -> None:
        self._matrix = matrix
        self._table, self._offset = matrix.table
        longest = max(map(abs, right)).bit_length()
        words = max(len(self._table), max(longest - _WORD, 0) // _WORD + 1)
        self._residual = _to_words([[b] for b in right], words + 2)[:, 0].astype(np.int64)
        signs = np.ascontiguousarray(self._residual[:, -1]).astype(np.int32)
        self._residual[:, -1] = signs
        self._digits = np.empty((0, len(right)), dtype=np.uint32)

    def values(self, bits: int) -> tuple[list[fmpz], fmpz]:
        """Return x modulo a power of the prime above 2^bits, and the power."""
        prime = self._matrix.prime
        steps = math.ceil(bits / math.log2(prime))
        self._extend(steps)
        at, values = fmpz(prime), []
        for column in self._digits[:steps].T:
            check_time()
            values.append(fmpz_poly(column.tolist())(at))
        return values, at**steps

    def _extend(self, steps: int) -> None:
        """Compute further digits up to this number; the clock is read in between."""
        size = self._digits.shape[1]
        # Products of words, and divisions, which take longer
        step = (len(self._table) + 1) * size * size + 16 * self._residual.size
        at_once = max(1, _AT_A_TIME // step)
        while len(self._digits) < steps:
            check_time()
            batch = min(at_once, steps - len(self._digits))
            digits = np.empty((batch, size), dtype=np.uint32)
            left = lifted_digits(
                self._matrix.inverse,
                self._table,
                self._offset,
                self._residual,
                self._matrix.prime,
                digits,
            )
            assert left == 0, "no inverse of the matrix"
            self._digits = np.vstack([self._digits, digits])


def _to_words(table: Sequence[Sequence[int]], words: int) -> Any:
    """Return integers as words of 32 bits, least significant first, in two's complement."""
    size = words * _WORD // 8
    content = b"".join(
        a.to_bytes(size, "little", signed=a < 0) for row in in_time(table) for a in row
    )
    return np.frombuffer(content, dtype="<u4").reshape(len(table), -1, words)


def _bits_of_root(square: int) -> int:
    """Return k with 2^k at least the square root of an integer."""
    return (square.bit_length() + 1) // 2


def _centred(values: Sequence[fmpz], factor: fmpz, modulus: fmpz) -> list[fmpz]:
    """Return the values times a factor modulo a number, as residues nearest to 0."""
    products = (value * factor % modulus for value in values)
    return [product - modulus if 2 * product > modulus else product for product in products]


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
            numerators = [numerator * factor for numerator in numerators]
            denominator *= factor
        numerators.append(numerator)
    return numerators, denominator


def _fraction(value: fmpz, modulus: fmpz, most: fmpz) -> tuple[fmpz, fmpz]:
    """Return the first n and d > 0 of Euclid's algorithm with n = d v, |n| at most a bound."""
    before, now = modulus, value
    old, new = fmpz(0), fmpz(1)
    for step in count():
        if now <= most:
            break
        if step % _STEPS == 0:
            check_time()
        quotient = before // now
        before, now = now, before - quotient * now
        old, new = new, old - quotient * new
    return (now, new) if new > 0 else (-now, -new)
