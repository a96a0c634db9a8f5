"""The small system on which every algorithm is shown, and its run."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from perceptron_lab import Budget, Result, solve

ROWS, DIMENSION, LEAST = 40, 4, 0.05
UPDATES, MOST, SECONDS = 400, 200_000, 5.0

ABOUT = (
    f"{ROWS} unit rows in dimension {DIMENSION}, drawn at random and then stretched so that few "
    f"lie far inside one halfspace. Every run has at most {UPDATES} updates and goes on after its "
    'proof (``goal="budget"``); one without a proof by then is run until its first.'
)


@cache
def small_rows() -> NDArray[np.float64]:
    """Return the rows, shape (ROWS, DIMENSION)."""
    rng = np.random.default_rng(1)
    rows = rng.standard_normal((ROWS, DIMENSION)) * [0.4, 1.0, 1.0, 1.0]
    rows[:, 0] = np.abs(rows[:, 0]) + LEAST
    rows[:, 1] += 0.6
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def small_run(name: str) -> Result:
    """Return the run of an algorithm by its name; an InputError says that it does not run here."""
    result = solve(
        small_rows(),
        name,
        goal="budget",
        budget=Budget(updates=UPDATES, seconds=SECONDS),
        record_at=range(1, UPDATES + 1),
    )
    if result.proved:
        return result
    return solve(small_rows(), name, budget=Budget(updates=MOST, seconds=SECONDS))
