"""A verdict's exact proof as arrays of doubles, and the proof verified from them.

Rows are told by their indices, and weights off a basis are whole numbers up to 2^40, so that
doubles hold both. Other exact numbers have any size: they are kept as the text of JSON, a byte in a
double, in hexadecimal digits (Python reads and writes at most 4300 decimal ones).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, Final

import numpy as np

from perceptron_lab.core.errors import DataError
from perceptron_lab.core.results import FloatArray, IntArray
from perceptron_lab.core.saved_answers.files import mapping_in
from perceptron_lab.core.saved_answers.values import is_place
from perceptron_lab.problems.separation.coefficients import CLASSES, UNDECIDED, Coefficient
from perceptron_lab.problems.separation.labelled import Labelled
from perceptron_lab.problems.separation.pairs import ComplementaryPair, span_of
from perceptron_lab.problems.separation.proofs import faults
from perceptron_lab.problems.separation.verdict_record import VerdictRecord

_NAMES: Final = ("overlap", "weights", "exact")
_OF_CLASS: Final = ("class", "combination", "positive", "negative")
_DIGITS: Final = re.compile("-?[0-9a-f]+")
_LARGEST: Final = 2.0**53  # Whole numbers up to it are doubles


def proof_arrays(found: VerdictRecord) -> dict[str, FloatArray]:
    """Return the proof of a verdict, arrays by name; none of one that is undecided."""
    if found.pair is None:
        return {}
    pair = found.pair
    record = {
        "direction": _texts(pair.direction),
        "basis": _fraction_texts(pair.basis),
        "method": found.method,
        "coefficients": [
            {
                "class": one.name,
                "combination": _fraction_texts(one.combination),
                "positive": None if one.positive is None else _texts(one.positive),
                "negative": None if one.negative is None else _texts(one.negative),
            }
            for one in found.proofs
        ],
    }
    text = np.frombuffer(json.dumps(record).encode(), dtype=np.uint8)
    arrays = (pair.overlap, pair.weights, text)
    return {name: np.array(one, dtype=np.float64) for name, one in zip(_NAMES, arrays, strict=True)}


class ProofError(DataError):
    """A proof that was kept does not hold on the data."""


def proved_pair(
    given: Labelled, arrays: Mapping[str, FloatArray]
) -> tuple[ComplementaryPair, list[Coefficient]]:
    """Return the partition and the classes that arrays prove of labelled rows; no search is made.

    Raises
    ------
    DataError
        If the arrays hold no proof of a verdict.
    ProofError
        If they do, and it does not hold on these rows.
    """
    try:
        pair, coefficients = _read(given, arrays)
    except (KeyError, TypeError, ValueError, AttributeError, ZeroDivisionError) as error:
        raise DataError(f"its arrays hold no proof of a verdict ({error})") from None
    wrong = faults(given.rows, pair, coefficients)
    if wrong:
        raise ProofError("; ".join(wrong))
    return pair, coefficients


def _read(
    given: Labelled, arrays: Mapping[str, FloatArray]
) -> tuple[ComplementaryPair, list[Coefficient]]:
    """Return the pair and the classes of the coefficients, neither of them checked."""
    overlap, weights, text = (_whole(arrays[name]) for name in _NAMES)
    count, width = given.rows.count, given.rows.width
    if len(overlap) and not (overlap[-1] < count and (np.diff(overlap) > 0).all()):
        raise ValueError("rows that overlap are not among those of the data")
    if len(weights) != len(overlap):
        raise ValueError(f"{len(weights)} weights of {len(overlap)} rows that overlap")
    record = _with_names(_text_in(text), ("direction", "basis", "method", "coefficients"))
    basis = _weights_of(record["basis"], count)
    coefficients = [
        Coefficient(
            _class(one["class"]),
            _weights_of(one["combination"], count),
            *(
                None if one[side] is None else _direction(one[side], width)
                for side in ("positive", "negative")
            ),
        )
        for one in (_with_names(part, _OF_CLASS) for part in record["coefficients"])
    ]
    span = span_of(given.rows, overlap, np.array(sorted(basis), dtype=np.int64))
    separated = np.setdiff1d(np.arange(count), overlap)
    direction = _direction(record["direction"], width)
    method = record["method"]
    if not isinstance(method, str):
        raise TypeError("its method is no text")
    pair = ComplementaryPair(separated, overlap, weights, basis, direction, span, method)
    return pair, coefficients


def _text_in(codes: IntArray) -> Any:
    """Return the JSON object whose bytes are numbers of an array."""
    if codes.max(initial=0) > 255:
        raise ValueError("a byte of its text is above 255")
    return mapping_in(codes.astype(np.uint8).tobytes().decode())


def _with_names(record: Any, names: Sequence[str]) -> Mapping[str, Any]:
    """Return a mapping that has exactly these names."""
    if not isinstance(record, dict) or record.keys() != set(names):
        raise ValueError(f"a mapping of its text has other names than {', '.join(names)}")
    return record


def _whole(values: FloatArray) -> IntArray:
    if values.ndim != 1 or not (np.isfinite(values) & (values == np.rint(values))).all():
        raise ValueError("an array is no vector of whole numbers")
    if not ((values >= 0.0) & (values <= _LARGEST)).all():
        raise ValueError("a whole number is below 0 or too large")
    return values.astype(np.int64)


def _texts(numbers: Sequence[int]) -> list[str]:
    return [f"{one:x}" for one in numbers]


def _fraction_texts(weights: Mapping[int, Fraction]) -> dict[str, str]:
    return {str(row): f"{one.numerator:x}/{one.denominator:x}" for row, one in weights.items()}


def _direction(texts: Sequence[str], width: int) -> tuple[int, ...]:
    if len(texts) != width:
        raise ValueError(f"a direction of {len(texts)} entries, of {width} columns")
    return tuple(map(_integer, texts))


def _weights_of(texts: Mapping[str, str], count: int) -> dict[int, Fraction]:
    if not all(is_place(row) and int(row) < count for row in texts):
        raise ValueError("a row is not among those of the data")
    parts = {int(row): one.split("/") for row, one in texts.items()}
    return {
        row: Fraction(_integer(above), _integer(below)) for row, (above, below) in parts.items()
    }


def _integer(text: Any) -> int:
    """Return an integer of hexadecimal digits; int alone reads blanks and digits of any script."""
    if not isinstance(text, str) or not _DIGITS.fullmatch(text):
        raise ValueError(f"{text!r:.40} is no integer in hexadecimal digits")
    return int(text, 16)


def _class(name: Any) -> str:
    if name not in (*CLASSES, UNDECIDED):
        raise ValueError(f"{name!r} is no class of a coefficient")
    return str(name)
