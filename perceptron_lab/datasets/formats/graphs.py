"""Weighted graphs in files: texts in the G-set's format, or Matrix Market's.

A file of the G-set (that of the generator rudy) holds the numbers of vertices and edges, then one
line ``i j weight`` for each edge, vertices counted from 1; without its weight an edge has weight 1.
Commas are blanks; a comment begins with one of ``#%*"!`` and ends with the line, or is a line that
begins with the word ``c``. Weights are the decimals printed. Their sums are exact before they are
rounded to doubles, so that the Laplacian of the graph is the nearest one.
"""

from __future__ import annotations

import gzip
import re
import zlib
from dataclasses import dataclass
from fractions import Fraction
from inspect import signature
from itertools import islice
from pathlib import Path
from typing import Any, Final, NoReturn

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from perceptron_lab.core.errors import InputError
from perceptron_lab.core.results import FloatArray, IntArray
from perceptron_lab.datasets.formats.text_files import text_of
from perceptron_lab.numerics.doubles import LARGEST_WHOLE, PrintedNumbers
from perceptron_lab.systems.pencil import LARGEST_ORDER

_COMMENT: Final = re.compile(r"(?m)[#%*\"!].*|^[ \t]*c([ \t].*)?$")
_BLANKS: Final = str.maketrans(",;", "  ")
_HEAD: Final = 2**16  # bytes in which the first edge begins
_FORM: Final = "the first line holds the numbers of vertices and edges, as in `3 2`"
_EDGE: Final = "edges have to be lines `i j weight` (or `i j`, of weight 1, all of them)"


@dataclass(frozen=True, eq=False)
class Graph:
    """A weighted graph, and sums of its weights.

    Parameters
    ----------
    weights
        W, symmetric with zero diagonal, in nearest doubles, shape ``(n, n)``.
    degrees
        W e, the sums of the weights at each vertex, in nearest doubles, shape ``(n,)``.
    roundings
        0: these doubles are the numbers; 1: some were rounded, once.
    """

    weights: sp.csr_array
    degrees: FloatArray
    roundings: int


def read_graph(path: Path, kind: str) -> sp.csr_array:
    """Return the weights W of a graph, symmetric, shape ``(n, n)``; see :func:`graph_of_file`."""
    return graph_of_file(path, kind).weights


def graph_of_file(path: Path, kind: str) -> Graph:
    """Return the graph of a text file, which may be packed by gzip.

    Parameters
    ----------
    path
        The path of the file.
    kind
        ``.rud`` or ``.mc``, the G-set's format, or ``.mtx``: a symmetric matrix, whose diagonal
        counts for nothing and whose entries are 1 if it has but a pattern.
    """
    return _of_matrix(path) if kind == ".mtx" else _of_text(text_of(path))


def parse_graph(text: str) -> sp.csr_array:
    r"""Return the weights of a graph in the G-set's format.

    Raises
    ------
    InputError
        If the text is none, a vertex does not exist, an edge is a loop or occurs twice, or a weight
        is no finite number.

    Examples
    --------
    >>> parse_graph("3 2\n1 2 1\n2 3 -0.5\n").toarray().tolist()
    [[0.0, 1.0, 0.0], [1.0, 0.0, -0.5], [0.0, -0.5, 0.0]]
    """
    return _of_text(text).weights


def begins_as_graph(path: Path, *, other: bool) -> bool:
    """Return whether a text begins with two counts and an edge ``i j weight``, as the G-set's do.

    Parameters
    ----------
    path
        The path of the file.
    other
        Whether a text of numbers is something else if it is no such graph; else the edge may lack
        its weight, and there may be none.
    """
    opened = gzip.open if path.name.lower().endswith(".gz") else open
    try:
        with opened(path, "rb") as file:
            text = file.read(_HEAD).decode("utf-8-sig")
        (order, edges), *first = [
            [int(field) for field in fields[:2]] + [float(field) for field in fields[2:]]
            for _, fields in islice(_lines_of(text), 2)
        ]
    except (OSError, EOFError, ValueError, zlib.error):
        return False
    if not first:
        return order > 0 == edges and not other
    widths = (3,) if other else (2, 3)
    return min(order, edges) > 0 and len(first[0]) in widths


def _lines_of(text: str) -> Any:
    """Yield the lines that are not blank, without comments: their numbers, and their fields."""
    for number, line in enumerate(_COMMENT.sub("", text).split("\n"), 1):
        if fields := line.translate(_BLANKS).split():
            yield number, fields


def _of_text(text: str) -> Graph:
    lines = list(_lines_of(text))
    number, head = lines[0] if lines else (1, [])
    try:
        order, edges = (int(field) for field in head)
    except ValueError:
        raise InputError(f"line {number}: {' '.join(head)[:40]!r}; {_FORM}") from None
    _check_order(order, f"line {number}: ")
    if len(lines) - 1 != edges:
        raise InputError(
            f"line {number}: {edges} edges are promised, and {len(lines) - 1} lines follow; "
            "correct the number, or fetch the file again"
        )
    width = len(lines[1][1]) if edges else 2
    ends = np.empty((edges, 2))
    for edge, (number, fields) in enumerate(lines[1:]):
        if len(fields) != width or width not in (2, 3):
            raise InputError(f"line {number}: {' '.join(fields)[:40]!r}; {_EDGE}")
        ends[edge] = [_value(field, number) for field in fields][:2]
    printed = [fields[2] if width == 3 else "1" for _, fields in lines[1:]]
    return _of_edges(order, ends, printed, [number for number, _ in lines[1:]])


def _value(field: str, line: int) -> float:
    try:
        return float(field)
    except ValueError:
        raise InputError(f"line {line}: {field[:40]!r} is no number; {_EDGE}") from None


def _of_edges(order: int, ends: FloatArray, printed: list[str], lines: list[int]) -> Graph:
    """Return the graph of edges (from 1), each with its weight as printed and its line."""
    range_text = f"; vertices are whole numbers from 1 to {order}"
    valid = ((ends == np.rint(ends)) & (ends >= 1) & (ends <= order)).all(axis=1)
    for edge in np.flatnonzero(~valid).tolist():
        _refuse(edge, lines, f"{ends[edge, 0]:g} and {ends[edge, 1]:g}{range_text}")
    vertices = np.sort(ends.astype(np.int64) - 1, axis=1)
    for edge in np.flatnonzero(vertices[:, 0] == vertices[:, 1]).tolist():
        _refuse(edge, lines, "a vertex with itself; remove it")
    keys = vertices @ np.array([order, 1])
    first = np.unique(keys, return_index=True)[1]
    for edge in np.setdiff1d(np.arange(len(keys)), first).tolist():
        _refuse(edge, lines, "two vertices that are joined already; keep one")
    return _of_weights(order, vertices, printed, lines)


def _refuse(edge: int, lines: list[int], fault: str) -> NoReturn:
    raise InputError(f"line {lines[edge]}: edge {edge + 1} joins {fault}")


def _of_weights(order: int, vertices: IntArray, printed: list[str], lines: list[int]) -> Graph:
    values = np.array([float(field) for field in printed], dtype=np.float64)
    for edge in np.flatnonzero(~np.isfinite(values)):
        weight = f"the weight {printed[edge][:40]}"
        raise InputError(f"line {lines[edge]}: {weight}; weights have to be finite")
    PrintedNumbers().add(printed, values)  # refuses numbers below the range of doubles
    half = sp.coo_array((values, (vertices[:, 0], vertices[:, 1])), shape=(order, order))
    weights = sp.csr_array(half + half.T)
    if (values == np.rint(values)).all() and np.abs(values / LARGEST_WHOLE).sum() < 1.0:
        return Graph(weights, np.asarray(weights.sum(axis=1)).ravel(), 0)
    exact = np.array([Fraction(field) for field in printed], dtype=object)
    sums = np.zeros(order, dtype=object)
    for end in vertices.T:
        np.add.at(sums, end, exact)
    try:
        degrees = np.array([float(x) for x in sums])
    except OverflowError:
        raise InputError("sums of the weights are beyond 1.8e308; divide the weights") from None
    pairs = [*zip(exact, values, strict=True), *zip(sums, degrees, strict=True)]
    return Graph(weights, degrees, int(any(x != Fraction(double) for x, double in pairs)))


def _of_matrix(path: Path) -> Graph:
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
    # The library has checked the text, but rounds its decimals
    lines = [(n, line.split()) for n, line in enumerate(text_of(path).split("\n"), 1)]
    table = [(n, fields) for n, fields in lines if fields and not fields[0].startswith("%")][1:]
    edges = {
        tuple(sorted(map(int, fields[:2]))): ((fields[2:] or ["1"])[0], n)
        for n, fields in table
        if fields[0] != fields[1]
    }
    printed = [field for field, _ in edges.values()]
    ends = np.array(list(edges), dtype=float).reshape(len(edges), 2)
    return _of_edges(adjacency.shape[0], ends, printed, [n for _, n in edges.values()])


def _check_order(order: int, where: str = "") -> None:
    if not 1 <= order <= LARGEST_ORDER:
        raise InputError(f"{where}a graph of {order} vertices; allowed: 1 to {LARGEST_ORDER}")
