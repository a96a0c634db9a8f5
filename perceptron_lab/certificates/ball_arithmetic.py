"""Dikin's test in ball arithmetic: where doubles lose all digits of B = A T.

q = r'(A H A*)^-1 r, with r = A w and H = T T' the quadratic representation of w, is a rational
function of data and weights. Here both are taken as the doubles that they are, and q is enclosed
with ``BITS`` bits, all roundings included (:mod:`~perceptron_lab.certificates.representations`):
the condition number of A H A* may be 1e40 and more. It is where w is as near the boundary of the
cone as delta^2, and A H A* of a condition of delta^-8.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from flint import arb, arb_mat

from perceptron_lab.certificates.representations import (
    OVERHEAD,
    Balls,
    Represented,
    precision,
    products,
    represented,
    supported,
)
from perceptron_lab.cones.base import Cone
from perceptron_lab.core.results import FloatArray
from perceptron_lab.core.time_limit import check_time

# Multiplications of balls in a step at most, about a second, and in all steps
MOST_PRODUCTS, MOST_IN_ALL = 4_000_000, 12_000_000
# Steps towards A w = 0 at most
STEPS = 16
# They are made while each leaves less than this part of q
PROGRESS = 0.97
# Below it the step is whole, and the test is passed
ENOUGH = 0.25
# norm(A w) is to be less than this part of the sum of |A||w|: else w is not near
NEAR = 1e-7


def near_by_balls(
    cone: Cone, data: FloatArray, weights: FloatArray
) -> tuple[FloatArray, float] | None:
    """Return weights w inside K* and an upper bound q < 1 of the test there; or None.

    Rows whose weights are not positive are left out, and so are blocks whose weights vanish.
    Matrix blocks have to be whole. (C32) of docs/notes/how-to-distrust-us.md.

    Parameters
    ----------
    cone, data
        K, and A* as it was given, dense, shape ``(size, unknowns)``.
    weights
        Near weights with A w = 0, flat.
    """
    kept = supported(cone, weights)
    if kept is None:
        return None
    places = np.concatenate([place for _, place in kept])
    columns = data[:, data[places].any(axis=0)]
    size = float(np.linalg.norm(np.abs(weights) @ np.abs(columns)))
    if not columns.shape[1] or not np.linalg.norm(weights @ columns) <= NEAR * size:
        return None
    if (columns.shape[1] ** 2 + OVERHEAD) * len(places) > MOST_PRODUCTS:
        return None
    with precision():
        blocks = [represented(part, place, columns) for part, place in kept]
        each = products(blocks, columns.shape[1])
        if each > MOST_PRODUCTS:
            return None
        return _stepped(blocks, weights, min(STEPS, MOST_IN_ALL // each))


def _stepped(
    blocks: Sequence[Represented], weights: FloatArray, most: int
) -> tuple[FloatArray, float] | None:
    """Step towards A w = 0, in doubles after every step, until the test is passed."""
    places, before = np.concatenate([block.place for block in blocks]), np.inf
    flat = np.zeros(len(weights))
    flat[places] = weights[places] / np.abs(weights).max()
    for _ in range(most):
        check_time()
        found = _test(blocks, flat)
        if found is None:
            return None
        square, moves = found
        if square < ENOUGH:
            return flat, math.nextafter(float(square.upper()), math.inf)
        size = float(square.mid())
        if not size < PROGRESS * before:
            return None
        before, part = size, arb(0.9 / np.sqrt(size))
        pairs = zip(flat[places].tolist(), moves, strict=True)
        flat[places] = [float((arb(value) - part * move).mid()) for value, move in pairs]
    return None


def _test(blocks: Sequence[Represented], weights: FloatArray) -> tuple[arb, list[arb]] | None:
    """Return q and H A*z of all blocks, z = (A H A*)^-1 r; None where w is not proved inside.

    Or where A H A* is not proved to be invertible.
    """
    images: Balls = []
    for block in blocks:
        found = block.image([arb(x) for x in weights[block.place].tolist()])
        if found is None:
            return None
        images += found
    data = arb_mat([row for block in blocks for row in block.rows]).transpose()
    seen = arb_mat(images)
    values = weights[np.concatenate([block.place for block in blocks])]
    residual = data * arb_mat([[arb(x)] for x in values.tolist()])
    try:
        multipliers = (data * seen).solve(residual)
    except ZeroDivisionError:
        return None
    moves = (seen * multipliers).tolist()
    square = (residual.transpose() * multipliers)[0, 0]
    return square, [row[0] for row in moves]
