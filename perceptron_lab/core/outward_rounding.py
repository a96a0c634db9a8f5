"""Proved bounds as text: a lower one is rounded down, an upper one up, so that they stay proved."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal


def text_below(bound: float, digits: int = 6) -> str:
    """Return a proved lower bound, rounded down to 1 to 15 significant digits.

    Examples
    --------
    >>> text_below(0.123499, 3), text_below(-0.0100001, 3)
    ('0.123', '-0.0101')
    """
    return _text(bound, digits, ROUND_FLOOR)


def text_above(bound: float, digits: int = 6) -> str:
    """Return a proved upper bound, rounded up to 1 to 15 significant digits.

    Examples
    --------
    >>> text_above(0.123411, 3), text_above(-0.0100001, 3)
    ('0.124', '-0.01')
    """
    return _text(bound, digits, ROUND_CEILING)


def bracket_text(lower: float | None, upper: float | None, digits: int = 6) -> str:
    """Return a proved bracket as text, with a question mark for a missing bound.

    Examples
    --------
    >>> bracket_text(0.12349999, None, 3)
    '[0.123, ?]'
    """
    below = "?" if lower is None else text_below(lower, digits)
    above = "?" if upper is None else text_above(upper, digits)
    return f"[{below}, {above}]"


def _text(bound: float, digits: int, rounding: str) -> str:
    if not math.isfinite(bound):
        return f"{bound:g}"
    bound += 0.0  # there is no -0
    # Decimal converts a double exactly, so that only this rounding matters
    rounded = Context(prec=digits, rounding=rounding).create_decimal_from_float(bound)
    text = f"{float(rounded):.{digits}g}"
    return text if Decimal(text) == rounded else f"{rounded:e}"  # near the ends of doubles
