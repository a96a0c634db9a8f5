"""The conic system of a file of a user's own, with the names in the file."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from perceptron_lab.core.errors import InputError
from perceptron_lab.core.results import IntArray
from perceptron_lab.datasets.formats.columns import LONGEST_TEXT, Columns, listed_columns
from perceptron_lab.datasets.formats.file_contents import (
    GRAPHS,
    LINEAR,
    in_lines,
    kind_of,
    read_contents,
    refuse_options,
    told,
)
from perceptron_lab.datasets.formats.graph_files import read_graph
from perceptron_lab.datasets.formats.lp_files import read_lp
from perceptron_lab.datasets.formats.mps import read_mps
from perceptron_lab.datasets.formats.sdpa import read_sdpa
from perceptron_lab.datasets.generated.maxcut import maxcut_data
from perceptron_lab.systems import ConicSystem, System
from perceptron_lab.systems.constructors import Margin
from perceptron_lab.systems.pencil import homogenised


@dataclass(frozen=True)
class Labels:
    """The labels of a file: the name of their column, if it has one, and the two classes."""

    name: str | None
    negative: Any
    positive: Any


@dataclass(frozen=True)
class FileProblem:
    """The system that a file states, and the names in the file.

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
    positive: Any = None,
    memory: int | None = None,
    margin: Margin = "unit",
) -> System:
    """Return the system that a file states.

    ``memory`` and ``margin`` are those of :func:`read_problem`, the others those of
    :class:`.Columns`; ``reference`` is a mapping of columns to levels, as ``{"smoke": "no"}``, and
    ``positive`` may be a number.
    """
    asked = Columns(
        labels,
        rows,
        drop_missing,
        one_hot,
        listed_columns(drop),
        listed_columns(columns, divided=True),
        reference=tuple(f"{name}={level}" for name, level in (reference or {}).items()),
        positive=None if positive is None else str(positive),
    )
    return read_problem(path, asked, memory=memory, margin=margin).system


def read_problem(
    path: Path,
    columns: Columns | None = None,
    *,
    memory: int | None = None,
    margin: Margin = "unit",
) -> FileProblem:
    """Return the system that a file states.

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
        Bytes that a pass over the rows may take, 1 MB or more, beside the vectors of an algorithm;
        only for .npy and .parquet files, the others are read as a whole.
    margin
        ``unit``, ``directional`` or, of labelled examples, ``geometric``; as for
        :meth:`.ConicSystem.from_labelled`.

    Raises
    ------
    DataError
        If there is no such file, or it does not hold what the end of its name promises.
    """
    with told(path):
        if margin != "unit" and kind_of(path) in (".dat-s", *GRAPHS, *LINEAR):
            raise InputError(f"margin {margin!r}, which is of rows and examples; leave it out")
        if kind_of(path) == ".dat-s":
            refuse_options(path, ".dat-s", columns or Columns(), memory)
            return FileProblem(homogenised(read_sdpa(path)))
        if kind_of(path) in GRAPHS:
            return _graph_problem(path, columns, memory)
        if kind_of(path) in LINEAR:
            return _linear_problem(path, columns, memory)
        found = read_contents(path, columns, memory=memory)
        features = None if found.features is None else tuple(found.features)
        labels = None
        with in_lines(found.lines):
            if found.classes is None:
                system = ConicSystem.from_rows(found.rows, margin=margin)
            else:
                classes = found.two_classes()
                system = ConicSystem.from_labelled(found.rows, classes.signs, margin=margin)
                labels = Labels(found.label, classes.negative, classes.positive)
        notes = tuple(found.notes)
        return FileProblem(system, features, labels, notes, found.reading, found.lines)


def _graph_problem(path: Path, columns: Columns | None, memory: int | None) -> FileProblem:
    """Return the MAXCUT relaxation of a graph."""
    kind = kind_of(path)
    refuse_options(path, kind, columns or Columns(), memory)
    try:
        return FileProblem(homogenised(maxcut_data(read_graph(path, kind))))
    except (InputError, MemoryError):
        raise
    except Exception as error:  # of damaged bytes, the library's reader may raise anything
        reason = " ".join(str(error).split())[:LONGEST_TEXT]
        raise InputError(f"not a {kind} file that can be read ({reason})") from None


def _linear_problem(path: Path, columns: Columns | None, memory: int | None) -> FileProblem:
    """Return the constraints of a linear program."""
    kind = kind_of(path)
    refuse_options(path, kind, columns or Columns(), memory)
    try:
        model = read_mps(path) if kind == ".mps" else read_lp(path)
    except (OSError, EOFError, UnicodeDecodeError, zlib.error) as error:
        raise InputError(f"not a {kind} file that can be read ({error})") from None
    return FileProblem(model.system(), model.variables, notes=model.notes)
