"""Exact weights w >= 0 of a few rows with sum_i w_i a_i = 0, in rational numbers.

Where few rows contradict each other, their weights are the only ones, and those that floating point
has found of others are rounding errors: the rows of large weights are solved for exactly, the
fewest first. Where that gives a negative weight, those of a vertex are tried, which a linear
program proposes; of many rows it is tried first, since it has few rows, and costs less.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import scipy.optimize
import scipy.sparse as sp

from perceptron_lab.numerics.exact_doubles import to_doubles
from perceptron_lab.operators.blockwise import chosen_rows, combined
from perceptron_lab.operators.matrix import Matrix
from perceptron_lab.results import FloatArray, IntArray
from perceptron_lab.system.exact_solutions import Equation, near_solution
from perceptron_lab.time_limit import TimeIsUp, check_time, seconds_left

# Rows whose part of the sum of norms is below such a part of the largest may be left out
_PARTS = (1e-2, 1e-5, 1e-9, 1e-13)
# norm(A w) beside the sum of norms, beyond which no exact weights are near
_NEAR = 1e-6
# Rows at most, and their entries that are not 0; all that takes about a second
_ROWS, _ENTRIES = 600, 300_000
# So few are solved for in a hundredth of it
_FEW = 60


def exact_weights(operator: Matrix, weights: FloatArray) -> FloatArray | None:
    """Return doubles near exact weights >= 0, not all 0, with A w = 0; None if none are found.

    Parameters
    ----------
    operator
        Rows that are meant as they are stored, dense, sparse, mapped or read from files. Of rows
        that were rounded nothing is said.
    weights
        Of its rows, >= 0, shape ``(m,)``.

    Raises
    ------
    TimeIsUp
        If a time limit ends first.
    """
    mass = weights * operator.row_norms()
    total = float(mass.sum())
    if operator.roundings or not (np.isfinite(total) and total > 0.0):
        return None
    if not float(np.linalg.norm(combined(weights, operator.stored))) <= _NEAR * total:
        return None
    tried = 0
    for part in _PARTS:
        support = np.flatnonzero(mass > part * mass.max())
        if len(support) == tried or len(support) > _ROWS:
            continue
        tried = len(support)
        found = _of_rows(operator, support, weights[support])
        if found is not None:
            flat = np.zeros(len(weights))
            flat[support] = found
            return flat
    return None


def _of_rows(operator: Matrix, support: IntArray, guess: FloatArray) -> FloatArray | None:
    """Return such doubles for some rows, near a guess or at a vertex; or None."""
    check_time()
    rows = sp.csr_array(chosen_rows(operator.stored, support))
    if rows.nnz > _ENTRIES:
        return None
    few = len(support) <= _FEW
    found = _solved(rows, guess) if few else None
    if found is None:
        vertex = _vertex(rows)
        found = None if vertex is None else _solved(rows, vertex)
    return found if few or found is not None else _solved(rows, guess)


def _solved(rows: sp.csr_array, guess: FloatArray) -> FloatArray | None:
    """Return doubles near the exact solution near a guess, if it is >= 0 and not 0; or None."""
    at = np.flatnonzero(guess)
    equations: dict[int, dict[int, int]] = {}
    scales, lengths = [], np.zeros(len(at))
    for place, i in enumerate(at.tolist()):
        check_time()
        span = slice(rows.indptr[i], rows.indptr[i + 1])
        entries = [Fraction(one) for one in rows.data[span].tolist()]
        scale = max((one.denominator for one in entries), default=1)  # powers of two, all of them
        scales.append(scale)
        lengths[place] = float(np.abs(rows.data[span]).max(initial=0.0))
        for j, one in zip(rows.indices[span].tolist(), entries, strict=True):
            equations.setdefault(j, {})[place] = int(one * scale)
    given = [Fraction(one) / scale for one, scale in zip(guess[at].tolist(), scales, strict=True)]
    order: list[int] = np.argsort(-guess[at] * lengths, kind="stable").tolist()
    found = near_solution([Equation(one, 0) for one in equations.values()], given, order, _ROWS)
    if found is None or min(found) < 0 or not any(found):
        return None
    exact = np.zeros(len(guess))
    exact[at] = to_doubles([w * scale for w, scale in zip(found, scales, strict=True)], scaled=True)
    return exact


def _vertex(rows: sp.csr_array) -> FloatArray | None:
    """Return a vertex of {w >= 0 : sum_i w_i a_i = 0, sum_i w_i norm(a_i) = 1} in doubles."""
    norms = np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1)).ravel())
    if not (np.isfinite(norms).all() and norms.min() > 0.0):
        return None
    unit = sp.csr_array(sp.diags_array(1.0 / norms) @ rows)
    equations = sp.csc_array(sp.vstack([unit.T, np.ones((1, len(norms)))]))
    equations = sp.csc_array(equations[np.diff(sp.csr_array(equations).indptr) > 0])
    right = np.zeros(equations.shape[0])
    right[-1] = 1.0
    left = seconds_left()
    options = {"time_limit": left} if np.isfinite(left) else {}
    answer = scipy.optimize.linprog(
        np.zeros(len(norms)), A_eq=equations, b_eq=right, method="highs-ds", options=options
    )
    if answer.status != 0:
        if seconds_left() <= 0.0:
            raise TimeIsUp
        return None
    found = np.maximum(np.asarray(answer.x, dtype=float), 0.0) / norms
    return np.where(found * norms > 1e-9 * (found * norms).max(), found, 0.0)
