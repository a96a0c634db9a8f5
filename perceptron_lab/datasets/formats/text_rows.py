"""Rows of numbers as text, with commas or tabs between them, and the columns of tables."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from perceptron_lab.doubles import LEAST_NORMAL, Doubles
from perceptron_lab.errors import InputError, did_you_mean
from perceptron_lab.printed_numbers import PrintedNumbers, of_short_decimals

# The word for the last column
LAST = "last"
# Characters of a file that a message shows at most
LONGEST_TEXT = 200
_MANY_DIGITS = re.compile(rb"\d{16,}|[\d.]{17,}")  # in a decimal of more than 15 digits
_SMALL = re.compile(rb":([+-]?[\d.]*[1-9][\d.]*[eE]-\d{3,})")  # may be 0 as a double


def read_text(path: Path, labels: str | None, *, separator: str) -> tuple[Doubles, Any]:
    """Return the numbers of a text, read as the decimals printed, and the labels or None.

    The first line may name the columns; ``labels`` is the name or number of theirs, or None.
    """
    printed = PrintedNumbers()
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file, delimiter=separator, skipinitialspace=True)
        stripped = ([field.strip() for field in fields] for fields in reader)
        lines = ((reader.line_num, fields) for fields in stripped if any(fields))
        first = next(lines, None)
        if first is None:
            raise InputError("the file is empty; give rows of numbers")
        width, (column, named) = len(first[1]), column_of(labels, first[1])
        rows, classes = [], []
        for number, fields in lines if named else chain([first], lines):
            if len(fields) != width:
                raise InputError(
                    f"line {number} has {len(fields)} fields, line {first[0]} has {width}; "
                    "give every row as many"
                )
            if column is not None:
                classes.append(fields.pop(column))
            rows.append(np.array([_number(text, number) for text in fields]))
            printed.add(fields, rows[-1])
    if not rows:
        raise InputError("only names of columns are in the file; give rows of numbers below")
    found = printed.doubles(np.array(rows))
    if "" in classes:
        raise InputError(f"{classes.count('')} labels are missing; give every one")
    if column is None:
        return found, None
    # As numbers, if all are, so that 10 is larger than 9.
    numbers = all(map(_is_number, classes))
    return found, np.array([float(label) for label in classes] if numbers else classes)


def column_of(labels: str | None, first: list[str]) -> tuple[int | None, bool]:
    """Return the place of the labels, and whether the first line holds names of columns."""
    if labels is not None and labels in first and not _is_place(labels):
        return first.index(labels), True
    column = None if labels is None else place_of(labels, len(first), first)
    return column, not any(_is_number(text) for i, text in enumerate(first) if i != column)


def _is_place(labels: str) -> bool:
    return labels == LAST or (labels.isascii() and labels.isdigit())


def place_of(labels: str, width: int, names: Sequence[str] = ()) -> int:
    """Return the place of the labels' column among ``width``, from 0 on."""
    if labels == LAST:
        return width - 1
    if not _is_place(labels):
        raise InputError(
            f"no column is called {labels!r}{did_you_mean(labels, names)}; give a name of the "
            f"first line, a number from 1 to {width}, or {LAST}"
        )
    if not 1 <= int(labels) <= width:
        raise InputError(f"there is no column {labels}; give 1 to {width}, or {LAST}")
    return int(labels) - 1


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _number(text: str, line: int) -> float:
    try:
        number = float(text)
    except ValueError:
        raise InputError(
            f"line {line}: received {text[:LONGEST_TEXT]!r}, which is no number; mend it, or say "
            "which column holds the labels if it is one"
        ) from None
    if not math.isfinite(number):
        raise InputError(
            f"line {line}: received {text[:LONGEST_TEXT]!r}; give finite numbers, or remove the row"
        )
    return number


def printed_entries(path: Path, examples: sp.csr_array) -> Doubles:
    """Return the numbers of a file in svmlight's format, with their distance from the decimals.

    ``examples`` holds the doubles nearest to the decimals. Decimals so small that doubles near them
    have few digits are refused.
    """
    content = path.read_bytes()
    for match in _SMALL.finditer(content):
        if abs(float(match.group(1))) < LEAST_NORMAL:
            raise InputError(f"{match.group(1).decode()[:40]} has no double near it; rescale")
    if _MANY_DIGITS.search(content):
        return Doubles(examples, 1)
    found = of_short_decimals(examples.data)
    whole = None
    if found.whole is not None:
        parts = found.whole, examples.indices, examples.indptr
        whole = sp.csr_array(parts, shape=examples.shape)
    return Doubles(examples, found.roundings, whole, found.multiple)
