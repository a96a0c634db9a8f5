"""Dikin's test in ball arithmetic: where doubles lose all digits of B = A T.

q = r'(A H A*)^-1 r, with r = A w and H = T T' the quadratic representation of w, is a rational
function of data and weights. Here both are taken as the doubles that they are, and q is enclosed
with ``BITS`` bits, all roundings included (Arb, of python-flint): the condition number of A H A*
may be 1e40 and more. It is where w is as near the boundary of the cone as delta^2, and A H A* of a
condition of delta^-8.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from flint import arb, arb_mat, ctx

from perceptron_lab.cones.base import Cone
from perceptron_lab.cones.orthant import Orthant
from perceptron_lab.cones.second_order import SecondOrder
from perceptron_lab.results import FloatArray, IntArray

BITS = 256
# Multiplications of balls in a step at most: about a second
MOST_PRODUCTS = 4_000_000
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
    Matrix blocks are not tried. (C32) of docs/notes/how-to-distrust-us.md.

    Parameters
    ----------
    cone, data
        K, and A* as it was given, dense, shape ``(size, unknowns)``.
    weights
        Near weights with A w = 0, flat.
    """
    kept = _kept(cone, weights)
    if kept is None:
        return None
    used = np.flatnonzero(np.abs(data[np.concatenate([at for at, _ in kept])]).any(axis=0))
    if not len(used):
        return None
    products = len(used) * (len(used) + 2) * sum(len(at) for at, _ in kept)
    columns = data[:, used]
    residual = float(np.linalg.norm(weights @ columns))
    if products > MOST_PRODUCTS or not residual <= NEAR * float(
        np.linalg.norm(np.abs(weights) @ np.abs(columns))
    ):
        return None
    with _precision(BITS):
        return _stepped(columns, kept, weights)


Kept = list[tuple[IntArray, bool]]  # places of rows, or of a second-order block: True


def _kept(cone: Cone, weights: FloatArray) -> Kept | None:
    """Return the blocks whose weights do not vanish; None where one is neither of both kinds."""
    kept: Kept = []
    for part, span in cone.blocks:
        block, places = weights[span], np.arange(span.start, span.stop)
        if isinstance(part, Orthant):
            kept += [(places[block > 0.0], False)] if (block > 0.0).any() else []
        elif isinstance(part, SecondOrder):
            kept += [(places, True)] if block.any() else []
        else:
            return None
    return kept or None


def _stepped(
    columns: FloatArray, kept: Kept, weights: FloatArray
) -> tuple[FloatArray, float] | None:
    """Step towards A w = 0, in doubles after every step, until the test is passed."""
    weights, before = weights / np.abs(weights).max(), np.inf
    entries = {int(i): [arb(x) for x in columns[i].tolist()] for at, _ in kept for i in at}
    for _ in range(STEPS):
        found = _test(entries, kept, weights, columns.shape[1])
        if found is None:
            return None
        square, moves = found
        if square < ENOUGH:
            flat = np.zeros(len(weights))
            places = np.concatenate([at for at, _ in kept])
            flat[places] = weights[places]
            return flat, math.nextafter(float(square.upper()), math.inf)
        size = float(square.mid())
        if not size < PROGRESS * before:
            return None
        before, part = size, arb(0.9 / np.sqrt(size))
        weights = weights.copy()
        for place, move in moves.items():
            weights[place] = float((arb(float(weights[place])) - part * move).mid())
    return None


def _test(
    entries: dict[int, list[arb]], kept: Kept, weights: FloatArray, unknowns: int
) -> tuple[arb, dict[int, arb]] | None:
    """Return q and H A*z by places, z = (A H A*)^-1 r; None where w is not proved inside.

    Or where A H A* is not proved to be invertible.
    """
    images: dict[int, list[arb]] = {}
    for at, second_order in kept:
        values = [arb(float(weights[i])) for i in at]
        rows = [entries[int(i)] for i in at]
        found = _represented(values, rows) if second_order else _squared(values, rows)
        if found is None:
            return None
        images |= dict(zip(at.tolist(), found, strict=True))
    places = list(images)
    data = arb_mat([entries[i] for i in places])
    seen = arb_mat([images[i] for i in places])
    residual = data.transpose() * arb_mat([[arb(float(weights[i]))] for i in places])
    try:
        multipliers = (data.transpose() * seen).solve(residual)
    except ZeroDivisionError:
        return None
    moves = seen * multipliers
    square = (residual.transpose() * multipliers)[0, 0]
    return square, {place: moves[row, 0] for row, place in enumerate(places)}


def _squared(values: list[arb], rows: list[list[arb]]) -> list[list[arb]] | None:
    """Return H A* of rows, H = diag(w)^2."""
    if not all(value > 0 for value in values):
        return None
    return [[value * value * x for x in row] for value, row in zip(values, rows, strict=True)]


def _represented(values: list[arb], rows: list[list[arb]]) -> list[list[arb]] | None:
    """Return H A* of a second-order block, H = 2 (2 v v' - det(v) R) at v = w / 2."""
    half = [value / 2 for value in values]
    determinant = half[-1] * half[-1] - sum((x * x for x in half[:-1]), arb(0))
    if not (half[-1] > 0 and determinant > 0):
        return None
    along = [
        sum((x * a for x, a in zip(half, column, strict=True)), arb(0))
        for column in zip(*rows, strict=True)
    ]
    signs = [-1] * (len(half) - 1) + [1]
    return [
        [2 * (2 * x * dot - sign * determinant * a) for dot, a in zip(along, row, strict=True)]
        for x, sign, row in zip(half, signs, rows, strict=True)
    ]


@contextmanager
def _precision(bits: int) -> Iterator[None]:
    """Let balls have so many bits."""
    before = ctx.prec
    ctx.prec = bits
    try:
        yield
    finally:
        ctx.prec = before
