"""Exact verification of a pair and of classes of coefficients, and their storage as arrays.

Row indices, and weights off a basis, which are integers up to 2^40, are stored as doubles. Other
exact numbers have any size: they are stored as JSON text, one byte per double, in hexadecimal
digits (Python converts at most 4300 decimal ones).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import chain
from typing import Any, Final

import numpy as np

from perceptron_lab.core.errors import DataError
from perceptron_lab.core.results import FloatArray, IntArray
from perceptron_lab.core.saved_answers.fields import is_index_text
from perceptron_lab.core.saved_answers.files import mapping_in
from perceptron_lab.problems.separation.coefficients import (
    CLASSES,
    FINITE,
    MINUS,
    PLUS,
    UNDECIDED,
    UNDETERMINED,
    Coefficient,
)
from perceptron_lab.problems.separation.integer_rows import IntegerRows
from perceptron_lab.problems.separation.labelled import Labelled
from perceptron_lab.problems.separation.null_spaces import span_of
from perceptron_lab.problems.separation.pairs import ComplementaryPair
from perceptron_lab.problems.separation.verdict_record import VerdictRecord
from perceptron_lab.systems.conditions import over_common

_NAMES: Final = ("overlap", "weights", "exact")
_OF_CLASS: Final = ("class", "combination", "positive", "negative")
_DIGITS: Final = re.compile("-?[0-9a-f]+")
_LARGEST: Final = 2.0**53  # Integers up to it are doubles


def faults(
    rows: IntegerRows, pair: ComplementaryPair, coefficients: Sequence[Coefficient]
) -> list[str]:
    """Return the statements of a partition and of classes that do not hold; empty if all do.

    Weights, directions and combinations are substituted into the rows; nothing is searched for.
    """
    faults_found = list(_partition_faults(rows, pair))
    if faults_found or not coefficients:
        return faults_found
    if len(coefficients) != rows.width:
        return [f"{len(coefficients)} classes of {rows.width} coefficients"]
    check = CoefficientChecker(rows, pair)
    each = (check.faults(j, coefficient) for j, coefficient in enumerate(coefficients))
    return list(dict.fromkeys(chain.from_iterable(each)))


class CoefficientChecker:
    """Checks the classes of coefficients one by one, each direction once.

    Parameters
    ----------
    rows, pair
        The rows, and a verified partition of them.
    """

    def __init__(self, rows: IntegerRows, pair: ComplementaryPair) -> None:
        self._rows, self._pair = rows, pair
        self._separated = frozenset(pair.separated.tolist())
        self._members = set[tuple[int, ...]]()

    def faults(self, j: int, coefficient: Coefficient) -> list[str]:
        """Return the faults of the class of coefficient j; empty if it is proved."""
        faults_found, rows = list[str](), self._rows
        members = {
            b for b in (coefficient.positive, coefficient.negative) if b is not None
        } - self._members
        if _vanish_on_overlap(rows, self._pair, list(members)) and all(
            rows.least_sign(self._pair.separated, b) >= 0 for b in members
        ):
            self._members |= members
        else:
            faults_found.append("a direction of a coefficient is not in the cone")
        fault = _class_fault(rows, self._separated, j, coefficient)
        return [*faults_found, f"coefficient {j}: {fault}"] if fault else faults_found


def _partition_faults(rows: IntegerRows, pair: ComplementaryPair) -> Iterator[str]:
    both = np.concatenate([pair.separated, pair.overlap])
    if len(both) != rows.count or not np.array_equal(np.sort(both), np.arange(rows.count)):
        yield "the rows are not in two parts"
        return
    if len(pair.separated) and rows.least_sign(pair.separated, pair.direction) <= 0:
        yield "the direction is not positive on the separated rows"
    if not _vanish_on_overlap(rows, pair, [pair.direction]):
        yield "the direction is not 0 on the rows that overlap"
    if not positive(pair):
        yield "a row that overlaps has no weight > 0"
    elif any(_balance(rows, pair)):
        yield "the weighted rows that overlap do not add up to 0"


def positive(pair: ComplementaryPair) -> bool:
    """Return whether every overlapping row has exactly one weight, and it is > 0."""
    if len(pair.weights) != len(pair.overlap):
        return False
    basis_rows = np.array(list(pair.basis), dtype=np.int64)
    in_basis = np.isin(pair.overlap, basis_rows)
    return bool(
        in_basis.sum() == len(basis_rows)
        and (np.where(in_basis, pair.weights == 0, pair.weights > 0)).all()
        and all(weight > 0 for weight in pair.basis.values())
    )


def _balance(rows: IntegerRows, pair: ComplementaryPair) -> list[Fraction]:
    """Return sum_N w_i a_i, exactly."""
    most = np.flatnonzero(pair.weights)
    total = rows.combined(pair.overlap[most], pair.weights[most])
    # Integers over one common denominator: sums of fractions would reduce each term.
    basis_rows = np.array(list(pair.basis), dtype=np.int64)
    numerators, common = over_common(pair.basis.values())
    rest = rows.combined(basis_rows, numerators)
    return [value + Fraction(other, common) for value, other in zip(total, rest, strict=True)]


def _vanish_on_overlap(
    rows: IntegerRows, pair: ComplementaryPair, directions: Sequence[Sequence[int]]
) -> bool:
    """Return whether directions are exactly 0 on all overlapping rows."""
    batch = [direction for direction in directions if any(direction)]
    if not batch:
        return True
    return not any(products.any() for _, products in rows.products(pair.overlap, batch))


def _class_fault(
    rows: IntegerRows, separated: frozenset[int], j: int, coefficient: Coefficient
) -> str:
    """Return the fault of a class whose directions lie in the cone; empty if it is proved."""
    if coefficient.name == UNDECIDED:
        return ""
    if coefficient.name == UNDETERMINED:
        both = coefficient.positive is not None and coefficient.negative is not None
        proved = both and coefficient.positive[j] > 0 > coefficient.negative[j]  # type: ignore[index]
        return "" if proved else "no directions of both signs"
    sign = -1 if coefficient.name == MINUS else 1
    if not _combines_to(rows, coefficient, j, sign):
        return "its rows do not combine to the unit vector"
    beyond = [k for k in coefficient.combination if k in separated]
    if coefficient.name == FINITE:
        return "rows are used that are not 0 on the cone" if beyond else ""
    if any(coefficient.combination[k] <= 0 for k in beyond):
        return "a separated row has a multiplier below 0"
    if coefficient.name == PLUS:
        return (
            ""
            if coefficient.positive is not None and coefficient.positive[j] > 0
            else "no direction > 0"
        )
    if coefficient.name == MINUS:
        return (
            ""
            if coefficient.negative is not None and coefficient.negative[j] < 0
            else "no direction < 0"
        )
    return f"{coefficient.name!r} is no class"


def _combines_to(rows: IntegerRows, coefficient: Coefficient, j: int, sign: int) -> bool:
    """Return whether sum_i m_i a_i is the unit vector j, or its negative."""
    if not all(0 <= k < rows.count for k in coefficient.combination):
        return False
    numerators, common = over_common(coefficient.combination.values())
    total = rows.combined(np.array(list(coefficient.combination), dtype=np.int64), numerators)
    return total == [sign * common * (i == j) for i in range(rows.width)]


def proof_arrays(verdict: VerdictRecord) -> dict[str, FloatArray]:
    """Return the proof of a verdict as arrays by name; empty for an undecided verdict."""
    if verdict.pair is None:
        return {}
    pair = verdict.pair
    record = {
        "direction": _texts(pair.direction),
        "basis": _fraction_texts(pair.basis),
        "method": verdict.method,
        "coefficients": [
            {
                "class": proof.name,
                "combination": _fraction_texts(proof.combination),
                "positive": None if proof.positive is None else _texts(proof.positive),
                "negative": None if proof.negative is None else _texts(proof.negative),
            }
            for proof in verdict.proofs
        ],
    }
    if verdict.domain is not None:
        record["domain"] = _texts(verdict.domain.point)
    text = np.frombuffer(json.dumps(record).encode(), dtype=np.uint8)
    arrays = (pair.overlap, pair.weights, text)
    return {
        name: np.array(array, dtype=np.float64) for name, array in zip(_NAMES, arrays, strict=True)
    }


class ProofError(DataError):
    """A stored proof does not hold on the data."""


def proved_pair(
    examples: Labelled, arrays: Mapping[str, FloatArray]
) -> tuple[ComplementaryPair, list[Coefficient], tuple[int, ...]]:
    """Return what arrays prove for labelled rows: partition, classes, and a point of the domain.

    Raises
    ------
    DataError
        If the arrays hold no proof of a verdict.
    ProofError
        If the proof does not hold for these rows.
    """
    try:
        pair, coefficients, point = _read(examples, arrays)
    except (KeyError, TypeError, ValueError, AttributeError, ZeroDivisionError) as error:
        raise DataError(f"its arrays hold no proof of a verdict ({error})") from None
    found_faults = faults(examples.rows, pair, coefficients)
    if examples.domain is not None and not examples.domain.contains(point):
        found_faults.append("a probability is above 1 at the point of the domain")
    if found_faults:
        raise ProofError("; ".join(found_faults))
    return pair, coefficients, point


def _read(
    examples: Labelled, arrays: Mapping[str, FloatArray]
) -> tuple[ComplementaryPair, list[Coefficient], tuple[int, ...]]:
    """Return the pair, the classes of the coefficients and a point of the domain, unchecked."""
    overlap, weights, text = (_integers(arrays[name]) for name in _NAMES)
    count, width = examples.rows.count, examples.rows.width
    if len(overlap) and not (overlap[-1] < count and (np.diff(overlap) > 0).all()):
        raise ValueError("rows that overlap are not among those of the data")
    if len(weights) != len(overlap):
        raise ValueError(f"{len(weights)} weights of {len(overlap)} rows that overlap")
    fields = ("direction", "basis", "method", "coefficients")
    record = _with_names(_text_in(text), (*fields, *["domain"] * (examples.domain is not None)))
    basis = _weights_of(record["basis"], count)
    coefficients = [
        Coefficient(
            _class(part["class"]),
            _weights_of(part["combination"], count),
            *(
                None if part[side] is None else _direction(part[side], width)
                for side in ("positive", "negative")
            ),
        )
        for part in (_with_names(part, _OF_CLASS) for part in record["coefficients"])
    ]
    span = span_of(examples.rows, overlap, np.array(sorted(basis), dtype=np.int64))
    separated = np.setdiff1d(np.arange(count), overlap)
    direction = _direction(record["direction"], width)
    method = record["method"]
    if not isinstance(method, str):
        raise TypeError("its method is no text")
    pair = ComplementaryPair(separated, overlap, weights, basis, direction, span, method)
    return pair, coefficients, _direction(record.get("domain", ()), len(record.get("domain", ())))


def _text_in(codes: IntArray) -> object:
    """Return the JSON object whose bytes are the entries of an array."""
    if codes.max(initial=0) > 255:
        raise ValueError("a byte of its text is above 255")
    return mapping_in(codes.astype(np.uint8).tobytes().decode())


def _with_names(record: object, names: Sequence[str]) -> Mapping[str, Any]:
    """Return a mapping with exactly these keys, or raise a ValueError."""
    if not isinstance(record, dict) or record.keys() != set(names):
        raise ValueError(f"a mapping of its text has other names than {', '.join(names)}")
    return record


def _integers(values: FloatArray) -> IntArray:
    if values.ndim != 1 or not (np.isfinite(values) & (values == np.rint(values))).all():
        raise ValueError("an array is no vector of whole numbers")
    if not ((values >= 0.0) & (values <= _LARGEST)).all():
        raise ValueError("a whole number is below 0 or too large")
    return values.astype(np.int64)


def _texts(numbers: Sequence[int]) -> list[str]:
    return [f"{number:x}" for number in numbers]


def _fraction_texts(weights: Mapping[int, Fraction]) -> dict[str, str]:
    return {
        str(row): f"{weight.numerator:x}/{weight.denominator:x}" for row, weight in weights.items()
    }


def _direction(texts: Sequence[str], width: int) -> tuple[int, ...]:
    if len(texts) != width:
        raise ValueError(f"a direction of {len(texts)} entries, of {width} columns")
    return tuple(map(_integer, texts))


def _weights_of(texts: Mapping[str, str], count: int) -> dict[int, Fraction]:
    if not all(is_index_text(row) and int(row) < count for row in texts):
        raise ValueError("a row is not among those of the data")
    parts = {int(row): text.split("/") for row, text in texts.items()}
    return {
        row: Fraction(_integer(above), _integer(below)) for row, (above, below) in parts.items()
    }


def _integer(text: object) -> int:
    """Return the integer of a text of hexadecimal digits."""
    # int alone would also read blanks, underscores, and digits of other scripts.
    if not isinstance(text, str) or not _DIGITS.fullmatch(text):
        raise ValueError(f"{text!r:.40} is no integer in hexadecimal digits")
    return int(text, 16)


def _class(name: object) -> str:
    if name not in (*CLASSES, UNDECIDED):
        raise ValueError(f"{name!r} is no class of a coefficient")
    return str(name)
