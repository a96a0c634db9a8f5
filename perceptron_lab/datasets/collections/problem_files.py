"""The conic system of a user's file, with the names in the file."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from perceptron_lab.core.errors import InputError
from perceptron_lab.core.results import IntArray
from perceptron_lab.datasets.formats.columns import LONGEST_TEXT, Columns, listed_columns
from perceptron_lab.datasets.formats.file_contents import (
    GRAPHS,
    LINEAR,
    PROGRAMS,
    in_lines,
    kind_of,
    read_contents,
    refuse_options,
    with_path,
)
from perceptron_lab.datasets.formats.graphs import graph_of_file
from perceptron_lab.datasets.formats.linear_programs import NegativeUpper
from perceptron_lab.datasets.formats.lp import read_lp
from perceptron_lab.datasets.formats.mps import read_mps
from perceptron_lab.datasets.formats.sdpa import read_with_notes
from perceptron_lab.datasets.generated.maxcut import maxcut_data
from perceptron_lab.systems import System
from perceptron_lab.systems.constructors import Margin
from perceptron_lab.systems.parted_system import system_of_data
from perceptron_lab.systems.pencil import homogenised


@dataclass(frozen=True)
class Labels:
    """The labels of a file: the name of their column, if any, and the two classes."""

    name: str | None
    negative: object
    positive: object


@dataclass(frozen=True)
class FileProblem:
    """The conic system of a file, and the names in the file.

    Parameters
    ----------
    system
        The system.
    features
        The names of the coordinates; None where the file has none.
    labels
        The labels of examples; None where the file holds rows.
    notes
        Sentences on what was left out.
    reading
        How a text was read, in a sentence; empty for other files.
    lines
        The number of the line that each row or example begins in; None where there are no lines.
    """

    system: System
    features: tuple[str, ...] | None = None
    labels: Labels | None = None
    notes: tuple[str, ...] = ()
    reading: str = ""
    lines: IntArray | None = None


def read_system(
    path: Path,
    labels: str | None = None,
    *,
    rows: bool = False,
    drop_missing: bool = False,
    one_hot: bool = False,
    drop: str | Sequence[str] = (),
    columns: str | Sequence[str] = (),
    reference: Mapping[str, str] | None = None,
    positive: object = None,
    negative_upper: NegativeUpper | None = None,
    memory: int | None = None,
    margin: Margin = "unit",
) -> System:
    """Return the conic system of a file.

    ``memory`` and ``margin`` are those of :func:`read_problem`, the others those of
    :class:`.Columns`; ``reference`` is a mapping of columns to levels, as ``{"smoke": "no"}``, and
    ``positive`` may be a number.
    """
    requested = Columns(
        labels,
        rows,
        drop_missing,
        one_hot,
        listed_columns(drop),
        listed_columns(columns, divided=True),
        reference=tuple(f"{name}={level}" for name, level in (reference or {}).items()),
        positive=None if positive is None else str(positive),
        negative_upper=negative_upper,
    )
    return read_problem(path, requested, memory=memory, margin=margin).system


def read_problem(
    path: Path,
    columns: Columns | None = None,
    *,
    memory: int | None = None,
    margin: Margin = "unit",
) -> FileProblem:
    """Return the conic system of a file.

    Rows a_i are the homogeneous system a_i'y > 0. Labelled examples of two classes are that of an
    affine separator (w, b), with the larger label (of texts: the later one) as positive class, if
    ``columns`` do not name another. The rows of a .npy file are mapped into memory, and not copied
    if they are in double or single precision and in C order; with a memory they are read block by
    block, as those of a .parquet file always are.

    Parameters
    ----------
    path
        A file whose name ends with one of :data:`.file_contents.FORMATS`; ``-`` stands for standard
        input, a text.
    columns
        Which column of a table holds labels, and what is done about missing entries and texts.
        Without labels a table with names is refused if a column of it looks like labels.
    memory
        Bytes that a pass over the rows may take, 1 MB or more, in addition to the vectors of an
        algorithm; only for .npy and .parquet files, the others are read as a whole.
    margin
        ``unit``, ``directional`` or, of labelled examples, ``geometric``; as for
        :meth:`.ConicSystem.from_labelled`.

    Raises
    ------
    DataError
        If there is no such file, or it does not hold what the end of its name promises.
    """
    with with_path(path):
        # Programs and graphs have no rows to normalise: the option would have no effect.
        kind = kind_of(path)
        if margin != "unit" and kind in (*PROGRAMS, *GRAPHS, *LINEAR):
            raise InputError(f"margin {margin!r}, which is of rows and examples; leave it out")
        if kind in PROGRAMS:
            refuse_options(path, kind, columns or Columns(), memory)
            data, notes = read_with_notes(path)
            return FileProblem(homogenised(data), notes=notes)
        if kind in GRAPHS:
            return _graph_problem(path, columns, memory)
        if kind in LINEAR:
            return _linear_problem(path, columns, memory)
        contents = read_contents(path, columns, memory=memory)
        features = None if contents.features is None else tuple(contents.features)
        labels = None
        # Errors about rows name the line of the file, which differs from the row if lines were
        # skipped.
        with in_lines(contents.lines):
            if contents.classes is None:
                system = system_of_data(contents.rows, margin)
            else:
                classes = contents.two_classes()
                system = system_of_data((contents.rows, classes.signs), margin)
                labels = Labels(contents.label, classes.negative, classes.positive)
        notes = tuple(contents.notes)
        return FileProblem(system, features, labels, notes, contents.reading, contents.lines)


def _graph_problem(path: Path, columns: Columns | None, memory: int | None) -> FileProblem:
    """Return the MAXCUT relaxation of a graph."""
    kind = kind_of(path)
    refuse_options(path, kind, columns or Columns(), memory)
    try:
        graph = graph_of_file(path, kind)
        data = maxcut_data(graph.weights, graph.degrees)
        return FileProblem(homogenised(replace(data, roundings=graph.roundings)))
    except (InputError, MemoryError):
        raise
    except Exception as error:  # of damaged bytes, the library's reader may raise anything
        reason = " ".join(str(error).split())[:LONGEST_TEXT]
        raise InputError(f"not a {kind} file that can be read ({reason})") from None


def _linear_problem(path: Path, columns: Columns | None, memory: int | None) -> FileProblem:
    """Return the constraints of a linear program."""
    kind = kind_of(path)
    columns = columns or Columns()
    refuse_options(path, kind, columns, memory)
    read = read_mps if kind == ".mps" else read_lp
    try:
        model = read(path, columns.negative_upper) if columns.negative_upper else read(path)
    except (OSError, EOFError, UnicodeDecodeError, zlib.error) as error:
        raise InputError(f"not a {kind} file that can be read ({error})") from None
    return FileProblem(model.system(), model.variables, notes=model.notes)
