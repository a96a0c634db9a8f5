"""Weights of random graphs and toroidal grids, shape ``(n, n)``."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from perceptron_lab.datasets.generated.graphs import random_edges, signs, torus_edges
from perceptron_lab.datasets.generated.maxcut import weights_of


def random_graph(vertices: int, edges: int, rng: np.random.Generator) -> sparse.csr_array:
    """Return the unit weights of a graph drawn uniformly among those with this many edges."""
    return weights_of(vertices, random_edges(vertices, edges, rng), np.ones(edges))


def torus(rows: int, columns: int, rng: np.random.Generator) -> sparse.csr_array:
    """Return the weights, +1 or -1 with equal chance, of a toroidal grid.

    Vertex r * columns + c is joined to its right and its lower neighbour.
    """
    edges = torus_edges((rows, columns))
    return weights_of(rows * columns, edges, signs(len(edges[0]), rng))
