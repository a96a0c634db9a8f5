"""Exact weights w >= 0 of a few rows with sum_i w_i a_i = 0, in rational numbers.

Where few rows contradict each other, their weights are the only ones, and computed weights of other
rows are rounding errors: the rows of large weights are solved for exactly, the fewest first. Where
that gives a negative weight, those of a vertex are tried, which a linear program proposes; of many
rows it is tried first, since it has few rows, and costs less.

Where time is left, more rows are solved for, and vertices are sought among the rows that a computed
point hardly separates, in sets of twice the size each time.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import scipy
import scipy.sparse as sp

from perceptron_lab.cones.operators.base import combined, rows_at
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.core.killable_calls import killable
from perceptron_lab.core.results import FloatArray, IntArray
from perceptron_lab.core.time_limit import check_time, seconds_left
from perceptron_lab.numerics.exact_doubles import to_doubles

# Rows whose part of the sum of norms is below such a part of the largest may be left out
_PARTS = (1e-2, 1e-5, 1e-9, 1e-13)
# norm(A w) relative to the sum of norms, beyond which no exact weights are near
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
    """Return doubles near exact weights w >= 0, w != 0, with A w = 0, or None.

    Parameters
    ----------
    operator
        Rows that are meant as they are stored, dense, sparse, mapped or read from files. Of rows
        that were rounded nothing is said.
    weights
        Weights of the operator's rows, >= 0, shape ``(m,)``.
    quick
        Whether no more rows are solved for than take about a second.

    Raises
    ------
    TimeIsUp
        If a time limit ends first.
    """
    if not _may_be_exact(operator, weights):
        return None
    mass, last_size = weights * operator.row_norms(), 0
    rows, entries = (_ROWS, _ENTRIES) if quick else (_MOST_ROWS, _MOST_ENTRIES)
    for part in _PARTS:
        support = np.flatnonzero(mass > part * mass.max())
        if len(support) == last_size or len(support) > rows:
            continue
        last_size = len(support)
        exact = _of_rows(operator, support, weights[support], entries)
        if exact is not None:
            return _spread(support, exact, len(weights))
    return None


def search_exact_weights(
    operator: Matrix, weights: FloatArray, scores: FloatArray
) -> FloatArray | None:
    """Return doubles near exact weights, near the given ones or on any other rows.

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
    exact = exact_weights(operator, weights)
    norms = operator.row_norms()
    if exact is not None or not (_may_be_exact(operator, weights) and norms.min() > 0.0):
        return exact
    mass = weights * norms
    # Rows of large weight first, then those whose scores are nearest to 0
    heavy = mass > _PARTS[0] * mass.max()
    order = np.lexsort((np.abs(scores) / norms, ~heavy))
    size = _FIRST * operator.dimension
    while True:
        exact = _in_support(operator, np.sort(order[:size]))
        if exact is not None or size >= len(order):
            return exact
        # Doubling keeps the total work within a factor of that of the last set
        size *= 2


def _in_support(operator: Matrix, support: IntArray) -> FloatArray | None:
    """Return doubles near exact weights at a vertex of the given rows, or of all but one."""
    size = operator.size
    for _ in range(_VERTICES):
        check_time()
        rows = sp.csr_array(rows_at(operator.stored, support))
        if rows.nnz > _MOST_ENTRIES:
            return None
        vertex = _vertex(rows)
        if vertex is None:
            return None
        solution = _solved(rows, vertex) if np.count_nonzero(vertex) <= _MOST_ROWS else None
        if solution is not None:
            return _spread(support, solution, size)
        norms = operator.row_norms()[support]
        support = np.delete(support, int(np.argmax(vertex * norms)))
    return None


def _may_be_exact(operator: Matrix, weights: FloatArray) -> bool:
    """Return whether the data are exact and norm(A w) is small enough for exact weights."""
    total = float(weights @ operator.row_norms())
    if operator.roundings or not (np.isfinite(total) and total > 0.0):
        return False
    return float(np.linalg.norm(combined(weights, operator.stored))) <= _NEAR * total


def _spread(support: IntArray, values: FloatArray, size: int) -> FloatArray:
    """Extend the weights of a support to all rows by zeros."""
    flat = np.zeros(size)
    flat[support] = values
    return flat


def _of_rows(
    operator: Matrix, support: IntArray, guess: FloatArray, entries: int
) -> FloatArray | None:
    """Return doubles near exact weights of the given rows, near a guess or at a vertex."""
    check_time()
    rows = sp.csr_array(rows_at(operator.stored, support))
    if rows.nnz > entries:
        return None
    few = len(support) <= _FEW
    solution = _solved(rows, guess) if few else None
    if solution is None:
        vertex = _vertex(rows)
        solution = None if vertex is None else _solved(rows, vertex)
    return solution if few or solution is not None else _solved(rows, guess)


def _solved(rows: sp.csr_array, guess: FloatArray) -> FloatArray | None:
    """Return doubles near an exact solution that is close to a guess, >= 0 and nonzero; or None."""
    at = np.flatnonzero(guess)
    equations: dict[int, dict[int, int]] = {}
    scales, lengths = [], np.zeros(len(at))
    for position, i in enumerate(at.tolist()):
        check_time()
        span = slice(rows.indptr[i], rows.indptr[i + 1])
        entries = [Fraction(entry) for entry in rows.data[span].tolist()]
        # All denominators are powers of two
        scale = max((entry.denominator for entry in entries), default=1)
        scales.append(scale)
        lengths[position] = float(np.abs(rows.data[span]).max(initial=0.0))
        for j, number in zip(rows.indices[span].tolist(), entries, strict=True):
            equations.setdefault(j, {})[position] = int(number * scale)
    scaled = [
        Fraction(weight) / scale for weight, scale in zip(guess[at].tolist(), scales, strict=True)
    ]
    order: list[int] = np.argsort(-guess[at] * lengths, kind="stable").tolist()
    from perceptron_lab.systems.exact_solutions import Equation, near_solution

    solution = near_solution(
        [Equation(entries_of, 0) for entries_of in equations.values()], scaled, order, _MOST_ROWS
    )
    if solution is None or min(solution) < 0 or not any(solution):
        return None
    exact = np.zeros(len(guess))
    exact[at] = to_doubles(
        [w * scale for w, scale in zip(solution, scales, strict=True)], scaled=True
    )
    return exact


def vertex_of(equations: Any, seconds: float) -> FloatArray | None:
    """Return a vertex x >= 0 of equations with right-hand side (0, ..., 0, 1), by HiGHS.

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
    weights = np.maximum(values, 0.0) / norms
    return np.where(weights * norms > 1e-9 * (weights * norms).max(), weights, 0.0)
