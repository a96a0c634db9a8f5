"""Semidefinite relaxations of MAXCUT on generated graphs.

A graph with symmetric weights W has the Laplacian L = Diag(W e) - W. The relaxation is, in the
form of SDPLIB's files (and equation (6.7) of `Kharechko2009`),

    minimise x_1 + ... + x_n  subject to  Diag(x) - L / 4  positive semidefinite.

SDPLIB's graphs of Table 6.1 of the thesis have counterparts of the same kind and size here: mcp100
with 100 vertices and 269 edges of unit weight is ``random-100-269``; maxG11, a toroidal grid of 100
rows of 8 vertices with weights +1 and -1, is ``torus-100x8``; maxG51, a union of two planar graphs
with 1000 vertices and 5909 edges, is ``planar-1000-5909``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Self

import numpy as np
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
from perceptron_lab.systems.sdpa_data import SdpaData, sha256_of_text

# Of an entry of the data: its place, four integers, and its value
_BYTES = 40


def laplacian(weights: sparse.csr_array) -> sparse.csr_array:
    """Return L = Diag(W e) - W of a graph with finite symmetric weights, shape ``(n, n)``.

    The diagonal of W (loops) has no effect.
    """
    if weights.ndim != 2 or weights.shape[0] != weights.shape[1]:
        raise InputError(f"weights of shape {weights.shape}; allowed: square, (n, n)")
    matrix = sparse.csr_array(weights).astype(np.float64)
    if not np.isfinite(matrix.data).all() or (matrix - matrix.T).count_nonzero():
        raise InputError("the weights of a graph must be finite and symmetric, W[i, j] = W[j, i]")
    return sparse.csr_array(sparse.diags_array(matrix.sum(axis=1)) - matrix)


def maxcut_data(weights: sparse.csr_array) -> SdpaData:
    """Return the relaxation: F_0 = L / 4, F_i = e_i e_i', c = ones, one block of order n."""
    quarter = sparse.coo_array(sparse.triu(laplacian(weights)) / 4)
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


def _possible(text: str) -> str:
    """Return the name of a graph that exists and can be generated."""
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

    instances: Annotated[list[Annotated[str, AfterValidator(_possible)]], Distinct]
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
        # Imported here, so that checking a configuration's names loads no cones.
        from perceptron_lab.datasets.generated.maxcut_margin import enclosed, proved_bracket
        from perceptron_lab.systems.pencil import homogenised

        asked = graph_name(name)
        check_generated(_BYTES * (2 * asked.vertices + asked.edges), name)
        weights = graph_of(name, seed)
        data = maxcut_data(weights)
        system, digest = homogenised(data), sha256_of_text(data)
        if not (self.enclose or asked.margin):
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
    asked = graph_name(name)
    rng = np.random.default_rng(seed_sequence(asked.stream, seed))
    edges = _edges_of(asked, rng)
    weight = signs(asked.edges, rng) if asked.signed else np.ones(asked.edges)
    weights = weights_of(asked.vertices, edges, weight)
    if not asked.margin:
        return weights
    from perceptron_lab.datasets.generated.maxcut_margin import scale_for  # as above

    with one_thread():
        return sparse.csr_array(weights * scale_for(laplacian(weights), asked.margin))


def _edges_of(asked: GraphName, rng: np.random.Generator) -> Edges:
    match asked.family:
        case "torus":
            return torus_edges(asked.sizes)
        case "planar":
            return planar_edges(asked.vertices, asked.edges, rng)
    return random_edges(asked.vertices, asked.edges, rng)
