"""Labelled rows as whole numbers: each column times one positive number, nothing rounded."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from flint import fmpz_mat

from perceptron_lab.core.results import FloatArray, IntArray
from perceptron_lab.core.time_limit import check_time
from perceptron_lab.numerics.doubles import Doubles, exact_numbers
from perceptron_lab.numerics.exact_doubles import to_double

Integers = npt.NDArray[np.object_]
"""Python's own numbers."""
DIGITS: Final = 53
"""Bits of a double."""
LARGEST: Final = sys.float_info.max
_CHUNK: Final = 2**18  # Numbers that are Python's own at a time: less than 0.1 s
_LONG: Final = 1000  # Bits of weights, from which on python-flint multiplies them
_TINY: Final = 2.0**-900  # Above what is lost where terms are below all doubles
_SMALL: Final = 2.0**61  # Whole numbers below it, and their sums of two, are those of a machine


@dataclass(frozen=True)
class WholeRows:
    """Rows a_i = y_i (x_i, 1) of whole numbers, A times a diagonal matrix of positive numbers.

    What is asked of the cone {b : A b >= 0} and of combinations of its rows does not depend on the
    diagonal: an entry b_j is divided by it, and that is all.

    Parameters
    ----------
    near
        Doubles with ``near[i, j] 2^shifts[j]`` equal to the whole number, or nearest to it; shape
        ``(m, n)``.
    shifts
        Shape ``(n,)``.
    exact
        The whole numbers themselves, as Python's; None where ``near`` tells them.
    scales
        The diagonal: a whole number is ``scales[j]`` times the number given. Shape ``(n,)``.
    """

    near: FloatArray
    shifts: IntArray
    exact: Integers | None
    scales: tuple[Fraction, ...]

    @property
    def count(self) -> int:
        """The number m of rows."""
        return int(self.near.shape[0])

    @property
    def width(self) -> int:
        """The number n of columns."""
        return int(self.near.shape[1])

    @cached_property
    def _largest(self) -> FloatArray:
        """The largest size of each column, in ``near``."""
        return np.asarray(np.abs(self.near).max(axis=0))

    def whole(self, rows: IntArray) -> Integers:
        """Return some rows of whole numbers, as Python's, shape ``(len(rows), n)``."""
        if self.exact is not None:
            return self.exact[rows]
        approximate = self.near[rows]
        with np.errstate(over="ignore"):
            shifted = np.ldexp(approximate, self.shifts[None, :])
        if np.abs(shifted).max(initial=0.0) < _SMALL:
            return shifted.astype(np.int64).astype(object)
        parts, exponents = np.frexp(approximate)
        digits = np.ldexp(parts, DIGITS).astype(np.int64)
        positions = exponents - DIGITS + self.shifts[None, :]
        down = np.minimum(np.maximum(-positions, 0), DIGITS)  # what is shifted out is 0
        integers = (digits >> down).astype(object)
        return np.asarray(integers << np.maximum(positions, 0).astype(object))

    def chunks(self, rows: IntArray) -> Iterator[tuple[IntArray, Integers]]:
        """Yield parts of some rows' indices, and their whole numbers, until the time is up."""
        step = max(1, _CHUNK // self.width)
        for start in range(0, len(rows), step):
            check_time()
            some = rows[start : start + step]
            yield some, self.whole(some)

    def combined(self, rows: IntArray, weights: Sequence[int]) -> list[int]:
        """Return sum_i w_i a_i over some rows, exactly."""
        factors, start = np.array(weights, dtype=object), 0
        total = np.zeros(self.width, dtype=object)
        long = max(map(_bits, weights), default=0) > _LONG
        for some, integers in self.chunks(rows):
            part = factors[start : start + len(some)]
            total += _product(part, integers) if long else part @ integers
            start += len(some)
        return [int(entry) for entry in total]

    def scores(self, rows: IntArray, direction: Sequence[int]) -> list[int]:
        """Return a_i'b for some rows and whole numbers b, exactly."""
        at = np.array(direction, dtype=object)
        return [int(score) for _, integers in self.chunks(rows) for score in integers @ at]

    def floating(self, direction: Sequence[int]) -> tuple[FloatArray, int]:
        """Return doubles g and t so that near @ g is 2^-t A b, in whole numbers.

        Its terms are at most 1, nearly. Entries that doubles cannot hold are 0 if their terms are
        0 or below 2^-1000, and else NaN.
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

    def lowest(self, rows: IntArray, direction: Sequence[int]) -> tuple[FloatArray, FloatArray]:
        """Return near scores of some rows, and bounds of their errors.

        |fl(a_i'g) - a_i'g| <= gamma_k |a_i|'|g| with k = n + 3: a product's and a sum's roundings,
        those of ``near`` and g; here k = n + 8, for the bound's own, and :data:`_TINY` is added.
        """
        g, _ = self.floating(direction)
        approximate = self.near if len(rows) == self.count else self.near[rows]
        unit = (self.width + 8) * 2.0**-DIGITS
        with np.errstate(invalid="ignore", over="ignore"):
            errors = 1.01 * unit * (np.abs(approximate) @ np.abs(g)) + _TINY
            return approximate @ g, errors

    def least_sign(self, rows: IntArray, direction: Sequence[int]) -> int:
        """Return the sign of min over some rows of a_i'b, proved; 1 if there are none.

        Doubles decide where the bounds of their errors do, whole numbers elsewhere.
        """
        scores, errors = self.lowest(rows, direction)
        if (scores < -errors).any():
            return -1
        open_rows = rows[~(scores > errors)]
        if not len(open_rows):
            return 1
        least = min(self.scores(open_rows, direction))
        return (least > 0) - (least < 0)

    def given(self, direction: Sequence[int]) -> list[Fraction]:
        """Return b in the units of the numbers given."""
        return [entry * scale for entry, scale in zip(direction, self.scales, strict=True)]


def _product(weights: Integers, integers: Integers) -> Integers:
    """Return w'A by python-flint, which multiplies long numbers faster."""
    product: Any = fmpz_mat([weights.tolist()]) * fmpz_mat(integers.tolist())
    return np.array([int(entry) for entry in product.entries()], dtype=object)


def _bits(number: int) -> int:
    return abs(number).bit_length()


def _scaled(number: int, power: int) -> float:
    """Return number * 2^power as a double; below all doubles it is 0."""
    if _bits(number) + power < -1000:
        return 0.0
    return to_double(number << max(power, 0), 1 << max(-power, 0))


def whole_rows(
    doubles: Doubles, numbers: Integers | None, signs: FloatArray, *, affine: bool
) -> WholeRows:
    """Return labelled rows in whole numbers.

    Parameters
    ----------
    doubles
        The doubles of a dense matrix, shape ``(m, k)``.
    numbers
        The numbers themselves, as Python's, shape ``(m, k)``; used only where ``doubles`` says that
        doubles, or a multiple of the numbers, are not exact.
    signs
        1 or -1 each, shape ``(m,)``.
    affine
        Whether a column of ones is added.
    """
    count = len(signs)
    constant = [np.ones((count, 1))] if affine else []
    if doubles.roundings and doubles.whole is None:
        assert numbers is not None
        table = np.hstack([numbers, *(column.astype(int).astype(object) for column in constant)])
        return rows_of_numbers(table * signs.astype(int).astype(object)[:, None])
    rows = doubles.values if doubles.whole is None else doubles.whole
    approximate = np.hstack([np.asarray(rows, dtype=np.float64), *constant])
    approximate *= signs[:, None]
    shifts = _shifts(approximate)
    multiples = [Fraction(doubles.multiple)] * rows.shape[1] + [Fraction(1)] * affine
    scales = tuple(
        multiple * Fraction(2) ** shift
        for multiple, shift in zip(multiples, shifts.tolist(), strict=True)
    )
    return WholeRows(approximate, shifts, None, scales)


def _shifts(approximate: FloatArray) -> IntArray:
    """Return the least k_j so that column j times 2^k_j is of whole numbers."""
    step = max(1, _CHUNK // approximate.shape[1])
    shifts = np.full(approximate.shape[1], -(2**20), dtype=np.int64)
    for start in range(0, len(approximate), step):
        parts, exponents = np.frexp(approximate[start : start + step])
        digits = np.ldexp(parts, DIGITS).astype(np.int64)
        zeros = np.frexp((digits & -digits).astype(np.float64))[1] - 1
        digits_after = np.where(digits == 0, -(2**20), DIGITS - exponents - zeros)
        shifts = np.maximum(shifts, digits_after.max(axis=0, initial=-(2**20)))
    return np.where(shifts == -(2**20), 0, shifts)


def rows_of_numbers(numbers: Integers) -> WholeRows:
    """Return rows of Python's numbers: each column times its least common denominator."""
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
    return WholeRows(np.array(approximate).T.copy(), np.array(shifts), exact, tuple(scales))
