"""Whether a vector is in the cone of others: proposed by HiGHS in doubles, weights made exact."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Final

import numpy as np
import scipy.sparse as sp

from perceptron_lab.algorithms.linear.alternatives import Alternative
from perceptron_lab.algorithms.linear.floating_rows import INFINITE, HighsProgram, run_highs
from perceptron_lab.core.results import FloatArray
from perceptron_lab.numerics.exact_doubles import to_double
from perceptron_lab.systems.exact_solutions import Equation, near_solution

_FAR: Final = 1e6  # So far out HiGHS's absolute tolerances are small ones
_NOTHING: Final = 1e-9  # Weights below this part of the largest may stand for zeros


def cone_proposal(vectors: Sequence[Sequence[int]], target: Sequence[int]) -> Alternative | None:
    """Return exact l >= 0 with sum_i l_i v_i = target, or a direction in doubles; or None.

    min target'c subject to v_i'c >= 0, target'c >= -1e6: the optimum is 0 where the multipliers are
    such l, and else -1e6 at a point c that tells target from the cone. Nobody has proved that v_i'c
    is not below 0: HiGHS allows -1e-7.

    Parameters
    ----------
    vectors
        v_i in whole numbers.
    target
        Whole numbers, not all 0.
    """
    table = _doubles([*vectors, target])
    sizes = np.abs(table[:-1]).max(axis=0, initial=0.0)  # target may be far larger
    sizes[sizes == 0.0] = 1.0
    with np.errstate(over="ignore"):
        table /= sizes
    if not np.isfinite(table).all():
        return None
    rows = table / np.abs(table).max(axis=1, keepdims=True)
    costs = rows[-1]
    count, width = rows.shape
    lower = np.append(np.zeros(count - 1), -_FAR)
    free = np.full(width, INFINITE)
    matrix = sp.csr_array(rows)
    found = run_highs(HighsProgram(costs, (-free, free), matrix, (lower, np.full(count, INFINITE))))
    if not found.optimal or len(found.values) != width:
        return None
    if float(costs @ found.values) < -0.5 * _FAR:
        exact = _quotients(found.values, sizes)
        return Alternative(None, (*(-one for one in exact), Fraction(1)))
    weights = _exact(vectors, target, found.duals[:-1])
    return None if weights is None else Alternative(weights, None)


def _quotients(values: FloatArray, sizes: FloatArray) -> list[Fraction]:
    """Return values / sizes > 0, each rounded once, or exact where doubles do not hold it."""
    return [
        Fraction(value / size) if math.isfinite(value / size) else Fraction(value) / Fraction(size)
        for value, size in zip(values.tolist(), sizes.tolist(), strict=True)
    ]


def _doubles(vectors: Sequence[Sequence[int]]) -> FloatArray:
    """Return vectors as doubles, each over a power of two that makes it at most 1."""
    tops = [max(map(abs, one)).bit_length() for one in vectors]
    pairs = zip(vectors, tops, strict=True)
    return np.array([[to_double(entry, 1 << top) for entry in one] for one, top in pairs])


def _exact(
    vectors: Sequence[Sequence[int]], target: Sequence[int], duals: FloatArray
) -> dict[int, Fraction] | None:
    """Return exact weights >= 0 near multipliers, of the vectors that have one; or None."""
    support = np.flatnonzero(duals > _NOTHING * np.abs(duals).max(initial=0.0))
    order = support[np.argsort(-duals[support], kind="stable")].tolist()
    equations = [
        Equation({i: vectors[k][j] for i, k in enumerate(order) if vectors[k][j]}, right)
        for j, right in enumerate(target)
    ]
    found = near_solution(equations, [Fraction()] * len(order), range(len(order)))
    if found is None or any(one < 0 for one in found):
        return None
    return {k: one for k, one in zip(order, found, strict=True) if one}
