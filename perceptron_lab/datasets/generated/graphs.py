"""Random graphs in the families of the G-set, as lists of distinct edges.

The G-set, graphs of 800 to 20 000 vertices for MAXCUT, was made by G. Rinaldi's generator ``rudy``
and published by `HelmbergRendl2000`: random graphs of a given density, unions of two nearly maximal
planar graphs, and toroidal grids, each with weights 1 or with weights +1 and -1. The families are
made anew here, with as many edges as are asked for; they are not rudy's own graphs, and planar ones
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

from collections.abc import Sequence
from math import prod

import numpy as np

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
    # One step mends a square root that was rounded across an integer.
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
    whole = 3 * vertices - 6
    first = triangulation(vertices, rng)
    if edges <= whole:
        return _decoded(vertices, _some(first, edges, rng))
    while True:
        other = np.setdiff1d(triangulation(vertices, rng), first, assume_unique=True)
        if len(other) >= edges - whole:
            both = np.concatenate([first, _some(other, edges - whole, rng)])
            return _decoded(vertices, both)


def most_planar(vertices: int) -> int:
    """Return the most edges of :func:`planar_edges`: of a union, less those that may coincide."""
    whole = 3 * vertices - 6
    return max(whole, 2 * whole - COINCIDING)


def triangulation(vertices: int, rng: np.random.Generator) -> IntArray:
    """Return the 3n - 6 edges of a maximal planar graph, as keys i n + j, i < j, ascending.

    It is the Delaunay triangulation of the corners of a triangle and n - 3 points drawn uniformly
    inside, n >= 3: planar, as no two of its edges cross; maximal, since every face, the outer one
    included, is a triangle. Vertices are numbered at random.
    """
    # Imported here, so that checking a configuration's names does not wait for it.
    from scipy.spatial import Delaunay

    whole = 3 * vertices - 6
    while True:
        inside = rng.dirichlet([1.0, 1.0, 1.0], vertices - 3)[:, :2]
        corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
        triangles = Delaunay(np.vstack([inside, corners])).simplices.astype(np.int64)
        named = rng.permutation(vertices)[triangles]
        pairs = np.sort(named[:, [0, 1, 0, 2, 1, 2]].reshape(-1, 2), axis=1)
        keys: IntArray = np.sort(pairs[:, 0] * vertices + pairs[:, 1])
        keys = np.asarray(keys[np.append(True, keys[1:] > keys[:-1])])
        # Points closer than rounding can tell might be left out: of random ones, in theory only.
        if len(keys) == whole:
            return keys


def signs(edges: int, rng: np.random.Generator) -> FloatArray:
    """Return as many weights, +1 or -1 with equal chance."""
    return rng.choice([-1.0, 1.0], size=edges)


def _some(keys: IntArray, count: int, rng: np.random.Generator) -> IntArray:
    """Return so many of the keys, drawn uniformly."""
    return rng.choice(keys, size=count, replace=False, shuffle=False)


def _decoded(vertices: int, keys: IntArray) -> Edges:
    ordered = np.sort(keys)
    return ordered // vertices, ordered % vertices
