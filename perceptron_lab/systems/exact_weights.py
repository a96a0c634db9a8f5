"""Exact weights w >= 0 of a few rows with sum_i w_i a_i = 0, in rational numbers.

Where few rows contradict each other, their weights are the only ones, and those that floating point
has found of others are rounding errors: the rows of large weights are solved for exactly, the
fewest first. Where that gives a negative weight, those of a vertex are tried, which a linear
program proposes; of many rows it is tried first, since it has few rows, and costs less.

Where time is left, more rows are solved for, and vertices are sought among the rows that a computed
point hardly separates, in sets of twice the size each time.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import scipy.optimize
import scipy.sparse as sp

from perceptron_lab.cones.operators.blockwise import chosen_rows, combined
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.core.killable_calls import killable
from perceptron_lab.core.results import FloatArray, IntArray
from perceptron_lab.core.time_limit import check_time, seconds_left
from perceptron_lab.numerics.exact_doubles import to_doubles
from perceptron_lab.systems.exact_solutions import Equation, near_solution

# Rows whose part of the sum of norms is below such a part of the largest may be left out
_PARTS = (1e-2, 1e-5, 1e-9, 1e-13)
# norm(A w) beside the sum of norms, beyond which no exact weights are near
_NEAR = 1e-6
# Rows solved for at most, and entries that are not 0; all that takes about a second, or minutes
_ROWS, _ENTRIES = 600, 300_000
_MOST_ROWS, _MOST_ENTRIES = 3000, 3_000_000
# Rows of the first set in which vertices are sought, in units of the dimension, and vertices of one
_FIRST, _VERTICES = 2, 4
# Entries of a linear program that takes less than a tenth of it; larger ones are killed in time
_QUICK = 20_000
# So few are solved for in a hundredth of it
_FEW = 60


def exact_weights(
    operator: Matrix, weights: FloatArray, *, quick: bool = False
) -> FloatArray | None:
    """Return doubles near exact weights >= 0, not all 0, with A w = 0; None if none are found.

    Parameters
    ----------
    operator
        Rows that are meant as they are stored, dense, sparse, mapped or read from files. Of rows
        that were rounded nothing is said.
    weights
        Of its rows, >= 0, shape ``(m,)``.
    quick
        Whether no more rows are solved for than take about a second.

    Raises
    ------
    TimeIsUp
        If a time limit ends first.
    """
    if not _near(operator, weights):
        return None
    mass, tried = weights * operator.row_norms(), 0
    rows, entries = (_ROWS, _ENTRIES) if quick else (_MOST_ROWS, _MOST_ENTRIES)
    for part in _PARTS:
        support = np.flatnonzero(mass > part * mass.max())
        if len(support) == tried or len(support) > rows:
            continue
        tried = len(support)
        found = _of_rows(operator, support, weights[support], entries)
        if found is not None:
            return _spread(support, found, len(weights))
    return None


def sought_weights(operator: Matrix, weights: FloatArray, scores: FloatArray) -> FloatArray | None:
    """Return such doubles, near given weights or of any other rows.

    Parameters
    ----------
    operator, weights
        As there.
    scores
        Of the rows at a point that hardly separates them, shape ``(m,)``: where a point separates
        all others, those of positive weights have scores of 0.

    Raises
    ------
    TimeIsUp
        If a time limit ends first.
    """
    found = exact_weights(operator, weights)
    norms = operator.row_norms()
    if found is not None or not (_near(operator, weights) and norms.min() > 0.0):
        return found
    mass = weights * norms
    heavy = mass > _PARTS[0] * mass.max()
    order = np.lexsort((np.abs(scores) / norms, ~heavy))
    size = _FIRST * operator.dimension
    while True:
        found = _in_set(operator, np.sort(order[:size]))
        if found is not None or size >= len(order):
            return found
        size *= 2


def _in_set(operator: Matrix, support: IntArray) -> FloatArray | None:
    """Return such doubles at a vertex of some rows; where it has none, at one without a row."""
    size = operator.size
    for _ in range(_VERTICES):
        check_time()
        rows = sp.csr_array(chosen_rows(operator.stored, support))
        if rows.nnz > _MOST_ENTRIES:
            return None
        vertex = _vertex(rows)
        if vertex is None:
            return None
        found = _solved(rows, vertex) if np.count_nonzero(vertex) <= _MOST_ROWS else None
        if found is not None:
            return _spread(support, found, size)
        norms = operator.row_norms()[support]
        support = np.delete(support, int(np.argmax(vertex * norms)))
    return None


def _near(operator: Matrix, weights: FloatArray) -> bool:
    """Return whether the rows are what they are stored as, and exact weights may be near."""
    total = float(weights @ operator.row_norms())
    if operator.roundings or not (np.isfinite(total) and total > 0.0):
        return False
    return float(np.linalg.norm(combined(weights, operator.stored))) <= _NEAR * total


def _spread(support: IntArray, values: FloatArray, size: int) -> FloatArray:
    """Return the weights of all rows, 0 for those that are not in a support."""
    flat = np.zeros(size)
    flat[support] = values
    return flat


def _of_rows(
    operator: Matrix, support: IntArray, guess: FloatArray, entries: int
) -> FloatArray | None:
    """Return such doubles for some rows, near a guess or at a vertex; or None."""
    check_time()
    rows = sp.csr_array(chosen_rows(operator.stored, support))
    if rows.nnz > entries:
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
    found = near_solution(
        [Equation(one, 0) for one in equations.values()], given, order, _MOST_ROWS
    )
    if found is None or min(found) < 0 or not any(found):
        return None
    exact = np.zeros(len(guess))
    exact[at] = to_doubles([w * scale for w, scale in zip(found, scales, strict=True)], scaled=True)
    return exact


def vertex_of(equations: Any, seconds: float) -> FloatArray | None:
    """Return a vertex x >= 0 of equations with right-hand sides 0, ..., 0, 1 that HiGHS finds.

    None where it finds none in so many seconds, which it may take no notice of for some more.
    """
    right = np.zeros(equations.shape[0])
    right[-1] = 1.0
    options: Any = {"time_limit": seconds} if np.isfinite(seconds) else {}
    costs = np.zeros(equations.shape[1])
    answer = scipy.optimize.linprog(
        costs, A_eq=equations, b_eq=right, method="highs-ds", options=options
    )
    return np.asarray(answer.x, dtype=float) if answer.status == 0 else None


def _vertex(rows: sp.csr_array) -> FloatArray | None:
    """Return a vertex of {w >= 0 : sum_i w_i a_i = 0, sum_i w_i norm(a_i) = 1} in doubles."""
    norms = np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1)).ravel())
    if not (np.isfinite(norms).all() and norms.min() > 0.0):
        return None
    unit = sp.csr_array(sp.diags_array(1.0 / norms) @ rows)
    last = sp.csr_array(np.ones((1, len(norms))))
    equations = sp.csc_array(sp.vstack([sp.csr_array(unit.T), last]))
    equations = sp.csc_array(equations[np.diff(sp.csr_array(equations).indptr) > 0])
    program = equations, seconds_left()
    values = vertex_of(*program) if rows.nnz <= _QUICK else killable(vertex_of, *program)
    check_time()
    if values is None:
        return None
    found = np.maximum(values, 0.0) / norms
    return np.where(found * norms > 1e-9 * (found * norms).max(), found, 0.0)
