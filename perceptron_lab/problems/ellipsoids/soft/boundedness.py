"""When the soft separation ratio is bounded.

max t - C+ sum_+ xi - C- sum_- xi, with x^'E^x^ <= 1 + xi on positives, x^'E^x^ >= 1 + t - xi on
negatives, xi >= 0 and E^ >= 0, is bounded exactly if its dual, (7.21) of `Kharechko2009` with
0 <= lambda <= C, is feasible. More weight on positives can only help, so that this means

    S(lambda) = sum_- lambda x^x^' <= C+ sum_+ x^x^'   for some lambda in the capped simplex
    {sum_- lambda = 1, 0 <= lambda <= C-}.

Such a lambda is 0 outside the span of the lifted positives. With z = (sum_+ x^x^')^(-1/2) x^ of the
negatives within it, the problem is bounded if and only if C- times their number is at least 1 and
C+ is at least the critical penalty

    min over the capped simplex of lambda_max(sum lambda z z')
    = max over W >= 0, trace W = 1, of the least of sum lambda z'Wz over the capped simplex.

Any W gives a direction in which the objective grows for every smaller C+.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from perceptron_lab.core.errors import NumericalError
from perceptron_lab.core.results import FloatArray
from perceptron_lab.problems.ellipsoids.lifting import flat, quadratic_forms, squares
from perceptron_lab.problems.ellipsoids.soft.dual_program import (
    FIXING,
    ROUNDS,
    Working,
    solve_weights,
)

SPAN_TOLERANCE = 1e-9
"""Of white, lifted examples: how far off the span of the positives counts as within, relatively."""
ROOM = 1e-9
"""By how much, relatively, a weight that is fixed may be contradicted."""


@dataclass(frozen=True)
class CriticalPenalty:
    """The C+ from which on the soft separation ratio is bounded, for one C-."""

    # the critical penalty lies between them: the values of direction and of weights,
    # computed in floating point; infinite, both, if no C+ is enough
    lower: float
    upper: float
    # lambda of the negatives that attains upper, shape (m-,); zeros if there is none
    weights: FloatArray
    # E^ >= 0 of a direction in which the objective grows for every C+ < lower, shape (n, n)
    direction: FloatArray
    within: npt.NDArray[np.bool_]  # which negatives lie in the span of the positives, shape (m-,)
    root: FloatArray  # (sum_+ x^x^')^(-1/2) on that span, shape (n, rank)


def critical_penalty(positives: FloatArray, negatives: FloatArray, cap: float) -> CriticalPenalty:
    """Return the critical C+ for C- = cap."""
    triangle = np.linalg.qr(positives, mode="r")
    _, sizes, axes = np.linalg.svd(triangle, full_matrices=True)
    rank = int(np.count_nonzero(sizes > SPAN_TOLERANCE * sizes[0]))
    root = axes[:rank].T / sizes[:rank]
    away = axes[rank:].T
    off = np.linalg.norm(negatives @ away, axis=1)
    within = np.asarray(off <= SPAN_TOLERANCE * np.linalg.norm(negatives, axis=1))
    weights = np.zeros(len(negatives))
    outward = away @ away.T
    if cap * np.count_nonzero(within) < 1.0:
        return CriticalPenalty(math.inf, math.inf, weights, outward, within, root)
    images = negatives[within] @ root
    weights[within], dual = _least_spread(images, cap)
    upper = float(np.linalg.eigvalsh(images.T @ (weights[within, None] * images))[-1])
    forms = quadratic_forms(dual, images)
    lower = least_mean(forms, cap)
    direction = root @ dual @ root.T
    if not within.all():
        # Far enough out, negatives off the span no longer count in the least mean.
        nearest = float(((negatives[~within] @ away) ** 2).sum(axis=1).min())
        direction = direction + outward * (float(forms.max()) / nearest)
    return CriticalPenalty(lower, max(lower, upper), weights, direction, within, root)


def least_mean(values: FloatArray, cap: float) -> float:
    """Return the least of sum lambda v over sum lambda = 1, 0 <= lambda <= cap.

    That is the mean of the lowest 1 / cap of the values, the last one in part; infinity if there
    are fewer.
    """
    ordered = np.sort(values)
    if cap * len(ordered) < 1.0:
        return math.inf
    whole = min(math.floor(1.0 / cap), len(ordered))
    rest = 1.0 - cap * whole
    total = cap * float(ordered[:whole].sum())
    return total + (rest * float(ordered[whole]) if rest > 0.0 and whole < len(ordered) else 0.0)


def marginal(values: FloatArray, cap: float) -> float:
    """Return the 1 / cap-th lowest value: the last one that counts in the least mean."""
    place = min(max(math.ceil(1.0 / cap) - 1, 0), len(values) - 1)
    return float(np.partition(values, place)[place])


def _least_spread(images: FloatArray, cap: float) -> tuple[FloatArray, FloatArray]:
    """Return lambda of the least lambda_max(sum lambda z z'), and the matrix W of its dual.

    Negatives with z'Wz below the marginal one have lambda = cap, those above it 0: only some near
    it are unknowns, in rounds.
    """
    everyone = np.arange(len(images))
    forms = (images**2).sum(axis=1)
    excess = marginal(forms, cap) - forms
    working = Working.around(excess, [everyone], images.shape[1] * (images.shape[1] + 1) // 2)
    for number in range(ROUNDS):
        weights, dual, level = _restricted_spread(images, cap, working)
        excess = level - quadratic_forms(dual, images)
        if not working.revise(excess, weights / cap, ROOM * abs(level), fix=number < FIXING):
            return capped(weights, cap), dual
    raise NumericalError(f"the critical penalty has not been found after {ROUNDS} rounds")


def _restricted_spread(
    images: FloatArray, cap: float, working: Working
) -> tuple[FloatArray, FloatArray, float]:
    """Return lambda, W, and z'Wz of negatives with lambda between its bounds."""
    free, fixed = images[working.free], images[working.capped]
    count, order = free.shape
    bounds = sp.eye_array(count, count + 1)
    spread = np.column_stack([squares(free).T, -flat(np.eye(order))])
    rows = np.append(np.ones(count), 0.0)[None, :], -bounds, bounds, spread
    cost, left = np.append(np.zeros(count), 1.0), max(0.0, 1.0 - cap * len(fixed))
    products = -cap * flat(fixed.T @ fixed)
    found = solve_weights(cost, rows, left, np.full(count, cap), products, 1e-10)
    weights = np.where(working.capped, cap, 0.0)
    weights[working.free] = np.clip(found.unknowns[:-1], 0.0, cap)
    total = float(found.values.sum())
    dual = (found.vectors * (found.values / total)) @ found.vectors.T
    return weights, dual, found.level / total


def capped(weights: FloatArray, cap: float) -> FloatArray:
    """Return the point of the capped simplex nearest to given weights.

    Bisection on the shift s of clip(weights - s, 0, cap), whose sum falls in s; what rounding
    leaves is spread over the weights strictly between the bounds.
    """
    low, high = float(weights.min()) - cap, float(weights.max())
    for _ in range(200):
        middle = 0.5 * (low + high)
        if np.clip(weights - middle, 0.0, cap).sum() >= 1.0:
            low = middle
        else:
            high = middle
    return np.asarray(np.clip(weights - low, 0.0, cap), dtype=np.float64)
