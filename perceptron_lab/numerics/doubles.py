"""Numbers as doubles, and whether they are the numbers given: the first rounding of all.

A number that no double holds becomes the nearest one. Then a = a~ (1 + d) with |d| <= u = 2^-53, as
long as a~ is neither subnormal nor infinite; such numbers are refused. Proofs that count one
rounding more per product are about a, not about a~: no intervals are kept.

Fractions with a common denominator are whole numbers in disguise. Rows may be multiplied by it, for
a system of rows is the same after that; if all products are doubles, nothing is rounded.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from numbers import Rational
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from perceptron_lab.core.errors import InputError

# Whole numbers up to this magnitude are doubles
LARGEST_WHOLE = 2**53
# Below this doubles lose digits: their rounding errors are not relative ones
LEAST_NORMAL = 2.0**-1022


@dataclass(frozen=True)
class Doubles:
    """Doubles in place of the numbers given.

    Parameters
    ----------
    values
        The nearest doubles (single precision stays single), of any shape, or a CSR array of them.
    roundings
        0: they are the numbers given; 1: some were rounded, once.
    whole
        Where some were rounded: whole numbers (doubles, exact) that are ``multiple`` times the
        numbers given, if there are any; else None.
    multiple
        > 0, a whole number.
    """

    values: Any
    roundings: int = 0
    whole: Any = None
    multiple: float = 1.0

    def part(self, indices: npt.NDArray[np.int64]) -> Doubles:
        """Return some rows."""
        whole = None if self.whole is None else self.whole[indices]
        return Doubles(self.values[indices], self.roundings, whole, self.multiple)


def doubles_of(given: Any) -> Doubles:
    """Return an array's numbers as doubles; single precision stays single.

    Parameters
    ----------
    given
        An array of truth values, integers, floating-point numbers of any precision, or Python's
        own numbers (int, float, Fraction, Decimal). What is not finite stays so.
    """
    if given.dtype.kind == "O":
        return _from_objects(given)
    if given.dtype in (np.float32, np.float64):
        return Doubles(given)
    if given.dtype.kind == "f" and given.dtype.itemsize > 8:
        with np.errstate(over="ignore", under="ignore"):
            values = given.astype(np.float64)
        changed = (values != given) & ~np.isnan(given)
        if np.isinf(values[changed]).any():
            _refuse("beyond 1.8e308")
        if (np.abs(values[changed]) < LEAST_NORMAL).any():
            _refuse("between 0 and 2.2e-308")
        return Doubles(values, int(changed.any()))
    values = np.asarray(given, dtype=np.float64)
    if given.dtype.kind in "iu" and given.dtype.itemsize == 8 and given.size:
        large = given[(given > LARGEST_WHOLE) | (given < -LARGEST_WHOLE)]
        return Doubles(values, int(any(int(float(x)) != x for x in large.tolist())))
    return Doubles(values)


def _from_objects(given: Any) -> Doubles:
    """Return Python's own numbers as doubles, or as multiples of them where there is one."""
    exact = list(exact_numbers(given.ravel().tolist()))
    doubles: list[float] = []
    for number in exact:
        try:
            doubles.append(float(number))
        except OverflowError:
            _refuse("beyond 1.8e308")
        if abs(doubles[-1]) < LEAST_NORMAL and doubles[-1] != number:
            _refuse("between 0 and 2.2e-308")
    values, pairs = np.array(doubles).reshape(given.shape), zip(exact, doubles, strict=True)
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
    whole = np.array([float(product) for product in products]).reshape(given.shape)
    return Doubles(values, 1, whole, float(common))


def exact_numbers(
    numbers: list[Any], holder: str = "rows hold", wanted: str = "a matrix of real numbers"
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
                f"{holder} {str(number)[:40]!r} ({type(number).__name__}); give {wanted}"
            )


def _refuse(where: str) -> NoReturn:
    raise InputError(f"rows hold a number {where}, which no double is near to; rescale the rows")
