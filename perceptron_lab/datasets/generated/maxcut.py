"""Semidefinite relaxations of MAXCUT on generated graphs.

A graph with symmetric weights W has the Laplacian L = Diag(W e) - W. The relaxation is, in the
form of SDPLIB's files (and equation (6.7) of `Kharechko2009`),

    minimise x_1 + ... + x_n  subject to  Diag(x) - L / 4  positive semidefinite.

SDPLIB's graphs of Table 6.1 of the thesis have counterparts of the same kind and size here: mcp100
with 100 vertices and 269 edges of unit weight is ``random-100-269``; maxG11, a toroidal grid of 100
rows of 8 vertices with weights +1 and -1, is ``torus-100x8``; maxG51, a union of two planar graphs
with 1000 vertices and 5909 edges, is ``planar-1000-5909``.

The margin of a relaxation is enclosed by a point and weights. Of the homogenised system x_0 > 0,
Diag(x) - x_0 L / 4 positive definite, the largest margin rho is attained with x_0 = rho, for a
smaller x_0 leaves more room and a shorter point. Divided by x_0,

    rho^-2 = 1 + min {norm(x)^2 : Diag(x) - M positive semidefinite},   M = I + L / 4,

hence rho <= 1 / sqrt(n + 1), whatever the graph: the margin of this family cannot stay while n
grows without end. The dual is the maximum of 2 <M, W> - norm(diag W)^2 over W positive
semidefinite, and x = diag W at the optimum. Weights (1 - tau tr W, tau W) then prove, with the best
tau, rho^-2 >= 1 + <M, W>^2 / norm(diag W)^2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Self

import numpy as np
from numpy.linalg import norm
from pydantic import AfterValidator, model_validator
from scipy import sparse

from perceptron_lab.core.errors import InputError
from perceptron_lab.core.refusals import parameter_record
from perceptron_lab.core.results import FloatArray
from perceptron_lab.datasets.dataset import Dataset, Distinct
from perceptron_lab.datasets.generated.generator import one_thread, seed_sequence
from perceptron_lab.datasets.generated.graphs import (
    Edges,
    GraphName,
    check_order,
    graph_name,
    planar_edges,
    random_edges,
    signs,
    torus_edges,
)
from perceptron_lab.datasets.problem import Problem
from perceptron_lab.datasets.regular_files import check_generated
from perceptron_lab.systems.pencil import SdpaData, sha256_of_text

if TYPE_CHECKING:
    from perceptron_lab.systems import ConicSystem

ACCURACY = 1e-3
"""Relative width of the enclosure of rho."""
_SWEEPS = 2000
_BETWEEN = 10  # Sweeps between two evaluations of the gap
_SCALINGS = 60


@dataclass
class MarginEnclosure:
    """1 / sqrt(1 + norm(x)^2) <= rho <= 1 / sqrt(1 + <M, VV'>^2 / norm(diag VV')^2).

    Parameters
    ----------
    matrix
        M, shape ``(n, n)``.
    factor
        V, shape ``(n, k)``, W = V V'.
    """

    matrix: sparse.csr_array
    factor: FloatArray

    @property
    def point(self) -> FloatArray:
        """The entries of diag W, raised alike until Diag(x) - M is positive semidefinite."""
        diagonal = np.einsum("ij,ij->i", self.factor, self.factor)
        room = sparse.csr_array(sparse.diags_array(diagonal) - self.matrix)
        return np.asarray(diagonal + max(0.0, -_lowest_eigenvalue(room)) * (1.0 + 1e-9) + 1e-12)

    @property
    def ends(self) -> tuple[float, float]:
        """The lower and the upper bound of rho, up to rounding."""
        point = self.point
        squares = np.einsum("ij,ij->i", self.factor, self.factor)
        product = float(np.einsum("ij,ij->", self.factor, self.matrix @ self.factor))
        return (
            1.0 / math.sqrt(1.0 + float(point @ point)),
            1.0 / math.sqrt(1.0 + product**2 / float(squares @ squares)),
        )

    def sweep(self) -> None:
        """Maximise 2 <M, VV'> - sum_i norm(v_i)^4 over one row of V after the other.

        With g = sum over j != i of M_ij v_j the best v_i is r g / norm(g), where r > 0 is the root
        of r^3 = M_ii r + norm(g).
        """
        indptr, indices, data = self.matrix.indptr, self.matrix.indices, self.matrix.data
        for i in range(len(self.factor)):
            entries = slice(indptr[i], indptr[i + 1])
            neighbours = indices[entries]
            away = np.where(neighbours == i, 0.0, data[entries])
            gradient = away @ self.factor[neighbours]
            length = float(norm(gradient))
            diagonal = float(data[entries] @ (neighbours == i))
            # For an isolated vertex every direction is optimal, so that the present one is kept
            direction = gradient / length if length else self.factor[i] / norm(self.factor[i])
            self.factor[i] = _root(diagonal, length) * direction


def enclosed(laplacian: sparse.csr_array, accuracy: float = ACCURACY) -> MarginEnclosure:
    """Return an enclosure of the margin of a graph with the given relative width.

    Low-rank coordinate ascent on the dual, from fixed vectors: V has as many columns as rule out
    other local maxima, for nearly every M.
    """
    return _refined(
        MarginEnclosure(_objective_matrix(laplacian, 1.0), _initial_factor(laplacian.shape[0])),
        accuracy,
    )


def scale_for(laplacian: sparse.csr_array, margin: float) -> float:
    """Return s > 0 with rho = ``margin`` for the weights s W, to :data:`ACCURACY`.

    rho falls from 1 / sqrt(n + 1) at s = 0 towards 0, so that every margin below it is attained
    once.
    """
    order = laplacian.shape[0]
    # sqrt(rho^-2 - 1) is convex in s, and nearly linear: it is the norm of x, which M drives
    target, low, factor = math.sqrt(margin**-2 - 1.0), 0.0, _initial_factor(order)
    size_low, scale = math.sqrt(order), 1.0
    for _ in range(_SCALINGS):
        enclosure = _refined(
            MarginEnclosure(_objective_matrix(laplacian, scale), factor), ACCURACY / 4.0
        )
        lower, upper = enclosure.ends
        size = math.sqrt(2.0 / (lower**2 + upper**2) - 1.0)
        if abs(size / target - 1.0) < ACCURACY / 4.0:
            return scale
        # The secant rule, started from s = 0, where the norm of x is sqrt(n).
        previous, step = low, (target - size_low) * (scale - low) / (size - size_low)
        if size < target:
            low, size_low = scale, size
        scale = previous + step
    raise InputError(f"no weights were found for the margin {margin:g}; choose another margin")


def proved_bracket(system: ConicSystem, enclosure: MarginEnclosure) -> tuple[float, float]:
    """Return lower and upper bounds of the margin, proved on the data of the system.

    Parameters
    ----------
    system
        The homogenised system of the graph that the enclosure is of.
    """
    # Imported here, so that checking a configuration's names loads no cones.
    from perceptron_lab.cones.semidefinite import Semidefinite

    completed = system.completed()
    point = np.concatenate([[1.0], enclosure.point])
    proof = completed.prove_point(point)
    (_, _), (block, indices) = completed.cone.blocks
    assert isinstance(block, Semidefinite)
    matrix = enclosure.factor @ enclosure.factor.T
    matrix[np.diag_indices_from(matrix)] *= (
        1.0 + 1e-9
    )  # makes W definite, so that the proof succeeds
    squares = np.diag(matrix)
    product = float((enclosure.matrix @ matrix).trace())
    matrix *= product / (product**2 + float(squares @ squares))
    weights = np.zeros(completed.cone.size)
    weights[indices] = matrix[block.rows, block.columns] * np.where(
        block.rows == block.columns, 1.0, 2.0
    )
    weights[0] = 1.0 - float(np.trace(matrix))
    upper = completed.prove_weights(weights)
    if not proof.feasible or upper is None:
        raise InputError(
            "the margin of the graph is below rounding errors; choose a graph with fewer edges"
        )
    return proof.margin_lower, upper


def _refined(enclosure: MarginEnclosure, accuracy: float) -> MarginEnclosure:
    for _ in range(_SWEEPS // _BETWEEN):
        for _ in range(_BETWEEN):
            enclosure.sweep()
        lower, upper = enclosure.ends
        # The gap costs an eigenvalue decomposition, hence not after every sweep.
        if upper - lower <= accuracy * lower:
            break
    return enclosure


def _objective_matrix(laplacian: sparse.csr_array, scale: float) -> sparse.csr_array:
    order = laplacian.shape[0]
    return sparse.csr_array(sparse.eye_array(order) + laplacian * (scale / 4.0))


def _initial_factor(order: int) -> FloatArray:
    columns = math.ceil(math.sqrt(2.0 * order)) + 1
    # A fixed start by the order: the enclosure is a function of the graph alone.
    return np.random.default_rng(order).standard_normal((order, columns)) / math.sqrt(columns)


def _root(diagonal: float, length: float) -> float:
    """Return the root r > 0 of r^3 = diagonal r + length, by Newton's method from above."""
    root = math.sqrt(max(diagonal, 0.0)) + math.cbrt(length)
    for _ in range(50):
        before = root
        root -= (root**3 - diagonal * root - length) / (3.0 * root**2 - diagonal)
        if abs(root - before) <= 1e-15 * root:
            break
    return root


def _lowest_eigenvalue(matrix: sparse.csr_array) -> float:
    """Return the lowest eigenvalue of a sparse symmetric matrix, to rounding."""
    return float(np.linalg.eigvalsh(matrix.toarray())[0])


# Bytes per entry of the data: four integers for its position, and its value
_BYTES = 40


def laplacian(weights: sparse.csr_array, degrees: FloatArray | None = None) -> sparse.csr_array:
    """Return L = Diag(W e) - W of a graph with finite symmetric weights, shape ``(n, n)``.

    The diagonal of W (loops) has no effect, unless W e is given.
    """
    if weights.ndim != 2 or weights.shape[0] != weights.shape[1]:
        raise InputError(f"weights of shape {weights.shape}; allowed: square, (n, n)")
    matrix = sparse.csr_array(weights).astype(np.float64)
    if not np.isfinite(matrix.data).all() or (matrix - matrix.T).count_nonzero():
        raise InputError("the weights of a graph must be finite and symmetric, W[i, j] = W[j, i]")
    sums = matrix.sum(axis=1) if degrees is None else degrees
    return sparse.csr_array(sparse.diags_array(sums) - matrix)


def maxcut_data(weights: sparse.csr_array, degrees: FloatArray | None = None) -> SdpaData:
    """Return the relaxation: F_0 = L / 4, F_i = e_i e_i', c = ones, one block of order n.

    The degrees are W e where weights without loops have sums that are no doubles.
    """
    quarter = sparse.coo_array(sparse.triu(laplacian(weights, degrees)) / 4)
    order = quarter.shape[0]
    vertex = np.arange(order, dtype=np.int64)
    row, column = (np.asarray(index, dtype=np.int64) for index in quarter.coords)
    entries = np.column_stack([0 * row, 0 * row, row, column])
    diagonal = np.column_stack([vertex + 1, 0 * vertex, vertex, vertex])
    value = np.concatenate([quarter.data, np.ones(order)])
    return SdpaData.from_entries(np.ones(order), [order], np.vstack([entries, diagonal]), value)


def weights_of(order: int, edges: Edges, weight: FloatArray) -> sparse.csr_array:
    """Return the symmetric matrix W of weighted edges, each given once; shape ``(n, n)``."""
    half = sparse.coo_array((weight, edges), shape=(order, order))
    return sparse.csr_array(half + half.T)


def _check_graph_name(text: str) -> str:
    """Return the name if the graph can be generated, or raise a ValueError."""
    return graph_name(text).text


@parameter_record
class Maxcut(Dataset):
    """MAXCUT relaxations of random and planar graphs and of toroidal grids, from the seed.

    Each instance is the homogenised feasibility problem of minimise sum(x) subject to
    Diag(x) - L / 4 positive semidefinite, L the Laplacian of the graph (equation (6.7) of
    `Kharechko2009`). Its name describes it:

    ``random-100-269`` is drawn uniformly among the simple graphs with 100 vertices and 269 edges
    of weight 1; ``random-100-269-0.03`` has weights of one size instead, such that the margin is
    0.03 within 0.1 %. ``planar-800-4694`` has 4694 of the edges of two Delaunay triangulations of
    the same 800 vertices (up to 3n - 6 edges: of one, so that the graph is planar). With ``-pm1``
    the weights of either are +1 and -1, at random. ``torus-20x40`` is a toroidal grid of 20 rows
    and 40 columns with random weights +1 and -1, ``torus-8x8x8`` one of three dimensions; with
    ``-unit``, as ``torus-21x40-unit``, the weights are 1, and a side has to be odd, since the graph
    is bipartite otherwise. These are the families of the G-set. Random and planar graphs have at
    most 100 000 vertices, tori a million. Seed and name determine the instance; the instances of
    one seed are independent, but those that differ in ``-pm1`` or the margin alone share edges.

    Parameters
    ----------
    instances
        Names as above; at least one, each once.
    enclose
        Whether the margin is enclosed before a run, of graphs of at most 500 vertices (default
        false; always done where the name has a margin): the columns ``measure.rho_lower`` and
        ``measure.rho_upper`` are proved, about 0.1 % apart.
    """

    instances: Annotated[list[Annotated[str, AfterValidator(_check_graph_name)]], Distinct]
    enclose: bool = False

    @model_validator(mode="after")
    def _small_enough(self) -> Self:
        for name in self.instances if self.enclose else ():
            check_order(graph_name(name).vertices)
        return self

    def names(self) -> list[str]:
        """Return the names of the instances."""
        return list(self.instances)

    def load(self, name: str, *, seed: int, base: Path) -> Problem:
        """Generate an instance, also one that is not listed."""
        from perceptron_lab.systems.pencil import homogenised

        graph = graph_name(name)
        check_generated(_BYTES * (2 * graph.vertices + graph.edges), name)
        weights = graph_of(name, seed)
        data = maxcut_data(weights)
        system, digest = homogenised(data), sha256_of_text(data)
        if not (self.enclose or graph.margin):
            return Problem(name, system, digest, system.facts())
        with one_thread():
            lower, upper = proved_bracket(system, enclosed(laplacian(weights)))
        bracket = {"rho_lower": lower, "rho_upper": upper}
        return Problem(name, system, digest, system.facts(lower), measure=lambda _: bracket)


def generate(name: str, seed: int) -> SdpaData:
    """Return the data of a generated instance; equal arguments give equal data."""
    return maxcut_data(graph_of(name, seed))


def graph_of(name: str, seed: int) -> sparse.csr_array:
    """Return the weights of a generated graph, shape ``(n, n)``; equal arguments give equal ones.

    Graphs that differ in their weights alone have the same edges.
    """
    graph = graph_name(name)
    rng = np.random.default_rng(seed_sequence(graph.stream, seed))
    edges = _edges_of(graph, rng)
    weight = signs(graph.edges, rng) if graph.signed else np.ones(graph.edges)
    weights = weights_of(graph.vertices, edges, weight)
    if not graph.margin:
        return weights
    from perceptron_lab.datasets.generated.maxcut import scale_for  # as above

    with one_thread():
        return sparse.csr_array(weights * scale_for(laplacian(weights), graph.margin))


def _edges_of(graph: GraphName, rng: np.random.Generator) -> Edges:
    match graph.family:
        case "torus":
            return torus_edges(graph.sizes)
        case "planar":
            return planar_edges(graph.vertices, graph.edges, rng)
    return random_edges(graph.vertices, graph.edges, rng)
