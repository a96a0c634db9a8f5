"""Random graphs in the families of the G-set, as lists of distinct edges.

The G-set, graphs of 800 to 20 000 vertices for MAXCUT, was made by G. Rinaldi's generator ``rudy``
and published by `HelmbergRendl2000`: random graphs of a given density, unions of two nearly maximal
planar graphs, and toroidal grids, each with weights 1 or with weights +1 and -1. The families are
generated here, with as many edges as are asked for; they are not rudy's own graphs, and planar ones
have other degrees (near 6, since they are Delaunay triangulations).

Edges are pairs (i, j), i < j, in two arrays. All functions are vectorised: a torus of a million
vertices takes about a tenth of a second.

References
----------
C. Helmberg and F. Rendl, A spectral bundle method for semidefinite programming, SIAM J. Optim. 10
(2000) 673-696 (the G-set). M. de Berg et al., Computational Geometry, Springer 2008, chapter 9
(Delaunay triangulations).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod, sqrt
from typing import Final, Literal

import numpy as np

from perceptron_lab.core.errors import InputError
from perceptron_lab.core.results import FloatArray, IntArray

Edges = tuple[IntArray, IntArray]

# Pairs of vertices that two triangulations have in common are about 18 on average, if one of them
# is labelled at random; more than this many have a probability below 1e-12
COINCIDING = 60


def random_edges(vertices: int, edges: int, rng: np.random.Generator) -> Edges:
    """Return the edges of a graph drawn uniformly among those with this many edges."""
    drawn = rng.choice(vertices * (vertices - 1) // 2, size=edges, replace=False, shuffle=False)
    # The pairs (i, j), i < j, are counted (0,1), (0,2), (1,2), (0,3), ...
    pair = drawn.astype(np.int64)
    column = np.floor((1 + np.sqrt(1 + 8 * pair)) / 2).astype(np.int64)
    # One step corrects a square root that was rounded across an integer.
    column -= column * (column - 1) // 2 > pair
    column += (column + 1) * column // 2 <= pair
    row = pair - column * (column - 1) // 2
    return row, column


def torus_edges(sides: Sequence[int]) -> Edges:
    """Return the edges of a toroidal grid of 2 or 3 dimensions, all sides 3 or more.

    The vertices are numbered row by row, the last coordinate running first, and each is joined to
    the next one of its last coordinate, of the one before, and so on: d n edges of n vertices.
    """
    vertex = np.arange(prod(sides), dtype=np.int64).reshape(sides)
    first = np.tile(vertex.ravel(), len(sides))
    axes = range(len(sides) - 1, -1, -1)
    second = np.concatenate([np.roll(vertex, -1, axis=axis).ravel() for axis in axes])
    return np.minimum(first, second), np.maximum(first, second)


def planar_edges(vertices: int, edges: int, rng: np.random.Generator) -> Edges:
    """Return edges drawn from one maximal planar graph, or from the union of two.

    A planar graph of n >= 3 vertices has 3n - 6 edges at most, by Euler's formula. Up to so many,
    the graph is planar: its edges are drawn uniformly from those of a triangulation. Beyond, they
    are all edges of one triangulation and some of a second one on the same vertices, as in the
    G-set; at most :func:`most_planar`.
    """
    maximum = 3 * vertices - 6
    first = triangulation(vertices, rng)
    if edges <= maximum:
        return _edges_of_keys(vertices, _sample(first, edges, rng))
    while True:
        other = np.setdiff1d(triangulation(vertices, rng), first, assume_unique=True)
        if len(other) >= edges - maximum:
            both = np.concatenate([first, _sample(other, edges - maximum, rng)])
            return _edges_of_keys(vertices, both)


def most_planar(vertices: int) -> int:
    """Return the most edges of :func:`planar_edges`: of a union, less those that may coincide."""
    maximum = 3 * vertices - 6
    return max(maximum, 2 * maximum - COINCIDING)


def triangulation(vertices: int, rng: np.random.Generator) -> IntArray:
    """Return the 3n - 6 edges of a maximal planar graph, as keys i n + j, i < j, ascending.

    It is the Delaunay triangulation of the corners of a triangle and n - 3 points drawn uniformly
    inside, n >= 3: planar, as no two of its edges cross; maximal, since every face, the outer one
    included, is a triangle. Vertices are numbered at random.
    """
    # Imported here, so that checking a configuration's names does not wait for it.
    from scipy.spatial import Delaunay

    maximum = 3 * vertices - 6
    while True:
        inside = rng.dirichlet([1.0, 1.0, 1.0], vertices - 3)[:, :2]
        corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
        triangles = Delaunay(np.vstack([inside, corners])).simplices.astype(np.int64)
        named = rng.permutation(vertices)[triangles]
        pairs = np.sort(named[:, [0, 1, 0, 2, 1, 2]].reshape(-1, 2), axis=1)
        keys: IntArray = np.sort(pairs[:, 0] * vertices + pairs[:, 1])
        keys = np.asarray(keys[np.append(True, keys[1:] > keys[:-1])])
        # Points closer than rounding can tell might be left out: of random ones, in theory only.
        if len(keys) == maximum:
            return keys


def signs(edges: int, rng: np.random.Generator) -> FloatArray:
    """Return random weights of the edges, +1 or -1 with equal probability."""
    return rng.choice([-1.0, 1.0], size=edges)


def _sample(keys: IntArray, count: int, rng: np.random.Generator) -> IntArray:
    """Return ``count`` of the keys, drawn uniformly without replacement."""
    return rng.choice(keys, size=count, replace=False, shuffle=False)


def _edges_of_keys(vertices: int, keys: IntArray) -> Edges:
    ordered = np.sort(keys)
    return ordered // vertices, ordered % vertices


# Largest numbers of vertices of random and planar graphs, of tori, and of edges of random graphs
LARGEST_GRAPH = 100_000
LARGEST_TORUS = 1_000_000
MOST_EDGES = 1_000_000
# Largest number of vertices with an enclosed margin, which needs dense eigenvalue decompositions
LARGEST_ENCLOSED = 500

Family = Literal["random", "planar", "torus"]

_COUNT: Final = "([1-9][0-9]{0,8})"
_GRAPH: Final = re.compile(f"(random|planar)-{_COUNT}-{_COUNT}(?:-(pm1|0?\\.[0-9]{{1,6}}))?")
_TORUS: Final = re.compile(f"torus-{_COUNT}x{_COUNT}(?:x{_COUNT})?(-unit)?")
_FORMS: Final = (
    "random-VERTICES-EDGES and planar-VERTICES-EDGES such as random-100-269, with -pm1 for weights "
    "+1 and -1, random-VERTICES-EDGES-MARGIN such as random-100-269-0.03, torus-ROWSxCOLUMNS such "
    "as torus-20x40 and torus-8x8x8, with -unit for weights 1"
)


@dataclass(frozen=True)
class GraphName:
    """A generated graph, as its name describes it.

    Parameters
    ----------
    text
        The name.
    family
        ``random``, ``planar`` or ``torus``.
    sizes
        The sides of a torus, 2 or 3; otherwise the number of vertices.
    edges
        How many.
    signed
        Whether weights are +1 and -1; otherwise they are 1, or all of one size.
    margin
        The margin that determines the size of the weights, or 0.
    stream
        The name of the source of randomness: graphs that differ in their weights alone share it.
    """

    text: str
    family: Family
    sizes: tuple[int, ...]
    edges: int
    signed: bool
    margin: float
    stream: str

    @property
    def vertices(self) -> int:
        """The number of vertices."""
        return prod(self.sizes)


def graph_name(text: str) -> GraphName:
    """Return the description of a graph from its name, if it can be generated.

    Raises
    ------
    InputError
        If there is no such graph, or it is too large.
    """
    if match := _GRAPH.fullmatch(text):
        return _of_edges(text, match)
    if match := _TORUS.fullmatch(text):
        return _torus(text, match)
    raise InputError(f"{text!r} names no MAXCUT instance; allowed: {_FORMS}")


def _of_edges(text: str, match: re.Match[str]) -> GraphName:
    planar, vertices, edges = match[1] == "planar", int(match[2]), int(match[3])
    least = 3 if planar else 2
    if not least <= vertices <= LARGEST_GRAPH:
        raise InputError(f"{text}: {vertices} vertices; allowed: {least} to {LARGEST_GRAPH}")
    pairs = vertices * (vertices - 1) // 2
    most = min(most_planar(vertices) if planar else pairs, MOST_EDGES)
    if edges > most:
        have = "at most two triangulations" if planar else f"{pairs} pairs"
        raise InputError(
            f"{text}: {edges} edges; {vertices} vertices have {have}, allowed: 1 to {most}"
        )
    weights = match[4] or ""
    margin = 0.0 if weights in ("", "pm1") else float(weights)
    if margin and planar:
        raise InputError(
            f"{text}: planar graphs with a given margin are not available; omit -{weights}"
        )
    if weights and weights != "pm1":
        check_margin(vertices, margin)
    return GraphName(
        text,
        "planar" if planar else "random",
        (vertices,),
        edges,
        weights == "pm1",
        margin,
        text.removesuffix(f"-{weights}"),
    )


def _torus(text: str, match: re.Match[str]) -> GraphName:
    sides = tuple(int(side) for side in match.groups()[:3] if side)
    if min(sides) < 3 or prod(sides) > LARGEST_TORUS:
        raise InputError(
            f"{text}: sides {' and '.join(map(str, sides))}; allowed: sides of 3 or more, so that "
            f"no two edges coincide, and {LARGEST_TORUS} vertices at most"
        )
    unit, edges = bool(match[4]), len(sides) * prod(sides)
    if unit and not any(side % 2 for side in sides):
        raise InputError(
            f"{text}: with even sides the graph is bipartite, and with weights 1 its largest cut "
            f"has all {edges} edges; give an odd side, or weights +1 and -1 (leave -unit out)"
        )
    return GraphName(text, "torus", sides, edges, not unit, 0.0, text)


def check_margin(order: int, margin: float) -> None:
    """Refuse a margin that is impossible for this order, or cannot be computed."""
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
            f"the margin of {order} vertices cannot be enclosed; allowed: up to {LARGEST_ENCLOSED}"
        )
