"""Claims about the separation ratio t of two classes, (7.9) of `Kharechko2009`, in whole numbers.

From below by E = F'F in whole numbers, from above by weights for which

    Z = sum_+ w xx' - sum_- w xx',    x standing for (x, 1),

is positive semidefinite: (8) of docs/notes/how-to-distrust-us.md. Z is proved so by a factor, which
is there if Z is definite but for rows of zeros. Weights for t = 0 balance both classes' sums and
means exactly, so that the last row of Z is 0, or are those of two equal rows, where Z is 0. There
is no such proof of a Z that is singular in other ways (dependent columns).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np
from flint import fmpz_mat

from perceptron_lab.core.results import FloatArray
from perceptron_lab.exact.row_weights import balanced_near
from perceptron_lab.exact.whole_numbers import Claim, Factor, exactly, long_factor, whole_multiples
from perceptron_lab.problems.ellipsoids.ellipsoid import Ellipsoid
from perceptron_lab.problems.ellipsoids.hard.ratio_bounds import ADDITIONS, identical_rows

Vectors = Sequence[Sequence[int]]

# Bits below the largest diagonal entry at which a least eigenvalue is looked for
_DEPTHS = (10, 30, 60, 100, 160, 240)
# Parts of 1 + t by which the bound may be weaker than the one claimed, so that Z is definite
_WEAKER = (1e-14, 1e-11, 1e-9, 1e-7, 1e-5)
# Binary places of a bound
_PLACES = 60


def ratio_at_least(
    inside: Vectors, outside: Vectors, ellipsoid: Ellipsoid, claimed: float
) -> Claim | None:
    """Return the claim that t is at least a bound, or what an ellipsoid has if that is less.

    None where the ellipsoid does not separate the classes.

    Parameters
    ----------
    inside, outside
        Whole multiples, by one number, of (x, 1) of both classes.
    ellipsoid
        Ellipsoid of the examples x.
    claimed
        > 0.
    """
    factor = _whole_factor(ellipsoid)
    most = max(_square(factor, x) for x in inside)
    least = min(_square(factor, x) for x in outside)
    if not least > most > 0:
        return None
    bound = min(Fraction(claimed), _below(Fraction(least - most, most)))
    return _of_factor(factor) | {"bound": list(bound.as_integer_ratio())}


def ratio_unbounded(inside: Vectors, outside: Vectors) -> Claim | None:
    """Return the claim that t is unbounded, by forms that are 0 inside, and not all 0 outside."""
    table, nullity = fmpz_mat([list(x) for x in inside]).nullspace()
    columns = [[int(table[i, j]) for i in range(len(inside[0]))] for j in range(nullity)]
    factor = [whole_multiples(map(Fraction, column)) for column in columns]
    if not factor or any(not _square(factor, x) for x in outside):
        return None
    return _of_factor(factor) | {"bound": [1, 0]}


def ratios_at_most(
    inside: Vectors,
    outside: Vectors,
    weights: tuple[FloatArray, FloatArray],
    claimed: float,
) -> Iterator[Claim]:
    """Yield claims that t is at most a bound, the least first, by weights near the ones given.

    Weights of the positives are multiplied so that they add up to what the bound allows; some is
    added to each where the support does not span the space.
    """
    allowed = (1.0 + claimed) * float(weights[1].sum())
    for weaker in _WEAKER if allowed > 0.0 else ():
        for more in ADDITIONS:
            first = weights[0] / weights[0].sum() + more / len(inside)
            first *= allowed * (1.0 + weaker) / first.sum()
            claim = _by_weights(inside, outside, exactly(np.concatenate([first, weights[1]])))
            if claim is not None:
                yield claim


def ratio_zero(
    inside: Vectors,
    outside: Vectors,
    weights: tuple[FloatArray, FloatArray],
    rows: tuple[FloatArray, FloatArray],
) -> Claim | None:
    """Return the claim that t is 0, or None.

    Parameters
    ----------
    weights
        Weights of both classes, near balanced ones.
    rows
        The examples of both classes as doubles.
    """
    # An example in both classes: no ellipsoid separates it from itself
    pair = identical_rows(*rows)
    joined = [0] * (len(inside) + len(outside))
    if pair is not None:
        joined[pair[0]] = joined[len(inside) + pair[1]] = 1
        return _by_weights(inside, outside, joined)
    masses = np.concatenate(weights)
    support = np.flatnonzero(masses > 0.0).tolist()
    # Equal sums of (x, 1) in both classes: balanced rows, those outside with the other sign
    signed = [*inside, *([-entry for entry in x] for x in outside)]
    solution = balanced_near([signed[i] for i in support], masses[support]) if support else None
    if solution is None:
        return None
    for i, weight in zip(support, solution, strict=True):
        joined[i] = weight
    return _by_weights(inside, outside, joined)


def _by_weights(inside: Vectors, outside: Vectors, joined: Sequence[int]) -> Claim | None:
    """Return the claim that weights prove of t, if Z has a factor."""
    first, second = joined[: len(inside)], joined[len(inside) :]
    # The bound is a quotient by this sum
    if not sum(second) > 0:
        return None
    order = range(len(inside[0]))
    signed = [
        *zip(first, inside, strict=True),
        *((-w, x) for w, x in zip(second, outside, strict=True)),
    ]
    weighted = [(x, [w * entry for entry in x]) for w, x in signed if w]
    matrix = [[sum(x[i] * wx[j] for x, wx in weighted) for j in order] for i in order]
    factor = semidefinite_factor(matrix)
    if factor is None:
        return None
    bound = max(_above(Fraction(sum(first), sum(second)) - 1), Fraction())
    listed = [
        [[i for i, w in enumerate(part) if w], [w for w in part if w]] for part in (first, second)
    ]
    claim: Claim = {"claim": "ratio at most", "bound": list(bound.as_integer_ratio())}
    return claim | {"weights": listed, "factor": factor}


def semidefinite_factor(matrix: Sequence[Sequence[int]]) -> Factor | None:
    """Return [s, [rows, values], ...] of a matrix definite but for rows of zeros, or None."""
    nonzero = [i for i, row in enumerate(matrix) if any(row)]
    if not nonzero:
        return [0]
    entries = [{a: matrix[i][j] for a, j in enumerate(nonzero) if matrix[i][j]} for i in nonzero]
    largest = max(matrix[i][i] for i in nonzero)
    # A definite matrix has a positive diagonal: else no depth would do
    for depth in _DEPTHS if min(matrix[i][i] for i in nonzero) > 0 else ():
        factor = long_factor(entries, range(len(nonzero)), Fraction(largest, 2**depth))
        if factor is not None:
            shift, *columns = factor
            return [
                shift,
                *([[nonzero[a] for a in positions], values] for positions, values in columns),
            ]
    return None


def _of_factor(factor: Vectors) -> Claim:
    """Return the claim of E = F'F: 2 E = LL' for L with each row of F as two columns."""
    order = range(len(factor[0]))
    # The coefficients of x_i x_j, i <= j: entries off the diagonal count twice
    point = [
        (1 + (i < j)) * sum(row[i] * row[j] for row in factor) for i in order for j in order[i:]
    ]
    columns = [[list(order), list(row)] for row in factor for _ in range(2)]
    return {"claim": "ratio at least", "point": point, "factor": [0, *columns]}


def _whole_factor(ellipsoid: Ellipsoid) -> list[list[int]]:
    """Return F = [G, h - G c] of the doubles G, h and c, times one number that makes it whole."""
    shift = [Fraction(entry) for entry in ellipsoid.shift.tolist()]
    rows = []
    for line, offset in zip(ellipsoid.factor.tolist(), ellipsoid.offset.tolist(), strict=True):
        row = [Fraction(entry) for entry in line]
        last = Fraction(offset) - sum((a * c for a, c in zip(row, shift, strict=True)), Fraction())
        rows.append([*row, last])
    flat = whole_multiples(entry for row in rows for entry in row)
    width = len(shift) + 1
    return [flat[at : at + width] for at in range(0, len(flat), width)]


def _square(factor: Vectors, x: Sequence[int]) -> int:
    images = (sum(a * b for a, b in zip(row, x, strict=True)) for row in factor)
    return sum(entry * entry for entry in images)


def _below(value: Fraction) -> Fraction:
    return Fraction(value.numerator * 2**_PLACES // value.denominator, 2**_PLACES)


def _above(value: Fraction) -> Fraction:
    return -_below(-value)
