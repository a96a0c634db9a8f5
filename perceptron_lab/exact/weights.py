"""Claims by weights in the dual cone: no feasible point, none of a margin above a bound.

They rest on (3) and (4) of docs/notes/how-to-distrust-us.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from perceptron_lab.cones.base import Cone
from perceptron_lab.cones.second_order import SecondOrder
from perceptron_lab.cones.semidefinite import Semidefinite
from perceptron_lab.core.results import FloatArray
from perceptron_lab.exact.cuts import combined_weights, images, pool, root_of_weights
from perceptron_lab.exact.row_weights import balanced
from perceptron_lab.exact.whole_numbers import CheckedSystem, Claim, by_places, exactly, root_above

# Weights below this part of the largest mass are those of no row
_NOTHING = 2.0**-90
# Bits of weights of matrices, whose roots have half of them
_BITS = 96
# Matrices of weights beyond this order are not written
LARGEST = 1000


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
