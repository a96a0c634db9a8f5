"""Records of parameters whose wrong values are refused in one line, not by pydantic's report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from functools import wraps
from itertools import chain
from typing import Annotated, Any, TypeVar, cast, dataclass_transform, get_args, get_origin

from pydantic import ConfigDict, Field, ValidationError
from pydantic.dataclasses import dataclass

from perceptron_lab.core.errors import InputError, did_you_mean

Record = TypeVar("Record")

# Every parameter record refuses unknown keys, NaN, infinity and silent conversions
STRICT = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)

Positive = Annotated[float, Field(gt=0)]
Proportion = Annotated[float, Field(gt=0, lt=1)]
Count = Annotated[int, Field(ge=1)]

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

_NUMBERS = {
    **dict.fromkeys(("int_type", "int_from_float"), int),
    **dict.fromkeys(("float_type", "finite_number"), float),
}
"""Faults of numbers -> their type: they leave open the range."""
_LIMITS = {
    "gt": "greater_than",
    "ge": "greater_than_equal",
    "lt": "less_than",
    "le": "less_than_equal",
}
"""Limits of a range -> the faults of numbers beyond them."""


def allowed_values(kind: Any, name: Any, fault: Mapping[str, Any]) -> str:
    """Return the allowed values that a pydantic error states, numbers with their range.

    Parameters
    ----------
    kind
        The class of the record; None where it is not known.
    name
        Name of the parameter.
    fault
        One of ``ValidationError.errors()``.
    """
    words = str(fault["msg"]).removeprefix("Input should be ")
    if fault["type"] in ALLOWED:
        words = ALLOWED[fault["type"]].format(**fault.get("ctx", {}))
    field = getattr(kind, "__pydantic_fields__", {}).get(name)
    number = _NUMBERS.get(fault["type"])
    if field is None or number is None:
        return words
    ranges = {text for base, text in _ranges(field.annotation, field.metadata) if base is number}
    return words + (ranges.pop() if len(ranges) == 1 else "")


def _ranges(hint: object, metadata: Iterable[object]) -> Iterator[tuple[Any, str]]:
    """Yield the types of numbers in an annotation, with their ranges in words."""
    if get_origin(hint) is Annotated:
        inner, *more = get_args(hint)
        # Annotations may hold a Field(...), whose metadata count as well
        constraints = [[constraint, *getattr(constraint, "metadata", ())] for constraint in more]
        yield from _ranges(inner, [*metadata, *chain.from_iterable(constraints)])
        return
    limits = [
        ALLOWED[fault].format(**{key: limit})
        for constraint in metadata
        for key, fault in _LIMITS.items()
        if isinstance(limit := getattr(constraint, key, None), int | float)
    ]
    yield hint, f", {' and '.join(limits)}" if limits else ""
    for inner in get_args(hint):
        yield from _ranges(inner, ())


@dataclass_transform(frozen_default=True)
def parameter_record(record: type[Record]) -> type[Record]:
    """Make a class a frozen parameter record with strict checks and one-line errors.

    Defaults are checked as well: those of some parameters depend on others. An ``InputError`` says
    what was received and is allowed.

    Examples
    --------
    >>> from perceptron_lab import Budget
    >>> Budget("a")
    Traceback (most recent call last):
    perceptron_lab.core.errors.InputError: Budget: updates 'a'; allowed: a whole number, 0 or more
    """
    config = STRICT | ConfigDict(validate_default=True)
    checked: Any = dataclass(frozen=True, config=config)(record)
    initialise = checked.__init__

    @wraps(initialise)
    def refusing(self: object, *arguments: object, **named: object) -> None:
        try:
            initialise(self, *arguments, **named)
        except ValidationError as error:
            raise InputError(
                f"{record.__name__}: {_fault_sentences(record, error.errors())}"
            ) from None

    checked.__init__ = refusing
    return cast("type[Record]", checked)


def _fault_sentences(record: type[Any], faults: Iterable[Any]) -> str:
    """Return one sentence per invalid parameter: its name, its value, the allowed values."""
    names = [field.name for field in fields(record)]
    messages: dict[str, str] = {}
    for fault in faults:
        first, *steps = fault["loc"] or ("",)
        positional = isinstance(first, int) and first < len(names)
        name = names[int(first)] if positional else str(first)
        # An input may be a whole array; the message stays one line
        value = repr(fault["input"])[:60]
        path = "".join([name, *(f"[{step}]" for step in steps if isinstance(step, int))])
        if fault["type"] == "unexpected_positional_argument":
            messages[path] = f"{value} is one value too many; allowed: {', '.join(names)}"
        elif fault["type"] == "unexpected_keyword_argument":
            remedy = did_you_mean(name, names)
            messages[path] = f"no parameter {name!r}{remedy}; allowed: {', '.join(names) or 'none'}"
        elif fault["type"] == "missing":
            messages[path] = f"{name} is missing; it must be given"
        elif fault["type"] == "value_error":  # in the words of a check of the record's own
            message = fault["msg"].removeprefix("Value error, ")
            received = f"{path} {value}; " if message.startswith("allowed: ") else f"{path}: "
            messages[path] = f"{received if name else ''}{message}"
        else:
            allowed = allowed_values(record, name, fault)
            # The members of a union report one by one
            before = messages.get(path, "")
            joined = f"{before}, or {allowed}" if allowed not in before else before
            messages[path] = joined if before else f"{path} {value}; allowed: {allowed}"
    return "; ".join(messages.values())
