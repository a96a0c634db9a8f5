"""Names of generated graphs, such as ``random-100-269`` and ``torus-20x40``: their grammar."""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import prod, sqrt
from typing import Final, Literal

from perceptron_lab.core.errors import InputError
from perceptron_lab.datasets.generated.graphs import most_planar

# Vertices of random and planar graphs, of tori, and edges of random graphs, at most
LARGEST_GRAPH = 100_000
LARGEST_TORUS = 1_000_000
MOST_EDGES = 1_000_000
# Vertices of a graph whose margin is enclosed, at most: dense matrices of this order are decomposed
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
        What that size is chosen for, or 0.
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
        """How many."""
        return prod(self.sizes)


def graph_name(text: str) -> GraphName:
    """Return what a name describes, a graph that exists and can be generated.

    Raises
    ------
    InputError
        If there is no such graph, or it is too large.
    """
    if match := _GRAPH.fullmatch(text):
        return _of_edges(text, match)
    if match := _TORUS.fullmatch(text):
        return _torus(text, match)
    raise InputError(f"no MAXCUT instance is called {text!r}; allowed: {_FORMS}")


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
        raise InputError(f"{text}: planar graphs of a margin are not made; leave -{weights} out")
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
