"""Read the numbers of a user's file: text, numpy, Parquet or svmlight format."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Final
from zipfile import ZipFile

import numpy as np
import scipy.sparse as sp

from perceptron_lab.cones.operators.row_parts import RowParts
from perceptron_lab.cones.operators.row_source import MEMORY, LabelledRows
from perceptron_lab.core.errors import (
    DataError,
    InputError,
    MissingDataError,
    PlabError,
    RowError,
    counted,
)
from perceptron_lab.core.results import AnyArray, IntArray
from perceptron_lab.datasets.formats.columns import (
    LONGEST_TEXT,
    Columns,
    Contents,
    NoRowsError,
    allowed_bytes,
)
from perceptron_lab.datasets.formats.graphs import begins_as_graph
from perceptron_lab.datasets.formats.row_files import (
    FileRows,
    NumpyRows,
    ParquetRows,
    parquet_column,
    parquet_names,
)
from perceptron_lab.datasets.formats.table_parts import (
    ReadRows,
    common_width,
    described,
    joined,
    with_rows,
)
from perceptron_lab.datasets.formats.text_files import STANDARD_INPUT
from perceptron_lab.datasets.formats.text_tables import read_text
from perceptron_lab.datasets.parts import is_parts, parts_of
from perceptron_lab.datasets.regular_files import no_such_file
from perceptron_lab.numerics.doubles import LEAST_NORMAL, Doubles, of_short_decimals

FORMATS: Final = {
    ".dat-s": "a semidefinite program (SDPA)",
    ".rud": "a weighted graph for MAXCUT (list of edges, as in the G-set)",
    ".mtx": "a weighted graph for MAXCUT (symmetric matrix, Matrix Market)",
    ".csv": "rows of numbers, separated by commas, semicolons or tabs",
    ".tsv": "rows of numbers, separated as in .csv, tabs preferred",
    ".txt": "rows of numbers, separated as in .csv, or by spaces",
    ".npy": "rows of numbers (numpy array)",
    ".npz": "rows (numpy array or scipy.sparse.save_npz), or X and y",
    ".parquet": "rows of numbers, one column per coordinate",
    ".svm": "labelled examples (svmlight)",
    ".libsvm": "labelled examples (svmlight)",
    ".mps": "linear conditions, a linear program without its objective (MPS)",
    ".lp": "linear conditions, a linear program without its objective (LP)",
    ".dat": "a semidefinite program (SDPA, dense); the name of a table has to end with .txt",
    ".mc": "a weighted graph, as .rud; so are other texts that begin as files of the G-set do",
}
"""End of a file's name -> what such a file holds; texts may be .gz."""


def _foreign(program: str, reader: str, way: str = "") -> str:
    """Return the remedy for a file in another program's format."""
    save = way or f"export it from {program} as CSV (UTF-8) or Parquet"
    return f"a file of {program} is not read; {save}, or pass a frame that {reader} reads"


_EXCEL: Final = _foreign("Excel", "pandas.read_excel")
_SAS: Final = _foreign("SAS", "pandas.read_sas")
_R: Final = _foreign("R", "pyreadr", "write it in R by write.csv(x, FILE, row.names = FALSE)")
FOREIGN: Final = {
    **dict.fromkeys((".xlsx", ".xls", ".xlsm", ".xlsb"), _EXCEL),
    ".ods": _foreign("LibreOffice", "pandas.read_excel"),
    ".dta": _foreign("Stata", "pandas.read_stata"),
    **dict.fromkeys((".sav", ".zsav"), _foreign("SPSS", "pandas.read_spss")),
    **dict.fromkeys((".sas7bdat", ".xpt"), _SAS),
    ".arff": _foreign("Weka", "pandas.DataFrame(scipy.io.arff.loadarff(FILE)[0])"),
    **dict.fromkeys((".rds", ".rdata", ".rda"), _R),
    ".feather": _foreign("Arrow", "pandas.read_feather", "save it as Parquet"),
    ".json": _foreign("JSON", "pandas.read_json", "save it as CSV or Parquet"),
    **dict.fromkeys((".data", ".tab", ".psv"), "if it is text, let its name end with .txt"),
}
"""End of a file's name, of another program -> how its table is read."""

_TEXTS: Final = (".csv", ".tsv", ".txt")
LINEAR: Final = (".mps", ".lp")
PROGRAMS: Final = (".dat-s", ".dat")
GRAPHS: Final = (".rud", ".mc", ".mtx")
_PACKED: Final = (*_TEXTS, *LINEAR, *PROGRAMS, *GRAPHS)
_LABELLED: Final = (*_TEXTS, ".npy", ".parquet")
_STREAMED: Final = (".npy", ".parquet")
_MANY_DIGITS: Final = re.compile(rb"\d{16,}|[\d.]{17,}")  # in a decimal of more than 15 digits
_SMALL: Final = re.compile(rb":([+-]?[\d.]*[1-9][\d.]*[eE]-\d{3,})")  # may be 0 as a double


@contextmanager
def with_path(path: Path) -> Iterator[None]:
    """Add the name of the file to errors about its contents."""
    try:
        yield
    except InputError as error:
        raise DataError(f"{path}: {error}") from None
    except MemoryError:
        raise DataError(
            f"{path}: its numbers take more memory than there is; save rows as .npy or .parquet, "
            "which can be read block by block, or use a larger machine"
        ) from None


@contextmanager
def in_lines(lines: IntArray | None) -> Iterator[None]:
    """Add the line number to errors about a row of a text file."""
    try:
        yield
    except RowError as error:
        if lines is None:
            raise
        raise InputError(f"line {lines[error.row]} {error.fault}") from None


def refuse_options(path: Path, kind: str, columns: Columns, memory: int | None) -> None:
    """Raise an error for options that do not apply to the format of a file."""
    if columns.labels is not None and kind not in _LABELLED:
        raise DataError(
            f"{path}: labels are a column of {', '.join(_LABELLED[:-1])} and {_LABELLED[-1]} files;"
            f" a {kind} file holds {FORMATS[kind]}: leave the option out"
        )
    if columns.positive is not None and kind in (*PROGRAMS, *GRAPHS, *LINEAR):
        raise DataError(
            f"{path}: {columns.option('positive', columns.positive)} chooses a class of labels; a "
            f"{kind} file holds {FORMATS[kind]}: leave the option out"
        )
    if (columns.drop or columns.columns) and kind not in (*_TEXTS, ".parquet"):
        raise DataError(
            f"{path}: columns are chosen by name or number in {', '.join(_TEXTS)} and .parquet "
            "files only; leave the option out"
        )
    if columns.variables and kind not in (*_TEXTS, ".parquet"):
        role, column = next(iter(columns.variables.items()))
        raise DataError(
            f"{path}: {columns.option(role, column)} names a column of {', '.join(_TEXTS)} and "
            ".parquet files only; save the table as one of these"
        )
    if (columns.drop_missing or columns.one_hot) and kind not in _TEXTS:
        raise DataError(
            f"{path}: rows are dropped and texts encoded in {', '.join(_TEXTS)} files only; leave "
            "the option out"
        )
    if columns.negative_upper and kind not in LINEAR:
        raise DataError(
            f"{path}: {columns.option('negative_upper', columns.negative_upper)} is about bounds "
            f"in {' and '.join(LINEAR)} files; leave the option out"
        )
    if memory is not None and kind not in _STREAMED:
        raise DataError(
            f"{path}: a {kind} file is read as a whole; leave the memory out, or give its rows as "
            f"{' or '.join(_STREAMED)}"
        )


def _is_readable(path: Path) -> bool:
    """Return whether a file has one of the readable extensions."""
    return path.name.lower().removesuffix(".gz").endswith(tuple(FORMATS))


def kind_of(path: Path) -> str:
    """Return the file extension that determines the format."""
    if path == STANDARD_INPUT:
        return ".csv"
    if is_parts(path):
        return _common_kind(parts_of(path))
    # Also for broken links, which exist for listdir but cannot be read.
    if not path.is_file():
        remedy = "" if _is_readable(path) else f"give one that ends with {', '.join(FORMATS)}"
        raise MissingDataError(no_such_file(path, _is_readable), remedy)
    name = path.name.lower()
    packed = name.endswith(".gz")
    kind = next((end for end in FORMATS if name.removesuffix(".gz").endswith(end)), None)
    if kind in (None, ".txt") and begins_as_graph(path, other=kind is not None):
        return ".rud"
    if kind is None or (packed and kind not in _PACKED):
        if advice := next((FOREIGN[end] for end in FOREIGN if name.endswith(end)), ""):
            raise DataError(f"{path}: {advice}")
        formats = "; ".join(f"{end}: {words}" for end, words in FORMATS.items())
        raise DataError(f"{path}: nothing is known of such files; allowed are {formats}")
    return kind


def _common_kind(parts: Sequence[Path]) -> str:
    """Return the format of all parts, which is one of tables."""
    kinds = [kind_of(part) for part in parts]
    for part, kind in zip(parts, kinds, strict=True):
        if kind != kinds[0]:
            raise DataError(
                f"{part}: a {kind} file among {kinds[0]} files, such as {parts[0].name}; give a "
                f"pattern, as {part.parent / f'*{kinds[0]}'}"
            )
    if kinds[0] in (*PROGRAMS, *GRAPHS, *LINEAR):
        raise DataError(
            f"{parts[0]}: parts are files of rows, and a {kinds[0]} file holds {FORMATS[kinds[0]]};"
            " give one file"
        )
    return kinds[0]


def read_contents(
    path: Path, columns: Columns | None = None, *, memory: int | None = None, exact: bool = False
) -> Contents:
    """Return the numbers of a file of rows or examples; parameters as for ``read_problem``.

    With ``exact`` the decimals of a text are kept where no doubles are equal to them. Of parts the
    rows are a :class:`.RowParts` if a memory is given, or if the files are larger than 64 MB
    together, and in memory otherwise.
    """
    columns, kind = columns or Columns(), kind_of(path)
    parts = parts_of(path) if is_parts(path) else ()
    refuse_options(path, kind, columns, None if parts else memory)
    if parts:
        contents = _of_parts(parts, kind, columns, memory)
    else:
        contents = _read(path, kind, columns, memory, exact=exact)
    if not isinstance(contents.rows, LabelledRows):  # which have their signs already
        contents.positive = columns.chosen_class(contents.classes)
    return contents


def _read(path: Path, kind: str, columns: Columns, memory: int | None, *, exact: bool) -> Contents:
    try:
        match kind:
            case ".mps" | ".lp":
                raise InputError("a linear program has no labels")
            case ".dat-s" | ".dat" | ".rud" | ".mc" | ".mtx":
                raise InputError("a semidefinite program has no rows and no labels")
            case ".npy":
                return _matrix(path, columns, memory)
            case ".npz":
                return _archive(path)
            case ".parquet":
                return _parquet(path, columns, memory or MEMORY)
            case ".svm" | ".libsvm":
                # Imported here: scikit-learn takes longer to load than most files to solve.
                from sklearn.datasets import load_svmlight_file

                examples, classes = load_svmlight_file(str(path))
                return _svmlight(path, sp.csr_array(examples), classes)
        return read_text(path, kind, columns, exact=exact)
    except (PlabError, MemoryError):
        raise
    except Exception as error:
        # On damaged bytes the libraries' readers end in anything, from zlib.error to TokenError.
        reason = " ".join(str(error).split())[:LONGEST_TEXT]
        raise DataError(f"{path}: not a {kind} file that can be read ({reason})") from None


def _of_parts(parts: Sequence[Path], kind: str, columns: Columns, memory: int | None) -> Contents:
    """Return the contents of the parts of a table, in memory or to be read in blocks."""
    parts = with_rows(parts) if kind == ".parquet" else parts
    small = memory is None and sum(part.stat().st_size for part in parts) <= MEMORY
    read = partial(_part, kind=kind, columns=columns)
    if not small and kind in _STREAMED:
        first = Contents(None) if kind == ".npy" else read(parts[0])
        return _streamed(parts, first, columns, memory or MEMORY)
    every = {part: read(part) for part in parts}
    filled = {part: contents for part, contents in every.items() if contents.rows is not None}
    if not filled:
        raise DataError(f"{parts[0].parent}: no part has rows; give one with rows or more")
    width = common_width(every)
    if small:
        return joined(filled, width)
    sources = [
        ReadRows(part, read, contents, memory or MEMORY, width=width)
        for part, contents in filled.items()
    ]
    return described(filled, _parted(sources))


def _streamed(parts: Sequence[Path], first: Contents, columns: Columns, memory: int) -> Contents:
    """Return .npy or Parquet files to be read in blocks; ``first`` is what the first one holds."""
    if first.features is None:
        label = columns.label_index(_numbers(NumpyRows(parts[0]).shape[1]))
        sources: list[FileRows] = [NumpyRows(part, memory, label=label) for part in parts]
    else:
        named = first.label or ""
        sources = [ParquetRows(part, memory, names=first.features, label=named) for part in parts]
    for part, source in zip(parts, sources, strict=True):
        if (source.shape[1], source.dtype) != (sources[0].shape[1], sources[0].dtype):
            raise DataError(
                f"{part}: {source.shape[1]} columns, {source.dtype}, and in {parts[0].name} "
                f"{sources[0].shape[1]}, {sources[0].dtype}; write all parts alike"
            )
    return described(dict.fromkeys(parts, first), _parted(sources))


def _parted(sources: Sequence[FileRows]) -> RowParts:
    return RowParts(sources, memory=sources[0].memory)


def _part(path: Path, kind: str, columns: Columns) -> Contents:
    """Return the contents of one part, which may be names of columns without rows."""
    with with_path(path):
        try:
            return _read(path, kind, columns, None, exact=False)
        except NoRowsError as error:
            return Contents(None, features=error.features, label=error.label)


def _parquet(path: Path, columns: Columns, memory: int) -> Contents:
    names, index = parquet_names(path)
    label_column = columns.label_index(names)
    selected = [names[j] for j in columns.features_in(names, label_column)]
    left_out = [name for name in index if name in selected and not columns.columns]
    features = [name for name in selected if name not in left_out]
    notes = [f"the row index of the frame is left out: {', '.join(left_out)}"] * bool(left_out)
    if columns.drop:
        notes.append(f"left out as asked: {', '.join(columns.drop)}")
    rows = ParquetRows(path, memory, names=features)
    if label_column is None:
        columns.refuse_hidden_labels(features, parquet_column(path, features[-1]))
        return Contents(rows, features=features, notes=notes)
    variables = {
        role: parquet_column(path, names[j]) for role, j in columns.variable_indices(names).items()
    }
    labels = parquet_column(path, names[label_column])
    return Contents(rows, labels, features, names[label_column], notes, variables=variables)


def _matrix(path: Path, columns: Columns, memory: int | None) -> Contents:
    if memory is not None:
        source = NumpyRows(path, memory)
        label_column = columns.label_index(_numbers(source.shape[1]))
        if label_column is None:
            return Contents(source)
        classes = np.concatenate([block[:, label_column] for _, block in source.blocks()])
        signs = Contents(None, classes, positive=columns.chosen_class(classes)).two_classes().signs
        # The column of labels is skipped in each block: the file is never rewritten.
        return Contents(LabelledRows(source, signs, affine=True, omitted=label_column))
    # Mapped and not read: rows may be larger than memory.
    rows = np.load(path, mmap_mode="r", allow_pickle=False)
    if not isinstance(rows, np.ndarray):
        rows.close()
        raise InputError("it holds several arrays; let its name end with .npz")
    if columns.labels is None:
        return Contents(rows)
    if rows.ndim != 2 or rows.shape[1] < 2:
        raise InputError(f"rows have shape {rows.shape}; with labels give two columns or more")
    label_column = columns.label_index(_numbers(rows.shape[1]))
    assert label_column is not None
    return Contents(np.delete(rows, label_column, axis=1), rows[:, label_column])


def _numbers(width: int) -> Sequence[str]:
    """Return the numbers of columns from 1 on, as names of unnamed columns."""
    return [str(column + 1) for column in range(width)]


def _archive(path: Path) -> Contents:
    with path.open("rb") as file, ZipFile(file) as archive:
        names = {name.removesuffix(".npy") for name in archive.namelist()}
        size = sum(entry.file_size for entry in archive.infolist())
    # No more than an archive says is ever unpacked of it.
    allowed = allowed_bytes()
    if size > allowed > 0:
        raise InputError(
            f"unpacked it takes {size / 2**30:.3g} GiB, and {allowed / 2**30:.3g} GiB are allowed "
            "on this machine (half of its memory); save the rows as .npy, which is not unpacked"
        )
    if {"format", "shape", "data"} <= names:
        return Contents(sp.load_npz(path))
    with np.load(path, allow_pickle=False) as arrays:
        if names == {"X", "y"}:
            return Contents(arrays["X"], arrays["y"])
        if len(names) == 1:
            return Contents(arrays[names.pop()])
    raise InputError(
        f"it holds the arrays {', '.join(sorted(names)) or '(none)'}; give one (the rows), or X "
        "and y (examples and labels)"
    )


def _svmlight(path: Path, examples: sp.csr_array, classes: AnyArray) -> Contents:
    """Return examples in svmlight's format; features are x_0, ... if the file uses index 0."""
    contents = Contents(printed_entries(path, examples), classes)
    lines = path.read_bytes().split(b"\n")
    # svmlight allows comments and blank lines: without this, line numbers in messages would be
    # wrong.
    numbers = [at for at, line in enumerate(lines, 1) if line.partition(b"#")[0].strip()]
    if len(numbers) == len(classes):
        contents.lines = np.array(numbers)
    begins_at_0 = re.search(rb"(?m)^[^#\n]*[ \t]0+:", b"\n".join(lines)) is not None
    if begins_at_0:
        contents.features = [f"x_{j}" for j in range(examples.shape[1])]
    contents.reading = (
        f"{counted(len(classes), 'row')} in svmlight's format; indices count from "
        f"{'0 on, and so do names of coordinates: x_0, ...' if begins_at_0 else '1 on'}"
    )
    return contents


def printed_entries(path: Path, examples: sp.csr_array) -> Doubles:
    """Return the numbers of a file in svmlight's format, with their distance from the decimals.

    Given are the doubles nearest to these; where such doubles have few digits they are refused.
    """
    content = path.read_bytes()
    for match in _SMALL.finditer(content):
        if abs(float(match.group(1))) < LEAST_NORMAL:
            raise InputError(
                f"{match.group(1).decode()[:40]} is outside the range of doubles; rescale"
            )
    # Up to 15 digits a decimal is determined by its double; beyond, proofs hold for all roundings.
    if _MANY_DIGITS.search(content):
        return Doubles(examples, 1)
    decimals = of_short_decimals(examples.data)
    integers = None
    if decimals.integers is not None:
        parts = decimals.integers, examples.indices, examples.indptr
        integers = sp.csr_array(parts, shape=examples.shape)
    return Doubles(examples, decimals.roundings, integers, decimals.multiple)
