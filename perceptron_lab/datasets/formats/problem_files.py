"""A system from a file of a user's own: SDPA, numbers as text, numpy's or svmlight's format."""

from __future__ import annotations

import csv
import math
import os
import re
from collections.abc import Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
import scipy.sparse as sp

from perceptron_lab.datasets.formats.row_files import (
    NumpyRows,
    ParquetRows,
    parquet_labels,
    parquet_names,
)
from perceptron_lab.datasets.formats.sdpa import read_sdpa
from perceptron_lab.datasets.pencil import homogenised
from perceptron_lab.doubles import LEAST_NORMAL, Doubles
from perceptron_lab.errors import DataError, InputError, PlabError, did_you_mean
from perceptron_lab.inputs import signs_of
from perceptron_lab.operators.row_source import MEMORY, LabelledRows
from perceptron_lab.printed_numbers import PrintedNumbers, of_short_decimals
from perceptron_lab.system import ConicSystem

# End of a file's name -> what such a file holds
FORMATS = {
    ".dat-s": "a semidefinite program (SDPA)",
    ".csv": "rows of numbers, commas between them",
    ".tsv": "rows of numbers, tabs between them",
    ".npy": "rows, a numpy matrix",
    ".npz": "rows (one numpy array, or scipy.sparse.save_npz), or X and y",
    ".parquet": "rows, a column for each coordinate",
    ".svm": "labelled examples (svmlight)",
    ".libsvm": "labelled examples (svmlight)",
}
_LABELLED = (".csv", ".tsv", ".npy", ".parquet")
_STREAMED = (".npy", ".parquet")
# The word for the last column
LAST = "last"
# Characters of a file that a message shows at most
LONGEST_TEXT = 200
_MANY_DIGITS = re.compile(rb"\d{16,}|[\d.]{17,}")  # in a decimal of more than 15 digits
_SMALL = re.compile(rb":([+-]?[\d.]*[1-9][\d.]*[eE]-\d{3,})")  # may be 0 as a double
# Rows and None, or examples and a label each; dense, scipy.sparse, Doubles or a source of rows
Contents = tuple[Any, Any]


def read_system(path: Path, labels: str | None = None, *, memory: int | None = None) -> ConicSystem:
    """Return the system that a file states.

    Rows a_i are the homogeneous system a_i'y > 0. Labelled examples of two classes are that of an
    affine separator (w, b), with the larger label (of texts: the later one) as positive class. The
    rows of a .npy file are mapped into memory, and not copied if they are in double or single
    precision and in C order; with a memory they are read block by block, as those of a .parquet
    file always are.

    Parameters
    ----------
    path
        A file whose name ends with one of :data:`FORMATS`.
    labels
        The column of the labels in a matrix of numbers (.csv, .tsv, .npy, .parquet): its name in
        the first line, its number from 1 on, or ``last``. None: there are none.
    memory
        Bytes that a pass over the rows may take, 1 MB or more, beside the vectors of an algorithm;
        only for .npy and .parquet files, the others are read as a whole.
    """
    kind = next((end for end in FORMATS if path.name.lower().endswith(end)), None)
    if not path.is_file():
        raise DataError(f"{path}: no such file; give one that ends with {', '.join(FORMATS)}")
    if kind is None:
        known = "; ".join(f"{end}: {words}" for end, words in FORMATS.items())
        raise DataError(f"{path}: nothing is known of such files; allowed are {known}")
    if labels is not None and kind not in _LABELLED:
        raise DataError(
            f"{path}: labels are a column of .csv, .tsv, .npy and .parquet files; a {kind} file "
            f"holds {FORMATS[kind]}: leave the option out"
        )
    if memory is not None and kind not in _STREAMED:
        raise DataError(
            f"{path}: a {kind} file is read as a whole; leave the memory out, or give its rows as "
            f"{' or '.join(_STREAMED)}"
        )
    try:
        if kind == ".dat-s":
            return homogenised(read_sdpa(path))
        rows, classes = _contents(path, kind, labels, memory)
        if classes is None:
            return ConicSystem.from_rows(rows)
        return ConicSystem.from_labelled(rows, classes)
    except InputError as error:
        raise DataError(f"{path}: {error}") from None
    except MemoryError:
        raise DataError(
            f"{path}: its numbers take more memory than there is; save rows as .npy or .parquet, "
            "which can be read block by block, or use a larger machine"
        ) from None


def _contents(path: Path, kind: str, labels: str | None, memory: int | None) -> Contents:
    try:
        match kind:
            case ".csv" | ".tsv":
                return read_text(path, labels, separator="," if kind == ".csv" else "\t")
            case ".npy":
                return _matrix(path, labels, memory)
            case ".npz":
                return _archive(path)
            case ".parquet":
                names, most = parquet_names(path), memory or MEMORY
                column, _ = column_of(labels, names)
                if column is None:
                    return ParquetRows(path, most), None
                rows = ParquetRows(path, most, omitted=names[column])
                return rows, parquet_labels(path, names[column])
        # Imported here: scikit-learn takes longer to load than most files to solve.
        from sklearn.datasets import load_svmlight_file

        examples, classes = load_svmlight_file(str(path))
        return printed_entries(path, sp.csr_array(examples)), classes
    except (PlabError, MemoryError):
        raise
    except Exception as error:
        # On damaged bytes the libraries' readers end in anything, from zlib.error to TokenError.
        reason = " ".join(str(error).split())[:LONGEST_TEXT]
        raise DataError(f"{path}: not a {kind} file that can be read ({reason})") from None


def _matrix(path: Path, labels: str | None, memory: int | None) -> Contents:
    if memory is not None:
        source = NumpyRows(path, memory)
        if labels is None:
            return source, None
        column = place_of(labels, source.shape[1])
        classes = np.concatenate([some[:, column] for _, some in source.blocks()])
        signs = signs_of(classes, len(classes))
        return LabelledRows(source, signs, affine=True, omitted=column), None
    # Mapped and not read: rows may be larger than memory.
    rows = np.load(path, mmap_mode="r", allow_pickle=False)
    if not isinstance(rows, np.ndarray):
        rows.close()
        raise InputError("it holds several arrays; let its name end with .npz")
    if labels is None:
        return rows, None
    if rows.ndim != 2 or rows.shape[1] < 2:
        raise InputError(f"rows have shape {rows.shape}; with labels give two columns or more")
    column = place_of(labels, rows.shape[1])
    return np.delete(rows, column, axis=1), rows[:, column]


def _archive(path: Path) -> Contents:
    with path.open("rb") as file, ZipFile(file) as archive:
        names = {name.removesuffix(".npy") for name in archive.namelist()}
        size = sum(entry.file_size for entry in archive.infolist())
    # No more than an archive says is ever unpacked of it.
    allowed = 0
    with suppress(AttributeError, ValueError, OSError):  # not every system tells its memory
        allowed = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    if size > allowed > 0:
        raise InputError(
            f"unpacked it takes {size / 2**30:.3g} GiB, and {allowed / 2**30:.3g} GiB are allowed "
            "on this machine (half of its memory); save the rows as .npy, which is not unpacked"
        )
    if {"format", "shape", "data"} <= names:
        return sp.load_npz(path), None
    with np.load(path, allow_pickle=False) as arrays:
        if names == {"X", "y"}:
            return arrays["X"], arrays["y"]
        if len(names) == 1:
            return arrays[names.pop()], None
    raise InputError(
        f"it holds the arrays {', '.join(sorted(names)) or '(none)'}; give one (the rows), or X "
        "and y (examples and labels)"
    )


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

    Given are the doubles nearest to these; where such doubles have few digits they are refused.
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
