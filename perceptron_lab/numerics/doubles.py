"""Conversion of input numbers to doubles, with a record of whether any was rounded.

A number that no double holds becomes the nearest one. Then a = a~ (1 + d) with |d| <= u = 2^-53, as
long as a~ is neither subnormal nor infinite; such numbers are refused. Proofs that count one
rounding more per product are about a, not about a~: no intervals are kept.

Fractions with a common denominator are whole numbers in disguise. Rows may be multiplied by it, for
a system of rows is the same after that; if all products are doubles, nothing is rounded.

Numbers printed as text are read as the decimals that they are, not as the doubles nearest to them.
Two decimals of 15 significant digits or fewer never share a double. So if N / 10^k, with a whole
number N below 10^15 and correctly rounded, is the double x of such a decimal, then the decimal is
N / 10^k. That is found for all numbers of a file at once, by a few operations on arrays.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from numbers import Rational
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from perceptron_lab.core.errors import InputError
from perceptron_lab.core.results import FloatArray

# Whole numbers up to this magnitude are doubles
LARGEST_WHOLE = 2**53
# Below this doubles lose digits: their rounding errors are not relative ones
LEAST_NORMAL = 2.0**-1022


@dataclass(frozen=True)
class Doubles:
    """The doubles nearest to given numbers.

    Parameters
    ----------
    values
        The nearest doubles (single precision stays single), of any shape, or a CSR array of them.
    roundings
        0: they are the numbers given; 1: some were rounded, once.
    integers
        Where some were rounded: whole numbers (doubles, exact) that are ``multiple`` times the
        numbers given, if there are any; else None.
    multiple
        > 0, a whole number.
    """

    values: Any
    roundings: int = 0
    integers: Any = None
    multiple: float = 1.0

    def part(self, indices: npt.NDArray[np.int64]) -> Doubles:
        """Return the given rows."""
        integers = None if self.integers is None else self.integers[indices]
        return Doubles(self.values[indices], self.roundings, integers, self.multiple)


def doubles_of(array: Any) -> Doubles:
    """Return an array's numbers as doubles; single precision stays single.

    Parameters
    ----------
    array
        An array of truth values, integers, floating-point numbers of any precision, or Python's
        own numbers (int, float, Fraction, Decimal). What is not finite stays so.
    """
    if array.dtype.kind == "O":
        return _from_objects(array)
    if array.dtype in (np.float32, np.float64):
        return Doubles(array)
    if array.dtype.kind == "f" and array.dtype.itemsize > 8:
        with np.errstate(over="ignore", under="ignore"):
            values = array.astype(np.float64)
        changed = (values != array) & ~np.isnan(array)
        if np.isinf(values[changed]).any():
            _refuse("beyond 1.8e308")
        if (np.abs(values[changed]) < LEAST_NORMAL).any():
            _refuse("between 0 and 2.2e-308")
        return Doubles(values, int(changed.any()))
    values = np.asarray(array, dtype=np.float64)
    if array.dtype.kind in "iu" and array.dtype.itemsize == 8 and array.size:
        large = array[(array > LARGEST_WHOLE) | (array < -LARGEST_WHOLE)]
        return Doubles(values, int(any(int(float(x)) != x for x in large.tolist())))
    return Doubles(values)


def _from_objects(objects: Any) -> Doubles:
    """Return Python numbers as doubles, or as doubles that are exact multiples."""
    exact = list(exact_numbers(objects.ravel().tolist()))
    doubles: list[float] = []
    for number in exact:
        try:
            doubles.append(float(number))
        except OverflowError:
            _refuse("beyond 1.8e308")
        if abs(doubles[-1]) < LEAST_NORMAL and doubles[-1] != number:
            _refuse("between 0 and 2.2e-308")
    values, pairs = np.array(doubles).reshape(objects.shape), zip(exact, doubles, strict=True)
    if all(isinstance(number, float) or number == value for number, value in pairs):
        return Doubles(values)
    if not np.isfinite(values).all():  # will be refused
        return Doubles(values, 1)
    fractions, common = [Fraction(number) for number in exact], 1
    for number in fractions:
        common = math.lcm(common, number.denominator)
        if common > LARGEST_WHOLE:
            return Doubles(values, 1)
    products = [int(number * common) for number in fractions]
    if max(map(abs, products)) > LARGEST_WHOLE:
        return Doubles(values, 1)
    integers = np.array([float(product) for product in products]).reshape(objects.shape)
    return Doubles(values, 1, integers, float(common))


def exact_numbers(
    numbers: list[object], holder: str = "rows hold", expected: str = "a matrix of real numbers"
) -> Iterator[Fraction | float]:
    """Yield Python's and numpy's numbers as fractions, and floats as they are.

    An ``InputError`` refuses all else, saying who holds it and what is wanted; a decimal that is
    not finite is NaN.
    """
    for number in numbers:
        if isinstance(number, float):
            yield number
        elif isinstance(number, Rational):
            yield Fraction(int(number.numerator), int(number.denominator))
        elif isinstance(number, Decimal):
            yield Fraction(number) if number.is_finite() else math.nan
        elif isinstance(number, np.floating):
            yield Fraction(*number.as_integer_ratio()) if np.isfinite(number) else math.nan
        else:
            raise InputError(
                f"{holder} {str(number)[:40]!r} ({type(number).__name__}); give {expected}"
            )


def _refuse(where: str) -> NoReturn:
    raise InputError(f"rows hold a number {where}, outside the range of doubles; rescale the rows")


# Decimals of so many significant digits differ as doubles
DIGITS = 15
# Powers of ten up to this one are doubles
_MOST_PLACES = 22
# Numbers without exponent that are not 0, but smaller than all doubles, are longer than this
_SHORTEST_SMALL = 300
_EXPONENT = re.compile("[eE]")


class PrintedNumbers:
    """The numbers of a text while it is read, with a record of those that are no doubles."""

    def __init__(self) -> None:
        self._count = 0
        self._rounded = False
        self._aside: list[int] = []

    def add(self, words: Sequence[str], values: FloatArray) -> None:
        """Record numbers in the order of the text.

        Parameters
        ----------
        words
            As they are printed, in Python's form.
        values
            The nearest doubles, finite, of the same length.
        """
        first = self._count
        self._count += len(words)
        longest = max(map(len, words), default=0)
        exact = longest <= DIGITS or (self._rounded and longest < _SHORTEST_SMALL)
        if exact and not _EXPONENT.search("".join(words)):
            return
        for position in np.flatnonzero(np.abs(values) < LEAST_NORMAL).tolist():
            if not _is(words[position], float(values[position])):
                raise InputError(
                    f"{words[position][:40]} is outside the range of doubles; rescale the numbers"
                )
        for position, word in enumerate(words):
            if self._rounded:
                return
            if len(word) > DIGITS and len(_digits(word)) > DIGITS:
                self._rounded = not _is(word, float(values[position]))
                self._aside.append(first + position)

    def doubles(self, values: FloatArray) -> Doubles:
        """Return all numbers, of any shape, as doubles and their roundings."""
        if self._rounded:
            return Doubles(values, 1)
        if not self._aside:
            return of_short_decimals(values)
        short = values.flatten()
        short[self._aside] = 0.0  # these are doubles, to the last of their many digits
        return Doubles(values, of_short_decimals(short).roundings)


def _is(word: str, value: float) -> bool:
    """Return whether a printed number is a double; 0 first: fractions of 1e-99999999 are long."""
    if value == 0.0:
        return not _digits(word)
    return Fraction(Decimal(word)) == Fraction(value)


def _digits(word: str) -> str:
    """Return the significant digits of a printed number; none for 0."""
    mantissa = _EXPONENT.split(word, maxsplit=1)[0]
    return "".join(filter(str.isdecimal, mantissa)).strip("0")


def of_short_decimals(values: FloatArray) -> Doubles:
    """Return decimals of at most 15 significant digits from their nearest doubles.

    Parameters
    ----------
    values
        The doubles nearest to the decimals, of any shape.
    """
    for decimals in range(_MOST_PLACES + 1):
        power = 10.0**decimals
        with np.errstate(over="ignore"):
            integers = np.rint(values * power)
        if np.abs(integers).max(initial=0.0) >= 10.0**DIGITS:
            break
        if np.array_equal(integers / power, values):
            exact = not np.fmod(integers, 5.0**decimals).any()
            return Doubles(values) if exact else Doubles(values, 1, integers, power)
    return Doubles(values, 1)
