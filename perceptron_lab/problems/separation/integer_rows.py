"""Labelled rows as integers: each column times a positive number, without rounding."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import chain, pairwise
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from flint import fmpz_mat

from perceptron_lab.core.results import FloatArray, IntArray
from perceptron_lab.core.time_limit import check_time
from perceptron_lab.numerics.doubles import Doubles, exact_numbers
from perceptron_lab.numerics.exact_doubles import to_double
from perceptron_lab.numerics.sparse_arrays import dense, scaled_rows

Integers = npt.NDArray[np.object_]
"""Arrays of Python integers."""
LARGEST_DENSE: Final = 5_000_000
"""Entries of rows beyond which they may be sparse."""
DIGITS: Final = 53
"""Bits of a double."""
LARGEST: Final = sys.float_info.max
_CHUNK: Final = 2**18  # Python integers that are formed at a time: less than 0.1 s
_LONG: Final = 1000  # Bits of weights from which on python-flint multiplies faster
_TINY: Final = 2.0**-900  # Above the error of terms that underflow
_FEWEST: Final = 5  # Bits of weights in one exact product of doubles
_MOST_PARTS: Final = 64  # Products of doubles that take the place of one of integers
_MOST_SHIFT: Final = 900  # Numbers of so many bits are doubles
_FEW: Final = 4  # Rows are copied for a product if the others are so many times more
_SLICE: Final = 20  # Bits of entries and of weights in one exact product of doubles
_SLICED_ROWS: Final = 2**12  # Sums of so many products of two slices are below 2^53
_SMALL: Final = 2.0**61  # Integers below it, and sums of two, fit in 64 bits


@dataclass(frozen=True)
class IntegerRows:
    """Rows a_i = y_i (x_i, 1) as integers: A times a diagonal matrix of positive numbers.

    Neither the cone {b : A b >= 0} nor combinations of the rows depend on the diagonal, except that
    an entry b_j is divided by it.

    Parameters
    ----------
    doubles
        Doubles with ``doubles[i, j] 2^shifts[j]`` equal to the integer, or nearest to it; shape
        ``(m, n)``, dense, or CSR without stored zeros.
    shifts
        Shape ``(n,)``.
    exact
        The integers themselves; None where ``doubles`` determine them.
    scales
        The diagonal: an integer is ``scales[j]`` times the original number. Shape ``(n,)``.
    """

    doubles: Any
    shifts: IntArray
    exact: Integers | None
    scales: tuple[Fraction, ...]

    @property
    def count(self) -> int:
        """The number m of rows."""
        return int(self.doubles.shape[0])

    @property
    def width(self) -> int:
        """The number n of columns."""
        return int(self.doubles.shape[1])

    @cached_property
    def _largest(self) -> FloatArray:
        """The largest magnitude in each column of ``doubles``."""
        return column_sizes(self.doubles)

    @property
    def sparse(self) -> bool:
        """Whether zeros are not stored."""
        return bool(sp.issparse(self.doubles))

    def integers(self, rows: IntArray) -> Integers:
        """Return the integers of some rows, shape ``(len(rows), n)``."""
        if self.exact is not None:
            return self.exact[rows]
        return _exact_integers(dense(self.doubles[rows]), self.shifts[None, :])

    def entries(self, rows: IntArray) -> Iterator[dict[int, int]]:
        """Yield some rows as column -> integer, without zeros."""
        if not self.sparse:
            for row in self.integers(rows).tolist():
                yield {j: entry for j, entry in enumerate(row) if entry}
            return
        part = self.doubles[rows]
        numbers = _exact_integers(part.data, self.shifts[part.indices]).tolist()
        columns, ends = part.indices.tolist(), part.indptr.tolist()
        for start, end in pairwise(ends):
            yield dict(zip(columns[start:end], numbers[start:end], strict=True))

    def chunks(self, rows: IntArray) -> Iterator[tuple[IntArray, Integers]]:
        """Yield batches of rows, as indices and integers; TimeIsUp ends it at a time limit."""
        step = max(1, _CHUNK // self.width)
        for start in range(0, len(rows), step):
            check_time()
            batch = rows[start : start + step]
            yield batch, self.integers(batch)

    @cached_property
    def _digits(self) -> int:
        """The bits of the largest integer."""
        sizes = np.frexp(self._largest)[1] + self.shifts
        return int(sizes[self._largest > 0.0].max(initial=0))

    @cached_property
    def _short(self) -> bool:
        """Whether sums of multiples of ``doubles`` neither overflow nor underflow."""
        return self.exact is None and bool(np.abs(self.shifts).max(initial=0) < _MOST_SHIFT)

    def combined(self, rows: IntArray, weights: Sequence[int] | IntArray) -> list[int]:
        """Return sum_i w_i a_i over the given rows, each at most once, exactly."""
        bits = DIGITS - self._digits - len(rows).bit_length()
        largest = (
            np.abs(weights).max(initial=0)
            if isinstance(weights, np.ndarray)
            else max(map(abs, weights), default=0)
        )
        if self._short and bits >= _FEWEST and largest < _SMALL:
            return self._combined_in_parts(rows, np.array(weights, dtype=np.int64), bits)
        sliced = self.exact is None and not self.sparse and self._digits < _MOST_SHIFT
        if sliced and largest < _SMALL:
            return self._combined_in_slices(rows, np.array(weights, dtype=np.int64))
        if self.sparse:
            sums = [0] * self.width
            for row, weight in zip(self.entries(rows), map(int, weights), strict=True):
                for j, entry in row.items():
                    sums[j] += weight * entry
            return sums
        factors, start = np.array(weights, dtype=object), 0
        total = np.zeros(self.width, dtype=object)
        long = _bits(int(largest)) > _LONG
        for batch, integers in self.chunks(rows):
            part = factors[start : start + len(batch)]
            total += _product(part, integers) if long else part @ integers
            start += len(batch)
        return [int(entry) for entry in total]

    def _combined_in_parts(self, rows: IntArray, weights: IntArray, bits: int) -> list[int]:
        """Return the sum by products of so many bits of the weights: doubles do not round them."""
        total = np.zeros(self.width, dtype=object)
        sizes, signs = np.abs(weights), np.sign(weights)
        few = _FEW * len(rows) < self.count
        columns = (self.doubles[rows] if few else self.doubles).T
        for shift in range(0, int(sizes.max(initial=0)).bit_length(), bits):
            check_time()
            part = np.zeros(columns.shape[1])
            part[slice(None) if few else rows] = signs * (sizes >> shift & (1 << bits) - 1)
            sums = np.ldexp(columns @ part, self.shifts)
            total += sums.astype(np.int64).astype(object) << shift
        return [int(entry) for entry in total]

    def _combined_in_slices(self, rows: IntArray, weights: IntArray) -> list[int]:
        """Return the sum by products of slices of entries and weights, which are exact."""
        total, count = np.zeros(self.width, dtype=object), -(-self._digits // _SLICE)
        sizes, signs, mask = np.abs(weights), np.sign(weights), (1 << _SLICE) - 1
        positions = range(0, int(sizes.max(initial=1)).bit_length(), _SLICE)
        for start in range(0, len(rows), _SLICED_ROWS):
            check_time()
            batch = slice(start, start + _SLICED_ROWS)
            # Integers over a power of two, below 1: each turn splits off their next bits
            remainders = np.ldexp(self.doubles[rows[batch]], self.shifts - count * _SLICE)
            parts = [signs[batch] * (sizes[batch] >> shift & mask) for shift in positions]
            factors = np.array(parts, dtype=np.float64)
            for position in range((count - 1) * _SLICE, -1, -_SLICE):
                remainders *= 2.0**_SLICE
                leading = np.trunc(remainders)
                remainders -= leading
                for sums, shift in zip(factors @ leading, positions, strict=True):
                    total += sums.astype(np.int64).astype(object) << (position + shift)
        return [int(entry) for entry in total]

    def scores(self, rows: IntArray, direction: Sequence[int]) -> list[int]:
        """Return a_i'b for the given rows and integers b, exactly."""
        products = (scores[:, 0].tolist() for _, scores in self.products(rows, [direction]))
        return [int(score) for batch in products for score in batch]

    def products(
        self, rows: IntArray, directions: Sequence[Sequence[int]]
    ) -> Iterator[tuple[IntArray, Any]]:
        """Yield batches of rows, as indices, and their exact products with integer vectors b."""
        at = np.array(directions, dtype=object).T
        largest = max(map(_bits, chain.from_iterable(directions)), default=0)
        bits = DIGITS - self._digits - self.width.bit_length()
        if not self._short or bits < _FEWEST or largest > _MOST_PARTS * bits:
            for batch, integers in self.chunks(rows):
                yield batch, integers @ at
            return
        step = max(1, _CHUNK // at.shape[1])
        parts = [
            np.ldexp(_part_of(at, shift, bits), self.shifts[:, None])
            for shift in range(0, max(largest, 1), bits)
        ]
        for start in range(0, len(rows), step):
            check_time()
            batch = rows[start : start + step]
            table = self._doubles_of(batch)
            digits = [(table @ part).astype(np.int64) for part in parts]
            if len(digits) > 1:
                digits = [part.astype(object) << k * bits for k, part in enumerate(digits)]
            yield batch, sum(digits[1:], digits[0])

    def _doubles_of(self, rows: IntArray) -> Any:
        """Return the doubles of the given rows, without a copy if these are all in their order."""
        every = len(rows) == self.count and np.array_equal(rows, np.arange(self.count))
        return self.doubles if every else self.doubles[rows]

    def floating(self, direction: Sequence[int]) -> tuple[FloatArray, int]:
        """Return doubles g and an exponent t such that ``doubles @ g`` is 2^-t A b.

        All terms are at most about 1. Entries beyond the range of doubles are 0 if their terms are
        0 or below 2^-1000, and NaN otherwise.
        """
        check_time()
        largest = self._largest
        sizes = [
            _bits(entry) + int(shift) + math.frexp(most)[1]
            for entry, shift, most in zip(direction, self.shifts.tolist(), largest, strict=True)
            if entry and most
        ]
        top = max(sizes, default=0)
        pairs = zip(direction, self.shifts.tolist(), strict=True)
        doubles = np.array(
            [_scaled(entry, shift - top) if entry else 0.0 for entry, shift in pairs]
        )
        lost = (doubles == 0.0) & (largest > 1.0) & np.array([bool(entry) for entry in direction])
        beyond = np.abs(doubles) == LARGEST
        return np.where(lost | beyond, np.where(largest > 0.0, np.nan, 0.0), doubles), top

    def scores_with_errors(
        self, rows: IntArray, direction: Sequence[int]
    ) -> tuple[FloatArray, FloatArray]:
        """Return computed scores of the given rows, and bounds of their errors.

        |fl(a_i'g) - a_i'g| <= gamma_k |a_i|'|g| with k = n + 3, for the roundings of products,
        sums, ``doubles`` and g. Here k = n + 8, which covers the bound's roundings, and
        :data:`_TINY` is added for underflow.
        """
        g, _ = self.floating(direction)
        approximate = self._doubles_of(rows)
        unit = (self.width + 8) * 2.0**-DIGITS
        with np.errstate(invalid="ignore", over="ignore"):
            errors = 1.01 * unit * (abs(approximate) @ np.abs(g)) + _TINY
            return approximate @ g, errors

    def least_sign(self, rows: IntArray, direction: Sequence[int]) -> int:
        """Return the proved sign of the least a_i'b over the given rows; 1 if there are none.

        Doubles decide where their error bounds suffice, integers elsewhere.
        """
        scores, errors = self.scores_with_errors(rows, direction)
        if (scores < -errors).any():
            return -1
        open_rows = rows[~(scores > errors)]
        if not len(open_rows):
            return 1
        # Rows whose computed score is within its error bound: only for these exact arithmetic is
        # worth its cost.
        least = min(self.scores(open_rows, direction))
        return (least > 0) - (least < 0)

    def in_original_units(self, direction: Sequence[int]) -> list[Fraction]:
        """Return b in the units of the original numbers."""
        return [entry * scale for entry, scale in zip(direction, self.scales, strict=True)]


def _exact_integers(approximate: FloatArray, shifts: IntArray) -> Integers:
    """Return doubles times powers of two as Python integers."""
    with np.errstate(over="ignore"):
        shifted = np.ldexp(approximate, shifts)
    if np.abs(shifted).max(initial=0.0) < _SMALL:
        return shifted.astype(np.int64).astype(object)
    parts, exponents = np.frexp(approximate)
    digits = np.ldexp(parts, DIGITS).astype(np.int64)
    # Beyond 64 bits the mantissa is shifted as a Python integer, which loses nothing.
    positions = exponents - DIGITS + shifts
    down = np.minimum(np.maximum(-positions, 0), DIGITS)  # what is shifted out is 0
    integers = (digits >> down).astype(object)
    return np.asarray(integers << np.maximum(positions, 0).astype(object))


def _part_of(numbers: Integers, shift: int, bits: int) -> FloatArray:
    """Return so many bits of integers from a place on, with their signs."""
    mask = (1 << bits) - 1
    parts = [
        [(abs(number) >> shift & mask) * (-1 if number < 0 else 1) for number in row]
        for row in numbers.tolist()
    ]
    return np.array(parts, dtype=np.float64)


def column_sizes(table: Any) -> FloatArray:
    """Return the largest magnitude in each column of a dense or sparse table."""
    if isinstance(table, np.ndarray):
        return np.asarray(np.abs(table).max(axis=0))
    sizes = np.zeros(table.shape[1])
    np.maximum.at(sizes, table.indices, np.abs(table.data))
    return sizes


def _product(weights: Integers, integers: Integers) -> Integers:
    """Return w'A by python-flint, which multiplies long integers faster."""
    product: Any = fmpz_mat([weights.tolist()]) * fmpz_mat(integers.tolist())
    return np.array([int(entry) for entry in product.entries()], dtype=object)


def _bits(number: int) -> int:
    return abs(number).bit_length()


def _scaled(number: int, power: int) -> float:
    """Return number * 2^power as a double, or 0 if it underflows."""
    if _bits(number) + power < -1000:
        return 0.0
    return to_double(number << max(power, 0), 1 << max(-power, 0))


def integer_rows(
    doubles: Doubles, numbers: Integers | None, signs: FloatArray, *, affine: bool
) -> IntegerRows:
    """Return labelled rows as integers.

    Parameters
    ----------
    doubles
        The doubles of a dense matrix, shape ``(m, k)``.
    numbers
        The numbers themselves, as Python objects, shape ``(m, k)``; used only where neither
        ``doubles`` nor a multiple of the numbers is exact.
    signs
        1 or -1 each, shape ``(m,)``.
    affine
        Whether a column of ones is added.
    """
    count = len(signs)
    constant = [np.ones((count, 1))] if affine else []
    if doubles.roundings and doubles.integers is None:
        assert numbers is not None
        table = np.hstack([numbers, *(column.astype(int).astype(object) for column in constant)])
        return rows_of_numbers(table * signs.astype(int).astype(object)[:, None])
    rows = doubles.values if doubles.integers is None else doubles.integers
    if isinstance(rows, np.ndarray):
        approximate: Any = np.hstack([np.asarray(rows, dtype=np.float64), *constant])
        approximate *= signs[:, None]
    else:
        columns: Any = [rows, *map(sp.csr_array, constant)]
        approximate = scaled_rows(sp.csr_array(sp.hstack(columns).astype(np.float64)), signs)
        approximate.eliminate_zeros()
    shifts = _shifts(approximate)
    multiples = [Fraction(doubles.multiple)] * rows.shape[1] + [Fraction(1)] * affine
    scales = tuple(
        multiple * Fraction(2) ** shift
        for multiple, shift in zip(multiples, shifts.tolist(), strict=True)
    )
    return IntegerRows(approximate, shifts, None, scales)


def _shifts(approximate: Any) -> IntArray:
    """Return the least k_j such that column j times 2^k_j consists of integers."""
    if not isinstance(approximate, np.ndarray):
        shifts = np.full(approximate.shape[1], -(2**20), dtype=np.int64)
        np.maximum.at(shifts, approximate.indices, _shifts_of_entries(approximate.data))
        return np.where(shifts == -(2**20), 0, shifts)
    step = max(1, _CHUNK // max(1, approximate.shape[1]))
    shifts = np.full(approximate.shape[1], -(2**20), dtype=np.int64)
    for start in range(0, len(approximate), step):
        digits_after = _shifts_of_entries(approximate[start : start + step])
        shifts = np.maximum(shifts, digits_after.max(axis=0, initial=-(2**20)))
    return np.where(shifts == -(2**20), 0, shifts)


def _shifts_of_entries(numbers: FloatArray) -> IntArray:
    """Return the least k such that a number times 2^k is an integer; -2^20 for 0."""
    parts, exponents = np.frexp(numbers)
    digits = np.ldexp(parts, DIGITS).astype(np.int64)
    zeros = np.frexp((digits & -digits).astype(np.float64))[1] - 1
    return np.where(digits == 0, -(2**20), DIGITS - exponents - zeros)


def rows_of_numbers(numbers: Integers) -> IntegerRows:
    """Return rows of exact Python numbers: each column times its least common denominator."""
    columns, approximate, shifts, scales = [], [], [], []
    for column in numbers.T.tolist():
        check_time()
        fractions = [Fraction(number) for number in exact_numbers(column)]
        common = math.lcm(*(fraction.denominator for fraction in fractions))
        integers = [fraction.numerator * (common // fraction.denominator) for fraction in fractions]
        shift = max(max(map(_bits, integers), default=0) - 2 * DIGITS, 0)
        columns.append(integers)
        approximate.append([to_double(integer, 1 << shift) for integer in integers])
        shifts.append(shift)
        scales.append(Fraction(common))
    exact = np.array(columns, dtype=object).T
    return IntegerRows(np.array(approximate).T.copy(), np.array(shifts), exact, tuple(scales))
