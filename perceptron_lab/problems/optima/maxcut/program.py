"""The programs max <C, X>, diag(X) = 1, X positive semidefinite, as sparse data.

They are made of graphs (of networkx, lists of edges, adjacency matrices), matrices or systems.

A graph of networkx is recognised by its methods, so that networkx need not be installed. Loops lie
in no cut and are left out with a warning; the weights of parallel edges are added up.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any
from weakref import ref

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.cones.semidefinite import matrix_positions
from perceptron_lab.core.errors import InputError
from perceptron_lab.core.results import FloatArray, IntArray
from perceptron_lab.numerics.symmetric.pattern import Pattern
from perceptron_lab.systems import ConicSystem
from perceptron_lab.systems.pencil import SdpaData, homogenised

# The last system and its program, since recognising one takes long where C is dense
_LAST: list[tuple[ref[ConicSystem], MaxCutProgram | None]] = []


@dataclass(frozen=True, eq=False)
class MaxCutProgram:
    """max <C, X> subject to diag(X) = 1, X psd; its dual problem min 1'x, diag(x) - C psd.

    Parameters
    ----------
    diagonal
        The c_ii, finite, shape ``(n,)``, n at least 1.
    weights
        The c_ij, i != j: symmetric, finite, nothing on the diagonal, both triangles stored, no
        explicit zeros, indices ascending in rows, shape ``(n, n)``.
    roundings
        0: the data are exactly these doubles. 1: the entries of C, the ones on the diagonal of X
        and those of the objective 1'x are the doubles nearest to the true numbers, with relative
        errors of at most 2^-53. The proofs then widen both bounds accordingly.

    Examples
    --------
    >>> from perceptron_lab import optimum
    >>> triangle = MaxCutProgram.of_graph(3, [0, 0, 1], [1, 2, 2], [1.0, 1.0, 1.0])
    >>> result = optimum(triangle)
    >>> result.optimum_lower <= 9 / 4 <= result.optimum_upper
    True
    """

    diagonal: FloatArray
    weights: sp.csr_array
    roundings: int = 0

    def __post_init__(self) -> None:
        n = len(self.diagonal)
        if self.diagonal.shape != (n,) or n < 1 or self.weights.shape != (n, n):
            raise InputError(
                f"a diagonal of shape {self.diagonal.shape} and weights of shape "
                f"{self.weights.shape}; allowed: (n,) and (n, n), n >= 1"
            )
        if not (np.isfinite(self.diagonal).all() and np.isfinite(self.weights.data).all()):
            raise InputError("the entries of a MAXCUT program must be finite")

    @classmethod
    def of_graph(
        cls,
        n: int,
        rows: npt.ArrayLike,
        columns: npt.ArrayLike,
        weights: npt.ArrayLike,
    ) -> MaxCutProgram:
        """Return the relaxation of a graph's MAXCUT: C = L / 4, L = Diag(W 1) - W its Laplacian.

        The optimum bounds the weight of every cut from above. The diagonal of L is the sum of the
        weights at a vertex as computed, exact for whole numbers; bounds are those of this C.

        Parameters
        ----------
        n
            Vertices, 1 or more.
        rows, columns
            The ends of the edges, from 0 to n - 1, in either order; loops have no effect.
        weights
            One per edge, finite; those of an edge given more than once are added up.

        Examples
        --------
        >>> path = MaxCutProgram.of_graph(3, [0, 1], [1, 2], [1.0, 1.0])
        >>> path.diagonal, path.weights.toarray()[0]
        (array([0.25, 0.5 , 0.25]), array([ 0.  , -0.25,  0.  ]))
        """
        ends = np.asarray(rows, dtype=np.int64), np.asarray(columns, dtype=np.int64)
        values = np.asarray(weights, dtype=np.float64)
        if n < 1 or not ends[0].shape == ends[1].shape == values.shape or values.ndim != 1:
            raise InputError(
                f"a graph of {n} vertices with rows, columns and weights of shapes "
                f"{ends[0].shape}, {ends[1].shape} and {values.shape}; give n >= 1 and one shape"
            )
        if not all(((end >= 0) & (end < n)).all() for end in ends):
            raise InputError(f"ends of edges outside 0 to {n - 1}; vertices are counted from 0")
        off = ends[0] != ends[1]
        first, second = ends[0][off], ends[1][off]
        quarter = values[off] / 4.0
        laplacian = _symmetric(n, first, second, quarter)
        sums = np.asarray(laplacian.sum(axis=1), dtype=np.float64).ravel()
        return cls(sums, _without_zeros(-laplacian))

    @classmethod
    def of_matrix(cls, matrix: npt.ArrayLike | sp.sparray) -> MaxCutProgram:
        """Return the program of a symmetric C, dense or scipy.sparse, shape ``(n, n)``."""
        array = matrix if sp.issparse(matrix) else np.asarray(matrix, dtype=np.float64)
        if array.ndim != 2 or array.shape[0] != array.shape[1]:
            raise InputError(f"a matrix of shape {array.shape}; give a symmetric one, (n, n)")
        symmetric = sp.csr_array(array).astype(np.float64)
        dense = isinstance(array, np.ndarray)  # of which differences are found sooner
        differs = (array != array.T).any() if dense else (symmetric - symmetric.T).count_nonzero()
        if not np.isfinite(symmetric.data).all() or differs:
            raise InputError("the matrix C must be finite and symmetric")
        diagonal = np.asarray(symmetric.diagonal(), dtype=np.float64)
        rows = np.repeat(np.arange(len(diagonal)), np.diff(symmetric.indptr))
        symmetric.data[rows == symmetric.indices] = 0.0
        return cls(diagonal, _without_zeros(symmetric))

    @classmethod
    def of_system(cls, system: ConicSystem) -> MaxCutProgram | None:
        """Return the MAXCUT program of a homogenised system, or None if it has another form.

        It has this form if c = (1, .., 1) and each F_i has a single entry, which is 1 and lies on
        the diagonal, at another place for each i, so that every diagonal entry has its variable;
        with one block or more. Vertex i is where F_i has its entry, so that x is the same vector
        for both. Numbers that were rounded make the program one with ``roundings``.
        """
        if _LAST and _LAST[0][0]() is system:
            return _LAST[0][1]
        program = cls._of_system(system)
        _cache_program(system, program)
        return program

    @classmethod
    def _of_system(cls, system: ConicSystem) -> MaxCutProgram | None:
        objective, operator = system.objective, system.operator
        if objective is None or not system.homogenised or not isinstance(operator, Matrix):
            return None
        data = sp.csc_array(operator.data)[1:]
        n = data.shape[1] - 1
        units = sp.csc_array(data[:, 1:])
        rows, columns, _ = matrix_positions(system.cone.blocks[1:])
        if (np.diff(units.indptr) != 1).any() or not (units.data == 1.0).all():
            return None
        positions = units.indices
        on = rows[positions] == columns[positions]
        vertex = np.full(int(rows.max(initial=0)) + 1, -1)
        vertex[rows[positions]] = np.arange(n)
        if not on.all() or len(vertex) != n or (vertex < 0).any():
            return None
        if not (objective.values == 1.0).all():
            return None
        constant = -np.asarray(data[:, [0]].toarray()).ravel()
        diagonal = np.zeros(n)
        diagonal[:] = constant[positions]
        off = (rows != columns) & (constant != 0.0)
        half = vertex[rows[off]], vertex[columns[off]]
        weights = _without_zeros(_symmetric(n, *half, constant[off]))
        return cls(diagonal, weights, max(operator.roundings, objective.roundings))

    def system(self) -> ConicSystem:
        """Return the homogenised system of the program, equal to that of its SDPA file."""
        vertices, ones = np.arange(self.order), np.ones(self.order)
        # In the order of SDPA data, which need not be sorted then
        upper = sp.csr_array(sp.triu(self.weights + sp.diags_array(self.diagonal)))
        upper.eliminate_zeros()
        upper.sort_indices()
        entries = sp.coo_array(upper)
        indices = np.zeros((entries.nnz + self.order, 4), dtype=np.int64)
        indices[:, 2] = np.concatenate([entries.row, vertices])
        indices[:, 3] = np.concatenate([entries.col, vertices])
        indices[entries.nnz :, 0] = vertices + 1
        values = np.concatenate([entries.data, ones])
        data = SdpaData.from_entries(ones, [self.order], indices, values)
        system = homogenised(replace(data, roundings=self.roundings) if self.roundings else data)
        _cache_program(system, self)
        return system

    @property
    def order(self) -> int:
        """n, the number of vertices."""
        return len(self.diagonal)

    @cached_property
    def zero(self) -> bool:
        """Whether C = 0, as for a graph without edges; then the optimum is 0."""
        return not (self.diagonal.any() or self.weights.data.any())

    @cached_property
    def is_graph_laplacian(self) -> bool:
        """Whether C is L / 4 of a graph of two vertices or more, up to rounding: C 1 = 0.

        Only then <C, ss'> of signs s is the weight of a cut.
        """
        sums = np.abs(self.diagonal + np.asarray(self.weights.sum(axis=1)).ravel())
        sizes = np.abs(self.diagonal) + self.row_sizes
        return self.order > 1 and bool((sums <= 1e-12 * sizes).all())

    @cached_property
    def edges(self) -> tuple[IntArray, IntArray, FloatArray]:
        """Rows i, columns j > i and values of the c_ij, sorted by rows."""
        upper = sp.coo_array(sp.triu(self.weights, 1))
        return upper.row.astype(np.int64), upper.col.astype(np.int64), upper.data

    @cached_property
    def pattern(self) -> Pattern:
        """The positions of the entries of C + I: its diagonal first, then the edges."""
        vertices = np.arange(self.order)
        rows, columns, _ = self.edges
        return Pattern(
            self.order, np.concatenate([vertices, rows]), np.concatenate([vertices, columns])
        )

    @cached_property
    def exponent(self) -> int:
        """The k for which the largest magnitude in C / 2^k lies in [1/2, 1); 0 if C = 0."""
        off = float(np.abs(self.weights.data).max(initial=0.0))
        return math.frexp(max(off, float(np.abs(self.diagonal).max())))[1]

    @cached_property
    def row_sizes(self) -> FloatArray:
        """The sums sum_{j != i} |c_ij| as computed, shape ``(n,)``."""
        return np.asarray(abs(self.weights).sum(axis=1), dtype=np.float64).ravel()


def _cache_program(system: ConicSystem, program: MaxCutProgram | None) -> None:
    _LAST[:] = [(ref(system, lambda _: _LAST.clear()), program)]


def _symmetric(n: int, rows: IntArray, columns: IntArray, values: FloatArray) -> sp.csr_array:
    """Return the symmetric matrix with these off-diagonal entries."""
    half = sp.coo_array((values, (rows, columns)), shape=(n, n))
    return sp.csr_array(half + half.T)


def _without_zeros(matrix: sp.csr_array) -> sp.csr_array:
    """Return a matrix without explicit zeros and with sorted indices, as for MaxCutProgram."""
    compressed = sp.csr_array(matrix)
    compressed.eliminate_zeros()
    compressed.sort_indices()
    return compressed


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
        raise InputError(f"graph: type {type(graph).__name__} is not a graph; {_ALLOWED}")
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
            "graph: the adjacency matrix must be finite and symmetric, W[i, j] = W[j, i]; for a "
            "directed graph use W + W.T"
        )
    rows, columns = entries.coords
    _warn_of_loops(int(np.count_nonzero(entries.data[rows == columns])))
    upper = rows < columns
    return MaxCutProgram.of_graph(matrix.shape[0], rows[upper], columns[upper], entries.data[upper])


def _of_edges(edges: Iterable[object], nodes: list[Hashable]) -> MaxCutProgram:
    index_of = {node: index for index, node in enumerate(nodes)}
    rows, columns, weights, loops = list[int](), list[int](), list[float](), 0
    for number, edge in enumerate(edges, 1):
        first, second, weight = _edge(edge, number)
        ends = [index_of.setdefault(node, len(index_of)) for node in (first, second)]
        loops += ends[0] == ends[1]
        rows.append(ends[0])
        columns.append(ends[1])
        weights.append(weight)
    if not index_of:
        raise InputError(f"graph: it has no vertices; {_ALLOWED}")
    _warn_of_loops(loops)
    return MaxCutProgram.of_graph(len(index_of), rows, columns, weights)


def _edge(edge: Any, number: int) -> tuple[Hashable, Hashable, float]:
    """Return the ends and the weight of an edge, or raise an InputError that names it."""
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
        text = f"{count} edges join a vertex to itself; no cut contains them, and they are ignored"
        warnings.warn(text, UserWarning, stacklevel=5)
