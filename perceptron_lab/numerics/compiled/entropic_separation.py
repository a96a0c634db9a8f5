"""Separation of a block of unit rows by adaptive steps, resumed when the block grows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import cast

import numpy as np

from perceptron_lab.core.results import FloatArray
from perceptron_lab.core.time_limit import PIECE, time_is_up
from perceptron_lab.numerics.compiled.entropic_steps import (
    AVERAGE,
    CENTRE,
    GOING_ON,
    entropic_loop,
    entropic_pass,
)
from perceptron_lab.numerics.compiled.entropic_trials import LOG_PARTITION, TOTAL, WEIGHT
from perceptron_lab.numerics.compiled.kernel import RealArray


@dataclass
class EntropicState:
    """The state of adaptive primal-dual steps, with its own arrays.

    Parameters
    ----------
    centre
        The last y, shape ``(n,)``, in the type of the rows.
    points
        sum eta y_t, A x_t and sum eta A x_t, shape ``(3, n)``.
    entries
        A* of the first of these, and sum eta x_t, shape ``(2, m)``.
    numbers
        eta; the sums of eta over the y_t and over the x_t; the logarithm of the softmin's sum; the
        number of trials.
    """

    centre: RealArray
    points: FloatArray
    entries: FloatArray
    numbers: FloatArray


@dataclass
class SeparationRun:
    """The outcome of primal-dual steps, computed in the precision of the rows.

    Parameters
    ----------
    separated
        Whether min A*point > 0; nothing is proved.
    point
        The separator, or the average of the y_t (the last y before there is one), shape ``(n,)``.
    weights
        Of the last and the average x_t the one with the smaller norm(A x), shape ``(m,)``, >= 0,
        with sum 1.
    length
        norm(A weights), an upper bound of the margin.
    iterations, passes, products
        Iterations of this call, how often it went over the rows, and with how many products.
    course
        The state from which the run resumes.
    """

    separated: bool
    point: FloatArray
    weights: FloatArray
    length: float
    iterations: int
    passes: int
    products: int
    state: EntropicState


def begin(rows: RealArray) -> EntropicState:
    """Return x_0 = e / m and y_1 = ball(A x_0 / sqrt(2 ln m))."""
    size, dimension = rows.shape
    state = EntropicState(
        np.zeros(dimension, rows.dtype),
        np.zeros((3, dimension)),
        np.zeros((2, size)),
        np.array([1.0, 0.0, 0.0, 0.0, 0.0]),
    )
    _softmin_of_sums(rows, state)
    step = state.points[1] / _root(size)
    state.centre[:] = step / max(1.0, float(np.linalg.norm(step)))
    return state


def carried(state: EntropicState, rows: RealArray) -> EntropicState:
    """Return the state for other rows of the same dimension or another precision.

    Sums of scores are linear in the sum of the y_t, so they are A* of that sum for rows that join,
    too, and the average is still an average; x_{t-1} becomes the softmin of the new sums. The sums
    of the x_t begin again.
    """
    numbers, points = state.numbers.copy(), np.zeros_like(state.points)
    numbers[WEIGHT] = 0.0  # weights of other rows are no weights of these
    points[0] = state.points[0]
    entries = np.zeros((2, rows.shape[0]))
    entries[0] = rows @ points[0].astype(rows.dtype)
    converted = EntropicState(
        cast("RealArray", state.centre.astype(rows.dtype)), points, entries, numbers
    )
    _softmin_of_sums(rows, converted)
    return converted


def separate(
    rows: RealArray, most: int, *, start: EntropicState | None = None, clearance: float = 0.0
) -> SeparationRun:
    """Make adaptive primal-dual steps until a point separates the rows, as computed.

    Parameters
    ----------
    rows
        Unit rows, shape ``(m, n)``, float32 or float64, in C order.
    most
        Iterations at most, 0 or more; fewer where the time is up.
    start
        The state of a run on the same rows, or on other rows (see :func:`carried`), which is
        modified; None starts from the beginning.
    clearance
        A point separates where min A*y > clearance >= 0.
    """
    run = begin(rows) if start is None else start
    assert run.entries.shape[1] == rows.shape[0]
    state = run.centre, run.points, run.entries, run.numbers
    at_once, ended, iterations, passes = PIECE // (4 * rows.size) + 1, GOING_ON, 0, 0
    while ended == GOING_ON and iterations < most:
        piece = min(at_once, most - iterations)
        ended, steps, passed = entropic_loop(rows, *state, piece, clearance)
        iterations, passes = iterations + steps, passes + passed
        if time_is_up():
            break
    point = run.centre.astype(np.float64)
    if ended != CENTRE and run.numbers[TOTAL] > 0.0:
        point = run.points[0] / run.numbers[TOTAL]
    # the last or the average weights, whose norm(A x) is smaller
    last, weight = float(np.linalg.norm(run.points[1])), run.numbers[WEIGHT]
    length = float(np.linalg.norm(run.points[2])) / weight if weight else math.inf
    if length < last:
        share = run.entries[1]
    else:
        sums, length = run.entries[0], last
        share = np.exp((sums.min() - sums) * _root(rows.shape[0]))
    weights = share / share.sum()
    separated = ended in (CENTRE, AVERAGE)
    products = passes + iterations + (ended == CENTRE)  # a second trial has its scores already
    return SeparationRun(separated, point, weights, length, iterations, passes, products, run)


def _root(size: int) -> float:
    return math.sqrt(2.0 * math.log(max(size, 2)))


def _softmin_of_sums(rows: RealArray, state: EntropicState) -> RealArray:
    """Return the softmin of the state's sums; store its logarithm and its image."""
    size = rows.shape[0]
    share, scores = np.empty(size, rows.dtype), np.zeros(size, rows.dtype)
    sums, image = state.entries[0], state.points[1]
    arguments = (
        state.centre,
        True,
        scores,
        sums,
        0.0,
        1.0 / _root(size),
        np.empty(size),
        share,
        image,
    )
    state.numbers[LOG_PARTITION] = entropic_pass(rows, *arguments)[2]
    return cast("RealArray", share)
