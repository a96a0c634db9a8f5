"""The conic system of a file of a user's own, with the names in the file.

Weighted graphs are texts in the G-set's format (that of the generator rudy), or Matrix Market's. A
file of the G-set holds the numbers of vertices and edges, then one line ``i j weight`` for each
edge, vertices counted from 1; without its weight an edge has weight 1. Weights are whole numbers,
so that the Laplacian of the graph, and the weight of every cut, are exact.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from perceptron_lab.core.errors import InputError
from perceptron_lab.core.results import FloatArray, IntArray
from perceptron_lab.datasets.formats.columns import LONGEST_TEXT, Columns, listed_columns
from perceptron_lab.datasets.formats.file_contents import (
    GRAPHS,
    LINEAR,
    in_lines,
    kind_of,
    read_contents,
    refuse_options,
    with_path,
)
from perceptron_lab.datasets.formats.linear_programs import NegativeUpper
from perceptron_lab.datasets.formats.lp import read_lp
from perceptron_lab.datasets.formats.mps import read_mps
from perceptron_lab.datasets.formats.sdpa import read_sdpa
from perceptron_lab.datasets.generated.maxcut import maxcut_data
from perceptron_lab.numerics.doubles import LARGEST_WHOLE
from perceptron_lab.systems import ConicSystem, System
from perceptron_lab.systems.constructors import Margin
from perceptron_lab.systems.pencil import LARGEST_ORDER, homogenised


def read_graph(path: Path, kind: str) -> sp.csr_array:
    """Return the weights W of a graph, symmetric, shape ``(n, n)``; see :func:`parse_graph`.

    Parameters
    ----------
    path
        Of a text file.
    kind
        ``.rud``, the G-set's format, or ``.mtx``: a symmetric matrix, whose diagonal counts for
        nothing and whose entries are 1 if it has but a pattern.
    """
    if kind == ".rud":
        return parse_graph(path.read_text("ascii"))
    # Imported here: it takes long to load.
    from scipy.io import mmread

    # Arrays have to be requested from release 1.18 on; releases before 1.15 lack the parameter
    arrays: Any = {"spmatrix": False} if "spmatrix" in signature(mmread).parameters else {}
    adjacency: sp.coo_array | npt.NDArray[Any] = mmread(path, **arrays)
    if not sp.issparse(adjacency) or adjacency.shape[0] != adjacency.shape[1]:
        raise InputError(f"a matrix of shape {adjacency.shape}; a graph is a sparse symmetric one")
    _check_order(adjacency.shape[0])
    if adjacency.dtype.kind not in "iufb" or (abs(adjacency - adjacency.T)).max() > 0:
        raise InputError("the matrix is not real and symmetric, as that of a graph has to be")
    entries = sp.coo_array(adjacency)
    rows, columns = entries.coords
    off = rows != columns
    values = np.asarray(entries.data[off], dtype=np.float64)
    _check_whole(values)
    return sp.csr_array((values, (rows[off], columns[off])), shape=entries.shape)


def parse_graph(text: str) -> sp.csr_array:
    r"""Return the weights of a graph in the G-set's format.

    Raises
    ------
    InputError
        If the text is none, a vertex does not exist, an edge is a loop or occurs twice, or a weight
        is no whole number.

    Examples
    --------
    >>> parse_graph("3 2\n1 2 1\n2 3 -1\n").toarray().tolist()
    [[0.0, 1.0, 0.0], [1.0, 0.0, -1.0], [0.0, -1.0, 0.0]]
    """
    lines = [line.split() for line in text.splitlines()]
    lines = [words for words in lines if words]
    try:
        order, edges = (int(word) for word in (lines[0] if lines else []))
    except ValueError:
        raise InputError("the first line has to hold the numbers of vertices and edges") from None
    _check_order(order)
    if len(lines) - 1 != edges:
        raise InputError(
            f"{edges} edges are promised, and {len(lines) - 1} lines follow; fetch the file again"
        )
    widths = {len(words) for words in lines[1:]}
    if not widths <= {3} and not widths <= {2}:
        raise InputError("edges have to be lines `i j weight` (or `i j`, of weight 1, all of them)")
    try:
        numbers = np.array(lines[1:], dtype=np.float64).reshape(edges, max(widths, default=2))
    except ValueError as error:
        raise InputError(f"an edge holds something else than numbers ({error})") from None
    weights = numbers[:, 2] if widths == {3} else np.ones(edges)
    _check_whole(weights)
    return _of_edges(order, numbers[:, :2], weights)


def _of_edges(order: int, ends: FloatArray, weights: FloatArray) -> sp.csr_array:
    invalid = ~((ends == np.rint(ends)) & (ends >= 1) & (ends <= order)).all(axis=1)
    if len(ends) and invalid.any():
        edge = int(invalid.argmax())
        raise InputError(
            f"edge {edge + 1} joins {ends[edge, 0]:g} and {ends[edge, 1]:g}; vertices are whole "
            f"numbers from 1 to {order}"
        )
    vertices = np.sort(ends.astype(np.int64) - 1, axis=1)
    loops = np.flatnonzero(vertices[:, 0] == vertices[:, 1])
    if len(loops):
        raise InputError(f"edge {loops[0] + 1} joins a vertex with itself; remove it")
    keys = vertices @ np.array([order, 1])
    _, first = np.unique(keys, return_index=True)
    if len(first) < len(keys):
        again = np.setdiff1d(np.arange(len(keys)), first)[0] + 1
        raise InputError(f"edge {again} joins two vertices that are joined already; keep one")
    half = sp.coo_array((weights, (vertices[:, 0], vertices[:, 1])), shape=(order, order))
    return sp.csr_array(half + half.T)


def _check_order(order: int) -> None:
    if not 1 <= order <= LARGEST_ORDER:
        raise InputError(f"a graph of {order} vertices; allowed: 1 to {LARGEST_ORDER}")


def _check_whole(weights: FloatArray) -> None:
    if not (np.isfinite(weights).all() and (weights == np.rint(weights)).all()):
        raise InputError("weights have to be whole numbers; multiply them by a power of ten")
    if np.abs(weights).sum() >= LARGEST_WHOLE:
        raise InputError("the weights are 2^53 or more in sum, which no double holds; divide them")


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
        if margin != "unit" and kind_of(path) in (".dat-s", *GRAPHS, *LINEAR):
            raise InputError(f"margin {margin!r}, which is of rows and examples; leave it out")
        if kind_of(path) == ".dat-s":
            refuse_options(path, ".dat-s", columns or Columns(), memory)
            return FileProblem(homogenised(read_sdpa(path)))
        if kind_of(path) in GRAPHS:
            return _graph_problem(path, columns, memory)
        if kind_of(path) in LINEAR:
            return _linear_problem(path, columns, memory)
        contents = read_contents(path, columns, memory=memory)
        features = None if contents.features is None else tuple(contents.features)
        labels = None
        # Errors about rows name the line of the file, which differs from the row if lines were
        # skipped.
        with in_lines(contents.lines):
            if contents.classes is None:
                system = ConicSystem.from_rows(contents.rows, margin=margin)
            else:
                classes = contents.two_classes()
                system = ConicSystem.from_labelled(contents.rows, classes.signs, margin=margin)
                labels = Labels(contents.label, classes.negative, classes.positive)
        notes = tuple(contents.notes)
        return FileProblem(system, features, labels, notes, contents.reading, contents.lines)


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
    columns = columns or Columns()
    refuse_options(path, kind, columns, memory)
    read = read_mps if kind == ".mps" else read_lp
    try:
        model = read(path, columns.negative_upper) if columns.negative_upper else read(path)
    except (OSError, EOFError, UnicodeDecodeError, zlib.error) as error:
        raise InputError(f"not a {kind} file that can be read ({error})") from None
    return FileProblem(model.system(), model.variables, notes=model.notes)
