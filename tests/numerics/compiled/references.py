"""The kernels in numpy and scipy, as the papers write them."""

from __future__ import annotations

import math

import numpy as np
import scipy.optimize

from perceptron_lab.core.results import FloatArray
from perceptron_lab.numerics.compiled.cyclic_sweeps import RealArray
from perceptron_lab.numerics.compiled.pivoted_cholesky import (
    ACCEPT_ZEROS,
    CUT_ZEROS,
    rounding_tolerance,
)


def perceptron_sweep_reference(
    rows: RealArray,
    point: RealArray,
    counts: FloatArray,
    first: int,
    most: int,
    quiet: int,
    checks: int,
) -> tuple[int, int, int, int]:
    row, updates, checked = first, 0, 0
    while updates < most and quiet < len(rows) and checked < checks:
        quiet += 1
        if rows[row] @ point <= 0.0:
            point += rows[row]
            counts[row] += 1.0
            updates, quiet = updates + 1, 0
        checked, row = checked + 1, (row + 1) % len(rows)
    return updates, checked, row, quiet


def relaxed_sweep_reference(
    rows: RealArray, point: RealArray, sigma: float, first: int, most: int, quiet: int, checks: int
) -> tuple[int, int, int, int]:
    row, updates, checked = first, 0, 0
    while updates < most and quiet < len(rows) and checked < checks:
        quiet += 1
        score = rows[row] @ point
        if score < -sigma * np.linalg.norm(point):
            point -= score * rows[row]
            updates, quiet = updates + 1, 0
        checked, row = checked + 1, (row + 1) % len(rows)
    return updates, checked, row, quiet


def stretch_rows_reference(rows: RealArray, direction: RealArray) -> int:
    along = rows @ direction
    rows += np.outer(along, direction)
    rows /= np.sqrt(1.0 + 3.0 * along**2)[:, None]
    return int((along <= 0.0).sum())


def softmin_reference(
    sums: FloatArray,
    scores: RealArray,
    eta: float,
    temperature: float,
    new_sums: FloatArray,
    share: RealArray,
) -> tuple[float, float, float]:
    new_sums[:] = sums + eta * scores.astype(np.float64)
    lowest = float(new_sums.min())
    powers = np.exp((lowest - new_sums) / temperature)
    total = float(powers.sum())
    share[:] = powers / total
    return lowest, math.log(total) - lowest / temperature, float(powers @ scores) / total


def minimum_norm_point_reference(rows: FloatArray) -> tuple[FloatArray, FloatArray]:
    """`minimum_norm_point` by scipy's non-negative least squares.

    It finds min norm(P'u)^2 + (1 - sum u)^2 over u >= 0, a multiple of the weights.
    """
    stacked = np.vstack([rows.T, np.ones(len(rows))])
    target = np.zeros(len(stacked))
    target[-1] = 1.0
    weights = scipy.optimize.nnls(stacked, target)[0]
    weights /= weights.sum()
    return weights @ rows, weights


def separating_direction_reference(matrix: FloatArray, zeros: int) -> FloatArray | None:
    """`separating_direction` on permuted copies, as the thesis has it; None if none is found."""
    n = len(matrix)
    order, upper = np.arange(n), np.zeros((n, n))
    residual = np.array(matrix, dtype=float)
    noise = np.zeros(n) if zeros == ACCEPT_ZEROS else rounding_tolerance(n) * matrix.diagonal()
    for j in range(n):
        diagonal = residual.diagonal()[j:]
        low, high = j + int(diagonal.argmin()), j + int(diagonal.argmax())
        trailing: list[tuple[int, float]] = []
        if residual[low, low] < 0:
            trailing = [(low, 1.0)]
        elif residual[high, high] == 0 or (zeros == CUT_ZEROS and residual[low, low] == 0):
            trailing = _zero_cut(residual, noise, j, low, zeros)
            if not trailing:
                return None
        if trailing:
            direction = np.zeros(n)
            for position, value in trailing:
                direction[position] = value
            if j:
                direction[:j] = np.linalg.solve(upper[:j, :j], -upper[:j] @ direction)
            return np.asarray(direction[np.argsort(order)])
        swap = np.arange(n)
        swap[[j, high]] = high, j
        order, upper, noise = order[swap], upper[:, swap], noise[swap]
        residual = residual[np.ix_(swap, swap)]
        upper[j, j:] = residual[j, j:] / np.sqrt(residual[j, j])
        residual[j:, j:] -= np.outer(upper[j, j:], upper[j, j:])
        quiet = np.flatnonzero(abs(residual.diagonal()) <= noise)
        residual[quiet, quiet] = 0.0
    return None


def _zero_cut(
    residual: FloatArray, noise: FloatArray, start: int, low: int, zeros: int
) -> list[tuple[int, float]]:
    zero = [i for i in range(start, len(residual)) if residual[i, i] == 0]
    if zeros != ACCEPT_ZEROS:
        for i in zero:
            for j in zero:
                if i < j and abs(residual[i, j]) > np.sqrt(noise[i] * noise[j]):
                    return [(i, 1.0), (j, -float(np.sign(residual[i, j])))]
    return [(low, 1.0)] if zeros == CUT_ZEROS else []
