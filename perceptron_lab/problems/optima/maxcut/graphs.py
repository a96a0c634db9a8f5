"""Graphs of Python as MAXCUT programs: networkx's, lists of edges, adjacency matrices.

A graph of networkx is recognised by its methods, so that networkx need not be installed. Loops lie
in no cut and are left out with a warning; the weights of parallel edges are added up.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np
import scipy.sparse as sp

from perceptron_lab.core.errors import InputError
from perceptron_lab.problems.optima.maxcut.program import MaxCutProgram

_ALLOWED = (
    "give a networkx graph, a list of edges (u, v) or (u, v, weight), or a symmetric adjacency "
    "matrix, dense or sparse"
)


def is_networkx(graph: object) -> bool:
    """Return whether an object has the methods of a networkx graph."""
    names = ("nodes", "edges", "is_directed", "number_of_nodes")
    return all(callable(getattr(graph, name, None)) for name in names)


def program_of_graph(graph: Any) -> MaxCutProgram:
    """Return the relaxation of a graph's MAXCUT, C = L / 4.

    Parameters
    ----------
    graph
        A networkx graph, undirected, nodes of any kind, the edge attribute ``weight`` (default 1);
        edges ``(u, v)`` or ``(u, v, weight)`` of any hashable u and v, numbered as they occur; or
        the symmetric matrix W of weights, dense or scipy.sparse, shape ``(n, n)``.

    Raises
    ------
    InputError
        If it is something else, directed, without vertices, or a weight is no finite number.

    Examples
    --------
    >>> program_of_graph([("a", "b"), ("b", "c", 2.0)]).diagonal
    array([0.25, 0.75, 0.5 ])
    """
    if is_networkx(graph):
        if graph.is_directed():
            raise InputError("the graph is directed; give graph.to_undirected()")
        return _of_edges(graph.edges(data="weight", default=1), list(graph.nodes()))
    if sp.issparse(graph) or isinstance(graph, np.ndarray):
        return _of_matrix(graph)
    if isinstance(graph, str | bytes) or not isinstance(graph, Iterable):
        raise InputError(f"graph: {type(graph).__name__} is no graph; {_ALLOWED}")
    if isinstance(graph, list) and graph and all(isinstance(row, list) for row in graph):
        if len(graph) > 3 and all(len(row) == len(graph) for row in graph):
            return _of_matrix(np.array(graph))
        if len(graph) in (2, 3) and all(len(row) == len(graph) for row in graph):
            raise InputError(
                f"graph: {len(graph)} lists of {len(graph)} may be edges or an adjacency matrix; "
                "give edges as tuples, (u, v) or (u, v, weight), and a matrix as numpy.array(...)"
            )
    return _of_edges(graph, [])


def _of_matrix(matrix: Any) -> MaxCutProgram:
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InputError(f"graph: an array of shape {matrix.shape}; {_ALLOWED}")
    try:
        entries = sp.coo_array(matrix).astype(np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"graph: the matrix holds no numbers ({error}); {_ALLOWED}") from None
    entries.sum_duplicates()
    unequal: Any = entries != entries.T
    if not np.isfinite(entries.data).all() or unequal.nnz:
        raise InputError(
            "graph: the adjacency matrix must be finite and symmetric, W[i, j] = W[j, i]; of a "
            "directed graph take W + W.T"
        )
    rows, columns = entries.coords
    _warn_of_loops(int(np.count_nonzero(entries.data[rows == columns])))
    upper = rows < columns
    return MaxCutProgram.of_graph(matrix.shape[0], rows[upper], columns[upper], entries.data[upper])


def _of_edges(edges: Iterable[Any], nodes: list[Hashable]) -> MaxCutProgram:
    places = {node: place for place, node in enumerate(nodes)}
    rows, columns, weights, loops = list[int](), list[int](), list[float](), 0
    for number, edge in enumerate(edges, 1):
        first, second, weight = _edge(edge, number)
        ends = [places.setdefault(node, len(places)) for node in (first, second)]
        loops += ends[0] == ends[1]
        rows.append(ends[0])
        columns.append(ends[1])
        weights.append(weight)
    if not places:
        raise InputError(f"graph: it has no vertices; {_ALLOWED}")
    _warn_of_loops(loops)
    return MaxCutProgram.of_graph(len(places), rows, columns, weights)


def _edge(edge: Any, number: int) -> tuple[Hashable, Hashable, float]:
    """Return the ends and the weight of an edge, or refuse it by its number."""
    try:
        if isinstance(edge, str):
            raise TypeError
        first, second, *weight = edge
        hash((first, second))
        (value,) = weight or (1.0,)
        value = float(value)
    except (TypeError, ValueError):
        raise InputError(
            f"graph: edge {number} is {edge!r}; allowed: (u, v) or (u, v, weight), u and v "
            "hashable and weight a number"
        ) from None
    if not math.isfinite(value):
        raise InputError(f"graph: edge {number} has the weight {value}; give a finite number")
    return first, second, value


def _warn_of_loops(count: int) -> None:
    if count:
        text = f"{count} edges join a vertex with itself; they lie in no cut and are left out"
        warnings.warn(text, UserWarning, stacklevel=5)
