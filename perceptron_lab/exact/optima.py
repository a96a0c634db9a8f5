"""Claims about the optimum of a semidefinite program: bounds by points, and MAXCUT's by vectors.

Upper bounds: the objective of a point that is strictly feasible, exactly. Lower bounds of programs
max <C, X>, diag(X) = 1, in SDPA's sign min 1'x: V in whole numbers with norm(v_i)^2 <= 4^b gives

    4^b X = VV' + diag(4^b - norm(v_i)^2),

which is positive semidefinite with 4^b on its diagonal, whatever rounding did to V: (5) of
docs/notes/how-to-distrust-us.md.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from perceptron_lab.cones.semidefinite import Semidefinite
from perceptron_lab.core.results import FloatArray
from perceptron_lab.exact.factors import possible
from perceptron_lab.exact.points import factors_at
from perceptron_lab.exact.whole_numbers import CheckedSystem, Claim, exactly
from perceptron_lab.systems import ConicSystem

# Bits of the entries of V, and binary places of a bound
_BITS = 44
_PLACES = 50


def objective_at_most(
    system: ConicSystem, point: FloatArray, claimed: float, data: CheckedSystem
) -> Iterator[Claim]:
    """Yield claims that an objective c'x / x_0 is reached, near a bound, the nearest first.

    A point whose matrix is too near to a singular one for a short proof is moved into the interior
    where a direction to it is known, which costs the objective.

    Parameters
    ----------
    system, point
        Homogenised; (x_0, x) with x_0 > 0, feasible or nearly so.
    claimed
        The bound: it is claimed where the point reaches it, else its own objective is.
    data
        The checker's system.
    """
    for moved in _candidates(system, point / point[0]):
        whole = exactly(moved)
        factors = factors_at(system, moved, whole, data.scale)
        if factors is None:
            continue
        value = Fraction(
            sum(c * x for c, x in zip(data.objective, whole[1:], strict=True)),
            whole[0] * data.scale,
        )
        bound = max(Fraction(claimed), _raised(value))
        pair = list(bound.as_integer_ratio())
        yield {"claim": "objective at most", "bound": pair, "point": whole, "factors": factors}


def _candidates(system: ConicSystem, point: FloatArray) -> list[FloatArray]:
    """Return a point, and those farther and farther inside."""
    interior = system.interior
    parts = [part for part, _ in system.cone.blocks if isinstance(part, Semidefinite)]
    if interior is None or not parts or not all(map(possible, parts)):
        return [point]
    order, scores = max(part.rank for part in parts), system.operator.scores(point)
    step = 16.0 * order**1.5 * float(np.abs(scores).max()) * 2.0**-52
    return [point, *(point + step * 2.0**k * interior for k in range(-12, 9, 3))]


def _raised(value: Fraction) -> Fraction:
    """Return a number at most 2^-PLACES above a fraction, and short."""
    return Fraction(math.ceil(value * 2**_PLACES), 2**_PLACES)


def lowered(value: Fraction) -> Fraction:
    """Return a number at most 2^-PLACES below a fraction, and short."""
    return -_raised(-value)


def objective_at_least(vectors: FloatArray, claimed: float, data: CheckedSystem) -> Claim | None:
    """Return the claim that MAXCUT's optimum is at least a bound, by the rows of V; or None.

    Parameters
    ----------
    vectors
        V, shape ``(n, k)``, no row 0.
    claimed
        The bound: it is claimed where V reaches it, else what V reaches is.
    data
        The checker's system, whose matrix block is the last.
    """
    rows = _short_rows(vectors)
    unit = 4**_BITS
    rest = [unit - sum(one * one for one in row) for row in rows]
    block = len(data.blocks) - 1
    total = 0
    for number, i, j, columns, values in data.rows:
        if number == block and 0 in columns:
            weight = sum(a * b for a, b in zip(rows[i], rows[j], strict=True)) * (1 + (i < j))
            total -= values[list(columns).index(0)] * (weight + (rest[i] if i == j else 0))
    value = Fraction(total, unit * data.scale)
    bound = min(Fraction(claimed), lowered(value))
    weights = [[[], []], [[1] * vectors.shape[1], rest, *rows]]
    pair = list(bound.as_integer_ratio())
    return {"claim": "objective at least", "bound": pair, "unit": unit, "weights": weights}


def _short_rows(vectors: FloatArray) -> list[list[int]]:
    """Return the rows of V in whole numbers, of norms near 2^BITS and not above it."""
    unit_rows = vectors / np.linalg.norm(vectors, axis=1)[:, None]
    length = math.ldexp(1.0, _BITS) - vectors.shape[1]
    found = [[int(one) for one in row] for row in np.trunc(length * unit_rows).tolist()]
    assert all(sum(one * one for one in row) <= 4**_BITS for row in found)
    return found
