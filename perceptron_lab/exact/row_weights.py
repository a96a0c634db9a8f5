"""Exact weights of rows: w >= 0 with sum_i w_i a_i = 0, near those that floating point has proved.

Those of a basis of the rows that have weights are solved for in rational numbers, the others keep a
few bits. So near weights that are proved to have exact ones nearby, all stay positive. All
have as many digits as those of the basis: so weights of more rows than unknowns are first reduced
to those of few rows, by Caratheodory's theorem, in floating point.

Of w >= 0 with sum_i w_i a_i = 0 and sum_i w_i = 1, at most n + 1 need be positive in n dimensions.
While more are, there are null vectors z with sum_i z_i (a_i, 1) = 0, and w - s z stays such weights
up to the first s at which an entry becomes 0. Here z is the projection of the unit vector of a
lightest row on the null vectors, so that light rows go first; the null vectors stay orthonormal,
one fewer each time, and are computed again for each block of rows. Columns are divided by their
norms.

Before that, the weights are moved onto sum_i w_i a_i = 0: to the nearest such weights in units of
the given ones. They are >= 0 where (C21) of docs/notes/how-to-distrust-us.md proves that there are
such weights.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial

import numpy as np
import scipy.linalg
from scipy.optimize import linprog

from perceptron_lab.core.results import FloatArray, IntArray
from perceptron_lab.exact.whole_numbers import least_multiples
from perceptron_lab.numerics.exact_doubles import to_double
from perceptron_lab.systems.exact_solutions import Equation, near_multiples

# Bits that the weights of a basis' complement keep, relative to the largest
_BITS = 40
# Weights below this part of the largest may stand for zeros
_NOTHING = 1e-9
# Equations that are solved exactly, at most: a thousand take fifteen seconds
MOST_PIVOTS = 1200
# Times the unknowns, beyond which rows are not solved for as they are, if anything else serves
_MANY = 2
# Rows more than dimensions of a block, at least, and as a part of the dimensions
_LEAST, _PART = 32, 0.25
# Null vectors have entries of so little where a row is in none of them
_UNREACHED = 1e-9
# Diagonals of the triangular factor of dependent rows, relative to the largest
_DEPENDENT = 1e-11
# Steps of iterative refinement onto the equations, and the part of the normal equations' trace
# that makes them definite
_REFINEMENTS, _RIDGE = 6, 1e-15

Vector = Sequence[int]


def balanced(
    vectors: Sequence[Vector], guess: FloatArray | None, favoured: int | None = None
) -> list[int] | None:
    """Return whole numbers w >= 0, not all 0, with sum_i w_i a_i = 0, near a guess; or None.

    Of more rows than unknowns those that :func:`few_rows` keeps are tried. Where there is no guess,
    or the basis' weights do not stay positive, those of a vertex are, which a linear program
    proposes: one of large w_i for i the vector that is favoured.

    Parameters
    ----------
    vectors
        a_i in whole numbers.
    guess
        Weights, >= 0, shape ``(k,)``.
    favoured
        The number of a vector.
    """
    doubles, norms = _unit_rows(vectors)
    unknowns = len(vectors[0])
    vertex = partial(_near_proposed, vectors, norms, partial(_vertex, doubles, favoured))
    attempts = [vertex]
    if guess is not None:
        by_rounding = partial(_support_near, vectors, guess, guess * norms)
        many = len(vectors) > _MANY * (unknowns + 1)
        attempts = [vertex, by_rounding] if many else [by_rounding, vertex]
    if guess is not None and len(vectors) > unknowns + 1:
        few = partial(_few, doubles, guess * norms)
        attempts.insert(0, partial(_near_proposed, vectors, norms, few))
    candidates = (attempt() for attempt in attempts)
    return next((weights for weights in candidates if weights is not None), None)


def balanced_near(vectors: Sequence[Vector], guess: FloatArray) -> list[int] | None:
    """Return exact weights near a guess, the first attempt of :func:`balanced`; or None."""
    return _support_near(vectors, guess, guess * _unit_rows(vectors)[1])


def _near_proposed(
    vectors: Sequence[Vector], norms: FloatArray, propose: Callable[[], FloatArray | None]
) -> list[int] | None:
    """Return exact weights near proposed ones of unit rows, or None.

    Where they do not stay positive, they are looked for without those that may stand for zeros.
    """
    proposed = propose()
    if proposed is None:
        return None
    last_size = -1
    for least in (0.0, _NOTHING):
        support = np.flatnonzero(proposed > least * proposed.max())
        # The same rows would fail again
        if len(support) == last_size:
            break
        last_size = len(support)
        mass, guess = proposed[support], (proposed / norms)[support]
        few = _support_near([vectors[i] for i in support.tolist()], guess, mass)
        if few is not None:
            multiples = [0] * len(vectors)
            for i, weight in zip(support.tolist(), few, strict=True):
                multiples[i] = weight
            return multiples
    return None


def _few(doubles: FloatArray, mass: FloatArray) -> FloatArray | None:
    """Return the weights of few unit rows among all, or None."""
    solution = few_rows(doubles, mass)
    if solution is None:
        return None
    weights = np.zeros(len(mass))
    weights[solution[0]] = solution[1]
    return weights


def _unit_rows(vectors: Sequence[Vector]) -> tuple[FloatArray, FloatArray]:
    """Return the vectors divided by their norms, and these, but for a common factor."""
    longest = max(max(max(vector), -min(vector)) for vector in vectors)
    # Their squares in the norms have to stay below 2^1024
    excess = max(0, longest.bit_length() - 500)
    doubles = np.array([[to_double(entry, 1 << excess) for entry in vector] for vector in vectors])
    norms = np.linalg.norm(doubles, axis=1)
    norms[norms == 0.0] = 1.0
    return doubles / norms[:, None], norms / norms.max()


def _support_near(
    vectors: Sequence[Vector], guess: FloatArray, mass: FloatArray
) -> list[int] | None:
    """Return exact weights near a guess, if none is negative; those of much mass are solved for."""
    largest = float(guess.max(initial=0.0))
    if not (np.isfinite(guess).all() and largest > 0.0):
        return None
    least = float(guess[mass > _NOTHING * mass.max()].min())
    # So the least weight that counts keeps as many bits
    bits = _BITS + max(0, int(np.ceil(np.log2(largest / least))))
    rounded = [
        Fraction(round(Fraction(value / largest) * 2**bits), 2**bits) for value in guess.tolist()
    ]
    entries: list[dict[int, int]] = [{} for _ in vectors[0]]
    for i, vector in enumerate(vectors):
        for j, value in enumerate(vector):
            if value:
                entries[j][i] = value
    equations = [Equation(row, 0) for row in entries if row]
    order = [int(i) for i in np.argsort(-mass, kind="stable") if mass[i] > 0.0]
    solution = near_multiples(equations, rounded, order, MOST_PIVOTS)
    if solution is None or min(solution[0]) < 0 or not any(solution[0]):
        return None
    return least_multiples(solution[0])


def _vertex(rows: FloatArray, favoured: int | None) -> FloatArray | None:
    """Return a vertex of {w >= 0 : sum w_i a_i = 0, sum w_i = 1} in doubles, or None."""
    equations = np.vstack([rows.T, np.ones(len(rows))])
    right, costs = np.zeros(len(equations)), np.zeros(len(rows))
    right[-1] = 1.0
    if favoured is not None:
        costs[favoured] = -1.0
    nonzero = np.abs(equations).max(axis=1) > 0.0
    # The simplex method ends at a vertex, where few weights are positive
    answer = linprog(costs, A_eq=equations[nonzero], b_eq=right[nonzero], method="highs-ds")
    return np.maximum(np.asarray(answer.x), 0.0) if answer.status == 0 else None


def few_rows(rows: FloatArray, weights: FloatArray) -> tuple[IntArray, FloatArray] | None:
    """Return at most n + 1 rows, and weights > 0 of them with sum_i w_i a_i near 0; or None.

    The rows are affinely independent, up to rounding; None where no weights >= 0 are found near
    the given ones.

    Parameters
    ----------
    rows
        a_i of norms 1 (or 0), shape ``(k, n)``.
    weights
        >= 0, not all 0, shape ``(k,)``, with sum_i w_i a_i near 0.
    """
    sizes = np.linalg.norm(rows, axis=0)
    even = rows[:, sizes > 0.0] / sizes[sizes > 0.0]
    balanced_weights = balanced_part(even, weights)
    if balanced_weights is None:
        return None
    # The column of equal entries keeps sum w_i; it has norm 1 as the others
    extended = np.column_stack([even, np.full(len(even), len(even) ** -0.5)])
    heaviest = np.argsort(-balanced_weights, kind="stable")
    heaviest = heaviest[balanced_weights[heaviest] > 0.0]
    width = extended.shape[1]
    block = width + max(_LEAST, int(_PART * width))
    support = np.empty(0, dtype=np.int64)
    weights_left = np.asarray(balanced_weights)
    while len(heaviest):
        count = block - len(support)
        support, heaviest = np.append(support, heaviest[:count]), heaviest[count:]
        nulls = _null_vectors(extended[support])
        weights_left[support] = _eliminated(weights_left[support], nulls)
        support = support[weights_left[support] > 0.0]
    nulls = _null_vectors(extended[support], dependent=True)
    weights_left[support] = _eliminated(weights_left[support], nulls)
    support = np.sort(support[weights_left[support] > 0.0])
    return support, weights_left[support]


def balanced_part(rows: FloatArray, weights: FloatArray) -> FloatArray | None:
    """Return the w' >= 0 with sum_i w'_i a_i = 0 that minimise sum_i (w'_i / w_i - 1)^2, or None.

    Up to rounding; None where the minimiser has negative entries.
    """
    scaled = weights / weights.sum()
    scaled_rows = rows * scaled[:, None]
    normal = scaled_rows.T @ scaled_rows
    normal[np.diag_indices(len(normal))] += _RIDGE * np.trace(normal) + np.finfo(float).tiny
    try:
        factor = scipy.linalg.cho_factor(normal, overwrite_a=True, check_finite=False)
    except np.linalg.LinAlgError:
        return None
    direction: FloatArray = np.ones(len(rows))
    for _ in range(_REFINEMENTS):
        step = scaled_rows @ scipy.linalg.cho_solve(
            factor, direction @ scaled_rows, check_finite=False
        )
        direction = direction - step
        if np.abs(step).max() < 1e-14:
            break
    return direction * scaled if direction.min() >= 0.0 else None


def _null_vectors(rows: FloatArray, *, dependent: bool = False) -> FloatArray:
    """Return orthonormal columns z with sum_i z_i a_i = 0: one for each row more than columns.

    Where ``dependent``, also those that there are because rows of no greater number depend on
    each other.
    """
    count, width = rows.shape
    rank = min(count, width)
    if dependent:
        full, triangle, _ = scipy.linalg.qr(rows, pivoting=True, check_finite=False)
        diagonal = np.abs(np.diag(triangle))
        rank = int((diagonal > _DEPENDENT * diagonal.max()).sum())
        return np.ascontiguousarray(full[:, rank:])
    if count == rank:
        return np.zeros((count, 0))
    units = np.zeros((count, count - rank))
    units[rank:] = np.eye(count - rank)
    # The reflections are applied to unit vectors: Q is never formed
    columns = scipy.linalg.qr_multiply(rows, units, "left", overwrite_c=True)[0]
    return np.asarray(columns, dtype=np.float64)


def _eliminated(weights: FloatArray, nulls: FloatArray) -> FloatArray:
    """Return weights >= 0 with a zero more for each null vector, or each that may be used."""
    weights_left, left = weights.copy(), np.array(nulls)
    open_ = np.ones(len(weights_left), dtype=bool)  # rows that may become the lightest
    while left.shape[1]:
        reach = np.linalg.norm(left, axis=1)
        able = open_ & (reach > _UNREACHED) & (weights_left > 0.0)
        if not able.any():
            break
        lightest = np.flatnonzero(able)[np.argmin(weights_left[able] / reach[able])]
        direction = left @ left[lightest]
        falls = direction > 0.0
        steps = weights_left[falls] / direction[falls]
        at = np.flatnonzero(falls)[np.argmin(steps)]
        weights_left = np.maximum(weights_left - steps.min() * direction, 0.0)
        weights_left[at] = 0.0
        open_[at] = False
        left = _without(left, int(at))
    return weights_left


def _without(nulls: FloatArray, row: int) -> FloatArray:
    """Return orthonormal columns that span those combinations of columns that are 0 in a row."""
    normal = nulls[row].copy()
    length = float(np.linalg.norm(normal))
    # Householder's reflection of the row onto one column; this sign cancels no digits
    normal[0] += np.copysign(length, normal[0])
    normal /= np.linalg.norm(normal)
    nulls -= np.outer(2.0 * (nulls @ normal), normal)
    nulls[row] = 0.0
    return nulls[:, 1:]
