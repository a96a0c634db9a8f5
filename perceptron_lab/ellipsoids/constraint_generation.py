"""The maximal separation ratio by constraint generation (chunking).

A working set of examples is solved; of the others those that its solution violates worst join it.
Its t decreases from round to round and is never below that of all examples, since it has fewer
constraints; its multipliers, with zeros, are feasible for the dual (7.21) of all. Its ellipsoid,
measured on all examples, is feasible with

    t = min over negatives / max over positives - 1,

so that every round brackets the optimum. The rounds end as soon as the bracket is narrow enough or
no example is violated; a working set that no ellipsoid separates ends them at t = 0, as it proves
as much of all examples. This corrects section 7.5 of `Kharechko2009`, where chunking is said to be
impossible for classes that no ellipsoid separates.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from perceptron_lab.ellipsoids.cone_solver import solve_directly
from perceptron_lab.ellipsoids.lifting import lifted, quadratic_values
from perceptron_lab.ellipsoids.solution import Classes, Solution, middle
from perceptron_lab.errors import NumericalError
from perceptron_lab.results import FloatArray, IntArray

INITIAL = 4
"""Examples of each class at first, over r + 1, beside a basis of the positives."""
JOIN = 4
"""Examples of each class that join in a round at most, over the root of the working set."""
ROUNDS = 200
"""Rounds at most."""


@dataclass
class _Working:
    """Which examples of each class are in the working set."""

    positives: IntArray
    negatives: IntArray


def solve_by_generation(classes: Classes, tolerance: float) -> Solution:
    """Return a solution that all examples satisfy to the tolerance.

    Parameters
    ----------
    classes
        The positives must span the coordinates affinely, and some negative be given.
    tolerance
        Of the bracket of 1 + t, relative, and of the constraints; the working sets are solved to a
        tenth of it, at most 1e-8, and to a bracket of their own that is as narrow relative to t.

    Raises
    ------
    NumericalError
        If a working set cannot be solved, or the rounds do not end.
    """
    working = _first(classes)
    inner, iterations, ratios = min(1e-8, tolerance / 10.0), 0, []
    for _ in range(ROUNDS):
        part = Classes(
            classes.positives[working.positives],
            classes.negatives[working.negatives],
            classes.fixed,
        )
        solution = solve_directly(part, inner, tolerance)
        iterations += solution.iterations
        ratios.append(solution.ratio)
        inside = quadratic_values(solution.quadratic, classes.positives)
        outside = quadratic_values(solution.quadratic, classes.negatives)
        reached = float(outside.min() / inside.max()) - 1.0
        narrow = solution.ratio - reached <= tolerance * (1.0 + solution.ratio)
        if narrow or solution.ratio <= tolerance:
            return _whole(classes, working, solution, iterations, ratios)
        added = _join(working, inside - 1.0, 1.0 + solution.ratio - outside, inside.max())
        if not added:
            return _whole(classes, working, solution, iterations, ratios)
    raise NumericalError(
        f"constraint generation has not ended after {ROUNDS} rounds; raise the tolerance"
    )


def _first(classes: Classes) -> _Working:
    """Return a basis of the positives, the positives farthest out, the negatives nearest."""
    rows = lifted(classes.positives)
    order = rows.shape[1]
    basis = scipy.linalg.qr(rows.T, mode="r", pivoting=True)[1][:order]
    moment = rows.T @ rows / len(rows) + 1e-12 * np.eye(order)  # a choice needs no more digits
    root = scipy.linalg.cholesky(moment, lower=True)
    sizes = [
        (scipy.linalg.solve_triangular(root, lifted(points).T, lower=True) ** 2).sum(axis=0)
        for points in (classes.positives, classes.negatives)
    ]
    far = _largest(sizes[0], INITIAL * order)
    return _Working(np.union1d(basis, far), np.sort(_largest(-sizes[1], INITIAL * order)))


def _largest(values: FloatArray, count: int) -> IntArray:
    if count >= len(values):
        return np.arange(len(values))
    return np.asarray(np.argpartition(-values, count)[:count])


def _join(working: _Working, inside: FloatArray, outside: FloatArray, most: float) -> int:
    """Add the worst violated examples of each class; return how many are new."""
    before = len(working.positives) + len(working.negatives)
    room = 1e-12 * max(1.0, most)
    count = JOIN * max(1, int(np.sqrt(before)))
    for name, excess in (("positives", inside), ("negatives", outside)):
        chosen = _largest(excess, count)
        violated = chosen[excess[chosen] > room]
        setattr(working, name, np.union1d(getattr(working, name), violated))
    return len(working.positives) + len(working.negatives) - before


def _whole(
    classes: Classes,
    working: _Working,
    solution: Solution,
    iterations: int,
    ratios: list[float],
) -> Solution:
    weights = np.zeros(len(classes.positives)), np.zeros(len(classes.negatives))
    weights[0][working.positives] = solution.positive_weights
    weights[1][working.negatives] = solution.negative_weights
    used = len(working.positives) + len(working.negatives)
    course = f"t from {ratios[0]:.6g} to {ratios[-1]:.6g}; at last by {solution.message}"
    message = f"constraint generation: {len(ratios)} rounds, {used} examples, {course}"
    threshold = middle(solution.ratio)
    return Solution(solution.ratio, solution.quadratic, threshold, *weights, iterations, message)
