"""Algorithm 7 of `Kharechko2009` with its permutations as they are printed."""

from __future__ import annotations

import numpy as np

from perceptron_lab.core.results import FloatArray


def printed_direction(matrix: FloatArray) -> FloatArray | None:
    """Return the v that Algorithm 7 prints for a symmetric matrix; None where it accepts it.

    P collects all swaps, and yet A <- PAP, R <- PRP and d <- Pd apply all of it at each swap, and
    v <- Pv is not the inverse permutation. As P = I does not change where rows and the same columns
    are swapped, rows alone are swapped here: the best reading, right as long as there is one swap.

    References
    ----------
    `Kharechko2009`, Algorithm 7.
    """
    n, given = len(matrix), matrix.copy()
    factor, swaps, residual = np.zeros((n, n)), np.eye(n), np.diag(matrix).copy()

    def swap(i: int, j: int) -> None:
        nonlocal given, factor, residual
        swaps[[i, j]] = swaps[[j, i]]
        given, factor = swaps @ given @ swaps, swaps @ factor @ swaps
        residual = swaps @ residual

    j = 0
    while j < n and residual.min() >= 0.0 and residual.max() > 0.0:
        pivot, place = residual.max(), int(residual.argmax())
        if place != j:
            swap(place, j)
        factor[j, j] = np.sqrt(pivot)
        residual[j] = 0.0
        for i in range(j + 1, n):
            factor[j, i] = (given[j, i] - factor[:j, j] @ factor[:j, i]) / factor[j, j]
            residual[i] -= factor[j, i] ** 2
        j += 1
    if residual.min() >= 0.0:
        return None
    lowest = int(residual.argmin())
    if lowest != j:
        swap(lowest, j)
    direction = np.zeros(n)
    direction[j] = 1.0
    for i in range(j - 1, -1, -1):
        direction[i] = -factor[i, i + 1 : j + 1] @ direction[i + 1 : j + 1] / factor[i, i]
    return np.asarray(swaps @ direction)
