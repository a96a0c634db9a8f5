"""Exact numbers as text: without loss for files, abbreviated for readers.

In files a whole number is written in all its decimal digits, a fraction as two of them with a slash
between: ``-3``, ``22/7``. python-flint converts them, in nearly linear time: Python itself refuses
more than 4300 digits, or as many as a user sets.
"""

from __future__ import annotations

from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from fractions import Fraction
from typing import Any, Final

import numpy as np

from perceptron_lab.core.exact_form import EXACT, MOST_CHARACTERS
from perceptron_lab.numerics.exact_doubles import to_double

_SHOWN: Final = 40  # Characters of an exact number that are not abbreviated
# Longer whole numbers are written as texts of hexadecimal digits, which are read in linear time
_LONGEST: Final = 1 << 200
_SPARE: Final = 128  # Bits of a number that is rounded to decimal digits


def exact_text(number: Any) -> str:
    """Return an integer or fraction as text that :func:`read_exact` reads back.

    Examples
    --------
    >>> exact_text(Fraction(-22, 7)), exact_text(3), len(exact_text(Fraction(1, 10**5000)))
    ('-22/7', '3', 5003)
    """
    from flint import fmpz

    p, q = (fmpz(integer).str() for integer in (number.numerator, number.denominator))
    return p if q == "1" else f"{p}/{q}"


def read_exact(text: object) -> Fraction:
    """Return the number in a text of :func:`exact_text`.

    Whole numbers in hexadecimal digits, as in certificates, are read as well: ``0x1f``.

    Raises
    ------
    ValueError
        If it is no such text, it has more than 2^20 characters, or a denominator is 0.

    Examples
    --------
    >>> read_exact("-22/7"), read_exact("0x10/3")
    (Fraction(-22, 7), Fraction(16, 3))
    """
    if not isinstance(text, str):
        raise ValueError(f"{type(text).__name__} in place of the text of an exact number")
    if len(text) > MOST_CHARACTERS:
        raise ValueError(f"an exact number of {len(text)} characters; 2^20 are allowed")
    match = EXACT.fullmatch(text)
    if match is None:
        raise ValueError(f"{text[:_SHOWN]!r} is no exact number; allowed: digits, 0x..., and p/q")
    sign, p, q = match.groups()
    below = 1 if q is None else _read_whole(q)
    if not below:
        raise ValueError(f"{text[:_SHOWN]!r} has the denominator 0")
    return Fraction(-_read_whole(p) if sign else _read_whole(p), below)


def _read_whole(digits: str) -> int:
    if digits.startswith("0x"):
        return int(digits, 16)
    from flint import fmpz

    return int(fmpz(digits))


def shown_text(number: Fraction) -> str:
    """Return a number for readers: a decimal of 15 digits, a fraction, or ``~`` and 15 digits.

    Only what follows ``~`` may be rounded.

    Examples
    --------
    >>> shown_text(Fraction(1, 8)), shown_text(Fraction(1, 3)), shown_text(Fraction(-20))
    ('0.125', '1/3', '-20')
    >>> shown_text(Fraction(7**5000))
    '~3.09171940135977e+4225'
    """
    if abs(number) < 10**15:
        decimal = f"{to_double(number):.15g}"
        if Fraction(decimal) == number:
            return decimal
    if max(number.numerator.bit_length(), number.denominator.bit_length()) <= 4 * _SHOWN:
        text = str(number)
        if len(text) <= _SHOWN:
            return text
    return f"~{_rounded(number):g}"


def _rounded(number: Fraction) -> Decimal:
    """Return a number as a decimal of 15 digits, in time nearly independent of its size."""
    context = Context(prec=30, Emax=MAX_EMAX, Emin=MIN_EMIN)
    p, q = number.numerator, number.denominator
    power = p.bit_length() - q.bit_length() - _SPARE
    leading = (p << max(-power, 0)) // (q << max(power, 0))
    product = context.multiply(Decimal(leading), context.power(Decimal(2), power))
    return Context(prec=15, Emax=MAX_EMAX, Emin=MIN_EMIN).normalize(product)


def written(value: object) -> Any:
    """Return a value of a certificate for JSON: long whole numbers as hexadecimal texts."""
    if isinstance(value, dict):
        return {name: written(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [written(item) for item in value]
    if isinstance(value, np.integer):
        return int(value)
    return hex(value) if isinstance(value, int) and abs(value) >= _LONGEST else value
