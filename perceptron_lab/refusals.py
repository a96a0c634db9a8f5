"""Records of parameters whose wrong values are refused in one line, not by pydantic's report."""

from __future__ import annotations

from functools import wraps
from typing import Any, TypeVar

from pydantic import ValidationError

from perceptron_lab.errors import InputError, did_you_mean

Record = TypeVar("Record")

ALLOWED = {
    **dict.fromkeys(("int_type", "int_from_float"), "a whole number"),
    "float_type": "a number",
    "finite_number": "a finite number",
    "string_type": "text",
    "bool_type": "true or false",
    **dict.fromkeys(("list_type", "tuple_type", "set_type", "frozen_set_type"), "a list"),
    **dict.fromkeys(("dict_type", "model_type", "model_attributes_type"), "a mapping"),
    **dict.fromkeys(("dataclass_type", "dataclass_exact_type"), "a mapping"),
    "none_required": "nothing",
    "greater_than": "more than {gt:g}",
    "greater_than_equal": "{ge:g} or more",
    "less_than": "less than {lt:g}",
    "less_than_equal": "{le:g} or less",
    **dict.fromkeys(("literal_error", "enum"), "{expected}"),
    "too_short": "{min_length} or more entries",
    "too_long": "{max_length} or fewer entries",
}
"""Pydantic's name of a fault -> the values allowed, in words."""


def refusing(record: type[Record]) -> type[Record]:
    """Let a pydantic dataclass raise an ``InputError`` that says what was received and is allowed.

    Examples
    --------
    >>> from perceptron_lab import Budget
    >>> Budget("a")
    Traceback (most recent call last):
    perceptron_lab.errors.InputError: Budget: updates 'a'; allowed: a whole number
    """
    made = record.__init__

    @wraps(made)
    def checked(self: Any, *arguments: Any, **named: Any) -> None:
        try:
            made(self, *arguments, **named)
        except ValidationError as error:
            said = "; ".join(dict.fromkeys(_said(record, one) for one in error.errors()))
            raise InputError(f"{record.__name__}: {said}") from None

    record.__init__ = checked  # type: ignore[method-assign]
    return record


def _said(record: type[Any], fault: Any) -> str:
    """Return a fault as parameter, value received, values allowed."""
    names = list(record.__dataclass_fields__)
    place = fault["loc"][0] if fault["loc"] else ""
    name = names[place] if isinstance(place, int) and place < len(names) else str(place)
    if fault["type"] == "unexpected_positional_argument":
        return f"{repr(fault['input'])[:60]} is one value too many; allowed: {', '.join(names)}"
    if fault["type"] == "unexpected_keyword_argument":
        mend = did_you_mean(name, names)
        return f"no parameter {name!r}{mend}; allowed: {', '.join(names)}"
    if fault["type"] == "missing":
        return f"{name} is missing; it must be given"
    allowed = ALLOWED.get(fault["type"], fault["msg"].removeprefix("Input should be "))
    return f"{name} {repr(fault['input'])[:60]}; allowed: {allowed.format(**fault.get('ctx', {}))}"
