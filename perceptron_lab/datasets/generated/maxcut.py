"""Semidefinite relaxations of MAXCUT on generated graphs.

A graph with symmetric weights W has the Laplacian L = Diag(W e) - W. The relaxation is, in the
form of SDPLIB's files (and equation (6.7) of `Kharechko2009`),

    minimise x_1 + ... + x_n  subject to  Diag(x) - L / 4  positive semidefinite.

The instances of Table 6.1 of the thesis, counted in SDPLIB's files, and the name that gives a
graph of the same kind and size here:

=========  ========  =====  ===================
SDPLIB     vertices  edges  generated
=========  ========  =====  ===================
mcp100          100    269  ``random-100-269``
mcp124-1        124    149  ``random-124-149``
mcp124-2        124    318  ``random-124-318``
mcp124-3        124    620  ``random-124-620``
mcp124-4        124   1271  ``random-124-1271``
mcp250-1        250    331  ``random-250-331``
mcp250-2        250    612  ``random-250-612``
mcp250-3        250   1283  ``random-250-1283``
mcp250-4        250   2421  ``random-250-2421``
mcp500-1        500    625  ``random-500-625``
mcp500-2        500   1223  ``random-500-1223``
mcp500-3        500   2355  ``random-500-2355``
mcp500-4        500   5120  ``random-500-5120``
maxG11          800   1600  ``torus-100x8``
=========  ========  =====  ===================

The largest instance of SDPLIB, maxG60, has 7000 vertices and 17 148 edges: its stand-in here is
``random-7000-17148`` (:data:`LARGEST_OF_SDPLIB`).

The mcp graphs have unit weights; maxG11 is a toroidal grid of 100 rows of 8 vertices with weights
+1 and -1.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Annotated

import numpy as np
from pydantic import AfterValidator
from pydantic.dataclasses import dataclass
from scipy import sparse

from perceptron_lab.datasets.dataset import Dataset, check_distinct
from perceptron_lab.datasets.formats.sdpa import SdpaData, sha256_of_text
from perceptron_lab.datasets.problem import Problem
from perceptron_lab.errors import InputError
from perceptron_lab.goals import STRICT
from perceptron_lab.results import FloatArray, IntArray

TABLE_6_1_SIZES = {
    "mcp100": "random-100-269",
    "mcp124-1": "random-124-149",
    "mcp124-2": "random-124-318",
    "mcp124-3": "random-124-620",
    "mcp124-4": "random-124-1271",
    "mcp250-1": "random-250-331",
    "mcp250-2": "random-250-612",
    "mcp250-3": "random-250-1283",
    "mcp250-4": "random-250-2421",
    "mcp500-1": "random-500-625",
    "mcp500-2": "random-500-1223",
    "mcp500-3": "random-500-2355",
    "mcp500-4": "random-500-5120",
    "maxG11": "torus-100x8",
}
"""SDPLIB instance of Table 6.1 -> the generated instance of its kind and size."""

LARGEST_OF_SDPLIB = "random-7000-17148"
"""The generated instance of the size of maxG60."""

LARGEST_GRAPH = 100_000
"""The most vertices of a generated graph."""
MOST_EDGES = 1_000_000
"""The most edges of a generated graph."""

_RANDOM = re.compile(r"random-([1-9][0-9]{0,8})-([1-9][0-9]{0,8})")
_TORUS = re.compile(r"torus-([1-9][0-9]{0,8})x([1-9][0-9]{0,8})")


def laplacian(weights: sparse.csr_array) -> sparse.csr_array:
    """Return L = Diag(W e) - W of a graph with symmetric weights.

    Parameters
    ----------
    weights
        W, sparse, shape ``(n, n)``, symmetric, finite. The diagonal (loops) has no effect.

    Raises
    ------
    InputError
        If the weights are not square, symmetric and finite.
    """
    if weights.ndim != 2 or weights.shape[0] != weights.shape[1]:
        raise InputError(f"weights of shape {weights.shape}; allowed: square, (n, n)")
    matrix = sparse.csr_array(weights).astype(np.float64)
    if not np.isfinite(matrix.data).all() or (matrix - matrix.T).count_nonzero():
        raise InputError("the weights of a graph must be finite and symmetric, W[i, j] = W[j, i]")
    return sparse.csr_array(sparse.diags_array(matrix.sum(axis=1)) - matrix)


def maxcut_data(weights: sparse.csr_array) -> SdpaData:
    """Return the MAXCUT relaxation of a graph in SDPLIB's form.

    F_0 = L / 4, F_i = e_i e_i', c = ones, one block of order n.

    Parameters
    ----------
    weights
        As for :func:`laplacian`.

    Raises
    ------
    InputError
        As for :func:`laplacian`.
    """
    quarter = sparse.coo_array(sparse.triu(laplacian(weights)) / 4)
    order = quarter.shape[0]
    vertex = np.arange(order, dtype=np.int64)
    row, column = (np.asarray(index, dtype=np.int64) for index in quarter.coords)
    indices = np.zeros((len(row) + order, 4), dtype=np.int64)
    indices[: len(row), 2:] = np.column_stack([row, column])
    indices[len(row) :] = np.column_stack([vertex + 1, np.zeros_like(vertex), vertex, vertex])
    value = np.concatenate([quarter.data, np.ones(order)])
    return SdpaData.from_entries(np.ones(order), [order], indices, value)


def random_graph(vertices: int, edges: int, rng: np.random.Generator) -> sparse.csr_array:
    """Return the unit weights of a graph drawn uniformly among those with this many edges."""
    pair = rng.choice(vertices * (vertices - 1) // 2, size=edges, replace=False, shuffle=False)
    row, column = _pair(pair.astype(np.int64))
    return _symmetric(vertices, row, column, np.ones(edges))


def torus(rows: int, columns: int, rng: np.random.Generator) -> sparse.csr_array:
    """Return the weights, +1 or -1 with equal chance, of a toroidal grid.

    Vertex r * columns + c is joined to its right and its lower neighbour.
    """
    vertex = np.arange(rows * columns, dtype=np.int64).reshape(rows, columns)
    row = np.concatenate([vertex.ravel(), vertex.ravel()])
    column = np.concatenate(
        [np.roll(vertex, -1, axis=1).ravel(), np.roll(vertex, -1, axis=0).ravel()]
    )
    return _symmetric(rows * columns, row, column, rng.choice([-1.0, 1.0], size=len(row)))


def _symmetric(order: int, row: IntArray, column: IntArray, weight: FloatArray) -> sparse.csr_array:
    half = sparse.coo_array((weight, (row, column)), shape=(order, order))
    return sparse.csr_array(half + half.T)


def _pair(number: IntArray) -> tuple[IntArray, IntArray]:
    """Return (i, j), i < j, of the pairs counted (0,1), (0,2), (1,2), (0,3), ..."""
    column = np.floor((1 + np.sqrt(1 + 8 * number)) / 2).astype(np.int64)
    # One step mends a square root that was rounded across an integer.
    column -= column * (column - 1) // 2 > number
    column += (column + 1) * column // 2 <= number
    return number - column * (column - 1) // 2, column


def _possible(name: str) -> str:
    """Return the name of a graph that exists and can be generated."""
    if match := _RANDOM.fullmatch(name):
        _check_random(name, *map(int, match.groups()))
    elif match := _TORUS.fullmatch(name):
        _check_torus(name, *map(int, match.groups()))
    else:
        raise ValueError(
            f"no MAXCUT instance is called {name!r}; allowed: random-VERTICES-EDGES such as "
            "random-100-269, and torus-ROWSxCOLUMNS such as torus-20x40"
        )
    return name


def _check_random(name: str, vertices: int, edges: int) -> None:
    pairs = vertices * (vertices - 1) // 2
    if not 2 <= vertices <= LARGEST_GRAPH:
        raise ValueError(f"{name}: {vertices} vertices; allowed: 2 to {LARGEST_GRAPH}")
    if edges > min(pairs, MOST_EDGES):
        raise ValueError(
            f"{name}: {edges} edges; {vertices} vertices have {pairs} pairs, allowed: 1 to "
            f"{min(pairs, MOST_EDGES)}"
        )


def _check_torus(name: str, rows: int, columns: int) -> None:
    if min(rows, columns) < 3 or rows * columns > LARGEST_GRAPH:
        raise ValueError(
            f"{name}: sides {rows} and {columns}; allowed: sides of 3 or more, so that no two "
            f"edges coincide, and {LARGEST_GRAPH} vertices at most"
        )


@dataclass(frozen=True, config=STRICT)
class Maxcut(Dataset):
    """MAXCUT relaxations of random sparse graphs and of toroidal grids, generated from the seed.

    Each instance is the homogenised feasibility problem of minimise sum(x) subject to
    Diag(x) - L / 4 positive semidefinite, L the Laplacian of the graph (equation (6.7) of
    `Kharechko2009`). Its name describes it:

    ``random-100-269`` is drawn uniformly among the simple graphs with 100 vertices and 269 edges
    of weight 1; ``torus-20x40`` is a toroidal grid of 20 rows and 40 columns with random weights
    +1 and -1. Seed and name determine the instance; the instances of one seed are independent.

    Parameters
    ----------
    instances
        Names as above; at least one, each once.
    """

    instances: Annotated[
        list[Annotated[str, AfterValidator(_possible)]], AfterValidator(check_distinct)
    ]

    def names(self) -> list[str]:
        """Return the names of the instances."""
        return list(self.instances)

    def load(self, name: str, *, seed: int, base: Path) -> Problem:
        """Generate an instance.

        Parameters
        ----------
        name
            A name as the class describes it.
        seed
            Of the instance, 0 or more.
        base
            Without meaning for generated instances.

        Raises
        ------
        InputError
            If the name or the seed is impossible.
        """
        # Imported here, so that checking a configuration's names loads no cones.
        from perceptron_lab.datasets.pencil import homogenised

        data = generate(name, seed)
        system = homogenised(data)
        return Problem(name, system, sha256_of_text(data), system.facts())


def generate(name: str, seed: int) -> SdpaData:
    """Return the data of a generated instance; equal arguments give equal data.

    Raises
    ------
    InputError
        If the name or the seed is impossible.
    """
    try:
        _possible(name)
    except ValueError as error:
        raise InputError(str(error)) from error
    if seed < 0:
        raise InputError(f"seed {seed} for {name}; allowed: 0 or more")
    # The name enters by a hash that is the same in every process, unlike Python's own.
    word = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big")
    rng = np.random.default_rng(np.random.SeedSequence([seed, word]))
    graph = random_graph if name.startswith("random") else torus
    first, second = map(int, re.findall(r"[0-9]+", name))
    return maxcut_data(graph(first, second, rng))
