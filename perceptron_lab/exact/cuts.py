"""Elements of dual cones as sums of cuts in whole numbers, and their weights in a certificate.

A cut is an element g of one block's dual cone: a row; (u, t) with norm(u) <= t; or vv', v whole.
Each makes a row A g of the data: so an infeasible cone program has a Farkas proof in rows, where no
y != 0 has A*y in the cone and the pool of cuts is fine enough.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from perceptron_lab.cones.base import Cone
from perceptron_lab.cones.second_order import SecondOrder
from perceptron_lab.cones.semidefinite import Semidefinite
from perceptron_lab.core.results import FloatArray
from perceptron_lab.exact.whole_numbers import Blocks, CheckedSystem, by_places, root_above, rounded

# Bits of the entries of a cut
_BITS = 20


@dataclass(frozen=True)
class DualCut:
    """An element of the dual cone of a block.

    Parameters
    ----------
    block
        The number of the block.
    vector
        The place of a row, alone; (u, t); or v.
    """

    block: int
    vector: tuple[int, ...]

    def weight(self, kind: str, i: int, j: int) -> int:
        """Return the weight of the entry (i, j), i <= j, with that of its mirror image."""
        if kind == "rows":
            return int(i == self.vector[0])
        if kind == "second-order":
            return self.vector[i]
        return (1 + (i < j)) * self.vector[i] * self.vector[j]


def pool(cone: Cone, weights: FloatArray, unknowns: int, rng: np.random.Generator) -> list[DualCut]:
    """Return cuts around weights of a cone, more than there are unknowns where the cone has them.

    Parameters
    ----------
    cone, weights
        The whole cone, and an element of its dual, flat.
    """
    cuts: list[DualCut] = []
    for number, (part, span) in enumerate(cone.blocks):
        given = weights[span]
        if isinstance(part, Semidefinite):
            cuts += [DualCut(number, v) for v in _vectors(part, given, unknowns, rng)]
        elif isinstance(part, SecondOrder):
            cuts += [DualCut(number, v) for v in _pairs(given)]
        else:
            cuts += [DualCut(number, (int(i),)) for i in np.flatnonzero(given > 0.0)]
    return cuts


def _vectors(
    part: Semidefinite, weights: FloatArray, unknowns: int, rng: np.random.Generator
) -> Iterator[tuple[int, ...]]:
    """Yield v with w, and w + d for small d, near combinations of vv'; few of them if many."""
    root = root_of_weights(part, weights, 1e-9)
    rank = root.shape[1]
    if not rank:
        return
    pairs = [(i, j) for i in range(rank) for j in range(i)]
    most = 3 * (unknowns + 1)
    chosen = rng.permutation(len(pairs))[:most]
    directions = list(root.T)
    for at in chosen.tolist():
        i, j = pairs[at]
        directions += [root[:, i] + root[:, j], root[:, i] - root[:, j]]
    for direction in directions:
        vector = tuple(rounded(direction, _BITS))
        if any(vector):
            yield vector


def root_of_weights(part: Semidefinite, weights: FloatArray, least: float = 0.0) -> FloatArray:
    """Return V, weights near VV', without eigenvalues up to a part ``least`` of the largest."""
    values, frame = np.linalg.eigh(part.matrix(weights / part.multiplicity))
    used = values > least * max(values[-1], 0.0)
    root: FloatArray = frame[:, used] * np.sqrt(values[used])
    return root


def _pairs(weights: FloatArray) -> Iterator[tuple[int, ...]]:
    """Yield (u, t) around weights: moved along each coordinate by half the room in the cone."""
    if not weights.any():
        return
    u, t = weights[:-1], float(weights[-1])
    room = max(t - float(np.linalg.norm(u)), 0.0) / 2.0
    moves = [np.zeros(len(u))]
    for i in range(len(u)) if room > 1e-9 * t else ():
        for sign in (1.0, -1.0):
            move = np.zeros(len(u))
            move[i] = sign * room
            moves.append(move)
    for move in moves:
        *short, high = rounded(np.append(u + move, t), _BITS)
        yield (*short, max(high, root_above(sum(one * one for one in short))))


def images(cuts: Sequence[DualCut], system: CheckedSystem) -> list[list[int]]:
    """Return the rows D A g of cuts."""
    found = [[0] * system.width for _ in cuts]
    of_block: dict[int, list[int]] = {}
    for k, cut in enumerate(cuts):
        of_block.setdefault(cut.block, []).append(k)
    for block, i, j, columns, values in system.rows:
        kind = system.blocks[block][0]
        for k in of_block.get(block, ()):
            weight = cuts[k].weight(kind, i, j)
            if weight:
                for at, value in zip(columns, values, strict=True):
                    found[k][at] += weight * value
    return found


def combined_weights(
    cuts: Sequence[DualCut], multiples: Sequence[int], blocks: Blocks
) -> list[list[list[int]]]:
    """Return sum_k m_k g_k as the weights of a certificate, block by block."""
    weights: list[list[list[int]]] = []
    for number, (kind, order) in enumerate(blocks):
        used = [
            (m, cut.vector)
            for m, cut in zip(multiples, cuts, strict=True)
            if m and cut.block == number
        ]
        if kind == "matrix":
            by_row = [[vector[i] for _, vector in used] for i in range(order)]
            weights.append([[m for m, _ in used], [0] * order, *by_row])
        elif kind == "second-order":
            sums = [sum(m * vector[i] for m, vector in used) for i in range(order)]
            weights.append([list(range(order)) if used else [], sums if used else []])
        else:
            weights.append(by_places((vector[0], m) for m, vector in used))
    return weights
