"""Semidefinite relaxations of MAXCUT on generated graphs.

A graph with symmetric weights W has the Laplacian L = Diag(W e) - W. The relaxation is, in the
form of SDPLIB's files (and equation (6.7) of `Kharechko2009`),

    minimise x_1 + ... + x_n  subject to  Diag(x) - L / 4  positive semidefinite.

SDPLIB's graphs of Table 6.1 of the thesis have counterparts of the same kind and size here: mcp100
with 100 vertices and 269 edges of unit weight is ``random-100-269``; maxG11, a toroidal grid of 100
rows of 8 vertices with weights +1 and -1, is ``torus-100x8``.
"""

from __future__ import annotations

import re
from math import prod, sqrt
from pathlib import Path
from typing import Annotated, Self

import numpy as np
from pydantic import AfterValidator, model_validator
from pydantic.dataclasses import dataclass
from scipy import sparse

from perceptron_lab.datasets.dataset import Dataset, Distinct
from perceptron_lab.datasets.formats.sdpa_data import SdpaData, sha256_of_text
from perceptron_lab.datasets.generated.generator import one_thread, seed_sequence
from perceptron_lab.datasets.problem import Problem
from perceptron_lab.errors import InputError
from perceptron_lab.goals import STRICT
from perceptron_lab.refusals import refusing
from perceptron_lab.results import FloatArray, IntArray

# Vertices and edges of a generated graph, at most
LARGEST_GRAPH = 100_000
MOST_EDGES = 1_000_000
# Vertices of a graph whose margin is enclosed, at most: dense matrices of this order are decomposed
LARGEST_ENCLOSED = 500

_RANDOM = re.compile(r"random-([1-9][0-9]{0,8})-([1-9][0-9]{0,8})(?:-(0?\.[0-9]{1,6}))?")
_TORUS = re.compile(r"torus-([1-9][0-9]{0,8})x([1-9][0-9]{0,8})")


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


def random_graph(vertices: int, edges: int, rng: np.random.Generator) -> sparse.csr_array:
    """Return the unit weights of a graph drawn uniformly among those with this many edges."""
    drawn = rng.choice(vertices * (vertices - 1) // 2, size=edges, replace=False, shuffle=False)
    # The pairs (i, j), i < j, are counted (0,1), (0,2), (1,2), (0,3), ...
    pair = drawn.astype(np.int64)
    column = np.floor((1 + np.sqrt(1 + 8 * pair)) / 2).astype(np.int64)
    # One step mends a square root that was rounded across an integer.
    column -= column * (column - 1) // 2 > pair
    column += (column + 1) * column // 2 <= pair
    row = pair - column * (column - 1) // 2
    return _symmetric(vertices, row, column, np.ones(edges))


def torus(rows: int, columns: int, rng: np.random.Generator) -> sparse.csr_array:
    """Return the weights, +1 or -1 with equal chance, of a toroidal grid.

    Vertex r * columns + c is joined to its right and its lower neighbour.
    """
    vertex = np.arange(rows * columns, dtype=np.int64).reshape(rows, columns)
    row = np.tile(vertex.ravel(), 2)
    column = np.concatenate([np.roll(vertex, -1, axis=axis).ravel() for axis in (1, 0)])
    return _symmetric(rows * columns, row, column, rng.choice([-1.0, 1.0], size=len(row)))


def _symmetric(order: int, row: IntArray, column: IntArray, weight: FloatArray) -> sparse.csr_array:
    half = sparse.coo_array((weight, (row, column)), shape=(order, order))
    return sparse.csr_array(half + half.T)


def _possible(name: str) -> str:
    """Return the name of a graph that exists and can be generated."""
    if match := _RANDOM.fullmatch(name):
        vertices, edges = map(int, match.groups()[:2])
        pairs = vertices * (vertices - 1) // 2
        if not 2 <= vertices <= LARGEST_GRAPH:
            raise InputError(f"{name}: {vertices} vertices; allowed: 2 to {LARGEST_GRAPH}")
        if edges > min(pairs, MOST_EDGES):
            raise InputError(
                f"{name}: {edges} edges; {vertices} vertices have {pairs} pairs, allowed: 1 to "
                f"{min(pairs, MOST_EDGES)}"
            )
        if match[3]:
            check_margin(vertices, float(match[3]))
    elif match := _TORUS.fullmatch(name):
        rows, columns = map(int, match.groups())
        if min(rows, columns) < 3 or rows * columns > LARGEST_GRAPH:
            raise InputError(
                f"{name}: sides {rows} and {columns}; allowed: sides of 3 or more, so that no two "
                f"edges coincide, and {LARGEST_GRAPH} vertices at most"
            )
    else:
        raise InputError(
            f"no MAXCUT instance is called {name!r}; allowed: random-VERTICES-EDGES such as "
            "random-100-269, random-VERTICES-EDGES-MARGIN such as random-100-269-0.03, and "
            "torus-ROWSxCOLUMNS such as torus-20x40"
        )
    return name


def check_margin(order: int, margin: float) -> None:
    """Refuse a margin that no graph with so many vertices has, or that is not computed."""
    check_order(order)
    most = 1.0 / sqrt(order + 1.0)
    if not 1e-4 <= margin <= 0.99 * most:
        raise InputError(
            f"margin {margin:g} of a graph with {order} vertices; allowed: 0.0001 to "
            f"{0.99 * most:.4g}, as no MAXCUT relaxation of this order has more than {most:.4g}"
        )


def check_order(order: int) -> None:
    """Refuse graphs that are too large for an enclosure of their margin."""
    if order > LARGEST_ENCLOSED:
        raise InputError(
            f"the margin of a graph with {order} vertices; it is enclosed up to {LARGEST_ENCLOSED}"
        )


@refusing
@dataclass(frozen=True, config=STRICT)
class Maxcut(Dataset):
    """MAXCUT relaxations of random sparse graphs and of toroidal grids, generated from the seed.

    Each instance is the homogenised feasibility problem of minimise sum(x) subject to
    Diag(x) - L / 4 positive semidefinite, L the Laplacian of the graph (equation (6.7) of
    `Kharechko2009`). Its name describes it:

    ``random-100-269`` is drawn uniformly among the simple graphs with 100 vertices and 269 edges
    of weight 1; ``random-100-269-0.03`` has weights of one size instead, such that the margin is
    0.03 within 0.1 %; ``torus-20x40`` is a toroidal grid of 20 rows and 40 columns with random
    weights +1 and -1. Seed and name determine the instance; the instances of one seed are
    independent.

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
            check_order(prod(_sizes(name)) if name.startswith("torus") else _sizes(name)[0])
        return self

    def names(self) -> list[str]:
        """Return the names of the instances."""
        return list(self.instances)

    def load(self, name: str, *, seed: int, base: Path) -> Problem:
        """Generate an instance, also one that is not listed."""
        # Imported here, so that checking a configuration's names loads no cones.
        from perceptron_lab.datasets.generated.maxcut_margin import enclosed, proved_bracket
        from perceptron_lab.datasets.pencil import homogenised

        weights = graph_of(name, seed)
        data = maxcut_data(weights)
        system, digest = homogenised(data), sha256_of_text(data)
        if not (self.enclose or _margin(name)):
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

    Graphs that differ in the margin alone have the same edges.
    """
    graph = random_graph if _possible(name).startswith("random") else torus
    sizes, margin = _sizes(name), _margin(name)
    plain = name.rpartition("-")[0] if margin else name
    weights = graph(*sizes, np.random.default_rng(seed_sequence(plain, seed)))
    if not margin:
        return weights
    from perceptron_lab.datasets.generated.maxcut_margin import scale_for  # as above

    with one_thread():
        return sparse.csr_array(weights * scale_for(laplacian(weights), margin))


def _sizes(name: str) -> tuple[int, int]:
    first, second = re.findall(r"[1-9][0-9]*", name)[:2]
    return int(first), int(second)


def _margin(name: str) -> float:
    """Return the margin that a name asks for, or 0."""
    found = _RANDOM.fullmatch(name)
    return float(found[3] or 0.0) if found else 0.0
