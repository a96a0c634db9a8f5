"""Exact numbers in text from files that nobody has vouched for: bounded in length, no exponents.

``Fraction("1e999999999")`` needs a gigabit, and Python's own parser reads digits of every script.
Saved answers hold p or p/q in decimal digits, or in hexadecimal ones after ``0x``, and nothing
else is read.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any, Final

LONGEST: Final = 1_000_000
"""Characters of a number at most."""
_DECIMAL: Final = r"-?[0-9]+"
_HEXADECIMAL: Final = r"-?0x[0-9a-f]+"
_NUMBER: Final = re.compile(
    rf"(?:(?:{_DECIMAL})(?:/[0-9]+)?)|(?:(?:{_HEXADECIMAL})(?:/0x[0-9a-f]+)?)"
)
_PLACE: Final = re.compile(r"0|[1-9][0-9]{0,17}")
# Python reads no more decimal digits than 640 under every setting
_SHORT: Final = 640


def fraction_of(text: Any) -> Fraction:
    """Return the number of a text p or p/q, each a decimal or a hexadecimal integer.

    Raises
    ------
    ValueError
        If it is no text of this form, is longer than :data:`LONGEST`, or its denominator is 0.

    Examples
    --------
    >>> fraction_of("-6/4"), fraction_of("0x1f")
    (Fraction(-3, 2), Fraction(31, 1))
    """
    if not is_fraction(text):
        shown = f"{text[:40]!r}..." if isinstance(text, str) and len(text) > 40 else f"{text!r:.40}"
        raise ValueError(f"{shown} is no exact number; allowed: p or p/q, {LONGEST} digits at most")
    numerator, _, denominator = text.partition("/")
    return Fraction(_integer(numerator), _integer(denominator) if denominator else 1)


def is_fraction(text: Any) -> bool:
    """Return whether :func:`fraction_of` reads a text."""
    if not isinstance(text, str) or len(text) > LONGEST or not _NUMBER.fullmatch(text):
        return False
    denominator = text.partition("/")[2]
    return not denominator or bool(denominator.removeprefix("0x").strip("0"))


def is_place(text: Any) -> bool:
    """Return whether a text is a number of a condition or row: 0 or more, without leading zeros."""
    return isinstance(text, str) and _PLACE.fullmatch(text) is not None


def _integer(digits: str) -> int:
    if "x" in digits:
        return int(digits, 16)
    if len(digits) <= _SHORT:
        return int(digits)
    from flint import fmpz  # it reads decimals of any length, in nearly linear time

    return int(fmpz(digits))
