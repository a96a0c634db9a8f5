"""Fields of saved answers: a path, the values that are allowed, and the check that covers it.

A file is read as a flat mapping of paths to values: ``certificate.linear.violation``,
``trace.updates``, ``proof.dual``. A path that ends with ``.*`` stands for any names.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, unique
from typing import Any, Final, Literal, TypeGuard

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
    description
        In messages and in the documentation.
    allows
        Whether a value, as JSON or numpy have read it, is one of them.
    """

    description: str
    allows: Callable[[object], bool] = field(repr=False)


def _of(words: str, kind: type, allows: Callable[[Any], bool] = lambda value: True) -> Values:
    """Return the values of a type that satisfy a condition."""
    return Values(words, lambda value: isinstance(value, kind) and allows(value))


def is_index_text(text: object) -> bool:
    """Return whether a text is an index of a condition or row: 0 or more, no leading zeros."""
    return isinstance(text, str) and _PLACE.fullmatch(text) is not None


def one_of(words: str, allowed: Collection[str]) -> Values:
    """Return the values that are one of the given texts."""
    return _of(words, str, lambda value: value in allowed)


def or_null(values: Values) -> Values:
    """Return the given values extended by null."""
    return Values(
        f"{values.description} or nothing", lambda value: value is None or values.allows(value)
    )


def list_of(values: Values) -> Values:
    """Return lists of the given values."""
    return _of(
        f"a list, each {values.description}", list, lambda value: all(map(values.allows, value))
    )


def mapping_of(values: Values, key: Callable[[object], bool], keys: str) -> Values:
    """Return mappings from the given keys to the given values."""
    return _of(
        f"{keys} -> {values.description}",
        dict,
        lambda value: all(map(key, value)) and all(map(values.allows, value.values())),
    )


def exactly(constant: object) -> Values:
    """Return the single value equal to a constant, of the same type."""
    return Values(
        json.dumps(constant), lambda value: type(value) is type(constant) and value == constant
    )


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, float) or (type(value) is int and abs(value) < _LARGEST)


def _is_goal(text: str) -> bool:
    try:
        return goal_of(text) is not None
    except InputError:
        return False


def _is_bracket(value: list[Any]) -> bool:
    if len(value) != 2:
        return False
    lower, upper = value
    return REAL.allows(lower) and lower >= 0 and (upper is None or REAL.allows(upper))


TEXT: Final = _of("a text", str)
TRUTH: Final = _of("a truth value", bool)
# Types are compared, since True is an instance of int
COUNT: Final = Values(
    "an integer from 0 to 2^63 - 1", lambda value: type(value) is int and 0 <= value < _MOST
)
NUMBER: Final = Values("a number", _is_number)
REAL: Final = Values("a number, not NaN", lambda value: _is_number(value) and not math.isnan(value))
FINITE: Final = Values(
    "a finite number", lambda value: _is_number(value) and -math.inf < value < math.inf
)
AMOUNT: Final = Values("a number from 0 on", lambda value: _is_number(value) and value >= 0)
SHA256: Final = _of(
    "64 hexadecimal digits", str, lambda value: len(value) == 64 and not set(value) - set(_HEX)
)
GOAL: Final = _of("a goal, as in runs.csv", str, _is_goal)
MAPPING: Final = _of("a mapping", dict)
LIST: Final = _of("a list", list)
ANY: Final = Values("any value of JSON", lambda value: True)
FRACTION: Final = Values("a text p or p/q", is_exact)
WEIGHTS: Final = mapping_of(FRACTION, is_index_text, "number of a condition")
BRACKET: Final = _of("[lower from 0 on, upper or nothing]", list, _is_bracket)
DOUBLES: Final = _of("an array of doubles", np.ndarray, lambda array: array.dtype == np.float64)
ARRAY: Final = _of("an array of numbers", np.ndarray, lambda array: array.dtype.kind in "fiub")


Flat = Mapping[str, Any]
"""Path -> value."""
Kind = Literal["cone", "linear", "optimum", "learner", "verdict"]
"""Answers about strict systems, linear conditions and optima, of learners, and on two classes."""


@unique
class Check(Enum):
    """A check of ``plab verify``; its value is the sentence of the documentation."""

    FORM = "no other value is read"
    STATUS = (
        "its claim is verified on the data; UPDATE_LIMIT, FITTED and other statuses without a "
        "claim are not verified"
    )
    PROVED = "compared with the status"
    POINT = "verified on the data, if the status or `margin_lower` claims something of it"
    WEIGHTS = "verified on the data, if the status or `margin_upper` claims something of them"
    MARGIN_LOWER = "the margin of the point, computed again with bounds of rounding errors"
    MARGIN_UPPER = "the bound of the weights, computed again with bounds of rounding errors"
    NO_MARGIN = "null: there is no margin here"
    NO_OPTIMUM = "null: there is no optimum here"
    OPTIMUM_LOWER = "verified again from the arrays of the proof"
    OPTIMUM_UPPER = "verified again from the point"
    PROOF = "used by the proof of a bound or status; an array that no proof reads is not verified"
    CUT = "the cut is evaluated again"
    FIGURES = "`optimum_lower` and `optimum_upper` as above, `cut` and `cut_ratio` evaluated again"
    LEARNT = "bounds are proved and counts are made again; errors, seconds and others are not"
    MEASURES = "measured again; `claimed_...`, `mistakes` and `rounds` are not verified"
    GOAL_REACHED = "compared with the goal and the verified bounds"
    DATA = "the data are read again, and have this sha256"
    SETTINGS = "used: the data are read by it, and the claims are verified about them"
    SOURCE = (
        "the file that it names is read by it, and has its sha256; the folder `base`, in which the "
        "file was found, is not verified"
    )
    PROVENANCE = "compared with the data, read again"
    MARGIN_NAME = "compared with the system of the data"
    NO_BOUND = "compared with the only value that there is"
    IDENTITY = "compared with the hash of the settings"
    EXACT_POINT = "put into the conditions, exactly: it satisfies all of them"
    EXACT_WEIGHTS = "put into the conditions, exactly: they prove that there is no point"
    DUAL_WEIGHTS = "put into the conditions, exactly: they prove a bound of the objective"
    RAY = "put into the conditions, exactly: the objective falls along it without end"
    EXACT_OPTIMUM = "made again of the exact point and weights"
    IRREDUCIBLE = "verified again, exactly; `false` is not verified where `true` can be proved"
    TIGHT = "computed again at the point, exactly"
    ALWAYS = "put into the conditions, exactly, if `complete`"
    COMPLETE = "computed again of `tight` and `always`; `false` is not verified where `true` is so"
    KIND = (
        "the chain and the sequence are checked again, exactly; `strong` is proved by weights "
        "as well; not verified if there is neither"
    )
    VIOLATION = "computed again from point or weights, and rounded outward"
    NAMES = "made again of the exact numbers and the names in the data"
    ROUNDED = "compared with the exact numbers: each is rounded once"
    MESSAGE = "made again of the exact numbers, but for the method in parentheses"
    SEPARATION = "made again of the exact proof, on the data"
    SIZE = "compared with the problem, loaded again"
    WIDTH = "computed again from the bounds"


@dataclass(frozen=True)
class Field:
    """A field of a saved answer.

    Parameters
    ----------
    path
        Names from the outermost on, with dots between them.
    values
        The allowed values.
    check
        The check of ``plab verify`` that covers it; None: it is not verified.
    required
        Whether a file without it is refused.
    """

    path: str
    values: Values
    check: Check | None = None
    required: bool = True

    @property
    def of_any_name(self) -> bool:
        """Whether the path ends with ``.*``."""
        return self.path.endswith(".*")

    def covers(self, path: str) -> bool:
        """Return whether the field describes a path."""
        if not self.path.endswith(".*"):
            return path == self.path
        return path.startswith(self.path[:-1]) and path != self.path[:-1]


def flattened(fields: Sequence[Field], tree: Mapping[str, object]) -> dict[str, Any]:
    """Return the fields of a file by their paths.

    Raises
    ------
    ValueError
        If a field is unknown, missing, or has a value that is not allowed.
    """
    mappings = {
        field.path[: dot.start()] for field in fields for dot in re.finditer(r"\.", field.path)
    }
    flat = dict(_leaves(fields, mappings, tree, ""))
    missing = [field.path for field in fields if field.required and field.path not in flat]
    if missing:
        raise ValueError(f"it has no {', '.join(missing)}")
    return flat


def _leaves(
    fields: Sequence[Field], mappings: Collection[str], tree: Mapping[str, object], prefix: str
) -> Iterator[tuple[str, Any]]:
    for name, value in tree.items():
        path = f"{prefix}{name}"
        # A name of the text with dots is no path; arrays have such names
        dotted = "." in name and not isinstance(value, np.ndarray)
        field = next((candidate for candidate in fields if candidate.covers(path)), None)
        if dotted and field is not None and not field.of_any_name:
            field = None
        if path in mappings and "." not in name:
            if not isinstance(value, Mapping):
                raise ValueError(f"{path} is {_abbreviated(value)}; allowed: a mapping")
            yield from _leaves(fields, mappings, value, f"{path}.")
        elif field is None:
            raise ValueError(f"the field {path[:80]!r} is unknown here; remove it")
        elif not field.values.allows(value):
            raise ValueError(
                f"{path} is {_abbreviated(value)}; allowed: {field.values.description}"
            )
        else:
            yield path, value


@dataclass(frozen=True)
class AnswerContents:
    """The contents of a file of a saved answer.

    Parameters
    ----------
    kind
        Of the answer.
    fields
        The fields that a file of this kind may have.
    flat
        The values of the fields by path.
    """

    kind: Kind
    fields: tuple[Field, ...]
    flat: Flat

    @classmethod
    def of(cls, kind: Kind, fields: Sequence[Field], tree: Mapping[str, Any]) -> AnswerContents:
        """Return the contents of a file; errors are those of :func:`flattened`."""
        return cls(kind, tuple(fields), flattened(fields, tree))

    def not_verified(self, verified: Collection[Check | str] = ()) -> tuple[str, ...]:
        """Return the paths that no check has covered.

        These are fields of the file, and absent ones that a check would cover.

        Parameters
        ----------
        verified
            The checks that were made and have held, and paths that are verified one by one.
        """
        present: dict[Field, list[str]] = {field: [] for field in self.fields}
        paths: list[str] = []
        for path in self.flat:
            field = next((field for field in self.fields if field.covers(path)), None)
            paths += [path] if field is None else []
            if field is not None:
                present[field].append(path)
        for field, field_paths in present.items():
            if field.check in verified:
                continue
            absent = [field.path] if field.check is not None and not field.of_any_name else []
            paths += [path for path in field_paths or absent if path not in verified]
        return tuple(paths)


# The fields below one of these names are verified all, or none of them
_GROUPS: Final = (
    *("trace.", "bound.", "counts.", "algorithm.", "oracle.", "source.algorithm.", "finding."),
)


def shortened(paths: Sequence[str]) -> list[str]:
    """Return paths for a line of text: ``trace`` for all fields of the trace.

    Examples
    --------
    >>> shortened(["message", "trace.updates", "trace.upper", "certificate.method"])
    ['message', 'trace', 'certificate.method']
    """
    short_paths = []
    for path in paths:
        group = next((prefix for prefix in _GROUPS if path.startswith(prefix)), None)
        short_paths.append(path if group is None else group[:-1])
    return list(dict.fromkeys(short_paths))


def _abbreviated(value: object) -> str:
    try:
        text = json.dumps(value)
    except (TypeError, ValueError, OverflowError):
        text = type(value).__name__
    return text if len(text) <= 60 else f"{text[:60]}..."
