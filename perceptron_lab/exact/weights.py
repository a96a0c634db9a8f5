"""Claims by weights in the dual cone: no feasible point, none of a margin above a bound.

They rest on (3) and (4) of docs/notes/how-to-distrust-us.md. Elements of dual cones are sums of
cuts in whole numbers. A cut is an element g of one block's dual cone: a row; (u, t) with
norm(u) <= t; or vv', v whole. Each makes a row A g of the data: so an infeasible cone program has a
Farkas proof in rows, where no y != 0 has A*y in the cone and the pool of cuts is fine enough.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from perceptron_lab.cones.base import Cone
from perceptron_lab.cones.second_order import SecondOrder
from perceptron_lab.cones.semidefinite import Semidefinite
from perceptron_lab.core.results import FloatArray
from perceptron_lab.exact.row_weights import balanced
from perceptron_lab.exact.whole_numbers import (
    Blocks,
    CheckedSystem,
    Claim,
    by_places,
    exactly,
    root_above,
    rounded,
)

# Weights below this part of the largest mass are those of no row
_NOTHING = 2.0**-90
# Bits of weights of matrices, whose roots have half of them
_BITS = 96
# Matrices of weights beyond this order are not written
LARGEST = 1000
# Bits of the entries of a cut
_CUT_BITS = 20


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
        vector = tuple(rounded(direction, _CUT_BITS))
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
        *short, high = rounded(np.append(u + move, t), _CUT_BITS)
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


def infeasible_rows(
    vectors: Sequence[Sequence[int]], support: Sequence[int], guess: FloatArray
) -> Claim | None:
    """Return the claim that rows have no feasible point, by weights near a guess; or None.

    Parameters
    ----------
    vectors, support, guess
        The rows D a_i with weights in whole numbers, their places, and their weights.
    """
    found = balanced(vectors, guess)
    if found is None:
        return None
    used = [(int(i), weight) for i, weight in zip(support, found, strict=True) if weight]
    return {"claim": "infeasible", "weights": [by_places(used)]}


def infeasible_cone(
    cone: Cone, weights: FloatArray, system: CheckedSystem, *, homogenised: bool
) -> Claim | None:
    """Return the claim that a cone program has no strictly feasible point, by cuts; or None.

    Where it is homogenised and the cuts give x_0 a weight, not even the closed cone has one.

    Parameters
    ----------
    cone, weights
        On which exact weights are proved to be near.
    system
        The checker's.
    """
    cuts = pool(cone, weights, system.width, np.random.default_rng(0))
    vectors = images(cuts, system)
    first = next((k for k, cut in enumerate(cuts) if cut.block == 0), None) if homogenised else None
    found = balanced(vectors, None, first)
    if found is None:
        return None
    closed = homogenised and first is not None and found[first] > 0
    given = combined_weights(cuts, found, system.blocks)
    name = "closed infeasible" if closed else "infeasible"
    return {"claim": name, "weights": given}


def margin_at_most(cone: Cone, weights: FloatArray, bound: Fraction, margin: str) -> Claim | None:
    """Return the claim that no point has a margin above a bound; None where it is too large.

    Parameters
    ----------
    cone, weights
        An element of the dual cone, up to rounding.
    bound
        At least 0.
    margin
        Its name.
    """
    largest = float(np.abs(weights).max())
    scaled = np.where(np.abs(weights) > _NOTHING * largest, weights / largest, 0.0)
    given: list[Any] = []
    for part, span in cone.blocks:
        block = scaled[span]
        if isinstance(part, Semidefinite):
            written = _matrix_weights(part, block)
            if written is None:
                return None
            given.append(written)
        else:
            given.append(_listed(block, second_order=isinstance(part, SecondOrder)))
    pair = list(bound.as_integer_ratio())
    return {"claim": "margin at most", "margin": margin, "bound": pair, "weights": given}


def _listed(block: FloatArray, *, second_order: bool) -> list[Any]:
    """Return [places, numbers], 2^BITS times the weights of rows or of (u, t)."""
    places = np.flatnonzero(block)
    numbers = [int(Fraction(one) * 2**_BITS) for one in block[places].tolist()]
    if second_order and len(places):
        whole = dict(zip(places.tolist(), numbers, strict=True))
        *u, t = (whole.get(i, 0) for i in range(len(block)))
        return [list(range(len(block))), [*u, max(t, root_above(sum(one * one for one in u)))]]
    return [places.tolist(), numbers]


def _matrix_weights(part: Semidefinite, block: FloatArray) -> list[Any] | None:
    """Return [parts, diagonal, rows of V] with 2^BITS w = V diag(parts) V' + diag(diagonal)."""
    entries = block / part.multiplicity
    diagonal = part.identity > 0.0
    order = part.rank
    if not entries[~diagonal].any():
        rest = [0] * order
        for i, value in zip(part.rows[diagonal].tolist(), entries[diagonal].tolist(), strict=True):
            rest[i] = max(0, int(Fraction(value) * 2**_BITS))
        return [[], rest, *([] for _ in range(order))]
    if order > LARGEST:
        return None
    root = root_of_weights(part, block)
    short = np.rint(np.ldexp(root, _BITS // 2))
    return [[1] * root.shape[1], [0] * order, *(exactly(row, 0) for row in short)]
