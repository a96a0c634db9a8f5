"""Texts that are numbers, or nearly: decimal commas, separators of thousands, units, dates."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, TypeVar

Place = TypeVar("Place")

DECIMAL_COMMA: Final = re.compile(r"[+-]?\d*,\d+(?:[eE][+-]?\d+)?")
"""A number with a decimal comma, as ``0,5``; ``1,234`` may as well be 1234."""

_GROUPED_BY_COMMA: Final = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}")
_GROUPED_BY_POINT: Final = re.compile(r"[+-]?[1-9]\d{0,2}\.\d{3}")
_THOUSANDS: Final = re.compile(
    r"([+-]?\d{1,3}(?:([,.'’ _\u00a0\u2009\u202f])\d{3})(?:\2\d{3})*)(.*)"
)
_REST: Final = re.compile(r"(?:[.,]\d+)?(?:[eE][+-]?\d+)?")
_MENDS: Final = (
    (DECIMAL_COMMA, "write it with a decimal point, or separate the columns by semicolons"),
    (re.compile(r"[\u2010-\u2015\u2212]\s*[\d.,]+"), "write the minus sign as -"),
    (re.compile(r"[+-]?[\d.]+(?:_[\d.]+)+"), "write {plain}"),
    (
        re.compile(r"[$€£¥]\s*[+-]?[\d.,]+|[+-]?[\d.,]+\s*[%‰$€£¥]"),
        "write the number alone, in one unit for the column",
    ),
    (
        re.compile(r"\d{4}-\d{1,2}-\d{1,2}([ T].*)?|\d{1,2}([./])\d{1,2}\2\d{2,4}"),
        "give dates as numbers, such as days since the first one, or leave the column out",
    ),
)


def is_number(text: str) -> bool:
    """Return whether a text is a number; Python's 1_000 is none here: ``1_1`` may be a name."""
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text


def pointed(text: str) -> str:
    """Return a number with a decimal point in the place of its comma; other texts as they are."""
    return text.replace(",", ".") if DECIMAL_COMMA.fullmatch(text) else text


def number_text(field: str, separator: str) -> str:
    """Return a number with a decimal point, where no comma separates fields."""
    return field if separator == "," else pointed(field)


def decimal_commas(entries: Iterable[tuple[Place, str]]) -> tuple[str, tuple[Place, str] | None]:
    """Return the first number that has a decimal comma for sure, and the first doubtful one.

    The comma of ``1,234`` is doubtful where no other one shows that commas come before decimals;
    where one does, the point of ``1.234`` is.

    Parameters
    ----------
    entries
        The texts between separators that are no commas, each with its place.
    """
    sure, comma, point = "", None, None
    for place, text in entries:
        if _GROUPED_BY_COMMA.fullmatch(text):
            comma = comma or (place, text)
        elif DECIMAL_COMMA.fullmatch(text):
            sure = sure or text
        elif _GROUPED_BY_POINT.fullmatch(text):
            point = point or (place, text)
    return sure, point if sure else comma


def mend_of(text: str) -> str:
    """Return how a text could be written as a number, in words; empty where that is unknown."""
    text = text.strip()
    found = next((words for pattern, words in _MENDS if pattern.fullmatch(text)), "")
    return _thousands(text) or found.format(plain=text.replace("_", ""))


def _thousands(text: str) -> str:
    """Explain separators of thousands, and the comma that may be one."""
    found = _THOUSANDS.fullmatch(text)
    if _GROUPED_BY_COMMA.fullmatch(text):
        plain, decimal = text.replace(",", ""), text.replace(",", ".")
        return f"write {plain} if the comma stands between thousands, {decimal} if before decimals"
    if found is None or not _REST.fullmatch(found[3]):
        return ""
    plain = found[1].replace(found[2], "") + found[3].replace(",", ".")
    return f"write {plain}, with nothing between thousands"
