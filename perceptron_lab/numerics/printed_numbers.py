"""Numbers printed as text: read as the decimals that they are, not as the doubles nearest to them.

Two decimals of 15 significant digits or fewer never share a double. So if N / 10^k, with a whole
number N below 10^15 and correctly rounded, is the double x of such a decimal, then the decimal is
N / 10^k. That is found for all numbers of a file at once, by a few operations on arrays.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

import numpy as np

from perceptron_lab.core.errors import InputError
from perceptron_lab.core.results import FloatArray
from perceptron_lab.numerics.doubles import LEAST_NORMAL, Doubles

# Decimals of so many significant digits differ as doubles
DIGITS = 15
# Powers of ten up to this one are doubles
_MOST_PLACES = 22
# Numbers without exponent that are not 0, but smaller than all doubles, are longer than this
_SHORTEST_SMALL = 300
_EXPONENT = re.compile("[eE]")


class PrintedNumbers:
    """The numbers of a text while it is read: which of them are doubles."""

    def __init__(self) -> None:
        self._count = 0
        self._rounded = False
        self._aside: list[int] = []

    def add(self, words: Sequence[str], values: FloatArray) -> None:
        """Take note of some numbers, in the order of the text.

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
        known = longest <= DIGITS or (self._rounded and longest < _SHORTEST_SMALL)
        if known and not _EXPONENT.search("".join(words)):
            return
        for place in np.flatnonzero(np.abs(values) < LEAST_NORMAL).tolist():
            if not _is(words[place], float(values[place])):
                raise InputError(f"{words[place][:40]} has no double near it; rescale the numbers")
        for place, word in enumerate(words):
            if self._rounded:
                return
            if len(word) > DIGITS and len(_digits(word)) > DIGITS:
                self._rounded = not _is(word, float(values[place]))
                self._aside.append(first + place)

    def doubles(self, values: FloatArray) -> Doubles:
        """Return all numbers, of any shape, as doubles and their roundings."""
        if self._rounded:
            return Doubles(values, 1)
        if not self._aside:
            return of_short_decimals(values)
        others = values.flatten()
        others[self._aside] = 0.0  # these are doubles, to the last of their many digits
        return Doubles(values, of_short_decimals(others).roundings)


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
    """Return decimals of at most 15 significant digits, given the doubles nearest to them.

    Parameters
    ----------
    values
        The doubles nearest to the decimals, of any shape.
    """
    for places in range(_MOST_PLACES + 1):
        power = 10.0**places
        with np.errstate(over="ignore"):
            whole = np.rint(values * power)
        if np.abs(whole).max(initial=0.0) >= 10.0**DIGITS:
            break
        if np.array_equal(whole / power, values):
            exact = not np.fmod(whole, 5.0**places).any()
            return Doubles(values) if exact else Doubles(values, 1, whole, power)
    return Doubles(values, 1)
