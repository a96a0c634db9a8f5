"""Weighted graphs as text: the G-set's format (that of the generator rudy), and Matrix Market's.

A file of the G-set holds the numbers of vertices and edges, then one line ``i j weight`` for each
edge, vertices counted from 1; without its weight an edge has weight 1. Weights are whole numbers,
so that the Laplacian of the graph, and the weight of every cut, are exact.
"""

from __future__ import annotations

from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from perceptron_lab.core.errors import InputError
from perceptron_lab.core.results import FloatArray
from perceptron_lab.numerics.doubles import LARGEST_WHOLE
from perceptron_lab.systems.sdpa_data import LARGEST_ORDER


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

    # Releases from 1.18 on want to be asked for arrays; those before 1.15 have no such parameter
    arrays: Any = {"spmatrix": False} if "spmatrix" in signature(mmread).parameters else {}
    found: sp.coo_array | npt.NDArray[Any] = mmread(path, **arrays)
    if not sp.issparse(found) or found.shape[0] != found.shape[1]:
        raise InputError(f"a matrix of shape {found.shape}; a graph is a sparse symmetric one")
    _check_order(found.shape[0])
    if found.dtype.kind not in "iufb" or (abs(found - found.T)).max() > 0:
        raise InputError("the matrix is not real and symmetric, as that of a graph has to be")
    entries = sp.coo_array(found)
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
    wrong = ~((ends == np.rint(ends)) & (ends >= 1) & (ends <= order)).all(axis=1)
    if len(ends) and wrong.any():
        place = int(wrong.argmax())
        raise InputError(
            f"edge {place + 1} joins {ends[place, 0]:g} and {ends[place, 1]:g}; vertices are whole "
            f"numbers from 1 to {order}"
        )
    places = np.sort(ends.astype(np.int64) - 1, axis=1)
    loops = np.flatnonzero(places[:, 0] == places[:, 1])
    if len(loops):
        raise InputError(f"edge {loops[0] + 1} joins a vertex with itself; remove it")
    keys = places @ np.array([order, 1])
    _, first = np.unique(keys, return_index=True)
    if len(first) < len(keys):
        again = np.setdiff1d(np.arange(len(keys)), first)[0] + 1
        raise InputError(f"edge {again} joins two vertices that are joined already; keep one")
    half = sp.coo_array((weights, (places[:, 0], places[:, 1])), shape=(order, order))
    return sp.csr_array(half + half.T)


def _check_order(order: int) -> None:
    if not 1 <= order <= LARGEST_ORDER:
        raise InputError(f"a graph of {order} vertices; allowed: 1 to {LARGEST_ORDER}")


def _check_whole(weights: FloatArray) -> None:
    if not (np.isfinite(weights).all() and (weights == np.rint(weights)).all()):
        raise InputError("weights have to be whole numbers; multiply them by a power of ten")
    if np.abs(weights).sum() >= LARGEST_WHOLE:
        raise InputError("the weights are 2^53 or more in sum, which no double holds; divide them")
