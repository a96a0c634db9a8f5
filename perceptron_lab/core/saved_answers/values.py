"""The values that a field of a saved answer may have: type, range and shape."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Final, TypeGuard

import numpy as np

from perceptron_lab.core.errors import InputError
from perceptron_lab.core.exact_form import is_exact
from perceptron_lab.core.goals import goal_of

_MOST: Final = 2**63
"""Above all counts."""
_LARGEST: Final = 2**1000
"""Above all integers that stand for a double."""
_HEX: Final = "0123456789abcdef"
_PLACE: Final = re.compile(r"0|[1-9][0-9]{0,17}")


@dataclass(frozen=True)
class Values:
    """The values that are allowed in a field.

    Parameters
    ----------
    words
        In messages and in the documentation.
    allows
        Whether a value, as JSON or numpy have read it, is one of them.
    """

    words: str
    allows: Callable[[object], bool] = field(repr=False)


def is_place(text: object) -> bool:
    """Return whether a text is a number of a condition or row: 0 or more, without leading zeros."""
    return isinstance(text, str) and _PLACE.fullmatch(text) is not None


def one_of(words: str, allowed: Collection[str]) -> Values:
    """Return the values that are certain texts."""
    return Values(words, lambda value: isinstance(value, str) and value in allowed)


def or_null(values: Values) -> Values:
    """Return these values and null."""
    return Values(f"{values.words} or nothing", lambda value: value is None or values.allows(value))


def list_of(values: Values) -> Values:
    """Return the lists of these values."""
    return Values(
        f"a list, each {values.words}",
        lambda value: isinstance(value, list) and all(map(values.allows, value)),
    )


def mapping_of(values: Values, key: Callable[[object], bool], keys: str) -> Values:
    """Return the mappings of such keys to these values."""
    return Values(
        f"{keys} -> {values.words}",
        lambda value: (
            isinstance(value, dict)
            and all(map(key, value))
            and all(map(values.allows, value.values()))
        ),
    )


def exactly(constant: object) -> Values:
    """Return the values that are a constant, of its type."""
    return Values(
        json.dumps(constant), lambda value: type(value) is type(constant) and value == constant
    )


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, float) or (type(value) is int and abs(value) < _LARGEST)


def _is_goal(value: object) -> bool:
    try:
        return isinstance(value, str) and goal_of(value) is not None
    except InputError:
        return False


def _is_array(value: object) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.kind in "fiub"


def _is_doubles(value: object) -> bool:
    return isinstance(value, np.ndarray) and value.dtype == np.float64


def _is_bracket(value: object) -> bool:
    if not isinstance(value, list) or len(value) != 2:
        return False
    lower, upper = value
    return REAL.allows(lower) and lower >= 0 and (upper is None or REAL.allows(upper))


TEXT: Final = Values("a text", lambda value: isinstance(value, str))
TRUTH: Final = Values("a truth value", lambda value: isinstance(value, bool))
COUNT: Final = Values(
    "an integer from 0 to 2^63 - 1", lambda value: type(value) is int and 0 <= value < _MOST
)
NUMBER: Final = Values("a number", _is_number)
REAL: Final = Values("a number, not NaN", lambda value: _is_number(value) and not math.isnan(value))
FINITE: Final = Values(
    "a finite number", lambda value: _is_number(value) and -math.inf < value < math.inf
)
AMOUNT: Final = Values("a number from 0 on", lambda value: _is_number(value) and value >= 0)
SHA256: Final = Values(
    "64 hexadecimal digits",
    lambda value: isinstance(value, str) and len(value) == 64 and not set(value) - set(_HEX),
)
GOAL: Final = Values("a goal, as in runs.csv", _is_goal)
MAPPING: Final = Values("a mapping", lambda value: isinstance(value, dict))
LIST: Final = Values("a list", lambda value: isinstance(value, list))
ANY: Final = Values("any value of JSON", lambda value: True)
FRACTION: Final = Values("a text p or p/q", is_exact)
WEIGHTS: Final = mapping_of(FRACTION, is_place, "number of a condition")
BRACKET: Final = Values("[lower from 0 on, upper or nothing]", _is_bracket)
DOUBLES: Final = Values("an array of doubles", _is_doubles)
ARRAY: Final = Values("an array of numbers", _is_array)
