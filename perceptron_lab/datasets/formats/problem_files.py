"""A system from a file of a user's own: SDPA, numbers as text, numpy's or svmlight's format."""

from __future__ import annotations

import os
from contextlib import suppress
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
from perceptron_lab.datasets.formats.text_rows import (
    LONGEST_TEXT,
    column_of,
    place_of,
    printed_entries,
    read_text,
)
from perceptron_lab.datasets.pencil import homogenised
from perceptron_lab.errors import DataError, InputError, PlabError
from perceptron_lab.inputs import signs_of
from perceptron_lab.operators.row_source import MEMORY, LabelledRows
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

    Raises
    ------
    DataError
        If there is no such file, or it does not hold what the end of its name promises.
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
