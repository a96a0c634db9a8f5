"""All blocks of a cone, kind by kind, as blocks of one kind."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np

from perceptron_lab.algorithms.interior_point.blocks import ConeBlocks, PairScaling, RowBlocks
from perceptron_lab.algorithms.interior_point.matrix_blocks import MatrixBlocks
from perceptron_lab.algorithms.interior_point.second_order_blocks import SecondOrderBlocks
from perceptron_lab.cones.base import Cone
from perceptron_lab.cones.orthant import Orthant
from perceptron_lab.cones.second_order import SecondOrder
from perceptron_lab.cones.semidefinite import Semidefinite
from perceptron_lab.core.results import FloatArray, IntArray


class ProductBlocks(ConeBlocks):
    """The parts below one another; ``places`` says where each coordinate lies in the cone."""

    def __init__(self, parts: Sequence[ConeBlocks], data: FloatArray) -> None:
        super().__init__(np.concatenate([part.places for part in parts]), data)
        self.parts = parts
        self.identity = np.concatenate([part.identity for part in parts])
        self.spans = spans([len(part.places) for part in parts])

    def scaling(self, primal: FloatArray, dual: FloatArray) -> ProductScaling:
        """Return the scalings of the parts."""
        return ProductScaling(self, primal, dual)


class ProductScaling(PairScaling):
    """The scalings of the parts."""

    def __init__(self, blocks: ProductBlocks, primal: FloatArray, dual: FloatArray) -> None:
        self._spans = blocks.spans
        pairs = zip(blocks.parts, blocks.spans, strict=True)
        self._parts = [part.scaling(primal[at], dual[at]) for part, at in pairs]
        self.middle = np.concatenate([part.middle for part in self._parts])

    def _each(self, element: FloatArray) -> Iterator[tuple[PairScaling, FloatArray]]:
        for part, at in zip(self._parts, self._spans, strict=True):
            yield part, element[at]

    def columns(self) -> FloatArray:
        """Return W^-1 A*."""
        return np.concatenate([part.columns() for part in self._parts])

    def primal(self, element: FloatArray) -> FloatArray:
        """Return W^-1 d."""
        return np.concatenate([part.primal(own) for part, own in self._each(element)])

    def dual(self, element: FloatArray) -> FloatArray:
        """Return W'd."""
        return np.concatenate([part.dual(own) for part, own in self._each(element)])

    def dual_back(self, element: FloatArray) -> FloatArray:
        """Return W'^-1 d."""
        return np.concatenate([part.dual_back(own) for part, own in self._each(element)])

    def product(self, left: FloatArray, right: FloatArray) -> FloatArray:
        """Return left o right."""
        pairs = zip(self._each(left), self._each(right), strict=True)
        return np.concatenate([part.product(one, other) for (part, one), (_, other) in pairs])

    def quotient(self, element: FloatArray) -> FloatArray:
        """Return the x with lambda o x = ``element``."""
        return np.concatenate([part.quotient(own) for part, own in self._each(element)])

    def lowest(self, element: FloatArray) -> float:
        """Return the least of the parts."""
        return min(part.lowest(own) for part, own in self._each(element))


def blocks_of(cone: Cone, data: FloatArray) -> ProductBlocks:
    """Return the blocks by kinds, matrices by their orders.

    Parameters
    ----------
    cone
        Rows, second-order cones, matrices with all entries, or a product of these.
    data
        A* in isometric coordinates, shape ``(cone.size, dimension)``.
    """
    rows, cones, sizes = list[IntArray](), list[IntArray](), list[int]()
    matrices: dict[int, list[IntArray]] = {}
    for part, at in cone.blocks:
        places = np.arange(at.start, at.stop)
        if isinstance(part, Orthant):
            rows.append(places)
        elif isinstance(part, SecondOrder):
            cones.append(places)
            sizes.append(part.size)
        else:
            assert isinstance(part, Semidefinite)
            matrices.setdefault(part.rank, []).append(places)
    kinds = list[tuple[IntArray, Callable[[IntArray, FloatArray], ConeBlocks]]]()
    if rows:
        kinds.append((np.concatenate(rows), RowBlocks))
    if cones:
        kinds.append((np.concatenate(cones), partial(SecondOrderBlocks, sizes=np.array(sizes))))
    for order, each in matrices.items():
        kinds.append((np.concatenate(each), partial(MatrixBlocks, order=order)))
    ordered = data[np.concatenate([places for places, _ in kinds])]
    pairs = zip(kinds, spans([len(places) for places, _ in kinds]), strict=True)
    return ProductBlocks([kind(places, ordered[at]) for (places, kind), at in pairs], ordered)


def spans(sizes: Sequence[int]) -> list[slice]:
    """Return where parts of these sizes lie below one another."""
    ends = np.cumsum(sizes).tolist()
    return [slice(end - size, end) for end, size in zip(ends, sizes, strict=True)]
